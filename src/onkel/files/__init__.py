"""Models in files: written whole, read with distrust.

`archive` is the zip file, `snapshot` the tree of arrays in it, `model_file` the learner at work. `validation` checks
all of it before any compiled code sees it; `upgrades` and `old_names` read what earlier versions wrote. Files of rows
are in `streams`.
"""
