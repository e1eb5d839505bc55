"""river's own checks, for all recipes, without exception."""

import pytest
from river.checks import check_estimator

from onkel.integrations.river import KernelClassifier, KernelRegressor
from onkel.recipes import RECIPES, fogd, make_learner
from tests.tables import RECIPE_TABLE, parameters


def estimators():
    """The classifier and the regressor of every recipe; of several classes where it can."""
    for name, row in RECIPE_TABLE.items():
        for task in [t for t in ("multiclass", "binary") if t in row.parameters][:1]:
            yield KernelClassifier(make_learner(name, **parameters(name, task)))
        if "regression" in row.parameters:
            yield KernelRegressor(make_learner(name, **parameters(name, "regression")))


@pytest.mark.parametrize("model", [*estimators()], ids=lambda model: f"{model}-{model.learner.name}")
def test_keeps_the_rules_of_river(model):
    assert model._unit_test_skips() == set()
    check_estimator(model)


@pytest.mark.parametrize("missing", ["zero", "mean"])
def test_keeps_the_rules_of_river_whatever_stands_for_missing_numbers(missing):
    check_estimator(KernelClassifier(fogd(n_frequencies=37, sigma=1.5), missing, class_weight="balanced"))


def test_every_recipe_is_checked():
    assert {model.learner.name for model in estimators()} == {*RECIPES}
