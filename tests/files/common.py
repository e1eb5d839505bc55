"""What the tests of the model files share."""

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from onkel import KernelClassifier
from onkel.core.trees import same
from onkel.core.verbs import known
from onkel.files.model_file import load_model
from onkel.files.snapshot import SnapshotError

DAMAGED = "this is not an onkel model, or it is damaged or cut off."


@known
class Leaf(NamedTuple):
    values: Any
    note: Any = None


ROWS = np.random.default_rng(0).standard_normal((60, 3))


WIDE = sparse.random(60, 5000, 0.002, "csr", random_state=0)


VERY_WIDE = sparse.random(60, 50_000, 0.0002, "csr", random_state=0)


LABELS = (np.sum(ROWS**2, axis=1) > 3).astype(int)


def fitted(learner, rows=ROWS, labels=LABELS, Estimator=KernelClassifier):
    return Estimator(learner, shuffle=False, epochs=1).fit(rows, labels)


MODELS = (
    "linear", "phase", "hadamard", "chi2", "expansion", "several", "margin", "tube", "nystroem", "fading",
    "neighbours", "span", "merging", "side by side", "learned", "learned phase", "spectrum", "committee", "hybrid",
    "cells", "trees", "wide cells", "experts", "levels", "ranked levels", "voters", "descent", "particles",
    "renewed", "listed", "listed landmarks", "drawn", "sample", "standardised", "readouts", "exact readout", "held",
    "held compressed", "held classes",
)  # fmt: skip


def load_damaged(data, path, original):
    """Load damaged bytes: an error in one sentence, or a model like the original. Returns whether it was an error."""
    path.write_bytes(data)
    try:
        online = load_model(path).online
    except SnapshotError as error:
        message = str(error)
        assert message.startswith(f"{path}: ")
        assert message.endswith(".")
        assert "\n" not in message
        return True
    assert same(online.model, original.model)
    assert (online.learner, online.task, online.setting) == (original.learner, original.task, original.setting)
    return False


def rows_for(name):
    """Rows that a model of this name can learn."""
    if name == "wide cells":
        return WIDE
    return VERY_WIDE if name.startswith(("listed", "drawn")) else np.abs(ROWS)
