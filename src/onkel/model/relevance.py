"""How much each feature counts for a model that learns the widths of its kernel."""

from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onkel.learners.ensembles.committee import Committee
from onkel.learners.linear import Linear
from onkel.learners.mixed import Mixed
from onkel.learners.particles import Particles
from onkel.pieces.maps.learned import Learned, LearnedPhase
from onkel.pieces.maps.spectral import Spectral
from onkel.pieces.maps.tuned import Tuned
from onkel.pieces.scaler import Standardised

Numbers = NDArray[np.float64]
UNKNOWN = "Only learners that learn the widths of their kernel know the relevance of features."


def relevance(model: Any) -> Numbers:
    """The learned width per feature: the spread of its frequencies, so that 0 means that it does not matter.

    Widths are those of the rows that the model sees: of standardised ones they can be compared with each other.
    """
    if isinstance(model, Standardised):
        return relevance(model.model)
    if isinstance(model, Committee):
        return np.asarray(np.mean([relevance(part) for part in model.parts], axis=0))
    if isinstance(model, Linear | Mixed):
        return spread(model.feature_map)
    return spread(model)


@singledispatch
def spread(feature_map: Any) -> Numbers:
    """Root mean square of the frequencies of each feature, in units of their noise."""
    raise ValueError(UNKNOWN)


@spread.register(Learned)
@spread.register(LearnedPhase)
def _(feature_map: Any) -> Numbers:
    return np.exp(feature_map.widths.logs)


@spread.register
def _(feature_map: Spectral) -> Numbers:
    squares = np.exp(2.0 * feature_map.logs) + feature_map.means**2
    return np.asarray(np.sqrt(feature_map.shares @ squares))


@spread.register
def _(feature_map: Tuned) -> Numbers:
    total, count = feature_map.lengths
    unit = feature_map.start / np.sqrt(total / count) if count else feature_map.start
    drawn = np.pi * np.sqrt(np.mean(np.square(feature_map.frequencies, dtype=np.float64), axis=1))
    return np.asarray(unit * np.exp(feature_map.log_widths) * drawn)


@spread.register
def _(model: Particles) -> Numbers:
    if not model.posterior.moving:
        raise ValueError(UNKNOWN)
    widths = np.sqrt(np.mean(np.square(model.widths, dtype=np.float64), axis=0))
    drawn = np.pi * np.sqrt(np.mean(np.square(model.noise, dtype=np.float64), axis=1))
    return np.asarray(widths * drawn)
