"""Local recoding by look-ups does to every row what the shares say, row by row."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from discreet.engines import GroupShares, Recoding, ValueMap, recode
from discreet.engines.polars import tuples as _tuples


def random_shares(rng, columns, rows):
    """Return a frame and shares of its tuples; each row is a Python tuple of values."""
    frame = pl.DataFrame({f"c{i}": rng.choice(list("abcde")[: i + 1], rows) for i in range(columns)})
    frame = frame.with_columns(other=pl.int_range(rows))
    values = {name: frame[name].unique(maintain_order=True) for name in frame.columns[:-1]}
    codes = {name: ValueMap(each, pl.Series(rng.permutation(len(each)))) for name, each in values.items()}
    tuples = frame.select(*values).unique(maintain_order=bool(rng.integers(2)))
    numbers = {
        name: tuples[name].replace_strict(each.values, each.released, return_dtype=pl.Int64)
        for name, each in codes.items()
    }
    groups = int(rng.integers(1, 6))
    dealt = []
    for number, row in enumerate(tuples.iter_rows()):
        count = sum(line[:-1] == row for line in frame.iter_rows())
        for place in range(int(rng.integers(0, count)) if rng.random() < 0.5 else 0):
            dealt.append((number, place, int(rng.integers(-1, groups))))
    shown = {"c0": pl.Series([f"g{g}" for g in range(groups)]), "c1": pl.Series(rng.random(groups))}
    shares = GroupShares(
        codes=codes,
        tuples=numbers,
        group=pl.Series(rng.integers(-1, groups, tuples.height)),
        dealt=pl.DataFrame(dealt, schema=["tuple", "place", "group"], orient="row").cast(pl.Int64),
        shown=shown,
        groups=groups,
    )
    return frame, tuples, shares


def by_hand(frame, tuples, shares):
    number = {row: place for place, row in enumerate(tuples.iter_rows())}
    elsewhere = {(t, p): g for t, p, g in shares.dealt.iter_rows()}
    seen, out = dict.fromkeys(number, 0), []
    for line in frame.iter_rows():
        row = line[:-1]
        if row not in number:
            continue
        group = elsewhere.get((number[row], seen[row]), shares.group[number[row]])
        seen[row] += 1
        if group >= 0:
            out.append((shares.shown["c0"][group], shares.shown["c1"][group], *line[2:]))
    return out


@pytest.mark.parametrize("seed", range(24))
@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
@pytest.mark.parametrize("span", [1 << 62, 30])
def test_every_row_shows_what_its_group_does(seed, engine, span, monkeypatch):
    monkeypatch.setattr(_tuples, "LARGEST", span)
    rng = np.random.default_rng(seed)
    frame, tuples, shares = random_shares(rng, int(rng.integers(2, 5)), int(rng.integers(1, 80)))
    if seed % 4 == 0:  # the table is not the one that was counted: rows of unknown tuples are left out
        stay = np.sort(rng.permutation(tuples.height)[: max(tuples.height - 2, 1)])
        number = pl.DataFrame({"tuple": stay, "new": np.arange(stay.size)})
        tuples = tuples[stay]
        shares = GroupShares(
            shares.codes,
            {name: each.gather(stay) for name, each in shares.tuples.items()},
            shares.group.gather(stay),
            shares.dealt.join(number, on="tuple").select(pl.col("new").alias("tuple"), "place", "group"),
            shares.shown,
            shares.groups,
        )
    out = recode(frame.lazy(), Recoding(shares=shares)).collect(engine=engine)
    assert out.columns == frame.columns
    assert out.rows() == by_hand(frame, tuples, shares)
