"""Fixtures of the tests in this folder."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from onkel import (
    KernelRegressor,
    auto,
    bpa_nn,
    bpa_p,
    bsgd_m,
    dual_sgd,
    fkl,
    fogd,
    forgetron,
    ik_ogd,
    multi_rrf,
    nogd,
    norma,
    ogd,
    one_vs_rest,
    rbp,
    rks,
    rrf,
)
from tests.snapshot.common import LABELS, ROWS, VERY_WIDE, WIDE, fitted


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.onkel"


@pytest.fixture(scope="session")
def models(tmp_path_factory):
    """Files of small models of every type, by name."""
    folder = tmp_path_factory.mktemp("models")
    made = {
        "linear": fitted(fogd(n_frequencies=4, gamma=0.5)),
        "phase": fitted(rks(n_frequencies=4, gamma=0.5, batch=10)),
        "hadamard": fitted(fogd(n_frequencies=6, gamma=0.5, draw="fastfood")),
        "chi2": fitted(fogd(kernel="additive_chi2"), np.abs(ROWS)),
        "expansion": fitted(ogd(gamma=0.5)),
        "several": fitted(ogd(gamma=0.5), ROWS, np.arange(60) % 3),
        "margin": fitted(norma(gamma=0.5)),
        "tube": fitted(norma(gamma=0.5, published=True), Estimator=KernelRegressor),
        "nystroem": fitted(nogd(budget=5, rank=3, gamma=0.5)),
        "fading": fitted(forgetron(budget=5, gamma=0.5)),
        "neighbours": fitted(bpa_nn(budget=5, gamma=0.5)),
        "span": fitted(bpa_p(budget=5, gamma=0.5)),
        "merging": fitted(bsgd_m(budget=5, gamma=0.5)),
        "side by side": fitted(one_vs_rest(forgetron(budget=5, gamma=0.5)), ROWS, np.arange(60) % 3),
        "learned": fitted(rrf(n_frequencies=4, standardise=False)),
        "learned phase": fitted(fkl(n_frequencies=4, batch=10)),
        "spectrum": fitted(rrf(n_frequencies=4, kernel="mixture", n_components=2, standardise=False)),
        "committee": fitted(multi_rrf(n_frequencies=4, starts=(0.5, 1.0), standardise=False)),
        "hybrid": fitted(dual_sgd(budget=5, merge=2, n_frequencies=4, gamma=0.5)),
        "cells": fitted(ik_ogd(t=3, psi=4, sample=16)),
        "trees": fitted(ik_ogd(partition="trees", t=3, psi=4, sample=16)),
        "wide cells": fitted(ik_ogd(t=3, psi=4, sample=16), WIDE),
        "renewed": fitted(ik_ogd(t=3, psi=4, sample=16, refresh=7)),
        "listed": fitted(rbp(budget=5, gamma=0.5), VERY_WIDE),
        "listed landmarks": fitted(nogd(budget=5, rank=3, gamma=0.5), VERY_WIDE),
        "drawn": fitted(fogd(n_frequencies=4, gamma=0.5), VERY_WIDE),
        "sample": fitted(ik_ogd(t=3, psi=4, sample=16, choose="reservoir", over=90)),
        "standardised": fitted(ogd(gamma=0.5, standardise=True)),
        "readouts": fitted(auto(n_frequencies=4)),
        "exact readout": fitted(auto(n_frequencies=4), Estimator=KernelRegressor),
        "held": fitted(fogd(n_frequencies=4), ROWS[:5], LABELS[:5]),
        "held compressed": fitted(fogd(n_frequencies=4), csr_matrix(ROWS[:5]), LABELS[:5]),
        "held classes": fitted(fogd(n_frequencies=4), ROWS[:6], np.arange(6) % 3),
    }
    for name, model in made.items():
        model.save(folder / name)
    return folder
