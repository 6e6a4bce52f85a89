"""The same table gives the same release, whatever kind of data it comes as."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import discreet as dc
from discreet.engines import open_table, to_lazy
from discreet.engines.polars import source as engine
from discreet.pipeline.anonymize import anonymize
from discreet.pipeline.release import Release

pytestmark = pytest.mark.usefixtures("columns_kept")

JOB: dict[str, Any] = {
    "identifiers": "name",
    "quasi_identifiers": {"age": "intervals(5, 10, 20)", "zip": "mask(digits=5)", "sex": "flat()"},
    "sensitive": ["disease"],
    "privacy": ["k(4)", "distinct-l(2, disease)"],
    "suppression": "budget(0.2)",
    "cost": "LM",
}


def cells(frame: Any) -> Counter[tuple[str | None, ...]]:
    """The rows as a multiset of text: a number is the same number however it is kept."""
    table = to_lazy(frame).collect()
    columns = []
    for column in table:
        text = column.cast(pl.String)
        columns.append(text.str.strip_suffix(".0") if column.name in ("age", "score") else text)
    return Counter(zip(*(column.to_list() for column in columns), strict=True))


def figures(release: Release) -> dict[str, Any]:
    facts = release.to_dict()
    for key in ("seconds", "job", "notes", "stats", "trace"):
        del facts[key]
    return facts


@pytest.fixture
def expected(people: pl.DataFrame) -> Release:
    return anonymize(people, **JOB)


def test_same_release_from_every_kind(constructor: Any, people: pl.DataFrame, expected: Release) -> None:
    release = anonymize(constructor(people), **JOB)
    assert figures(release) == figures(expected)
    assert cells(release.frame) == cells(expected.frame)
    assert 0 < release.suppressed < release.n == 60
    assert [set(map(str, block)) for block in release.blocks["sex"]] == [
        set(map(str, block)) for block in expected.blocks["sex"]
    ]


@pytest.mark.parametrize("suffix", ["csv", "tsv", "csv.gz", "csv.zst", "csv.bz2", "parquet", "jsonl", "xlsx"])
def test_same_release_into_every_format(suffix: str, people: pl.DataFrame, expected: Release, tmp_path: Path) -> None:
    output = tmp_path / f"safe.{suffix}"
    release = anonymize(people, **JOB, output=output)
    assert figures(release) == figures(expected)
    assert cells(output) == cells(expected.frame)
    assert release.frame.equals(expected.frame)


@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "csv.zst", "csv.bz2"])
def test_zero_bytes_in_a_frame_are_written_and_read_back(suffix: str, tmp_path: Path) -> None:
    table = pl.DataFrame({"q": ["a"] * 6, "s": ["x\0y", "x"] * 3})
    release = anonymize(table, quasi_identifiers="q", sensitive="s", privacy=["k(2)", "distinct-l(2, s)"])
    release.write(tmp_path / f"safe.{suffix}")
    assert (tmp_path / f"safe.{suffix}").exists()


def test_file_to_file(constructor: Any, people: pl.DataFrame, expected: Release, tmp_path: Path) -> None:
    data = constructor(people)
    output = tmp_path / "safe.parquet"
    release = anonymize(data, **JOB, output=output)
    assert cells(output) == cells(release.frame) == cells(expected.frame)
    assert type(release.frame) is (pl.DataFrame if isinstance(data, Path) else type(data))


def test_text_that_is_too_large_to_hold_is_read_twice(
    people: pl.DataFrame, expected: Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "HELD", 0)
    people.write_csv(tmp_path / "people.csv")
    release = anonymize(tmp_path / "people.csv", **JOB, output=tmp_path / "safe.csv")
    assert figures(release) == figures(expected)
    assert cells(tmp_path / "safe.csv") == cells(expected.frame)


def test_rows_keep_their_order(constructor: Any, people: pl.DataFrame) -> None:
    people = people.with_columns(score=pl.int_range(60) / 8)
    released = to_lazy(anonymize(constructor(people), **JOB).frame).collect()
    scores = released["score"].cast(pl.Float64).to_list()
    assert scores == sorted(scores)
    assert released.columns == [column for column in people.columns if column != "name"]


def test_untouched_columns_keep_type_and_values(frame_constructor: Any, people: pl.DataFrame) -> None:
    data = frame_constructor(people)
    before = nw.from_native(data).lazy().collect() if isinstance(data, pl.LazyFrame) else nw.from_native(data)
    frame = nw.from_native(anonymize(data, **{**JOB, "suppression": "none"}).frame).lazy().collect()
    for column in ("note", "disease", "score"):
        assert frame.schema[column] == before.schema[column]
        assert frame[column].to_list() == before[column].to_list()


def test_level_zero_keeps_type_and_values(frame_constructor: Any, people: pl.DataFrame) -> None:
    data = frame_constructor(people)
    before = nw.from_native(data).lazy().collect()
    release = anonymize(data, quasi_identifiers=["age", "sex"], privacy="k(1)")
    assert release.levels == {"age": 0, "sex": 0}
    frame = nw.from_native(release.frame).lazy().collect()
    assert frame.schema["age"] == before.schema["age"]
    assert nw.to_native(frame).__class__ is nw.to_native(before).__class__
    assert to_lazy(release.frame).collect()["age"].to_list() == to_lazy(data).collect()["age"].to_list()


def test_input_is_not_changed(frame_constructor: Any, people: pl.DataFrame) -> None:
    data = frame_constructor(people)
    before = to_lazy(data).collect().clone()
    index = data.index.copy() if isinstance(data, pd.DataFrame) else None
    anonymize(data, **JOB)
    assert to_lazy(data).collect().equals(before)
    if isinstance(data, pd.DataFrame):
        pd.testing.assert_index_equal(data.index, index)


def test_same_kind_comes_out(frame_constructor: Any, people: pl.DataFrame) -> None:
    data = frame_constructor(people)
    assert type(anonymize(data, **JOB).frame) is type(data)


def test_narwhals_comes_out_as_narwhals(people: pl.DataFrame) -> None:
    released = anonymize(nw.from_native(people.to_pandas(), eager_only=True), **JOB).frame
    assert isinstance(released, nw.DataFrame)


@pytest.mark.parametrize(
    "index",
    [
        pd.Index([number // 7 for number in range(60)], name="twice"),
        pd.Index([f"row {number}" for number in range(60)]),
        pd.MultiIndex.from_product([range(6), range(10)]),
        pd.RangeIndex(100, 40, -1),
    ],
    ids=["duplicates", "text", "levels", "backwards"],
)
def test_pandas_index_is_kept(index: pd.Index, people: pl.DataFrame) -> None:
    frame = people.to_pandas().set_index(index)
    frame["place"] = range(60)
    released = anonymize(frame, **JOB).frame
    assert 0 < len(released) < 60
    pd.testing.assert_index_equal(released.index, frame.index[released["place"].to_numpy()])
    pd.testing.assert_series_equal(released["score"], frame["score"].iloc[released["place"].to_numpy()])


def test_pandas_columns_of_any_kind_pass_through(people: pl.DataFrame) -> None:
    frame = people.to_pandas()
    frame["object"] = [{"any": "thing"}, 3, None] * 20
    frame[7] = range(60)
    released = anonymize(frame, **JOB).frame
    assert list(released.columns) == [column for column in frame.columns if column != "name"]
    assert released["object"].tolist() == [frame["object"].iloc[place] for place in released[7]]


def test_pandas_categories_and_booleans(people: pl.DataFrame) -> None:
    frame = people.to_pandas()
    frame["sex"] = frame["sex"].astype("category")
    frame["zip"] = pd.Categorical(frame["zip"], categories=sorted(set(frame["zip"]), reverse=True), ordered=True)
    frame["member"] = [True, False, None] * 20
    job = {**JOB, "quasi_identifiers": {**JOB["quasi_identifiers"], "member": "flat()"}}
    mine = anonymize(frame, **job)
    theirs = anonymize(people.with_columns(member=pl.Series([True, False, None] * 20)), **job)
    assert figures(mine) == figures(theirs)
    assert cells(mine.frame) == cells(theirs.frame)


@pytest.mark.parametrize("kind", ["pandas", "pyarrow"])
def test_categories_of_suppressed_rows_are_forgotten(kind: str) -> None:
    table = pl.DataFrame({"sex": ["m"] * 5 + ["f"] * 5 + ["rare"], "job": ["a", "b"] * 5 + ["secret"]})
    frame: Any = table.to_pandas().astype("category")
    if kind == "pyarrow":
        frame = pa.Table.from_pandas(frame)
    released = anonymize(frame, quasi_identifiers={"sex": "flat()"}, privacy="k(5)", suppression="budget(1)").frame
    assert len(released) == 10
    if kind == "pandas":
        kept = {column: set(released[column].cat.categories) for column in released}
        assert isinstance(released["sex"].dtype, pd.CategoricalDtype)
    else:
        kept = {c: set(released[c].combine_chunks().dictionary.to_pylist()) for c in released.column_names}
    assert kept == {"sex": {"m", "f"}, "job": {"a", "b"}}


def test_nan_is_missing_and_released_as_missing() -> None:
    table = pl.DataFrame({"dose": [1.5, 1.5, float("nan"), None]})
    release = anonymize(table, quasi_identifiers={"dose": "intervals(1)"}, privacy="k(2)")
    assert release.levels == {"dose": 0}
    assert release.frame["dose"].to_list() == [1.5, 1.5, None, None]
    arrow = anonymize(table.to_arrow(), quasi_identifiers={"dose": "intervals(1)"}, privacy="k(2)")
    assert arrow.frame["dose"].to_pylist() == [1.5, 1.5, None, None]


def test_empty_text_is_a_value_in_a_frame_and_missing_in_a_file(tmp_path: Path) -> None:
    table = pl.DataFrame({"sex": ["m", "m", "", ""], "job": ["a", "", "b", "c"]})
    assert anonymize(table, quasi_identifiers=["sex"], privacy="k(2)").frame["sex"].to_list() == ["m", "m", "", ""]
    table.write_csv(tmp_path / "people.csv")
    release = anonymize(tmp_path / "people.csv", quasi_identifiers=["sex"], privacy="k(2)")
    assert release.frame["sex"].to_list() == ["m", "m", None, None]


@pytest.mark.parametrize("missing", ["value", "suppress"])
def test_missing_rows(missing: Any, constructor: Any, people: pl.DataFrame) -> None:
    job = {**JOB, "suppression": "budget(1.0)", "missing": missing}
    release = anonymize(constructor(people), **job)
    without = people.drop_nulls(["age", "zip", "sex"])
    rows = to_lazy(release.frame).collect()
    if missing == "value":
        assert (release.n, release.dropped_missing) == (60, 0)
        noted = any("'age' has no value in fewer than 5 rows" in note for note in release.notes)
        assert noted == (rows["age"].null_count() > 0)
    else:
        assert (release.n, release.dropped_missing) == (without.height, 60 - without.height)
        assert cells(rows) == cells(anonymize(without, **job).frame)
        assert not rows["sex"].null_count()
        assert any("left out" in note for note in release.notes)
    assert rows.height == release.n - release.suppressed


def test_missing_values_form_a_class_of_their_own(constructor: Any) -> None:
    table = pl.DataFrame({"sex": ["m", None, "m", None, "f"], "dose": [1, 2, 3, 4, 5]})
    release = anonymize(
        constructor(table), quasi_identifiers={"sex": "flat()"}, privacy="k(2)", suppression="budget(1)"
    )
    rows = to_lazy(release.frame).collect()
    assert rows["sex"].to_list() == ["m", None, "m", None]
    assert (release.classes, release.suppressed) == (2, 1)


TYPED = {
    "text": pl.Series(["x", "y", "z"]),
    "category": pl.Series(["x", "y", "z"], dtype=pl.Categorical),
    "enum": pl.Series(["x", "y", "z"], dtype=pl.Enum(["z", "y", "x", "w"])),
    "small whole": pl.Series([1, 2, 3], dtype=pl.Int8),
    "large whole": pl.Series([2**63 - 3, 5, 2**63 - 1], dtype=pl.UInt64),
    "decimal": pl.Series([1.5, 2.5, -0.25]),
    "single": pl.Series([1.5, 0.1, -0.25], dtype=pl.Float32),
    "exact": pl.Series(["1.50", "2.25", "0.10"]).cast(pl.Decimal(10, 2)),
    "date": pl.Series(["2020-01-01", "1970-01-01", "1899-12-31"]).str.to_date(),
    "clock": pl.Series(["2020-01-01 01:02:03.004", "1970-01-01 00:00:00.0", "1999-01-01 12:00:00.0"]).str.to_datetime(),
    "zone": pl.Series(["2020-01-01", "1970-01-01", "1999-01-01"]).str.to_datetime(time_zone="Europe/Berlin"),
    "truth": pl.Series([True, False, True]),
}


@pytest.mark.parametrize("kind", TYPED)
@pytest.mark.parametrize("level", [0, 1])
def test_every_type_of_column(kind: str, level: int, tmp_path: Path) -> None:
    values = TYPED[kind].gather([0, 0, 0, 1, 1, 1, 2]).extend_constant(None, 2).alias("q")
    table = pl.DataFrame({"q": values, "p": ["a"] * 9, "row": range(9)})
    job: dict[str, Any] = {
        "quasi_identifiers": {"q": "flat()", "p": "flat()"},
        "privacy": "k(2)",
        "suppression": "budget(1)",
        "min_levels": {"q": level},
    }
    frame = anonymize(table, **job, output=tmp_path / "safe.parquet", order="keep").frame
    kept = [0, 1, 2, 3, 4, 5, 7, 8] if level == 0 and kind != "truth" else list(range(9))
    assert frame["row"].to_list() == kept
    if level == 0:
        # The Enum lists no value of suppressed rows, and none that nobody has.
        assert frame["q"].dtype == (pl.Enum(["y", "x"]) if kind == "enum" else values.dtype)
        assert frame["q"].to_list() == values.gather(kept).to_list()
    else:
        assert frame["q"].to_list() == ["*"] * 9
    assert pl.read_parquet(tmp_path / "safe.parquet").rows() == frame.rows()


def test_columns_without_text_names_are_written_too(people: pl.DataFrame, tmp_path: Path) -> None:
    frame = people.to_pandas()
    frame[7] = range(60)
    anonymize(frame, **JOB, output=tmp_path / "safe.csv")
    assert pl.read_csv(tmp_path / "safe.csv").columns == [*people.columns[1:], "7"]


def test_seeded_random_tables_agree_over_kinds(tmp_path: Path) -> None:
    rng = np.random.default_rng(7)
    for trial in range(15):
        n = int(rng.integers(8, 60))
        table = pl.DataFrame(
            {
                "a": [None if v == 0 else f"v{v}" for v in rng.integers(0, 5, n)],
                "b": [None if v == 0 else int(v) for v in rng.integers(0, 12, n)],
                "c": [None if v == 0 else "xyz"[v - 1] for v in rng.integers(0, 4, n)],
                "row": range(n),
            }
        )
        job: dict[str, Any] = {
            "quasi_identifiers": {"a": "flat()", "b": "intervals(2, 4)", "c": "flat()"},
            "privacy": "k(3)",
            "suppression": "budget(0.3)",
        }
        table.write_csv(tmp_path / f"{trial}.csv")
        releases = [anonymize(data, **job) for data in (table, table.to_pandas(), tmp_path / f"{trial}.csv")]
        assert len({str(figures(release)) for release in releases}) == 1
        frames = [to_lazy(release.frame).collect() for release in releases]
        rows = [frame["row"].cast(pl.Int64).to_list() for frame in frames]
        assert rows[0] == rows[1] == rows[2]
        for column in "abc":
            texts = [frame[column].cast(pl.String).str.strip_suffix(".0").to_list() for frame in frames]
            assert texts[0] == texts[1] == texts[2]


def test_separator_of_the_input_is_kept(people: pl.DataFrame, tmp_path: Path) -> None:
    people.write_csv(tmp_path / "people.csv", separator=";")
    anonymize(tmp_path / "people.csv", **JOB, output=tmp_path / "safe.csv")
    assert open_table(tmp_path / "safe.csv").dialect.separator == ";"
    anonymize(tmp_path / "people.csv", **JOB, output=tmp_path / "safe.tsv")
    assert open_table(tmp_path / "safe.tsv").dialect.separator == "\t"


def test_an_identifier_that_lists_its_values() -> None:
    names = pl.Series(list("pqpq"), dtype=pl.Enum(["p", "q"]))
    table = pl.DataFrame({"b": list("xxyy"), "n": names})
    for frame in (table, table.lazy()):
        assert anonymize(frame, identifiers=["n"], quasi_identifiers=["b"], privacy="k(2)").audit.passed


@pytest.mark.parametrize("kind", [pl.Int128, pl.UInt128])
def test_whole_numbers_of_128_bits(kind: Any) -> None:
    table = pl.DataFrame({"b": list("xxyyxxyz"), "a": pl.Series([1, 1, 2, 2, 1, 1, 2, 3], dtype=kind)})
    release = anonymize(table, quasi_identifiers=["a", "b"], privacy="k(2)", suppression="budget(30%)")
    assert (release.suppressed, release.frame.height) == (1, 7)


@pytest.mark.parametrize(
    "last",
    [
        pl.Series([{"e": "q"}] * 7 + [{"e": "S"}], dtype=pl.Struct({"e": pl.Enum(["q", "S"])})),
        pl.Series([["q"]] * 7 + [["S"]], dtype=pl.List(pl.Enum(["q", "S"]))),
    ],
)
def test_types_inside_of_types_list_no_suppressed_value(last: pl.Series) -> None:
    table = pl.DataFrame({"b": list("xxyyxxyz"), "s": last})
    release = anonymize(table, quasi_identifiers=["b"], privacy="k(2)", suppression="budget(50%)")
    assert release.suppressed == 1
    assert "S'" not in str(release.frame.schema)


@pytest.mark.parametrize("budget", ["none", "budget(50%)"])
@pytest.mark.parametrize("role", ["kept", "sensitive", "as it is"])
def test_an_enum_keeps_what_is_released_in_its_order(role: str, budget: str) -> None:
    values = pl.Enum(["w", "S", "y", "x"])
    table = pl.DataFrame({"b": list("xxyyxxyz"), "e": pl.Series(list("xxyyxxyS"), dtype=values)})
    quasi = {"b": dc.groups({"x": ["x"], "rest": ["y", "z"]}), **({"e": "flat"} if role == "kept" else {})}
    levels = {"max_levels": {"e": 0}} if role == "kept" and budget != "none" else {}
    secret = {"sensitive": ["e"]} if role == "sensitive" else {}
    release = anonymize(table, quasi_identifiers=quasi, privacy="k(2)", suppression=budget, **levels, **secret)
    column = release.frame["e"]
    if release.levels and release.levels.get("e"):
        assert column.dtype == pl.String
        return
    there = set(column)
    assert column.dtype == pl.Enum([value for value in values.categories if value in there])
    assert "w" not in str(release.frame.schema)
    assert ("S" in there) == (release.suppressed == 0)


def test_what_pandas_keeps_beside_the_rows() -> None:
    letters, numbers = list("abcdefgh"), range(8)
    indices = [
        pd.CategoricalIndex(letters),
        pd.MultiIndex.from_arrays([letters, numbers]),
        pd.MultiIndex.from_arrays([pd.Categorical(letters), numbers], names=["u", "v"]),
    ]
    for index in indices:
        table = pd.DataFrame({"b": list("xxyyxxyz")}, index=index)
        table[1] = pd.Categorical(list("qqqqqqqS"))
        frame = anonymize(table, quasi_identifiers=["b"], privacy="k(2)", suppression="budget(50%)").frame
        kept = getattr(frame.index, "levels", None) or [frame.index.categories]
        assert (len(frame), "h" in kept[0], list(frame[1].cat.categories)) == (7, False, ["q"])
        assert "h" in str(table.index)


def test_dictionaries_of_arrow_hold_no_suppressed_value() -> None:
    values = pa.array(["q"] * 7 + ["S"]).dictionary_encode()
    records = pa.StructArray.from_arrays([values], ["e"])
    lists = pa.ListArray.from_arrays(pa.array(range(9)), values)
    asked: dict[str, Any] = {"quasi_identifiers": ["b"], "privacy": "k(2)", "suppression": "budget(50%)"}
    for column in (records, lists):
        table = anonymize(pa.table({"b": list("xxyyxxyz"), "s": column}), **asked).frame
        assert table.num_rows == 7
        assert "dictionary" not in str(table["s"].type)
    series = pd.Series(pd.arrays.ArrowExtensionArray(pa.chunked_array([values])))
    frame = anonymize(pd.DataFrame({"b": list("xxyyxxyz"), "s": series}), **asked).frame
    assert frame["s"].tolist() == ["q"] * 7
    assert pa.chunked_array(frame["s"].array.__arrow_array__()).combine_chunks().dictionary.to_pylist() == ["q"]
