"""The river face, at the address that users know."""

from onkel.integrations.river import KernelClassifier, KernelRegressor

__all__ = ["KernelClassifier", "KernelRegressor"]
