"""Naive twins: slow, obvious reference implementations, written beside the papers."""

from tests.naive import maps
from tests.naive.auto import auto
from tests.naive.bkm import bkm
from tests.naive.bogd import bogd
from tests.naive.bogd_pp import bogd_pp
from tests.naive.bpa_nn import bpa_nn
from tests.naive.bpa_p import bpa_p
from tests.naive.bpa_s import bpa_s
from tests.naive.bsgd_m import bsgd_m
from tests.naive.bsgd_p import bsgd_p
from tests.naive.bsgd_r import bsgd_r
from tests.naive.budget_perceptron import budget_perceptron
from tests.naive.common import Trace
from tests.naive.dual_sgd import dual_sgd
from tests.naive.experts import ada_raker, omkc, omkl, omkr, raker
from tests.naive.fkl import fkl
from tests.naive.fogd import fogd
from tests.naive.forgetron import forgetron
from tests.naive.ik_ogd import ik_ogd
from tests.naive.multi_rrf import multi_rrf
from tests.naive.nogd import nogd
from tests.naive.norma import norma
from tests.naive.ogd import ogd
from tests.naive.one_vs_rest import one_vs_rest
from tests.naive.passive_aggressive import passive_aggressive
from tests.naive.perceptron import perceptron
from tests.naive.projectron import projectron
from tests.naive.projectron_pp import projectron_pp
from tests.naive.rbp import rbp
from tests.naive.rks import rks
from tests.naive.rrf import rrf
from tests.naive.spectral import spectral_mixture
from tests.naive.tvm import tvm

__all__ = [
    "Trace",
    "ada_raker",
    "auto",
    "bkm",
    "bogd",
    "bogd_pp",
    "bpa_nn",
    "bpa_p",
    "bpa_s",
    "bsgd_m",
    "bsgd_p",
    "bsgd_r",
    "budget_perceptron",
    "dual_sgd",
    "fkl",
    "fogd",
    "forgetron",
    "ik_ogd",
    "maps",
    "multi_rrf",
    "nogd",
    "norma",
    "ogd",
    "omkc",
    "omkl",
    "omkr",
    "one_vs_rest",
    "passive_aggressive",
    "perceptron",
    "projectron",
    "projectron_pp",
    "raker",
    "rbp",
    "rks",
    "rrf",
    "spectral_mixture",
    "tvm",
]
