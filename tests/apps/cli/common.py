"""What the tests of the command line share."""

import bz2
import gzip
import lzma

import numpy as np
import pytest
import zstandard

from onkel import make_learner
from onkel.apps.cli.checkpoints import Checkpoint
from onkel.apps.cli.main import main

pytestmark = pytest.mark.filterwarnings("error")  # on a terminal, a warning would be one more line


N_ROWS, N_FEATURES = 300, 3


COMPILING = "onkel: compiling for this machine (once; kept on disk) ..."


PACK = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress, ".zst": zstandard.compress}


RANDOM = np.random.default_rng(0)


X = RANDOM.standard_normal((N_ROWS, N_FEATURES)).round(4)


SIZE = np.sum(X**2, axis=1)


LABELS = {
    "binary": np.where(SIZE > 3.0, 1, -1),
    "multiclass": np.digitize(SIZE, [1.5, 3.5]),
    "regression": np.sin(X[:, 0]).round(4),
    "text": np.where(SIZE > 3.0, "far", "near"),
}


TARGETS = {
    "binary": LABELS["binary"].astype(float),
    "multiclass": LABELS["multiclass"].astype(float),
    "regression": LABELS["regression"],
    "text": np.where(SIZE > 3.0, -1.0, 1.0),  # far comes before near
}


OUTPUTS = {"binary": 1, "multiclass": 3, "regression": 1, "text": 1}


def libsvm(labels, rows=X):
    return "".join(
        f"{label} " + " ".join(f"{j + 1}:{value!r}" for j, value in enumerate(row) if value) + "\n"
        for label, row in zip(labels, rows.tolist(), strict=True)
    )


def csv(labels, rows=X, header=""):
    lines = (",".join(map(repr, row)) + f",{label}\n" for label, row in zip(labels, rows.tolist(), strict=True))
    return header + "".join(lines)


DATA = {
    **{f"{task}.libsvm": libsvm(LABELS[task]) for task in ("binary", "multiclass", "regression")},
    **{f"{task}.csv": csv(LABELS[task]) for task in LABELS},
    "first.libsvm": libsvm(LABELS["binary"][:170], X[:170]),
    "second.libsvm": libsvm(LABELS["binary"][170:], X[170:]),
    "header.csv": csv(LABELS["text"], header="a,b,c,place\n"),
}


def spoken(err):
    return [line for line in err.splitlines() if line != COMPILING]


def by_hand(task, order=slice(None), name="auto", dtype="float32", seed=0, **params):
    """Scores without the command line."""
    kind = {"text": "binary"}.get(task, task)
    online = make_learner(name, **params).start(N_FEATURES, kind, OUTPUTS[task], dtype, seed)
    return online.learn(X[order], TARGETS[task][order])


OUTPUT = ["--scores", "out.txt", "--json", "out.json", "--save", "out.onkel"]


class BrokenDownError(Exception):
    pass


def breaking(checkpoint, rows, place):
    """In place of `Checkpoint.passed`: leave a checkpoint, and break down."""
    checkpoint._save(checkpoint.path, place)
    raise BrokenDownError


def stopped_after_every_block(command, start):
    """Run a command that breaks down after each block, until a checkpoint of the last one brings it to its end."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Checkpoint, "passed", breaking)
        more = start
        for _ in range(100):
            try:
                assert main([*command, *more, "--checkpoint", "here.onkel"]) == 0
            except BrokenDownError:
                more = ["--resume", "here.onkel"]
            else:
                return
        raise AssertionError("it never came to its end")
