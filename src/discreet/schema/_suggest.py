"""A first guess at the role of a column, for people who look at a file for the first time."""

from __future__ import annotations

import re

import polars as pl

from discreet.schema._schema import Role
from discreet.schema._types import Type, infer_type

__all__ = ["may_identify", "suggest_roles"]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SENSITIVE = _words(
    "diagnosis diagnoses disease diseases illness condition disorder icd medication drug treatment "
    "therapy symptom hiv pregnant disability salary salaries income wage wages earnings pay debt loan "
    "balance credit wealth religion belief political party vote orientation crime offence offense "
    "conviction sentence grade score test result"
)
_IDENTIFYING = _words(
    "id identifier uuid guid ssn nhs mrn passport license licence email mail phone telephone mobile fax "
    "iban account card name firstname lastname forename surname fullname username login address street "
    "url ip key number no"
)
_DESCRIBING = _words(
    "age birth birthday birthdate born dob sex gender zip zipcode postcode postal plz city town "
    "municipality county state province region district country nation nationality native citizenship "
    "origin race ethnicity ethnic marital relationship married family household children education degree "
    "school occupation job profession work workclass employer employment industry height weight language "
    "admission discharge date year hours location latitude longitude department"
)


def suggest_roles(name: str, values: pl.Series, rows: int) -> Role:
    """Guess the role of a column from its name and its distinct values.

    >>> suggest_roles("patient_id", pl.Series(range(100)), 100)
    <Role.IDENTIFIER: 'identifier'>
    >>> suggest_roles("zip", pl.Series(["94110", "94117"]), 100)
    <Role.QUASI_IDENTIFIER: 'quasi-identifier'>
    >>> suggest_roles("Diagnosis", pl.Series(["Flu"]), 100)
    <Role.SENSITIVE: 'sensitive'>
    """
    words = _words_of(name)
    known = values.drop_nulls()
    share = len(known) / max(rows, 1)
    kind = infer_type(known) if known.dtype != pl.Object else Type.TEXT
    if words & _IDENTIFYING and share >= 0.1 and kind in (Type.TEXT, Type.INTEGER) and not words & _SENSITIVE:
        return Role.IDENTIFIER
    if words & _SENSITIVE:
        return Role.SENSITIVE
    if words & _DESCRIBING:
        return Role.QUASI_IDENTIFIER
    if len(known) >= 20 and ((kind is Type.TEXT and share >= 0.9) or (kind is Type.INTEGER and share == 1)):
        return Role.IDENTIFIER
    return Role.QUASI_IDENTIFIER if kind is Type.TEXT and _look_like_codes(known) else Role.INSENSITIVE


def may_identify(name: str) -> bool:
    """Whether a column, judging by its name alone, tells who somebody is or what others know about them.

    >>> may_identify("LastName"), may_identify("zip_code"), may_identify("note")
    (True, True, False)
    """
    words = _words_of(name)
    return bool(words & (_IDENTIFYING | _DESCRIBING)) and not words & _SENSITIVE


def _words_of(name: str) -> set[str]:
    words = set(re.findall(r"[a-z]+|\d+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()))
    words.add("".join(sorted(words, key=name.lower().find)))
    return words


def _look_like_codes(values: pl.Series) -> bool:
    """Whether the values are codes such as 00501 or SW1A 1AA: short, of one length or nearly, with digits."""
    if values.dtype != pl.String or not len(values):
        return False
    lengths = values.str.len_chars().to_numpy()
    short = lengths.max() <= 12 and lengths.max() - lengths.min() <= 2
    return bool(short and values.str.contains(r"^[A-Z0-9 .-]*\d[A-Z0-9 .-]*$").all())
