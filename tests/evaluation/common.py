"""What the tests of the evaluation share."""

import numpy as np

from onkel import fogd, nogd

TASKS = {"binary": 2, "multiclass": 4, "regression": 0}


N_ROWS, N_FEATURES = 90, 3


def stream(task, n=N_ROWS):
    random = np.random.default_rng(0)
    rows = random.standard_normal((n, N_FEATURES))
    size = np.sum(rows**2, axis=1)
    targets = {
        "binary": np.where(size > 3.0, 1.0, -1.0),
        "multiclass": np.digitize(size, [1.0, 3.0, 5.0]).astype(float),
        "regression": np.sin(rows[:, 0]),
    }
    return rows, targets[task]


LEARNERS = {"fogd": fogd(gamma=0.5, n_frequencies=20), "nogd": nogd(gamma=0.5, budget=20), "rule": fogd()}


def started(learner, task):
    return learner.start(N_FEATURES, task, max(TASKS[task], 1) if task == "multiclass" else 1)
