"""Types of delimited text: found in released rows, written where nothing is lost by it, on every engine."""

from __future__ import annotations

import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import discreet as dc
from discreet.engines.polars import source as _polars
from discreet.engines.text_types import Types, spellings
from discreet.errors import DataError
from lazy import rows_of, spark

N = 40
TEXTS: dict[str, list[str | None]] = {
    "whole": [str(number - 20) for number in range(N)],
    "long": ["123456789012345678", "1"] * 20,
    "mixed": ["1.5", "2"] * 20,
    "point": ["1.5", "2.0"] * 20,
    "repr": ["0.30000000000000004", "0.1"] * 20,
    "small": [repr(1 / 81_000), "0.5"] * 20,
    "money": ["12345678.50", "1.25"] * 20,
    "day": ["2024-02-29", "1850-01-01"] * 20,
    "clock": ["2024-01-01T10:00:00", "2024-01-01T00:00:00"] * 20,
    "fine": ["2024-01-01 10:00:00.123456", "2024-01-01 00:00:00.000000"] * 20,
    "minute": ["2024-01-01 10:00", "2024-01-01 00:00"] * 20,
    "truth": ["true", "false"] * 20,
    "gaps": [None, "5"] * 20,
}
FOUND = {
    "whole": pl.Int64(),
    "long": pl.Int64(),
    "mixed": pl.Float64(),
    "point": pl.Float64(),
    "repr": pl.Float64(),
    "small": pl.Float64(),
    "money": pl.Decimal(18, 2),
    "day": pl.Date(),
    "clock": pl.Datetime("us"),
    "fine": pl.Datetime("us"),
    "minute": pl.Datetime("us"),
    "truth": pl.Boolean(),
    "gaps": pl.Int64(),
}
STAY: dict[str, list[str | None]] = {
    "zeros": ["00501", "94110"] * 20,
    "exponent": ["1e5", "2e5"] * 20,
    "two spellings": ["1.5", "1.50"] * 20,
    "more than a float": ["0.10000000000000001", "0.2"] * 20,
    "more than 64 bits": ["12345678901234567890", "1"] * 20,
    "not a number": ["nan", "1.5"] * 20,
    "endless": ["inf", "1.5"] * 20,
    "NA": ["NA", "1"] * 20,
    "no day": ["2023-02-29", "2024-01-01"] * 20,
    "zone": ["2024-01-01T10:00:00Z"] * N,
    "capitals": ["True", "False"] * 20,
    "plus": ["+1", "2"] * 20,
    "space": [" 1", "2"] * 20,
    "nothing": [None] * N,
    "negative zero": ["-0", "1"] * 20,
    "negative zeros": ["-0.00", "1.00"] * 20,
    "line": ["5\n", "6"] * 20,
    "dash": ["-", "1"] * 20,
    "underscore": ["1_000", "2"] * 20,
    "other digits": ["\u0661", "\u0662"] * 20,
}
JOB: dict[str, Any] = {"quasi_identifiers": {"q": "flat"}, "privacy": "k(2)"}


@pytest.fixture
def table(tmp_path: Path) -> Path:
    pl.DataFrame({"q": ["a", "b"] * 20, **TEXTS, **STAY}).write_csv(tmp_path / "table.csv")
    return tmp_path / "table.csv"


def frame_of(data: Any) -> pl.DataFrame:
    return data if isinstance(data, pl.DataFrame) else rows_of(data)


@pytest.mark.parametrize("engine", ["polars", "duckdb", "spark"])
@pytest.mark.parametrize("output", [None, "safe.parquet", "folder/"])
def test_types_found_are_types_written(table: Path, tmp_path: Path, engine: str, output: str | None) -> None:
    chosen: dict[str, Any] = {} if engine == "polars" else {"engine": engine}
    if engine == "spark":
        chosen["spark"] = spark()
    elif engine == "duckdb":
        pytest.importorskip("duckdb", reason="DuckDB is not here; it comes with the extra duckdb")
    place = None if output is None else f"{tmp_path}/{output}"
    frame = frame_of(dc.anonymize(table, **JOB, **chosen, keep="whole", output=place).frame)
    expected = {"q": pl.String(), **FOUND, **dict.fromkeys(STAY, pl.String())}
    assert {name: dtype for name, dtype in frame.schema.items() if dtype != expected[name]} == {}
    if engine != "spark":
        frame = frame.sort("whole")
        assert frame.select(*STAY).to_dict(as_series=False) == STAY
    assert set(frame["money"]) == {Decimal("12345678.50"), Decimal("1.25")}
    assert set(frame["repr"]) == {0.1 + 0.2, 0.1}
    assert set(frame["day"]) == {datetime.date(2024, 2, 29), datetime.date(1850, 1, 1)}


def test_every_place_keeps_what_it_can_hold(table: Path, tmp_path: Path) -> None:
    pytest.importorskip("xlsxwriter", reason="XlsxWriter is not here; it comes with the extra excel")
    pytest.importorskip("duckdb", reason="DuckDB is not here; it comes with the extra duckdb")
    text = pl.String()
    kept = {
        "safe.jsonl": {"money": text, "day": text, "clock": text, "fine": text, "minute": text},
        "safe.xlsx": {"long": text, "repr": text, "small": text, "day": text, "fine": text, "money": pl.Float64()},
        f"duckdb:///{tmp_path}/safe.duckdb?table=people": {},
        f"sqlite:///{tmp_path}/safe.db?table=people": {
            **dict.fromkeys(("money", "day", "clock", "fine", "minute", "truth"), text)
        },
    }
    names = ["q", *TEXTS]
    pl.read_csv(table, infer_schema=False).select(names).write_csv(tmp_path / "few.csv")
    for place, other in kept.items():
        target = place if "://" in place else tmp_path / place
        frame = dc.anonymize(tmp_path / "few.csv", **JOB, keep="whole", output=target).frame
        expected = {"q": text, **FOUND, **other}
        found = {name: pl.Datetime("us") if dtype == pl.Datetime else dtype for name, dtype in frame.schema.items()}
        assert found == expected, place


def test_csv_to_csv_keeps_every_byte_of_a_cell(table: Path, tmp_path: Path) -> None:
    release = dc.anonymize(table, **JOB, keep="whole", output=tmp_path / "safe.csv")
    before = pl.read_csv(table, infer_schema=False)
    after = pl.read_csv(tmp_path / "safe.csv", infer_schema=False)
    assert after.sort("whole").equals(before.sort("whole"))
    assert release.frame.schema["money"] == pl.Decimal(18, 2)


@pytest.mark.parametrize("suffix", [".tsv", ".csv.gz"])
def test_other_delimited_text(tmp_path: Path, suffix: str) -> None:
    rows = pl.DataFrame({"q": ["a", "b"] * 20, "n": range(N)})
    path = tmp_path / f"table{suffix}"
    if suffix == ".tsv":
        rows.write_csv(path, separator="\t")
    else:
        rows.lazy().sink_csv(path, compression="gzip")
    assert dc.anonymize(path, **JOB, keep="n", output=tmp_path / "safe.parquet").frame.schema["n"] == pl.Int64()


@pytest.mark.parametrize("large", [False, True])
def test_a_type_the_first_rows_promise_and_others_break(
    tmp_path: Path, large: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if large:
        monkeypatch.setattr(_polars, "HELD", 0)  # as if it were too large to hold
    rows = 3 * Types.start
    late = {"text": "x", "float": "1.5", "code": "007"}
    columns = {name: [*map(str, range(1, rows)), last] for name, last in late.items()}
    columns |= {"empty at first": ["" for _ in range(rows - 1)] + ["7"], "whole": list(map(str, range(rows)))}
    pl.DataFrame({"q": ["a"] * rows, **columns}).write_csv(tmp_path / "table.csv")
    for output in (None, tmp_path / "safe.parquet"):
        frame = dc.anonymize(tmp_path / "table.csv", **JOB, keep=list(columns), output=output).frame
        assert frame.select(*columns).dtypes == [pl.String, pl.Float64, pl.String, pl.Int64, pl.Int64]
        assert frame["empty at first"].drop_nulls().to_list() == [7]


def test_a_type_tells_nothing_about_rows_left_out(tmp_path: Path) -> None:
    pl.DataFrame({"q": ["a"] * 9 + ["b"], "n": [*map(str, range(9)), "secret"]}).write_csv(tmp_path / "table.csv")
    asked = {**JOB, "suppression": "budget(1)", "max_levels": {"q": 0}}
    release = dc.anonymize(tmp_path / "table.csv", **asked, output=tmp_path / "safe.parquet")
    assert release.frame.schema["n"] == pl.Int64()


def test_sensitive_values_that_became_unknown_are_text(tmp_path: Path) -> None:
    pl.DataFrame({"q": ["a"] * 4 + ["b"] * 4, "s": [1, 1, 1, 1, 1, 1, 1, 3]}).write_csv(tmp_path / "table.csv")
    asked: dict[str, Any] = {**JOB, "sensitive": "s", "max_levels": {"q": 0}}
    how: dict[str, Any] = {"privacy": "l+(0.5, s)", "suppression": "class-values", "scheme": "subtree"}
    hidden = dc.anonymize(tmp_path / "table.csv", quasi_identifiers={"q": "flat"}, sensitive="s", **how).frame
    assert (hidden.schema["s"], "*" in hidden["s"].to_list()) == (pl.String(), True)
    asked["privacy"] = ["k(2)", "distinct-l(2, s)", "t(0.9, s)"]
    pl.DataFrame({"q": ["a"] * 4 + ["b"] * 4, "s": [1.0, 2, 3, 1.5, 1, 1, 2, 3]}).write_csv(tmp_path / "table.csv")
    release = dc.anonymize(tmp_path / "table.csv", **asked, output=tmp_path / "safe.parquet")
    assert release.frame.schema["s"] == pl.Float64()


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_types_that_were_given(tmp_path: Path, engine: str) -> None:
    if engine == "duckdb":
        pytest.importorskip("duckdb", reason="DuckDB is not here; it comes with the extra duckdb")
    columns = {
        "code": ["1", "2"],
        "level": ["1", "2"],
        "number": ["007", "+5"],
        "float": ["1.50", "2"],
        "day": ["2024-01-01", "2024-01-02"],
        "clock": ["2024-01-01", "2024-01-02 10:00:00"],
    }
    pl.DataFrame({"q": ["a", "a"], **columns}).write_csv(tmp_path / "table.csv")
    types = {"code": "text", "level": "ordered", "number": "integer", "float": "decimal", "day": "date"}
    asked: dict[str, Any] = {**JOB, "types": {**types, "clock": "date"}, "engine": engine}
    frame = frame_of(dc.anonymize(tmp_path / "table.csv", **asked).frame)
    assert frame.dtypes[1:] == [pl.String, pl.String, pl.Int64, pl.Float64, pl.Date, pl.Datetime]
    assert sorted(frame["number"]) == [5, 7]
    for column, choice, kind in (("clock", "integer", "whole numbers"), ("float", "date", "dates")):
        with pytest.raises(DataError, match=f"Column '{column}' has values that are not {kind}"):
            dc.anonymize(tmp_path / "table.csv", **{**asked, "types": {column: choice}})


def test_measuring_a_typed_release(tmp_path: Path) -> None:
    dc.sample(400, seed=3).select("income", "sex", "diagnosis").write_csv(tmp_path / "people.csv")
    asked: dict[str, Any] = {"quasi_identifiers": ["income", "sex"], "sensitive": "diagnosis", "privacy": "k(5)"}
    release = dc.anonymize(tmp_path / "people.csv", **asked, output=tmp_path / "safe.parquet")
    assert release.risk().to_dict()
    assert release.utility().to_dict()
    assert dc.audit(tmp_path / "safe.parquet", quasi_identifiers=["income", "sex"], privacy="k(5)").passed


def test_spellings_of_parts_agree() -> None:
    for values in (*TEXTS.values(), *STAY.values()):
        whole = spellings(pl.Series(values, dtype=pl.String))
        halves = [spellings(pl.Series(values[start::2], dtype=pl.String)) for start in (0, 1)]
        known = [half for half in halves if half is not None]
        assert whole == (frozenset.intersection(*known) if known else None)
