"""Write tests/files/golden/vN/: tiny models of this version of the format, and what they say of a few rows.

Files of a version are made once, by the onkel that brought it, and kept for good: run this again only for a new
version, into a new folder. `python tools/make_golden.py FOLDER`.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[1]))
from onkel import KernelClassifier, KernelRegressor, auto, bkm, fogd, ik_ogd, nogd, raker, rbp, rrf
from onkel.apps.cli.main import main as onkel
from tests.files.golden.rows import LABELS, NUMBERS, ROWS

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


OPEN = {"classes": "grow", "missing": "mean", "class_weight": "balanced"}  # knows names, means and weights, too


def learned_from_a_table(path: Path) -> KernelClassifier:
    """A model that the command line has learned from a table with numbers, text and gaps."""
    lines = [
        f"{'' if i % 7 == 3 else row[0]},{'red' if row[1] > 0 else 'blue'},{label}"
        for i, (row, label) in enumerate(zip(ROWS, LABELS, strict=True))
    ]
    table = path.with_suffix(".csv")
    table.write_text("\n".join(["size,colour,where", *lines]))
    given = ["--categorical", "colour", "--missing", "mean", "--learner", "fogd", "--set", "gamma=0.5"]
    assert onkel(["run", str(table), *given, "--set", "n_frequencies=4", "--quiet", "--save", str(path)]) == 0
    table.unlink()
    return KernelClassifier.load(path)


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True)
    said = {}
    for name, model in MODELS.items():
        rows = slice(5) if name == "held" else slice(None)
        model.fit(ROWS[rows], (NUMBERS if isinstance(model, KernelRegressor) else LABELS)[rows])
        model.save(folder / f"{name}.onkel")
        said[name] = model.online_.score(ROWS)
    named = KernelClassifier(fogd(n_frequencies=4, gamma=0.5), **OPEN).fit(
        pd.DataFrame(ROWS, columns=list("abc")), LABELS
    )
    named.save(folder / "open.onkel")
    table = learned_from_a_table(folder / "table.onkel")
    said |= {"open": named.online_.score(ROWS), "table": table.online_.score(ROWS)}
    np.savez(folder / "scores.npz", **said)


if __name__ == "__main__":
    main()
