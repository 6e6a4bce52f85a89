"""Rows in random order: the same whatever order they came in, in memory and through files."""

import stat
from contextlib import suppress
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from discreet.engines import shuffle as _shuffle
from discreet.engines.equal_rows import EqualRows
from discreet.engines.shuffle import Shuffle, shuffled
from discreet.errors import UsageError


def table(n: int = 3000) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "sex": ["f", "m", None] * (n // 3),
            "city": pl.Series([f"city {number % 7}" for number in range(n)], dtype=pl.Categorical),
            "weight": [0.0, -0.0, float("nan"), 1.5, None, -2.0] * (n // 6),
            "visits": [[number % 5] for number in range(n)],
            "about": [{"age": number % 4} for number in range(n)],
            "number": pl.Series([number % 11 for number in range(n)], dtype=pl.Int128),
        }
    )


def all_rows(ordered: pl.LazyFrame | EqualRows) -> pl.LazyFrame:
    return ordered.plan() if isinstance(ordered, EqualRows) else ordered


def run(rows: pl.DataFrame, tmp_path: Path, *, seed: int = 1, known: bool = True) -> pl.DataFrame:
    shuffle = Shuffle.drawn(seed)
    with shuffled(rows.lazy(), Shuffle(shuffle.key, rows.height if known else None), tmp_path / "buckets") as plan:
        return all_rows(plan).collect()


def as_text(rows: pl.DataFrame) -> list[str]:
    return [repr(row) for row in rows.rows()]


@pytest.mark.parametrize("known", [True, False], ids=["memory", "files"])
def test_order_depends_on_values_alone(tmp_path: Path, known: bool) -> None:
    rows = table()
    first = run(rows, tmp_path, known=known)
    assert as_text(first) != as_text(rows)
    assert sorted(as_text(first)) == sorted(as_text(rows))
    assert first.schema == rows.schema
    for seed in range(3):
        again = run(rows.sample(fraction=1, shuffle=True, seed=seed), tmp_path, known=known)
        assert as_text(again) == as_text(first)
    assert as_text(run(rows, tmp_path, seed=2, known=known)) != as_text(first)
    assert not (tmp_path / "buckets").exists()


def test_number_of_a_category_does_not_matter(tmp_path: Path) -> None:
    """Categories are numbered as they first occur, which would tell what came first."""
    names = ["b", "a", "c"] * 100
    one, other = (
        pl.DataFrame({"x": values}, schema={"x": pl.Categorical(pl.Categories.random())})
        for values in (names, sorted(names))
    )
    for known in (True, False):
        assert as_text(run(one, tmp_path, known=known)) == as_text(run(other, tmp_path, known=known))


def test_equal_rows_do_not_stand_together_in_memory(tmp_path: Path) -> None:
    found = run(pl.DataFrame({"x": ["a"] * 500 + ["b"] * 500}), tmp_path)["x"]
    assert (found != found.shift()).sum() > 300


def test_large_buckets_are_scattered_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = pl.DataFrame({"x": [*range(2000), *[7] * 3000]})
    whole = run(rows, tmp_path, known=False)
    monkeypatch.setattr(_shuffle, "HELD_CELLS", 10)
    assert run(rows, tmp_path, known=False).equals(whole)


def test_no_more_than_a_bucket_is_read_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = pl.DataFrame({"x": range(20_000), "y": ["text"] * 20_000})
    monkeypatch.setattr(_shuffle, "HELD_CELLS", 3000)
    monkeypatch.setattr(_shuffle, "_BATCH_CELLS", 1 << 13)
    buckets = _shuffle.Buckets(tmp_path / "buckets", "mark", 2, 62)
    marked = rows.with_columns(pl.col("x").hash(3).alias("mark"))
    buckets.scatter(marked.iter_slices(4096))
    found = list(buckets.in_order())
    assert max(piece.height * piece.width for piece in found) <= 3000
    assert pl.concat(found).equals(marked.sort("mark"))
    assert run(rows, tmp_path / "buckets", known=False)["x"].to_list() != list(range(20_000))


@pytest.mark.parametrize("known", [True, False], ids=["memory", "files"])
def test_all_types_come_back(tmp_path: Path, known: bool) -> None:
    n = 500
    some = pl.Series(range(n)) % 40
    rows = pl.DataFrame(
        {
            "enum": pl.Series(["b", "a", None, "b"] * (n // 4), dtype=pl.Enum(["a", "b", "never"])),
            "own": pl.Series([f"{x}" for x in some], dtype=pl.Categorical(pl.Categories.random())),
            "bytes": [b"x", None] * (n // 2),
            "texts": [[f"some longer text {x}", None] for x in some],
            "array": pl.Series([[x, x] for x in some], dtype=pl.Array(pl.Int8, 2)),
            "categories": pl.Series([["a"], ["b"]] * (n // 2), dtype=pl.List(pl.Categorical)),
            "nothing": pl.Series([None] * n, dtype=pl.Null),
            "date": some.cast(pl.Date),
            "time": some.cast(pl.Time),
            "moment": some.cast(pl.Datetime("ms", "Europe/Berlin")),
            "span": some.cast(pl.Duration("ns")),
            "price": some.cast(pl.Decimal(20, 3)),
            "small": pl.Series([0.0, -0.0, float("nan"), None, 1.5] * (n // 5), dtype=pl.Float32),
            "flag": [True, False, None, True, True] * (n // 5),
            "*": pl.Series(range(n), dtype=pl.UInt64),
            "row": range(n),
        }
    )
    found = run(rows, tmp_path, known=known)
    assert found.schema == rows.schema
    assert as_text(found) != as_text(rows)
    assert as_text(found.sort("row")) == as_text(rows)


def test_coded_columns_are_released_as_text(tmp_path: Path) -> None:
    rows = pl.DataFrame({"x": pl.Series(["b", "a", None] * 100, dtype=pl.Enum(["a", "b", "never"])), "y": range(300)})
    found = []
    for known in (True, False):
        shuffle = Shuffle(5, rows.height if known else None, coded=("x",))
        with shuffled(rows.lazy(), shuffle, tmp_path / "buckets") as ordered:
            plan = all_rows(ordered)
            assert plan.collect_schema() == pl.Schema({"x": pl.String(), "y": pl.Int64()})
            found.append(plan.collect())
    for each in found:
        assert each.sort("y").equals(rows.cast({"x": pl.String}))


def test_first_rows_of_a_plan(tmp_path: Path) -> None:
    with shuffled(table().lazy(), Shuffle(5), tmp_path / "buckets") as plan:
        assert as_text(plan.head(700).collect()) == as_text(plan.collect().head(700))
        assert plan.select(pl.len()).collect().item() == 3000
        assert plan.filter(pl.col("sex") == "f").select("sex").collect().height == 1000


def test_places_are_evenly_distributed(tmp_path: Path) -> None:
    """Where the rows of each quarter of a table stand is what it would be if places were drawn."""
    n = 40_000
    found = run(pl.DataFrame({"x": range(n), "y": ["a", "b"] * (n // 2)}), tmp_path, known=False)["x"].to_numpy()
    cells = np.zeros((8, 8))
    np.add.at(cells, (np.arange(n) * 8 // n, found * 8 // n), 1)
    expected = n / 64
    assert ((cells - expected) ** 2 / expected).sum() < 110  # chi-square of 49 degrees of freedom
    assert abs(np.corrcoef(found[1:], found[:-1])[0, 1]) < 0.03


def test_hidden_files_are_private_and_go(tmp_path: Path) -> None:
    folder = tmp_path / "buckets"
    with suppress(ZeroDivisionError), shuffled(table().lazy(), Shuffle.drawn(), folder) as plan:
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert plan.collect().height == plan.collect().height == 3000
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []


def test_no_rows(tmp_path: Path) -> None:
    for known in (True, False):
        found = run(table().head(0), tmp_path, known=known)
        assert found.is_empty()
        assert found.schema == table().schema


def test_key() -> None:
    assert Shuffle.of("random", 3) == Shuffle.of("random", 3) != Shuffle.of("random", 4)
    assert Shuffle.of("random") != Shuffle.of("random")
    assert Shuffle.of("keep", 3) is None
    with pytest.raises(UsageError, match="random or keep, not 'sorted'"):
        Shuffle.of("sorted")  # type: ignore[arg-type]
