"""ONNX graphs of models beside the models: labels that differ, the largest difference of scores, the time of a row.

``python -m benchmarks deployment [--quick]``. The data sets are not part of the project; missing ones are named.
"""

from benchmarks.timing import table  # isort: skip (sets the number of threads before NumPy is imported)

from time import perf_counter
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from benchmarks.datasets import FOLDER, REGRESSION, SHORT
from onkel import KernelClassifier, KernelRegressor, bkm, nogd, raker, rrf
from onkel.streams import LibsvmFile, concatenate, take

NAMES = ("german", "housing", "a9a", "ijcnn1", "letter", "cod-rna", "usps")
LEARNERS: dict[str, Any] = {
    "auto": None, "rrf": rrf(), "raker": raker(), "nogd": nogd(standardise=True), "bkm": bkm(n_particles=10),
}  # fmt: skip
ROWS = 5000


def compared(model: Any, rows: Any, dense: Any) -> list[str]:
    """Cells of a line: labels that differ, the largest difference of scores, microseconds per row of both."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.to_onnx(), options)
    names = [output.name for output in session.get_outputs()]
    model.predict(rows), session.run(None, {"rows": dense})  # once, before the clock starts
    start = perf_counter()
    found = dict(zip(names, session.run(None, {"rows": dense}), strict=True))
    middle = perf_counter()
    predicted = model.predict(rows)
    end = perf_counter()
    if "prediction" in found:
        differ, apart = "", np.abs(found["prediction"] - predicted).max() / max(1.0, np.abs(predicted).max())
    else:
        scores = model.online_.score(rows)
        differ = str(int((found["label"] != predicted).sum()))
        apart = np.abs(found["scores"] - scores).max() / max(1.0, np.abs(scores).max())
    times = (f"{1e6 * seconds / len(dense):.1f}" for seconds in (middle - start, end - middle))
    return [differ, f"{apart:.0e}", *times]


def main(quick: bool) -> None:
    lines = []
    for name in NAMES:
        path = FOLDER / f"{name}.libsvm.xz"
        if not path.exists():
            print(f"{name} is not there.")
            continue
        if quick and name not in SHORT:
            continue
        block = concatenate(take(LibsvmFile(path), ROWS))
        dense = np.ascontiguousarray(csr_matrix(block.rows).toarray(), np.float64)
        for learner in LEARNERS:
            kind = KernelRegressor if name in REGRESSION else KernelClassifier
            for layout, rows in (("dense", dense), ("CSR", csr_matrix(dense))):
                model = kind(LEARNERS[learner]).fit(rows, block.labels)
                lines.append([name, learner, layout, *compared(model, rows, dense)])
    title = f"the first {ROWS:,} rows learned, then predicted; scores apart: of the largest score, at least 1"
    table(title, ["data", "learner", "rows", "labels that differ", "scores apart", "us / row, ONNX", "ours"], lines)
