"""What is written leaves in random order; frames in memory keep theirs."""

import hashlib
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import discreet as dc
from discreet.engines import shuffle as _shuffle
from discreet.engines import to_lazy
from discreet.errors import UsageError
from discreet.job import Job

PLACES = [
    "safe.csv",
    "safe.tsv",
    "safe.parquet",
    "safe.jsonl",
    "safe.csv.gz",
    "safe.csv.zst",
    "safe.xlsx",
    "safe/",
    "sqlite:///{folder}/safe.db?table=safe",
    "duckdb:///{folder}/safe.duckdb?table=safe",
]
SETTINGS: dict[str, Any] = {
    "identifiers": "name",
    "quasi_identifiers": {"sex": None},
    "privacy": "k(2)",
    "keep": ["number"],
}


def people(n: int = 300) -> pl.DataFrame:
    """Return people sorted by name, each of whom has a number of their own."""
    return pl.DataFrame(
        {
            "name": [f"person {number:03}" for number in range(n)],
            "sex": ["f", "m", "m"] * (n // 3),
            "number": range(n),
        }
    )


def place(folder: Path, name: str) -> str:
    return name.format(folder=folder) if "://" in name else f"{folder}/{name}"


def numbers(output: str) -> list[int]:
    return to_lazy(output).collect()["number"].cast(pl.Int64).to_list()


def is_shuffled(found: list[int], n: int = 300) -> bool:
    """Whether all are there, and hardly anybody stands in their place or behind the one before them."""
    in_place = sum(number == at for at, number in enumerate(found))
    behind = sum(later - before == 1 for before, later in pairwise(found))
    return sorted(found) == list(range(n)) and in_place < 15 and behind < 15


@pytest.mark.parametrize("name", PLACES)
@pytest.mark.parametrize("engine", ["polars", "duckdb", "in files"])
def test_written_in_random_order(tmp_path: Path, name: str, engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if engine == "in files":
        monkeypatch.setattr(_shuffle, "IN_MEMORY", 0)
    people().write_parquet(tmp_path / "people.parquet")
    output = place(tmp_path, name)
    chosen: Any = {"engine": "duckdb"} if engine == "duckdb" else {}
    release = dc.anonymize(tmp_path / "people.parquet", output=output, **SETTINGS, **chosen)
    assert is_shuffled(numbers(output))
    assert not any("order" in note for note in release.notes)
    kept = dc.anonymize(tmp_path / "people.parquet", output=output, order="keep", **SETTINGS, **chosen)
    assert any("original order, which may identify people" in note for note in kept.notes)
    if engine != "duckdb":
        assert numbers(output) == list(range(300))


@pytest.mark.parametrize("name", PLACES)
def test_frames_keep_their_order_and_are_shuffled_when_written(tmp_path: Path, name: str) -> None:
    release = dc.anonymize(people(), **SETTINGS)
    assert release.frame["number"].to_list() == list(range(300))
    release.write(place(tmp_path, name))
    assert is_shuffled(numbers(place(tmp_path, name)))
    release.write(place(tmp_path, name), order="keep")
    assert numbers(place(tmp_path, name)) == list(range(300))


def test_frame_beside_an_output_keeps_its_order(tmp_path: Path) -> None:
    frame = people().to_pandas().set_index("number", drop=False)
    release = dc.anonymize(frame, output=tmp_path / "safe.csv", **SETTINGS)
    assert release.frame.index.to_list() == list(range(300))
    assert is_shuffled(numbers(f"{tmp_path}/safe.csv"))


@pytest.mark.parametrize("database", ["sqlite", "duckdb"])
def test_table_recoded_in_its_database(tmp_path: Path, database: str) -> None:
    url = f"{database}:///{tmp_path}/clinic.db?table="
    dc.anonymize(
        people(),
        output=f"{url}people",
        order="keep",
        **{**SETTINGS, "identifiers": (), "keep": ["name", "number"]},
        types={},
    )
    settings = {**SETTINGS, "identifiers": "name"}
    release = dc.anonymize(f"{url}people", output=f"{url}safe", seed=1, **settings)
    first = numbers(f"{url}safe")
    assert is_shuffled(first)
    dc.anonymize(f"{url}people", output=f"{url}safe", seed=1, **settings)
    assert numbers(f"{url}safe") == first
    with pytest.raises(UsageError, match='order="keep"'):
        release.rows_of(f"{url}people")


@pytest.mark.parametrize("name", ["safe.csv", "safe.parquet", "safe.jsonl", "safe.csv.gz", "safe/"])
@pytest.mark.parametrize("engine", ["polars", "duckdb", "in files"])
def test_seed_repeats_every_byte_whatever_the_order_of_the_table(
    tmp_path: Path, name: str, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if engine == "in files":
        monkeypatch.setattr(_shuffle, "IN_MEMORY", 0)
    chosen: Any = {"engine": "duckdb"} if engine == "duckdb" else {}
    digests = set()
    for seed in (None, 1, 2):
        table = people() if seed is None else people().sample(fraction=1, shuffle=True, seed=seed)
        table.write_parquet(tmp_path / "people.parquet")
        dc.anonymize(tmp_path / "people.parquet", output=place(tmp_path, name), seed=7, **SETTINGS, **chosen)
        digests.add(_digest(Path(place(tmp_path, name))))
    assert len(digests) == 1
    dc.anonymize(tmp_path / "people.parquet", output=place(tmp_path, name), seed=8, **SETTINGS, **chosen)
    assert _digest(Path(place(tmp_path, name))) not in digests


def _digest(path: Path) -> str:
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


@pytest.mark.parametrize("in_memory", [True, False])
def test_rows_of_follows_the_order_of_what_was_written(
    tmp_path: Path, in_memory: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not in_memory:
        monkeypatch.setattr(_shuffle, "IN_MEMORY", 0)
    people().write_csv(tmp_path / "people.csv")
    release = dc.anonymize(tmp_path / "people.csv", output=tmp_path / "safe.csv", **SETTINGS)
    rows = release.rows_of(tmp_path / "people.csv")
    assert rows.to_list() == release.frame["number"].cast(pl.Int64).to_list()
    assert rows.to_list() != list(range(300))


def test_rows_of_says_why_it_cannot(tmp_path: Path) -> None:
    people().write_parquet(tmp_path / "people.parquet")
    release = dc.anonymize(tmp_path / "people.parquet", output=tmp_path / "safe.parquet", engine="duckdb", **SETTINGS)
    with pytest.raises(UsageError, match="random order"):
        release.rows_of(tmp_path / "people.parquet")


def test_point_of_a_front_and_mapping(tmp_path: Path) -> None:
    people().write_csv(tmp_path / "people.csv")
    front = dc.pareto(people().drop("name"), quasi_identifiers=["sex"], keep=["number"])
    front.release(output=tmp_path / "front.csv")
    assert is_shuffled(numbers(f"{tmp_path}/front.csv"))
    front.release(output=tmp_path / "front.csv", order="keep")
    assert numbers(f"{tmp_path}/front.csv") == list(range(300))
    mapping = dc.anonymize(tmp_path / "people.csv", **SETTINGS).to_mapping()
    for broken in ("error", "suppress"):
        applied = dc.apply_mapping(mapping, tmp_path / "people.csv", output=tmp_path / "more.csv", broken=broken)
        assert is_shuffled(numbers(f"{tmp_path}/more.csv"))
        assert applied.notes == ()
        applied = dc.apply_mapping(
            mapping, tmp_path / "people.csv", output=tmp_path / "more.csv", broken=broken, order="keep"
        )
        assert numbers(f"{tmp_path}/more.csv") == list(range(300))
        assert "may identify people" in applied.summary()


def test_job_file(tmp_path: Path) -> None:
    people().write_csv(tmp_path / "people.csv")
    job = {
        "input": "people.csv",
        "output": "safe.csv",
        "identifiers": "name",
        "quasi_identifiers": ["sex"],
        "keep": ["number"],
    }
    (tmp_path / "job.json").write_text(json.dumps({**job, "privacy": "k(2)"}))
    assert Job.load(tmp_path / "job.json").run().job["order"] == "random"
    assert is_shuffled(numbers(f"{tmp_path}/safe.csv"))
    (tmp_path / "job.json").write_text(json.dumps({**job, "privacy": "k(2)", "order": "keep"}))
    assert Job.load(tmp_path / "job.json").run().job["order"] == "keep"
    assert numbers(f"{tmp_path}/safe.csv") == list(range(300))
    (tmp_path / "job.json").write_text(json.dumps({**job, "privacy": "k(2)", "order": "sorted"}))
    with pytest.raises(UsageError, match="random or keep"):
        Job.load(tmp_path / "job.json").plan()


def test_other_orders_are_refused() -> None:
    with pytest.raises(UsageError, match="random or keep, not 'sorted'"):
        dc.anonymize(people(), order="sorted", **SETTINGS)  # type: ignore[arg-type]


def test_writing_in_order_says_so(tmp_path: Path) -> None:
    """A frame in memory that is written as it is gets the warning a job gets; one already shuffled does not."""
    table = pl.DataFrame({"age": [30, 30, 41, 41] * 3})
    release = dc.anonymize(table, quasi_identifiers=["age"], privacy="k(2)")
    release.write(tmp_path / "random.csv")
    assert not release.warnings
    release.write(tmp_path / "kept.csv", order="keep")
    assert any("original order" in warning for warning in release.warnings)
    table.write_csv(tmp_path / "people.csv")
    written = dc.anonymize(
        tmp_path / "people.csv", quasi_identifiers=["age"], privacy="k(2)", output=tmp_path / "s.csv"
    )
    written.write(tmp_path / "again.csv", order="keep")
    assert not any("original order" in warning for warning in written.warnings)


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_utility_of_released_people_compares_the_same_rows(tmp_path: Path, engine: str) -> None:
    """What is measured row by row must not depend on the order the rows were written in."""
    table = pl.DataFrame({"age": [20 + i % 50 for i in range(400)], "sex": ["f", "m"] * 200})
    table.write_parquet(tmp_path / "people.parquet")
    asked: dict[str, Any] = {
        "quasi_identifiers": {"age": "intervals(5, 10)", "sex": "flat"},
        "privacy": "k(6)",
        "engine": engine,
    }
    memory = dc.anonymize(table, **{**asked, "engine": "auto"}).utility(only_released=True)
    for order in ("keep", "random"):
        release = dc.anonymize(tmp_path / "people.parquet", **asked, order=order, output=tmp_path / f"{order}.parquet")
        assert release.utility(only_released=True).costs.equals(memory.costs)
        assert release.utility(only_released=True).attributes.equals(memory.attributes)
