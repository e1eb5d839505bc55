"""A learner at work: a model, with all that belongs to it besides its numbers.

`online` holds it, `answers` says what its scores mean and `columns` what its columns mean; how sure answers are, how
wide intervals are, how a model grows. Every face, command, metric and export asks these, and nothing else decides about
labels, ties, probabilities, names of columns or missing values. It imports learners, pieces, streams and core.
"""
