"""Kernels as machine code: compiled by numba, kept in files, and called without numba.

A *program* is the compiled code of the kernels that one search calls, with a C function for each of them: object code
in the cache, a shared library in an installation. ``arguments`` turns Python arguments into what such a function takes,
``build`` and ``target`` compile a program with numba and LLVM, ``library`` links it for installations, ``files`` keeps
programs and finds them again, ``load`` brings one into memory. Only ``build`` imports numba, and only object code needs
LLVM to be loaded, so an installation with shared libraries needs neither; ``needed`` says what to install where
something must be compiled after all.
"""
