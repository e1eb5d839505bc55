"""The batch learners of the papers, by scikit-learn: LIBSVM, and LIBLINEAR on explicit features."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.metrics.pairwise import laplacian_kernel
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.svm import SVC

from onkel.sklearn_maps import ik_svm, llsvm


def svc(C: float, gamma: float) -> Any:
    """LIBSVM with a Gaussian kernel."""
    return SVC(C=C, gamma=gamma)


def laplacian_svc(C: float, gamma: float) -> Any:
    """LIBSVM with a Laplacian kernel."""
    return SVC(C=C, kernel=lambda X, Z: laplacian_kernel(X, Z, gamma=gamma))


MACHINES: dict[str, Callable[..., Any]] = {"svc": svc, "laplacian_svc": laplacian_svc, "llsvm": llsvm, "ik_svm": ik_svm}
MOST = {"svc": 10_000, "laplacian_svc": 4_000}  # rows they get at most: their time grows with the square
RANDOM = ("llsvm", "ik_svm")  # the others give the same model each time


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
