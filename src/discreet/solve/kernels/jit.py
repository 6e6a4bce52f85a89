"""The two decorators for compiled functions, and the cache of compiled code.

Set ``DISCREET_PLAIN_KERNELS=1`` to run every kernel as plain Python (for debugging, coverage and checks), or
``DISCREET_CHECK_BOUNDS=1`` to compile with bounds checks.

The cache is addressed by content: a kernel is identified by the code of its module and of all kernel modules this one
imports, without comments and docstrings. So an edited kernel is never mistaken for its old version, even if only a
function it calls has changed (numba alone would not notice), and rewording a comment, a new checkout or another file
time compiles nothing. Versions that were not used for two months are removed when something new is compiled.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import CodeType
from typing import Any, TypeVar, cast

__all__ = ["PLAIN", "cache_folder", "inner_kernel", "kernel"]

F = TypeVar("F", bound=Callable[..., Any])

_UNUSED = 60 * 86_400
"""Seconds after which a version that was not used is removed."""
_RECENT = 86_400
"""Seconds within which a version counts as just used, and its time stamp is not renewed."""

PLAIN = os.environ.get("DISCREET_PLAIN_KERNELS") == "1"
"""Whether kernels run as plain Python."""


@cache
def cache_folder() -> Path | None:
    """Return the folder of the cache, or None if no folder can be written."""
    roots = [os.environ.get("NUMBA_CACHE_DIR"), os.environ.get("XDG_CACHE_HOME")]
    candidates = [Path(root) / "discreet" for root in roots if root]
    candidates += [Path("~/.cache/discreet").expanduser()]
    candidates += [Path(tempfile.gettempdir()) / f"discreet-{os.getuid() if hasattr(os, 'getuid') else 0}"]
    for folder in (candidate / "kernels" for candidate in candidates):
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError:
            continue
        if os.access(folder, os.W_OK) and (not hasattr(os, "getuid") or folder.stat().st_uid == os.getuid()):
            return folder
    return None


def kernel(function: F) -> F:
    """Compile a function: without the GIL, without Python objects, cached on disk."""
    return _compiled(function)


def inner_kernel(function: F) -> F:
    """Compile a function that must not allocate arrays (views are fine), without reference counting.

    numba counts references to every array of a named tuple that is passed, with atomic operations. That can take
    twenty times as long as the few numbers a small function reads; the front search became a fifth faster without.
    What it calls is compiled the same way, so that it must not allocate either; sorting, for example, does.
    """
    return _compiled(function, _nrt=False)


def _compiled(function: F, **options: bool) -> F:
    if PLAIN:
        return function
    import numba

    njit: Any = numba.njit
    checks = os.environ.get("DISCREET_CHECK_BOUNDS") == "1"
    compiled: Any = njit(nogil=True, boundscheck=checks, error_model="numpy", **options)(function)
    if not checks and cache_folder() is not None:
        compiled._cache = _cache_class()(function)
    return cast(F, compiled)


@cache
def _cache_class() -> Any:
    """Return numba's class of caches, with a locator that addresses them by content."""
    from numba.core import caching

    names: Any = caching

    class Locator(names._CacheLocator):  # type: ignore[misc]
        def __init__(self, function: Any) -> None:
            self._py_file = function.__code__.co_filename  # numba names it in warnings
            self._digest = _digest(function.__module__)
            name = function.__module__.removeprefix("discreet.solve.")
            self._path = str(Path(str(cache_folder())) / f"{name}-{self._digest[:16]}")
            _mark_as_used(self._path)

        def get_cache_path(self) -> str:
            return self._path

        def get_source_stamp(self) -> str:
            return self._digest

        def get_disambiguator(self) -> str:
            return "0"  # functions of one module have different names

        @classmethod
        def from_function(cls, function: Any, file: str) -> Any:
            return cls(function)

    class Implementation(names.CompileResultCacheImpl):  # type: ignore[misc]
        _locator_classes = (Locator,)

    class Cache(names.FunctionCache):  # type: ignore[misc]
        _impl_class = Implementation

        def save_overload(self, signature: Any, data: Any) -> None:
            super().save_overload(signature, data)
            _remove_unused()

    return Cache


@cache
def _mark_as_used(folder: str) -> None:
    """Renew the time stamp of a version of a module's kernels, once a day."""
    with suppress(OSError):
        if time.time() - Path(folder).stat().st_mtime > _RECENT:
            os.utime(folder)


@cache
def _remove_unused() -> None:
    """Remove versions that were not used for long, once per process."""
    folder = cache_folder()
    if folder is None:
        return
    for version in folder.glob("*-" + "[0-9a-f]" * 16):
        with suppress(OSError):
            if time.time() - version.stat().st_mtime > _UNUSED:
                shutil.rmtree(version, ignore_errors=True)


@cache
def _digest(module: str) -> str:
    """Return a digest of the code of a module and of all kernel modules it imports, directly or not."""
    found: dict[str, str] = {}
    open_modules = [module]
    while open_modules:
        name = open_modules.pop()
        if name not in found:
            found[name], imported = _code(name)
            open_modules += imported
    text = "\n".join(f"{name} {found[name]}" for name in sorted(found))
    return hashlib.sha256(text.encode()).hexdigest()


@cache
def _code(module: str) -> tuple[str, list[str]]:
    """Return the code of a module, without docstrings and line numbers, and the kernel modules it imports."""
    spec = importlib.util.find_spec(module)
    loader: Any = spec.loader if spec is not None else None
    code = None if loader is None else loader.get_code(module)
    if code is None:
        raise ImportError(f"the source of {module} cannot be found")
    imported = [name for name in code.co_names if ".kernels." in name and name != __name__]
    return repr(_content(code)), imported


def _content(code: CodeType) -> tuple[Any, ...]:
    """Return the instructions of a code object, its names and constants, and those of the functions inside it."""
    first = code.co_consts[:1]
    documented = bool(first) and isinstance(first[0], str)  # a docstring is the first constant
    constants = [_constant(item) for item in code.co_consts[documented:]]
    return code.co_name, code.co_code, code.co_names, code.co_varnames, code.co_freevars, constants


def _constant(item: Any) -> Any:
    if isinstance(item, CodeType):
        return _content(item)
    return sorted(map(repr, item)) if isinstance(item, frozenset) else item  # the order of a set is not the same twice
