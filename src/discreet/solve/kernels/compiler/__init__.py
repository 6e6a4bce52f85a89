"""Kernels as machine code: compiled by numba, kept in files, and called without numba.

A *program* is the compiled code of the kernels that one search calls: one object file with a C function for each of
them. ``arguments`` turns Python arguments into what such a function takes, ``build`` compiles a program with numba and
LLVM, ``files`` keeps programs and finds them again, ``load`` brings one into memory. Only ``build`` imports numba, so
that a search whose program is there starts without it.
"""
