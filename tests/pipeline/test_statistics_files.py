"""Files of SPSS, Stata and SAS: labels, codes and formats survive, and only those of released values leave."""

import datetime
import pickle
import random
from pathlib import Path

import polars as pl
import pytest

import discreet as dc

pyreadstat = pytest.importorskip("pyreadstat", reason="pyreadstat is not here; it comes with the extra stats")

from discreet.engines.files import statistics  # noqa: E402
from discreet.engines.files.dictionary import group_label  # noqa: E402
from discreet.engines.files.weight_variable import read_weight, write_weight  # noqa: E402

MARITAL = {1: "single", 2: "married", 3: "divorced", 4: "widowed", 5: "cloistered"}
SEX = {1: "male", 2: "female"}
CANARIES = (b"cloistered", b"Hiddenhausen", b"CLOISTERED")
READERS = {
    "sav": pyreadstat.read_sav,
    "zsav": pyreadstat.read_sav,
    "por": pyreadstat.read_por,
    "dta": pyreadstat.read_dta,
    "xpt": pyreadstat.read_xport,
}


def people(rows: int = 80) -> pl.DataFrame:
    """Return people of whom the first is like nobody else."""
    draw = random.Random(5)
    table = {
        "PERSON": [float(i) for i in range(rows)],
        "SEX": [float(draw.choice([1, 2])) for _ in range(rows)],
        "MARITAL": [float(draw.choice([1, 2])) for _ in range(rows)],
        "TOWN": [draw.choice(["Bonn", "Ulm"]) for _ in range(rows)],
        "SEEN": [datetime.date(2026, 1, draw.choice([1, 2])) for _ in range(rows)],
        "ILLNESS": [float(draw.choice([1, 2, 9])) for _ in range(rows)],
        "WEIGHT": [draw.choice([1.5, 2.25]) for _ in range(rows)],
    }
    table["MARITAL"][0], table["TOWN"][0] = 5.0, "Hiddenhausen"
    return pl.DataFrame(table)


def write(path: Path, table: pl.DataFrame) -> Path:
    labels = {"SEX": "Sex of the person", "TOWN": "Town of residence"}
    values = {"SEX": SEX, "MARITAL": MARITAL, "ILLNESS": {1: "flu", 2: "cold", 9: "refused"}}
    kind = path.suffix[1:]
    if kind in ("sav", "zsav"):
        pyreadstat.write_sav(
            table,
            path,
            file_label="A survey",
            column_labels=labels,
            variable_value_labels=values,
            missing_ranges={"ILLNESS": [9.0]},
            variable_measure={"SEX": "nominal", "WEIGHT": "scale"},
            variable_format={"WEIGHT": "F10.3"},
            compress=kind == "zsav",
        )
    elif kind == "dta":
        formats = {"WEIGHT": "%12.3f"}
        pyreadstat.write_dta(table, path, "A survey", labels, 15, values, variable_format=formats)
    elif kind == "xpt":
        pyreadstat.write_xport(table, path, "A survey", labels, "PEOPLE")
    else:
        pyreadstat.write_por(table, path, "A survey", labels)
    return path


def release(source: Path, output: Path | None, **changes: object) -> dc.Release:
    settings: dict[str, object] = {
        "identifiers": "PERSON",
        "quasi_identifiers": ["SEX", "MARITAL", "TOWN"],
        "keep": ["SEEN", "ILLNESS", "WEIGHT"],
        "privacy": "k(3)",
        "suppression": "budget(5%)",
        "output": output,
    }
    return dc.anonymize(source, **{**settings, **changes})


@pytest.mark.parametrize("kind", list(READERS))
def test_labels_and_values_survive(tmp_path: Path, kind: str):
    source = write(tmp_path / f"people.{kind}", people())
    made = release(source, tmp_path / f"safe.{kind}")
    assert made.suppressed == 1
    assert made.audit.passed
    codes = {"user_missing": True} if "sav" in kind else {}
    before, about = READERS[kind](source, output_format="polars", **codes)
    after, found = READERS[kind](tmp_path / f"safe.{kind}", output_format="polars", **codes)
    for column in after.columns:
        if kind != "por":
            assert found.column_names_to_labels[column] == about.column_names_to_labels[column]
        labels = about.variable_value_labels.get(column, {})
        wanted = {code: label for code, label in labels.items() if code in set(after[column])}
        assert found.variable_value_labels.get(column, {}) == wanted
    kept = before.filter(pl.col("PERSON") > 0).drop("PERSON")
    assert sorted(after.rows()) == sorted(kept.rows())
    assert not any(canary in (tmp_path / f"safe.{kind}").read_bytes() for canary in CANARIES)


@pytest.mark.parametrize("kind", ["sav", "zsav"])
def test_spss_keeps_codes_formats_and_weight(tmp_path: Path, kind: str):
    source = write(tmp_path / f"people.{kind}", people())
    write_weight(source, "WEIGHT", {name: 12 if name == "TOWN" else 0 for name in people().columns})
    assert read_weight(source, pyreadstat.read_sav(source, metadataonly=True)[1]) == "WEIGHT"
    release(source, tmp_path / f"safe.{kind}")
    _, about = pyreadstat.read_sav(tmp_path / f"safe.{kind}", user_missing=True, output_format="polars")
    assert about.missing_ranges == {"ILLNESS": [{"lo": 9.0, "hi": 9.0}]}
    assert about.original_variable_types["WEIGHT"] == "F10.3"
    assert about.original_variable_types["TOWN"] == "A4"
    assert about.variable_measure["SEX"] == "nominal"
    assert about.file_label == "A survey"
    assert read_weight(tmp_path / f"safe.{kind}", about) == "WEIGHT"


def test_groups_have_the_labels_of_their_members(tmp_path: Path):
    source = write(tmp_path / "people.sav", people())
    release(
        source,
        tmp_path / "safe.sav",
        quasi_identifiers={"SEX": None, "MARITAL": {"{1, 2}": ["1", "2"], "{3, 4, 5}": ["3", "4", "5"]}},
        identifiers=["PERSON", "TOWN"],
        min_levels={"MARITAL": 1},
    )
    table, about = pyreadstat.read_sav(tmp_path / "safe.sav", output_format="polars")
    assert table["MARITAL"].unique().to_list() == ["{1, 2}"]
    assert about.variable_value_labels["MARITAL"] == {"{1, 2}": "single, married"}


@pytest.mark.parametrize("kind", list(READERS))
def test_a_file_does_not_say_when_it_was_written(tmp_path: Path, kind: str):
    source = write(tmp_path / f"people.{kind}", people())
    release(source, tmp_path / f"safe.{kind}")
    _, about = READERS[kind](tmp_path / f"safe.{kind}", output_format="polars")
    assert {about.creation_time.year, about.modification_time.year} == {1970}


def test_a_pickled_release_has_no_labels(tmp_path: Path):
    made = release(write(tmp_path / "people.sav", people()), tmp_path / "safe.sav")
    content = pickle.dumps(made)
    assert not any(canary in content for canary in CANARIES)
    assert pickle.loads(content).frame.height == 79


def test_labels_of_groups():
    labels = {"1": "never", "2": "seldom", "3": "often", "a": "A"}
    assert group_label("2", labels) == "seldom"
    assert group_label("{1, 3} or missing", labels) == "never, often or missing"
    assert group_label("{a, b}", labels) == "A, b"
    assert group_label("[1, 3]", labels) == "never to often"
    assert group_label("[1, 3)", labels) is None
    assert group_label("*", labels) is None
    assert group_label("{7, 8}", labels) is None


def test_missing_codes_of_a_sensitive_column(tmp_path: Path):
    source = write(tmp_path / "people.sav", people())
    roles = {"sensitive": ["ILLNESS"], "keep": ["SEEN", "WEIGHT"], "privacy": ["k(3)", "distinct-l(2, ILLNESS)"]}
    with pytest.raises(
        dc.DataError, match=r"The sensitive column 'ILLNESS' has codes .* missing_codes='missing'"
    ) as caught:
        release(source, tmp_path / "safe.sav", **roles)
    assert caught.value.column == "ILLNESS"
    release(source, tmp_path / "safe.sav", missing_codes="missing", **roles)
    table, about = pyreadstat.read_sav(tmp_path / "safe.sav", user_missing=True, output_format="polars")
    assert 9.0 not in table["ILLNESS"].to_list()
    assert 9.0 not in about.variable_value_labels["ILLNESS"]
    assert release(source, tmp_path / "safe.sav", missing_sensitive="value", **roles).audit.passed


def test_a_release_in_memory_is_written_with_labels(tmp_path: Path):
    made = release(write(tmp_path / "people.dta", people()), None)
    made.write(tmp_path / "later.dta")
    _, about = pyreadstat.read_dta(tmp_path / "later.dta", output_format="polars")
    assert about.variable_value_labels["SEX"] == SEX
    assert about.variable_value_labels["MARITAL"] == {1: "single", 2: "married"}


def test_from_one_program_to_the_other(tmp_path: Path):
    release(write(tmp_path / "people.dta", people()), tmp_path / "safe.sav")
    _, about = pyreadstat.read_sav(tmp_path / "safe.sav", output_format="polars")
    assert about.variable_value_labels["SEX"] == SEX
    assert about.original_variable_types["SEX"] == "F8.0"
    assert about.original_variable_types["WEIGHT"] == "F8.2"


@pytest.mark.parametrize(
    ("kind", "labels", "codes"),
    [
        ("sav", None, None),
        ("dta", None, "'ILLNESS' are released as plain values, because a Stata file"),
        ("xpt", "'SEX', 'MARITAL', 'ILLNESS' are lost, because a SAS transport file has no value labels", "'ILLNESS'"),
        ("por", "an SPSS portable file has no value labels; write .sav", "an SPSS portable file"),
        ("csv", "a CSV file has no value labels", "a CSV file does not declare such codes"),
    ],
)
def test_what_a_format_loses_is_noted(tmp_path: Path, kind: str, labels: str | None, codes: str | None):
    source = write(tmp_path / "people.sav", people())
    made = release(source, tmp_path / f"safe.{kind}")
    for begins, wanted in (("Value labels of", labels), ("Missing-value codes of", codes)):
        found = [note for note in made.notes if note.startswith(begins)]
        assert len(found) == (wanted is not None)
        assert wanted is None or wanted in found[0]
    without = release(source, tmp_path / f"without.{kind}", missing_codes="missing", keep=["SEEN", "WEIGHT", "ILLNESS"])
    assert not any(note.startswith("Missing-value codes") for note in without.notes)


def test_labels_of_text_are_lost_in_stata(tmp_path: Path):
    table = pl.DataFrame({"town": ["B", "U"] * 4, "sex": [1.0, 2.0] * 4})
    labels = {"town": {"B": "Bonn", "U": "Ulm"}, "sex": SEX}
    pyreadstat.write_sav(table, tmp_path / "people.sav", variable_value_labels=labels)
    made = dc.anonymize(
        tmp_path / "people.sav", quasi_identifiers=["town", "sex"], privacy="k(2)", output=tmp_path / "safe.dta"
    )
    lost = "Value labels of 'town' are lost, because a Stata file labels numbers alone; write .sav to keep them."
    assert lost in made.notes
    removed = dc.anonymize(
        tmp_path / "people.sav",
        identifiers=["town"],
        quasi_identifiers=["sex"],
        privacy="k(2)",
        output=tmp_path / "other.dta",
    )
    assert not any("Value labels" in note for note in removed.notes)


def test_delimited_text_becomes_a_file_of_stata(tmp_path: Path):
    people().write_csv(tmp_path / "people.csv")
    release(tmp_path / "people.csv", tmp_path / "safe.dta")
    table, _ = pyreadstat.read_dta(tmp_path / "safe.dta", output_format="polars")
    assert table.schema["SEEN"] == pl.Date
    assert table.schema["WEIGHT"] == pl.Float64
    assert table.schema["TOWN"] == pl.String


def test_the_audit_reads_what_was_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    source = write(tmp_path / "people.sav", people())
    honest = pyreadstat.write_sav

    def alter(table: pl.DataFrame, path: str, **options: object) -> None:
        if "SEX" in table.columns:
            table = table.with_columns(SEX=pl.when(pl.int_range(pl.len()) == 0).then(7).otherwise("SEX"))
        honest(table, path, **options)

    monkeypatch.setattr(pyreadstat, "write_sav", alter)
    with pytest.raises(dc.AuditError, match="The audit found k"):
        release(source, tmp_path / "safe.sav")
    assert not (tmp_path / "safe.sav").exists()


def test_values_that_become_one_are_refused(tmp_path: Path):
    table = pl.DataFrame({"age": [1, 1, 2, 2], "ill": ["flu", "flu ", "flu", "flu "]})
    made = dc.anonymize(table, quasi_identifiers=["age"], sensitive=["ill"], privacy=["k(2)", "distinct-l(2, ill)"])
    with pytest.raises(dc.OutputError, match="Column 'ill' has different values that are the same in an SPSS file"):
        made.write(tmp_path / "safe.sav")


@pytest.mark.parametrize(
    ("columns", "name", "sentence"),
    [
        ({"home town": [1, 1]}, "safe.sav", "The name of the column 'home town' is not one for an SPSS file"),
        ({"x.y": [1, 1]}, "safe.dta", "The name of the column 'x.y' is not one for a Stata file"),
        ({"größe": [1, 1]}, "safe.xpt", "The name of the column 'größe' is not one for a SAS transport file"),
        ({"age": [1, 1]}, "safe.por", "The name of the column 'age' is not one for an SPSS portable file"),
        ({"a": [1, 1], "A": [1, 1]}, "safe.sav", "The columns 'a' and 'A' have the same name in an SPSS file"),
        ({"a": [2**60, 2**60]}, "safe.dta", "Column 'a' has whole numbers above 2\\^53, which a Stata file"),
        ({"A": ["é", "é"]}, "safe.por", "Column 'A' has letters outside English"),
        ({"a": ["x" * 40_000] * 2}, "safe.sav", "Column 'a' has text of more than 32,767 bytes"),
        ({"a": [datetime.datetime(2026, 1, 1, 0, 0, 0, 7)] * 2}, "safe.sav", "Column 'a' has times finer than"),
        ({"a": [[1], [1]]}, "safe.sav", "Column 'a' holds lists"),
    ],
)
def test_what_a_format_cannot_hold(tmp_path: Path, columns: dict, name: str, sentence: str):
    table = pl.DataFrame({"Q": [1, 1], **columns})
    with pytest.raises(dc.OutputError, match=sentence):
        dc.anonymize(table, quasi_identifiers=["Q"], keep=list(columns), privacy="k(2)", output=tmp_path / name)
    assert not (tmp_path / name).exists()


def test_sas_writes_its_own_files(tmp_path: Path):
    with pytest.raises(dc.UsageError, match=r"'safe.sas7bdat' would be a file that only SAS writes; .* 'safe.xpt'"):
        release(write(tmp_path / "people.sav", people()), tmp_path / "safe.sas7bdat")


def test_a_damaged_file(tmp_path: Path):
    for kind in (*READERS, "sas7bdat"):
        (tmp_path / f"bad.{kind}").write_bytes(b"no such thing" * 100)
        with pytest.raises(dc.DataError, match="cannot be read; it is damaged or not in the format its name says"):
            dc.look(tmp_path / f"bad.{kind}")
        with pytest.raises(dc.DataError, match="cannot be read; it is damaged or not in the format its name says"):
            dc.audit(tmp_path / f"bad.{kind}", quasi_identifiers=["a"], privacy="k(2)")


def test_without_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    source = write(tmp_path / "people.sav", people())
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    for call in (
        lambda: dc.look(source),
        lambda: dc.audit(source, quasi_identifiers=["SEX"], privacy="k(2)"),
        lambda: dc.anonymize(
            people(),
            quasi_identifiers=["SEX"],
            privacy="k(2)",
            keep=people().columns[2:],
            identifiers="PERSON",
            output=tmp_path / "safe.sav",
        ),
    ):
        with pytest.raises(dc.UsageError, match=r"pip install 'discreet\[stats\]'"):
            call()


@pytest.mark.parametrize("kind", list(READERS))
def test_large_files_are_read_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str):
    source = write(tmp_path / f"people.{kind}", people())
    whole = statistics.open_statistics(source, kind)
    monkeypatch.setattr(statistics, "_HELD", 0)
    monkeypatch.setattr(statistics, "_CHUNK_CELLS", 7 * 11)
    pieces = statistics.open_statistics(source, kind)
    assert pieces.schema == whole.schema
    assert pieces.scan().collect().equals(whole.scan().collect())
    some = pieces.scan().filter(pl.col("SEX") == 1).select("TOWN", "SEX").head(9).collect()
    assert some.equals(whole.scan().filter(pl.col("SEX") == 1).select("TOWN", "SEX").head(9).collect())
    assert release(source, tmp_path / f"safe.{kind}").audit.passed


@pytest.mark.parametrize("kind", ["sav", "dta", "xpt"])
def test_columns_that_begin_without_values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str):
    empty = pl.when(pl.int_range(pl.len()) >= 30)
    table = people().with_columns(empty.then(pl.col(name)).alias(name) for name in ("SEEN", "WEIGHT", "ILLNESS"))
    source = write(tmp_path / f"people.{kind}", table)
    for cells in (1 << 21, 7 * 11):
        monkeypatch.setattr(statistics, "_CHUNK_CELLS", cells)
        opened = statistics.open_statistics(source, kind)
        found = opened.scan().collect()
        assert (
            found.cast({"ILLNESS": pl.Float64, "SEX": pl.Float64})
            .select("SEEN", "WEIGHT", "ILLNESS", "SEX")
            .equals(table.select("SEEN", "WEIGHT", "ILLNESS", "SEX"))
        )


def test_special_missing_values_are_missing(tmp_path: Path):
    numbers = pl.Series([1, "a", 3, None] * 5, dtype=pl.Object)
    table = pl.DataFrame({"sex": ["f", "m"] * 10, "answer": numbers, "all": pl.Series(["b"] * 20, dtype=pl.String)})
    pyreadstat.write_dta(
        table,
        tmp_path / "people.dta",
        variable_value_labels={"answer": {1: "one", "a": "refused"}},
        missing_user_values={"answer": ["a"], "all": ["b"]},
    )
    made = dc.anonymize(
        tmp_path / "people.dta",
        quasi_identifiers=["sex"],
        keep=["answer", "all"],
        privacy="k(5)",
        output=tmp_path / "safe.dta",
    )
    assert made.frame["answer"].null_count() == 10
    assert made.frame["all"].null_count() == 20
    assert [column for column in ("answer", "all", "sex") if f"'{column}' has special missing" in str(made.notes)] == [
        "answer",
        "all",
    ]
    _, about = pyreadstat.read_dta(tmp_path / "safe.dta", output_format="polars")
    assert about.variable_value_labels["answer"] == {1: "one"}


def test_an_audit_of_a_file_with_hierarchies(tmp_path: Path):
    source = write(tmp_path / "people.dta", people())
    release(source, tmp_path / "safe.dta")
    trees = {"SEX": None, "MARITAL": {"both": ["1", "2"], "others": ["3", "4", "5"]}, "TOWN": None}
    verdict = dc.audit(tmp_path / "safe.dta", quasi_identifiers=trees, privacy=["k(3)", "k-map(3)"], population=source)
    assert verdict.passed


def test_ordered_groups_of_ordered_values_are_ordinal(tmp_path: Path):
    """A range of an ordinal or a scale variable is ordered; a set of codes that are no neighbours is not."""
    table = pl.DataFrame({name: [1.0, 2.0, 3.0, 4.0] * 5 for name in ("OFTEN", "AGE", "MIXED", "KIND", "GONE")})
    measures = {"OFTEN": "ordinal", "AGE": "scale", "MIXED": "ordinal", "KIND": "nominal", "GONE": "ordinal"}
    pyreadstat.write_sav(table, tmp_path / "a.sav", variable_measure=measures)
    dc.anonymize(
        tmp_path / "a.sav",
        quasi_identifiers={
            "OFTEN": {"{1, 2}": ["1", "2"], "{3, 4}": ["3", "4"]},
            "AGE": "intervals(2)",
            "MIXED": {"{1, 3}": ["1", "3"], "{2, 4}": ["2", "4"]},
            "KIND": "intervals(2)",
            "GONE": "flat",
        },
        privacy="k(2)",
        min_levels=dict.fromkeys(measures, 1),
        output=tmp_path / "safe.sav",
    )
    _, about = pyreadstat.read_sav(tmp_path / "safe.sav", output_format="polars")
    expected = {"OFTEN": "ordinal", "AGE": "ordinal", "MIXED": "nominal", "KIND": "nominal", "GONE": "ordinal"}
    assert about.variable_measure == expected
