"""What the tests of all components share."""

from typing import Any

import numpy as np

from onkel.core import randomness
from onkel.core.randomness import choice, normal, uniform
from onkel.core.verbs import entry_point
from onkel.pieces import kernels, losses


@entry_point
def draw_all(state: Any, n: int, bits: Any, uniforms: Any, normals: Any, choices: Any) -> None:
    for i in range(bits.shape[0]):
        bits[i] = randomness.draw(state)
    for i in range(uniforms.shape[0]):
        uniforms[i] = uniform(state)
    for i in range(normals.shape[0]):
        normals[i] = normal(state)
    for i in range(choices.shape[0]):
        choices[i] = choice(state, n)


CLASSIFICATION = {
    "perceptron": losses.perceptron(),
    "hinge": losses.hinge(),
    "closed hinge": losses.closed_hinge(0.25),
    "logistic": losses.logistic(),
    "softmax": losses.softmax(),
    "adaptive margin": losses.AdaptiveMargin(0.4, 0.1, 1.0, np.array([0.3])),
}


REGRESSION = {
    "squared": losses.squared(),
    "squared, twice": losses.squared(factor=2.0),
    "squared outside 0.3": losses.squared(epsilon=0.3),
    "absolute": losses.absolute(),
    "epsilon insensitive": losses.epsilon_insensitive(0.3),
    "adaptive tube": losses.AdaptiveTube(0.4, 0.1, 0.0, np.array([0.3])),
}


LOSS_CASES = [(name, k) for name in CLASSIFICATION for k in (1, 3)]


LOSS_CASES += [(name, 0) for name in REGRESSION]  # 0: no classes


KERNELS = {
    "gaussian": kernels.gaussian(gamma=0.3),
    "laplacian": kernels.laplacian(gamma=0.3),
    "cauchy": kernels.cauchy(gamma=0.3),
    "polynomial": kernels.polynomial(degree=3, gamma=0.3, coef0=0.7),
    "polynomial of degree 1": kernels.polynomial(degree=1, gamma=2.0, coef0=-0.5),
    "linear": kernels.linear(),
    "additive_chi2": kernels.additive_chi2(),
}


SHIFT_INVARIANT = {
    "gaussian": kernels.gaussian(gamma=0.5),
    "laplacian": kernels.laplacian(gamma=0.5),
    "cauchy": kernels.cauchy(gamma=0.5),
}


UNBIASED = [(name, draw) for name in SHIFT_INVARIANT for draw in ("iid", "phase")]


UNBIASED += [("gaussian", "orthogonal"), ("gaussian", "fastfood")]


def drawn(state, bits=0, uniforms=0, normals=0, choices=0, n=1):
    out = np.empty(bits, np.uint64), np.empty(uniforms), np.empty(normals), np.empty(choices, np.int64)
    draw_all(state, n, *out)
    return out
