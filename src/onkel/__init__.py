"""onkel: online kernel learning from unlimited streams, row by row, in constant memory."""

from importlib import import_module
from importlib.metadata import version as _version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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
    from onkel.recipes import Learner as Learner
    from onkel.recipes import ada_raker as ada_raker
    from onkel.recipes import auto as auto
    from onkel.recipes import bkm as bkm
    from onkel.recipes import bogd as bogd
    from onkel.recipes import bogd_pp as bogd_pp
    from onkel.recipes import bpa_nn as bpa_nn
    from onkel.recipes import bpa_p as bpa_p
    from onkel.recipes import bpa_s as bpa_s
    from onkel.recipes import bsgd_m as bsgd_m
    from onkel.recipes import bsgd_p as bsgd_p
    from onkel.recipes import bsgd_r as bsgd_r
    from onkel.recipes import budget_perceptron as budget_perceptron
    from onkel.recipes import dual_sgd as dual_sgd
    from onkel.recipes import fkl as fkl
    from onkel.recipes import fogd as fogd
    from onkel.recipes import forgetron as forgetron
    from onkel.recipes import ik_ogd as ik_ogd
    from onkel.recipes import make_learner as make_learner
    from onkel.recipes import multi_rrf as multi_rrf
    from onkel.recipes import nogd as nogd
    from onkel.recipes import norma as norma
    from onkel.recipes import ogd as ogd
    from onkel.recipes import omkc as omkc
    from onkel.recipes import omkl as omkl
    from onkel.recipes import omkr as omkr
    from onkel.recipes import one_vs_rest as one_vs_rest
    from onkel.recipes import passive_aggressive as passive_aggressive
    from onkel.recipes import perceptron as perceptron
    from onkel.recipes import projectron as projectron
    from onkel.recipes import projectron_pp as projectron_pp
    from onkel.recipes import raker as raker
    from onkel.recipes import rbp as rbp
    from onkel.recipes import recipe as recipe
    from onkel.recipes import rks as rks
    from onkel.recipes import rrf as rrf
    from onkel.recipes import tvm as tvm
    from onkel.streams import open_stream as open_stream

_HOMES = {
    "pieces.kernels": ["additive_chi2", "cauchy", "gaussian", "laplacian", "linear", "polynomial"],
    "recipes": [
        "Learner", "ada_raker", "auto", "bkm", "bogd", "bogd_pp", "bpa_nn", "bpa_p", "bpa_s", "bsgd_m", "bsgd_p",
        "bsgd_r", "budget_perceptron", "dual_sgd", "fkl", "fogd", "forgetron", "ik_ogd", "make_learner",
        "multi_rrf", "nogd", "norma", "ogd", "omkc", "omkl", "omkr", "one_vs_rest", "passive_aggressive",
        "perceptron", "projectron", "projectron_pp", "raker", "rbp", "recipe", "rks", "rrf", "tvm",
    ],
    "integrations.sklearn.estimators": ["KernelClassifier", "KernelRegressor"],
    "integrations.sklearn.transformers": ["FeatureMapTransformer", "IsolationTransformer", "ik_svm", "llsvm"],
    "streams": ["open_stream"],
    "evaluation.prequential": ["prequential"],
}  # fmt: skip
_HOME = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [*sorted(_HOME), "__version__"]


def __getattr__(name: str) -> Any:
    """Import what is asked for when it is asked for: ``import onkel`` alone costs almost nothing."""
    if name == "__version__":
        return _version("onkel")
    if name not in _HOME:
        raise AttributeError(f"module 'onkel' has no attribute {name!r}")
    return getattr(import_module(f"onkel.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return __all__
