"""Extremes in every array and every number of a model file: each is refused in one sentence, or works.

A case is a file with one thing changed. What works predicts, gives probabilities that add up to 1 and intervals in
order, learns, is saved, loaded again and exported.
"""

import contextlib
import io
import json
import re
import tempfile
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from onkel.core.verbs import kind_named
from onkel.files import snapshot
from onkel.files.model_file import Stored, restored, save_model
from onkel.files.old_names import current
from onkel.files.snapshot import DAMAGE, SnapshotError
from onkel.integrations.onnx import to_onnx
from onkel.model.answers import ClassAnswers
from onkel.streams import StreamError
from tests.files import extreme_files
from tests.fuzz.packing import Parts, model_file, npy, parts_of
from tests.tables import N_FEATURES, stream

WHOLE = [0, 1, -1, -(2**31), 2**31 - 1, 2**62]
FLOATS = [*map(float, WHOLE), np.nan, np.inf, -np.inf, -0.0, 5e-324, 1e-45, 1e30, -1e30, 1e300, -1e300]
WORDS: list[Any] = [None, True, False, "", "x", 10**400, 1.5, {"tuple": []}, {"map": {}}]
ALSO_FLOATS = [{"float": "nan"}, {"float": "inf"}, {"float": "-inf"}, -0.0, 5e-324, 1e30, 1e300, -1e300]
TYPES = ["<f4", "<f8", "<i1", "<i4", "<i8", "<u8", "|b1", "<U3"]
PLACES = ("first", "middle", "last", "all")
FEWER = 15  # times as few cases of the same recipe for another task
LISTED = 6  # of the parts of a long tuple of numbers, so many are changed


class Case(NamedTuple):
    """A changed file, and what was changed."""

    place: str
    value: str
    data: Callable[[], bytes]


def cases(data: bytes) -> Iterator[Case]:
    """All cases of a file, always in the same order."""
    parts = parts_of(data)
    names = names_of(parts.header)
    yield from of_header(parts)
    for k, held in enumerate(parts.arrays):
        array = np.load(io.BytesIO(held))
        for value, changed in of_array(array):
            yield Case(names[k], value, partial(with_array, parts, k, changed))


def with_array(parts: Parts, k: int, changed: bytes) -> bytes:
    """The file with another array in place of number k."""
    return model_file(parts.header, [*parts.arrays[:k], changed, *parts.arrays[k + 1 :]])


def names_of(header: Any) -> dict[int, str]:
    """What the arrays of a header are called, by their numbers."""
    found = {}

    def look(tree: Any, name: str) -> None:
        if isinstance(tree, dict) and tree.keys() == {"array"}:
            found[tree["array"]] = name
        elif isinstance(tree, dict) and tree.keys() == {"kind", "fields"}:
            kind = kind_named(current(tree["kind"]))
            for field, part in zip(kind._fields if kind else (), tree["fields"], strict=False):
                look(part, f"{name}.{field}")
        elif isinstance(tree, dict | list):
            for key, part in tree.items() if isinstance(tree, dict) else enumerate(tree):
                look(part, name if key in ("map", "tuple") else f"{name}.{key}")

    look(header["content"], "")
    return found


def of_header(parts: Parts) -> Iterator[Case]:
    """Another value in place of each leaf of the header."""
    for path in leaves(parts.header):
        *way, last = path
        inside = parts.header
        for key in way:
            inside = inside[key]
        for value in [*WHOLE, *ALSO_FLOATS, *WORDS]:
            make = partial(with_leaf, parts, inside, last, value)
            yield Case("/".join(map(str, path)), json.dumps(value)[:40], make)


def with_leaf(parts: Parts, inside: Any, last: Any, value: Any) -> bytes:
    """The file with another value in one place of its header."""
    before, inside[last] = inside[last], value
    try:
        return model_file(parts.header, parts.arrays)
    finally:
        inside[last] = before


def leaves(tree: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Paths to everything that holds no further parts."""
    if isinstance(tree, dict) and tree.keys() != {"float"}:
        inside = list(tree.items())
    elif isinstance(tree, list):
        step = max(1, len(tree) // LISTED)
        inside = [(i, part) for i, part in enumerate(tree) if i % step == 0 or i + 1 == len(tree)]
    else:
        yield path
        return
    for key, part in inside:
        yield from leaves(part, (*path, key))


def of_array(array: np.ndarray) -> Iterator[tuple[str, bytes]]:
    """The bytes of an array with an extreme in it, or of another shape, type or order of bytes."""
    if array.size:
        for value in extremes_of(array.dtype):
            for place in PLACES if array.size > 1 else PLACES[:1]:
                changed = array.copy()
                flat = changed.reshape(-1)
                flat[{"first": 0, "middle": array.size // 2, "last": -1, "all": slice(None)}[place]] = value
                yield f"{value!r} at {place}", npy(changed)
    for axis in range(array.ndim):
        for name, taken in (("empty", 0), ("one too short", max(0, array.shape[axis] - 1))):
            yield f"{name} along {axis}", npy(np.take(array, range(taken), axis))
        more = array[tuple(slice(-1, None) if a == axis else slice(None) for a in range(array.ndim))]
        yield f"one too long along {axis}", npy(np.concatenate([array, more], axis))
    yield "one more axis", npy(array[None])
    yield "no axis", npy(np.zeros((), array.dtype))
    yield "other order of bytes", npy(array.astype(array.dtype.newbyteorder(">")))
    yield "other order of axes", npy(array).replace(b"'fortran_order': False", b"'fortran_order': True ", 1)
    for kind in TYPES:
        with contextlib.suppress(ValueError), np.errstate(all="ignore"):
            yield f"type {kind}", npy(array.astype(kind))


def extremes_of(dtype: Any) -> list[Any]:
    """The values that such an array can hold."""
    if dtype.kind == "f":
        limits = np.finfo(dtype)
        with np.errstate(over="ignore"):
            values = [dtype.type(value) for value in FLOATS if np.isfinite(dtype.type(value)) or not np.isfinite(value)]
        return [*values, limits.max, limits.min, limits.smallest_subnormal]
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return [value for value in {*WHOLE, limits.max, limits.min} if limits.min <= value <= limits.max]
    return [False, True] if dtype.kind == "b" else ["", "x", "\0x", "\u202e"]


# ---- what must work ----


def is_far(value: str) -> bool:
    """Whether a value is so large or so small that learning may end beyond what a number can be."""
    found = re.search(r"-?\d[\d.]*(e[-+]?\d+)?", value.removeprefix("np.float64").removeprefix("np.float32"))
    size = abs(float(found[0])) if found else 0.0
    return size >= 1e9 or 0.0 < size <= 1e-9


def use(name: str, data: bytes, far: bool = False) -> str:
    """Put a file of that name to use; whatever is neither refused in a sentence nor works is an error."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        if name in extreme_files.RUNS and (what := resumed(name, data)) is not None:
            return what
        try:
            found = restored(snapshot.read_from(io.BytesIO(data)))
        except MemoryError:
            raise
        except SnapshotError as error:
            return refused(str(error))
        except DAMAGE:
            return "refused"
        try:
            works(found)
        except SnapshotError as error:
            if not (far and "has diverged" in str(error)):  # as a model that has learned such numbers says
                raise
            return "diverges"
        return "works"


def refused(sentence: str) -> str:
    """What a refusal is, if it is one sentence."""
    if "\n" in sentence or not sentence.endswith("."):
        raise AssertionError(f"This is no sentence: {sentence}")
    return "refused"


def resumed(name: str, data: bytes) -> str | None:
    """Go on from a checkpoint; "refused", or None if that worked."""
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as place:
        folder, heard = Path(place), io.StringIO()
        (folder / "checkpoint").write_bytes(data)
        (folder / "scores.txt").write_text("0\n" * 10_000)
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(heard):
            kind, given = extreme_files.RUNS[name]
            code = extreme_files.run(kind, given, folder, ["--resume", str(folder / "checkpoint")])
    said = heard.getvalue().strip()
    assert code == 0 or (said.endswith(".") and said.count("\n") <= 1), f"This is no sentence: {said}"
    assert "Traceback" not in said
    return None if code == 0 else "refused"


def works(found: Stored) -> None:
    """Everything that one can do with a model."""
    rows, labels = rows_of(found)
    before = answered(found, rows)
    again = saved(found)
    assert np.array_equal(answered(again, rows), before), "saved, it answers otherwise"
    with contextlib.suppress(ValueError):  # a sentence; what it says of each learner is tested elsewhere
        to_onnx(found.online, found.answers, found.columns)
    for stored in (found, again):
        filled = stored.columns.filled(rows, learns=True)
        for part in stored.answers.parts(stored.online, labels):
            scores = stored.answers.learn(stored.online, filled[part], labels[part])
            finite("scores from before", stored.answers.before(scores))
    assert np.array_equal(answered(again, rows), answered(found, rows)), "saved, it learns otherwise"
    if isinstance(found.answers, ClassAnswers):
        assert np.isfinite(found.answers.counts).all(), "counts of classes are not finite"
    if rows.shape[1] <= 64:
        row = np.asarray(rows[0].todense() if sparse.issparse(rows) else rows[0], np.float64).ravel()
        finite("scores of one row", found.online.learn_one(found.columns.filled(row[None], learns=True)[0], 1.0))
        finite("scores of one row", found.online.score_one(found.columns.filled(row[None], learns=False)[0]))
    saved(found)


def rows_of(found: Stored) -> Any:
    """Four rows that the model can learn, with labels."""
    width, (X, y) = found.online.setting.n_features, stream("regression")
    if width == N_FEATURES:
        rows: Any = np.abs(X[50:54])
    elif width <= 64:
        rows = np.abs(np.random.default_rng(0).normal(size=(4, width)))
    else:
        rows = sparse.csr_matrix((np.ones(8), (np.arange(8) // 2, np.arange(8) % 5)), (4, width))
    answers = found.answers
    return rows, answers.classes[np.arange(4) % len(answers.classes)] if isinstance(answers, ClassAnswers) else y[:4]


def answered(found: Stored, rows: Any) -> Any:
    """The scores of rows, if they and what they mean are as they should be."""
    rows = found.columns.filled(rows, learns=False)
    scores = found.online.score(rows)
    finite("scores", scores)
    answers = found.answers
    if isinstance(answers, ClassAnswers):
        shares = answers.probabilities(scores)
        finite("probabilities", shares)
        assert ((shares >= 0.0) & (shares <= 1.0)).all(), f"probabilities {shares.tolist()}"
        assert np.abs(shares.sum(axis=1) - 1.0).max() < 1e-9, "probabilities do not add up to 1"
        assert np.isin(answers.labels(scores), answers.classes).all(), "no such label"
    else:
        for coverage in (0.01, 0.5, 0.9, 0.999999):
            bounds = answers.intervals(scores, coverage)
            assert not np.isnan(bounds).any(), "a bound of an interval is NaN"
            assert (bounds[:, 0] <= bounds[:, 1]).all(), "an interval is reversed"
    return scores


def finite(what: str, numbers: Any) -> None:
    assert np.isfinite(numbers).all(), f"{what} are not finite"


def saved(found: Stored) -> Stored:
    """The same model, saved and loaded again."""
    out = io.BytesIO()
    save_model(out, found.online, found.answers, found.columns, found.extra)
    return restored(snapshot.read_from(io.BytesIO(out.getvalue())))


# ---- many of them, in a child ----


def chosen(number: int, name: str, every: int) -> bool:
    """Whether a case belongs to a part that is spread evenly: of the same recipe for another task, a smaller one."""
    return number % (every if every == 1 or name in extreme_files.one_of_each() else FEWER * every) == 0


def places_left_out(name: str, first: int, every: int) -> tuple[set[str], int]:
    """The places of a file of which no case is chosen, whose cases are counted from `first`; and how many cases."""
    left, touched = set[str](), set[str]()
    number = first
    for place, _, _ in cases(extreme_files.file_of(name)):
        number += 1
        left.add(place)
        if chosen(number, name, every):
            touched.add(place)
    return left - touched, number


def try_all(board: Any, send: Any, first: int, files: list[str], every: int) -> None:
    """Use every so many-th case of these files, from case number `first` on; sends failures, and counts at the end."""
    number, counts = 0, dict.fromkeys(("refused", "works", "diverges", "FAILED"), 0)
    for name in files:
        board.write(-2, name.encode())  # what is compiled now takes no time from a case
        assert use(name, extreme_files.file_of(name)) == "works"
        for place, value, data in cases(extreme_files.file_of(name)):
            number += 1
            if number <= first or not chosen(number, name, every):
                continue
            board.write(number - 1, f"{name} | {place} | {value}".encode())
            try:
                counts[use(name, data(), is_far(value))] += 1
            except (Exception, SystemExit) as error:
                counts["FAILED"] += 1
                send((f"{name} | {place} | {value}", re.sub(r"\s+", " ", repr(error))[:200]))
    send(counts)


__all__ = ["StreamError", "cases", "try_all", "use"]
