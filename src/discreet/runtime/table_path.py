"""A file together with how to read it: which cells are missing, decimal commas, encodings, dates, sheets.

A :class:`TablePath` is a path like any other to code that only asks where the file is. What opens it asks for its
options too: :mod:`discreet.engines.files` and, separately, the readers of the audit.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from discreet.errors import Argument, UsageError

__all__ = ["ReadOptions", "TablePath", "options_of", "split_sheet", "table"]

_SHEET = re.compile(r"(.+\.xlsx)#([^/\\]+)", re.IGNORECASE | re.DOTALL)
_DATE_PARTS = (("%Y", "%y"), ("%m", "%b", "%B"), ("%d", "%e"))
_UTF8 = ("utf-8", "utf-8-sig")


@dataclass(frozen=True)
class ReadOptions:
    """How to read a file. Fields are described at :func:`table`."""

    na: tuple[str, ...] = ()
    decimal: str = "."
    encoding: str | None = None
    date_format: str | None = None
    sheet: str | None = None
    missing_codes: str = "keep"

    @classmethod
    def make(cls, given: dict[str, Any]) -> ReadOptions:
        """Check options, some of which may be left out.

        >>> ReadOptions.make({"na": "NA", "decimal": ","}).to_dict()
        {'na': ['NA'], 'decimal': ','}
        """
        known = {item.name: given[item.name] for item in fields(cls) if given.get(item.name) is not None}
        na = known.get("na", ())
        known["na"] = (na,) if isinstance(na, str) else tuple(na) if isinstance(na, Sequence) else na
        options = cls(**known)
        options._check()
        return options

    def to_dict(self) -> dict[str, Any]:
        """Return the options that differ from the defaults, as in a job file."""
        plain = ReadOptions()
        given = {item.name: getattr(self, item.name) for item in fields(self)}
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in given.items()
            if value != getattr(plain, name)
        }

    @property
    def changes_text(self) -> bool:
        """Whether cells of text are read as something else than they are."""
        return bool(self.na) or self.decimal != "." or self.date_format is not None

    @property
    def utf8(self) -> bool:
        """Whether text is in UTF-8."""
        return self.encoding is None or codecs.lookup(self.encoding).name in _UTF8

    def _check(self) -> None:
        if not isinstance(self.na, tuple) or not all(isinstance(text, str) for text in self.na):
            raise UsageError(
                "na is a list of texts that mean a missing value, as in ['NA', '?', '-1'].", topic="read-options"
            )
        if self.decimal not in (".", ","):
            raise UsageError(
                f"The decimal mark is '.' or ',', not {self.decimal!r}; leave ",
                Argument("decimal"),
                " out for a point.",
                topic="read-options",
            )
        if self.missing_codes not in ("keep", "missing"):
            raise UsageError(f"missing_codes is keep or missing, not {self.missing_codes!r}.", topic="read-options")
        for name in ("encoding", "date_format", "sheet"):
            value = getattr(self, name)
            if value is not None and not (isinstance(value, str) and value):
                raise UsageError(f"{name} is a text, not {value!r}.", topic="read-options")
        self._check_encoding()
        self._check_date_format()

    def _check_encoding(self) -> None:
        try:
            is_text = self.encoding is None or codecs.lookup(self.encoding)._is_text_encoding
        except (LookupError, ValueError):  # the name has a zero byte, or letters no encoding has
            is_text = False
        if not is_text:
            raise UsageError(
                f"There is no encoding '{self.encoding}'; name one such as utf-8, latin1, cp1252 or utf-16.",
                topic="read-options",
            )

    def _check_date_format(self) -> None:
        form = self.date_format
        if form is not None and not all(any(part in form for part in parts) for parts in _DATE_PARTS):
            raise UsageError(
                f"The date format '{form}' does not say where day, month and year are; write it as in %d.%m.%Y or "
                "%m/%d/%Y.",
                topic="read-options",
            )


class TablePath(PathLike[str]):
    """The path of a table, and how to read it."""

    def __init__(self, path: str | PathLike[str], options: ReadOptions) -> None:
        self.path = fspath(path)
        self.options = options

    def __fspath__(self) -> str:
        return self.path

    def __repr__(self) -> str:
        options = "".join(f", {name}={value!r}" for name, value in self.options.to_dict().items())
        return f"table({self.path!r}{options})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TablePath) and (self.path, self.options) == (other.path, other.options)

    def __hash__(self) -> int:
        return hash((self.path, self.options))


def table(
    path: str | PathLike[str],
    *,
    na: str | Sequence[str] = (),
    decimal: str = ".",
    encoding: str | None = None,
    date_format: str | None = None,
    sheet: str | None = None,
    missing_codes: str = "keep",
) -> TablePath:
    """Say how to read a file; the result can be given wherever the path of a table can.

    Parameters
    ----------
    path
        The file, or a folder or pattern of files that are all read alike.
    na
        Texts that mean a missing value, besides empty ones: ``["NA", "?", "-1"]``. In a column of numbers, those of
        them that are numbers.
    decimal
        The decimal mark of numbers in text: ``","`` reads ``1.234,5`` as 1234.5.
    encoding
        The encoding of text that is not UTF-8, such as ``latin1``, ``cp1252`` or ``utf-16``.
    date_format
        How dates are written, if not as in 2026-12-31: ``"%d.%m.%Y"``. Columns in which all values are such dates are
        read as dates.
    sheet
        The sheet of an Excel file, by its name; the first one otherwise. ``people.xlsx#2024`` is the same.
    missing_codes
        Codes that an SPSS file declares as missing: ``keep`` them as values, or read them as ``missing``.

    >>> table("people.csv", na=["NA", "?"], decimal=",")
    table('people.csv', na=['NA', '?'], decimal=',')

    """
    given = {
        "na": na,
        "decimal": decimal,
        "encoding": encoding,
        "date_format": date_format,
        "sheet": sheet,
        "missing_codes": missing_codes,
    }
    return TablePath(path, ReadOptions.make(given))


def options_of(location: object) -> ReadOptions:
    """Return how to read a file: the options of a :class:`TablePath`, and the defaults for other paths."""
    return location.options if isinstance(location, TablePath) else ReadOptions()


def split_sheet(location: str | PathLike[str]) -> tuple[Path, str | None]:
    """Return the file of a location and, for ``people.xlsx#2024``, the name of the sheet.

    >>> split_sheet("data/people.xlsx#2024")
    (PosixPath('data/people.xlsx'), '2024')
    """
    path = Path(location)
    found = _SHEET.fullmatch(fspath(location))
    return (path, None) if found is None or path.exists() else (Path(found[1]), found[2])
