"""Fixtures of the tests in this folder."""

import os

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from onkel import (
    KernelRegressor,
    ada_raker,
    auto,
    bkm,
    bpa_nn,
    bpa_p,
    bsgd_m,
    dual_sgd,
    fkl,
    fogd,
    forgetron,
    gaussian,
    ik_ogd,
    multi_rrf,
    nogd,
    norma,
    ogd,
    omkc,
    omkr,
    one_vs_rest,
    raker,
    rbp,
    rks,
    rrf,
)
from tests.files.common import LABELS, ROWS, VERY_WIDE, WIDE, fitted


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.onkel"


@pytest.fixture(scope="session")
def models(tmp_path_factory):
    """Files of small models of every type, by name."""
    folder = tmp_path_factory.mktemp("models")
    makers = {
        "linear": lambda: fitted(fogd(n_frequencies=4, gamma=0.5)),
        "phase": lambda: fitted(rks(n_frequencies=4, gamma=0.5, batch=10)),
        "hadamard": lambda: fitted(fogd(n_frequencies=6, gamma=0.5, draw="fastfood")),
        "chi2": lambda: fitted(fogd(kernel="additive_chi2"), np.abs(ROWS)),
        "expansion": lambda: fitted(ogd(gamma=0.5)),
        "several": lambda: fitted(ogd(gamma=0.5), ROWS, np.arange(60) % 3),
        "margin": lambda: fitted(norma(gamma=0.5)),
        "tube": lambda: fitted(norma(gamma=0.5, published=True), Estimator=KernelRegressor),
        "nystroem": lambda: fitted(nogd(budget=5, rank=3, gamma=0.5)),
        "fading": lambda: fitted(forgetron(budget=5, gamma=0.5)),
        "neighbours": lambda: fitted(bpa_nn(budget=5, gamma=0.5)),
        "span": lambda: fitted(bpa_p(budget=5, gamma=0.5)),
        "merging": lambda: fitted(bsgd_m(budget=5, gamma=0.5)),
        "side by side": lambda: fitted(one_vs_rest(forgetron(budget=5, gamma=0.5)), ROWS, np.arange(60) % 3),
        "learned": lambda: fitted(rrf(n_frequencies=4, standardise=False)),
        "learned phase": lambda: fitted(fkl(n_frequencies=4, batch=10)),
        "spectrum": lambda: fitted(rrf(n_frequencies=4, kernel="mixture", n_components=2, standardise=False)),
        "committee": lambda: fitted(multi_rrf(n_frequencies=4, starts=(0.5, 1.0), standardise=False)),
        "hybrid": lambda: fitted(dual_sgd(budget=5, merge=2, n_frequencies=4, gamma=0.5)),
        "cells": lambda: fitted(ik_ogd(t=3, psi=4, sample=16)),
        "trees": lambda: fitted(ik_ogd(partition="trees", t=3, psi=4, sample=16)),
        "wide cells": lambda: fitted(ik_ogd(t=3, psi=4, sample=16), WIDE),
        "experts": lambda: fitted(raker(n_frequencies=4)),
        "levels": lambda: fitted(ada_raker(n_frequencies=4)),
        "ranked levels": lambda: fitted(ada_raker(n_frequencies=4, schedule="reference", eta=0.1, rounds=100)),
        "voters": lambda: fitted(omkc(rbp(budget=5), kernels=(gaussian(sigma=1.0), gaussian(sigma=2.0)))),
        "descent": lambda: fitted(omkr(), Estimator=KernelRegressor),
        "particles": lambda: fitted(bkm(n_particles=3, n_frequencies=4, batch=7, standardise=False)),
        "renewed": lambda: fitted(ik_ogd(t=3, psi=4, sample=16, refresh=7)),
        "listed": lambda: fitted(rbp(budget=5, gamma=0.5), VERY_WIDE),
        "listed landmarks": lambda: fitted(nogd(budget=5, rank=3, gamma=0.5), VERY_WIDE),
        "drawn": lambda: fitted(fogd(n_frequencies=4, gamma=0.5), VERY_WIDE),
        "sample": lambda: fitted(ik_ogd(t=3, psi=4, sample=16, choose="reservoir", over=90)),
        "standardised": lambda: fitted(ogd(gamma=0.5, standardise=True)),
        "readouts": lambda: fitted(auto(n_frequencies=4)),
        "exact readout": lambda: fitted(auto(n_frequencies=4), Estimator=KernelRegressor),
        "held": lambda: fitted(fogd(n_frequencies=4), ROWS[:5], LABELS[:5]),
        "held compressed": lambda: fitted(fogd(n_frequencies=4), csr_matrix(ROWS[:5]), LABELS[:5]),
        "held classes": lambda: fitted(fogd(n_frequencies=4), ROWS[:6], np.arange(6) % 3),
    }
    names = list(makers)  # backwards in every other worker: what one has compiled, the other finds
    if os.environ.get("PYTEST_XDIST_WORKER", "gw0")[-1] in "13579":
        names.reverse()
    for name in names:
        makers[name]().save(folder / name)
    return folder
