"""The one flavour of compiled function used everywhere, so that switching it switches all kernels.

Set ``DISCREET_PLAIN_KERNELS=1`` to run every kernel as plain Python (for debugging, coverage and checks), or
``DISCREET_CHECK_BOUNDS=1`` to compile with bounds checks.

Compiled code is cached on disk under a name made from the text of all kernels: kernels call each other across files,
and numba itself would not notice that a called one has changed.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

__all__ = ["PLAIN", "cache_folder", "inner_kernel", "kernel"]

F = TypeVar("F", bound=Callable[..., Any])

PLAIN = os.environ.get("DISCREET_PLAIN_KERNELS") == "1"
"""Whether kernels run as plain Python."""


@cache
def cache_folder() -> Path | None:
    """Return the folder compiled kernels are kept in, or None where no folder can be written."""
    text = hashlib.sha256()
    for source in sorted(Path(__file__).parent.glob("*.py")):
        text.update(source.read_bytes())
    name = f"kernels-{text.hexdigest()[:12]}"
    roots = [os.environ.get("NUMBA_CACHE_DIR"), os.environ.get("XDG_CACHE_HOME")]
    candidates = [Path(root) / "discreet" / name for root in roots if root]
    candidates += [Path("~/.cache/discreet").expanduser() / name]
    candidates += [Path(tempfile.gettempdir()) / f"discreet-{os.getuid() if hasattr(os, 'getuid') else 0}" / name]
    for folder in candidates:
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError:
            continue
        if os.access(folder, os.W_OK) and (not hasattr(os, "getuid") or folder.stat().st_uid == os.getuid()):
            return folder
    return None


def kernel(function: F) -> F:
    """Compile a kernel: no GIL, cached on disk, no objects."""
    return _compiled(function)


def inner_kernel(function: F) -> F:
    """Compile a small function that kernels call in their innermost loops; it must not make arrays.

    References to arrays are not counted in it. Counting would take twenty times as long as the few numbers such a
    function reads, most of all where the arrays are in a named tuple.
    """
    return _compiled(function, _nrt=False)


def _compiled(function: F, **options: bool) -> F:
    if PLAIN:
        return function
    import numba

    config: Any = numba.config
    njit: Any = numba.njit

    checks = os.environ.get("DISCREET_CHECK_BOUNDS") == "1"
    folder = None if checks else cache_folder()
    elsewhere = config.CACHE_DIR
    config.CACHE_DIR = str(folder or "")
    try:
        compile_it = njit(cache=folder is not None, nogil=True, boundscheck=checks, error_model="numpy", **options)
        compiled: Any = compile_it(function)
    finally:
        config.CACHE_DIR = elsewhere
    return cast(F, compiled)
