"""What a file format cannot tell apart is counted as one, and what it cannot hold is refused by name."""

from __future__ import annotations

import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from discreet.errors import InfeasibleError, OutputError, UsageError
from discreet.job import Job
from discreet.pipeline.anonymize import anonymize
from discreet.pipeline.audit import audit

CLASSES = ["a", "a", "a", "b", "b", "b"]


def released(values: Any, path: Path, privacy: str, **options: Any) -> Any:
    table = pl.DataFrame({"q": CLASSES, "s": values})
    return anonymize(table, quasi_identifiers={"q": "flat"}, sensitive=["s"], privacy=privacy, output=path, **options)


@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "xlsx"])
def test_empty_text_is_missing_where_the_file_cannot_say_more(suffix: str, tmp_path: Path) -> None:
    values = ["", None, "", "flu", "", None]
    settings = {"missing_sensitive": "value"}
    release = released(values, tmp_path / f"safe.{suffix}", "distinct-l(2, s)", **settings)
    assert release.levels == {"q": 1}  # in the file the first class has one value
    assert release.audit.passed
    with pytest.raises(InfeasibleError, match="the whole table has 2"):
        released(values, tmp_path / f"safe.{suffix}", "distinct-l(3, s)", **settings)
    with pytest.raises(InfeasibleError, match="the whole table has 1"):
        released(values, tmp_path / f"safe.{suffix}", "distinct-l(2, s)")


@pytest.mark.parametrize("suffix", ["parquet", "jsonl", None])
def test_empty_text_is_a_value_where_it_can_be_told_apart(suffix: str | None, tmp_path: Path) -> None:
    path: Any = suffix and tmp_path / f"safe.{suffix}"
    values = ["", None, "", "flu", "", None]
    assert released(values, path, "distinct-l(2, s)", missing_sensitive="value").levels == {"q": 0}
    assert released(values, path, "distinct-l(2, s)").levels == {"q": 1}


@pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl", "xlsx"])
@pytest.mark.parametrize("privacy", ["distinct-l(2, s)", "t(1, s)", "l+(0.7, s)"])
def test_nan_and_missing_are_one_value(suffix: str, privacy: str, tmp_path: Path) -> None:
    nan = float("nan")
    values = [nan, None, 1.5, 2.5, nan, 0.25]
    release = released(values, tmp_path / f"safe.{suffix}", privacy, missing_sensitive="value")
    assert release.audit.passed
    assert release.levels == {"q": 0}
    release = released(values, tmp_path / f"safe.{suffix}", privacy)
    assert release.audit.passed
    assert release.levels == {"q": 0 if privacy == "t(1, s)" else 1}  # the first class has one known value


@pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl", "xlsx"])
@pytest.mark.parametrize(
    "values",
    [
        [0.1 + 0.2, 1 / 3, 1e300, 2 / 3, -5e-324, None],
        pl.Series([0.1, 1 / 3, 3e38, 2 / 3, -1, None], dtype=pl.Float32),
        [Decimal("1.50"), Decimal("-90071992547409.92"), None, Decimal("0.01"), Decimal("2"), Decimal("3")],
        [-(2**53), 2**53, 0, 1, 2, None],
        [datetime.datetime(2024, 2, 29, 23, 59, 59, 999_000), None, datetime.datetime(2024, 3, 1)] * 2,
        ["=1+1", "007", "x" * 32_767, "NaN", " ", "true"],
    ],
    ids=["floats", "short floats", "decimals", "integers", "times", "text"],
)
def test_what_files_can_hold(suffix: str, values: Any, tmp_path: Path) -> None:
    assert released(values, tmp_path / f"safe.{suffix}", "k(3)").audit.passed
    assert released(values, tmp_path / f"safe.{suffix}", "distinct-l(2, s)").audit.passed


@pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl"])
def test_times_to_the_nanosecond(suffix: str, tmp_path: Path) -> None:
    values = pl.Series([1, 2, None, 3, 4, 5]).cast(pl.Datetime("ns"))
    assert released(values, tmp_path / f"safe.{suffix}", "distinct-l(3, s)").audit.passed


@pytest.mark.parametrize(
    ("values", "what"),
    [
        ([2**53 + 1, None, 1, 2, 3, 4], r"whole numbers above 2\^53"),
        ([-(2**53) - 1, None, 1, 2, 3, 4], r"whole numbers above 2\^53"),
        (pl.Series([2**64 - 1, None, 1, 2, 3, 4], dtype=pl.UInt64), r"whole numbers above 2\^53"),
        ([Decimal("90071992547409.93")] * 6, "numbers of more than 15 digits"),
        (["x" * 32_768, None, "", "a", "b", "c"], "text of more than 32,767 characters"),
        (pl.Series(["x" * 32_768] * 6, dtype=pl.Categorical), "text of more than 32,767 characters"),
        ([datetime.datetime(2024, 2, 29, 0, 0, 0, 1)] * 6, "times finer than a millisecond"),
        ([datetime.datetime(2024, 2, 29, tzinfo=datetime.UTC)] * 6, "times with a time zone"),
    ],
)
@pytest.mark.parametrize("sensitive", [True, False])
def test_what_a_sheet_cannot_hold(values: Any, what: str, sensitive: bool, tmp_path: Path) -> None:
    table = pl.DataFrame({"q": CLASSES, "s": values})
    settings: dict[str, Any] = {"sensitive": ["s"]} if sensitive else {}
    with pytest.raises(OutputError, match=rf"^Column 's' (has|holds) {what}, .* write .*\.parquet instead") as caught:
        anonymize(table, quasi_identifiers={"q": "flat"}, privacy="k(3)", output=tmp_path / "safe.xlsx", **settings)
    assert caught.value.column == "s"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("values", [[[1], [2]] * 3, [b"1"] * 6, [{"a": 1}] * 6], ids=["lists", "bytes", "records"])
@pytest.mark.parametrize("name", ["safe.csv", "safe.tsv", "safe.csv.bz2"])
def test_what_csv_cannot_hold(values: Any, name: str, tmp_path: Path) -> None:
    table = pl.DataFrame({"q": CLASSES, "extra": values})
    settings: dict[str, Any] = {"quasi_identifiers": {"q": "flat"}, "privacy": "k(3)"}
    table.write_parquet(tmp_path / "people.parquet")
    for data in (table, table.lazy(), tmp_path / "people.parquet", table.to_arrow()):
        with pytest.raises(OutputError, match=r"^Column 'extra' holds .*, which CSV cannot hold; write \.parquet"):
            anonymize(data, **settings, keep=["extra"], output=tmp_path / name)
    assert anonymize(table, **settings, identifiers="extra", output=tmp_path / name).audit.passed


def test_json_holds_no_bytes(tmp_path: Path) -> None:
    for extra in ([b"1"] * 6, [[b"1"]] * 6, [{"a": b"1"}] * 6):
        table = pl.DataFrame({"q": CLASSES, "extra": extra})
        settings: dict[str, Any] = {"quasi_identifiers": {"q": "flat"}, "privacy": "k(3)", "keep": ["extra"]}
        with pytest.raises(OutputError, match=r"^Column 'extra' holds bytes, which JSON cannot hold"):
            anonymize(table, **settings, output=tmp_path / "safe.jsonl")


def test_an_empty_column_of_a_sheet_is_read_without_a_word(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    release = released([None] * 6, tmp_path / "safe.xlsx", "k(3)")
    assert release.audit.passed
    assert audit(tmp_path / "safe.xlsx", quasi_identifiers=["q"], privacy="k(3)").passed
    assert capfd.readouterr() == ("", "")


def test_a_dry_run_counts_what_the_file_can_tell_apart(tmp_path: Path) -> None:
    pl.DataFrame({"q": CLASSES, "s": ["", None] * 3}).write_parquet(tmp_path / "people.parquet")
    job = {"input": str(tmp_path / "people.parquet"), "quasi_identifiers": {"q": "flat"}, "sensitive": ["s"]}
    job |= {"privacy": "distinct-l(2, s)", "missing_sensitive": "value"}
    assert Job(**job, output=str(tmp_path / "safe.parquet")).plan().rows == 6
    with pytest.raises(InfeasibleError, match="the whole table has 1"):
        Job(**job, output=str(tmp_path / "safe.csv")).plan()
    with pytest.raises((UsageError, InfeasibleError)):
        Job(**job, output=str(tmp_path / "safe.csv")).run()
