"""Compiling kernels ahead of the first search: for this machine, or for an installation on others."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from functools import partial
from importlib import import_module
from pathlib import Path

from discreet.errors import UsageError
from discreet.solve._base import SOLVERS

__all__ = ["compile_ahead", "kinds"]

_PARETO = "pareto"


def compile_ahead(
    wanted: Iterable[str] = (), *, jobs: int = 1, native: bool = False, installation: Path | None = None
) -> None:
    """Compile the kernels of some :func:`kinds` of searches, or of all, rather than at the first search.

    Later processes find them in the cache. With several ``jobs`` that many processes share the work. What came compiled
    with the installation is compiled again only if ``native``, for this very processor. With a folder of an
    ``installation`` everything is compiled into that, for all processors of this family that are not very old.
    """
    known = kinds()
    for kind in (wanted := list(wanted)):
        if kind not in known:
            raise UsageError(f"There is no search of the kind '{kind}'; there are {', '.join(known)}.")
    items = wanted or list(_modules("discreet.solve"))
    work = partial(_compile, native=native, installation=installation)
    if jobs == 1:
        for item in items:
            work(item)
        return
    from concurrent.futures import ProcessPoolExecutor  # four milliseconds of every start
    from multiprocessing import get_context

    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        list(pool.map(work, items))


def kinds() -> list[str]:
    """Return the kinds of searches: the front, the schemes, and the solvers by name."""
    schemes = {scheme for solver in SOLVERS.members().values() for scheme in solver.schemes}
    return list(dict.fromkeys([_PARETO, *sorted(schemes), *sorted(SOLVERS.members())]))


def _modules(package: str) -> Iterator[str]:
    """Yield the modules of the searches, without kernels and without the package's own modules."""
    for module in pkgutil.iter_modules(import_module(package).__path__, f"{package}."):
        if module.ispkg and not module.name.endswith(".kernels"):
            yield from _modules(module.name)
        elif package != "discreet.solve":
            yield module.name


def _compile(item: str, native: bool, installation: Path | None) -> None:
    """Compile what a module of this package, or a kind of search, needs."""
    from discreet.solve.kernels.compiler.programs import without_installed, writing

    with ExitStack() as stack:
        if native:
            stack.enter_context(without_installed())
        if installation is not None:
            from discreet.solve.kernels.compiler.target import baseline

            stack.enter_context(writing(installation, baseline()))
        if item.startswith("discreet."):
            function = getattr(import_module(item), "compile_ahead", None)
            if function is not None and function.__module__ == item:
                function()
        elif item == _PARETO:
            import_module("discreet.solve.front.search").compile_ahead()
        else:
            for name, solver in SOLVERS.members().items():
                if name == item or (item in solver.schemes and not solver.baseline):
                    solver.compile_ahead()
