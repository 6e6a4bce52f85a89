"""The ledger of releases: which tables were released before, kept beside the owner's key.

Two releases of one table can be combined against the people in it, however safe each is by itself. The ledger has a
line for each release that was written. It holds inputs, choices and outputs only as HMACs of fingerprints: digests of
evenly spaced blocks or rows, enough to recognize a table without reading all of it.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from discreet.job.files import FileStamp
from discreet.runtime.atomic_write import fcntl
from discreet.runtime.locations import is_url
from discreet.runtime.plurals import amount

if TYPE_CHECKING:
    from discreet.job.owner_key import Key

__all__ = [
    "LEDGER_FILE",
    "LedgerEntry",
    "entries_beside",
    "fingerprint",
    "fingerprint_files",
    "fingerprint_frame",
    "make_entry",
    "record",
    "released_before",
    "two_releases",
]

LEDGER_FILE = "discreet.ledger"
_BLOCK = 1 << 16
_BLOCKS = 64
_ROWS = 2_000


@dataclass(frozen=True)
class LedgerEntry:
    """One release: HMACs of its input, its choices and its output, the name of the file, and the time.

    The seed counts as a choice only if the search drew random numbers: the same rows in another order are the same
    release. Of several tables that were released together, ``tables`` has the HMAC of each.
    """

    input: str
    choices: str
    output: str | None
    name: str | None
    time: str
    tables: tuple[str, ...] = ()

    def line(self) -> str:
        """Return the entry as a line of the ledger."""
        fields = asdict(self)
        return json.dumps(fields if self.tables else {name: fields[name] for name in fields if name != "tables"})

    @property
    def read(self) -> set[str]:
        """The HMACs of all that was read: the input, and each of several tables."""
        return {self.input, *self.tables}

    def repeats(self, other: LedgerEntry) -> bool:
        """Whether this is the same release as another that read a table of it too."""
        if self.output is not None and self.output == other.output:
            return True
        return self.input == other.input and self.choices == other.choices


def make_entry(key: Key, tables: Sequence[Any], choices: str, output: Any = None) -> LedgerEntry | None:
    """Return the entry of a release of one table or several; None if none of them could be recognized again."""
    prints = [found for found in map(fingerprint, tables) if found is not None]
    if not prints:
        return None
    wrote = None if output is None or is_url(output) else FileStamp.of(output)
    content = None if wrote is None else fingerprint_files(wrote.paths)
    return LedgerEntry(
        input=key.sign("ledger: input", " ".join(prints)),
        choices=key.sign("ledger: choices", choices),
        output=None if content is None else key.sign("ledger: output", content),
        name=None if wrote is None else wrote.name,
        time=datetime.now(UTC).isoformat(timespec="seconds"),
        tables=tuple(key.sign("ledger: input", each) for each in prints) if len(tables) > 1 else (),
    )


def record(key: Key, entry: LedgerEntry) -> list[LedgerEntry]:
    """Append an entry, and return the earlier, different releases of the same input, or of a table of it.

    A ledger that cannot be written is ignored: it is a help, and no reason to fail.
    """
    with suppress(OSError):
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND
        with os.fdopen(os.open(_ledger_of(key), flags, 0o600), "rb+") as stream:
            if fcntl is not None:
                os.fchmod(stream.fileno(), 0o600)
                with suppress(OSError):  # a file system without locks
                    fcntl.flock(stream.fileno(), fcntl.LOCK_EX)
            stream.seek(0)
            content = stream.read()
            torn = b"\n" if content and not content.endswith(b"\n") else b""  # left by a process that was killed
            entries = _parse(content)
            if (entry.input, entry.choices, entry.output) not in {(e.input, e.choices, e.output) for e in entries}:
                stream.write(torn + entry.line().encode() + b"\n")
                stream.flush()
                os.fsync(stream.fileno())
            return [other for other in entries if other.read & entry.read and not entry.repeats(other)]
    return []


def entries_beside(key: Path) -> list[LedgerEntry]:
    """Return the entries of the ledger beside a key file; none where there is no ledger."""
    with suppress(OSError):
        return _parse(key.with_name(LEDGER_FILE).read_bytes())
    return []


def released_before(key: Key, tables: Sequence[Any]) -> str | None:
    """Return a warning for the owner if tables were released before, for use before any work is done."""
    signed = {key.sign("ledger: input", found) for found in map(fingerprint, tables) if found is not None}
    times = [entry.time for entry in entries_beside(key.path) if entry.read & signed]
    if not times:
        return None
    return (
        f"This table was released before, last on {max(times)[:10]}. Unless this job repeats that release with "
        "the same choices and seed, anyone who gets both can combine them and learn more than either promises."
    )


def two_releases(others: list[LedgerEntry]) -> str | None:
    """Return a warning for the owner about earlier releases of the same input; None if there are none."""
    if not others:
        return None
    last = max(others, key=lambda entry: entry.time)
    name = "" if last.name is None else f" as '{last.name}'"
    more = f" ({amount(len(others), 'different release')} so far)" if len(others) > 1 else ""
    return (
        f"THIS TABLE WAS RELEASED BEFORE with other choices, on {last.time[:10]}{name}{more}. Anyone who gets both can "
        "combine them and learn more than either promises. Hand over only one; to repeat a release, run its job again "
        "with the same seed."
    )


def _ledger_of(key: Key) -> Path:
    return key.path.with_name(LEDGER_FILE)


def _parse(content: bytes) -> list[LedgerEntry]:
    """Read the lines of a ledger, skipping what is no entry."""
    entries = []
    for line in content.splitlines():
        with suppress(ValueError, TypeError, AttributeError):
            fields = json.loads(line)
            entry = LedgerEntry(**{**fields, "tables": tuple(fields.get("tables", ()))})
            if all(isinstance(value, str) for value in (entry.input, entry.choices, entry.time, *entry.tables)):
                entries.append(entry)
    return entries


def fingerprint(table: Any) -> str | None:
    """Return a digest of a table: a location of files, a stamp of them, or a frame in memory; None for others."""
    stamp = table if isinstance(table, FileStamp) else FileStamp.of(table)
    return fingerprint_frame(table) if stamp is None else fingerprint_files(stamp.paths)


def fingerprint_files(files: Sequence[Path]) -> str | None:
    """Return a digest of the sizes and of evenly spaced blocks of files; None if one cannot be read.

    A fingerprint is as secret as the table.
    """
    found = hashlib.sha256()
    block, blocks = (_BLOCK, _BLOCKS) if len(files) == 1 else (_BLOCK // 16, max(_BLOCKS // len(files), 2))
    try:
        for path in files:
            size = path.stat().st_size
            found.update(f"{size}\n".encode())
            with path.open("rb") as stream:
                for start in sorted({max(size - block, 0) * number // (blocks - 1) for number in range(blocks)}):
                    stream.seek(start)
                    found.update(stream.read(block))
    except OSError:
        return None
    return found.hexdigest()


def fingerprint_frame(data: Any) -> str | None:
    """Return a digest of the shape and of evenly spaced rows of a frame in memory; None for other data."""
    rows = _some_rows(data)
    if rows is None:
        return None
    try:
        sizes = [len(data), *rows.schema.names(), *map(str, rows.schema.dtypes())]
        text = repr(sizes) + repr(rows.rows())
    except (TypeError, ValueError, pl.exceptions.PolarsError):  # pragma: no cover - values without a repr
        return None
    return hashlib.sha256(text.encode(errors="backslashreplace")).hexdigest()


def _some_rows(data: Any) -> pl.DataFrame | None:
    """Return evenly spaced rows of a polars, pandas or pyarrow frame, the first and the last among them."""
    module = type(data).__module__.partition(".")[0]
    try:
        if isinstance(data, pl.DataFrame):
            return data[_row_numbers(len(data))]
        if module == "pandas" and hasattr(data, "iloc"):
            return pl.DataFrame(pl.from_pandas(data.iloc[_row_numbers(len(data))]))
        if module == "pyarrow" and hasattr(data, "take"):
            found = pl.from_arrow(data.take(_row_numbers(len(data))))
            return found if isinstance(found, pl.DataFrame) else None
    except Exception:
        return None
    return None


def _row_numbers(rows: int) -> list[int]:
    return np.unique(np.linspace(0, max(rows - 1, 0), _ROWS).astype(np.int64)).tolist() if rows else []
