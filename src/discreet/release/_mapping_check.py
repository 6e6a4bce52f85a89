"""Whether a mapping is what a release writes: every field is there, is of its kind, and fits the others.

A mapping is a file that people may edit; what is wrong with it is told before a row is read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, get_args

from discreet.engines import Missing, MissingSensitive
from discreet.errors import DataError
from discreet.schema import Type

__all__ = ["check_fields"]

_TYPES = {str(kind) for kind in Type}
_MISSING = get_args(Missing)
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
    "missing_sensitive": lambda value: _text(value) and value in _MISSING_SENSITIVE,
}


def check_fields(told: Mapping[str, Any], name: str) -> None:
    """Raise a DataError that names the field of a mapping that is missing or not what it should be."""
    for field, check in _FIELDS.items():
        _check(told, field, check, name, "")
    for field, check in _OPTIONAL.items():
        if field in told:
            _check(told, field, check, name, "")
    secrets = {part.strip() for name in told["sensitive"] for part in (name, *name.split("+"))}
    if not set(told.get("keep", ())) <= {*told["others"], *secrets}:
        raise _altered(name, "'keep'")
    for column, fields in told["columns"].items():
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
    if any(len(row) != len(told["columns"]) for row in told["suppressed"]):
        raise _altered(name, "'suppressed'")


def _check(fields: Mapping[str, Any], field: str, check: Callable[[Any], bool], name: str, where: str) -> None:
    if field not in fields or not check(fields[field]):
        raise _altered(name, f"'{field}'{where}")


def _altered(name: str, what: str) -> DataError:
    return DataError(
        f"{name} is not as a release wrote it: {what} is missing or damaged; write the mapping again.", topic="mapping"
    )
