"""A folder is replaced in one step; where that cannot be done, who is killed in between loses nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import discreet as dc
from discreet.errors import DataError, OutputError
from discreet.pipeline.output import check_output
from discreet.runtime import atomic_write
from discreet.runtime.atomic_write import abandon, exchange, put_back, replacing_folder

JOB = {"quasi_identifiers": ["age"], "privacy": "k(2)"}
SOURCE = str(Path(atomic_write.__file__).parents[2])
_KILLED = """
import os, signal, sys
from pathlib import Path
from discreet.runtime import atomic_write

target = Path(sys.argv[1])
if sys.argv[2] == "without":
    atomic_write.exchange = lambda one, other: False
exchange, rename, turn = atomic_write.exchange, Path.replace, int(sys.argv[3])

def killed(step):
    def killing(*arguments):
        global turn
        turn -= 1
        if turn == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        done = step(*arguments)
        turn -= 1
        if turn == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return done
    return killing

Path.replace = killed(rename)
atomic_write.exchange = killed(exchange)
with atomic_write.replacing_folder(target) as unfinished:
    (unfinished / "part-00000.parquet").write_text("new")
print("done")
"""


def folder(path: Path, text: str) -> Path:
    path.mkdir()
    (path / "part-00000.parquet").write_text(text)
    return path


def text(path: Path) -> str:
    return (path / "part-00000.parquet").read_text()


def replace(target: Path, text: str) -> None:
    with replacing_folder(target) as unfinished:
        (unfinished / "part-00000.parquet").write_text(text)


def test_names_are_exchanged(tmp_path: Path) -> None:
    one, other = folder(tmp_path / "a", "one"), folder(tmp_path / "b", "other")
    if not exchange(one, other):
        pytest.skip("this system cannot exchange names")
    assert (text(one), text(other)) == ("other", "one")
    assert not exchange(one, tmp_path / "nowhere")
    assert text(one) == "other"


@pytest.mark.parametrize("able", [True, False])
def test_a_folder_is_replaced_and_nothing_stays(able: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not able:
        monkeypatch.setattr(atomic_write, "exchange", lambda one, other: False)
    target = tmp_path / "safe"
    for content in ("first", "second", "third"):
        replace(target, content)
        assert text(target) == content
        assert [entry.name for entry in tmp_path.iterdir()] == ["safe"]


def test_what_is_there_is_there_all_the_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With names exchanged no rename takes the old folder away before the new one has its name."""
    target = folder(tmp_path / "safe", "old")
    if not exchange(target, folder(tmp_path / "other", "old")):
        pytest.skip("this system cannot exchange names")
    monkeypatch.setattr(Path, "replace", lambda *arguments: pytest.fail("renamed"))
    replace(target, "new")
    assert text(target) == "new"


@pytest.mark.parametrize("way", ["with", "without"])
def test_killed_before_and_after_every_step(way: str, tmp_path: Path) -> None:
    """After a kill at any step the old folder or the new one is there, or is put back by who comes next."""
    seen = set()
    for turn in range(1, 20):
        place = tmp_path / str(turn)
        place.mkdir()
        target = folder(place / "safe", "old")
        done = subprocess.run(
            [sys.executable, "-c", _KILLED, str(target), way, str(turn)],
            env={**os.environ, "PYTHONPATH": SOURCE},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode == 0:
            assert text(target) == "new"
            break
        assert done.returncode == -signal.SIGKILL, done.stderr
        seen.add(text(target) if target.exists() else "none")
        if not target.exists():
            assert check_output(f"{target}/", pl.DataFrame()).path == target  # the look before anything is done
            assert text(target) == "old"
        replace(target, "newer")
        assert text(target) == "newer"
        assert [entry.name for entry in place.iterdir()] == ["safe"]
    else:
        pytest.fail("it was killed at every step")
    assert seen >= ({"old", "new"} if way == "with" else {"old", "none", "new"})


def test_the_next_job_puts_the_old_folder_back_even_if_it_fails(tmp_path: Path) -> None:
    table = pl.DataFrame({"age": [30, 30, 41, 41]})
    dc.anonymize(table, **JOB, output=f"{tmp_path}/safe/")
    (tmp_path / "safe").rename(tmp_path / f".safe.{'0' * 12}.before")
    with pytest.raises(DataError):
        dc.anonymize(table, **{**JOB, "quasi_identifiers": ["height"]}, output=f"{tmp_path}/safe/")
    assert pl.read_parquet(tmp_path / "safe").height == 4
    assert [entry.name for entry in tmp_path.iterdir()] == ["safe"]


def test_a_folder_that_somebody_is_replacing_right_now_is_left_alone(tmp_path: Path) -> None:
    pytest.importorskip("fcntl")
    aside = folder(tmp_path / f".safe.{'0' * 12}.before", "old")
    from contextlib import ExitStack

    with ExitStack() as held:
        assert atomic_write.locked(aside, held)
        put_back(tmp_path / "safe")
        assert text(aside) == "old"
        assert not (tmp_path / "safe").exists()
    put_back(tmp_path / "safe")
    assert text(tmp_path / "safe") == "old"


def test_a_step_that_fails_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = folder(tmp_path / "safe", "old")
    monkeypatch.setattr(atomic_write, "exchange", lambda one, other: False)
    before = Path.replace

    def failing(self: Path, to: Path) -> Path:
        if self.parent.name.endswith(".part"):
            raise PermissionError(13, "not now")
        return before(self, to)

    monkeypatch.setattr(Path, "replace", failing)
    with pytest.raises(OutputError, match="cannot be written"):
        replace(target, "new")
    assert text(target) == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["safe"]


def test_what_is_abandoned_goes(tmp_path: Path) -> None:
    target = folder(tmp_path / "safe", "old")

    def given_up() -> None:
        with replacing_folder(target) as unfinished:
            (unfinished / "part-00000.parquet").write_text("new")
            abandon()
            assert [entry.name for entry in tmp_path.iterdir()] == ["safe"]

    with pytest.raises(OutputError):
        given_up()
    assert text(target) == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["safe"]
