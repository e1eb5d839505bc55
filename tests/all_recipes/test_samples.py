"""Models made from a sample of the stream: the first rows, or a reservoir."""

import numpy as np
import pytest

from onkel import ik_ogd, snapshot
from onkel.online import Waiting
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
    assert snapshot.same(np.concatenate(scores), expected)
    assert snapshot.same(in_parts.model, at_once.model)
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
