"""The file format of mappings: reading one, and checking that its fields are complete and fit together.

People may edit a mapping, so whatever is wrong with it is reported before a row is read.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, get_args

from discreet.errors import DataError
from discreet.runtime.locations import as_path, read_text
from discreet.runtime.read_options import MissingSensitive
from discreet.schema import Type

__all__ = ["FORMAT", "KIND", "read_mapping"]

KIND = "discreet mapping"
FORMAT = 1
_TYPES = {str(kind) for kind in Type}
_MISSING = ("value", "suppress", "error")
_MISSING_SENSITIVE = get_args(MissingSensitive)


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _optional(check: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or check(value)


def _list(check: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and all(map(check, value))


def _table(check: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, dict) and all(map(_text, value)) and all(map(check, value.values()))


def _rule(value: Any) -> bool:
    fields = isinstance(value, dict) and value.keys() >= {"hierarchy", "level"}
    return fields and _text(value["hierarchy"]) and type(value["level"]) is int and value["level"] > 0


def _released(value: Any) -> bool:
    return isinstance(value, dict) and "released" in value and _optional(_text)(value["released"])


def _tree(value: Any) -> bool:
    rows = value.get("rows") if isinstance(value, dict) else None
    return _text(value) or (bool(rows) and _list(lambda row: bool(row) and _list(_text)(row))(rows))


def _levels(value: Any) -> bool:
    """Whether this is the hierarchy of a column: a row for each value, from the value to the root, all as long."""
    if not isinstance(value, dict) or type(value.get("automatic")) is not bool:
        return False
    rows: Any = value.get("rows")
    return _list(lambda row: bool(row) and _list(_text)(row))(rows) and len({len(row) for row in rows}) <= 1


_COLUMN: Mapping[str, Callable[[Any], bool]] = {
    "type": lambda value: value in _TYPES if _text(value) else False,
    "values": lambda value: _list(_text)(value) and len(set(value)) == len(value),
    "released": _optional(_list(_optional(_text))),
    "missing": _optional(_released),
    "top": _optional(_text),
    "rule": _optional(_rule),
}
_COLUMN_LATER: Mapping[str, Callable[[Any], bool]] = {
    "left_out": lambda value: _list(_optional(_text))(value) and len(set(value)) == len(value),
    "hierarchy": _optional(_levels),
}
"""What mappings of earlier versions lack."""
_FIELDS: Mapping[str, Callable[[Any], bool]] = {
    "columns": lambda value: bool(value) and _table(lambda column: isinstance(column, dict))(value),
    "suppressed": _list(_list(_optional(_text))),
    "identifiers": _list(_text),
    "others": _list(_text),
    "sensitive": _table(_optional(_tree)),
    "class_attribute": _optional(_text),
    "types": _table(lambda value: _text(value) and value in _TYPES),
    "missing": lambda value: _text(value) and value in _MISSING,
    "privacy": lambda value: bool(value) and _list(_text)(value),
}
_OPTIONAL: Mapping[str, Callable[[Any], bool]] = {
    "keep": lambda value: _list(_text)(value) and len(set(value)) == len(value),
    "weights": _text,
    "person": _text,
    "household": _text,
    "missing_sensitive": lambda value: _text(value) and value in _MISSING_SENSITIVE,
}


def read_mapping(given: Any) -> dict[str, Any]:
    """Read a mapping from a file, or take one as plain data; raise DataError if it is damaged."""
    if isinstance(given, Mapping):
        mapping: Any = dict(given)
        name = "What was given"
    else:
        path = as_path(given, "The mapping")
        name = f"'{path.name}'"
        try:
            mapping = json.loads(read_text(path, "mapping"))
        except (ValueError, RecursionError):
            mapping = None
    if not isinstance(mapping, dict) or mapping.get("kind") != KIND:
        raise DataError(f"{name} is no mapping of a release.", topic="mapping")
    if mapping.get("format") != FORMAT:
        raise DataError(f"{name} was made by another version of discreet; use that to apply it.", topic="mapping")
    _check_fields(mapping, name)
    return mapping


def _check_fields(mapping: Mapping[str, Any], name: str) -> None:
    """Raise a DataError that names the first field that is missing or malformed."""
    for field, check in _FIELDS.items():
        _check(mapping, field, check, name, "")
    for field, check in _OPTIONAL.items():
        if field in mapping:
            _check(mapping, field, check, name, "")
    secrets = {part.strip() for name in mapping["sensitive"] for part in (name, *name.split("+"))}
    if not set(mapping.get("keep", ())) <= {*mapping["others"], *secrets}:
        raise _altered(name, "'keep'")
    for column, fields in mapping["columns"].items():
        for field, check in _COLUMN.items():
            _check(fields, field, check, name, f" of column '{column}'")
        for field, check in _COLUMN_LATER.items():
            if field in fields:
                _check(fields, field, check, name, f" of column '{column}'")
        if set(fields.get("left_out", ())) & set(fields["values"]):
            raise _altered(name, f"'left_out' of column '{column}'")
        released = fields["released"]
        if released is not None and len(released) != len(fields["values"]):
            raise _altered(name, f"'released' of column '{column}'")
        if released is None and fields["missing"] is not None and fields["missing"]["released"] is not None:
            raise _altered(name, f"'missing' of column '{column}'")
    if any(len(row) != len(mapping["columns"]) for row in mapping["suppressed"]):
        raise _altered(name, "'suppressed'")


def _check(fields: Mapping[str, Any], field: str, check: Callable[[Any], bool], name: str, where: str) -> None:
    if field not in fields or not check(fields[field]):
        raise _altered(name, f"'{field}'{where}")


def _altered(name: str, what: str) -> DataError:
    return DataError(
        f"{name} is not as a release wrote it: {what} is missing or damaged; write the mapping again.", topic="mapping"
    )
