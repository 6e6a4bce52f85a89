"""The files a job reads and writes: where they are, whether they changed, and their SHA-256."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from os import PathLike
from pathlib import Path
from typing import Any

from discreet.engines import files_of
from discreet.errors import DataError
from discreet.runtime.locations import TableLocation, TableUrl, is_url

__all__ = ["FileStamp", "digest", "files_at"]


@dataclass(frozen=True)
class FileStamp:
    """The files of a table, with size and modification time, to detect changes."""

    name: str
    files: tuple[tuple[Path, int, int], ...]
    """Path, size in bytes and modification time in nanoseconds."""

    @classmethod
    def of(cls, location: Any) -> FileStamp | None:
        """Stamp the files at a location; None for a frame or a table of a database."""
        if not isinstance(location, str | PathLike) or is_url(location):
            return None
        files = [(path.resolve(), path.stat()) for path in sorted(files_of(location))]
        return cls(Path(location).name, tuple((path, facts.st_size, facts.st_mtime_ns) for path, facts in files))

    @classmethod
    def of_all(cls, locations: Sequence[Any]) -> FileStamp | None:
        """Stamp the files of several tables; None if one of them is no file."""
        stamps = [stamp for stamp in map(cls.of, locations) if stamp is not None]
        if len(stamps) < len(locations):
            return None
        return cls(", ".join(stamp.name for stamp in stamps), tuple(file for stamp in stamps for file in stamp.files))

    @property
    def paths(self) -> list[Path]:
        """The files, without their stamps."""
        return [path for path, *_ in self.files]

    @property
    def unchanged(self) -> bool:
        """Whether the files still have the same size and modification time."""
        return all(_unchanged(*file) for file in self.files)

    def digest(self) -> str:
        """Return the SHA-256 of the files, which must be unchanged.

        The digest of the input is never handed over: it would let others test guesses about the table.
        """
        if not self.unchanged:
            raise DataError(
                f"'{self.name}' was changed or moved after the release was made, so that it cannot be certified; "
                "make the release again.",
                topic="certificate",
            )
        return _combined([(path, _sha256_of_state(path, size, changed)) for path, size, changed in self.files])


def digest(location: str | PathLike[str]) -> str:
    """Return the SHA-256 of a file; of several, that of the list of their digests."""
    return _combined([(path, _sha256(path)) for path in sorted(files_of(location))])


def files_at(location: TableLocation) -> list[Path]:
    """Return the files at a location: those of a table, or the file of a database."""
    if isinstance(location, str) and is_url(location):
        path = TableUrl.parse(location).path
        return [] if path is None else [path]
    return files_of(location)


def _unchanged(path: Path, size: int, changed: int) -> bool:
    try:
        facts = path.stat()
    except OSError:
        return False
    return (facts.st_size, facts.st_mtime_ns) == (size, changed)


def _combined(digests: list[tuple[Path, str]]) -> str:
    if len(digests) == 1:
        return digests[0][1]
    lines = "".join(f"{found}  {path.name}\n" for path, found in digests)
    return hashlib.sha256(lines.encode()).hexdigest()


@lru_cache(maxsize=64)
def _sha256_of_state(path: Path, size: int, changed: int) -> str:
    return _sha256(path)


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
