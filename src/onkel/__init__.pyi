"""The public names, in one list: for type checkers, and for `__init__.py`, which reads here where each one lives."""

from onkel.evaluation.prequential import prequential as prequential
from onkel.integrations.sklearn.estimators import KernelClassifier as KernelClassifier
from onkel.integrations.sklearn.estimators import KernelRegressor as KernelRegressor
from onkel.integrations.sklearn.transformers import FeatureMapTransformer as FeatureMapTransformer
from onkel.integrations.sklearn.transformers import IsolationTransformer as IsolationTransformer
from onkel.integrations.sklearn.transformers import ik_svm as ik_svm
from onkel.integrations.sklearn.transformers import llsvm as llsvm
from onkel.pieces.kernels import additive_chi2 as additive_chi2
from onkel.pieces.kernels import cauchy as cauchy
from onkel.pieces.kernels import gaussian as gaussian
from onkel.pieces.kernels import laplacian as laplacian
from onkel.pieces.kernels import linear as linear
from onkel.pieces.kernels import polynomial as polynomial
from onkel.recipes import *  # noqa: F403
from onkel.streams import open_stream as open_stream

__version__: str
