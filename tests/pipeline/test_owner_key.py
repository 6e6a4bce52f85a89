"""The owner's key: private from its first byte, made once, and refused when others could have read it."""

from __future__ import annotations

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import polars as pl
import pytest

import discreet as dc
from discreet.errors import DataError, DiscreetError, OutputError
from discreet.job import Job
from discreet.job.owner_key import Key, KeyFile, key_file
from discreet.runtime.atomic_write import replacing

TABLE = pl.DataFrame({"sex": ["f", "m"] * 10, "town": ["A", "A", "B", "B"] * 5})
ASKED = {"quasi_identifiers": ["sex", "town"], "privacy": "k(2)"}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    TABLE.write_csv("people.csv")
    return tmp_path


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_it_is_in_the_private_folder_of_the_user(own_state: Path, folder: Path) -> None:
    release = dc.anonymize("people.csv", **ASKED, output="safe.csv")
    release.certificate("certificate.json")
    key = own_state / "discreet" / "discreet.key"
    assert (mode(key), mode(key.parent)) == (0o600, 0o700)
    assert mode(key.with_name("discreet.ledger")) == 0o600
    assert not (folder / "discreet.key").exists()
    assert dc.verify("safe.csv", "certificate.json", key=key, original="people.csv").passed


def test_one_key_serves_many_releases_and_is_never_overwritten(folder: Path) -> None:
    release = dc.anonymize("people.csv", **ASKED, output="safe.csv")
    release.certificate("one.json", key="my.key")
    content = (folder / "my.key").read_bytes()
    dc.anonymize("people.csv", **ASKED, output="again.csv", key="my.key").certificate("two.json")
    assert (folder / "my.key").read_bytes() == content
    assert dc.verify("again.csv", "two.json", key="my.key", original="people.csv").passed


def test_those_who_make_it_at_once_have_one_key(folder: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: KeyFile(folder / "my.key", explicit=True).make(), range(40)))
    assert len({key.secret for key in made if key is not None}) == 1
    assert [file.name for file in folder.glob(".*")] == []


@pytest.mark.skipif(os.name != "posix", reason="permissions are those of POSIX")
@pytest.mark.parametrize("rights", [0o640, 0o604, 0o644, 0o620])
def test_one_that_others_can_reach_is_refused(folder: Path, rights: int) -> None:
    release = dc.anonymize("people.csv", **ASKED, output="safe.csv")
    release.certificate("certificate.json", key="my.key")
    (folder / "my.key").chmod(rights)
    with pytest.raises(DataError, match=r"'my\.key' is open to other users .* chmod 600"):
        release.certificate("certificate.json", key="my.key")
    with pytest.raises(DataError, match="open to other users"):
        dc.verify("safe.csv", "certificate.json", key="my.key")


@pytest.mark.parametrize("content", [b"", b"secret", b"0" * 63, b"g" * 64, b"0" * 64 + b"\n" + b"0" * 64, b"\xff" * 64])
def test_what_is_no_key_is_refused_and_left_as_it_is(folder: Path, content: bytes) -> None:
    path = folder / "my.key"
    path.write_bytes(content)
    path.chmod(0o600)
    with pytest.raises(DataError, match="not a key of discreet"):
        dc.anonymize("people.csv", **ASKED, output="safe.csv", key="my.key")
    assert path.read_bytes() == content
    assert not (folder / "safe.csv").exists()


def test_a_key_that_cannot_be_made_is_an_error_only_if_it_was_named(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "file").write_text("no folder")
    monkeypatch.setenv("XDG_STATE_HOME", str(folder / "file"))
    release = dc.anonymize("people.csv", **ASKED, output="safe.csv")
    release.certificate("certificate.json")
    found = dc.verify("safe.csv", "certificate.json")
    assert found.passed
    assert "the original file" not in dict(found.files)
    release.report("report.html")
    release.write("more.csv")
    with pytest.raises(OutputError, match="no folder"):
        dc.anonymize("people.csv", **ASKED, output="safe.csv", key="nowhere/my.key")
    with pytest.raises(DiscreetError, match="is a folder"):
        dc.anonymize("people.csv", **ASKED, output="safe.csv", key=str(folder))
    with pytest.raises(DataError, match="There is no key"):
        dc.verify("safe.csv", "certificate.json", key="none.key")


def test_beside_the_mapping_but_not_beside_the_release(folder: Path, own_state: Path) -> None:
    (folder / "kept").mkdir()
    fields = {"input": "people.csv", "output": "safe.csv", "certificate": "c.json", **ASKED}
    Job(**fields, mapping="kept/mapping.json").run()
    assert mode(folder / "kept" / "discreet.key") == 0o600
    assert mode(folder / "kept" / "mapping.json") == 0o600
    assert not (own_state / "discreet").exists()
    Job(**fields, mapping="mapping.json").run()
    assert not (folder / "discreet.key").exists()
    assert (own_state / "discreet" / "discreet.key").exists()
    Job(**fields, key="discreet.key").run()
    assert (folder / "discreet.key").exists()
    assert dc.verify("safe.csv", "c.json", key="discreet.key", original="people.csv").passed


def test_nothing_else_is_written_over_it(folder: Path) -> None:
    with pytest.raises(OutputError, match="overwrite a file that is read"):
        Job(input="people.csv", output="my.csv", key="my.csv", **ASKED).check_targets()


def test_purposes_and_parts_are_told_apart() -> None:
    key = Key(Path("x"), b"\0" * 32)
    assert (
        len({key.sign("a", "b"), key.sign("ab"), key.sign("a", "b", ""), key.sign("", "ab"), key.sign("b", "a")}) == 5
    )
    assert "\\x00" not in repr(key)


def test_without_a_home_there_is_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setenv("XDG_STATE_HOME", "relative")
    monkeypatch.setattr(Path, "home", none)
    assert key_file() is None


@pytest.mark.skipif(os.name != "posix", reason="permissions are those of POSIX")
def test_private_files_are_private_from_their_first_byte(folder: Path) -> None:
    (folder / "old.json").write_text("{}")
    (folder / "old.json").chmod(0o644)
    before = os.umask(0)
    try:
        with replacing(folder / "old.json", private=True) as unfinished:
            assert mode(unfinished) == 0o600
            unfinished.write_text("secret")
        release = dc.anonymize("people.csv", **ASKED, output="safe.csv", key="my.key")
        release.mapping("mapping.json")
        Job(input="people.csv", **ASKED, seed=3).save("job.yaml")
    finally:
        os.umask(before)
    names = ("old.json", "my.key", "discreet.ledger", "mapping.json", "job.yaml")
    assert {name: mode(folder / name) for name in names} == dict.fromkeys(names, 0o600)
