"""Models whose parts do not fit together: compiled code would believe every one of them."""

import numpy as np
import pytest

from onkel.core.support import enlarged
from onkel.files import snapshot
from onkel.files.model_file import load_model
from onkel.files.snapshot import SnapshotError
from onkel.pieces.kernels import Kernel


def replaced(tree, place, value):
    """The tree with the member at a dotted place replaced."""
    name, _, rest = place.partition(".")
    old = getattr(tree, name)
    return tree._replace(**{name: replaced(old, rest, value) if rest else value(old) if callable(value) else value})


def other_type(array):
    return array.astype(np.float64 if array.dtype == np.float32 else np.int32 if array.dtype.kind == "i" else "f4")


def shorter(array):
    return np.ascontiguousarray(array[..., :-1])


def transposed(array):
    return np.ascontiguousarray(array.T)


def last_set_to(value):
    def change(array):
        changed = array.copy()
        changed[-1] = value
        return changed

    return change


MISFITS = [
    ("linear", "weights", transposed),
    ("linear", "weights", shorter),
    ("linear", "weights", other_type),
    ("linear", "weights", 0.5),
    ("linear", "weights", None),
    ("linear", "weights", np.array(["a"])),
    ("linear", "memory", np.zeros((1, 3), np.float32)),
    ("linear", "scale", np.zeros(0)),
    ("linear", "scale", np.ones(1, np.float32)),
    ("linear", "clock", np.zeros(0, np.int64)),
    ("linear", "clock", np.zeros(1)),
    ("linear", "feature_map.frequencies", transposed),
    ("linear", "feature_map.frequencies", other_type),
    ("linear", "feature_map.frequencies", np.zeros(12, np.float32)),
    ("linear", "feature_map", None),
    ("linear", "feature_map", Kernel(0)),
    ("linear", "loss", None),
    ("linear", "step", 0.1),
    ("phase", "feature_map.phases", shorter),
    ("phase", "memory", shorter),
    ("hadamard", "feature_map.order", last_set_to(99)),
    ("hadamard", "feature_map.order", last_set_to(-1)),
    ("hadamard", "feature_map.order", other_type),
    ("hadamard", "feature_map.diagonals", shorter),
    ("hadamard", "feature_map.diagonals", np.zeros((2, 0, 4), np.float32)),
    ("hadamard", "feature_map.lengths", shorter),
    ("hadamard", "feature_map.n_frequencies", 9999),
    ("hadamard", "feature_map.n_frequencies", 2.5),
    ("chi2", "feature_map.n_features", 9999),
    ("chi2", "feature_map.order", 99),
    ("experts", "combination.log_weights", shorter),
    ("experts", "combination.rate", 9.0),
    ("levels", "combination.rates", shorter),
    ("levels", "combination.log_weights", shorter),
    ("levels", "clock", np.array([3])),
    ("ranked levels", "combination.weights", shorter),
    ("voters", "combination.weights", shorter),
    ("voters", "combination.lazy", True),
    ("voters", "combination.weights", np.zeros_like),
    ("voters", "combination.weights", lambda weights: np.array([2.0, -1.0])),
    ("voters", "combination.weights", lambda weights: np.array([1e308, 1e308])),
    ("ranked levels", "combination.weights", np.zeros_like),
    ("descent", "combination.weights", shorter),
    ("particles", "weights", shorter),
    ("particles", "widths", shorter),
    ("particles", "energy", shorter),
    ("particles", "held", np.array([99])),
    ("particles", "held", np.array([-1])),
    ("particles", "posterior.lam", 9.0),
    ("renewed", "rule.every", 8),
    ("renewed", "numbers", np.zeros(9, np.int64)),
    ("renewed", "numbers", np.zeros(4)),
    ("renewed", "block.values", shorter),
    ("renewed", "model.partitions.members", last_set_to(99)),
    ("listed", "support.points.columns", shorter),
    ("listed", "support.points.values", shorter),
    ("listed", "support.points.lengths", shorter),
    ("listed", "support.points.lengths", last_set_to(99)),
    ("listed", "support.points.lengths", last_set_to(-1)),
    ("listed", "support.points.columns", np.full((5, 16), 50_000, np.int32)),
    ("listed", "support.points.columns", np.zeros((5, 16), np.int32)),
    ("listed", "support.points.width", 100),
    ("listed landmarks", "feature_map.points.lengths", last_set_to(99)),
    ("listed landmarks", "feature_map.points.columns", shorter),
    ("drawn", "feature_map.frequencies.n_frequencies", 9),
    ("drawn", "feature_map.frequencies.spread", 1.0),
    ("drawn", "feature_map.frequencies.code", 3),
    ("expansion", "support.points", transposed),
    ("expansion", "support.points", shorter),
    ("expansion", "support.points", other_type),
    ("expansion", "support.sizes", shorter),
    ("expansion", "support.coef", shorter),
    ("expansion", "support.born", other_type),
    ("expansion", "support.count", np.array([10**6])),
    ("expansion", "support.count", np.array([-1])),
    ("expansion", "support.count", np.zeros(0, np.int64)),
    ("expansion", "support.scale", np.zeros(0)),
    ("expansion", "support", None),
    ("expansion", "offset", np.zeros(0)),
    ("expansion", "kernel", None),
    ("several", "support.coef", lambda coef: np.ascontiguousarray(coef[:1])),
    ("several", "offset", np.zeros(1)),
    ("margin", "loss.rho", np.zeros(0)),
    ("margin", "loss.rho", 0.5),
    ("tube", "loss.epsilon", np.zeros(0)),
    ("nystroem", "feature_map.projection", transposed),
    ("nystroem", "feature_map.points", transposed),
    ("nystroem", "feature_map.sizes", shorter),
    ("nystroem", "feature_map.kernel", None),
    ("fading", "budget.rule.next", np.array([5])),
    ("fading", "budget.rule.next", np.array([-1])),
    ("fading", "budget.damage", np.zeros(0)),
    ("fading", "budget.largest", 2.0),
    ("fading", "support", lambda support: enlarged(support, 9)),
    ("neighbours", "budget.nearest", last_set_to(5)),
    ("neighbours", "budget.nearest", last_set_to(-1)),
    ("neighbours", "budget.gram", shorter),
    ("span", "budget.span.inverse", shorter),
    ("span", "budget.span.guard", 0.0),
    ("span", "budget", None),
    ("merging", "budget.search.table", shorter),
    ("merging", "support", lambda support: enlarged(support, 9)),
    ("side by side", "parts", lambda parts: parts[:2]),
    ("side by side", "parts", None),
    ("side by side", "parts", lambda parts: (*parts[:2], parts[2]._replace(offset=np.zeros(0)))),
    ("side by side", "clock", np.zeros(0, np.int64)),
    ("learned", "feature_map.widths.logs", shorter),
    ("learned", "feature_map.widths.limit", 20.0),
    ("learned", "feature_map.noise", transposed),
    ("learned phase", "feature_map.phases", shorter),
    ("spectrum", "feature_map.shares", shorter),
    ("spectrum", "feature_map.noise", lambda noise: noise[:1].copy()),
    ("committee", "parts", lambda parts: parts[:1]),
    ("committee", "parts", None),
    ("committee", "votes", True),
    ("hybrid", "support.count", np.array([6])),
    ("hybrid", "support.count", np.array([-1])),
    ("hybrid", "support", lambda support: enlarged(support, 9)),
    ("hybrid", "weights", shorter),
    ("hybrid", "merge", 9),
    ("cells", "weights", shorter),
    ("cells", "partitions.members", lambda members: members + 100),
    ("cells", "partitions.members", lambda members: members - 100),
    ("cells", "partitions.points", shorter),
    ("cells", "partitions.metric", 3),
    ("cells", "norm", 0.5),
    ("trees", "weights", shorter),
    ("trees", "partitions.child", last_set_to(999)),
    ("trees", "partitions.child", last_set_to(2**32 - 1)),
    ("trees", "partitions.feature", last_set_to(9)),
    ("trees", "partitions.feature", shorter),
    ("trees", "partitions.cell", last_set_to(999)),
    ("trees", "partitions.roots", last_set_to(999)),
    ("trees", "partitions.depths", shorter),
    ("wide cells", "partitions.owners", last_set_to(99)),
    ("wide cells", "partitions.owners", last_set_to(-1)),
    ("wide cells", "partitions.starts", last_set_to(99_999)),
    ("wide cells", "partitions.values", shorter),
    ("wide cells", "partitions.columns", shorter),
    ("sample", "seen", np.array([90])),
    ("sample", "seen", np.array([3])),
    ("sample", "numbers", shorter),
    ("sample", "model.partitions.members", lambda members: members + 100),
    ("standardised", "scaler.count", shorter),
    ("standardised", "scaler", None),
    ("standardised", "model", None),
    ("standardised", "model.support.count", np.array([-1])),
    ("readouts", "model.heads.linear", shorter),
    ("readouts", "model.log_shares", shorter),
    ("readouts", "model.exact", None),
    ("readouts", "model.feature_map.frequencies", transposed),
    ("readouts", "model.feature_map.lengths", np.zeros(1)),
    ("exact readout", "model.exact.inverse", shorter),
    ("exact readout", "model.exact.frequencies", 3),
    ("exact readout", "model.outcome.mean", np.zeros(0)),
    ("held", "targets", shorter),
    ("held", "importance", shorter),
    ("held", "block.values", transposed),
    ("held", "block.values", other_type),
    ("held", "block", None),
    ("held", "block", Kernel(0)),
    ("held", "model.weights", transposed),
    ("held", "model", Kernel(0)),
    ("held compressed", "block.indices", last_set_to(3)),
    ("held compressed", "block.indices", last_set_to(-1)),
    ("held compressed", "block.indices", shorter),
    ("held compressed", "block.indptr", last_set_to(99)),
    ("held compressed", "block.indptr", shorter),
    ("held compressed", "block.indptr", lambda indptr: np.ascontiguousarray(indptr[::-1])),
    ("held compressed", "block.data", shorter),
    ("held compressed", "block.width", 99),
    ("held classes", "targets", last_set_to(3.0)),
    ("held classes", "targets", last_set_to(-1.0)),
]


@pytest.mark.parametrize(("name", "place", "value"), MISFITS, ids=lambda part: getattr(part, "__name__", None))
def test_a_model_whose_arrays_do_not_fit_together_is_refused(models, name, place, value, path):
    content = snapshot.read(models / name)
    content["model"] = replaced(content["model"], place, value)
    snapshot.write(path, content)
    with pytest.raises(SnapshotError) as caught:
        load_model(path)
    assert str(caught.value).startswith(f"{path}: its ")
