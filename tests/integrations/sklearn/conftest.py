"""Fixtures of the tests in this folder."""

import numpy as np
import pandas as pd
import pytest

from onkel import KernelClassifier, fogd
from onkel.recipes import RECIPES
from tests.integrations.sklearn.common import EVERY_LEARNER, LABELS, X, circle, fits, thirds


@pytest.fixture(params=EVERY_LEARNER, ids=lambda p: f"{p[0]}-{'given width' if p[1] else 'width rule'}")
def learner(request):
    name, params = request.param
    known = RECIPES[name]().get_params()
    small = {key: value for key, value in {"budget": 20, "batch": 10, "learner__budget": 20}.items() if key in known}
    return RECIPES[name]().set_params(**params, **small)


def pytest_collection_modifyitems(items):
    """Leave out what a recipe is not made for."""
    items[:] = [item for item in items if possible(getattr(item, "callspec", None))]


def possible(call):
    given = {} if call is None else call.params
    named = given.get("learner") in EVERY_LEARNER and "task" in given
    return not named or fits(RECIPES[given["learner"][0]](), given["task"])


@pytest.fixture(params=LABELS)
def labelled(request):
    """Labels of one kind and the classifier that learned them."""
    classes = np.asarray(LABELS[request.param])
    y = classes[(circle(X) if len(classes) == 2 else thirds(X))]
    return y, KernelClassifier(fogd(gamma=0.5), epochs=5).fit(X, y)


@pytest.fixture
def frame():
    return pd.DataFrame(X, columns=["age", "height", "weight"])
