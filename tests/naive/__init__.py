"""Naive twins: slow, obvious reference implementations, written beside the papers."""

from tests.naive import maps
from tests.naive.common import Trace
from tests.naive.fogd import fogd
from tests.naive.nogd import nogd
from tests.naive.norma import norma
from tests.naive.ogd import ogd
from tests.naive.passive_aggressive import passive_aggressive
from tests.naive.perceptron import perceptron
from tests.naive.rks import rks

__all__ = ["Trace", "fogd", "maps", "nogd", "norma", "ogd", "passive_aggressive", "perceptron", "rks"]
