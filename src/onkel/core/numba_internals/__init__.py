"""What knows the insides of Numba, LLVM and CPython; no other file mentions them.

It speeds things up and decides nothing: the same answers come without it, only later. `pipeline` (parts that are
compiled once), `borrowing` (arrays without reference counts), `code_files` (compiled code in our own files) and
`row_call` (one row as one call of C) are tricks: `selftest` tries them at their first use, and `tricks` says which are
used. Nothing that a result depends on may be put here.
"""
