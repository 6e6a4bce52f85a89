"""Full disks, files that may not grow, folders one may not write to."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from mishaps.base import (
    JOB,
    Skip,
    complete,
    environment,
    failed,
    mishap,
    names,
    people,
    quick,
    read_only,
    run,
    small_disk,
)


def _disk_full(folder: Path, output: str, *more: str, rows: int = 20_000) -> None:
    people(rows).write_csv(folder / "people.csv")
    with small_disk(folder / "disk", "96k"):
        (folder / "disk/old.txt").write_text("kept")
        done = run(folder, "anonymize", "people.csv", *JOB, "-o", output, *more)
        failed(done, 6, "disk is full")
        assert names(folder / "disk") == {"old.txt"}, names(folder / "disk")


@quick
def disk_full_of_a_file(folder: Path) -> None:
    _disk_full(folder, "disk/safe.csv")


@mishap
def disk_full_of_a_Parquet_file(folder: Path) -> None:
    _disk_full(folder, "disk/safe.parquet")


@mishap
def disk_full_of_JSON_lines(folder: Path) -> None:
    _disk_full(folder, "disk/safe.jsonl.gz")


@mishap
def disk_full_of_a_folder(folder: Path) -> None:
    _disk_full(folder, "disk/safe/")


@mishap
def disk_full_of_a_database(folder: Path) -> None:
    _disk_full(folder, f"sqlite:///{folder}/disk/safe.db?table=safe")


@mishap
def disk_full_by_another_engine(folder: Path) -> None:
    _disk_full(folder, "disk/safe.csv", "--engine", "duckdb")


@mishap
def disk_full_of_reports(folder: Path) -> None:
    """The release is written elsewhere; the report has no room."""
    people(2_000).write_csv(folder / "people.csv")
    with small_disk(folder / "disk", "8k"):
        done = run(folder, "anonymize", "people.csv", *JOB, "-o", "safe.csv", "--report", "disk/report.html")
        failed(done, 6, "disk is full")
        assert names(folder / "disk") == set()
    if (folder / "safe.csv").exists():
        complete(folder, "safe.csv", 2_000)


@mishap
def disk_full_of_what_is_printed(folder: Path) -> None:
    people(2_000).write_csv(folder / "people.csv")
    with (folder / "full").open("w") as nothing, suppress(FileNotFoundError):
        nothing.close()
        with Path("/dev/full").open("w") as full:
            done = subprocess.run(
                [sys.executable, "-m", "discreet", "info", "people.csv"],
                cwd=folder, env=environment(folder), stdout=full, stderr=subprocess.PIPE, text=True, check=False,
            )  # fmt: skip
        assert done.returncode == 6, done.stderr
        assert done.stderr.count("\n") == 1, done.stderr


@quick
def files_may_not_grow(folder: Path) -> None:
    people(20_000).write_csv(folder / "people.csv")
    before = names(folder)

    def limits() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (65_536, 65_536))

    done = run(folder, "anonymize", "people.csv", *JOB, "-o", "safe.csv", limits=limits)
    failed(done, 6, "cannot be written")
    assert names(folder) == before


@mishap
def folder_read_only(folder: Path) -> None:
    people(2_000).write_csv(folder / "people.csv")
    (folder / "disk").mkdir()
    (folder / "disk/safe.csv").write_text("old")
    with read_only(folder / "disk"):
        for output in ("disk/safe.csv", "disk/new/", f"sqlite:///{folder}/disk/new.db?table=safe"):
            done = run(folder, "anonymize", "people.csv", *JOB, "-o", output)
            failed(done, 6, "cannot be written")
        done = run(folder, "anonymize", "people.csv", *JOB, "-o", "safe.csv", "--report", "disk/report.html")
        failed(done, 6, "cannot be written")
        done = run(folder, "anonymize", "people.csv", *JOB, "-o", "safe.csv", "--save-job", "disk/job.yaml")
        failed(done, 6, "cannot be written")
        assert (folder / "disk/safe.csv").read_text() == "old"
        assert not (folder / "safe.csv").exists()


@mishap
def folder_of_somebody_else(folder: Path) -> None:
    """As a user without rights, where the folder is root's."""
    if os.geteuid() != 0:
        raise Skip("only root can be somebody else")
    people(500).write_csv(folder / "people.csv")
    (folder / "theirs").mkdir()
    (folder / "theirs").chmod(0o755)
    reach = [folder, *folder.parents]
    if not all(path.stat().st_mode & 0o005 for path in reach):
        folder.chmod(0o755)
    code = (
        "import os, sys\nimport discreet.runtime.atomic_write as r\nfrom pathlib import Path\n"
        "from discreet.errors import OutputError\n"
        "os.setgid(65534); os.setuid(65534)\n"
        f"try: r.check_target(Path({str(folder / 'theirs/safe.csv')!r}))\n"
        "except OutputError as error: print(error); sys.exit(error.exit_code)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment(folder), capture_output=True, text=True, check=False
    )
    assert done.returncode == 6, done.stderr
    assert "cannot be written to" in done.stdout
