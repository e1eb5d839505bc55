"""Run as a program: learns with one recipe for each loop, and writes all scores to a file that is named.

`tests/core/test_plain.py` runs it with the tricks of `onkel.core.numba_internals` and without them.
"""

import sys
from pathlib import Path

import numpy as np

from onkel.core import verbs
from onkel.files.model_file import load_model, save_model
from tests.tables import parameters, started, stream

LEARNERS = {  # one for each loop
    "fogd": "float32",
    "rbp": "float64",
    "dual_sgd": "float32",
    "ik_ogd": "float64",
    "auto": "float64",
    "bkm": "float64",
}


def learned(name: str, dtype: str, folder: Path) -> np.ndarray:
    """Scores of a block, of rows one by one, and of what a model from a file goes on with."""
    X, y = stream("binary")
    online = started(name, "binary", parameters(name, "binary"), dtype)
    scores = [online.learn(X[:60], y[:60])]
    scores += [online.learn_one(x, t)[None] for x, t in zip(X[60:80], y[60:80], strict=True)]
    scores += [online.score_one(tuple(x.tolist()))[None] for x in X[:5]]
    save_model(folder / f"{name}.onkel", online)
    again, *_ = load_model(folder / f"{name}.onkel")
    return np.concatenate([*scores, again.learn(X[80:100], y[80:100])])


def main() -> None:
    target = Path(sys.argv[1])
    found = {name: learned(name, dtype, target.parent) for name, dtype in LEARNERS.items()}
    np.savez(target, **found)
    made = [one for _, one in verbs._dispatchers.values()]
    print(sum(len(one.stats.cache_misses) for one in made), sum(len(one.stats.cache_hits) for one in made))


if __name__ == "__main__":
    main()
