"""Which files a release was made from and written to, and their SHA-256."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from os import PathLike
from pathlib import Path
from typing import Any

from discreet._places import is_url
from discreet.engines import files_of
from discreet.errors import DataError

__all__ = ["FileStamp", "digest", "job_text"]

_PLACES = ("input", "population", "output", "report", "certificate", "mapping", "key")
_SILENT = (*_PLACES, "time_limit", "engine", "memory_limit", "spark")
"""What a job says about where files are and what may work on them, which does not change what it asks for."""


@dataclass(frozen=True)
class FileStamp:
    """A table in one file or several, as they were when they were read or written."""

    name: str
    files: tuple[tuple[Path, int, int], ...]
    """Each file, its size and when it was changed."""

    @classmethod
    def of(cls, place: Any) -> FileStamp | None:
        """Remember the files a place stands for as they are now; None for a frame or a table of a database."""
        if not isinstance(place, str | PathLike) or is_url(place):
            return None
        files = [(path.resolve(), path.stat()) for path in sorted(files_of(place))]
        return cls(Path(place).name, tuple((path, facts.st_size, facts.st_mtime_ns) for path, facts in files))

    @property
    def unchanged(self) -> bool:
        """Whether the files are still what they were."""
        return all(_unchanged(*file) for file in self.files)

    def digest(self) -> str:
        """Return the SHA-256 of the files, which must still be what they were.

        That of the input is never handed over: it would let others test guesses about the table.
        """
        if not self.unchanged:
            raise DataError(
                f"'{self.name}' was changed or moved after the release was made, so that it cannot be certified; "
                "make the release again.",
                topic="certificate",
            )
        return _together([(file[0], _digest(*file)) for file in self.files])


def digest(place: str | PathLike[str]) -> str:
    """Return the SHA-256 of a file, or that of the list of the SHA-256 of several."""
    return _together([(path, _digest(path, 0, 0)) for path in sorted(files_of(place))])


def _unchanged(path: Path, size: int, changed: int) -> bool:
    try:
        facts = path.stat()
    except OSError:
        return False
    return (facts.st_size, facts.st_mtime_ns) == (size, changed)


def _together(digests: list[tuple[Path, str]]) -> str:
    if len(digests) == 1:
        return digests[0][1]
    lines = "".join(f"{found}  {path.name}\n" for path, found in digests)
    return hashlib.sha256(lines.encode()).hexdigest()


def _digest(path: Path, size: int, changed: int) -> str:
    """Return the SHA-256 of a file, which is computed once for each state of it."""
    return _read(path) if not changed else _remembered(path, size, changed)


@lru_cache(maxsize=64)
def _remembered(path: Path, size: int, changed: int) -> str:
    return _read(path)


def _read(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def job_text(job: Mapping[str, Any], *, without: Sequence[str] = ()) -> str:
    """Return what a job asks for in one order, without what is empty and where its files are.

    >>> job_text({"privacy": ["k(5)"], "input": "a.csv"}) == job_text({"input": "b.csv", "privacy": ["k(5)"]})
    True
    """
    silent = (*_SILENT, *without)
    told = {key: _named(value) for key, value in job.items() if key not in silent and value not in (None, [], {}, ())}
    return json.dumps(told, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str)


def _named(value: Any) -> Any:
    """Return files by their names: a folder may be moved."""
    if isinstance(value, Mapping):
        return {str(key): _named(item) for key, item in value.items()}
    if isinstance(value, str) and "/" in value and "(" not in value:
        return Path(value).name
    return value
