"""How much memory and how many cores this process may use, by the tightest of all limits.

A limit that is too small is reported before the work begins: later, libraries abort or hang. ``ulimit -v`` limits the
address space, of which compiled libraries reserve far more than they use. Threads reserve most, so under a tight limit
there is only one. A container (control group) limits the memory in use, and the kernel kills a process that exceeds it.
There, less data is held, smaller pieces are read, and freed memory is returned at once.

Every control group from that of the process up to the root may have a limit, in one of two versions. The memory of the
machine says nothing about it. The page cache is reclaimed when memory is needed, and counts as free.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Literal

from discreet.errors import DiscreetError

__all__ = [
    "MemoryLimit",
    "check_memory",
    "check_room",
    "memory_limits",
    "spare_memory",
    "swap_left",
    "usable_cores",
    "usable_memory",
    "within_memory",
]

LimitKind = Literal["addresses", "data", "container", "machine"]

_ROOT = Path("/")
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
_NAMES: dict[LimitKind, str] = {"addresses": "RLIMIT_AS", "data": "RLIMIT_DATA"}
_ENDLESS = 1 << 60
"""Limits from here on mean none; older control groups cannot express it otherwise."""
_NUMBER = re.compile("-?[0-9]{1,30}")
_CACHED = ("inactive_file", "active_file", "slab_reclaimable")
"""Memory of a group that the kernel can reclaim."""
_LEAST: dict[LimitKind, int] = {"addresses": 1_400 << 20, "data": 350 << 20, "container": 128 << 20}
"""What a small job needs with one thread, as measured; memory without a limit is never refused."""
_FOR_EACH_BYTE: dict[LimitKind, int] = {"addresses": 4, "data": 2, "container": 0}
"""What a job needs for each byte of a file, as measured: the file itself, its columns, and the release.

In a container it depends on the content of the file: no part of it has to be held as a whole.
"""
_PLENTY: dict[LimitKind, int] = {
    "addresses": 4_096 << 20,
    "data": 1_024 << 20,
    "container": 1_024 << 20,
    "machine": 1_024 << 20,
}
_RAISE: dict[LimitKind, str] = {
    "addresses": "raise the limit (ulimit -v)",
    "data": "raise the limit (ulimit -d)",
    "container": "give the container more",
    "machine": "free some",
}
_AT_ONCE = "dirty_decay_ms:0,muzzy_decay_ms:0"
"""Settings for the allocator of polars: return freed memory to the system at once."""


@dataclass(frozen=True)
class MemoryLimit:
    """A limit on memory, in bytes.

    ``addresses`` is ``ulimit -v``, ``data`` is ``ulimit -d``, ``container`` is a control group, and ``machine`` is the
    memory of all processes.
    """

    kind: LimitKind
    size: int
    ours: int
    """How much this process may use in total."""
    left: int
    """How much more it may use."""


def usable_memory(root: Path = _ROOT) -> int | None:
    """Return how many more bytes this process may use; None if that is unknown."""
    return min((limit.left for limit in memory_limits(root)), default=None)


def memory_limits(root: Path = _ROOT) -> list[MemoryLimit]:
    """Return all limits on the memory of this process; ``root`` has the files of the kernel."""
    return [*_of_process(root), *_of_groups(root), *_of_machine(root)]


def swap_left(root: Path = _ROOT) -> int:
    """Return how many bytes of swap are left."""
    left = [_meminfo(root).get("SwapFree:", 0)]
    for folder in _groups("memory", root):
        most, used = _number(_text(folder / "memory.swap.max")), _number(_text(folder / "memory.swap.current")) or 0
        if most is not None:
            left.append(max(most - used, 0))
        both = _number(_text(folder / "memory.memsw.limit_in_bytes"))
        memory = _number(_text(folder / "memory.limit_in_bytes"))
        if both is not None and memory is not None and both < _ENDLESS:
            left.append(max(both - memory, 0))
    return min(left)


def usable_cores(root: Path = _ROOT) -> int:
    """Return how many cores this process may keep busy, by its affinity and its CPU quota."""
    there = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    shares = []
    for folder in _groups("cpu", root):
        quota_and_period = _text(folder / "cpu.max").split() or [
            _text(folder / "cpu.cfs_quota_us"),
            _text(folder / "cpu.cfs_period_us"),
        ]
        quota, period = _number(quota_and_period[0]), _number(quota_and_period[-1])
        if quota is not None and quota > 0 and period:
            shares.append(-(-quota // period))
    return max(min([there, *shares]), 1)


def check_memory(size: int = 0, root: Path = _ROOT) -> None:
    """Raise an error if a job on a file of this size exceeds the limits on memory."""
    for limit in memory_limits(root):
        if limit.kind not in _LEAST:
            continue
        needed = _LEAST[limit.kind] + _FOR_EACH_BYTE[limit.kind] * size
        if limit.ours < needed:
            raise _too_little(limit, limit.ours, needed)


def check_room(needed: int, root: Path = _ROOT) -> None:
    """Raise an error if the next step needs more memory than is left."""
    limit = min(memory_limits(root), key=lambda limit: limit.left, default=None)
    if limit is not None and limit.kind in _LEAST and limit.left < needed:
        raise _too_little(limit, limit.ours, limit.ours - limit.left + needed)


def within_memory(most: int, part: int, root: Path = _ROOT) -> int:
    """Return how many bytes to hold at once: ``most``, or one in ``part`` of the memory that is left."""
    left = usable_memory(root)
    return most if left is None else min(most, left // part)


def spare_memory(root: Path = _ROOT) -> None:
    """Make libraries that are not loaded yet use the available cores, or only one if memory is short."""
    short = any(limit.ours < _PLENTY[limit.kind] for limit in memory_limits(root))
    threads = 1 if short else usable_cores(root)
    if threads < (os.cpu_count() or 1):
        for name in ("POLARS_MAX_THREADS", "OPENBLAS_NUM_THREADS"):
            os.environ.setdefault(name, str(threads))
    if short:
        os.environ.setdefault("_RJEM_MALLOC_CONF", _AT_ONCE)


def _of_process(root: Path) -> Iterator[MemoryLimit]:
    try:
        import resource
    except ImportError:  # there are no such limits on Windows
        return
    taken = _memory_used(root)
    for kind, name in _NAMES.items():
        size = resource.getrlimit(getattr(resource, name))[0]
        if size not in (resource.RLIM_INFINITY, -1):
            yield MemoryLimit(kind, size, size, max(size - taken[kind], 0))


def _of_groups(root: Path) -> Iterator[MemoryLimit]:
    for folder in _groups("memory", root):
        size = _number(_text(folder / "memory.max") or _text(folder / "memory.limit_in_bytes"))
        if size is None or not 0 <= size < _ENDLESS:
            continue
        used = _number(_text(folder / "memory.current") or _text(folder / "memory.usage_in_bytes")) or 0
        pairs = (line.split() for line in _text(folder / "memory.stat").splitlines())
        # a total comes last
        used_for = {pair[0].removeprefix("total_"): _number(pair[1]) or 0 for pair in pairs if len(pair) == 2}
        cached = sum(used_for.get(name, 0) for name in _CACHED)
        left = min(max(size - used + cached, 0), size)
        yield MemoryLimit("container", size, min(left + _memory_used(root)["container"], size), left)


def _of_machine(root: Path) -> Iterator[MemoryLimit]:
    memory = _meminfo(root)
    if "MemAvailable:" in memory and "MemTotal:" in memory:
        size, left = memory["MemTotal:"], memory["MemAvailable:"]
        yield MemoryLimit("machine", size, min(left + _memory_used(root)["machine"], size), left)


def _meminfo(root: Path) -> dict[str, int]:
    lines = (line.split() for line in _text(root / "proc/meminfo").splitlines())
    sizes = {words[0]: _number(words[1]) for words in lines if len(words) > 1}
    return {name: size << 10 for name, size in sizes.items() if size is not None}


def _memory_used(root: Path) -> dict[LimitKind, int]:
    """Return how much memory this process uses, as each limit counts it."""
    words = _text(root / "proc/self/statm").split()
    pages = [_number(word) or 0 for word in words] if len(words) > 5 else [0] * 7
    addresses, resident, shared, data = (_PAGE * pages[field] for field in (0, 1, 2, 5))
    return {"addresses": addresses, "data": data, "container": resident - shared, "machine": resident - shared}


@cache
def _groups(controller: str, root: Path) -> tuple[Path, ...]:
    """Return the folders of the control groups of this process, from its own to the root."""
    own = dict(_own_groups(controller, root))
    found: list[Path] = []
    for line in _text(root / "proc/self/mountinfo").splitlines():
        mount, _, system = (part.split() for part in line.partition(" - "))
        version = {"cgroup2": 2, "cgroup": 1}.get(system[0] if len(mount) > 4 and system else "", 0)
        if version in own and (version == 2 or controller in system[-1].split(",")):
            top = root / mount[4].lstrip("/")
            folder = top / _below(own[version], mount[3])
            found += [folder, *(above for above in folder.parents if above.is_relative_to(top))]
    return tuple(found)


def _own_groups(controller: str, root: Path) -> Iterator[tuple[int, str]]:
    """Yield each version of control groups with the controller, and the path of the group of this process."""
    for line in _text(root / "proc/self/cgroup").splitlines():
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if number == "0" and not controllers:
            yield 2, path
        elif controller in controllers.split(","):
            yield 1, path


def _below(path: str, root: str) -> str:
    """Return the path of a group below the root of a mount; the root itself for a group outside of it.

    >>> _below("/docker/a1/jobs", "/docker/a1"), _below("/../b2", "/")
    ('jobs', '.')
    """
    if ".." in PurePosixPath(path).parts or not PurePosixPath(path).is_relative_to(root):
        return "."
    return str(PurePosixPath(path).relative_to(root))


def _text(path: Path) -> str:
    """Read a file of the kernel; empty if it is missing or unreadable."""
    with suppress(OSError, UnicodeDecodeError):
        return path.read_text().strip()
    return ""


def _number(text: str) -> int | None:
    """Parse an integer; ``max`` and anything else is None."""
    return int(text) if _NUMBER.fullmatch(text) else None


def _too_little(limit: MemoryLimit, available: int, needed: int) -> DiscreetError:
    return DiscreetError(
        f"This process may take {_megabytes(available)} of memory, and the job takes about {_megabytes(needed)}; "
        f"{_RAISE[limit.kind]}.",
        topic="out-of-memory",
    )


def _megabytes(size: int) -> str:
    """Format a size.

    >>> _megabytes(1_500 << 20)
    '1,500 MB'
    """
    return f"{size >> 20:,} MB"
