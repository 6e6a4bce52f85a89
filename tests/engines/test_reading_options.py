"""How to read a file: missing texts, decimal commas, encodings, forms of dates, sheets; line ends are kept."""

import datetime
import random
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import discreet as dc
from discreet.engines import open_table
from discreet.pipeline.audit.files import open_files
from discreet.runtime.table_path import ReadOptions, TablePath


def text(path: Path, content: str, encoding: str = "utf-8") -> Path:
    path.write_bytes(content.encode(encoding))
    return path


def both(location: object) -> pl.DataFrame:
    """Read a table with both readers, which must agree."""
    try:
        table = open_table(location).scan().collect()  # type: ignore[arg-type]
    except dc.DataError as error:
        with pytest.raises(dc.DataError) as caught:
            open_files(location).scan().collect()  # type: ignore[arg-type]
        assert caught.value.message == error.message  # noqa: PT017
        raise
    audited = open_files(location).scan().collect()  # type: ignore[arg-type]
    assert audited.equals(table)
    return table


def test_missing_texts(tmp_path: Path):
    path = text(tmp_path / "a.csv", "age,town\nNA,Ulm\n-1,?\n7,Bonn\n")
    assert both(dc.table(path, na=["NA", "?", "-1"])).rows() == [(None, "Ulm"), (None, None), ("7", "Bonn")]
    pl.DataFrame({"age": [-1, 7], "town": ["?", "Ulm"]}).write_parquet(tmp_path / "a.parquet")
    assert both(dc.table(tmp_path / "a.parquet", na=["?", "-1"])).rows() == [(None, None), (7, "Ulm")]


def test_decimal_commas(tmp_path: Path):
    path = text(tmp_path / "a.csv", "height;income;code\n1,80;1.234,5;a,b\n-2;12;c\n")
    found = both(dc.table(path, decimal=","))
    assert found.rows() == [("1.80", "1234.5", "a,b"), ("-2", "12", "c")]


def test_dates(tmp_path: Path):
    path = text(tmp_path / "a.csv", "born,seen,note\n31.12.1980,1.2.2026,on 31.12.1980\n01.01.2000,,\n")
    found = both(dc.table(path, date_format="%d.%m.%Y"))
    assert found.rows() == [("1980-12-31", "2026-02-01", "on 31.12.1980"), ("2000-01-01", None, None)]
    path = text(tmp_path / "b.csv", "at\n12/31/80 23:59\n")
    assert both(dc.table(path, date_format="%m/%d/%y %H:%M")).rows() == [("1980-12-31 23:59:00",)]


@pytest.mark.parametrize("encoding", ["latin1", "cp1252", "utf-16", "utf-16-le"])
def test_encodings(tmp_path: Path, encoding: str):
    content = "town,Größe\nKöln,1\nTübingen,2\n"
    path = text(tmp_path / "a.csv", content, encoding)
    assert both(dc.table(path, encoding=encoding)).rows() == [("Köln", "1"), ("Tübingen", "2")]
    path = text(tmp_path / "b.csv", content + "\n\n", encoding)
    assert both(dc.table(path, encoding=encoding)).height == 2


def test_readers_agree_on_random_tables(tmp_path: Path):
    draw = random.Random(11)
    cells = ["1,5", "2", "3.5", "1.000,5", "NA", "?", "", "x", "31.12.1980", "1.2.2020", "32.1.2020", "-1", " 7,25 "]
    compared = 0
    for number in range(400):
        rows = [[draw.choice(draw.sample(cells, 4)) for _ in range(3)] for _ in range(draw.randint(1, 5))]
        path = text(tmp_path / f"{number}.csv", "a;b;c\n" + "".join(";".join(row) + "\n" for row in rows))
        location = dc.table(path, na=draw.sample(["NA", "?", "-1"], 2), decimal=draw.choice(",."))
        options = draw.choice([location.options, ReadOptions(date_format="%d.%m.%Y"), ReadOptions(na=("x",))])
        try:
            both(TablePath(path, options))
        except dc.DataError:
            continue
        compared += 1
    assert compared > 60


def test_a_job_reads_by_its_options(tmp_path: Path):
    rows = "".join(f"P{i};31.12.198{i % 2};1,{i % 2};{'NA' if i % 4 else 'flu'}\r\n" for i in range(20))
    path = text(tmp_path / "a.csv", "\ufeffname;born;height;ill\r\n" + rows, "utf-8")
    fields = {
        "quasi_identifiers": ["born", "height"],
        "identifiers": ["name"],
        "sensitive": ["ill"],
        "privacy": ["k(5)", "t(0.5, ill)"],
        "na": ["NA"],
        "decimal": ",",
        "date_format": "%d.%m.%Y",
    }
    made = dc.anonymize(path, output=tmp_path / "safe.csv", **fields)
    written = (tmp_path / "safe.csv").read_bytes()
    assert written.startswith("\ufeffborn;height;ill\r\n".encode())
    assert written.count(b"\r\n") == written.count(b"\n") == 21
    assert b"1980-12-31;1.0" in written
    assert {name: made.job[name] for name in ("na", "decimal", "date_format")} == {
        "na": ["NA"],
        "decimal": ",",
        "date_format": "%d.%m.%Y",
    }
    job = dc.Job(input=str(path), output=str(tmp_path / "again.csv"), seed=1, **fields)
    assert dc.Job.load(job.save(tmp_path / "job.yaml")).run().audit.passed
    front = dc.pareto(path, **{name: value for name, value in fields.items() if name != "privacy"})
    assert front.points
    assert dc.audit(dc.table(path, na="NA", decimal=","), quasi_identifiers=["height"], privacy="k(5)").passed


def test_plain_lines_stay_plain(tmp_path: Path):
    path = text(tmp_path / "a.csv", "age\n1\n1\n")
    dc.anonymize(path, quasi_identifiers=["age"], privacy="k(2)", output=tmp_path / "b.csv")
    assert (tmp_path / "b.csv").read_bytes() == b"age\n1\n1\n"


def test_sheets(tmp_path: Path):
    xlsxwriter = pytest.importorskip("xlsxwriter", reason="XlsxWriter is not here; it comes with the extra excel")
    with xlsxwriter.Workbook(tmp_path / "a.xlsx") as book:
        for name, rows in {"notes": [["x"]], "people": [["zip"], [15101], [15102]], "zips": ZIPS}.items():
            sheet = book.add_worksheet(name)
            for number, row in enumerate(rows):
                sheet.write_row(number, 0, row)
    path = tmp_path / "a.xlsx"
    assert both(f"{path}#people").equals(both(dc.table(path, sheet="people")))
    assert both(f"{path}#people").rows() == [(15101,), (15102,)]
    made = dc.anonymize(
        f"{path}#people", quasi_identifiers={"zip": f"{path}#zips"}, privacy="k(2)", output=tmp_path / "b.csv"
    )
    assert made.frame["zip"].to_list() == ["1510*", "1510*"]
    for call in (lambda: dc.look(f"{path}#peple"), lambda: dc.Hierarchy.from_csv(f"{path}#zip")):
        with pytest.raises(dc.UsageError, match=r"'a.xlsx' has no sheet .*; did you mean"):
            call()
    with pytest.raises(dc.OutputError, match="is the input itself"):
        dc.anonymize(f"{path}#people", quasi_identifiers=["zip"], privacy="k(2)", output=path)


ZIPS = [[15101, "1510*", "*"], [15102, "1510*", "*"]]


@pytest.mark.parametrize(
    ("options", "error", "sentence"),
    [
        ({"na": 7}, dc.UsageError, "na is a list of texts that mean a missing value, as in"),
        ({"na": [1]}, dc.UsageError, "na is a list of texts that mean a missing value, as in"),
        ({"decimal": ";"}, dc.UsageError, "The decimal mark is '.' or ',', not ';'; leave decimal out"),
        ({"encoding": "klingon"}, dc.UsageError, "There is no encoding 'klingon'; name one such as utf-8"),
        ({"encoding": "hex"}, dc.UsageError, "There is no encoding 'hex'"),
        ({"encoding": "utf-16"}, dc.DataError, "'a.csv' is not text in the encoding utf-16; it may be"),
        ({"encoding": "ascii"}, dc.DataError, "'a.csv' is not text in the encoding ascii"),
        ({"date_format": "%d.%m."}, dc.UsageError, "The date format '%d.%m.' does not say where"),
        ({"date_format": "%d %Q %m %Y"}, (dc.UsageError, dc.DataError), "date format|No column"),
        ({"date_format": "%Y/%m/%d"}, dc.DataError, "No column of 'a.csv' has dates of the form %Y/%m/%d; check"),
        ({"date_format": "%d.%m.%Y"}, dc.DataError, "Column 'born' has dates of the form %d.%m.%Y and 1 other value;"),
        ({"decimal": ","}, dc.DataError, "Column 'height' has numbers with a decimal comma and 1 other value;"),
        ({"sheet": "people"}, dc.UsageError, "Only Excel files have sheets, and 'a.csv' is not one; leave sheet"),
        ({"sheet": ""}, dc.UsageError, "sheet is a text"),
        ({"missing_codes": "missing"}, dc.UsageError, "Only SPSS files declare missing-value codes"),
        ({"missing_codes": "no"}, dc.UsageError, "missing_codes is keep or missing"),
        ({"na": ["?"], "engine": "duckdb"}, dc.UsageError, "is read with options .* that duckdb does not know"),
    ],
)
def test_bad_options(tmp_path: Path, options: dict, error: type, sentence: str):
    content = 'born,height,town\n1.1.1980,"1,8",Köln\n2.1.1980,"1,7",Köln\n1980,1.7m,Köln\n'
    path = text(tmp_path / "a.csv", content)
    with pytest.raises(error, match=sentence) as caught:
        dc.anonymize(path, quasi_identifiers=["town"], keep=["born", "height"], privacy="k(2)", **options)
    assert "Köln" not in caught.value.message
    assert "1980," not in caught.value.message


def test_options_of_what_is_no_file(tmp_path: Path):
    frame = pl.DataFrame({"age": [1, 1], "at": [datetime.date(2026, 1, 1)] * 2})
    for data in (frame, "sqlite:///a.db?table=people"):
        with pytest.raises(dc.UsageError, match=r"na says how to read a file, and the data is not a file;"):
            dc.anonymize(data, quasi_identifiers=["age"], privacy="k(2)", na=["?"])
    path = text(tmp_path / "a.csv", "age\n1\n1\n")
    with pytest.raises(dc.UsageError, match="said twice"):
        dc.anonymize(dc.table(path, na="?"), quasi_identifiers=["age"], privacy="k(2)", na=["?"])
    frame.write_parquet(tmp_path / "a.parquet")
    for options in ({"encoding": "latin1"}, {"decimal": ","}):
        with pytest.raises(dc.UsageError, match=r"'a.parquet' is not one; leave"):
            dc.look(dc.table(tmp_path / "a.parquet", **options))


def test_text_in_another_encoding_says_how(tmp_path: Path):
    path = text(tmp_path / "a.csv", "town\nKöln\n", "latin1")
    calls: list[Callable[[], object]] = [
        lambda: dc.look(path),
        lambda: dc.audit(path, quasi_identifiers=["town"], privacy="k(2)"),
    ]
    for call in calls:
        with pytest.raises(dc.DataError, match="is not UTF-8; name its encoding with encoding='windows-1252'"):
            call()
    assert dc.look(dc.table(path, encoding="windows-1252"))


def test_marks_of_missing_values_are_noted(tmp_path: Path):
    path = text(tmp_path / "a.csv", "sex,ill\nf,flu\nf,NA\nNA,NA\nNA,cold\n")
    read = dc.table(path, na="NA")
    wanted = ["2 cells of column 'sex' are the text NA", "2 cells of column 'ill' are the text NA"]
    calls: list[Callable[[object], tuple[str, ...]]] = [
        lambda data: dc.audit(data, quasi_identifiers="sex", sensitive="ill", privacy=["k(1)", "distinct-l(1)"]).notes,
        lambda data: dc.evaluate.risk(data, quasi_identifiers=["sex"], sensitive=["ill"]).notes,
        lambda data: dc.look(data).notes,
    ]
    for call in calls:
        found = call(path)
        assert [note.partition(";")[0] for note in found] == wanted
        assert all("--na NA" in note and "dc.table(path, na='NA')" in note for note in found)
        assert not call(read)
    assert "--na NA" in dc.look(path).summary()
    assert dc.look(path).to_dict()["notes"]
    assert "notes" not in dc.look(read).to_dict()
    numbers = pl.DataFrame({"n": [1, 2]})
    assert not dc.look(numbers).notes


def test_times_with_an_offset_are_dates(tmp_path: Path):
    path = text(tmp_path / "a.csv", "at\n2026-03-01T23:30:00+02:00\n2026-03-05T01:00:00-0500\n")
    made = dc.anonymize(path, quasi_identifiers={"at": "dates(month)"}, privacy="k(2)")
    assert made.frame["at"].to_list() == ["2026-03", "2026-03"]
