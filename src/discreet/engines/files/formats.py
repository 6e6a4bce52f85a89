"""The file formats, recognized by the suffix of the name."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from discreet.errors import UsageError
from discreet.runtime.unreadable_files import unknown_format

if TYPE_CHECKING:
    from discreet.engines.files.dictionary import Dictionary

__all__ = ["STATISTICS", "SUFFIXES", "Format", "FormatKind", "StatisticsKind", "format_of"]

StatisticsKind = Literal["sav", "zsav", "por", "dta", "xpt", "sas7bdat"]
FormatKind = Literal["csv", "parquet", "jsonl", "xlsx"] | StatisticsKind
Compression = Literal["none", "gzip", "zstd", "bz2"]

_KINDS: dict[str, tuple[FormatKind, str | None]] = {
    ".csv": ("csv", None),
    ".tsv": ("csv", "\t"),
    ".parquet": ("parquet", None),
    ".jsonl": ("jsonl", None),
    ".ndjson": ("jsonl", None),
    ".xlsx": ("xlsx", None),
    ".sav": ("sav", None),
    ".zsav": ("zsav", None),
    ".por": ("por", None),
    ".dta": ("dta", None),
    ".xpt": ("xpt", None),
    ".sas7bdat": ("sas7bdat", None),
}
STATISTICS: tuple[StatisticsKind, ...] = get_args(StatisticsKind)
"""The formats of SPSS, Stata and SAS."""
_COMPRESSIONS: dict[str, Compression] = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2"}

SUFFIXES = tuple(_KINDS)
"""The suffixes of the formats; text formats may be followed by .gz, .zst or .bz2."""


@dataclass(frozen=True)
class Format:
    """A file format; a ``separator`` of None is sniffed when reading and a comma when writing."""

    kind: FormatKind
    compression: Compression = "none"
    separator: str | None = None
    crlf: bool = field(default=False, repr=False)
    """Whether lines of text end as on Windows."""
    bom: bool = field(default=False, repr=False)
    """Whether text begins with a byte order mark, by which Excel knows UTF-8."""
    dictionary: Dictionary | None = field(default=None, repr=False, compare=False)
    """Labels, formats and missing-value codes of a file of SPSS, Stata or SAS."""

    def like(self, other: Format) -> Format:
        """Return this format with what another file of its kind has: separator, line ends, labels."""
        if self.kind == "csv" and other.kind == "csv":
            return replace(self, separator=self.separator or other.separator, crlf=other.crlf, bom=other.bom)
        return replace(self, dictionary=other.dictionary) if self.kind in STATISTICS else self


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
