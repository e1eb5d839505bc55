"""What knows the insides of Numba, LLVM and CPython: how functions are linked, how a row becomes a call.

It speeds things up and decides nothing: the same answers come without it, only later.
"""
