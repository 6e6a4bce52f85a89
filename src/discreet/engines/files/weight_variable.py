"""The weight variable in the header of an SPSS file, which the library that reads these files leaves out.

The header names it by its position in the list of variable records, in which text of more than eight bytes takes
several places.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

__all__ = ["read_weight", "write_weight"]

_LAYOUT, _WEIGHT, _RECORDS = 64, 76, 176
"""Where the header has the layout code (2, which gives the order of bytes) and the weight, and where records begin."""
_LONG, _SEGMENT = 255, 252
"""Text of more bytes than the first is kept in several variables, of as many as the second."""


def read_weight(path: Path, meta: Any) -> str | None:
    """Return the column that weights the cases of a file; None if there is none."""
    with path.open("rb") as stream:
        content = stream.read(_RECORDS)
        order = _order(content)
        weight = int(struct.unpack_from(f"{order}i", content, _WEIGHT)[0])
        if weight <= 0:
            return None
        places = _record_numbers(content + stream.read(1 << 22), order)
    names = _names(meta.column_names, meta.variable_storage_width, meta.readstat_variable_types)
    return next((name for name, place in zip(names, places, strict=False) if place == weight), None)


def write_weight(path: Path, column: str, widths: dict[str, int]) -> None:
    """Make a column the weight variable of a file; ``widths`` has the bytes of each column, and 0 for numbers."""
    content = path.read_bytes() if path.stat().st_size < 1 << 22 else _start(path)
    order = _order(content)
    names = _names(list(widths), widths, dict.fromkeys(widths, "string"))
    place = next(
        (place for name, place in zip(names, _record_numbers(content, order), strict=False) if name == column), 0
    )
    with path.open("r+b") as stream:
        stream.seek(_WEIGHT)
        stream.write(struct.pack(f"{order}i", place))


def _start(path: Path) -> bytes:
    with path.open("rb") as stream:
        return stream.read(1 << 22)


def _order(content: bytes) -> str:
    return "<" if content[_LAYOUT : _LAYOUT + 4] in (b"\2\0\0\0", b"\3\0\0\0") else ">"


def _record_numbers(content: bytes, order: str) -> list[int]:
    """Return the places of the variables among the variable records, counted from 1."""
    places, place, offset = [], 0, _RECORDS
    while offset + 32 <= len(content):
        record, kind, label, missing = struct.unpack_from(f"{order}4i", content, offset)
        if record != 2:
            break
        place += 1
        if kind >= 0:  # the others continue the text before them
            places.append(place)
        offset += 32
        if label:
            length = struct.unpack_from(f"{order}i", content, offset)[0]
            offset += 4 + (length + 3) // 4 * 4
        offset += 8 * abs(missing)
    return places


def _names(columns: list[str], widths: dict[str, int], types: dict[str, str]) -> list[str]:
    """Return the column of each variable: long text takes several."""
    names = []
    for column in columns:
        width = widths.get(column, 0) if types.get(column) == "string" else 0
        names += [column] * (-(-width // _SEGMENT) if width > _LONG else 1)
    return names
