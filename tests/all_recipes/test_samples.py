"""Models made from a sample of the stream: the first rows, or a reservoir."""

import numpy as np
import pytest
from scipy import sparse

from onkel import ik_ogd
from onkel.core import trees
from onkel.core.rows import pack
from onkel.files.model_file import load_model, save_model
from onkel.learners.ensembles.renewed import Rule, make
from onkel.model.waiting import Waiting
from onkel.pieces.maps.indexing import index_map
from onkel.pieces.maps.isolation import cell_count
from onkel.pieces.maps.renewing import cell_counts, replaced
from tests.tables import N_FEATURES, stream


def begun(dtype="float64", **given):
    return ik_ogd(t=5, psi=4, **given).start(N_FEATURES, dtype=dtype)


@pytest.mark.parametrize("cut", [1, 7, 50])
@pytest.mark.parametrize("partition", ["cells", "trees"])
def test_a_reservoir_does_not_depend_on_the_cut(partition, cut):
    X, y = stream("binary")
    given = {"partition": partition, "sample": 16, "choose": "reservoir", "over": 90}
    at_once, in_parts = begun(**given), begun(**given)
    expected = at_once.learn(X, y)
    scores = [in_parts.learn(X[i : i + cut], y[i : i + cut]) for i in range(0, len(y), cut)]
    assert trees.same(np.concatenate(scores), expected)
    assert trees.same(in_parts.model, at_once.model)
    assert in_parts.rows_learned == len(y)


def test_every_row_has_the_same_chance_to_be_in_the_reservoir():
    X, y = stream("binary")
    counts = np.zeros(100)
    for seed in range(300):
        online = ik_ogd(t=1, psi=1, sample=10, choose="reservoir", over=101).start(N_FEATURES, seed=seed)
        online.learn(X[:100], y[:100])
        assert isinstance(online.model, Waiting)
        assert len(online.model.numbers) == 10
        counts[online.model.numbers] += 1
    assert abs(counts[:50].sum() - counts[50:].sum()) < 4 * np.sqrt(3000)  # of 3,000 places
    assert counts.max() < 30 + 5 * np.sqrt(30)


def test_the_rows_held_go_when_the_sample_is_complete():
    X, y = stream("binary")
    online = begun(sample=32)
    online.learn(X[:31], y[:31])
    assert isinstance(online.model, Waiting)
    online.learn(X[31:32], y[31:32])
    assert not isinstance(online.model, Waiting)
    assert online.rows_learned == 32


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"partition": "circles"}, "partition must be one of cells, trees"),
        ({"choose": "last"}, "choose must be one of first, reservoir"),
        ({"over": 9}, "over goes with choose='reservoir'"),
        ({"choose": "reservoir", "sample": 9, "over": 5}, "over must be at least sample"),
        ({"metric": "cosine"}, "metric must be one of euclidean, cityblock"),
        ({"scale": "half"}, "scale must be one of sqrt_t, none"),
        ({"step": "adagrad"}, "step must be one of"),
    ],
)
def test_a_parameter_that_makes_no_sense_is_refused(given, sentence):
    with pytest.raises(ValueError, match=sentence):
        ik_ogd(**given).start(2)


def drifting(n=6000):
    """Rows that move away from where they began; the classes move with them."""
    rng = np.random.default_rng(0)
    X, shift = rng.normal(size=(n, N_FEATURES)), np.linspace(0.0, 8.0, n)
    y = np.where(X[:, 0] * X[:, 1] > 0.0, 1.0, -1.0)
    X[:, :2] += shift[:, None]
    return X, y


@pytest.mark.parametrize("partition", ["cells", "trees"])
def test_partitions_that_are_renewed_follow_a_drift(partition):
    X, y = drifting()
    wrong = {}
    for refresh in (None, 32):
        given = {"partition": partition, "t": 50, "psi": 32, "sample": 256, "refresh": refresh}
        scores = ik_ogd(**given).start(N_FEATURES).learn(X, y)[:, 0]
        wrong[refresh] = np.mean(np.sign(scores[3000:]) != y[3000:])
    assert wrong[32] < 0.7 * wrong[None]


RENEWING = [("cells", "dense"), ("trees", "dense"), ("trees", "csr"), ("cells", "wide")]


def laid(X, layout):
    """Rows as they are, compressed, or compressed with very many columns."""
    if layout == "dense":
        return X
    rows = sparse.csr_matrix(X)
    return rows if layout == "csr" else sparse.csr_matrix((rows.data, rows.indices * 1000, rows.indptr), (len(X), 5000))


@pytest.mark.parametrize(("partition", "layout"), RENEWING)
def test_renewal_depends_neither_on_the_cut_nor_on_saving(partition, layout, tmp_path):
    X, y = drifting(150)
    rows = laid(X, layout)
    learner = ik_ogd(partition=partition, t=3, psi=4, sample=16, refresh=10)
    at_once = learner.start(rows.shape[1])
    expected = at_once.learn(rows, y)
    in_parts, scores = learner.start(rows.shape[1]), []
    for i in range(0, 150, 7):
        scores.append(in_parts.learn(rows[i : i + 7], y[i : i + 7]))
        save_model(tmp_path / "model", in_parts)
        in_parts = load_model(tmp_path / "model").online
    assert trees.same(np.concatenate(scores), expected)
    assert trees.same(in_parts.model, at_once.model)
    assert at_once.rows_learned == 150
    assert trees.same(in_parts.score(rows), at_once.score(rows))


@pytest.mark.parametrize(("partition", "layout"), RENEWING)
def test_a_partition_takes_the_place_of_another_and_the_others_stay(partition, layout):
    X, _ = drifting(60)
    rows, later = laid(X[:30], layout), laid(X[30:], layout)
    rule = Rule(10, 6, partition, 2, None, 0)
    old, new = make(rule, rows, 5, np.float64, 1), make(rule, later, 1, np.float64, 2)
    made, block = replaced(old, 2, new), pack(laid(X, layout), np.float64)
    sizes, before, after = cell_counts(made), index_map(old, block), index_map(made, block)
    own, others = index_map(new, block)[:, 0], [0, 1, 3, 4]
    starts, old_starts = np.cumsum(sizes) - sizes, np.cumsum(cell_counts(old)) - cell_counts(old)
    assert trees.same(after[:, others] - starts[others], before[:, others] - old_starts[others])
    assert trees.same(after[:, 2] - starts[2], own)
    assert cell_count(made) == sizes.sum()


def test_a_period_shorter_than_a_partition_is_refused():
    with pytest.raises(ValueError, match="psi = 64 rows: refresh and sample must be at least that"):
        ik_ogd(refresh=10).start(2)
