"""The ground: what compiled code stands on.

Verbs that are compiled for the types they meet, the cache of what was compiled, rows and points in memory, random
numbers, threads, locks, interrupts, checked parameters. `numba_internals` alone knows the insides of Numba and Python.
It imports nothing else of the package. Nothing here knows what a learner is.
"""
