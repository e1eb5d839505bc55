"""Run as a program: prints a fingerprint of the scores of some learners on a seeded stream; with a folder, keeps them.

`tests/test_reproducible.py` compares processes; docs/reliability.md compares machine types with it.
"""

import hashlib
import sys

import numpy as np

from tests.tables import parameters, started, stream

LEARNERS = ("fogd", "rbp", "nogd", "rrf", "auto", "raker", "bkm")


def main():
    X, y = stream("binary")
    for dtype in ("float32", "float64"):
        for name in LEARNERS:
            online = started(name, "binary", parameters(name, "binary"), dtype)
            scores = online.learn(X, y)
            print(name, dtype, hashlib.sha256(scores.tobytes()).hexdigest()[:16])
            if len(sys.argv) > 1:
                np.save(f"{sys.argv[1]}/{name}-{dtype}.npy", scores)


if __name__ == "__main__":
    main()
