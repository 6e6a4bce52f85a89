"""The compiler, which an installation may lack: the one place that says so."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec

from discreet.errors import UsageError

__all__ = ["compiler_is_there", "linker_is_there", "require_compiler"]


@cache
def linker_is_there() -> bool:
    """Return whether object code can be linked in this process: by LLVM, which comes with numba."""
    return find_spec("llvmlite") is not None


@cache
def compiler_is_there() -> bool:
    """Return whether kernels can be compiled, which takes numba and LLVM."""
    return linker_is_there() and find_spec("numba") is not None


def require_compiler(what: str, reason: str = "") -> None:
    """Raise an error if numba is not installed, as in an installation that came with its searches compiled."""
    if compiler_is_there():
        return
    because = f", because {reason}" if reason else ""
    raise UsageError(
        f"Code must be compiled for this ({what}){because}; install the compiler: pip install 'discreet[compile]'.",
        topic="missing-extra",
    )
