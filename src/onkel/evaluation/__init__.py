"""How good a learner is: test-then-train, metrics that add up row by row, and the bounds that papers prove.

It drives learners at work and imports all below it. It changes no decision of theirs.
"""
