"""Errors for files that cannot be read: a mistyped name, a format of another program, an encoding other than UTF-8.

Each is one sentence with the way out. The files themselves are not opened here.
"""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from pathlib import Path

from discreet.errors import Argument, DataError, UsageError, did_you_mean

__all__ = ["encoding_of", "no_such_file", "not_utf8", "unknown_format", "without_text"]

_FOREIGN: dict[str, tuple[str, str]] = {
    ".rds": ("an R file", "write.csv(readRDS('{name}'), '{stem}.csv', row.names = FALSE)"),
    ".rdata": ("an R file", "write.csv(TABLE, '{stem}.csv', row.names = FALSE)"),
    ".pkl": ("a pickle", "pandas.read_pickle('{name}').to_parquet('{stem}.parquet')"),
    ".feather": ("a Feather file", "pandas.read_feather('{name}').to_parquet('{stem}.parquet')"),
    ".json": ("JSON, which may be nested", "polars.read_json('{name}').write_ndjson('{stem}.jsonl')"),
    ".xls": ("an old Excel file", "File > Save As > {stem}.xlsx"),
    ".xlsm": ("an Excel file with macros", "File > Save As > {stem}.xlsx"),
    ".xlsb": ("a binary Excel file", "File > Save As > {stem}.xlsx"),
    ".ods": ("a spreadsheet of LibreOffice", "File > Save As > {stem}.xlsx"),
}
"""Formats of other programs by suffix: what they are, and how that program saves one that can be read."""
_DATABASES = {".db": "sqlite", ".sqlite": "sqlite", ".sqlite3": "sqlite", ".duckdb": "duckdb"}
_MARKS = {
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}
_HEAD = 4096


def no_such_file(path: Path, what: str = "file") -> DataError:
    """Return the error for a file that does not exist, with the name in its folder that is most like it."""
    folder = path.parent
    if not folder.is_dir():
        hint = f"there is no folder '{folder}'."
    else:
        try:
            names = [entry.name for entry in folder.iterdir() if not entry.name.startswith(".")]
        except OSError:
            names = []
        similar = _similar(path.name, names)
        hint = f"did you mean '{folder / similar}'?" if similar else "check the path."
    return DataError(f"There is no {what} '{path}'; {hint}", topic="no-such-file")


def _similar(name: str, names: Sequence[str]) -> str:
    """Return the name that is most like another: the same up to its suffix, or mistyped."""
    stems = {Path(found).stem.lower(): found for found in sorted(names, reverse=True)}
    same = {found.lower(): found for found in names} | {stem: stems[stem] for stem in stems if stem == name.lower()}
    stem = Path(name).stem
    hint = did_you_mean(stem, stems).removeprefix("did you mean '").removesuffix("'?")
    return same.get(name.lower()) or stems.get(stem.lower()) or stems.get(hint, "")


def unknown_format(path: Path, suffixes: Sequence[str]) -> UsageError:
    """Return the error for a file whose name does not end like one of the formats that can be read.

    >>> print(unknown_format(Path("x.xls"), [".csv"]).message)
    'x.xls' is an old Excel file, which cannot be read here; save it as xlsx first, as in: File > Save As > x.xlsx.
    """
    suffix = path.suffix.lower()
    if suffix in _FOREIGN:
        what, command = _FOREIGN[suffix]
        command = command.format(name=path.name, stem=path.stem)
        target = next((kind for end, kind in _TARGETS.items() if end in command), "CSV")
        return UsageError(
            f"'{path.name}' is {what}, which cannot be read here; save it as {target} first, as in: {command}.",
            topic="file-format",
        )
    if suffix in _DATABASES:
        return UsageError(
            f"'{path.name}' is a database; name a table in it, as in {_DATABASES[suffix]}:///{path}?table=people.",
            topic="database-url",
        )
    return UsageError(
        f"The name '{path.name}' does not say which format it is; end it in {', '.join(suffixes)}, "
        "or one of the text formats in .gz, .zst or .bz2.",
        topic="file-format",
    )


_TARGETS = {".csv": "CSV", ".parquet": "Parquet", ".jsonl": "JSON lines", ".xlsx": "xlsx"}


def encoding_of(start: bytes) -> str:
    r"""Guess the encoding of text that is not UTF-8, given its first bytes.

    >>> encoding_of("age,sex".encode("utf-16-le")), encoding_of("naïve".encode("cp1252"))
    ('UTF-16LE', 'WINDOWS-1252')
    """
    for mark, name in _MARKS.items():
        if start.startswith(mark):
            return name
    even, odd = start[0:_HEAD:2], start[1:_HEAD:2]
    if odd and odd.count(0) > len(odd) // 2 > even.count(0):
        return "UTF-16LE"
    if even and even.count(0) > len(even) // 2 > odd.count(0):
        return "UTF-16BE"
    return "WINDOWS-1252"


def not_utf8(path: Path, start: bytes | None = None, *, is_table: bool = True) -> DataError:
    """Return the error for text in another encoding, which is guessed from the first bytes.

    The encoding of a table can be named; other files have to be converted.
    """
    encoding = encoding_of(_start(path) if start is None else start)
    wrong = "is not UTF-8" if encoding == "WINDOWS-1252" else f"is {encoding} and not UTF-8"
    if is_table and path.suffix.lower() != ".zst":
        return DataError(
            f"'{path.name}' {wrong}; name its encoding with ",
            Argument("encoding", encoding.lower()),
            ", or save it as UTF-8.",
            topic="file-format",
        )
    return DataError(
        f"'{path.name}' {wrong}; convert it first, as in: iconv -f {encoding} -t UTF-8 '{path.name}' > "
        f"'utf8-{path.name}'.",
        topic="file-format",
    )


def without_text(path: Path, start: bytes | None = None) -> DataError:
    """Return the error for a file with zero bytes: text in UTF-16, or no text at all."""
    start = _start(path) if start is None else start
    if encoding_of(start) != "WINDOWS-1252":
        return not_utf8(path, start)
    return DataError(
        f"'{path.name}' holds zero bytes, so it is no text; remove them or export it anew.", topic="file-format"
    )


def _start(path: Path) -> bytes:
    try:
        with path.open("rb") as stream:
            return stream.read(_HEAD)
    except OSError:
        return b""
