"""Tables in which many rows are equal are read, put in order and written by their distinct rows, to the same end."""

import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from discreet.engines import Format, open_source, write_data
from discreet.engines import equal_rows as _equal
from discreet.engines import shuffle as _shuffle
from discreet.engines.equal_rows import EqualRows, count_equal, rows_repeat
from discreet.engines.files import repeated_lines as _lines
from discreet.engines.files import write as _write
from discreet.engines.files.repeated_lines import read_repeated
from discreet.engines.files.table_file import open_file
from discreet.engines.shuffle import Shuffle
from discreet.errors import DataError


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take every table for one in which rows repeat."""
    monkeypatch.setattr(_lines, "_LEAST", 0)
    monkeypatch.setattr(_lines, "rows_repeat", lambda *_: True)
    monkeypatch.setattr(_equal, "rows_repeat", lambda *_: True)
    monkeypatch.setattr(_equal, "_REPEATS", 0)
    monkeypatch.setattr(_equal, "_PIECE_CELLS", 16)
    monkeypatch.setattr(_shuffle, "IN_MEMORY", 0)


CELLS = ["", "a", "b", " b", "0", "-0.0", "1e5", "é", "long text, long text", "it's"]
ODD = ['"', '""', '"x', "x\ny", "a\r", "\r\n"]


def random_table(rng: random.Random, cells: list[str], columns: int) -> list[list[str]]:
    distinct = [[rng.choice(cells) for _ in range(columns)] for _ in range(rng.randint(1, 6))]
    return [rng.choice(distinct) for _ in range(rng.randint(1, 40))]


def delimited(rows: list[list[str]], end: str, last: bool) -> str:
    lines = [";".join(["c0", "c1", "c2"][: len(rows[0])]), *(";".join(row) for row in rows)]
    return end.join(lines) + (end if last else "")


def read(path: Path) -> tuple[list[tuple[str | None, ...]], dict[str, int]] | str:
    """Return the rows of a file in order and the counts of its first column, or what is wrong with it."""
    try:
        source = open_source(path)
        counted = source.count(["c0"])
        held = source._hold()  # type: ignore[attr-defined]
        rows = held.select(pl.all().cast(pl.String)).rows()
        return rows, {str(value): times for value, times in counted.rows()}
    except DataError as error:
        return str(error)


@pytest.mark.parametrize("odd", [False, True], ids=["plain", "odd"])
def test_files_are_read_as_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, always: None, odd: bool) -> None:
    rng, path, used = random.Random(7), tmp_path / "some.csv", 0
    for _ in range(120):
        rows = random_table(rng, CELLS + ODD if odd else CELLS, rng.choice([2, 3]))
        text = delimited(rows, rng.choice(["\n", "\r\n"]), rng.random() < 0.8)
        if odd and rng.random() < 0.3:
            text = text.replace("\n", rng.choice(["\n\n", ";x\n", "\n\0"]), 1)
        path.write_bytes(text.encode())
        with monkeypatch.context() as usual:
            usual.setattr(_lines, "_LEAST", 1 << 40)
            expected = read(path)
        assert read(path) == expected
        if not isinstance(expected, str):
            used += read_repeated(open_file(path), ["c0"]) is not None  # type: ignore[arg-type]
    assert used > (5 if odd else 70)


def test_distinct_lines_are_parsed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_lines, "_LEAST", 0)
    path = tmp_path / "some.csv"
    path.write_text("x;y\n" + "".join(f"{number % 50};z\n" for number in range(40_000)))
    table = read_repeated(open_file(path), ["x"])
    assert table is not None
    assert table["x"].cast(pl.String).cast(pl.Int64).to_list() == [number % 50 for number in range(40_000)]
    path.write_text("x;y\n" + "".join(f"{number};z\n" for number in range(40_000)))
    assert read_repeated(open_file(path), ["x"]) is None


def test_whether_rows_repeat_is_estimated() -> None:
    rng = random.Random(1)
    for distinct in (10, 1000, 100_000, 1_000_000):
        sample = Counter(rng.randrange(distinct) for _ in range(4000))
        assert rows_repeat(sample.values(), 1_000_000) == (distinct < 1_000_000 / 8)


def batches(rows: pl.DataFrame, size: int) -> Iterator[pl.DataFrame]:
    yield from rows.iter_slices(size)


def test_all_rows_come_back(always: None) -> None:
    rng = random.Random(3)
    for _ in range(100):
        rows = pl.DataFrame(
            random_table(rng, CELLS, 4), schema=["times", "y", "z", "^y.*$"], orient="row"
        ).with_columns(pl.col("z").cast(pl.Categorical))
        found = count_equal(batches(rows, rng.randint(1, 20)), rows.schema)
        assert isinstance(found, EqualRows)
        assert found.distinct.n_unique() == found.distinct.height
        expected = sorted(map(repr, rows.rows()))
        assert sorted(map(repr, pl.concat(found.pieces()).rows())) == expected
        assert sorted(map(repr, found.plan().collect().rows())) == expected
        assert found.plan().head(2).collect().height == min(2, rows.height)
        assert found.plan().select("y").collect().columns == ["y"]


def test_no_rows(tmp_path: Path, always: None) -> None:
    rows = pl.DataFrame(schema={"x": pl.String, "len": pl.Int64})
    found = count_equal([rows], rows.schema)
    assert isinstance(found, EqualRows)
    assert list(found.pieces()) == []
    write_data(rows.lazy(), tmp_path / "some.csv", Format("csv"), shuffle=Shuffle(1))
    assert (tmp_path / "some.csv").read_text() == "x,len\n"


@pytest.mark.parametrize("limit", ["_REPEATS", "_MOST_CELLS"])
def test_rows_that_turn_out_to_differ_are_handed_on(monkeypatch: pytest.MonkeyPatch, limit: str) -> None:
    rows = pl.DataFrame({"x": [1] * 300 + list(range(300))})
    monkeypatch.setattr(_equal, limit, 1 << 20 if limit == "_REPEATS" else 5)
    monkeypatch.setattr(_equal, "rows_repeat", lambda *_: True)
    found = count_equal(batches(rows, 100), rows.schema)
    assert not isinstance(found, EqualRows)
    assert pl.concat(found)["x"].sort().to_list() == rows["x"].sort().to_list()


def test_values_that_count_as_equal_keep_their_difference(always: None) -> None:
    for values in ([0.0, -0.0] * 50, [[0.0], [-0.0]] * 50):
        rows = pl.DataFrame({"x": values})
        found = count_equal(batches(rows, 10), rows.schema)
        assert not isinstance(found, EqualRows)
        assert sorted(map(repr, pl.concat(found).rows())) == sorted(map(repr, rows.rows()))


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_what_is_written_is_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, always: None, kind: str) -> None:
    rng, layout = random.Random(5), Format(kind)
    monkeypatch.setattr(_write, "_BLOCK", 20)
    for number in range(40):
        cells = [*CELLS, *ODD[:4]] if number % 2 else CELLS
        rows = pl.DataFrame(random_table(rng, cells, 3), schema=["x", "y", "z"], orient="row")
        rows = rows.with_columns(pl.when(pl.col("x") != "").then(pl.col("x")))
        one, other = tmp_path / "one", tmp_path / "other"
        schema = write_data(rows.lazy(), one, layout, shuffle=Shuffle(9))
        with monkeypatch.context() as usual:
            usual.setattr(_equal, "rows_repeat", lambda *_: False)
            assert write_data(rows.lazy(), other, layout, shuffle=Shuffle(9)) == schema
        if kind == "parquet":
            assert pl.read_parquet(one).equals(pl.read_parquet(other))
        else:
            assert one.read_bytes() == other.read_bytes()
