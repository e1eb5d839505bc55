"""The scikit-learn face of feature maps alone, and linear support vector machines on them."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.cluster import KMeans
from sklearn.pipeline import Pipeline
from sklearn.svm import LinearSVC
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, check_non_negative, validate_data

from onkel.core.parameters import one_of, positive
from onkel.core.points import points_of
from onkel.core.rows import pack
from onkel.pieces.bandwidth import has_rule, settle
from onkel.pieces.kernels import make_kernel, needs_positive
from onkel.pieces.maps.chi2 import Chi2
from onkel.pieces.maps.drawing import DRAWS, draw_map
from onkel.pieces.maps.growing import cells, trees
from onkel.pieces.maps.indexing import index_map
from onkel.pieces.maps.isolation import cell_count
from onkel.pieces.maps.lifting import features_of
from onkel.pieces.maps.nystroem import Nystroem, measures, nystroem
from onkel.recipes.isolation import METRICS
from onkel.recipes.learner import DTYPES

NUMBERS = (np.float64, np.float32)


def seed_of(random_state: Any) -> int:
    """The seed of a whole number, or one drawn from what scikit-learn understands by a random state."""
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


class FeatureMapTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Explicit features whose inner products come close to a kernel.

    Parameters
    ----------
    draw : "iid", "orthogonal", "sorf" or "fastfood" random Fourier features, or "nystroem" landmarks.
    n_frequencies : number of frequencies (twice as many features), or of landmarks.
    kernel, gamma, sigma : as in the recipes; additive_chi2 has a map of its own.
    rank : features kept of "nystroem"; None keeps all that its landmarks carry.
    landmarks : "random" rows, or the centres that "kmeans" finds; cut : share of the largest eigenvalue below which
        directions of the landmarks are left out.
    dtype, random_state : as in `KernelClassifier`.

    >>> import numpy as np
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0]])
    >>> Z = FeatureMapTransformer(n_frequencies=2000, gamma=0.5).fit_transform(X)
    >>> bool(abs(Z[0] @ Z[1] - np.exp(-1.0)) < 0.05)
    True
    """

    def __init__(
        self,
        draw: str = "iid",
        n_frequencies: int = 100,
        *,
        kernel: Any = "gaussian",
        gamma: Any = "scale",
        sigma: float | None = None,
        rank: int | None = None,
        landmarks: str = "random",
        cut: float = 1e-8,
        dtype: str = "float32",
        random_state: Any = 0,
    ) -> None:
        self.draw = draw
        self.n_frequencies = n_frequencies
        self.kernel = kernel
        self.gamma = gamma
        self.sigma = sigma
        self.rank = rank
        self.landmarks = landmarks
        self.cut = cut
        self.dtype = dtype
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = self.kernel == "additive_chi2" or needs_positive(self.kernel)
        tags.transformer_tags.preserves_dtype = []
        return tags

    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw the map; a width rule looks at these rows, and "nystroem" takes its landmarks from them."""
        X = validate_data(self, X, accept_sparse="csr", dtype=NUMBERS)
        kernel = make_kernel(self.kernel, self.gamma, self.sigma)
        kernel = settle(kernel, X) if has_rule(kernel) else kernel
        if needs_positive(kernel):
            check_non_negative(X, "FeatureMapTransformer with the additive chi2 kernel")
        count = positive("n_frequencies", self.n_frequencies, integer=True)
        seed = seed_of(self.random_state)
        if self.dtype not in DTYPES:
            raise ValueError(f"dtype must be float32 or float64, not {self.dtype!r}.")
        if self.draw not in (*DRAWS, "nystroem"):
            raise ValueError(f"draw must be one of {', '.join(DRAWS)}, nystroem, not {self.draw!r}.")
        if self.draw == "nystroem":
            self.map_ = self._landmarks(kernel, X, count, seed)
        else:
            self.map_ = draw_map(kernel, X.shape[1], count, self.draw, np.dtype(self.dtype), seed)
        self._n_features_out = features_of(self.map_, pack(np.zeros((1, X.shape[1])), self.dtype)).shape[1]
        return self

    def _landmarks(self, kernel: Any, X: Any, count: int, seed: int) -> Any:
        if one_of("landmarks", self.landmarks, ("random", "kmeans")) == "kmeans":
            points = KMeans(min(count, X.shape[0]), n_init=1, random_state=seed % 2**32).fit(X).cluster_centers_
        else:
            points = X[np.sort(check_random_state(seed % 2**32).permutation(X.shape[0])[:count])]
        block, kept, n = pack(points, self.dtype), points_of(points, self.dtype), points.shape[0]
        sizes = measures(kernel, block).astype(self.dtype)
        K = features_of(Nystroem(kernel, kept, sizes, np.eye(n, dtype=self.dtype)), block)
        K = (np.asarray(K, np.float64) + K.T) / 2.0
        rank = n if self.rank is None else positive("rank", self.rank, integer=True)
        return nystroem(kernel, kept, sizes, K, rank, positive("cut", self.cut))[0]

    def transform(self, X: Any) -> NDArray[Any]:
        """Features (n, n_features_out)."""
        check_is_fitted(self, "map_")
        X = validate_data(self, X, reset=False, accept_sparse="csr", dtype=NUMBERS)
        if isinstance(self.map_, Chi2) or needs_positive(getattr(self.map_, "kernel", None)):
            check_non_negative(X, "FeatureMapTransformer with the additive chi2 kernel")
        return features_of(self.map_, pack(X, self.dtype))


class IsolationTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """The exact features of an isolation kernel: for each of t random partitions, in which of its cells a row lies.

    k(x, y) = <z(x), z(y)> = the share of partitions in which x and y lie in the same cell; z is a CSR matrix with t
    numbers 1 / sqrt(t) per row.

    Parameters
    ----------
    partition : "cells" (of the nearest of psi rows) or "trees" (that isolate each of psi rows).
    t, psi : number of partitions, and of rows that each is made from.
    metric : "euclidean" or "cityblock", of cells. max_depth : of trees; None lets them isolate every row.
    dtype, random_state : as in `KernelClassifier`.

    >>> import numpy as np
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 0.1]])
    >>> Z = IsolationTransformer(t=50, psi=2).fit_transform(X)
    >>> float((Z @ Z.T)[0, 0].round(6))
    1.0
    """

    def __init__(
        self,
        partition: str = "cells",
        t: int = 100,
        psi: int = 64,
        *,
        metric: str = "euclidean",
        max_depth: int | None = None,
        dtype: str = "float32",
        random_state: Any = 0,
    ) -> None:
        self.partition = partition
        self.t = t
        self.psi = psi
        self.metric = metric
        self.max_depth = max_depth
        self.dtype = dtype
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = []
        return tags

    def fit(self, X: Any, y: Any = None) -> Self:
        """Make the partitions from these rows."""
        X = validate_data(self, X, accept_sparse="csr", dtype=NUMBERS)
        count, size = positive("t", self.t, integer=True), positive("psi", self.psi, integer=True)
        one_of("partition", self.partition, ("cells", "trees"))
        real, seed = np.dtype(one_of("dtype", self.dtype, DTYPES)), seed_of(self.random_state)
        if self.partition == "trees":
            depth = None if self.max_depth is None else positive("max_depth", self.max_depth, integer=True)
            self.partitions_: Any = trees(X, count, size, depth, real, seed)
        else:
            metric = METRICS[one_of("metric", self.metric, tuple(METRICS))]
            self.partitions_ = cells(X, count, size, metric, real, seed)
        self._n_features_out = cell_count(self.partitions_)
        return self

    def transform(self, X: Any) -> Any:
        """Features (n, cells of all partitions) as a CSR matrix."""
        check_is_fitted(self, "partitions_")
        X = validate_data(self, X, reset=False, accept_sparse="csr", dtype=NUMBERS)
        found = index_map(self.partitions_, pack(X, np.dtype(self.dtype)))
        n, t = found.shape
        ones = np.full(n * t, 1.0 / np.sqrt(t), self.dtype)
        return sparse.csr_matrix((ones, found.ravel(), np.arange(0, n * t + 1, t)), (n, self._n_features_out))


def ik_svm(
    partition: str = "cells", t: int = 100, psi: int = 64, C: float = 1.0, *, random_state: Any = 0, **given: Any
) -> Pipeline:
    """A linear support vector machine (LIBLINEAR, hinge) on the features of an isolation kernel.

    >>> import numpy as np
    >>> X, y = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]] * 10), np.array([0, 0, 1, 1] * 10)
    >>> ik_svm(psi=8).fit(X, y).score(X, y)
    1.0
    """
    features = IsolationTransformer(partition, t, psi, random_state=random_state, **given)
    return Pipeline([("features", features), ("svm", LinearSVC(C=C, loss="hinge", random_state=random_state))])


def llsvm(
    budget: int = 50, C: float = 10.0, *, landmarks: str = "kmeans", cut: float = 1e-5, random_state: Any = 0,
    **kernel: Any,
) -> Pipeline:  # fmt: skip
    """A linear support vector machine (LIBLINEAR, hinge) on the similarities to a few landmarks.

    z(x) = diag(e)^(-1/2) V^T k(landmarks, x), K = V diag(e) V^T over the landmarks, without eigenvalues below
    cut * e_1; landmarks are centres of k-means, or rows at random.

    >>> import numpy as np
    >>> X, y = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]] * 10), np.array([0, 0, 1, 1] * 10)
    >>> llsvm(budget=4, gamma=1.0).fit(X, y).score(X, y)
    1.0
    """
    given = {"landmarks": landmarks, "cut": cut, "random_state": random_state, **kernel}
    features = FeatureMapTransformer("nystroem", budget, **given)
    return Pipeline(
        [("features", features), ("svm", LinearSVC(C=C, loss="hinge", tol=1e-2, random_state=random_state))]
    )
