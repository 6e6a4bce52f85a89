"""Tables in files: formats, separators, what is a value and what is missing, and every way a file can be bad."""

from __future__ import annotations

import bz2
import gzip
import importlib.util
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import discreet as dc
from discreet.engines import Format, format_of, open_source, open_table, write_table
from discreet.engines.files.dialect import sniff
from discreet.errors import DataError, DiscreetError, UsageError


def read(path: Path) -> pl.DataFrame:
    return open_table(path).scan().collect()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.csv", Format("csv")),
        ("a.b.CSV", Format("csv")),
        ("a.tsv", Format("csv", separator="\t")),
        ("a.csv.gz", Format("csv", "gzip")),
        ("a.tsv.zst", Format("csv", "zstd", "\t")),
        ("a.jsonl", Format("jsonl")),
        ("a.ndjson.bz2", Format("jsonl", "bz2")),
        ("a.parquet", Format("parquet")),
        ("a.xlsx", Format("xlsx")),
    ],
)
def test_format_follows_the_name(name: str, expected: Format) -> None:
    assert format_of(Path(name)) == expected


@pytest.mark.parametrize("name", ["a", "a.txt", "a.gz", "a.parquet.gz", ".csv"])
def test_unknown_formats_are_refused(name: str) -> None:
    with pytest.raises(UsageError, match=r"\.csv|without"):
        format_of(Path(name))


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_separator_is_sniffed(separator: str, line_end: str, tmp_path: Path) -> None:
    rows = [["name", "zip code", "x"], ["Ann, A.", "00501", "1;2|3"], ["Bob\tB.", "94110", "4,5"]]
    text = line_end.join(separator.join(f'"{cell}"' for cell in row) for row in rows) + line_end
    (tmp_path / "a.csv").write_bytes(text.encode())
    assert read(tmp_path / "a.csv").rows() == [tuple(row) for row in rows[1:]]
    assert open_table(tmp_path / "a.csv").dialect.separator == separator


def test_many_columns_take_as_long_as_they_are_many() -> None:
    """Sixteen times the columns, about sixteen times the work; comparing each with each would be 256 times."""

    def work(columns: int) -> float:
        line = ",".join(f"c{i}" for i in range(columns))
        begun = time.process_time()
        assert len(sniff([line, line], "wide.csv", None).columns) == columns
        return time.process_time() - begun

    assert min(work(16_000) for _ in range(10)) < 100 * min(work(1_000) for _ in range(3))


def test_numbers_with_commas_do_not_mislead_the_sniffer(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id;price\n1;2,5\n2;3,5\n")
    assert read(tmp_path / "a.csv").rows() == [("1", "2,5"), ("2", "3,5")]


def test_one_column(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("age\n\n30\n\n41\n")
    assert read(tmp_path / "a.csv").rows() == [(None,), ("30",), (None,), ("41",)]


def test_cells_stay_text_and_empty_cells_are_missing(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('zip,date,n,t\n00501,2020-01-01,1e5,true\n,"",NA,"x\ny"\n')
    assert read(tmp_path / "a.csv").rows() == [("00501", "2020-01-01", "1e5", "true"), (None, None, "NA", "x\ny")]


def test_byte_order_mark(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"\xef\xbb\xbfage,sex\n30,m\n")
    assert open_table(tmp_path / "a.csv").columns == ("age", "sex")
    assert read(tmp_path / "a.csv").columns == ["age", "sex"]


def test_file_names_are_no_patterns(tmp_path: Path) -> None:
    for name in ("a[1].csv", "a*.csv", "ä ö.csv"):
        (tmp_path / name).write_text("age\n30\n")
        assert read(tmp_path / name).rows() == [("30",)]


@pytest.mark.parametrize("blank", ["\n", "\n\n\n", "\r\n\r\n"])
def test_empty_lines_at_the_end_are_no_rows(blank: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(f"age,sex\n30,m\n,\n41,f\n{blank}".encode())
    assert read(tmp_path / "a.csv").rows() == [("30", "m"), (None, None), ("41", "f")]
    counted = open_source(tmp_path / "a.csv").count(["age", "sex"])
    assert counted.to_series(-1).sum() == 3


@pytest.mark.parametrize(
    ("text", "line", "fields"),
    [
        ("a,b,c\n1,2,3\n4,5\n", 3, 2),
        ("a,b,c\n1,2,3\n4,5,6,7\n", 3, 4),
        ("a,b,c\n\n1,2,3\n", 2, 0),
        ('a,b,c\n"x,y",2,3\n"x,y",5\n', 3, 2),
        ('a,b,c\n"x\ny",2,3\n1,2\n', 4, 2),
        ('a,b,c\n1,"2 ""q"", 2",3\n1,"2"\n', 3, 2),
    ],
)
@pytest.mark.parametrize("suffix", ["csv", "csv.gz"])
def test_ragged_rows_are_refused(text: str, line: int, fields: int, suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"a.{suffix}"
    path.write_bytes(gzip.compress(text.encode()) if suffix.endswith("gz") else text.encode())
    with pytest.raises(DataError, match=f"Line {line} of 'a.{suffix}' has {fields} field"):
        open_source(path).count(["a"])


def test_ragged_rows_before_empty_lines_at_the_end(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('a,b\n"x\ny",2\n1\n3,4\n\n\n')
    with pytest.raises(DataError, match=r"Line 4 of 'a.csv' has 1 field"):
        open_source(tmp_path / "a.csv").count(["a"])
    (tmp_path / "a.csv").write_text("a,b\n1,2\n\n3,4\n5,\n\n\n")
    with pytest.raises(DataError, match=r"Line 3 of 'a.csv' has 0 fields"):
        open_source(tmp_path / "a.csv").count(["a"])


def test_missing_values_in_the_last_column_are_not_ragged(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('a,b\n1,\n"2\n3","x,y"\n4,\n')
    assert open_source(tmp_path / "a.csv").count(["a"]).height == 3


BAD_FILES: dict[str, tuple[bytes, str]] = {
    "empty.csv": (b"", "is empty"),
    "blank.csv": (b"\n\n", "is empty"),
    "empty.parquet": (b"", "is empty"),
    "empty.jsonl": (b"", "is empty"),
    "pointer.csv": (b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n", "pointer of Git LFS"),
    "pointer.parquet": (b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 9\n", "git lfs pull"),
    "latin.csv": ("name,age\nJosé,30\n".encode("latin-1"), "not UTF-8; name its encoding with encoding="),
    "latin-header.csv": ("año,age\n1,30\n".encode("latin-1"), "not UTF-8"),
    "utf16.csv": ("name,age\nx,30\n".encode("utf-16"), "not UTF-8"),
    "cut.csv": (b"name,age\nx\xc3", "not UTF-8"),
    "latin.csv.gz": (gzip.compress("age,name\n30,José\n".encode("latin-1")), "not UTF-8"),
    "twice.csv": (b"age,sex,age\n1,2,3\n", "names the column 'age' 2 times"),
    "nameless.csv": (b"age,,\n1,2,3\n", "without a name"),
    "quote.csv": (b'age,sex\n30,"SECRET\n41,f\n', "quotation mark"),
    "mac.csv": (b"age,sex\r30,m\r", "old Macs"),
    "text.parquet": (b"age,sex\n30,m\n", "damaged"),
    "text.jsonl": (b"age,sex\n30,m\n", "damaged"),
    "text.xlsx": (b"age,sex\n30,m\n", "damaged"),
    "text.csv.gz": (b"age,sex\n30,m\n", "cannot be read|damaged"),
    "text.csv.bz2": (b"age,sex\n30,m\n", "cannot be read|damaged"),
    "cut.csv.bz2": (bz2.compress(b"age,sex\n30,SECRET\n" * 99)[:-20], "cannot be read|damaged"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_bad_files_have_one_clear_error(name: str, tmp_path: Path) -> None:
    content, message = BAD_FILES[name]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=message) as caught:
        open_source(tmp_path / name).count(["age"])
    assert name in str(caught.value)
    assert "SECRET" not in str(caught.value) + str(caught.value.__cause__)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no file"):
        open_source(tmp_path / "a.csv")
    (tmp_path / "b.csv").mkdir()
    with pytest.raises(DataError, match="There is no table in"):
        open_source(tmp_path / "b.csv")


def test_json_lines_of_mixed_types(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"age": 1}\n' * 300 + '{"age": "x"}\n')
    assert read(tmp_path / "a.jsonl")["age"].to_list() == ["1"] * 300 + ["x"]


def test_a_column_without_a_name_passes_through(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(",age\n0,30\n1,41\n")
    assert read(tmp_path / "a.csv").rows() == [("0", "30"), ("1", "41")]
    assert open_source(tmp_path / "a.csv").columns == ["", "age"]


def test_excel_needs_an_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pl.DataFrame({"a": [1]}).write_excel(tmp_path / "a.xlsx")
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(UsageError, match=r"pip install 'discreet\[excel\]'"):
        open_table(tmp_path / "a.xlsx")
    with pytest.raises(UsageError, match=r"pip install 'discreet\[excel\]'"):
        write_table(pl.LazyFrame({"a": [1]}), tmp_path / "b.xlsx", format_of(tmp_path / "b.xlsx"))


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.csv.gz", "a.csv.zst", "a.csv.bz2", "a.parquet", "a.xlsx"])
def test_what_is_written_is_read_back(name: str, tmp_path: Path) -> None:
    table = pl.DataFrame(
        {
            "text": ["a,b", 'say "x"', "two\nlines", None, "=1+1", " padded ", "00501"],
            "other": ["x", None, "ü", ";", "|", "\t", "y"],
        }
    )
    write_table(table.lazy(), tmp_path / name, format_of(tmp_path / name))
    assert read(tmp_path / name).rows() == table.rows()


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "a.parquet", "a.xlsx"])
def test_a_table_without_rows_keeps_its_columns(name: str, tmp_path: Path) -> None:
    table = pl.DataFrame({"a": ["x"], "b": ["y"]}).head(0)
    write_table(table.lazy(), tmp_path / name, format_of(tmp_path / name))
    assert read(tmp_path / name).columns == ["a", "b"]
    assert read(tmp_path / name).height == 0


def test_rows_of_nothing_but_missing_values_survive(tmp_path: Path) -> None:
    table = pl.DataFrame({"a": ["x", None, None], "b": ["y", None, "z"]})
    for name in ("a.csv", "a.xlsx", "a.jsonl", "a.parquet"):
        write_table(table.lazy(), tmp_path / name, format_of(tmp_path / name))
        assert read(tmp_path / name).rows() == table.rows(), name


def test_sheet_that_is_too_long(tmp_path: Path) -> None:
    rows: Any = pl.LazyFrame({"a": pl.int_range(1_048_576, eager=True)})
    with pytest.raises(DiscreetError, match="1,048,575 rows"):
        write_table(rows, tmp_path / "a.xlsx", format_of(tmp_path / "a.xlsx"))


def test_excel_keeps_text_that_looks_like_a_link(tmp_path: Path) -> None:
    """As a link, ``mailto:`` and ``internal:`` would be cut off and a long address left out."""
    pytest.importorskip("xlsxwriter")
    pytest.importorskip("fastexcel")
    texts = ["mailto:x@y", "internal:A1", "external:a", "http://a.b", "http://a.b/" + "x" * 3000, "{=1}"]
    path = tmp_path / "a.xlsx"
    write_table(pl.LazyFrame({"a": texts}), path, format_of(path))
    assert read(path)["a"].to_list() == texts


def test_excel_refuses_characters_that_a_sheet_cannot_hold(tmp_path: Path) -> None:
    pytest.importorskip("xlsxwriter")
    path = tmp_path / "a.xlsx"
    with pytest.raises(DiscreetError, match="Column 'a' has the characters U"):
        write_table(pl.LazyFrame({"a": ["x\ufffe"]}), path, format_of(path))


@pytest.mark.parametrize("numbers", [[1e19, 2e19], [1e300, 2.0], [-1e19, None], [2.0**63, 1.0], [1e300, 1.5]])
def test_whole_numbers_of_more_than_64_bits_in_a_sheet(numbers: list[float | None], tmp_path: Path) -> None:
    frame = pl.DataFrame({"sex": ["f", "f"], "size": numbers, "age": [30.0, 31.0]})
    dc.anonymize(frame, quasi_identifiers=["sex"], privacy="k(2)", output=tmp_path / "safe.xlsx", order="keep")
    again = dc.anonymize(tmp_path / "safe.xlsx", quasi_identifiers=["sex"], privacy="k(2)").frame
    assert again["size"].to_list() == numbers
    assert again["age"].to_list() == [30, 31]
