"""No home folder, and no room or damaged files where compiled kernels are kept."""

from __future__ import annotations

import os
from pathlib import Path

from mishaps.base import JOB, complete, mishap, names, people, read_only, run, small_disk


@mishap
def no_home(folder: Path) -> None:
    people(500).write_csv(folder / "people.csv")
    kept = os.environ.get("NUMBA_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME") or str(Path("~/.cache").expanduser())
    for home in (None, "/nonexistent", ""):
        done = run(folder, "anonymize", "people.csv", *JOB, "-o", "safe.csv", HOME=home, NUMBA_CACHE_DIR=kept)
        assert done.code == 0, done.err
        complete(folder, "safe.csv", 500)
    assert names(folder) == {"people.csv", "safe.csv"}


@mishap
def no_place_for_compiled_kernels(folder: Path) -> None:
    """Nothing can be written but the output: everything is compiled for this one run."""
    people(300).write_csv(folder / "people.csv")
    (folder / "nothing").mkdir()
    with read_only(folder / "nothing"):
        place = str(folder / "nothing")
        nowhere = {"HOME": place, "TMPDIR": place, "XDG_CACHE_HOME": place, "NUMBA_CACHE_DIR": place}
        done = run(folder, "anonymize", "people.csv", *JOB, "-o", "safe.csv", **nowhere)
        assert done.code == 0, done.err
        complete(folder, "safe.csv", 300)
        assert names(folder / "nothing") == set()


@mishap
def no_room_for_compiled_kernels(folder: Path) -> None:
    """The disk they are kept on is full: everything is compiled for this one run, and nothing there is lost."""
    people(300).write_csv(folder / "people.csv")
    with small_disk(folder / "cache", "128k"):
        (folder / "cache/other").write_text("kept")
        done = run(folder, "anonymize", "people.csv", *JOB, "-o", "safe.csv", NUMBA_CACHE_DIR=str(folder / "cache"))
        assert done.code == 0, done.err
        assert (folder / "cache/other").read_text() == "kept"
    complete(folder, "safe.csv", 300)


@mishap
def compiled_kernels_damaged(folder: Path) -> None:
    """What was compiled earlier is cut off or filled with something else: it is compiled again, or refused clearly."""
    people(300).write_csv(folder / "people.csv")
    cache = folder / "cache"
    place = {"NUMBA_CACHE_DIR": str(cache)}
    plain = run(folder, "anonymize", "people.csv", *JOB, "-o", "safe.csv", **place)
    assert plain.code == 0, plain.err
    wanted = (folder / "safe.csv").read_text()
    damaged = list(cache.rglob("*.program"))
    assert damaged
    for file in damaged:
        file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    done = run(folder, "anonymize", "people.csv", *JOB, "-o", "safe.csv", **place)
    assert done.code == 0, done.err
    assert (folder / "safe.csv").read_text() == wanted
