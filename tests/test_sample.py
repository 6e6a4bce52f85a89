"""Made-up people: the same for the same seed, realistic, and written in parts."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from discreet import groups
from discreet.errors import OutputError, UsageError
from discreet.pipeline.sample_file import write_sample
from discreet.samples import COLUMNS, HIERARCHIES, sample, write_hierarchies
from discreet.schema import Hierarchy, as_hierarchy


@pytest.fixture(scope="module")
def people() -> pl.DataFrame:
    return sample(20_000, seed=1)


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("discreet.samples.people.CHUNK", 7)


def test_same_seed_same_people() -> None:
    assert sample(500, seed=3).equals(sample(500, seed=3))
    assert not sample(500, seed=3).equals(sample(500, seed=4))


@pytest.mark.parametrize("n", [0, 1, 7, 8, 14, 20])
def test_any_number_of_parts(n: int, small_parts: None) -> None:
    people = sample(n)
    assert people.columns == list(COLUMNS)
    assert people["person_id"].to_list() == list(range(1, n + 1))


@pytest.mark.parametrize("name", ["p.csv", "p.tsv", "p.csv.gz", "p.jsonl", "p.parquet"])
def test_files_hold_the_same_people_and_the_same_bytes(name: str, tmp_path: Path, small_parts: None) -> None:
    path = write_sample(tmp_path / name, 30, seed=5)
    first = path.read_bytes()
    write_sample(path, 30, seed=5)
    assert path.read_bytes() == first
    assert [file.name for file in tmp_path.iterdir()] == [name]
    expected = sample(30, seed=5)
    if name.endswith("parquet"):
        assert pl.read_parquet(path).equals(expected)
    elif name.endswith("jsonl"):
        assert pl.read_ndjson(path, schema_overrides=expected.schema).equals(expected)
    else:
        separator = "\t" if "tsv" in name else ","
        assert pl.read_csv(path, schema=expected.schema, separator=separator).equals(expected)


def test_people_are_realistic(people: pl.DataFrame) -> None:
    age = 2024 - people["birth_date"].dt.year()
    people = people.with_columns(age=age)
    assert age.min() == 0
    assert 90 <= age.max() <= 101
    assert people.filter(pl.col("diagnosis") == "Pregnancy")["sex"].unique().to_list() == ["female"]
    assert people.filter(pl.col("diagnosis") == "Dementia")["age"].mean() > 70
    assert people.filter(pl.col("education") == "Doctorate")["age"].min() >= 27
    assert people.filter(pl.col("age") < 5)["occupation"].drop_nulls().unique().to_list() == ["Child"]
    medians = people.group_by("occupation").agg(pl.col("income").median())
    income = dict(medians.iter_rows())
    assert income["Medicine"] > income["Office work"] > income["Cleaning"] > income["Student"]
    assert people["zip"].drop_nulls().str.len_chars().unique().to_list() == [5]
    by_prefix = people.drop_nulls("zip").group_by(pl.col("zip").str.head(2)).agg(pl.col("city").n_unique())
    assert by_prefix["city"].max() == 1


def test_some_values_are_missing(people: pl.DataFrame) -> None:
    missing = people.null_count().row(0, named=True)
    for column in ("zip", "education", "occupation", "marital_status", "income"):
        assert 0 < missing[column] < 0.05 * people.height
    assert not any(missing[column] for column in ("person_id", "name", "birth_date", "sex", "diagnosis"))


def test_hierarchies_cover_every_value(people: pl.DataFrame) -> None:
    for name, form in HIERARCHIES.items():
        if not isinstance(form, dict):
            as_hierarchy(form)
            continue
        leaves = set(groups(form).hierarchy.leaves)
        assert set(people[name].drop_nulls().unique()) <= leaves, name


def test_hierarchies_as_files(tmp_path: Path) -> None:
    files = write_hierarchies(tmp_path / "new")
    assert {file.stem for file in files} == {name for name, form in HIERARCHIES.items() if isinstance(form, dict)}
    for file in files:
        assert Hierarchy.from_csv(file) == groups(HIERARCHIES[file.stem]).hierarchy


@pytest.mark.parametrize(("n", "seed"), [(-1, 0), (1.5, 0), (True, 0), (1, -1), (1, "a")])
def test_bad_sizes(n: object, seed: object, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="whole number"):
        sample(n, seed)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="whole number"):
        write_sample(tmp_path / "p.csv", n, seed)  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())


def test_bad_places(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"end it in \.csv"):
        write_sample(tmp_path / "people.txt", 5)
    with pytest.raises(OutputError, match="There is no folder"):
        write_sample(tmp_path / "missing" / "people.csv", 5)
