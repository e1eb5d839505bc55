"""The algorithms of the papers, each a composition of pieces."""

from onkel.recipes.bayesian import bkm
from onkel.recipes.budgeted_gradient import bogd, bogd_pp
from onkel.recipes.budgeted_pa import bpa_nn, bpa_p, bpa_s
from onkel.recipes.dual import dual_sgd
from onkel.recipes.experts import ada_raker, omkc, omkl, omkr, raker
from onkel.recipes.features import fogd, nogd, rks
from onkel.recipes.forgetting import budget_perceptron, forgetron, rbp
from onkel.recipes.gradient import norma, ogd
from onkel.recipes.isolation import ik_ogd
from onkel.recipes.learned import fkl, multi_rrf, rrf
from onkel.recipes.learner import RECIPES, Learner, make_learner, recipe
from onkel.recipes.pegasos import bsgd_m, bsgd_p, bsgd_r
from onkel.recipes.perceptrons import passive_aggressive, perceptron
from onkel.recipes.projecting import projectron, projectron_pp
from onkel.recipes.prototypes import tvm
from onkel.recipes.reductions import one_vs_rest
from onkel.recipes.tuning_free import auto

__all__ = [
    "RECIPES",
    "Learner",
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
    "make_learner",
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
    "recipe",
    "rks",
    "rrf",
    "tvm",
]
