"""Other programs that learn from streams, each as a function of a task: its predictions, each made before the row was
learned, and the CPU seconds that it took. A program that is not installed is left out."""

import math
import shutil
import tempfile
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from benchmarks.datasets import Task

Floats = NDArray[np.float64]
Run = tuple[Floats, float]

HIDDEN = 20  # units of the net
SOME = 100  # rows: caps are multiples of it
PAIRS = 5e8  # products of two features that a run may take; more would be minutes
FOREST_ROWS, TREE_ROWS = 5_000, 10_000
LONGEST = 30.0  # CPU seconds after which a run of trees ends, wherever it is
WARM_UP = (1, 1, 2, 4, 8, 16, 32, 36)  # rows per batch before the larger ones


class Peer(NamedTuple):
    """A program and how it is asked; `package` is the name it is installed by."""

    run: Callable[[Task], Any]  # a Run, or None when it is not for such a task
    package: str
    module: str
    slow: bool = False
    scaled: bool = False  # it gets features and targets that were scaled with hindsight

    @property
    def missing(self) -> bool:
        return find_spec(self.module) is None or (self.module == "capymoa" and shutil.which("java") is None)

    @property
    def version(self) -> str:
        try:
            return f"{self.package} {version(self.package)}"
        except PackageNotFoundError:
            return self.package


def vowpal(*options: str, cached: bool = False) -> Callable[[Task], Run]:
    """Vowpal Wabbit on text, or on its cache of it; the clock runs while it reads and learns, less what it needs for
    an empty file."""

    def run(task: Task) -> Run:
        if "-q" in options:
            task = task.first(_few_enough(task))
        with tempfile.TemporaryDirectory() as name:
            text, empty, found, cache = (Path(name) / part for part in ("rows", "empty", "found", "cache"))
            empty.touch()
            with open(text, "w") as file:
                file.writelines(_lines(task))
            arguments = [*_setting(task), *options, "-p", str(found), "--quiet"]
            launch = repeated(lambda: _seconds(arguments, empty))
            if cached:
                arguments += ["--cache_file", str(cache)]
                _seconds(arguments, text)
            seconds = repeated(lambda: _seconds(arguments, text)) - launch
            scores = np.loadtxt(found, ndmin=2)
        return _decided(task, scores), max(seconds, 1e-4)

    return run


def scaled(peer: Callable[[Task], Run], kinds: tuple[str, ...]) -> Callable[[Task], Run | None]:
    """The same after a look at the whole task: features of mean 0 and variance 1, targets of regression in [0, 1].

    Not for CSR matrices, which centring would fill, nor for kinds of task where the peer does not care about scales.
    """

    def run(task: Task) -> Run | None:
        if task.kind not in kinds or not isinstance(task.rows, np.ndarray):
            return None
        given, back = task.unit()
        spread = task.rows.std(axis=0)
        rows = (task.rows - task.rows.mean(axis=0)) / np.where(spread > 0.0, spread, 1.0)
        predictions, seconds = peer(given._replace(rows=rows))
        return back(predictions), seconds

    return run


def repeated(run: Callable[[], float]) -> float:
    """Median seconds; runs that are too short for the clock are repeated."""
    times = [run()]
    while sum(times) < 0.5 and len(times) < 25:
        times.append(run())
    return median(times)


def _seconds(arguments: list[str], text: Path) -> float:
    from vowpalwabbit import Workspace  # type: ignore[import-untyped, import-not-found, unused-ignore]

    start = process_time()  # that of all threads
    Workspace(arg_list=["-d", str(text), *arguments]).finish()
    return process_time() - start


def _setting(task: Task) -> list[str]:
    """The kind of task, and a table with four places for each weight of the net, so that few of them collide."""
    kinds = {"regression": [], "binary": ["--loss_function", "logistic"], "multiclass": ["--oaa", str(task.n_outputs)]}
    weights = task.rows.shape[1] * task.n_outputs * HIDDEN
    return ["-b", str(max(18, math.ceil(math.log2(4 * weights)))), *kinds[task.kind]]


def _few_enough(task: Task) -> int:
    """As many rows as can be learned in a minute or so with all products of two features."""
    counts = np.diff(csr_matrix(task.rows).indptr).astype(float)
    work = np.cumsum(counts * (counts + 1.0) / 2.0) * task.n_outputs
    enough = int(np.searchsorted(work, PAIRS))
    return enough if enough == len(work) else max(SOME, enough // SOME * SOME)


def _lines(task: Task) -> Iterator[str]:
    rows = csr_matrix(task.rows)
    rows.eliminate_zeros()
    names = [f"f{k + 1}:" for k in range(rows.shape[1])]
    first = 1 if task.kind == "multiclass" else 0  # the program counts classes from 1
    for i, target in enumerate(task.targets):
        held = slice(rows.indptr[i], rows.indptr[i + 1])
        cells = zip(rows.indices[held].tolist(), rows.data[held].tolist(), strict=True)
        yield f"{target + first:.9g} | {' '.join(f'{names[k]}{value:.9g}' for k, value in cells)}\n"


def _decided(task: Task, found: Floats) -> Floats:
    return found[:, 0] - 1.0 if task.kind == "multiclass" else task.decide(found)


def random_features(task: Task) -> Run:
    """scikit-learn's RBFSampler and SGD in batches of 100."""
    from sklearn.kernel_approximation import RBFSampler

    sampler = RBFSampler(n_components=800, gamma=1.0 / task.rows.shape[1], random_state=1).fit(task.rows[:1])
    return in_batches(task, sampler, 100)


def in_batches(task: Task, sampler: Any, size: int) -> Run:
    """A map of scikit-learn's and its SGD; features are standardised as far as they are known."""
    from sklearn.linear_model import SGDClassifier, SGDRegressor
    from sklearn.preprocessing import StandardScaler

    task, back = task.unit()
    n_rows = len(task.targets)
    scale = StandardScaler(with_mean=isinstance(task.rows, np.ndarray))
    labels = {} if task.kind == "regression" else {"classes": np.unique(task.targets)}
    model = SGDClassifier(loss="log_loss", alpha=1e-5, random_state=1) if labels else SGDRegressor(random_state=1)
    predictions = np.full(n_rows, labels["classes"][0] if labels else 0.0)
    clock = process_time()
    for start, stop in _batches(n_rows, size):
        batch = sampler.transform(scale.partial_fit(task.rows[start:stop]).transform(task.rows[start:stop]))
        if start:
            predictions[start:stop] = model.predict(batch)
        model.partial_fit(batch, task.targets[start:stop], **labels)
    return back(predictions), process_time() - clock


def _batches(n_rows: int, size: int) -> Iterator[tuple[int, int]]:
    """Batches of a size, after smaller ones."""
    start = 0
    for count in (*WARM_UP, *(n_rows // size + 1) * (size,)):
        if start < n_rows:
            yield start, min(start + min(count, size), n_rows)
        start += min(count, size)


def river(forest: bool) -> Callable[[Task], Run]:
    """river's adaptive random forest of ten trees, or one Hoeffding adaptive tree."""

    def run(task: Task) -> Run:
        from river import forest as forests
        from river import tree as trees

        real = task.kind == "regression"
        if forest:
            model: Any = (forests.ARFRegressor if real else forests.ARFClassifier)(n_models=10, seed=1)
        else:
            model = (trees.HoeffdingAdaptiveTreeRegressor if real else trees.HoeffdingAdaptiveTreeClassifier)(seed=1)
        return with_dicts(task.first(FOREST_ROWS if forest else TREE_ROWS), model)

    return run


def with_dicts(task: Task, model: Any) -> Run:
    """A model of river's, row by row."""
    real = task.kind == "regression"

    def step(x: Floats, y: float) -> Any:
        row, label = dict(enumerate(x.tolist())), y if real else int(y)
        predicted = model.predict_one(row)
        model.learn_one(row, label)
        return predicted

    return _row_by_row(task, step)


def _row_by_row(task: Task, step: Callable[[Floats, float], Any]) -> Run:
    """Every row through `step`, which predicts and then learns it, until the time is over."""
    guess, seconds = (0.0 if task.kind == "regression" else task.targets.min()), 0.0
    predictions: list[float] = []
    for start in range(0, len(task.targets), SOME):
        rows = task.rows[start : start + SOME]
        dense = rows if isinstance(rows, np.ndarray) else rows.toarray()
        clock = process_time()
        found = [step(x, y) for x, y in zip(dense, task.targets[start : start + SOME].tolist(), strict=True)]
        seconds += process_time() - clock
        predictions += [guess if each is None else float(each) for each in found]
        if seconds > LONGEST:
            break
    return np.array(predictions), seconds


def capymoa(task: Task) -> Run:
    """CapyMOA's adaptive random forest of ten trees; the CPU time is that of all threads of Java."""
    from capymoa.classifier import AdaptiveRandomForestClassifier  # type: ignore[import-not-found, unused-ignore]
    from capymoa.regressor import AdaptiveRandomForestRegressor  # type: ignore[import-not-found, unused-ignore]
    from capymoa.stream import NumpyStream  # type: ignore[import-not-found, unused-ignore]

    real = task.kind == "regression"
    task = task.first(FOREST_ROWS)
    rows = task.rows if isinstance(task.rows, np.ndarray) else task.rows.toarray()
    kinds, numbers = np.unique(task.targets, return_inverse=True)
    targets = task.targets if real else numbers
    stream = NumpyStream(rows, targets, target_type="numeric" if real else "categorical")
    make = AdaptiveRandomForestRegressor if real else AdaptiveRandomForestClassifier
    model = make(schema=stream.get_schema(), ensemble_size=10, random_seed=1)

    def step(_x: Floats, _y: float) -> Any:
        row = stream.next_instance()
        predicted = model.predict(row)
        model.train(row)
        return predicted if real or predicted is None else kinds[int(predicted)]

    return _row_by_row(task, step)


VW = "vowpalwabbit"
ASKED = {"VW": (), "VW -q ::": ("-q", "::"), f"VW --nn {HIDDEN}": ("--nn", str(HIDDEN))}
ALL, REAL = ("binary", "multiclass", "regression"), ("regression",)
RAW = {
    **{name: Peer(vowpal(*options), VW, VW) for name, options in ASKED.items()},
    "RBFSampler + SGD": Peer(random_features, "scikit-learn", "sklearn"),
    "river ARF": Peer(river(forest=True), "river", "river", slow=True),
    "river HAT": Peer(river(forest=False), "river", "river", slow=True),
    "CapyMOA ARF": Peer(capymoa, "capymoa", "capymoa", slow=True),
}
SCALED = {
    f"{name} scaled": peer._replace(run=scaled(peer.run, REAL if peer.slow else ALL), scaled=True)
    for name, peer in RAW.items()
    if name.startswith(("VW", "river"))
}
PEERS = RAW | SCALED
