"""The file formats, recognized by the suffix of the name."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from discreet.errors import UsageError
from discreet.runtime.unreadable_files import unknown_format

__all__ = ["SUFFIXES", "Format", "format_of"]

FormatKind = Literal["csv", "parquet", "jsonl", "xlsx"]
Compression = Literal["none", "gzip", "zstd", "bz2"]

_KINDS: dict[str, tuple[FormatKind, str | None]] = {
    ".csv": ("csv", None),
    ".tsv": ("csv", "\t"),
    ".parquet": ("parquet", None),
    ".jsonl": ("jsonl", None),
    ".ndjson": ("jsonl", None),
    ".xlsx": ("xlsx", None),
}
_COMPRESSIONS: dict[str, Compression] = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2"}

SUFFIXES = tuple(_KINDS)
"""The suffixes of the formats; text formats may be followed by .gz, .zst or .bz2."""


@dataclass(frozen=True)
class Format:
    """A file format; a ``separator`` of None is sniffed when reading and a comma when writing."""

    kind: FormatKind
    compression: Compression = "none"
    separator: str | None = None


def format_of(path: Path) -> Format:
    """Return the format of a file, by its name.

    >>> format_of(Path("people.csv.gz"))
    Format(kind='csv', compression='gzip', separator=None)
    """
    suffixes = [suffix.lower() for suffix in path.suffixes]
    compression = _COMPRESSIONS.get(suffixes[-1], "none") if suffixes else "none"
    suffix = suffixes[-1] if suffixes and compression == "none" else (suffixes[-2] if len(suffixes) > 1 else "")
    kind, separator = _KINDS.get(suffix, (None, None))
    if kind is None:
        raise unknown_format(path, SUFFIXES)
    if compression != "none" and kind not in ("csv", "jsonl"):
        raise UsageError(
            f"'{path.name}' cannot be compressed once more; {suffix} files already are, so name it without."
        )
    return Format(kind, compression, separator)
