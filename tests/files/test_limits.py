"""The ranges of numbers: what learning can make lies in them, and what a piece declares is held against a file."""

import io
from typing import Any, NamedTuple

import numpy as np
import pytest

from onkel.core import trees
from onkel.core.ranges import COUNT, POSITIVE, TOTAL, Range, contradiction, limits, violation, wrong_number
from onkel.files import snapshot
from onkel.files.model_file import restored, save_model
from onkel.files.snapshot import SnapshotError
from onkel.model.answers import ClassAnswers, NumberAnswers
from tests.tables import CELLS, parameters, rows_for, started, stream

FACTORS = (1.0, 1e15, -1e15, 0.0, 1e-25, 1e30, -3e38, 1e-45, 1.0)  # of ten rows each


@limits(total=POSITIVE, count=COUNT)
class Sums(NamedTuple):
    total: Any
    count: Any


@contradiction.register
def _(sums: Sums) -> str:
    return "" if sums.count[0] < 10 else "it has counted too far"


@pytest.mark.parametrize(
    ("sums", "problem"),
    [
        (Sums(np.ones(2), np.array([3])), ""),
        (Sums(np.array([1.0, -1.0]), np.array([3])), "the total of Sums must be numbers above 0, not -1.0"),
        (Sums(np.ones(2), np.array([-3])), "the count of Sums must be whole numbers from 0 to 4.61169e+18, not -3"),
        (Sums(np.ones(2), np.array([1.5])), "the count of Sums must be whole numbers from 0 to 4.61169e+18, not 1.5"),
        (Sums(np.array([np.inf]), np.array([3])), "the total of Sums must be numbers above 0, not inf"),
        (Sums(np.ones(2), np.array([11])), "it has counted too far"),
    ],
    ids=str,
)
def test_a_piece_of_ones_own_declares_what_its_numbers_can_be(sums, problem):
    assert wrong_number(sums) == problem
    assert wrong_number(((sums,), 1)) == problem


def test_a_range_of_a_field_that_there_is_not_is_an_error():
    with pytest.raises(TypeError, match="has no field sum"):
        limits(sum=POSITIVE)(Sums)


@pytest.mark.parametrize("value", [True, "1", None, 1.0, 10**400, (1,), ()], ids=lambda value: str(value)[:10])
def test_a_whole_number_is_nothing_else(value):
    assert violation({"rows": value}, {"rows": COUNT})


def test_sums_of_huge_squares_may_be_infinite_but_not_nan():
    assert violation({"a": np.inf}, {"a": TOTAL}) == ""
    assert violation({"a": np.nan}, {"a": TOTAL})
    assert violation({"a": 2.0}, {"a": Range(0.0, 1.0)}).endswith("must be numbers from 0 to 1, not 2.0")


@pytest.mark.parametrize(("name", "task"), CELLS)
def test_whatever_a_recipe_has_learned_can_be_loaded(name, task):
    """Rows of any size, and targets of any size: a file that is written is read."""
    given = parameters(name, task)
    online, (X, y) = started(name, task, given, "float32"), stream(task)
    answers: Any = NumberAnswers() if task == "regression" else ClassAnswers(np.arange(3 if task != "binary" else 2))
    written = 0
    for k, factor in enumerate(FACTORS):
        part = slice(10 * k, 10 * k + 10)
        rows = rows_for(given, X[part]) * factor
        scores = online.learn(np.clip(rows, -3e38, 3e38), y[part] * (factor if task == "regression" else 1.0))
        answers.follow(y[part], None, scores)
        out = io.BytesIO()
        try:
            save_model(out, online, answers)
        except SnapshotError as error:
            if "has diverged" not in str(error):
                raise
            continue
        found = restored(snapshot.read_from(io.BytesIO(out.getvalue())))
        assert trees.same(found.online.model, online.model)
        written += 1
    assert written > 0
