"""The summaries of columns, compared with a naive version."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from discreet.report import columns as _columns
from discreet.report.ranges import RangeCounts, evenly_spread


def naive_bars(texts: list[str | None], rows: list[int], least: int) -> list[tuple[str, int, int]]:
    """The most frequent texts in order, and the others as one."""
    people: dict[str | None, int] = {}
    for text, count in zip(texts, rows, strict=True):
        people[text] = people.get(text, 0) + count
    order = sorted(
        (pair for pair in people.items() if pair[1]), key=lambda pair: (-pair[1], pair[0] is not None, pair[0])
    )
    shown = [pair for pair in order if pair[1] >= least]
    if len(shown) < len(order) or len(shown) > _columns._BARS:
        shown = shown[: _columns._BARS - 1]
    rest = order[len(shown) :]
    while shown and 0 < sum(count for _, count in rest) < least:
        rest.append(shown.pop())
    bars = [("missing" if text is None else text, count, 1) for text, count in shown]
    others = sum(count for _, count in rest)
    return [*bars, ("", others, len(rest))] if others >= least else bars


@pytest.mark.parametrize("different", [3, 14, 15, 40, 400])
@pytest.mark.parametrize("least", [1, 5, 60])
def test_bars_of_texts(different: int, least: int) -> None:
    rng = np.random.default_rng(different)
    for most in (1, 3, 30):
        texts = [None if number == 0 else f"v{number}" for number in rng.integers(0, different, 500).tolist()]
        rows = rng.integers(0, most + 1, 500)
        names, counts = _columns._most_frequent_first(pl.Series(texts, dtype=pl.String), rows)
        bars = _columns._bars(names, counts, None, least)
        assert [(bar.name, bar.rows, bar.values) for bar in bars] == naive_bars(texts, rows.tolist(), least)


def test_people_spread_evenly() -> None:
    rng = np.random.default_rng(1)
    low = rng.integers(0, 50, 200).astype(float)
    high = low + rng.integers(0, 30, 200)
    low[7] = np.nan
    rows = rng.integers(1, 9, 200)
    edges = (0.0, 10.0, 25.0, 60.0, 80.0)
    found = evenly_spread(low, high, rows, RangeCounts(edges, (0, 0, 0, 0), date=False))
    expected = [0.0] * 4
    for a, b, n in zip(low.tolist(), high.tolist(), rows.tolist(), strict=True):
        if a == a:
            for place in range(4):
                begin, end = (0.0 if place == 0 else edges[place]), edges[place + 1]
                if a == b:
                    expected[place] += n * ((begin <= a or place == 0) and (a < end or place == 3))
                else:
                    expected[place] += n * max(min(b, end) - max(a, begin), 0.0) / (b - a)
    assert np.allclose(found.rows, expected)
