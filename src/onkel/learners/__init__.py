"""The loops: one file for each type of model, and `verbs`, by which all of them are driven from Python.

A loop goes through the rows of a block and asks its pieces what to do. Models that are made of other models are in
`ensembles`. They import `core` and `pieces`. What labels, columns or files mean does not belong here.
"""
