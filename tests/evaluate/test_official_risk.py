"""Risk as statistics offices count it: frequency counts, individual and global risk, SUDA scores, row by row."""

from __future__ import annotations

import json
import random
import stat

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import discreet.polars  # noqa: F401 - the methods of frames
import naive_risk as plain
from discreet.cli import program
from discreet.errors import MissingColumnError, UsageError
from discreet.evaluate import record_risks, risk
from discreet.evaluate.risk import each_row
from discreet.evaluate.risk.suda import MinimalUniques, data_intrusion, dis_suda, msu_score

GUIDE = pl.DataFrame(
    {
        "residence": ["urban"] * 4 + ["rural"] + ["urban"] * 5,
        "gender": ["f", "f", "f", "m", "f", "m", "f", "m", "f", "f"],
        "education": ["si", "si", "pi", "sc", "sc", "sc", "pc", "ps", "si", "si"],
        "labour": ["employed", "employed", "none", "employed", "unemployed", "employed", "none", "unemployed"]
        + ["none"] * 2,
        "weight": [180, 180, 215, 76, 186, 76, 180, 215, 186, 76],
    }
)
"""The example of the SDC practice guide of the IHSN, chapter "Measuring risk", tables 4.1 and 4.5."""
GUIDE_KEYS = ["residence", "gender", "education", "labour"]


def random_table(seed):
    rng = random.Random(seed)
    columns = ["a", "b", "c", "d", "e"][: rng.randrange(1, 6)]
    rows = [
        {
            **{c: rng.choice([None, "*", *"uvwx"][: rng.randrange(2, 7)]) for c in columns},
            "w": rng.choice([0.5, 1, 2.5, 10, 100]),
            "home": rng.choice([None, 1, 2, 3, 4]),
        }
        for _ in range(rng.randrange(1, 30))
    ]
    schema = {**dict.fromkeys(columns, pl.String), "w": pl.Float64, "home": pl.Int64}
    return rows, columns, pl.DataFrame(rows, schema=schema), rng


@pytest.mark.parametrize("seed", range(40))
def test_each_row_is_that_of_the_plain_definition(seed):
    rows, columns, table, rng = random_table(seed)
    depth = rng.randrange(1, 7)
    found = record_risks(table, quasi_identifiers=columns, weights="w", household="home", depth=depth)
    groups = plain.classes(rows, columns)
    members = [groups[tuple(row[c] for c in columns)] for row in rows]
    f = [len(each) for each in members]
    people = [max(sum(rows[i]["w"] for i in each), len(each)) for each in members]
    risks = [1 / n if n == m else plain.expected_risk(n, n / m) for n, m in zip(f, people, strict=True)]
    assert found["f"].to_list() == f
    assert found["F"].to_list() == pytest.approx(people)
    assert found["risk"].to_list() == pytest.approx(risks)
    assert found["household"].to_list() == pytest.approx(plain.household_risks(risks, [row["home"] for row in rows]))
    special = plain.msus(rows, columns, depth)
    scores = plain.suda(rows, columns, depth)
    assert found["msus"].to_list() == [len(each) for each in special]
    assert found["smallest"].to_list() == [min(map(len, each), default=0) for each in special]
    assert found["suda"].to_list() == scores
    for column in columns:
        parts = plain.contributions(rows, columns, depth, column)
        shares = [part / score if score else 0 for part, score in zip(parts, scores, strict=True)]
        assert found[f"suda: {column}"].to_list() == pytest.approx(shares)
    size = max(round(sum(people[each[0]] for each in groups.values())), len(rows))
    dis = plain.dis(rows, columns, len(rows) / size)
    uniques = len(plain.unique_rows(rows, columns))
    assert found["dis_suda"].to_list() == pytest.approx(plain.dis_suda(scores, dis, uniques, len(columns)))


@pytest.mark.parametrize("seed", range(40))
def test_a_report_summarizes_the_rows(seed):
    rows, columns, table, rng = random_table(seed)
    depth = rng.randrange(1, 7)
    report = risk(table, quasi_identifiers=columns, weights="w", depth=depth)
    each = record_risks(table, quasi_identifiers=columns, weights="w", depth=depth)
    individual, suda = report.individual, report.suda
    assert individual.expected == pytest.approx(each["risk"].sum())
    assert individual.expected == pytest.approx(report.marketer * len(rows))
    assert individual.share == pytest.approx(report.marketer)
    assert individual.expected_uniques == pytest.approx(each.filter(pl.col("f") == 1)["risk"].sum())
    by_class = each.with_columns(key=pl.struct(table[columns])).unique("key").group_by("f").agg(pl.len(), "F", "risk")
    assert individual.counts["f"].to_list() == sorted(by_class["f"])
    for f, classes, people, chances in by_class.iter_rows():
        line = individual.counts.row(by_predicate=pl.col("f") == f, named=True)
        assert (line["classes"], line["rows"]) == (classes, f * classes)
        assert line["F"] == pytest.approx(np.mean(people))
        assert line["risk"] == pytest.approx(np.mean(chances))
        assert line["expected"] == pytest.approx(f * sum(chances))
    special = plain.msus(rows, columns, depth)
    assert suda.rows == sum(map(bool, special))
    assert suda.highest == each["suda"].max()
    assert suda.average == pytest.approx(each.filter(pl.col("suda") > 0)["suda"].mean() or 0)
    assert suda.largest == min(depth, len(columns))
    assert suda.sizes.rows() == [
        (
            size,
            sum(len(one) == size for each in special for one in each),
            sum(min(map(len, each), default=0) == size for each in special),
        )
        for size in range(1, suda.largest + 1)
    ]
    total = sum(plain.suda(rows, columns, depth)) or 1
    for column, msus, contribution in suda.columns.iter_rows():
        assert msus == sum(column in one for each in special for one in each)
        assert contribution == pytest.approx(sum(plain.contributions(rows, columns, depth, column)) / total)
    assert suda.dis_highest == pytest.approx(each["dis_suda"].max())
    assert suda.dis_scores["rows"].sum() == suda.rows
    json.dumps(report.to_dict())


@pytest.mark.parametrize("hidden_cells", ["matches", "missing"])
@pytest.mark.parametrize("seed", range(25))
def test_hidden_cells_match(seed, hidden_cells):
    rows, columns, table, _ = random_table(seed)
    hidden = ["*", None] if hidden_cells == "missing" else ["*"]
    f = plain.matches(rows, columns, hidden, [1] * len(rows))
    people = np.maximum(plain.matches(rows, columns, hidden, [row["w"] for row in rows]), f)
    found = record_risks(table, quasi_identifiers=columns, weights="w", hidden_cells=hidden_cells)
    assert found["f"].to_list() == f
    assert found["F"].to_list() == pytest.approx(people.tolist())
    want = [1 / n if n == m else plain.expected_risk(n, n / m) for n, m in zip(f, people.tolist(), strict=True)]
    assert found["risk"].to_list() == pytest.approx(want)
    alone = record_risks(table, quasi_identifiers=columns, hidden_cells=hidden_cells)
    assert alone["risk"].to_list() == pytest.approx([1 / n for n in f])
    sampled = record_risks(table, quasi_identifiers=columns, hidden_cells=hidden_cells, population=4 * len(rows))
    assert sampled["F"].to_list() == pytest.approx([4 * n for n in f])
    assert sampled["risk"].to_list() == pytest.approx([plain.expected_risk(n, 0.25) for n in f])
    assert found["suda"].to_list() == alone["suda"].to_list()


# --- published worked values ------------------------------------------------------------------------------------------


def test_the_example_of_the_practice_guide():
    """Table 4.1 has f, F and the individual risk to four digits; table 4.5 the SUDA scores for sizes up to 3."""
    found = record_risks(GUIDE, quasi_identifiers=GUIDE_KEYS, weights="weight")
    assert found["f"].to_list() == [2, 2, 1, 2, 1, 2, 1, 1, 2, 2]
    assert found["F"].to_list() == [360, 360, 215, 152, 186, 152, 180, 215, 262, 262]
    published = [0.0054, 0.0054, 0.0251, 0.0126, 0.0282, 0.0126, 0.0290, 0.0251, 0.0074, 0.0074]
    assert found["risk"].round(4).to_list() == published
    for depth in (3, 4):
        found = record_risks(GUIDE, quasi_identifiers=GUIDE_KEYS, depth=depth)
        assert found["suda"].to_list() == [0, 0, 6, 0, 12, 0, 6, 10, 0, 0]
        assert found["dis_suda"].null_count() == 10


def test_dis_suda_of_the_practice_guide():
    """Its DIS-SUDA scores (1 % sample) follow from the earlier scores of the IHSN: 7/4 for one column, 1/2 for two."""
    scores = np.array([7 / 4, 7 / 4 + 3 / 2, 7 / 4, 7 / 4 + 2 / 2])
    found = dis_suda(scores, data_intrusion(4, 3, 0.01), 4, 4)
    assert found.round(4).tolist() == [0.0051, 0.0107, 0.0051, 0.0088]


@pytest.mark.parametrize(
    ("a", "c", "f", "people", "risks"),
    [
        (
            [2, 3, 2, 2, 3, 3, 1, 2],
            [1, 3, 1, 2, 1, 1, 1, 1],
            [3, 1, 3, 1, 2, 2, 1, 3],
            [108.0, 45.5, 108.0, 17.0, 100.0, 100.0, 123.5, 108.0],
            [0.01355297, 0.08579129, 0.01355297, 0.17707583, 0.01877883, 0.01877883, 0.03931625, 0.01355297],
        ),
        (
            [2, 3, 2, 2, 3, 3, 1, None],
            [1, 3, None, 2, 1, 1, None, 1],
            [3, 1, 4, 2, 3, 3, 1, 5],
            [108.0, 45.5, 125.0, 56.0, 151.0, 151.0, 123.5, 208.0],
            [0.013552968, 0.085791288, 0.010504889, 0.032466112, 0.009756889, 0.009756889, 0.039316254, 0.005962551],
        ),
    ],
)
def test_what_the_tests_of_sdcmicro_expect(a, c, f, people, risks):
    """Its tests of indivRisk (the exact method) and freqCalc, on eight rows without and with missing values."""
    weight = [18.0, 45.5, 39.0, 17.0, 92.0, 8.0, 123.5, 51.0]
    table = pl.DataFrame({"A": a, "B": [3, 3, 3, 3, 3, 3, 4, 3], "C": c, "w": weight})
    found = record_risks(table, quasi_identifiers=["A", "B", "C"], weights="w", hidden_cells="missing")
    assert found["f"].to_list() == f
    assert found["F"].to_list() == people
    assert found["risk"].to_list() == pytest.approx(risks, abs=5e-9)


def test_suda_scores_that_sdcmicro_expects():
    """Its tests of suda2: the example of Templ's book (2017), and the contributions of three columns in percent."""
    table = pl.DataFrame(
        {
            "age": ["20s"] * 7 + ["60s"],
            "gender": ["m"] * 4 + ["f"] * 3 + ["m"],
            "income": ["50k+"] * 2 + ["50k-"] * 6,
            "education": ["high"] * 4 + ["university", "high", "middle", "university"],
        }
    )
    assert record_risks(table, quasi_identifiers=table.columns)["suda"].to_list()[4:] == [4, 2, 6, 8]
    small = pl.DataFrame({"a": [2, 1, 1], "b": [0, 3, 0], "c": [0, 6, 0]})
    columns = risk(small, quasi_identifiers=["a", "b", "c"]).suda.columns
    assert columns.select("column", "contribution").rows() == [("a", 0.5), ("b", 0.375), ("c", 0.375)]


def test_the_example_of_capobianchi_polettini_and_lucarelli(data_folder):
    """francdat of sdcMicro: uniques have p / q ln(1 / p), doubles p / q - (p / q)² ln(1 / p)."""
    keys = ["Key1", "Key2", "Key3", "Key4"]
    found = record_risks(data_folder / "sdcmicro" / "francdat.csv", quasi_identifiers=keys, weights="w")
    assert found["f"].to_list() == [2, 2, 2, 1, 1, 1, 1, 2]
    assert found["F"].to_list() == [110, 84.5, 84.5, 17, 541, 8, 5, 110]
    ratio = found["f"] / found["F"] / (1 - found["f"] / found["F"])
    log = (found["F"] / found["f"]).log()
    closed = np.where(found["f"] == 1, ratio * log, ratio - ratio**2 * log)
    assert found["risk"].to_list() == pytest.approx(closed.tolist())


def test_a_household_survey(data_folder):
    """testdata of sdcMicro: all figures of the report are those of the rows."""
    path = data_folder / "sdcmicro" / "testdata.csv"
    keys = ["urbrur", "roof", "walls", "water", "electcon", "relat", "sex"]
    table = pl.read_csv(path)
    each = record_risks(path, quasi_identifiers=keys, weights="sampling_weight", household="ori_hid", depth=7)
    f, people = pl.len().over(keys), pl.col("sampling_weight").sum().over(keys)
    counted = table.select(f=f.cast(pl.Int64), F=people.cast(pl.Float64))
    assert each.select("f", "F").equals(counted)
    risks = {n: plain.expected_risk(n, n / m, 100_000) for n, m in counted.filter(pl.col("f") < 6).unique().rows()}
    small = each.filter(pl.col("f") < 6)
    assert small["risk"].to_list() == pytest.approx([risks[n] for n in small["f"]])
    report = risk(path, quasi_identifiers=keys, weights="sampling_weight", depth=7)
    assert report.individual.expected == pytest.approx(each["risk"].sum()) == pytest.approx(10.7755, abs=1e-4)
    assert each["household"].sum() == pytest.approx(51.7996, abs=1e-4)
    assert report.suda.rows == report.uniques == each.filter(pl.col("f") == 1).height


# --- how it is used ---------------------------------------------------------------------------------------------------


def test_what_a_row_that_is_alone_in_the_table_has():
    one = record_risks(pl.DataFrame({"a": [1], "b": [2]}), quasi_identifiers=["a", "b"], population=10)
    assert one.select("f", "smallest", "msus", "suda").row(0) == (1, 1, 2, 2.0)
    assert one["dis_suda"].item() == 1.0


def test_no_minimal_uniques():
    report = risk(pl.DataFrame({"a": [1, 1, 2, 2]}), quasi_identifiers=["a"], population=8)
    assert (report.suda.rows, report.suda.highest, report.suda.dis, report.suda.dis_highest) == (0, 0, 0, 0)
    assert "SUDA" not in report.summary()
    assert "SUDA" not in report._repr_html_()


def test_sizes_beyond_the_depth_are_not_looked_for():
    table = pl.DataFrame({"a": [1, 1, 2, 2], "b": [1, 2, 1, 2]})
    assert risk(table, quasi_identifiers=["a", "b"], depth=1).suda.rows == 0
    assert risk(table, quasi_identifiers=["a", "b"], depth=9).suda.largest == 2


def test_too_many_columns_for_dis_suda():
    table = pl.DataFrame({f"c{i}": [1, 2, 2] for i in range(28)})
    report = risk(table, quasi_identifiers=table.columns, population=30, depth=1)
    assert report.suda.dis is not None
    assert (report.suda.dis_highest, report.suda.dis_scores) == (None, None)
    assert record_risks(table, quasi_identifiers=table.columns, population=30, depth=1)["dis_suda"].null_count() == 3


def test_scores_of_sizes():
    assert [msu_score(size, 7, 7) for size in range(1, 8)] == [720, 120, 24, 6, 2, 1, 1]
    assert MinimalUniques(np.array([False]), ["a"], 1).score().size == 0


def test_text_and_notebook():
    report = risk(GUIDE, quasi_identifiers=GUIDE_KEYS, weights="weight")
    text = report.summary()
    assert "Expected re-identifications: 0.1582 (1.58% of the rows), 0.1075 of them of unique rows." in text
    assert "4 rows are unique on 3 columns or fewer; the highest score is 12, the average 8.5." in text
    assert "(DIS), and with the row most at risk" in text
    assert "education" in text.split("contribution  minimal uniques")[1].splitlines()[1]
    assert "Rows that are unique on few columns (SUDA)" in report._repr_html_()
    assert not any(value in text + report._repr_html_() for value in ("rural", "employed", "215"))


def test_without_a_population():
    report = risk(GUIDE, quasi_identifiers=GUIDE_KEYS)
    assert report.individual is None
    assert (report.suda.dis, report.suda.dis_highest, report.suda.dis_scores) == (None, None, None)
    each = record_risks(GUIDE, quasi_identifiers=GUIDE_KEYS)
    assert each["F"].null_count() == 10
    assert each["risk"].to_list() == [1 / f for f in each["f"]]


def test_a_table_of_the_population():
    everybody = pl.concat([GUIDE, GUIDE, GUIDE[:4]])
    each = record_risks(GUIDE, quasi_identifiers=GUIDE_KEYS, population=everybody)
    assert each["F"].to_list() == [6, 6, 3, 5, 2, 5, 2, 2, 4, 4]
    assert each["risk"].to_list() == pytest.approx([1 / people for people in each["F"]])


def test_any_kind_of_table(tmp_path):
    want = record_risks(GUIDE, quasi_identifiers=GUIDE_KEYS, weights="weight")
    GUIDE.write_csv(tmp_path / "guide.csv")
    pandas = pytest.importorskip("pandas")
    for table in (GUIDE.lazy(), tmp_path / "guide.csv", pandas.DataFrame(GUIDE.to_dict(as_series=False))):
        assert record_risks(table, quasi_identifiers=GUIDE_KEYS, weights="weight").equals(want)
    assert GUIDE.discreet.record_risks(quasi_identifiers=GUIDE_KEYS, weights="weight").equals(want)
    numbers = pl.DataFrame({"x": [1.5, float("nan"), None, 1.5]})
    assert record_risks(numbers, quasi_identifiers=["x"])["f"].to_list() == [2, 2, 2, 2]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"hidden_cells": "match"}, "hidden_cells must be one of value, matches, missing"),
        ({"hidden_cells": "matches", "population": GUIDE}, "not looked up in a table of the population"),
        ({"weights": "weight", "population": 100}, "leave one of the two out"),
        ({"depth": 0}, "depth"),
        ({"population": 5}, "at least the 10 people"),
        ({"population": "100"}, "a number, not text"),
    ],
)
def test_errors(arguments, sentence):
    with pytest.raises(UsageError, match=sentence):
        record_risks(GUIDE, quasi_identifiers=GUIDE_KEYS, **arguments)


def test_columns_that_are_missing():
    with pytest.raises(MissingColumnError):
        record_risks(GUIDE, quasi_identifiers=GUIDE_KEYS, household="home")
    with pytest.raises(MissingColumnError):
        record_risks(GUIDE, quasi_identifiers=["age"])


def test_too_many_sets_of_hidden_columns(monkeypatch):
    monkeypatch.setattr(each_row, "_MOST_PATTERNS", 2)
    table = pl.DataFrame({"a": ["*", "u", "u"], "b": ["u", "*", "u"]})
    with pytest.raises(UsageError, match="3 different sets of columns"):
        record_risks(table, quasi_identifiers=["a", "b"], hidden_cells="matches")


def run(*arguments):
    return CliRunner().invoke(program, ["risk", *map(str, arguments)])


def test_on_the_command_line(tmp_path):
    GUIDE.write_csv(tmp_path / "guide.csv")
    known = (tmp_path / "guide.csv", "--qi", ",".join(GUIDE_KEYS), "--weights", "weight")
    target = tmp_path / "each.csv"
    told = run(*known, "--per-row", target)
    assert told.exit_code == 0, told.output
    assert f"{target}; it is for the owner of the data alone" in told.output.replace("\n", " ")
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    want = record_risks(GUIDE, quasi_identifiers=GUIDE_KEYS, weights="weight")
    assert pl.read_csv(target).columns == want.columns
    assert pl.read_csv(target)["risk"].to_list() == pytest.approx(want["risk"].to_list())
    fields = json.loads(run(*known, "--json").output)
    assert fields["suda"]["highest"] == 12
    assert fields["individual"]["expected"] == pytest.approx(want["risk"].sum())


def test_the_data_is_not_overwritten(tmp_path):
    path = tmp_path / "guide.csv"
    GUIDE.write_csv(path)
    before = path.read_bytes()
    told = run(path, "--qi", "gender", "--per-row", path)
    assert told.exit_code != 0
    assert "choose another name" in str(told.exception) + told.output
    assert path.read_bytes() == before
    assert run(path, "--qi", "gender", "--per-row", tmp_path / "each.doc").exit_code != 0
