"""Rows and values suppressed inside classes: for every kind of data, counted again row by row in plain Python."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import naive
from discreet.engines import open_source, to_lazy
from discreet.engines.polars import source as engine
from discreet.errors import InfeasibleError, UsageError
from discreet.pipeline.anonymize import anonymize
from discreet.pipeline.audit import audit
from discreet.pipeline.release import Release
from discreet.solve import Solution
from exhaustive import Exhaustive

KINDS = ("class-records", "violating-records", "class-values", "violating-values")
QI: dict[str, Any] = {"age": "intervals(10, 20)", "zip": "mask(digits=3)", "sex": "flat()"}
THETA = 0.5

Row = dict[str, Any]
Blocks = dict[str, list[set[Any]]]


def table(seed: int, n: int = 40) -> pl.DataFrame:
    """Nulls everywhere, few values, and numbers for each row to tell what became of it."""
    rng = np.random.default_rng(seed)

    def pick(values: list[Any], shares: list[float]) -> list[Any]:
        return [values[place] for place in rng.choice(len(values), n, p=shares)]

    return pl.DataFrame(
        {
            "row": range(n),
            "age": pick([21, 24, 33, None], [0.3, 0.3, 0.3, 0.1]),
            "disease": pick(["flu", "hiv", "ache", None], [0.45, 0.25, 0.2, 0.1]),
            "zip": pick(["011", "012", "020"], [0.4, 0.4, 0.2]),
            "sex": pick(["m", "f", None], [0.5, 0.4, 0.1]),
            "income": pick(["low", "high"], [0.6, 0.4]),
        }
    )


def run(data: Any, kind: str, **options: Any) -> Release:
    job: dict[str, Any] = {
        "quasi_identifiers": QI,
        "sensitive": "disease",
        "privacy": f"l+({THETA}, disease)",
        "scheme": "subtree",
        "solver": Exhaustive(),
        "suppression": kind,
        "keep": [column for column in open_source(data).columns if column == "row"],
    }
    return anonymize(data, **{**job, **options})


def plain(value: Any) -> Any:
    """A value as text; numbers that came as floats are the same numbers."""
    return None if value is None or value != value else str(value).removesuffix(".0")


def expected(rows: list[Row], blocks: Blocks, kind: str, sensitive: str = "disease") -> dict[int, Any]:
    """For each row that must be released its sensitive value, or ``*``."""
    block_of = {c: {plain(v): number for number, block in enumerate(sets) for v in block} for c, sets in blocks.items()}
    classes: dict[Any, list[int]] = {}
    for number, row in enumerate(rows):
        classes.setdefault(tuple(block_of[c][plain(row[c])] for c in blocks), []).append(number)
    found: dict[int, Any] = {}
    for members in classes.values():
        counts = Counter(rows[number][sensitive] for number in members)
        thetas = dict.fromkeys(counts, THETA)
        ok = naive.l_plus(counts, thetas)
        if kind == "class-records":
            found |= {number: rows[number][sensitive] for number in members if ok}
        elif kind == "violating-records":
            for value, going in naive.lemma_3(counts, thetas).items():
                having = [number for number in members if rows[number][sensitive] == value]
                found |= dict.fromkeys(having[: len(having) - going], value)
        else:
            hidden = naive.class_values(counts, lambda _, ok=ok: ok)
            if kind == "violating-values":
                hidden = naive.violating_values(counts, thetas)
            found |= {n: "*" if hidden[rows[n][sensitive]] else rows[n][sensitive] for n in members}
    return dict(sorted(found.items()))


def check(release: Release, rows: list[Row], kind: str) -> None:
    """Compare what was released, and what is said about it, with the definitions."""
    wanted = expected(rows, release.blocks, kind)
    got = to_lazy(release.frame).collect()
    numbers = [int(float(number)) for number in got["row"].to_list()]
    assert numbers == list(wanted)
    assert [plain(value) for value in got["disease"].to_list()] == [plain(value) for value in wanted.values()]
    assert release.suppressed == len(rows) - len(wanted)
    assert release.suppressed_values == sum(value == "*" for value in wanted.values())
    for column, sets in release.blocks.items():
        block_of = {plain(value): number for number, block in enumerate(sets) for value in block}
        pairs = {
            (plain(value), block_of[plain(rows[number][column])])
            for value, number in zip(got[column].to_list(), numbers, strict=True)
        }
        assert len(pairs) == len({name for name, _ in pairs}) == len({block for _, block in pairs})
    assert release.audit.passed
    assert release.levels == {}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_data(kind: str, constructor: Any) -> None:
    people = table(1)
    release = run(constructor(people), kind)
    check(release, people.rows(named=True), kind)
    assert release.suppressed + release.suppressed_values > 0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(12))
def test_random_tables(kind: str, seed: int) -> None:
    people = table(seed, n=10 + 3 * seed)
    check(run(people, kind), people.rows(named=True), kind)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl", "xlsx"])
def test_files_are_audited_as_they_were_written(kind: str, suffix: str, tmp_path: Path) -> None:
    people = table(2)
    people.write_csv(tmp_path / "people.csv")
    release = run(tmp_path / "people.csv", kind, output=tmp_path / f"safe.{suffix}", order="keep")
    check(release, people.rows(named=True), kind)
    promises: dict[str, Any] = {"quasi_identifiers": list(QI), "privacy": f"l+({THETA}, disease)"}
    assert audit(tmp_path / f"safe.{suffix}", **promises, unknown="*").passed


@pytest.mark.parametrize("kind", KINDS)
def test_files_too_large_to_hold(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "HELD", 0)
    people = table(3)
    people.write_csv(tmp_path / "people.csv")
    check(run(tmp_path / "people.csv", kind), people.rows(named=True), kind)


def test_class_labels_decide_which_rows_go(frame_constructor: Any) -> None:
    people = table(4, n=60)
    rows = people.rows(named=True)
    release = run(frame_constructor(people), "violating-records", class_attribute="income")
    got = [int(number) for number in to_lazy(release.frame).collect()["row"].to_list()]
    wanted = expected(rows, release.blocks, "violating-records")
    assert len(got) == len(wanted)
    assert Counter(rows[n]["disease"] for n in got) == Counter(wanted.values())
    # Of the rows of a class with one disease, those with the later label go first, and of these the last ones.
    block_of = {c: {plain(v): i for i, block in enumerate(s) for v in block} for c, s in release.blocks.items()}
    parts: dict[Any, list[int]] = {}
    for number, row in enumerate(rows):
        parts.setdefault((*(block_of[c][plain(row[c])] for c in QI), row["disease"]), []).append(number)
    stay = []
    for members in parts.values():
        by_label = sorted(members, key=lambda n: (sorted(["low", "high"]).index(rows[n]["income"]), n))
        stay += by_label[: sum(number in wanted for number in members)]
    assert got == sorted(stay)
    assert got != list(wanted)


@pytest.mark.parametrize("seed", range(4))
def test_the_dearest_rows_go(frame_constructor: Any, seed: int) -> None:
    """HDM suppresses the rows of a class and disease that would cost most if published."""
    people = table(seed, n=60)
    rows = people.rows(named=True)
    release = run(frame_constructor(people), "violating-records", cost="HDM", solver="auto")
    got = {int(number) for number in to_lazy(release.frame).collect()["row"].to_list()}
    assert 0 < len(got) < len(rows)
    n, block_of = len(rows), {}
    for c, blocks in release.blocks.items():
        block_of[c] = {plain(value): frozenset(map(plain, block)) for block in blocks for value in block}
    count = {c: Counter(plain(row[c]) for row in rows) for c in QI}

    def cost(row: dict[str, Any]) -> float:
        total = 0.0
        for c in QI:
            own = count[c][plain(row[c])]
            total += (sum(count[c][value] for value in block_of[c][plain(row[c])]) - own) / (n - own) if n > own else 0
        return total / len(QI)

    parts: dict[Any, list[int]] = {}
    for number, row in enumerate(rows):
        parts.setdefault((*(block_of[c][plain(row[c])] for c in QI), row["disease"]), []).append(number)
    for members in parts.values():
        stay, gone = [cost(rows[m]) for m in members if m in got], [cost(rows[m]) for m in members if m not in got]
        assert not stay or not gone or max(stay) <= min(gone) + 1e-12
    assert release.cost == pytest.approx(sum(cost(rows[m]) for m in got) + n - len(got))


def test_a_class_label_may_be_a_quasi_identifier() -> None:
    people = table(5, n=60)
    quasi = {**QI, "income": "flat()"}
    release = run(people, "violating-records", class_attribute="income", quasi_identifiers=quasi)
    rows = people.rows(named=True)
    wanted = expected(rows, release.blocks, "violating-records")
    assert release.frame.height == len(wanted)
    assert Counter(release.frame["disease"]) == Counter(wanted.values())


def test_pandas_keeps_its_index_and_columns() -> None:
    frame = table(1).to_pandas()
    frame.index = pd.Index([f"r{number // 2}" for number in range(len(frame))], name="twice")
    frame[7] = [object() for _ in range(len(frame))]
    keep = ["row", "twice", "7"]
    released = run(frame, "violating-records", keep=keep).frame
    places = released["row"].to_numpy()
    assert 0 < len(places) < len(frame)
    pd.testing.assert_index_equal(released.index, frame.index[places])
    assert [*released.columns] == [*frame.columns]
    assert all(mine is theirs for mine, theirs in zip(released[7], frame[7].iloc[places], strict=True))
    hidden = run(frame, "class-values", keep=keep).frame
    pd.testing.assert_index_equal(hidden.index, frame.index)
    assert [*hidden.columns] == [*frame.columns]


TYPED = {
    "integer": pl.Series([1, 2, 3], dtype=pl.Int16),
    "float": pl.Series([0.5, 2.0, -0.0]),
    "text": pl.Series(["1", "2", "3"]),
    "decimal": pl.Series(["1.50", "2.25", "3.00"]).str.to_decimal(scale=2),
    "date": pl.Series(["2020-01-01", "1970-01-01", "1999-12-31"]).str.to_date(),
    "datetime": pl.Series(
        ["2020-01-01 00:00:00.0", "1970-01-01 10:30:00.5", "1999-01-01 12:00:00.0"]
    ).str.to_datetime(),
    "midnight": pl.Series(["2020-01-01", "1970-01-01", "1999-01-01"]).str.to_datetime(),
    "zone": pl.Series(["2020-01-01", "1970-07-01", "1999-01-01"]).str.to_datetime(time_zone="Europe/Berlin"),
    "truth": pl.Series([True, False, True]),
    "category": pl.Series(["x", "y", "z"], dtype=pl.Categorical),
    "enum": pl.Series(["x", "y", "z"], dtype=pl.Enum(["z", "y", "x"])),
}


@pytest.mark.parametrize("name", TYPED)
@pytest.mark.parametrize("kind", ["violating-records", "violating-values"])
@pytest.mark.parametrize("backend", ["polars", "pandas", "pyarrow"])
def test_sensitive_columns_of_every_type(name: str, kind: str, backend: str, tmp_path: Path) -> None:
    values = TYPED[name].gather([0, 0, 0, 1, 1, 2, 2, 0]).extend_constant(None, 4).alias("disease")
    people = pl.DataFrame({"disease": values, "q": ["a"] * 6 + ["b"] * 6, "row": range(12)})
    data = {"polars": people, "pandas": people.to_pandas(), "pyarrow": people.to_arrow()}[backend]
    job: dict[str, Any] = {"quasi_identifiers": {"q": "flat()"}, "privacy": "l+(0.4, disease)"}
    if kind == "violating-values":
        unknown = to_lazy(run(data, kind, **job, output=tmp_path / "unknown.csv").frame).collect()
        assert unknown["disease"].null_count() == 4  # a missing value is never too frequent
    job["missing_sensitive"] = "value"
    release = run(data, kind, **job, output=tmp_path / "safe.csv")
    frame = to_lazy(release.frame).collect()
    counts = [Counter(values[number] for number in part) for part in (range(6), range(6, 12))]
    if kind == "violating-values":
        assert frame["disease"].dtype == pl.String
        assert frame["row"].to_list() == list(range(12))
        assert [value == "*" for value in frame["disease"].to_list()] == [
            counts[number // 6][values[number]] > 2.4 for number in range(12)
        ]
        assert frame["disease"].null_count() == 0  # the four missing ones were too many in their class
    else:
        assert frame["disease"].cast(values.dtype).to_list() == [values[number] for number in frame["row"].to_list()]
        assert release.suppressed == 12 - frame.height > 0


def test_floats_are_written_as_they_are_compared() -> None:
    people = pl.DataFrame({"disease": [1.5, 1.5, 2.0, float("nan"), -0.0, 7.25], "q": ["a"] * 3 + ["b"] * 3})
    released = run(people, "violating-values", quasi_identifiers={"q": "flat()"}).frame
    if released["q"].n_unique() == 2:
        assert released["disease"].to_list() == ["*", "*", "2", None, "0", "7.25"]


@pytest.mark.parametrize("kind", ["class-values", "violating-values"])
def test_nothing_suppressed_leaves_the_column_as_it_is(kind: str) -> None:
    people = pl.DataFrame({"disease": [1, 2, 1, 2], "q": ["a", "a", "b", "b"]})
    release = run(people, kind, quasi_identifiers={"q": "flat()"})
    assert release.frame.equals(people)
    assert release.suppressed_values == 0


@pytest.mark.parametrize("kind", ["class-values", "violating-values"])
def test_a_star_in_the_data_is_refused_at_the_start(kind: str, constructor: Any) -> None:
    people = pl.DataFrame({"disease": ["flu", "*", "ache", "flu"], "q": ["a", "a", "b", "b"], "other": ["*"] * 4})
    with pytest.raises(UsageError, match="Column 'disease' has the value") as caught:
        run(constructor(people), kind, quasi_identifiers={"q": "flat()"})
    assert caught.value.column == "disease"
    assert run(people, "violating-records", quasi_identifiers={"q": "flat()"}).audit.passed
    clean = people.with_columns(disease=pl.Series(["flu", "hiv", "ache", "flu"]))
    assert run(clean, kind, quasi_identifiers={"q": "flat()"}).audit.passed


def test_values_cannot_mend_small_classes() -> None:
    people = pl.DataFrame({"disease": ["flu", "hiv"], "q": ["a", "b"]})
    job: dict[str, Any] = {"quasi_identifiers": {"q": "flat()"}, "max_levels": {"q": 0}, "scheme": "full-domain"}
    with pytest.raises(InfeasibleError, match="class-values, under which every row stays"):
        run(people, "class-values", **job, privacy=["k(2)", "l+(0.5)"], solver=Hopeless())


class Hopeless(Exhaustive):
    def solve(self, problem: Any, budget: Any, progress: Any = None) -> Solution:
        return Solution("infeasible", np.inf, np.inf)


def test_columns_with_the_names_used_inside() -> None:
    people = table(6)
    same = (pl.col("row").alias(name) for name in ("part", "count", "class0", "value_", "code"))
    renamed = people.with_columns(same).rename({"disease": "value", "age": "label"})
    job: dict[str, Any] = {"quasi_identifiers": {"label": QI["age"], "sex": QI["sex"]}, "sensitive": "value"}
    job["keep"] = ["row", "part", "count", "class0", "value_", "code"]
    for kind in KINDS:
        release = run(renamed, kind, **job, privacy=f"l+({THETA}, value)")
        wanted = expected(renamed.rows(named=True), release.blocks, kind, "value")
        assert release.frame["row"].to_list() == list(wanted)
        assert release.frame["value"].to_list() == list(wanted.values())
        assert release.frame.columns == renamed.columns


def test_missing_quasi_identifiers_left_out_first() -> None:
    people = table(7)
    release = run(people, "violating-records", missing="suppress")
    known = people.drop_nulls(list(QI))
    rows = known.rows(named=True)
    wanted = expected(rows, release.blocks, "violating-records")
    assert release.frame["row"].to_list() == [rows[number]["row"] for number in wanted]
    assert release.dropped_missing == people.height - known.height


def test_no_value_is_in_a_report(tmp_path: Path) -> None:
    people = table(1).with_columns(disease=pl.lit("SECRET-") + pl.col("disease"), sex=pl.lit("SECRET-") + pl.col("sex"))
    for kind in KINDS:
        release = run(people, kind)
        for suffix in ("json", "txt", "md"):
            assert "SECRET" not in release.report(tmp_path / f"r.{suffix}").read_text()
        facts = json.loads((tmp_path / "r.json").read_text())
        assert facts["scheme"] == "subtree"
        assert facts["suppressed_values"] == release.suppressed_values
        assert facts["released_values"] == {c: release.frame[c].n_unique() for c in release.released_values}
        assert "seed" not in facts
        assert "seed" not in facts["job"]
        text = (tmp_path / "r.txt").read_text()
        assert "scheme" in text
        assert f"different values: age {release.frame['age'].n_unique()}" in text
        assert ("made unknown" in text) == bool(release.suppressed_values)
