"""What this process may take of the machine: memory and cores, by the tightest of all limits on it.

A container is limited by control groups, in one of two forms: every group from that of the process up to the outermost
that can be seen may have a limit of its own. What the machine as a whole has says nothing there. Memory that holds
parts of files is given back by the kernel when somebody needs it, and counts as free.
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

__all__ = ["Kind", "MemoryLimit", "memory_limits", "swap_left", "usable_cores", "usable_memory"]

Kind = Literal["addresses", "data", "container", "machine"]

_ROOT = Path("/")
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
_NAMES: dict[Kind, str] = {"addresses": "RLIMIT_AS", "data": "RLIMIT_DATA"}
_ENDLESS = 1 << 60
"""A number of bytes that is meant as none: the older control groups have no other word for it."""
_NUMBER = re.compile("-?[0-9]{1,30}")
_CACHED = ("inactive_file", "active_file", "slab_reclaimable")
"""What a group holds that the kernel takes back."""


@dataclass(frozen=True)
class MemoryLimit:
    """A limit on memory, and how much this process may take under it in all, and how much more, in bytes.

    ``addresses`` is ``ulimit -v``, ``data`` is ``ulimit -d``, ``container`` a control group; ``machine`` is what all
    processes together may take.
    """

    kind: Kind
    size: int
    ours: int
    left: int


def usable_memory(root: Path = _ROOT) -> int | None:
    """Return how many more bytes this process may take; None where nobody can tell."""
    return min((limit.left for limit in memory_limits(root)), default=None)


def memory_limits(root: Path = _ROOT) -> list[MemoryLimit]:
    """Return all limits on the memory of this process.

    The files of the kernel are looked for below ``root``.
    """
    return [*_of_process(root), *_of_groups(root), *_of_machine(root)]


def swap_left(root: Path = _ROOT) -> int:
    """Return how many bytes may go to disk before memory runs out."""
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
    """Return how many cores this process may keep busy: those it may run on, or the part of them it may use."""
    there = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    shares = []
    for folder in _groups("cpu", root):
        told = _text(folder / "cpu.max").split() or [
            _text(folder / "cpu.cfs_quota_us"),
            _text(folder / "cpu.cfs_period_us"),
        ]
        quota, period = _number(told[0]), _number(told[-1])
        if quota is not None and quota > 0 and period:
            shares.append(-(-quota // period))
    return max(min([there, *shares]), 1)


def _of_process(root: Path) -> Iterator[MemoryLimit]:
    try:
        import resource
    except ImportError:  # there are no such limits on Windows
        return
    taken = _taken(root)
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
        # where there is a total too, it comes last
        held = {pair[0].removeprefix("total_"): _number(pair[1]) or 0 for pair in pairs if len(pair) == 2}
        cached = sum(held.get(name, 0) for name in _CACHED)
        left = min(max(size - used + cached, 0), size)
        yield MemoryLimit("container", size, min(left + _taken(root)["container"], size), left)


def _of_machine(root: Path) -> Iterator[MemoryLimit]:
    told = _meminfo(root)
    if "MemAvailable:" in told and "MemTotal:" in told:
        size, left = told["MemTotal:"], told["MemAvailable:"]
        yield MemoryLimit("machine", size, min(left + _taken(root)["machine"], size), left)


def _meminfo(root: Path) -> dict[str, int]:
    lines = (line.split() for line in _text(root / "proc/meminfo").splitlines())
    told = {words[0]: _number(words[1]) for words in lines if len(words) > 1}
    return {name: size << 10 for name, size in told.items() if size is not None}


def _taken(root: Path) -> dict[Kind, int]:
    """Return how much memory this process has by now, as each limit counts it."""
    words = _text(root / "proc/self/statm").split()
    pages = [_number(word) or 0 for word in words] if len(words) > 5 else [0] * 7
    addresses, resident, shared, data = (_PAGE * pages[place] for place in (0, 1, 2, 5))
    return {"addresses": addresses, "data": data, "container": resident - shared, "machine": resident - shared}


@cache
def _groups(controller: str, root: Path) -> tuple[Path, ...]:
    """Return the folders of the control groups this process is in, from its own to the outermost."""
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
    """Return the path of the group of this process in each form of control groups that has the controller."""
    for line in _text(root / "proc/self/cgroup").splitlines():
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if number == "0" and not controllers:
            yield 2, path
        elif controller in controllers.split(","):
            yield 1, path


def _below(path: str, begins: str) -> str:
    """Return a group's path below the one that a mount begins with; a group out of sight is taken for that one.

    >>> _below("/docker/a1/jobs", "/docker/a1"), _below("/../b2", "/")
    ('jobs', '.')
    """
    if ".." in PurePosixPath(path).parts or not PurePosixPath(path).is_relative_to(begins):
        return "."
    return str(PurePosixPath(path).relative_to(begins))


def _text(path: Path) -> str:
    """Return what a file of the kernel says; nothing where there is none, or it is nobody's business."""
    with suppress(OSError, UnicodeDecodeError):
        return path.read_text().strip()
    return ""


def _number(text: str) -> int | None:
    """Read a number; ``max`` is none, and neither is anything else."""
    return int(text) if _NUMBER.fullmatch(text) else None
