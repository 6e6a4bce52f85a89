"""What groups of a local recoding show, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from discreet.schema import Domain, Type, node_names, set_text

if TYPE_CHECKING:
    from discreet.counts import IntArray
    from discreet.solve import Cover, Groups

__all__ = ["cover_texts", "middle_values"]

_BITS = 63


def cover_texts(domain: Domain, cover: Cover) -> pl.Series | None:
    """Return the released value of each group; None where every group shows a single value, which then stays.

    Spellings of one value ("1.5" and "1.50") keep a column from staying as it is: they are released as one.
    """
    one_spelling = len(np.unique(domain.codes)) == len(domain.codes)
    if one_spelling and _single(domain, cover):
        return None
    if cover.form == "set":
        first, place = _distinct_sets(cover)
        taken = {label for leaf, label in enumerate(domain.labels[0]) if domain.there is None or domain.there[leaf]}
        texts = [
            set_text(
                [domain.labels[0][leaf] for leaf in cover.leaves[cover.first[g] : cover.second[g]].tolist()], taken
            )
            for g in first.tolist()
        ]
        return pl.Series(domain.name, texts, dtype=pl.String).gather(place)
    width = int(cover.second.max(initial=0)) + 1
    pairs, place = np.unique(cover.first.astype(np.int64) * width + cover.second, return_inverse=True)
    first, second = pairs // width, pairs % width
    if cover.form == "range":
        return _range_texts(domain, first, second).gather(place)
    names = node_names(domain.labels, first.tolist(), second.tolist())
    return pl.Series(domain.name, names, dtype=pl.String).gather(place)


def _range_texts(domain: Domain, first: IntArray, second: IntArray) -> pl.Series:
    """Return ranges as :func:`range_name` writes them; with missing values among others they are the root."""
    labels = pl.Series(domain.labels[0], dtype=pl.String)
    low, high = pl.col("low"), pl.col("high")
    ends = pl.DataFrame({"low": labels.gather(first), "high": labels.gather(second)})
    texts = ends.select(pl.when(low.eq_missing(high)).then(low).otherwise(pl.format("[{}, {}]", low, high)))
    missing = np.zeros(first.size, dtype=np.bool_)
    if domain.positions is not None:
        missing = np.isnan(domain.positions)[second] & (first < second)
    return texts.to_series().alias(domain.name).set(pl.Series(missing), domain.labels[-1][0])


def middle_values(domain: Domain, codes: IntArray, groups: Groups) -> pl.Series:
    """Return one value for each group, given the leaf of each tuple: the middle of numbers and dates, of text the mode.

    Of values as frequent as each other the first in their order is the mode. A group most of whose rows have no value
    shows none.
    """
    from discreet.solve._middle import middles

    found = middles(domain.positions, codes, groups)
    if domain.positions is None:
        return pl.Series(domain.name, domain.labels[0], dtype=pl.String).gather(found.astype(np.int64))
    if domain.type == Type.DATE:
        return pl.Series(domain.name, np.rint(found)).fill_nan(None).cast(pl.Int32).cast(pl.Date)
    return pl.Series(domain.name, found).fill_nan(None)


def _distinct_sets(cover: Cover) -> tuple[IntArray, IntArray]:
    """Return a group for each different set, and the place of each group's set among them."""
    if int(cover.leaves.max(initial=0)) >= _BITS:
        return np.arange(cover.first.size), np.arange(cover.first.size)
    mask = np.bitwise_or.reduceat(np.int64(1) << cover.leaves, cover.first)
    _, first, place = np.unique(mask, return_index=True, return_inverse=True)
    return first, place


def _single(domain: Domain, cover: Cover) -> bool:
    """Whether every group shows one value of the data."""
    if cover.form == "set":
        return bool((cover.second - cover.first == 1).all())
    if cover.form == "range":
        return bool((cover.first == cover.second).all())
    return not cover.first.any()
