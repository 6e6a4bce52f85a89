"""Compiling all kernels ahead of the first search."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from multiprocessing import get_context

__all__ = ["compile_ahead"]


def compile_ahead(jobs: int = 1) -> None:
    """Compile every kernel now rather than at the first search; later processes find them in the cache.

    A module of this package that has kernels to load defines a function ``compile_ahead`` without required arguments;
    all of them are called. With several ``jobs`` that many processes share the work.
    """
    modules = list(_modules("discreet.solve"))
    if jobs == 1:
        for module in modules:
            _compile(module)
        return
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        list(pool.map(_compile, modules))


def _modules(package: str) -> Iterator[str]:
    """Yield the modules of the searches, without kernels and without the package's own modules."""
    for module in pkgutil.iter_modules(import_module(package).__path__, f"{package}."):
        if module.ispkg and not module.name.endswith(".kernels"):
            yield from _modules(module.name)
        elif package != "discreet.solve":
            yield module.name


def _compile(name: str) -> None:
    """Call the function ``compile_ahead`` that a module defines, if it does."""
    function = getattr(import_module(name), "compile_ahead", None)
    if function is not None and function.__module__ == name:
        function()
