"""The worked numbers of the specification as a table of cases, for the twins and for anything that follows them.

All learners see the same eight points; sigma = 1 is gamma = 1/2. Steps of the specification are for unscaled
Fourier features: with features scaled by 1 / sqrt(D) the step is D times larger and the weights sqrt(D) times.
"""

import numpy as np

from tests.naive.worked_budgets import BUDGETED
from tests.naive.worked_case import (
    C8,
    FOURIER,
    GAUSSIAN,
    R8,
    X8,
    Y8,
    Case,
    D,
    U,
    binary,
    build,
    by_age,
    by_rows,
    column,
    consequences,
    multiclass,
    regression,
)

__all__ = ["C8", "CASES", "R8", "X8", "Y8", "Case", "U", "build", "by_age", "by_rows", "consequences"]

HINGE = {"lam": 0.0, "loss": "hinge", "epsilon": 0.0}
SQUARED = {"lam": 0.0, "loss": "squared", "epsilon": 0.1}
NYSTROEM = {"budget": 3, "rank": 2, "eta": 0.5, "cut": 1e-8}

BINARY = [
    binary(
        "perceptron",
        "perceptron",
        GAUSSIAN,
        {"eta": 1.0, "epsilon": 0.0},
        column(0, 0, -0.60653066, -0.53526143, -0.01403374, 0.78401806, -0.20898433, -0.03499033),
        rows=[1, 3, 4, 5, 6],
        coefficients=column(-1, 1, 1, -1, 1),
        mistakes=5,
    ),
    binary(
        "ogd",
        "ogd",
        GAUSSIAN,
        {"eta": 0.5, **HINGE},
        column(0, 0.18393972, 0, -0.26763071, 0.20089736, 0.48256182, 0.02001739, -0.12689126),
        rows=[0, 1, 2, 3, 4, 5, 6, 7],
        coefficients=column(0.5, -0.5, -0.5, 0.5, 0.5, -0.5, 0.5, -0.5),
        mistakes=4,
    ),
    binary(
        "ogd lam=.1",
        "ogd",
        GAUSSIAN,
        {**HINGE, "eta": 0.5, "lam": 0.1},
        column(0, 0.18393972, -0.01516327, -0.26007154, 0.17153471, 0.46817744, -0.0098506, -0.0477914),
        coefficients=column(0.34916865, -0.36754595, -0.38689047, 0.40725312, 0.4286875, -0.45125, 0.475, -0.5),
    ),
    binary(
        "PA",
        "passive_aggressive",
        GAUSSIAN,
        {"C": 0.8, "variant": "PA", "epsilon": 0.0},
        column(0, 0.36787944, -0.22313016, -0.70552401, 0.45886856, 1.0152673, -0.416526, -0.24704038),
        rows=[0, 1, 2, 3, 4, 5, 6, 7],
        coefficients=column(1, -1.36787944, -0.77686984, 1.70552401, 0.54113144, -2.0152673, 1.416526, -0.75295962),
    ),
    binary(
        "PA-I",
        "passive_aggressive",
        GAUSSIAN,
        {"C": 0.8, "variant": "PA-I", "epsilon": 0.0},
        column(0, 0.29430355, 0, -0.42820914, 0.32143577, 0.70709902, -0.02448036, -0.22146349),
        rows=[0, 1, 2, 3, 4, 5, 6, 7],
        coefficients=column(0.8, -0.8, -0.8, 0.8, 0.67856423, -0.8, 0.8, -0.77853651),
    ),
    binary(
        "PA-II",
        "passive_aggressive",
        GAUSSIAN,
        {"C": 0.8, "variant": "PA-II", "epsilon": 0.0},
        column(0, 0.22638735, -0.084499, -0.39775131, 0.26262846, 0.60399677, -0.16567781, -0.21480469),
        rows=[0, 1, 2, 3, 4, 5, 6, 7],
        coefficients=column(
            0.61538462, -0.75469991, -0.56338523, 0.86015465, 0.4537671, -0.98707493, 0.71734019, -0.48319712
        ),
    ),
    binary(
        "norma",
        "norma",
        GAUSSIAN,
        {"eta": 0.3, "lam": 0.1, "nu": 0.4, "start": 0.0, "bias": True, "published": True},
        column(0, 0.41036383, -0.00545878, -0.45787862, 0.10970803, 0.5842351, 0.00054232, 0.2532931),
        coefficients=column(0.24239485, -0.2498916, -0.25762021, 0.26558784, 0.2738019, -0.28227, 0.291, -0.3),
        bias=[0.0],
        threshold=1.44,
    ),
    binary(
        "fogd",
        "fogd",
        FOURIER,
        {"eta": 0.2 * D, **HINGE},
        column(0, 0.29772441, -0.04744471, -0.45169437, 0.40365345, 0.70074909, -0.03918275, -0.13796022),
        weights=np.sqrt(D) * np.array([[0.30203912, -0.30053622, 0.009071, -0.32166269, -0.39369536, 0.39973522]]),
    ),
    binary(
        "nogd",
        "nogd",
        GAUSSIAN,
        {**NYSTROEM, **HINGE},
        column(0, 0.18393972, 0, -0.26763071, 0.04869328, -0.03936268, -0.03099437, -0.23178343),
        rows=[0, 1, 2],
        coefficients=column(0.5, -0.5, -0.5),
        eigenvalues=[2.06120405, 0.63212056],
        square_norm=1.0625599508210635,
    ),
]

MULTICLASS = [
    multiclass(
        "perceptron",
        "perceptron",
        GAUSSIAN,
        {"eta": 1.0, "epsilon": 0.0},
        rows=[1, 2, 4, 5, 6],
        coefficients=[[-1, 1, 0], [0, -1, 1], [1, 0, -1], [-1, 0, 1], [1, 0, -1]],
        mistakes=5,
        last_scores=[-0.53908056, 0.32639958, 0.21268098],
    ),
    multiclass(
        "ogd",
        "ogd",
        GAUSSIAN,
        {"eta": 0.5, **HINGE},
        rows=[0, 1, 2, 3, 4, 5, 6, 7],
        coefficients=0.5
        * np.array(
            [
                [1, -1, 0],
                [-1, 1, 0],
                [-1, 0, 1],
                [0, 1, -1],
                [1, 0, -1],
                [0, -1, 1],
                [1, 0, -1],
                [0, 1, -1],
            ]
        ),
        mistakes=4,
        last_scores=[-0.22219328, 0.36789791, -0.14570463],
    ),
    multiclass(
        "fogd",
        "fogd",
        FOURIER,
        {"eta": 0.2 * D, **HINGE},
        weights=np.sqrt(D)
        * np.array(
            [
                [0.11618656, -0.18808418, 0.02239489, -0.1221637, -0.67937739, 0.42086957],
                [0.23473313, 0.14287855, 0.09844816, 0.03559319, 0.6184409, -0.32798017],
                [-0.35091968, 0.04520563, -0.12084305, 0.0865705, 0.06093649, -0.0928894],
            ]
        ),
        mistakes=5,
    ),
    multiclass(
        "nogd",
        "nogd",
        GAUSSIAN,
        {**NYSTROEM, **HINGE},
        rows=[0, 1, 2],
        mistakes=5,
        last_scores=[-0.33717027, 0.37798272, -0.04081245],
    ),
]

REGRESSION = [
    regression(
        "perceptron",
        "perceptron",
        GAUSSIAN,
        {"eta": 0.1, "epsilon": 0.1},
        column(0, 0.03678794, 0.12130613, 0.07741274, 0.07741274, 0.12136702, 0.26651861, 0.28630136),
        rows=[0, 1, 2, 4, 6, 7],
        coefficients=column(0.1, 0.1, 0.1, 0.1, 0.1, 0.1),
        mean_square_loss=0.20663674404965532,
    ),
    regression(
        "ogd",
        "ogd",
        GAUSSIAN,
        {"eta": 0.5, **SQUARED},
        column(0, 0.05518192, 0.3168571, 0.25207438, 0.15157611, 0.23295326, 0.61469999, 0.55128908),
        rows=[0, 1, 2, 3, 4, 6, 7],
        coefficients=column(0.15, 0.37240904, 0.29157145, -0.07603719, 0.17421194, -0.10734999, 0.07435546),
        mean_square_loss=0.14982904790084872,
    ),
    regression(
        "norma",
        "norma",
        GAUSSIAN,
        {"eta": 0.1, "lam": 0.1, "nu": 0.4, "start": 0.1, "bias": False, "published": True},
        column(0, 0.03678794, 0.1206996, 0.0766398, 0.07546585, 0.11917739, 0.25715268, 0.214666),
        rows=[0, 1, 2, 4, 7],
        coefficients=column(0.09320653, 0.09414801, 0.095099, 0.0970299, 0.1),
        path=[0.16, 0.22, 0.28, 0.24, 0.3, 0.26, 0.22, 0.28],
        mean_square_loss=0.21538292941981044,
    ),
    regression(
        "fogd",
        "fogd",
        FOURIER,
        {"eta": 0.1 * D, **SQUARED},
        column(0, 0.04465866, 0.24477188, 0.25570302, 0.07795188, 0.26413151, 0.457244, 0.41284157),
        weights=np.sqrt(D) * np.array([[0.10378765, 0.18486676, 0.17912296, 0.1378907, -0.06088795, -0.05135245]]),
    ),
    regression(
        "nogd",
        "nogd",
        GAUSSIAN,
        {**NYSTROEM, **SQUARED},
        column(0, 0.05518192, 0.3168571, 0.25207438, 0.16192581, 0.18694923, 0.60722348, 0.55062187),
        rows=[0, 1, 2],
    ),
]

CASES = BINARY + MULTICLASS + REGRESSION + BUDGETED
