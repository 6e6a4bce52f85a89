"""Columns as one number, against rows that are compared as tuples."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.engines.polars import tuples as _tuples
from discreet.engines.polars.tuples import TupleCodes
from discreet.runtime import integer_codes as _numbers
from discreet.runtime.integer_codes import add_up, by_appearance, first_of, numbered


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("largest", [2**62, 400])
def test_different_rows_are_numbered_in_their_order(seed: int, largest: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_numbers, "LARGEST", largest)
    rng = np.random.default_rng(seed)
    n = int(rng.integers(0, 40))
    widths = rng.integers(1, 9, rng.integers(0, 7)).tolist() + [1 << 20] * (seed % 3)
    columns = [rng.integers(0, min(width, 12), n).astype(np.int32) for width in widths]
    rows = [tuple(int(column[i]) for column in columns) for i in range(n)]
    numbers, count = numbered(n, zip(columns, widths, strict=True))
    assert count == len(set(rows))
    assert numbers.tolist() == [sorted(set(rows)).index(row) for row in rows]
    assert first_of(numbers, count).tolist() == [rows.index(row) for row in sorted(set(rows))]
    assert by_appearance(numbers).tolist() == [list(dict.fromkeys(rows)).index(row) for row in rows]
    assert add_up(numbers, np.arange(n), count).tolist() == [
        sum(i for i in range(n) if rows[i] == row) for row in sorted(set(rows))
    ]


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("largest", [2**62, 200])
def test_other_rows_are_told_by_the_numbers_of_known_tuples(
    seed: int, largest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_tuples, "LARGEST", largest)
    rng = np.random.default_rng(seed)
    widths = rng.integers(2, 6, rng.integers(1, 7)).tolist()
    tuples, rows = ([rng.integers(0, width, n) for width in widths] for n in (8, 60))
    rows = [np.concatenate([row, known]) for row, known in zip(rows, tuples, strict=True)]
    numbering = TupleCodes(8, zip(tuples, widths, strict=True))
    found = numbering.of_rows(68, rows)
    known = list(zip(*(column.tolist() for column in tuples), strict=True))
    for number, row in zip(found.tolist(), zip(*(column.tolist() for column in rows), strict=True), strict=True):
        assert [number == other for other in numbering.known.tolist()] == [row == other for other in known]
