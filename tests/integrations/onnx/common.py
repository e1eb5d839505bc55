"""What the tests of ONNX files share."""

import numpy as np
import onnxruntime

from tests.all_recipes.common import close

SCALES = (1.0, 30.0)  # of random rows: phases of many turns too


def session(data):
    onnxruntime.set_default_logger_severity(3)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])


def answers(data, rows):
    """What onnxruntime answers, by name."""
    runtime = session(data)
    found = runtime.run(None, {"rows": np.ascontiguousarray(rows, np.float64)})
    return dict(zip([output.name for output in runtime.get_outputs()], found, strict=True))


def rows_like(X, positive=False):
    """The rows themselves, and random ones of several sizes."""
    random = np.random.default_rng(0)
    rows = np.concatenate([X, *(scale * random.normal(size=(60, X.shape[1])) for scale in SCALES)])
    return np.abs(rows) if positive else rows


def assert_same_answers(model, data, rows, compared=None):
    """onnxruntime says what an estimator says; `compared` are the rows as the estimator gets them."""
    compared, found = rows if compared is None else compared, answers(data, rows)
    if hasattr(model, "classes_"):
        expected = model.answers_.ordered(model.online_.score(model._seen(compared)))
        close(found["scores"], expected, 1e-5)
        close(found["probabilities"], model.predict_proba(compared), 1e-5)
        assert found["label"].tolist() == model.predict(compared).tolist()
    else:
        close(found["prediction"], model.predict(compared), 1e-5)
