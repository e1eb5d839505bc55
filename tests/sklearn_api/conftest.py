"""Fixtures of the tests in this folder."""

import numpy as np
import pandas as pd
import pytest

from onkel import KernelClassifier, fogd
from onkel.recipes import RECIPES
from tests.sklearn_api.common import EVERY_LEARNER, LABELS, X, circle, thirds


@pytest.fixture(params=EVERY_LEARNER, ids=lambda p: f"{p[0]}-{'given width' if p[1] else 'width rule'}")
def learner(request):
    name, params = request.param
    small = {"budget": 20} if name == "nogd" else {"batch": 10} if name == "rks" else {}
    return RECIPES[name](**params, **small)


@pytest.fixture(params=LABELS)
def labelled(request):
    """Labels of one kind and the classifier that learned them."""
    classes = np.asarray(LABELS[request.param])
    y = classes[(circle(X) if len(classes) == 2 else thirds(X))]
    return y, KernelClassifier(fogd(gamma=0.5), epochs=5).fit(X, y)


@pytest.fixture
def frame():
    return pd.DataFrame(X, columns=["age", "height", "weight"])
