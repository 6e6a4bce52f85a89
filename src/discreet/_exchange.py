"""Two names exchanged in one step, where the operating system can."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["exchange"]

_HERE = -100
"""Stands for the working folder (AT_FDCWD)."""
_EXCHANGE = 2
"""The flag of ``renameat2`` for it (RENAME_EXCHANGE)."""


def exchange(one: Path, other: Path) -> bool:
    """Exchange the names of two files or folders in one step; False if that cannot be done here, and nothing was.

    Linux can, on most file systems.
    """
    try:
        import ctypes

        rename = ctypes.CDLL(None).renameat2
    except (ImportError, OSError, TypeError, AttributeError):  # another system, or a library without it
        return False
    return int(rename(_HERE, os.fsencode(one), _HERE, os.fsencode(other), _EXCHANGE)) == 0
