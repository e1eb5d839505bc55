"""Budgets: which rows a kernel expansion keeps."""
