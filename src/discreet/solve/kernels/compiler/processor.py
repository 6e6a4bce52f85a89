"""Features of this machine's processor, determined without LLVM."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path

__all__ = ["can", "this_platform"]

_CPUINFO = Path("/proc/cpuinfo")
_NAMES = {"bmi": "bmi1", "lzcnt": "abm", "sahf": "lahf_lm", "sse3": "pni", "sse4.1": "sse4_1", "sse4.2": "sse4_2"}
"""Features that Linux calls by another name than LLVM."""


def this_platform() -> str:
    """Return the system and the processor family that compiled code is for."""
    return f"{sys.platform}-{platform.machine()}"


def can(features: Iterable[str]) -> bool:
    """Return whether this processor has some features, by LLVM's names; what is not known counts as missing."""
    return all(_NAMES.get(feature, feature) in _flags() for feature in features)


@cache
def _flags() -> frozenset[str]:
    """Return Linux's names of what the first processor can do and the system lets programs use."""
    try:
        with _CPUINFO.open(encoding="ascii", errors="replace") as lines:
            for line in lines:
                name, _, value = line.partition(":")
                if name.strip() == "flags":
                    return frozenset(value.split())
    except OSError:
        pass
    return frozenset()
