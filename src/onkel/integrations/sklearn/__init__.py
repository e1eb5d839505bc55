"""Estimators and transformers by the conventions of scikit-learn."""
