"""The dictionary of a file of SPSS, Stata or SAS: labels, missing-value codes, formats and the weight variable.

A dictionary describes the questionnaire, but a label may be about a single person: the diagnosis that only one of them
had. So a release has labels and missing-value codes of released values alone, and never a format that was made for the
longest original text.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise
from math import isnan, nan
from typing import Any, Literal

import polars as pl

from discreet.engines.files.formats import FormatKind
from discreet.schema import Interval, ValueSet, parse_block, value_text

__all__ = ["Dictionary", "Family", "ValueKind", "kind_of_values"]

Family = Literal["spss", "stata", "sas"]
ValueKind = Literal["number", "text", "time"]

_DECLARING = ("sav", "zsav")
"""Formats with labels of numbers and text, and with declared missing-value codes."""
_LONGEST_LABEL = 120
"""The bytes of a value label that SPSS holds."""


def kind_of_values(dtype: pl.DataType) -> ValueKind:
    """Return the kind of a column, which decides whether its format and its codes still apply."""
    if dtype.is_temporal():
        return "time"
    return "number" if dtype.is_numeric() or dtype == pl.Boolean else "text"


@dataclass(frozen=True)
class Dictionary:
    """The dictionary of a file: labels, missing codes and formats of its columns."""

    family: Family
    kinds: Mapping[str, ValueKind]
    file_label: str = ""
    table_name: str | None = None
    """The name of the data set in a SAS transport file."""
    column_labels: Mapping[str, str] = field(default_factory=dict)
    value_labels: Mapping[str, Mapping[Any, str]] = field(default_factory=dict)
    missing_codes: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    """For each column, codes and ranges of codes (``{"lo": …, "hi": …}``) that mean a missing value in SPSS."""
    special_missing: tuple[str, ...] = ()
    """Columns with special missing values of Stata or SAS (``.a``), which are read as missing."""
    formats: Mapping[str, str] = field(default_factory=dict)
    measures: Mapping[str, str] = field(default_factory=dict)
    widths: Mapping[str, int] = field(default_factory=dict)
    """The widths of columns on the screen of SPSS."""
    weight: str | None = None
    """The column that weights the cases in SPSS."""

    def keeps(self, column: pl.Series) -> bool:
        """Whether a released column still has values of the kind it had."""
        return self.kinds.get(column.name) == kind_of_values(column.dtype)

    def labels_for(self, table: pl.DataFrame, *, texts: bool) -> dict[str, dict[Any, str]]:
        """Return the labels of released values; ``texts`` says whether the format has labels of text.

        A group has the labels of the values it names: ``{1, 2}`` is ``single, married``.
        """
        found = {}
        for name, labels in self.value_labels.items():
            if name not in table.columns or not labels:
                continue
            values = table[name].drop_nulls().unique().to_list()
            if kind_of_values(table.schema[name]) == "number":
                known = {float(code): label for code, label in labels.items() if not isinstance(code, str)}
                named = {value: known[float(value)] for value in values if float(value) in known}
            elif texts:
                by_text = {value_text(code): label for code, label in labels.items()}
                named = {value: label for value in values if (label := group_label(str(value), by_text)) is not None}
            else:
                continue
            if named:
                found[name] = {value: _cut(label) for value, label in sorted(named.items())}
        return found

    def unlabelled_in(self, kind: FormatKind) -> list[str]:
        """Return the columns whose value labels a format has no place for; Stata labels numbers alone."""
        if kind in _DECLARING:
            return []
        labelled = {name: labels for name, labels in self.value_labels.items() if labels}
        if kind != "dta":
            return list(labelled)
        return [name for name, labels in labelled.items() if any(isinstance(code, str) for code in labels)]

    def undeclared_in(self, kind: FormatKind) -> list[str]:
        """Return the columns whose missing-value codes a format cannot declare."""
        return [] if kind in _DECLARING else [name for name, codes in self.missing_codes.items() if codes]

    def missing_for(self, table: pl.DataFrame) -> dict[str, list[Any]]:
        """Return the missing-value codes that released values have."""
        found = {}
        for name, codes in self.missing_codes.items():
            if name in table.columns and self.keeps(table[name]):
                values = table[name].drop_nulls().unique()
                used = [code for code in codes if _has(values, code)]
                if used:
                    found[name] = used
        return found

    def measure_of(self, column: pl.Series) -> str:
        """Return the level of measurement of a released column: ordered groups of ordered values are ordinal."""
        if self.keeps(column):
            return self.measures[column.name]
        return "ordinal" if self.measures[column.name] != "nominal" and _are_ordered(column) else "nominal"

    def formats_for(self, table: pl.DataFrame, family: Family) -> dict[str, str]:
        """Return the formats of numbers and dates; those of text say how long the longest original text is."""
        if family != self.family:
            return {}
        return {
            column.name: self.formats[column.name]
            for column in table
            if column.name in self.formats and column.dtype != pl.String and self.keeps(column)
        }


def group_label(value: str, labels: Mapping[str, str]) -> str | None:
    """Return the label of a released value: its own, or those of the values it names.

    >>> group_label("{1, 2}", {"1": "single", "2": "married", "3": "widowed"})
    'single, married'
    >>> group_label("[1, 3]", {"1": "never", "2": "seldom", "3": "often"})
    'never to often'
    """
    if value in labels:
        return labels[value]
    block = parse_block(value)
    if isinstance(block, Interval):
        ends = [labels.get(value_text(end)) for end in (block.left, block.right)]
        label = f"{ends[0]} to {ends[1]}" if None not in ends and block.closed == "both" else None
    elif block.everything or not any(each in labels for each in block.values):
        return None
    else:
        label = ", ".join(labels.get(each, each) for each in sorted(block.values, key=_in_order))
    return f"{label} or missing" if label is not None and block.missing else label


def _are_ordered(groups: pl.Series) -> bool:
    """Whether released groups of numbers or dates follow one another; ``*`` is no group.

    >>> _are_ordered(pl.Series(["[0, 20)", "[20, 40)", "*"])), _are_ordered(pl.Series(["{1, 3}", "2"]))
    (True, False)
    """
    blocks = [parse_block(value) for value in groups.drop_nulls().unique()]
    spans = sorted(_span(block) for block in blocks if isinstance(block, Interval) or not block.everything)
    return all(high <= low for (_, high), (low, _) in pairwise(spans)) and not any(map(isnan, chain(*spans)))


def _span(block: Interval | ValueSet) -> tuple[float, float]:
    """Return the ends of a group as numbers; those of text are no numbers."""
    if isinstance(block, ValueSet):
        codes = [_number(each) for each in block.values] or [nan]
        return (nan, nan) if any(map(isnan, codes)) else (min(codes), max(codes))
    return _number(block.left), _number(block.right)


def _number(end: object) -> float:
    """Return a code or the end of a range as a number, dates by their day; NaN for text."""
    if isinstance(end, datetime.date):
        return float(end.toordinal())
    try:
        return float(end)  # type: ignore[arg-type]
    except ValueError:
        return nan


def _in_order(code: str) -> tuple[float, str]:
    """Sort codes as numbers where they are."""
    try:
        return float(code), code
    except ValueError:
        return float("inf"), code


def _has(values: pl.Series, code: Any) -> bool:
    """Whether one of the values is a missing-value code, or in a range of them."""
    if isinstance(code, Mapping):
        return values.dtype.is_numeric() and bool(values.is_between(code["lo"], code["hi"]).any())
    return isinstance(code, str) == (values.dtype == pl.String) and bool((values == code).any())


def _cut(label: str) -> str:
    """Shorten a label to the bytes that SPSS holds, which would cut it in the middle of a character."""
    if len(label.encode()) <= _LONGEST_LABEL:
        return label
    return label.encode()[: _LONGEST_LABEL - 3].decode(errors="ignore") + "…"
