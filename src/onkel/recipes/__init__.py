"""The algorithms of the papers, each a composition of pieces."""

from onkel.recipes.features import fogd, nogd, rks
from onkel.recipes.gradient import norma, ogd
from onkel.recipes.learner import RECIPES, Learner, make_learner, recipe
from onkel.recipes.perceptrons import passive_aggressive, perceptron

__all__ = [
    "RECIPES",
    "Learner",
    "fogd",
    "make_learner",
    "nogd",
    "norma",
    "ogd",
    "passive_aggressive",
    "perceptron",
    "recipe",
    "rks",
]
