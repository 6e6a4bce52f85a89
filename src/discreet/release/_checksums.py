"""Which files a release was made from and written to, and their SHA-256."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from discreet.errors import DataError

__all__ = ["FileStamp", "digest", "job_digest"]

_SILENT = ("input", "output", "report", "certificate", "mapping", "time_limit")
"""What a job says about where files are and how long to search, which does not change what it asks for."""


@dataclass(frozen=True)
class FileStamp:
    """A file as it was when it was read or written."""

    path: Path
    size: int
    changed: int

    @classmethod
    def of(cls, path: Path) -> FileStamp:
        """Remember a file as it is now."""
        facts = path.stat()
        return cls(path.resolve(), facts.st_size, facts.st_mtime_ns)

    def facts(self) -> dict[str, Any]:
        """Return the name, size and SHA-256 of the file, which must still be what it was."""
        try:
            same = FileStamp.of(self.path) == self
        except OSError:
            same = False
        if not same:
            raise DataError(
                f"'{self.path.name}' was changed or moved after the release was made, so that it cannot be certified; "
                "make the release again."
            )
        return {"name": self.path.name, "bytes": self.size, "sha256": _digest(self.path, self.size, self.changed)}


def digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@lru_cache(maxsize=8)
def _digest(path: Path, size: int, changed: int) -> str:
    return digest(path)


def job_digest(job: Mapping[str, Any]) -> str:
    """Return the SHA-256 of what a job asks for, in one order, without what is empty and where its files are.

    >>> job_digest({"privacy": ["k(5)"], "input": "a.csv"}) == job_digest({"input": "b.csv", "privacy": ["k(5)"]})
    True
    """
    told = {key: _named(value) for key, value in job.items() if key not in _SILENT and value not in (None, [], {}, ())}
    text = json.dumps(told, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def _named(value: Any) -> Any:
    """Return files by their names: a folder may be moved."""
    if isinstance(value, Mapping):
        return {str(key): _named(item) for key, item in value.items()}
    if isinstance(value, str) and value.lower().endswith((".csv", ".csv.gz")):
        return Path(value).name
    return value
