"""The format of certificates, and a strict reader: any deviation is an error that says where it is."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from discreet.engines import UNKNOWN
from discreet.errors import DataError, UsageError
from discreet.problem import PRIVACY
from discreet.problem.privacy import WEAKER
from discreet.runtime.locations import read_text

__all__ = ["FORMAT", "KIND", "canonical", "own_digest", "promise_note", "read_certificate", "sealed_text"]

KIND = "discreet release certificate"
FORMAT = 2
_HEX = re.compile(r"[0-9a-f]{64}")
_MOST_BYTES = 1 << 24
_LONGEST = 10_000
"""Most characters of a text."""


def canonical(certificate: Mapping[str, Any]) -> str:
    """Return a certificate as one line of JSON, with its fields in their fixed order."""
    return json.dumps(certificate, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def own_digest(certificate: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a certificate without the field that holds it."""
    return hashlib.sha256(canonical(_without(certificate, "sha256")).encode()).hexdigest()


def sealed_text(certificate: Mapping[str, Any]) -> str:
    """Return the text that the owner's seal signs: everything before the seal."""
    return canonical(_without(certificate, "seal", "sha256"))


def promise_note(model: str) -> dict[str, str]:
    """Return the remark of a certificate on a promise: that it is weaker, if it counts matches.

    >>> promise_note("k(3)"), list(promise_note("k(3, unknown=matches)"))
    ({}, ['note'])
    """
    try:
        weaker = "unknown=" in model and PRIVACY.make(model).counts_matches
    except UsageError:
        weaker = False
    return {"note": WEAKER} if weaker else {}


def _without(certificate: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in certificate.items() if name not in names}


def read_certificate(path: Path) -> dict[str, Any]:
    """Read a certificate; raise DataError if it is damaged or has another form."""
    certificate = _parse(path)
    if not isinstance(certificate, dict) or certificate.get("kind") != KIND:
        _refuse(path, "it is of another kind")
    if certificate.get("format") != FORMAT:
        _other_format(path, certificate.get("format"))
    try:
        _check_fields(certificate, _FIELDS, "the certificate")
    except ValueError as error:
        _refuse(path, str(error))
    return certificate


def _parse(path: Path) -> Any:
    try:
        if path.is_file() and path.stat().st_size > _MOST_BYTES:
            _refuse(path, "it is far too large")
        return json.loads(read_text(path, "certificate"), object_pairs_hook=_unique_fields, parse_constant=_no_constant)
    except UnicodeDecodeError:
        _refuse(path, "it is not UTF-8 text")
    except json.JSONDecodeError:
        _refuse(path, "it is not JSON")
    except RecursionError:
        _refuse(path, "it is nested too deeply")
    except ValueError as error:
        _refuse(path, str(error) if isinstance(error, _FormError) else "a number in it is too long")


class _FormError(ValueError):
    """Says what is wrong with a certificate."""


def _unique_fields(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise _FormError("a field occurs twice")
    return fields


def _no_constant(text: str) -> NoReturn:
    raise _FormError(f"{text} is not a JSON number")


def _refuse(path: Path, why: str) -> NoReturn:
    raise DataError(f"'{path.name}' is not a certificate of a release, or it was damaged: {why}.", topic="certificate")


def _other_format(path: Path, version: Any) -> NoReturn:
    if type(version) is int and 0 < version < FORMAT:
        raise DataError(
            f"'{path.name}' is a certificate of an earlier version of discreet, which held a digest that lets others "
            "test guesses about the original table; withdraw it and make a new one.",
            topic="certificate",
        )
    if type(version) is int and version > FORMAT:
        raise DataError(
            f"'{path.name}' was made by a newer version of discreet; use that to check it.", topic="certificate"
        )
    _refuse(path, "its format is not a known number")


_Check = Callable[[Any, str], None]


def _check_fields(value: Any, fields: Mapping[str, _Check], what: str, optional: Sequence[str] = ()) -> None:
    """Raise unless a mapping has exactly these fields, in this order, and each passes its check."""
    if not isinstance(value, dict):
        raise _FormError(f"{what} is not a mapping")
    for name in fields:
        if name not in value and name not in optional:
            raise _FormError(f"the field '{name}' is missing")
    for name in value:
        if name not in fields:
            raise _FormError(f"there should be no field {name[:40]!a}")
    if list(value) != [name for name in fields if name in value]:
        raise _FormError("its fields are in another order")
    for name, item in value.items():
        fields[name](item, name)


def _hex(value: Any, name: str) -> None:
    if not isinstance(value, str) or not _HEX.fullmatch(value):
        raise _FormError(f"'{name}' is not a digest of 64 hexadecimal digits")


def _hex_or_none(value: Any, name: str) -> None:
    if value is not None:
        _hex(value, name)


def _text(value: Any, name: str) -> None:
    if not isinstance(value, str) or not value or len(value) > _LONGEST:
        raise _FormError(f"'{name}' is not a text, or far too long")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise _FormError(f"'{name}' is not valid Unicode") from None


def _text_or_none(value: Any, name: str) -> None:
    if value is not None:
        _text(value, name)


def _count(value: Any, name: str) -> None:
    if type(value) is not int or not 0 <= value < 1 << 53:
        raise _FormError(f"'{name}' is not a whole number")


def _reached(value: Any, name: str) -> None:
    if value is not None and (type(value) is not float or not math.isfinite(value)):
        raise _FormError(f"'{name}' is not a decimal number")


def _names(value: Any, name: str) -> None:
    if not isinstance(value, list):
        raise _FormError(f"'{name}' is not a list")
    for item in value:
        _text(item, name)
    if len(set(value)) < len(value):
        raise _FormError(f"'{name}' names a column twice")


def _kept_columns(value: Any, name: str) -> None:
    if not isinstance(value, list):
        raise _FormError(f"'{name}' is not a list")
    for item in value:
        _check_fields(item, {"name": _text, "unique": _text_or_none}, f"a column in '{name}'")
    if len({item["name"] for item in value}) < len(value):
        raise _FormError(f"'{name}' names a column twice")


def _some_names(value: Any, name: str) -> None:
    _names(value, name)
    if not value:
        raise _FormError(f"'{name}' is empty")


def _one_of(*known: str | None) -> _Check:
    def check(value: Any, name: str) -> None:
        if value not in known:
            raise _FormError(f"'{name}' has an unknown value")

    return check


def _texts(value: Any, name: str) -> None:
    if not isinstance(value, dict):
        raise _FormError(f"'{name}' is not a mapping")
    for column, text in value.items():
        _text(column, name)
        _text(text, name)


def _promises(value: Any, name: str) -> None:
    if not isinstance(value, list) or not value:
        raise _FormError(f"'{name}' is not a list of promises")
    for promise in value:
        fields = {"model": _text, "reached": _reached, "note": _one_of(WEAKER)}
        _check_fields(promise, fields, "a promise", optional=["note"])
        if ("note" in promise) != bool(promise_note(promise["model"])):
            raise _FormError("a promise lacks its note, or has one that is not its own")
    if len({promise["model"] for promise in value}) < len(value):
        raise _FormError("a promise occurs twice")


def _reading(value: Any, name: str) -> None:
    fields = {
        "types": _texts,
        "hierarchies": _texts,
        "weights": _text,
        "unit": _one_of("person", "household"),
        "pseudonyms": _some_names,
        "missing": _one_of("suppress"),
        "missing_sensitive": _one_of("value"),
    }
    _check_fields(value, fields, f"'{name}'", optional=list(fields))


_FIELDS: dict[str, _Check] = {
    "kind": _text,
    "format": _count,
    "output": _hex,
    "quasi_identifiers": _some_names,
    "sensitive": _names,
    "unchanged": _kept_columns,
    "unknown": _one_of(None, UNKNOWN),
    "promises": _promises,
    "rows": _count,
    "classes": _count,
    "smallest_class": _count,
    "reading": _reading,
    "input": _hex_or_none,
    "population": _hex_or_none,
    "job": _hex_or_none,
    "seal": _hex_or_none,
    "sha256": _hex,
}
"""Every field in its order, with its check."""
