"""Hidden cells that match every value: the audit counts from scratch, and everybody is told that it is weaker."""

import json
import random

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import discreet as dc
from discreet.cli import program
from discreet.pipeline.audit.matches import count_matches
from discreet.problem.privacy import WEAKER
from naive.cells import matches

MATCHES = "k(3, unknown=matches)"


def people(rows=80, seed=1):
    draw = random.Random(seed)
    return pl.DataFrame(
        {
            "age": [draw.choice([20, 30, 40, 50, None]) for _ in range(rows)],
            "sex": [draw.choice("fm") for _ in range(rows)],
            "born": [
                draw.choice([None, *pl.date_range(pl.date(2000, 1, 1), pl.date(2000, 1, 3), eager=True)])
                for _ in range(rows)
            ],
            "paid": [draw.choice([1.5, 2.0, 2.5]) for _ in range(rows)],
        }
    )


@pytest.mark.parametrize("seed", range(40))
def test_counts_agree_with_the_definition(seed):
    draw = random.Random(seed)
    columns = draw.randint(1, 4)
    rows = [tuple(draw.choice(["a", "b", "*", None]) for _ in range(columns)) for _ in range(draw.randint(1, 12))]
    classes = sorted(set(rows), key=str)
    keys = pl.DataFrame(classes, schema=[(f"q{i}", pl.String) for i in range(columns)], orient="row")
    sizes = np.array([rows.count(row) for row in classes])
    for missing in (False, True):
        marked = [tuple("*" if missing and value is None else value for value in row) for row in rows]
        wanted = dict(zip(rows, matches(marked), strict=True))
        assert count_matches(keys, sizes, missing=missing).tolist() == [wanted[row] for row in classes]


def test_many_rows_with_few_patterns():
    draw = np.random.default_rng(1)
    frame = pl.DataFrame({f"q{i}": draw.integers(0, 50, 100_000).astype(str) for i in range(4)})
    frame = frame.with_columns(q0=pl.when(pl.int_range(pl.len()) < 20).then(pl.lit("*")).otherwise("q0"))
    audit = dc.audit(frame, quasi_identifiers=frame.columns, privacy="k(2, unknown=matches)")
    assert audit.checks[0].reached == 1


@pytest.mark.parametrize("suffix", ["csv", "parquet", "xlsx"])
def test_numbers_and_dates_with_hidden_cells_are_read_back_and_checked(tmp_path, suffix):
    table = people(30)
    path = tmp_path / f"safe.{suffix}"
    release = dc.anonymize(
        table,
        quasi_identifiers=table.columns,
        privacy=MATCHES,
        scheme="cells(most=2)",
        output=path,
        seed=1,
        time_limit=1,
    )
    assert release.audit.passed
    assert release.audit.checks[0].reached >= 3
    again = dc.audit(path, quasi_identifiers=table.columns, privacy=MATCHES)
    assert again.passed
    frame = release.frame
    hidden = sum(int((frame[name].cast(pl.String) == "*").sum()) for name in table.columns)
    assert hidden == release.stats["hidden_cells"] == release.cost
    for name in table.columns:
        wanted = pl.String if (frame[name].cast(pl.String) == "*").any() else table[name].dtype
        assert frame[name].dtype == wanted


def test_everybody_is_told_that_it_is_weaker(tmp_path):
    table = people()
    path, page, proof = tmp_path / "safe.csv", tmp_path / "report.html", tmp_path / "certificate.json"
    release = dc.anonymize(table, quasi_identifiers=table.columns, privacy=MATCHES, scheme="cells", output=path, seed=1)
    assert WEAKER in release.audit.summary()
    assert any(WEAKER in sentence for sentence in release.verdict.sentences)
    assert release.verdict.level == "danger"  # unique rows that nobody hid anything of
    release.report(page)
    assert "weaker than k-anonymity in classes" in page.read_text(encoding="utf-8")
    release.certificate(proof)
    written = json.loads(proof.read_text(encoding="utf-8"))
    assert written["promises"] == [{"model": MATCHES, "reached": release.audit.checks[0].reached, "note": WEAKER}]
    assert dc.verify(path, proof).passed
    written["promises"][0].pop("note")
    proof.write_text(json.dumps(written), encoding="utf-8")
    with pytest.raises(dc.errors.DataError, match="lacks its note"):
        dc.verify(path, proof)


def test_check_and_audit_of_other_tables(tmp_path):
    path = tmp_path / "theirs.csv"
    pl.DataFrame({"age": ["20", "20", None], "sex": ["f", "f", "f"]}).write_csv(path)
    run = CliRunner()
    found = {}
    for meaning in ("", ", unknown=matches", ", unknown=missing"):
        promise = f"k(3{meaning})"
        found[meaning] = run.invoke(program, ["audit", str(path), "--qi", "age,sex", "--privacy", promise]).exit_code
        checked = dc.check(path, quasi_identifiers=["age", "sex"], privacy=promise)
        assert checked.passed == (found[meaning] == 0)
    assert found == {"": 5, ", unknown=matches": 5, ", unknown=missing": 0}


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"quasi_identifiers": {"age": "intervals(10)", "sex": None}}, "leave the hierarchy out"),
        ({"quasi_identifiers": ["mark"]}, "'mark' has the value"),
        ({"quasi_identifiers": ["age"], "privacy": ["k(2)", MATCHES]}, "leave one of the two out"),
    ],
)
def test_what_cells_do_not_take_is_said_before_any_work(options, says):
    table = people().with_columns(mark=pl.Series(["*", "x"] * 40))
    keep = [name for name in table.columns if name not in options["quasi_identifiers"]]
    with pytest.raises(dc.errors.UsageError, match=says):
        dc.anonymize(table, **{"privacy": "k(2)", "scheme": "cells", "keep": keep, **options})
