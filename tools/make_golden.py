"""Write tests/snapshot/golden/vN/: tiny models of this version of the format, and what they say of a few rows.

Files of a version are made once, by the onkel that brought it, and kept for good: run this again only for a new
version, into a new folder. `python tools/make_golden.py FOLDER`.
"""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from onkel import KernelClassifier, KernelRegressor, auto, bkm, fogd, ik_ogd, nogd, raker, rbp, rrf
from tests.snapshot.golden.rows import LABELS, NUMBERS, ROWS

MODELS = {
    "fogd": KernelClassifier(fogd(n_frequencies=4, gamma=0.5)),
    "rbp": KernelClassifier(rbp(budget=5, gamma=0.5)),
    "nogd": KernelClassifier(nogd(budget=5, rank=3, gamma=0.5)),
    "rrf": KernelClassifier(rrf(n_frequencies=4)),
    "auto": KernelClassifier(auto(n_frequencies=4)),
    "auto_regression": KernelRegressor(auto(n_frequencies=4)),
    "raker": KernelClassifier(raker(n_frequencies=4)),
    "bkm": KernelClassifier(bkm(n_particles=3, n_frequencies=4, batch=7)),
    "ik_ogd": KernelClassifier(ik_ogd(t=3, psi=4, sample=16)),
    "held": KernelClassifier(fogd(n_frequencies=4)),  # waits for more rows
}


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True)
    said = {}
    for name, model in MODELS.items():
        rows = slice(5) if name == "held" else slice(None)
        model.fit(ROWS[rows], (NUMBERS if isinstance(model, KernelRegressor) else LABELS)[rows])
        model.save(folder / f"{name}.onkel")
        said[name] = model.online_.score(ROWS)
    np.savez(folder / "scores.npz", **said)


if __name__ == "__main__":
    main()
