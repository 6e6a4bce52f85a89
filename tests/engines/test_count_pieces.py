"""A table that is counted piece by piece gives what counting row by row gives, however small the pieces are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import discreet as dc
from discreet.engines import open_source
from discreet.engines.polars import count as _pieces
from discreet.engines.polars import source as _polars
from discreet.pipeline.audit import files as _files
from discreet.pipeline.audit import table as _table

ROWS = 103
JOB: dict[str, Any] = {"quasi_identifiers": {"age": "intervals(10, 20, 40)", "sex": "flat()"}, "sensitive": "disease"}


def people() -> pl.DataFrame:
    row = pl.int_range(ROWS)
    return pl.select(
        age=pl.when(row % 11 == 0).then(None).otherwise(row * 7 % 40 + 20),
        sex=pl.when(row % 13 == 0)
        .then(None)
        .otherwise(pl.when(row * 3 % 5 < 2).then(pl.lit("f")).otherwise(pl.lit("m"))),
        dose=pl.when(row % 7 == 0).then(float("nan")).when(row % 7 == 1).then(-0.0).otherwise(row % 3 / 2),
        disease=pl.format("d{}", row * row % 4),
        weight=row % 5 + 0.25,
        last=pl.lit("x"),
    )


def in_file(folder: Path) -> Path:
    people().write_parquet(folder / "people.parquet", row_group_size=9)
    return folder / "people.parquet"


def in_folder(folder: Path) -> Path:
    for number, part in enumerate(people().iter_slices(40)):
        part.write_parquet(folder / f"{number}.parquet")
    return folder


def as_text(folder: Path) -> Path:
    people().with_columns(pl.col("dose").fill_nan(None).abs()).write_csv(folder / "people.csv")
    return folder / "people.csv"


def as_lines(folder: Path) -> Path:
    people().with_columns(pl.col("dose").fill_nan(None).abs()).write_ndjson(folder / "people.jsonl")
    return folder / "people.jsonl"


def lazily(folder: Path) -> pl.LazyFrame:
    return pl.scan_parquet(in_file(folder)).filter(pl.col("last") == "x")


SOURCES: list[Callable[[Path], Any]] = [in_file, in_folder, as_text, as_lines, lazily]


@pytest.fixture
def pieces(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Make pieces of a few rows, and note how many there are."""
    seen: list[int] = []

    def noted(cut: Callable[..., Any]) -> Callable[..., Any]:
        def cut_and_note(*arguments: Any, **named: Any) -> Any:
            for piece in cut(*arguments, **named):
                seen.append(1)
                yield piece

        return cut_and_note

    monkeypatch.setattr(_pieces, "PIECE_ROWS", 10)
    monkeypatch.setattr(_pieces, "PIECE_BYTES", 200)
    monkeypatch.setattr(_pieces, "_BATCH_ROWS", 8)
    monkeypatch.setattr(_polars, "HELD", 0)
    for name in ("in_slices", "in_batches"):
        monkeypatch.setattr(_polars, name, noted(getattr(_pieces, name)))
    monkeypatch.setattr(_files, "_SLICE_ROWS", 10)
    monkeypatch.setattr(_table, "_PIECE_BYTES", 200)
    monkeypatch.setattr(_table, "_BATCH_ROWS", 8)
    monkeypatch.setattr(_table, "_MERGED_BYTES", 100)
    monkeypatch.setattr(_files, "in_batches", noted(_table.in_batches))
    monkeypatch.setattr(_table, "in_batches", noted(_table.in_batches))
    monkeypatch.setattr(_files.ReleasedFile, "pieces", noted(_files.ReleasedFile.pieces))
    return seen


def rows_counted() -> Counter[tuple[Any, ...]]:
    """Every row by itself: NaN is missing, and minus zero is zero."""
    found: Counter[tuple[Any, ...]] = Counter()
    for age, sex, dose in people().select("age", "sex", "dose").rows():
        found[_text(age), sex, "None" if dose != dose else _text(abs(dose))] += 1
    return found


def _text(value: Any) -> str:
    return str(value).removesuffix(".0")


@pytest.mark.parametrize("make", SOURCES)
def test_counts(make: Callable[[Path], Any], tmp_path: Path, pieces: list[int]) -> None:
    counted = open_source(make(tmp_path)).count(["age", "sex", "dose"])
    assert len(pieces) > 1
    found = Counter({(_text(age), sex, _text(dose)): rows for age, sex, dose, rows in counted.rows()})
    assert found == rows_counted()
    assert counted.height == len(found)
    assert counted.dtypes[-1] == pl.Int64


@pytest.mark.parametrize("make", SOURCES)
def test_weights(make: Callable[[Path], Any], tmp_path: Path, pieces: list[int]) -> None:
    counted = open_source(make(tmp_path)).count(["sex"], "weight")
    assert len(pieces) > 1
    found = {sex: tuple(rest) for sex, *rest in counted.rows()}
    for sex in ("f", "m", None):
        weights = people().filter(pl.col("sex").eq_missing(pl.lit(sex)))["weight"].to_list()
        millionths = sum(round(weight * 1_000_000) for weight in weights)
        assert found[sex] == (len(weights), millionths, len(weights), min(weights), max(weights))


@pytest.mark.parametrize("make", SOURCES)
def test_releases_and_audits(make: Callable[[Path], Any], tmp_path: Path, pieces: list[int]) -> None:
    settings = {**JOB, "privacy": ["k(4)", "distinct-l(2, disease)"], "suppression": "budget(20%)"}
    folder = tmp_path / "in"
    folder.mkdir()
    release = dc.anonymize(make(folder), **settings, output=tmp_path / "safe.parquet")
    wanted = dc.anonymize(people(), **settings)
    assert len(pieces) > 2
    assert (release.cost, release.suppressed) == (wanted.cost, wanted.suppressed)
    assert release.audit.to_dict()["rows"] == wanted.audit.to_dict()["rows"] == ROWS - wanted.suppressed
    assert release.audit.classes == wanted.audit.classes
    before = len(pieces)
    verdict = dc.audit(
        tmp_path / "safe.parquet",
        quasi_identifiers=["age", "sex"],
        privacy=settings["privacy"],
        rows=ROWS - wanted.suppressed,
    )
    assert len(pieces) - before > 1
    assert verdict.passed


@pytest.mark.parametrize("make", SOURCES)
def test_an_audit_in_pieces_is_that_of_the_whole(
    make: Callable[[Path], Any], tmp_path: Path, pieces: list[int]
) -> None:
    settings: dict[str, Any] = {
        "quasi_identifiers": ["age", "sex", "dose"],
        "privacy": ["k(2)", "distinct-l(2, disease)", "k-map(3)"],
        "weights": "weight",
    }
    found = dc.audit(make(tmp_path), **settings)
    assert len(pieces) > 2
    wanted = dc.audit(people().to_pandas(), **settings)
    assert (found.to_dict(), found.sizes) == (wanted.to_dict(), wanted.sizes)
    assert found.classes == len(rows_counted())


@pytest.mark.parametrize("make", [in_file, lazily])
def test_no_rows(make: Callable[[Path], Any], tmp_path: Path, pieces: list[int]) -> None:
    data = make(tmp_path)
    people().clear().write_parquet(tmp_path / "people.parquet")
    assert open_source(data).count(["age", "sex"]).is_empty()
    assert pieces == [1]


def test_a_plan_that_fails_is_told_in_one_sentence(tmp_path: Path, pieces: list[int]) -> None:
    plan = lazily(tmp_path).with_columns(pl.col("disease").cast(pl.Int64))
    with pytest.raises(dc.DataError, match="The lazy frame cannot be run") as error:
        open_source(plan).count(["disease"])
    assert "d1" not in str(error.value)
