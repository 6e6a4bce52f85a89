"""The shapes of values: what they look like, without what they say."""

from __future__ import annotations

import polars as pl

from discreet.runtime.plurals import amount, listed

__all__ = ["shapes_of"]

_SHOWN = 3
_LONGEST = 24


def shapes_of(values: pl.Series) -> str:
    """Return how many values have which shape, for an error message about them; empty if they are no text.

    A shape has ``9`` for a run of digits and ``a`` for a run of letters, whatever their length, so that no value can be
    read from it; other characters stay, as they show what is wrong.

    >>> shapes_of(pl.Series(["n/a", "unknown", "missing", "30-39"]))
    ': 2 like a, 1 like 9-9 and 1 like a/a (9 is any number, a any word)'
    """
    if values.dtype != pl.String:
        return ""
    shapes = values.str.replace_all(r"[\p{L}\p{M}]+", "a").str.replace_all(r"\p{N}+", "9")
    shapes = shapes.str.replace_all(r"[\s\p{C}]+", " ").str.strip_chars()
    counted = shapes.value_counts(name="rows").sort(["rows", values.name], descending=[True, False]).rows()
    shown = [(shape, number) for shape, number in counted if shape and len(shape) <= _LONGEST][:_SHOWN]
    if not shown:
        return ""
    rest = len(values) - sum(number for _, number in shown)
    parts = [f"{number:,} like {shape}" for shape, number in shown] + ([amount(rest, "other")] if rest else [])
    used = "".join(shape for shape, _ in shown)
    legend = {("9", "a"): "9 is any number, a any word", ("9",): "9 is any number", ("a",): "a is any word"}
    meaning = legend.get(tuple(mark for mark in "9a" if mark in used))
    return f": {listed(parts)}{f' ({meaning})' if meaning else ''}"
