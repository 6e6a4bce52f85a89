"""The ledger of releases: which inputs were released before, kept beside the owner's key.

Two releases of one table can be combined against the people in it, however safe each is by itself. The ledger holds a
line for each release that was written. Inputs, choices and outputs are in it as HMACs alone.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet._places import is_url
from discreet._replacing import fcntl
from discreet._words import amount
from discreet.release._checksums import FileStamp
from discreet.release._fingerprint import fingerprint_files, fingerprint_frame

if TYPE_CHECKING:
    from discreet.release._key import Key

__all__ = ["LEDGER_FILE", "Entry", "entries_beside", "make_entry", "record", "released_before", "two_releases"]

LEDGER_FILE = "discreet.ledger"


@dataclass(frozen=True)
class Entry:
    """One release: HMACs of its input, its choices and what was written, the name of that file, and when.

    The seed is one of the choices only where the search drew random numbers: another order of the same rows is the same
    release.
    """

    input: str
    choices: str
    output: str | None
    name: str | None
    time: str

    def line(self) -> str:
        """Return the entry as a line of the ledger."""
        return json.dumps(asdict(self))

    def repeats(self, other: Entry) -> bool:
        """Whether this is the same release as another of the same input."""
        return self.choices == other.choices or (self.output is not None and self.output == other.output)


def make_entry(key: Key, data: Any, read: FileStamp | None, choices: str, output: Any = None) -> Entry | None:
    """Return the entry of a release of some data to a place; None where the input cannot be recognized again."""
    found = fingerprint_frame(data) if read is None else fingerprint_files([file for file, _, _ in read.files])
    if found is None:
        return None
    wrote = None if output is None or is_url(output) else FileStamp.of(output)
    content = None if wrote is None else fingerprint_files([file for file, _, _ in wrote.files])
    return Entry(
        input=key.sign("ledger: input", found),
        choices=key.sign("ledger: choices", choices),
        output=None if content is None else key.sign("ledger: output", content),
        name=None if wrote is None else wrote.name,
        time=datetime.now(UTC).isoformat(timespec="seconds"),
    )


def record(key: Key, entry: Entry) -> list[Entry]:
    """Append an entry, and return the earlier ones of the same input that are other releases.

    A ledger that cannot be written is left alone: it is a help, and no reason to fail.
    """
    with suppress(OSError):
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND
        with os.fdopen(os.open(_place(key), flags, 0o600), "rb+") as stream:
            if fcntl is not None:
                os.fchmod(stream.fileno(), 0o600)
                with suppress(OSError):  # a file system without locks
                    fcntl.flock(stream.fileno(), fcntl.LOCK_EX)
            stream.seek(0)
            content = stream.read()
            torn = b"\n" if content and not content.endswith(b"\n") else b""  # by somebody who was killed
            known = _entries(content)
            if (entry.input, entry.choices, entry.output) not in {
                (one.input, one.choices, one.output) for one in known
            }:
                stream.write(torn + entry.line().encode() + b"\n")
                stream.flush()
                os.fsync(stream.fileno())
            return _others(known, entry)
    return []


def entries_beside(key: Path) -> list[Entry]:
    """Return what the ledger beside the file of a key holds; nothing where there is none."""
    with suppress(OSError):
        return _entries(key.with_name(LEDGER_FILE).read_bytes())
    return []


def released_before(key: Key, read: FileStamp) -> str | None:
    """Return what to tell the owner about earlier releases of files before any work is done, if there are any."""
    found = fingerprint_files([file for file, _, _ in read.files])
    with suppress(OSError):
        known = _entries(_place(key).read_bytes())
        signed = None if found is None else key.sign("ledger: input", found)
        times = [one.time for one in known if one.input == signed]
        if times:
            return (
                f"This table was released before, last on {max(times)[:10]}. Unless this job repeats that release with "
                "the same choices and seed, whoever gets both can combine them and learn more than either promises."
            )
    return None


def two_releases(others: list[Entry]) -> str | None:
    """Return what to tell the owner about earlier releases of the same input; None if there are none."""
    if not others:
        return None
    last = max(others, key=lambda one: one.time)
    name = "" if last.name is None else f" as '{last.name}'"
    more = f" ({amount(len(others), 'different release')} so far)" if len(others) > 1 else ""
    return (
        f"THIS TABLE WAS RELEASED BEFORE with other choices, on {last.time[:10]}{name}{more}. Whoever gets both can "
        "combine them and learn more than either promises. Hand over only one; to repeat a release, run its job again "
        "with the same seed."
    )


def _place(key: Key) -> Path:
    return key.path.with_name(LEDGER_FILE)


def _others(known: list[Entry], entry: Entry) -> list[Entry]:
    return [one for one in known if one.input == entry.input and not entry.repeats(one)]


def _entries(content: bytes) -> list[Entry]:
    """Read the lines of a ledger; what is no entry is skipped."""
    found = []
    for line in content.splitlines():
        with suppress(ValueError, TypeError):
            fields = json.loads(line)
            entry = Entry(**fields)
            if all(isinstance(value, str) for value in (entry.input, entry.choices, entry.time)):
                found.append(entry)
    return found
