"""The value that a group shows, against plain Python."""

from __future__ import annotations

import random
import statistics

import numpy as np
import pytest

from discreet.solve._base import LocalRecoding
from discreet.solve.local.microaggregation import representatives


def plain(values, show):
    """The mean, lower median or first mode of values, of which None are missing; None if these are most frequent."""
    mode = min(set(values), key=lambda value: (-values.count(value), value is None, value or 0))
    if mode is None or show == "mode":
        return mode
    known = [value for value in values if value is not None]
    return statistics.fmean(known) if show == "mean" else statistics.median_low(known)


@pytest.mark.parametrize("show", ["mean", "median", "mode"])
def test_numbers(show):
    rng = random.Random(show)
    for _ in range(200):
        domain = [*sorted(rng.sample(range(-9, 9), rng.randint(1, 5))), *([None] if rng.random() < 0.5 else [])]
        count = rng.randint(1, 12)
        codes = np.array([rng.randrange(len(domain)) for _ in range(count)])
        group = np.array([rng.randint(-1, 3) for _ in range(count)])
        names = sorted(set(group.tolist()) - {-1})
        group = np.array([names.index(g) if g >= 0 else -1 for g in group.tolist()])
        rows = np.array([rng.randint(1, 4) for _ in range(count)])
        groups = LocalRecoding(np.arange(count), group, rows, (), show)
        positions = np.array([np.nan if value is None else float(value) for value in domain])
        found = representatives(positions, codes, groups)
        expected = [
            plain([domain[codes[j]] for j in range(count) for _ in range(rows[j]) if group[j] == g], show)
            for g in range(len(names))
        ]
        assert [None if np.isnan(value) else value for value in found] == pytest.approx(expected)


def test_text_is_the_most_frequent_leaf_whatever_is_shown():
    codes, groups = np.array([2, 1, 0, 0]), [0, 0, 1, -1]
    for show in ("mean", "median", "mode"):
        asked = LocalRecoding(np.arange(4), np.array(groups), np.array([3, 3, 1, 9]), (), show)
        assert representatives(None, codes, asked).tolist() == [1, 0]


def test_nothing_published():
    nobody = LocalRecoding(np.arange(2), np.array([-1, -1]), np.array([1, 1]), (), "mean")
    assert representatives(np.array([1.0, 2.0]), np.array([0, 1]), nobody).size == 0
