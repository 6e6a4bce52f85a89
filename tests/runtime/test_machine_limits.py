"""What limits a process, read from made-up files of the kernel."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from discreet.cli import _short_of_memory
from discreet.engines.polars import count as _pieces
from discreet.engines.polars import source as _polars
from discreet.errors import DiscreetError
from discreet.runtime import machine_limits as _limits
from discreet.runtime.machine_limits import MemoryLimit, memory_limits, swap_left, usable_cores, usable_memory

MB = 1 << 20
MEMINFO = "MemTotal: 16000000 kB\nMemFree: 1 kB\nMemAvailable: 8000000 kB\nSwapFree: {swap} kB\n"
V2 = "25 1 0:22 {begins} /sys/fs/cgroup ro,nosuid - cgroup2 cgroup2 rw,nsdelegate"
V1 = "30 1 0:29 {begins} /sys/fs/cgroup/{name} rw shared:9 - cgroup cgroup rw,{name}"


def machine(root: Path, files: Mapping[str, object], swap: int = 0) -> Path:
    """Make the files of a kernel below a folder."""
    settings = {"proc/meminfo": MEMINFO.format(swap=swap), "proc/self/statm": "1000 500 100 1 0 400 0", **files}
    for name, text in settings.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n")
    return root


def of_kind(kind: str, root: Path) -> list[MemoryLimit]:
    return [limit for limit in memory_limits(root) if limit.kind == kind]


def test_without_limits_the_machine_decides(tmp_path: Path) -> None:
    root = machine(tmp_path, {})
    assert of_kind("container", root) == []
    assert [limit.left for limit in of_kind("machine", root)] == [8_000_000 << 10]
    assert usable_memory(root) == 8_000_000 << 10
    assert usable_memory(tmp_path / "elsewhere") is None


def test_the_tightest_group_above_a_process_counts(tmp_path: Path) -> None:
    group = "sys/fs/cgroup"
    root = machine(
        tmp_path,
        {
            "proc/self/cgroup": "0::/jobs/night",
            "proc/self/mountinfo": f"1 1 0:1 / / rw - ext4 /dev/a rw\n{V2.format(begins='/')}",
            f"{group}/jobs/night/memory.max": "max",
            f"{group}/jobs/night/memory.current": 100 * MB,
            f"{group}/jobs/night/memory.stat": "anon 1",
            f"{group}/jobs/memory.max": 600 * MB,
            f"{group}/jobs/memory.current": 500 * MB,
            f"{group}/jobs/memory.stat": f"anon 1\ninactive_file {150 * MB}\nactive_file {50 * MB}\nslab_reclaimable 0",
            f"{group}/jobs/memory.swap.max": 0,
        },
        swap=1000,
    )
    (limit,) = of_kind("container", root)
    own = 400 * _limits._PAGE
    assert limit == MemoryLimit("container", 600 * MB, 300 * MB + own, 300 * MB)
    assert usable_memory(root) == 300 * MB
    assert swap_left(root) == 0


@pytest.mark.parametrize(("path", "begins"), [("/docker/a1", "/docker/a1"), ("/", "/"), ("/../b2", "/")])
def test_in_a_container_its_own_group_is_the_outermost(path: str, begins: str, tmp_path: Path) -> None:
    root = machine(
        tmp_path,
        {
            "proc/self/cgroup": f"0::{path}",
            "proc/self/mountinfo": V2.format(begins=begins),
            "sys/fs/cgroup/memory.max": 700 * MB,
            "sys/fs/cgroup/memory.current": 200 * MB,
            "sys/fs/cgroup/cpu.max": "150000 100000",
        },
    )
    assert [limit.left for limit in of_kind("container", root)] == [500 * MB]
    assert usable_cores(root) == min(2, len(os.sched_getaffinity(0)))


def test_the_older_control_groups(tmp_path: Path) -> None:
    root = machine(
        tmp_path,
        {
            "proc/self/cgroup": "4:memory:/a/b\n3:cpuset:/x\n1:cpu,cpuacct:/a\n0::/",
            "proc/self/mountinfo": "\n".join([V1.format(begins="/", name=name) for name in ("memory", "cpu")]),
            "sys/fs/cgroup/memory/a/b/memory.limit_in_bytes": 9223372036854771712,
            "sys/fs/cgroup/memory/a/memory.limit_in_bytes": 600 * MB,
            "sys/fs/cgroup/memory/a/memory.usage_in_bytes": 400 * MB,
            "sys/fs/cgroup/memory/a/memory.stat": f"inactive_file 1\ntotal_inactive_file {100 * MB}",
            "sys/fs/cgroup/memory/a/memory.memsw.limit_in_bytes": 650 * MB,
            "sys/fs/cgroup/memory/memory.limit_in_bytes": 9223372036854771712,
            "sys/fs/cgroup/cpu/a/cpu.cfs_quota_us": 50_000,
            "sys/fs/cgroup/cpu/a/cpu.cfs_period_us": 100_000,
            "sys/fs/cgroup/cpu/cpu.cfs_quota_us": -1,
        },
        swap=1_000_000,
    )
    assert [(limit.size, limit.left) for limit in of_kind("container", root)] == [(600 * MB, 300 * MB)]
    assert usable_cores(root) == 1
    assert swap_left(root) == 50 * MB


def test_cores_are_those_the_process_may_run_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {1, 5, 7}, raising=False)
    assert usable_cores(machine(tmp_path, {})) == 3
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert usable_cores(tmp_path) == 1


def test_limits_of_the_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    resource = pytest.importorskip("resource")
    limits = {resource.RLIMIT_AS: 2_000 * MB, resource.RLIMIT_DATA: 1_000 * MB}
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (limits[kind], -1))
    root = machine(tmp_path, {"proc/self/statm": "256000 500 100 1 0 51200 0"})
    page = _limits._PAGE
    assert [limit.left for limit in of_kind("addresses", root)] == [2_000 * MB - 256_000 * page]
    assert [limit.left for limit in of_kind("data", root)] == [1_000 * MB - 51_200 * page]
    _limits.check_memory(root=root)
    with pytest.raises(DiscreetError, match="may take 2,000 MB of memory, and the job takes about 2,200 MB") as error:
        _limits.check_memory(200 * MB, root)
    assert "ulimit -v" in str(error.value)
    limits[resource.RLIMIT_AS] = -1
    with pytest.raises(DiscreetError, match=r"may take 1,000 MB .* takes about 1,150 MB; raise .*ulimit -d"):
        _limits.check_memory(400 * MB, root)


def small(root: Path, size: int, used: int) -> Path:
    """A container of which so much is used."""
    return machine(
        root,
        {
            "proc/self/cgroup": "0::/",
            "proc/self/mountinfo": V2.format(begins="/"),
            "sys/fs/cgroup/memory.max": size,
            "sys/fs/cgroup/memory.current": used,
        },
    )


def test_a_container_that_is_too_small_is_told_first(tmp_path: Path) -> None:
    _limits.check_memory(10_000 * MB, small(tmp_path, 600 * MB, 50 * MB))  # what a file needs depends on what is in it
    with pytest.raises(DiscreetError, match=r"may take 51 MB of memory, .* 128 MB; give the container more") as error:
        _limits.check_memory(root=small(tmp_path, 600 * MB, 550 * MB))
    assert error.value.topic == "out-of-memory"
    assert error.value.exit_code == 1


def test_where_memory_is_short_there_is_one_thread_and_less_is_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("POLARS_MAX_THREADS", "OPENBLAS_NUM_THREADS", "_RJEM_MALLOC_CONF")
    for name in names:
        monkeypatch.setenv(name, "x")  # so that it is as before in the end
        monkeypatch.delenv(name)
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0, 1, 2, 3}, raising=False)
    _limits.spare_memory(machine(tmp_path / "large", {}))
    assert not set(names) & set(os.environ)
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0, 2}, raising=False)
    _limits.spare_memory(machine(tmp_path / "large", {}))
    assert [os.environ.get(name) for name in names] == ["2", "2", None]
    for name in names[:2]:
        monkeypatch.delenv(name)
    root = small(tmp_path / "small", 600 * MB, 100 * MB)
    _limits.spare_memory(root)
    assert [os.environ.get(name) for name in names[:2]] == ["1", "1"]
    assert "dirty_decay_ms:0" in os.environ["_RJEM_MALLOC_CONF"]
    assert _limits.within_memory(1_000 * MB, 4, root) == 125 * MB
    assert _limits.within_memory(100 * MB, 4, root) == 100 * MB


def test_a_step_that_takes_more_than_is_left_is_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = pl.DataFrame({"a": ["x", "y", "x"]})
    total = _pieces.Total(pl.len().alias("rows"), pl.col("rows").sum())
    pieces = [frame.lazy(), frame.lazy()]
    monkeypatch.setattr(_limits, "memory_limits", lambda root: [MemoryLimit("container", 600 * MB, 300 * MB, 10)])
    with pytest.raises(DiscreetError, match="may take 300 MB of memory"):
        _pieces.add_up(pieces, ["a"], [total], "in-memory")
    monkeypatch.setattr(_limits, "memory_limits", lambda root: [MemoryLimit("machine", 600 * MB, 300 * MB, 10)])
    assert sorted(_pieces.add_up(pieces, ["a"], [total], "in-memory").rows()) == [("x", 4), ("y", 2)]


def test_text_is_held_only_if_there_is_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from discreet.engines.files.table_file import open_file

    path = tmp_path / "people.csv"
    path.write_text("age,sex\n" + "30,f\n41,m\n" * 500)
    expected = _polars.FileSource(open_file(path)).count(["age", "sex"]).sort("age").rows()
    source = _polars.FileSource(open_file(path))
    monkeypatch.setattr(_limits, "usable_memory", lambda root: 1000)
    assert source.count(["age", "sex"]).sort("age").rows() == expected == [("30", "f", 500), ("41", "m", 500)]
    assert source._held is None


class Ended(BaseException):
    """The process would have ended."""


def test_a_job_ends_before_the_last_memory_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    left = [100 * MB, 60 * MB, 23 * MB]
    seen: list[Any] = []

    def limits() -> list[MemoryLimit]:
        return [MemoryLimit("container", 600 * MB, 600 * MB, left.pop(0) if len(left) > 1 else left[0])]

    def end(code: int) -> None:
        seen.append(code)
        raise Ended

    def tell(error: BaseException) -> int:
        seen.append(str(error))
        return 1

    monkeypatch.setattr(_short_of_memory, "memory_limits", limits)
    monkeypatch.setattr(_short_of_memory, "_INTERVAL", 0.0)
    monkeypatch.setattr(os, "_exit", end)
    with pytest.raises(Ended):
        _short_of_memory._watch(threading.Event(), tell)
    assert seen[0].startswith("The 600 MB of memory of this container do not suffice")
    assert seen[1] == 1


def test_nothing_is_watched_where_nothing_kills(monkeypatch: pytest.MonkeyPatch) -> None:
    before = threading.active_count()
    monkeypatch.setattr(_short_of_memory, "memory_limits", list)
    with _short_of_memory.ending_in_time(lambda error: 1):
        assert threading.active_count() == before


@pytest.mark.parametrize("nonsense", ["", "?", "--1", "\u00b2", "9" * 5000, "-1", "a b c", "0:x", "max"])
def test_nonsense_limits_nothing(nonsense: str, tmp_path: Path) -> None:
    group = "sys/fs/cgroup"
    settings = {
        "proc/self/cgroup": f"0::/jobs\n{nonsense}",
        "proc/self/mountinfo": f"{nonsense}\n{V2.format(begins='/')}",
        **{f"{group}/jobs/{name}": nonsense for name in ("memory.max", "memory.current", "cpu.max", "memory.swap.max")},
        f"{group}/jobs/memory.stat": f"inactive_file {nonsense}",
        "proc/meminfo": f"MemTotal: {nonsense} kB\nMemAvailable: {nonsense}\nSwapFree:",
        "proc/self/statm": nonsense,
    }
    root = machine(tmp_path, settings)
    assert not of_kind("container", root)
    assert usable_cores(root) >= 1
    assert swap_left(root) == 0
    _limits.check_memory(root=root)
