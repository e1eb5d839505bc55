"""Without the tricks of `onkel.core.numba_internals`: the same answers, by what Numba documents and plain Python.

Learning takes longer to compile then, so one recipe for each loop has to do.
"""

import os
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

from onkel.core.verbs import _Announcement
from tests.plain_or_not import LEARNERS

pytestmark = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")  # type: ignore[attr-defined]
ROOT = Path(__file__).parents[2]
ROUNDING = {"float32": 1e-5, "float64": 1e-12}


def python(*arguments, **settings):
    """Output, and what is said besides that something is compiled, of a program in another process."""
    done = subprocess.run(
        [sys.executable, *map(str, arguments)], cwd=ROOT, env={**os.environ, **settings}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout, done.stderr.replace(_Announcement.text, "")


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Scores, functions compiled, functions found on disk, and words: of two plain processes and a usual one."""
    folder, found = tmp_path_factory.mktemp("plain"), []
    for name, plain in (("first", "1"), ("next", "1"), ("usual", "")):
        cache = {"ONKEL_CACHE": str(folder / "cache")} if plain else {}
        counts, said = python("-m", "tests.plain_or_not", folder / f"{name}.npz", ONKEL_PLAIN=plain, **cache)
        found.append((np.load(folder / f"{name}.npz"), *map(int, counts.split()), said))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", LEARNERS)
def test_learners_answer_the_same_without_tricks(runs, name):
    plain, again, usual = (scores[name] for scores, *_ in runs)
    np.testing.assert_array_equal(plain, again)
    tolerance = ROUNDING[LEARNERS[name]]
    np.testing.assert_allclose(plain, usual, rtol=tolerance, atol=tolerance)


@pytest.mark.slow
def test_what_is_compiled_without_tricks_is_found_by_the_next_process(runs):
    (_, compiled, found, _), (_, again, found_again, _), _ = runs
    assert (found, again) == (0, 0)
    assert compiled == found_again > 0


@pytest.mark.slow
def test_nothing_is_said_where_tricks_are_left_out_on_purpose(runs):
    assert [said for *_, said in runs] == ["", "", ""]


def test_chains_are_the_same_in_plain_python(tmp_path):
    passed, _ = python("-m", "pytest", "-q", "tests/core/test_row_call.py", ONKEL_PLAIN="1")
    assert "passed" in passed
    assert "skipped" not in passed


USE = """
import sys
import numpy as np

{sabotage}

from onkel.core.borrowed import row
from onkel.core.chains import NOT_PLAIN, chain
from onkel.core.rows import all_finite
from onkel.core.verbs import entry_point
from onkel.pieces.maps.fourier import turn

@entry_point
def turned(phases, features):
    turn(row(phases, 0), row(features, 0), phases.shape[1])

phases, features = np.linspace(0, 1, 8)[None], np.zeros((1, 16))
turned(phases, features)
step = chain(np.zeros(2), np.zeros(1), [(all_finite, phases[0])], lambda: "fine", lambda k, *_: k)
print(features.tolist(), step(np.ones(2), 0.5), step([1.0, 2.0], 0.5))
"""
INSIDES = "onkel.core.numba_internals"
SABOTAGE = {
    "a module that cannot be imported": f"sys.modules['{INSIDES}.pipeline'] = None",
    "an option that is gone": """
import numba
decorate = numba.njit
def njit(*given, **options):
    if 'no_cfunc_wrapper' in options:
        raise KeyError('Unrecognized options')
    return decorate(*given, **options)
numba.njit = njit
""",
    "a library of another kind": f"from {INSIDES} import pipeline; pipeline.Whole.finalize = lambda own: own.missing",
    "arrays of another kind": f"from {INSIDES} import borrowing; borrowing._without_owners = lambda *given: missing",
    "a wrong answer": f"from {INSIDES} import borrowing; borrowing._without_owners = lambda context, builder, kind, v: "
    "context.get_constant_null(kind)",
    "code of another kind": f"from {INSIDES} import code_files; code_files.rebuilt = None",
    "a dispatcher without a cache": f"from {INSIDES} import code_files; code_files.keep = lambda *_: missing",
    "functions of another kind": f"from {INSIDES} import row_call; row_call._Writer.write = lambda own: None",
    "objects of another kind": f"from {INSIDES} import row_call; row_call.builtin = lambda *_: lambda *_: 'wrong'",
}


@pytest.fixture(scope="module")
def expected():
    return python("-c", USE.format(sabotage=""))


def test_where_everything_works_nothing_is_said(expected):
    assert expected[1] == ""


@pytest.mark.parametrize("what", SABOTAGE)
def test_where_a_trick_fails_the_plain_way_is_taken_and_one_sentence_says_so(what, expected, tmp_path):
    program = USE.format(sabotage=SABOTAGE[what])
    found, said = python("-c", program, ONKEL_CACHE=str(tmp_path))
    assert found == expected[0]
    (line,) = said.splitlines()
    assert line.startswith(f"onkel: Numba {numba.__version__} is not as expected (")
