"""Fixtures of the tests in this folder."""

import pytest

from tests.evaluation.common import LEARNERS


@pytest.fixture(params=LEARNERS)
def learner(request):
    return LEARNERS[request.param]
