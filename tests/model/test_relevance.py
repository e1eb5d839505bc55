"""Learned widths as relevance of features."""

import numpy as np
import pandas as pd
import pytest

from onkel import KernelClassifier, KernelRegressor, auto, bkm, fkl, fogd, multi_rrf, rrf

LEARNERS = {
    "auto": auto(n_frequencies=32),
    "rrf": rrf(n_frequencies=50),
    "rrf with a learned spectrum": rrf(n_frequencies=40, kernel="mixture"),
    "multi_rrf": multi_rrf(n_frequencies=50, starts=(0.3, 1.0)),
    "fkl": fkl(n_frequencies=50, batch=10),
    "bkm": bkm(n_particles=10, n_frequencies=50, batch=10),
}


def frame(n=3000):
    """Two features that matter and three that do not."""
    values = np.random.default_rng(0).normal(size=(n, 5))
    return pd.DataFrame(values, columns=["a", "noise 1", "b", "noise 2", "noise 3"])


@pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS)
def test_features_that_matter_get_larger_widths_by_name(learner):
    rows = frame()
    model = KernelClassifier(learner).fit(rows, np.sin(2.0 * rows["a"]) * rows["b"] > 0.0)
    found = model.relevance()
    assert list(found) == list(rows.columns)
    assert min(found["a"], found["b"]) > max(found[name] for name in found if name.startswith("noise"))


def test_features_without_names_are_numbered():
    rows = frame(200).to_numpy()
    assert list(KernelRegressor().fit(rows, rows[:, 0]).relevance()) == ["x0", "x1", "x2", "x3", "x4"]


@pytest.mark.parametrize("learner", [fogd(), bkm(n_particles=2, n_frequencies=5, batch=10, widths="fixed")])
def test_a_learner_with_fixed_widths_says_that_it_has_none(learner):
    rows = frame(50)
    model = KernelClassifier(learner).fit(rows, rows["a"] > 0.0)
    with pytest.raises(ValueError, match="learn the widths of their kernel"):
        model.relevance()
