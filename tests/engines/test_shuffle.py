"""Rows in random order: the same whatever order they came in, in memory and through files."""

import stat
from contextlib import suppress
from pathlib import Path

import polars as pl
import pytest

from discreet.engines import _shuffle
from discreet.engines._shuffle import Shuffle, shuffled
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


def run(rows: pl.DataFrame, tmp_path: Path, *, seed: int = 1, known: bool = True) -> pl.DataFrame:
    shuffle = Shuffle.drawn(seed)
    with shuffled(rows.lazy(), Shuffle(shuffle.key, rows.height if known else None), tmp_path / "buckets") as plan:
        return plan.collect()


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
    monkeypatch.setattr(_shuffle, "BUCKET_CELLS", 10)
    assert run(rows, tmp_path, known=False).equals(whole)


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
