"""How the papers measure: errors while learning over permutations, or on rows held out."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from onkel import datasets as data
from onkel.apps.reproduce.experiments import EXPERIMENTS
from onkel.apps.reproduce.figures import FIGURES
from onkel.apps.reproduce.loading import Task, load
from onkel.apps.reproduce.published import published
from onkel.apps.reproduce.results import UNEXPLAINED, Data, Drawn, Line, Result
from onkel.apps.reproduce.spec import Entry, Experiment, Figure, Source
from onkel.apps.reproduce.timing import clock, undisturbed
from onkel.evaluation.metrics import errors
from onkel.evaluation.prequential import chosen, spread
from onkel.recipes import RECIPES, Learner, make_learner

CHOOSING_SEED = 1_000_000  # of the permutation that parameters are chosen on; not among those of the runs
FIRST = 5_000  # rows that parameters are chosen on, at most
FOLDS = 5
SAMPLE = 65_536  # rows that partitions are made from, at most
DOUBT = f"{UNEXPLAINED}: "
QUICK_ROWS, QUICK_RUNS = 1_000, 2

Watch = Callable[[str, str], None]
Described = Experiment | Figure
Search = Callable[[Entry, dict[str, Any], Task], dict[str, Any]]


class Figures(NamedTuple):
    """What one algorithm did on one data set: an error and CPU seconds per run."""

    given: dict[str, Any]
    runs: list[tuple[float, float]]
    searching: float
    rows: int


def reproduce(
    name: str, datasets: list[str] | None = None, runs: int | None = None, *, quick: bool = False,
    limit: int | None = None, watch: Watch = lambda dataset, algorithm: None,
) -> Result:  # fmt: skip
    """Make a table anew, on the data sets that are here.

    Parameters
    ----------
    name
        One of `EXPERIMENTS`.
    datasets
        Names of the paper or of `onkel.datasets`; all by default.
    runs
        Permutations; those of the paper by default.
    quick
        Few rows and runs, to see that it works.
    limit
        Rows at most, drawn at random.
    watch
        Called with the data set and the algorithm before each is learned.
    """
    experiment = EXPERIMENTS[known(name, EXPERIMENTS)]
    result = Result(name, [], [], {}, *extent(experiment, runs, limit, quick), quick)
    for dataset, task in present(experiment, datasets, result):
        result.lines.extend(lines(name, dataset, task, result.runs, watch))
    return result


def known(name: str, names: Iterable[str]) -> str:
    """The name, if it is one of these."""
    if name not in names:
        raise ValueError(f"There is no experiment {name!r}; there are {', '.join([*EXPERIMENTS, *FIGURES])}.")
    return name


def extent(experiment: Described, runs: int | None, limit: int | None, quick: bool) -> tuple[int, int | None]:
    """Runs, and rows at most."""
    runs = runs or (QUICK_RUNS if quick else experiment.runs)
    return runs, min(limit or QUICK_ROWS, QUICK_ROWS) if quick else limit


def present(experiment: Described, names: list[str] | None, result: Result | Drawn) -> Iterator[tuple[str, Task]]:
    """The data sets that are here, loaded one by one; notes in the result which these are, and which are not here."""
    for dataset in wanted(experiment, names):
        source = experiment.sources[dataset]
        files = data.find(source.name)
        if files is None or (source.parts == "test" and files.test is None):
            result.absent[dataset] = f"{source.name} is not here{data.how_to_get(data.info(source.name))}"
            continue
        kept = source._replace(passes=1) if result.quick else source
        task = load(kept, experiment.protocol == "held out", result.limit)
        rows = 0 if source.stand_in else source.rows
        result.data.append(Data(dataset, source.name, len(task.block.labels), rows, task.test_origin))
        yield dataset, task


def wanted(experiment: Described, names: list[str] | None) -> list[str]:
    """The data sets asked for, by the names of the paper."""
    found = []
    for name in names if names is not None else experiment.sources:
        fits = [key for key, source in experiment.sources.items() if name in (key, source.name)]
        if not fits:
            raise ValueError(f"The {experiment.kind} has no data set {name!r}; it has {', '.join(experiment.sources)}.")
        found.append(fits[0])
    return found


def lines(name: str, dataset: str, task: Task, runs: int, watch: Watch) -> Iterator[Line]:
    """The algorithms that the paper has for a data set, each on the same permutations."""
    experiment, cells = EXPERIMENTS[name], published(name)
    source = experiment.sources[dataset]
    for algorithm, made in experiment.algorithms.items():
        if (dataset, algorithm) not in cells:
            continue
        cell, note = cells[dataset, algorithm], experiment.note(dataset, algorithm)
        if isinstance(made, str):
            yield Line(dataset, algorithm, "", {}, 0, 0, None, cell, 0.0, made)
            continue
        watch(dataset, algorithm)
        measure = held_out if experiment.protocol == "held out" else progressive
        found = measure(made, letters_of(experiment, source, task), task, runs)
        ours = spread([experiment.metric.figure(error) for error, _ in found.runs])
        searching = found.searching if experiment.search_is_timed else 0.0
        seconds = searching + float(np.mean([time for _, time in found.runs]))
        better = (ours.mean < cell.value) == experiment.metric.lower_is_better
        missing = fewer(found.rows, source.rows, better) if found.rows < source.rows else ""
        note = f"{note}; {missing.removeprefix(DOUBT)}" if note and missing else note or missing
        done = len(found.runs), found.rows, ours
        yield Line(dataset, algorithm, made.recipe, found.given, *done, cell, seconds, note)


def fewer(here: int, there: int, better: bool) -> str:
    """What is said of rows that are missing: a reason for figures that are worse, where most of them are.

    >>> fewer(900, 1000, better=False)
    'unexplained: 900 rows here, 1,000 there'
    """
    return f"{DOUBT if better or 2 * here > there else ''}{here:,} rows here, {there:,} there"


def letters_of(experiment: Described, source: Source, task: Task) -> dict[str, Any]:
    """What the letters of an experiment stand for on a data set: n rows to make partitions from, d features."""
    return {**experiment.letters, **source.letters, "n": min(len(task.block.labels), SAMPLE), "d": task.n_features}


def permutation(seed: int, task: Task) -> Any:
    """An order of the rows: a function of the seed alone, so that all algorithms see the same."""
    if task.ordered:
        return np.arange(len(task.block.labels))
    return np.random.default_rng(seed).permutation(len(task.block.labels))


def first_part(task: Task) -> tuple[Any, Any]:
    """The rows that parameters are chosen on: the first of an extra permutation."""
    return task.part(permutation(CHOOSING_SEED, task)[:FIRST])


def rehearse(learner: Any, task: Task) -> None:
    """Learn the first part with a learner that is thrown away, so that nothing that happens once is timed afterwards.

    That is what is compiled or loaded, of all the stages of a model that these rows lead to.
    """
    X, y = first_part(task)
    online = learner.start(task.n_features, seed=0, **task.start)
    online.prepare(X)
    with undisturbed():
        online.learn(X, y)
        online.score(X[:2])


def progressive(entry: Entry, letters: dict[str, Any], task: Task, runs: int) -> Figures:
    """Each row is predicted, then learned; parameters have the least error of this kind on the first part."""
    best, searching = searched(by_mistakes, entry, letters, task)
    learner = make_learner(entry.recipe, **best)
    found = [learned(learner, task, *task.part(permutation(seed, task)), seed) for seed in range(runs)]
    return Figures(best, found, searching, len(task.block.labels))


def searched(search: Search, entry: Entry, letters: dict[str, Any], task: Task) -> tuple[dict[str, Any], float]:
    """The best parameters and the CPU seconds of the search, in which nothing happens for the first time."""
    rehearse(make_learner(entry.recipe, **entry.candidates(letters)[0]), task)
    with clock() as seconds:
        return search(entry, letters, task), seconds()


def by_mistakes(entry: Entry, letters: dict[str, Any], task: Task) -> dict[str, Any]:
    """The parameters with the least error while the first part is learned."""
    candidates = entry.candidates(letters)
    if len(candidates) == 1:
        return candidates[0]
    first = first_part(task)
    tried = [learned(make_learner(entry.recipe, **given), task, *first, seed=0)[0] for given in candidates]
    return candidates[int(np.argmin(tried))]


def by_folds(entry: Entry, letters: dict[str, Any], task: Task) -> dict[str, Any]:
    """The parameters with the least error in cross-validation on the first part."""
    candidates = entry.candidates(letters)
    learners = [make_learner(entry.recipe, **given) for given in candidates]
    if len(learners) == 1:
        return candidates[0]
    return candidates[learners.index(chosen(learners, *first_part(task), FOLDS, **task.start))]


def learned(learner: Learner, task: Task, X: Any, y: Any, seed: int) -> tuple[float, float]:
    """Mean error of the predictions made before each row was learned, and CPU seconds."""
    online = learner.start(task.n_features, seed=seed, **task.start)
    online.prepare(X)
    with clock() as seconds:
        scores, taken = online.learn(X, y), seconds()
    return float(np.mean(errors(online.task, y, scores))), taken


def held_out(entry: Entry, letters: dict[str, Any], task: Task, runs: int) -> Figures:
    """Some passes over the rows, then the test rows; parameters by cross-validation on the first part."""
    if entry.recipe not in RECIPES:
        return by_machine(entry, letters, task, runs)
    best, searching = searched(by_folds, entry, letters, task)
    learner = make_learner(entry.recipe, **best)
    found = [tested(learner, task, seed) for seed in range(runs)]
    return Figures(best, found, searching, len(task.block.labels))


def tested(learner: Learner, task: Task, seed: int) -> tuple[float, float]:
    """Mean error on the test rows after learning, and CPU seconds of learning."""
    assert task.test is not None
    X, y = task.part(permutation(seed, task))
    online = learner.start(task.n_features, seed=seed, **task.start)
    online.prepare(X)
    with clock() as seconds:
        for _ in range(task.passes):
            online.learn(X, y)
        taken = seconds()
    z = np.asarray(task.test.labels, np.float64)
    return float(np.mean(errors(online.task, z, online.score(task.test.rows)))), taken


def by_machine(entry: Entry, letters: dict[str, Any], task: Task, runs: int) -> Figures:
    """The same for a batch learner; one that is not random learns once."""
    from onkel.apps.reproduce import machines  # not before: scikit-learn takes long to import

    assert task.test is not None
    (X, y), Z, name = first_part(task), machines.taken(task.test.rows), entry.recipe
    candidates = entry.candidates(letters)
    with undisturbed():  # as in `rehearse`
        machines.fitted(name, candidates[0], machines.taken(X), y, 0)
    with clock() as seconds:
        best, searching = machines.chosen(name, candidates, machines.taken(X), y, FOLDS), seconds()
    found = list[tuple[float, float]]()
    for seed in range(runs if name in machines.RANDOM else 1):
        X, y = task.part(permutation(seed, task))
        with clock() as seconds:
            model, taken = machines.fitted(name, best, machines.taken(X), y, seed), seconds()
        with undisturbed():
            found.append((1.0 - float(model.score(Z, task.test.labels)), taken))
    n = len(task.block.labels)
    return Figures(best, found, searching, min(n, machines.MOST.get(name, n)))
