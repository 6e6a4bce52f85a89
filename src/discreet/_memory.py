"""A limit on memory that is too small is told before the work begins: in the midst of it libraries just end, or hang.

There are limits of two kinds. One on a process (``ulimit -v``) is one on addresses: compiled libraries reserve far more
of them than they use. Threads reserve most, so that under a tight limit there is one. One on a container (a control
group) is on what is in use, and the kernel kills who takes more. Then less is held, smaller pieces are read, and what
was freed is given back at once.
"""

from __future__ import annotations

import os
from pathlib import Path

from discreet._limits import Kind, MemoryLimit, memory_limits, usable_cores, usable_memory
from discreet.errors import DiscreetError

__all__ = ["check_memory", "check_room", "spare_memory", "within_memory"]

_ROOT = Path("/")
_LEAST: dict[Kind, int] = {"addresses": 1_400 << 20, "data": 350 << 20, "container": 128 << 20}
"""What a small job takes with one thread, as measured; memory that nobody set a limit on is never refused."""
_FOR_EACH_BYTE: dict[Kind, int] = {"addresses": 4, "data": 2, "container": 0}
"""What a job takes for each byte of a file besides, as measured: the file itself, its columns, and the release.

In a container it depends on what is in the file: nothing needs to be held of it as a whole.
"""
_PLENTY: dict[Kind, int] = {
    "addresses": 4_096 << 20,
    "data": 1_024 << 20,
    "container": 1_024 << 20,
    "machine": 1_024 << 20,
}
_RAISE: dict[Kind, str] = {
    "addresses": "raise the limit (ulimit -v)",
    "data": "raise the limit (ulimit -d)",
    "container": "give the container more",
    "machine": "free some",
}
_AT_ONCE = "dirty_decay_ms:0,muzzy_decay_ms:0"
"""For the allocator of polars: what was freed goes back to the system at once."""


def check_memory(size: int = 0, root: Path = _ROOT) -> None:
    """Raise an error if a job on a file of this size would not get through under the limits on memory."""
    for limit in memory_limits(root):
        if limit.kind not in _LEAST:
            continue
        needed = _LEAST[limit.kind] + _FOR_EACH_BYTE[limit.kind] * size
        if limit.ours < needed:
            raise _too_little(limit, limit.ours, needed)


def check_room(needed: int, root: Path = _ROOT) -> None:
    """Raise an error if a step that is about to be made takes more memory than is left."""
    limit = min(memory_limits(root), key=lambda limit: limit.left, default=None)
    if limit is not None and limit.kind in _LEAST and limit.left < needed:
        raise _too_little(limit, limit.ours, limit.ours - limit.left + needed)


def within_memory(most: int, part: int, root: Path = _ROOT) -> int:
    """Return how many bytes to have at once: ``most``, or one in ``part`` of the memory that is left."""
    left = usable_memory(root)
    return most if left is None else min(most, left // part)


def spare_memory(root: Path = _ROOT) -> None:
    """Have libraries that are not loaded yet use the cores there are, and one where memory is short."""
    short = any(limit.ours < _PLENTY[limit.kind] for limit in memory_limits(root))
    threads = 1 if short else usable_cores(root)
    if threads < (os.cpu_count() or 1):
        for name in ("POLARS_MAX_THREADS", "OPENBLAS_NUM_THREADS"):
            os.environ.setdefault(name, str(threads))
    if short:
        os.environ.setdefault("_RJEM_MALLOC_CONF", _AT_ONCE)


def _too_little(limit: MemoryLimit, there: int, needed: int) -> DiscreetError:
    return DiscreetError(
        f"This process may take {_megabytes(there)} of memory, and the job takes about {_megabytes(needed)}; "
        f"{_RAISE[limit.kind]}.",
        topic="out-of-memory",
    )


def _megabytes(size: int) -> str:
    """Write a size for people.

    >>> _megabytes(1_500 << 20)
    '1,500 MB'
    """
    return f"{size >> 20:,} MB"
