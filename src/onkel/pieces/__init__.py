"""What algorithms are made of: kernels, losses, steps, budgets, feature maps, readouts, the scaler.

Each piece is a named tuple of numbers and arrays, with the verbs that it answers; a new one is one new file. Pieces
import only `core`. They do not know which loop they are part of, nor where rows come from.
"""
