"""The batch learners of the papers, by scikit-learn: LIBSVM, and LIBLINEAR on explicit features."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.kernel_approximation import AdditiveChi2Sampler
from sklearn.metrics.pairwise import additive_chi2_kernel, laplacian_kernel
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import SVC, LinearSVC

from onkel.integrations.sklearn.transformers import IsolationTransformer, ik_svm, llsvm
from onkel.streams.block import dense


def svc(C: float, gamma: float) -> Any:
    """LIBSVM with a Gaussian kernel."""
    return SVC(C=C, gamma=gamma)


def laplacian_svc(C: float, gamma: float) -> Any:
    """LIBSVM with a Laplacian kernel."""
    return SVC(C=C, kernel=lambda X, Z: laplacian_kernel(X, Z, gamma=gamma))


def ik_svc(partition: str, t: int, psi: int, C: float, random_state: int = 0) -> Any:
    """LIBSVM with an isolation kernel: the inner products of its features."""
    features = IsolationTransformer(partition, t, psi, random_state=random_state)
    return make_pipeline(features, SVC(C=C, kernel=lambda X, Z: X @ Z.T))


def chi2_kernel(X: Any, Z: Any) -> Any:
    """sum_j 2 x_j z_j / (x_j + z_j), from scikit-learn's -sum_j (x_j - z_j)^2 / (x_j + z_j)."""
    X, Z = dense(X), dense(Z)
    return (additive_chi2_kernel(X, Z) + X.sum(axis=1)[:, None] + Z.sum(axis=1)[None, :]) / 2.0


def not_negative() -> Any:
    """A step that sets numbers below 0 to 0."""

    def raised(X: Any) -> Any:
        return np.maximum(X, 0.0) if isinstance(X, np.ndarray) else X.maximum(0.0).tocsr()

    return FunctionTransformer(raised, accept_sparse=True)


def chi2_svc(C: float) -> Any:
    """LIBSVM with the additive chi2 kernel."""
    return make_pipeline(not_negative(), SVC(C=C, kernel=chi2_kernel))


def chi2_svm(C: float, random_state: int = 0) -> Pipeline:
    """LIBLINEAR on the features of the additive chi2 kernel, one per input."""
    svm = LinearSVC(C=C, loss="hinge", tol=0.1, max_iter=10_000, random_state=random_state)
    return make_pipeline(not_negative(), AdditiveChi2Sampler(sample_steps=1), svm)


MACHINES: dict[str, Callable[..., Any]] = {
    "svc": svc, "laplacian_svc": laplacian_svc, "llsvm": llsvm, "ik_svm": ik_svm, "ik_svc": ik_svc,
    "chi2_svc": chi2_svc, "chi2_svm": chi2_svm,
}  # fmt: skip
MOST = {"svc": 10_000, "laplacian_svc": 4_000, "ik_svc": 4_000, "chi2_svc": 4_000}  # rows: their time is quadratic
RANDOM = ("llsvm", "ik_svm", "ik_svc", "chi2_svm")  # the others give the same model each time


def taken(X: Any) -> Any:
    """Rows as scikit-learn takes them: it wants all indices of a CSR matrix in 32 bits."""
    return X if isinstance(X, np.ndarray) else csr_matrix((X.data, X.indices, X.indptr), X.shape)


def chosen(name: str, candidates: Sequence[dict[str, Any]], X: Any, y: Any, folds: int) -> dict[str, Any]:
    """The parameters with the largest accuracy in cross-validation."""
    if len(candidates) == 1:
        return candidates[0]
    split = StratifiedKFold(folds, shuffle=True, random_state=0)
    found = [np.mean(cross_val_score(MACHINES[name](**given), X, y, cv=split)) for given in candidates]
    return candidates[int(np.argmax(found))]


def fitted(name: str, given: dict[str, Any], X: Any, y: Any, seed: int) -> Any:
    """A machine that has learned the first rows of these, as many as it can."""
    more = {"random_state": seed} if name in RANDOM else {}
    most = MOST.get(name, len(y))
    return MACHINES[name](**given, **more).fit(X[:most], y[:most])
