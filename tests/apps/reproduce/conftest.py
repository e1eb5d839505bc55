"""Small data sets with the names of large ones, and learners that only look on."""

import numpy as np
import pytest

from onkel.apps.reproduce import EXPERIMENTS, protocols
from tests.apps.cli.common import libsvm

ROWS = 60


def made_up(seed, rows=ROWS, features=4):
    X = np.random.default_rng(seed).standard_normal((rows, features)).round(3)
    return X, np.where(np.sum(X, axis=1) > 0.0, 1, -1)


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A folder that has german, a9a with a test part, cod-rna without one, and housing; there is no cache."""
    for seed, name in enumerate(("german", "a9a", "a9a.t", "cod-rna", "housing")):
        X, y = made_up(seed)
        text = libsvm(X[:, 0].tolist() if name == "housing" else y, X)
        (tmp_path / f"{name}.libsvm").write_text(text)
    monkeypatch.setenv("ONKEL_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "nothing"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def few(monkeypatch):
    """Leave only some algorithms of a table, or put others in their place."""

    def leave(name, **algorithms):
        experiment = EXPERIMENTS[name]
        kept = {key: made or experiment.algorithms[key] for key, made in algorithms.items()}
        monkeypatch.setitem(EXPERIMENTS, name, experiment._replace(algorithms=kept))

    return leave


class Onlooker:
    """Stands in for a learner: keeps what it was shown, and always answers 1."""

    seen: list

    def __init__(self, name, given):
        self.name, self.given = name, given

    def start(self, n_features, seed=0, task="binary", n_outputs=1):
        self.seed, self.task, self.n_outputs = seed, task, n_outputs
        return self

    def prepare(self, rows):
        pass

    def learn(self, rows, targets):
        Onlooker.seen.append((self.name, self.given, self.seed, np.asarray(rows).copy(), targets.copy()))
        return self.score(rows)

    def score(self, rows):
        return np.ones((rows.shape[0], self.n_outputs))


@pytest.fixture
def onlookers(monkeypatch):
    """What learners are shown: name, parameters, seed, rows and targets of each call of `learn`."""
    Onlooker.seen = []
    monkeypatch.setattr(protocols, "make_learner", lambda name, **given: Onlooker(name, given))
    monkeypatch.setattr(protocols, "chosen", lambda learners, X, y, folds, **start: learners[0])
    return Onlooker.seen
