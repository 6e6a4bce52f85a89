"""A limit on memory that is too small is told before the work begins: in the midst of it libraries just end, or hang.

What counts is the limit on a process (``ulimit -v``), which is one on addresses: compiled libraries reserve far more of
them than they use. Threads reserve most, so that under a tight limit there is one.
"""

from __future__ import annotations

import os

from discreet.errors import DiscreetError

__all__ = ["check_memory", "spare_memory"]

_LEAST = 1_400 << 20
"""What a small job takes with one thread, as measured."""
_FOR_EACH_BYTE = 4
"""What a job takes for each byte of a file besides, as measured: the file itself, its columns, and the release."""
_PLENTY = 4_096 << 20


def check_memory(size: int = 0) -> None:
    """Raise an error if a job on a file of this size would not get through under the limit on memory."""
    limit, needed = _limit(), _LEAST + _FOR_EACH_BYTE * size
    if limit is not None and limit < needed:
        raise DiscreetError(
            f"This process may take {_megabytes(limit)} of memory, and the job takes about {_megabytes(needed)}; raise "
            "the limit (ulimit -v).",
            topic="out-of-memory",
        )


def spare_memory() -> None:
    """Have libraries that are not loaded yet use one thread where memory is short."""
    limit = _limit()
    if limit is not None and limit < _PLENTY:
        for name in ("POLARS_MAX_THREADS", "OPENBLAS_NUM_THREADS"):
            os.environ.setdefault(name, "1")


def _limit() -> int | None:
    """Return how many bytes this process may take, or None if nobody limits it."""
    try:
        import resource
    except ImportError:  # there is no such limit on Windows
        return None
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return None if limit in (resource.RLIM_INFINITY, -1) else limit


def _megabytes(size: int) -> str:
    """Write a size for people.

    >>> _megabytes(1_500 << 20)
    '1,500 MB'
    """
    return f"{size >> 20:,} MB"
