"""Uploads: streamed to disk, and checked before anything reads them as a whole.

A small file can decompress to a huge one, and its headers may lie about that. So the size is measured by decompressing
the file piece by piece and discarding the pieces.
"""

from __future__ import annotations

import bz2
import codecs
import csv
import gzip
import io
import logging
import struct
import zipfile
import zlib
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

import polars as pl

from discreet.engines import STATISTICS, format_of, open_file, reading, size_of_statistics
from discreet.errors import DataError, UsageError
from discreet.runtime.table_path import ReadOptions, TablePath
from discreet.studio._workspace import safe_name

__all__ = ["Limits", "TooLargeError", "admit", "receive_file"]

_PIECE = 1 << 20
logging.getLogger("python_multipart").setLevel(logging.CRITICAL)  # its messages may quote the file
_LOCAL_HEADER = struct.Struct("<4s22xHH")


@dataclass(frozen=True)
class Limits:
    """Limits on uploads and requests."""

    upload: int = 1 << 30
    """Bytes of a file."""
    decompressed: int = 4 << 30
    """Bytes of its content, decompressed."""
    rows: int = 20_000_000
    columns: int = 1_000
    json: int = 32 << 20
    """Bytes of any other request."""


class TooLargeError(DataError):
    """An upload or request exceeds a limit."""


async def receive_file(stream: AsyncIterator[bytes], content_type: str, folder: Path, limits: Limits) -> Path:
    """Write the part ``file`` of a form to a folder, under a safe version of its name."""
    from python_multipart.multipart import MultipartParser, parse_options_header

    kind, options = parse_options_header(content_type)
    if kind != b"multipart/form-data" or b"boundary" not in options:
        raise UsageError("Send a file as a form with one part called 'file'.")
    part = _Part(folder)
    try:
        parser = MultipartParser(options[b"boundary"], part.callbacks())
    except ValueError:  # a boundary longer than any browser makes
        raise UsageError("The upload is malformed; send the file again.") from None
    arrived = 0
    try:
        async for piece in stream:
            arrived += len(piece)
            if arrived > limits.upload + _PIECE:
                raise TooLargeError(_too_large(limits))
            try:
                parser.write(piece)
            except ValueError:  # the message of the parser may quote the file
                raise UsageError("The upload is malformed; send the file again.") from None
    finally:
        part.close()
    if part.path is None or not part.whole:
        raise UsageError("No file arrived, or only part of one; send it again.")
    if part.path.stat().st_size > limits.upload:
        raise TooLargeError(_too_large(limits))
    return part.path


def _too_large(limits: Limits) -> str:
    return (
        f"The file is larger than {_size(limits.upload)}, the limit of the studio; raise it with --max-upload, or use "
        "'discreet anonymize' on the command line."
    )


class _Part:
    """Callbacks of the form parser: the first part called ``file`` is written to disk, others are discarded."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path: Path | None = None
        self.whole = False
        self._stream: io.BufferedWriter | None = None
        self._name, self._value, self._about = b"", b"", b""

    def callbacks(self) -> Any:
        return {
            "on_part_begin": self._begin,
            "on_header_field": self._field,
            "on_header_value": self._text,
            "on_header_end": self._header,
            "on_headers_finished": self._open,
            "on_part_data": self._data,
            "on_part_end": self._end,
        }

    def close(self) -> None:
        if self._stream is not None:
            self._stream.close()
            self._stream = None

    def _begin(self) -> None:
        self._about = b""

    def _field(self, data: bytes, start: int, end: int) -> None:
        self._name += data[start:end]

    def _text(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _header(self) -> None:
        if self._name.lower() == b"content-disposition":
            self._about = self._value
        self._name = self._value = b""

    def _open(self) -> None:
        from python_multipart.multipart import parse_options_header

        _, options = parse_options_header(self._about)
        if options.get(b"name") != b"file" or self.path is not None:
            return
        given = options.get(b"filename", b"").decode("utf-8", errors="replace")
        self.path = self.folder / safe_name(given)
        self._stream = self.path.open("xb")

    def _data(self, data: bytes, start: int, end: int) -> None:
        if self._stream is not None:
            self._stream.write(data[start:end])

    def _end(self) -> None:
        if self._stream is not None:
            self.whole = True
            self.close()


def admit(path: Path, limits: Limits, options: ReadOptions | None = None) -> None:
    """Raise an error for a file that is not a table or exceeds a limit once decompressed."""
    options = options or ReadOptions()
    layout = format_of(path)
    if path.stat().st_size == 0:
        raise DataError(f"'{path.name}' is empty.")
    if layout.compression == "zstd":
        raise UsageError(
            f"'{path.name}' is compressed with zstd, which the studio does not accept; decompress it first."
        )
    with reading(f"'{path.name}'"):
        if layout.kind == "xlsx":
            _measure(_inflated(path), path, limits)
        elif layout.kind == "parquet":
            plan = pl.scan_parquet(path, glob=False)
            _check_rows(plan.select(pl.len()).collect().item(), path, limits)
            _check_decompressed(_text_size(plan), path, limits)
        elif layout.kind in STATISTICS:
            rows, columns = size_of_statistics(path, layout.kind)
            _check_columns(columns, path, limits)
            _check_rows(rows, path, limits)
            _check_decompressed(rows * columns * 8, path, limits)
        else:
            with _decompressed(path, layout.compression) as stream:
                _check_columns(_header_width(stream.readline(_PIECE)) if layout.kind == "csv" else 0, path, limits)
                stream.seek(0)
                text = "text" if options.utf8 else "other text"
                _measure(iter(lambda: stream.read(_PIECE), b""), path, limits, text)
    _check_columns(len(open_file(TablePath(path, options)).columns), path, limits)


def _header_width(line: bytes) -> int:
    """Number of columns in the header of delimited text, by the separator that gives the most."""
    text = line.decode("utf-8", errors="replace")
    try:
        return max(len(next(csv.reader([text], delimiter=mark), ())) for mark in ",;\t|")
    except csv.Error:  # a field longer than any name; the reader of the file reports it
        return 0


def _check_columns(columns: int, path: Path, limits: Limits) -> None:
    if columns > limits.columns:
        raise TooLargeError(
            f"'{path.name}' has {columns:,} columns and the studio accepts at most {limits.columns:,}; remove those "
            "you do not need."
        )


def _decompressed(path: Path, compression: str) -> BinaryIO:
    if compression == "gzip":
        return cast(BinaryIO, gzip.open(path, "rb"))
    return cast(BinaryIO, bz2.open(path, "rb")) if compression == "bz2" else path.open("rb")


def _check_rows(rows: int, path: Path, limits: Limits) -> None:
    if rows > limits.rows:
        raise TooLargeError(
            f"'{path.name}' has {rows:,} rows and the studio accepts at most {limits.rows:,}; use "
            "'discreet anonymize' on the command line."
        )


def _check_decompressed(size: int, path: Path, limits: Limits) -> None:
    if size > limits.decompressed:
        raise TooLargeError(
            f"'{path.name}' decompresses to more than {_size(limits.decompressed)}, the limit of the studio; use "
            "'discreet anonymize' on the command line."
        )


def _text_size(plan: pl.LazyFrame) -> int:
    """Bytes of text in a Parquet file once decoded: a long text stored once may occur in every row."""
    texts = [name for name, dtype in plan.collect_schema().items() if dtype == pl.String]
    if not texts:
        return 0
    sizes = plan.select(pl.col(name).str.len_bytes().cast(pl.UInt64).sum() for name in texts)
    return int(sum(sizes.collect(engine="streaming").row(0)))


def _measure(pieces: Iterator[bytes], path: Path, limits: Limits, what: str = "") -> None:
    """Measure decompressed content; raise an error if it is too large or, for ``text``, not clean UTF-8.

    ``other text`` has another encoding; its reader finds out whether it is the one that was named.
    """
    size = lines = 0
    text = what == "text"
    decoder = codecs.getincrementaldecoder("utf-8")()
    for piece in pieces:
        if text and size == 0 and piece.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            raise DataError(_other_encoding(path))
        size += len(piece)
        _check_decompressed(size, path, limits)
        if text and b"\0" in piece:
            raise DataError(
                f"'{path.name}' contains zero bytes, so it is not text; remove them or export the file again."
            )
        if text and (decoder.getstate()[0] or not piece.isascii()):
            try:
                decoder.decode(piece)
            except UnicodeDecodeError:
                raise DataError(_other_encoding(path)) from None
        lines += piece.count(b"\n") if what else 0
    _check_rows(lines, path, limits)


def _other_encoding(path: Path) -> str:
    return (
        f"'{path.name}' is not UTF-8 text, so letters such as é would be lost; choose its encoding under “How to read "
        "the table”, or save it as 'CSV UTF-8' in a spreadsheet program."
    )


def _inflated(path: Path) -> Iterator[bytes]:
    """Decompress a zip archive piece by piece, trusting its content and not its directory."""
    try:
        with zipfile.ZipFile(path) as archive, path.open("rb") as stream:
            for entry in archive.infolist():
                stream.seek(entry.header_offset)
                mark, name, extra = _LOCAL_HEADER.unpack(stream.read(_LOCAL_HEADER.size))
                if mark != b"PK\x03\x04" or entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                    raise zipfile.BadZipFile
                stream.seek(name + extra, io.SEEK_CUR)
                yield from _entry(stream, entry)
    except (zipfile.BadZipFile, struct.error, zlib.error, NotImplementedError, ValueError):
        raise DataError(f"'{path.name}' is not an Excel file, or it is damaged; save it again.") from None


def _entry(stream: io.BufferedReader, entry: zipfile.ZipInfo) -> Iterator[bytes]:
    left = entry.compress_size
    inflate = zlib.decompressobj(-zlib.MAX_WBITS) if entry.compress_type == zipfile.ZIP_DEFLATED else None
    while left > 0 and (piece := stream.read(min(_PIECE, left))):
        left -= len(piece)
        if inflate is None:
            yield piece
            continue
        while piece:
            yield inflate.decompress(piece, _PIECE)
            piece = inflate.unconsumed_tail


def _size(size: int) -> str:
    for unit, name in ((1 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "kB")):
        if size >= unit:
            return f"{size / unit:.3g} {name}"
    return f"{size} bytes"
