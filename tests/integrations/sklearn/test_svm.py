"""Linear support vector machines on feature maps."""

import numpy as np
import pytest
from scipy import sparse

from onkel import IsolationTransformer, ik_svm, llsvm
from tests.traces import scaled_german


def curved(n=600, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, 3))
    return X, np.where(X[:, 0] * X[:, 1] > 0.0, "yes", "no")


@pytest.mark.parametrize("make", [lambda: ik_svm(psi=32), lambda: ik_svm("trees", psi=64), lambda: llsvm(gamma=0.5)])
def test_a_curved_border_is_learned(make):
    X, y = curved()
    new, labels = curved(300, seed=1)
    assert make().fit(X, y).score(new, labels) > 0.85


@pytest.mark.parametrize("partition", ["cells", "trees"])
def test_inner_products_are_shares_of_equal_cells_and_layouts_agree(partition):
    X, _ = curved(50)
    made = IsolationTransformer(partition, t=40, psi=8, dtype="float64").fit(X)
    Z = made.transform(X)
    assert sparse.issparse(Z)
    assert (np.diff(Z.indptr) == 40).all()
    np.testing.assert_allclose((Z @ Z.T).diagonal(), 1.0)
    again = IsolationTransformer(partition, t=40, psi=8, dtype="float64").fit(sparse.csr_matrix(X))
    assert (again.transform(sparse.csr_matrix(X)) != Z).nnz == 0


def test_the_training_error_on_german_is_near_that_of_the_toolbox():
    X, y = scaled_german()
    errors = [1.0 - llsvm(20, landmarks="random", gamma=0.5, random_state=s).fit(X, y).score(X, y) for s in range(20)]
    assert abs(np.mean(errors) - 0.2620) < 2.0 * max(np.std(errors, ddof=1), 0.005)
