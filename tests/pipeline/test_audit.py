"""The audit, against the definitions in plain Python and against tables that were tampered with."""

from __future__ import annotations

import json
import math
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import naive
from discreet.errors import AuditError, DataError, MissingColumnError, UsageError
from discreet.pipeline.anonymize import anonymize
from discreet.pipeline.audit import audit
from discreet.pipeline.check import check
from discreet.schema import Hierarchy

ORDER = {"equal": None, "ordered": None, "hierarchical": [("1", "low", "*"), ("2", "low", "*"), ("3", "high", "*")]}


def random_release(rng: np.random.Generator, n: int) -> pl.DataFrame:
    def pick(values: list[Any]) -> list[Any]:
        return [values[place] for place in rng.integers(0, len(values), n)]

    return pl.DataFrame(
        {"age": pick(["[20, 30)", "[30, 40)", None]), "sex": pick(["m", "f"]), "s": pick(["1", "2", "3"])},
        schema={"age": pl.String, "sex": pl.String, "s": pl.String},
    )


def naive_classes(table: pl.DataFrame) -> list[Counter[str]]:
    found: dict[Any, Counter[str]] = {}
    for age, sex, value in table.rows():
        found.setdefault((age, sex), Counter())[value] += 1
    return list(found.values())


@pytest.mark.parametrize("seed", range(40))
def test_verdict_agrees_with_the_definitions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = random_release(rng, int(rng.integers(1, 40)))
    classes = naive_classes(table)
    whole = Counter(table["s"].to_list())
    tree = [row for row in ORDER["hierarchical"] if row[0] in whole]
    theta = float(rng.choice([0.4, 0.5, 0.75, 1.0]))
    t = float(rng.choice([0.1, 0.2, 0.4]))
    expected = {
        "k(2)": all(naive.k_anonymous(counts, 2) for counts in classes),
        "k(4)": all(naive.k_anonymous(counts, 4) for counts in classes),
        "distinct-l(2, s)": all(naive.distinct_l(counts, 2) for counts in classes),
        "entropy-l(1.5, s)": all(naive.entropy_l(counts, 1.5) for counts in classes),
        "recursive-cl(2, 2, s)": all(naive.recursive_cl(counts, 2, 2) for counts in classes),
        f"l+({theta}, s)": all(naive.l_plus(counts, naive.thetas(whole, theta)) for counts in classes),
        f"t({t}, s)": all(naive.t_close(counts, whole, t, "equal") for counts in classes),
        f"t({t}, s, ordered)": all(
            naive.t_close(counts, dict(sorted(whole.items())), t, "ordered") for counts in classes
        ),
        f"t({t}, s, hierarchical)": all(naive.t_close(counts, whole, t, "hierarchical", tree) for counts in classes),
    }
    verdict = audit(
        table,
        quasi_identifiers=["age", "sex"],
        sensitive={"s": Hierarchy.from_rows(ORDER["hierarchical"])},
        privacy=list(expected),
    )
    assert {check.model: check.passed for check in verdict.checks} == expected
    assert verdict.passed == all(expected.values())
    assert verdict.rows == table.height
    assert verdict.classes == len(classes)
    assert verdict.smallest_class == min(counts.total() for counts in classes)


def with_unknown(counts: Counter[str], whole: Counter[str], t: float) -> dict[str, bool]:
    """What each promise comes to if unknown values count in the size of their class only."""
    size = counts.total()
    known = {value: n for value, n in counts.items() if value != "*"}
    shares = {value: known.get(value, 0) / size for value in whole}
    apart = sum(abs(share - whole[value] / whole.total()) for value, share in shares.items()) / 2
    entropy = -sum(share * math.log(share) for share in shares.values() if share)
    top = sorted(known.values(), reverse=True)
    return {
        "k(3)": size >= 3,
        "distinct-l(2, s)": not known or len(known) >= 2,
        "entropy-l(1.5, s)": not known or entropy >= math.log(1.5) - 1e-9,
        "recursive-cl(2, 2, s)": not known or top[0] < 2 * sum(top[1:]),
        "l+(0.4, s)": all(share <= 0.4 for share in shares.values()),
        f"t({t}, s)": not known or apart <= t + 1e-9,
    }


@pytest.mark.parametrize("seed", range(40))
def test_unknown_values_are_no_values(seed: int) -> None:
    rng = np.random.default_rng(seed)
    original = random_release(rng, int(rng.integers(1, 40)))
    hidden = pl.Series(rng.random(original.height) < rng.choice([0.2, 0.9]))
    table = original.with_columns(s=pl.when(hidden).then(pl.lit("*")).otherwise("s"))
    whole = Counter(original["s"].to_list())
    t = float(rng.choice([0.2, 0.4]))
    found = [with_unknown(counts, whole, t) for counts in naive_classes(table)]
    expected = {model: all(verdict[model] for verdict in found) for model in found[0]}
    promises: dict[str, Any] = {"quasi_identifiers": ["age", "sex"], "privacy": list(expected)}
    verdict = audit(table, **promises, reference=original, unknown="*")
    assert {check.model: check.passed for check in verdict.checks} == expected
    assert verdict.rows == table.height
    if hidden.any():
        with pytest.raises(AuditError, match="values that the original table lacks"):
            audit(table, **promises, reference=original)


def test_nothing_known_keeps_every_promise_about_values(constructor: Any) -> None:
    table = pl.DataFrame({"a": ["x", "x", "y", "y"], "s": ["*"] * 4})
    models = [
        "distinct-l(3, s)",
        "entropy-l(3, s)",
        "recursive-cl(1, 3, s)",
        "l+(0.1, s)",
        "t(0, s)",
        "t(0, s, ordered)",
    ]
    assert audit(constructor(table), quasi_identifiers="a", privacy=[*models, "k(2)"], unknown="*").passed
    seen = audit(constructor(table), quasi_identifiers="a", privacy=models)
    assert [check.passed for check in seen.checks] == [False, False, False, False, True, True]
    assert not audit(constructor(table), quasi_identifiers="a", privacy="k(3)", unknown="*").passed


def test_missing_is_not_unknown() -> None:
    table = pl.DataFrame({"a": ["x", "x", "x"], "s": [None, None, "*"]})
    asked: dict[str, Any] = {"quasi_identifiers": "a", "privacy": "l+(0.5, s)", "unknown": "*"}
    (check,) = audit(table, **asked, missing_sensitive="value").checks
    assert check.reached == pytest.approx(2 / 3)
    (check,) = audit(table, **asked).checks
    assert check.reached == 0
    hidden = pl.DataFrame({"a": ["x"] * 5, "s": [None, None, "*", "*", "flu"]})
    (check,) = audit(hidden, **asked).checks  # what was made unknown was known before, what is missing was not
    assert check.reached == pytest.approx(1 / 3)
    numbers = pl.DataFrame({"a": ["x", "x", "x"], "s": [1, 2, 99]})
    (check,) = audit(numbers, quasi_identifiers="a", privacy="distinct-l(3, s)", unknown="99").checks
    assert check.reached == 2


def test_same_verdict_for_every_kind(constructor: Any, people: pl.DataFrame) -> None:
    promises: dict[str, Any] = {
        "quasi_identifiers": ["zip", "sex"],
        "privacy": ["k(3)", "distinct-l(2, disease)", "t(0.4, disease)"],
    }
    assert audit(constructor(people), **promises).to_dict() == audit(people, **promises).to_dict()


def test_missing_values_are_values() -> None:
    table = pl.DataFrame({"a": ["x", "x", None, None, None], "s": [None, "1", None, None, None]})
    asked: dict[str, Any] = {"quasi_identifiers": ["a"], "privacy": ["k(2)", "distinct-l(2, s)"]}
    verdict = audit(table, **asked, missing_sensitive="value")
    assert [check.passed for check in verdict.checks] == [True, False]
    assert [check.reached for check in verdict.checks] == [2, 1]
    assert [check.reached for check in audit(table, **asked).checks] == [2, 0]
    numbers = pl.DataFrame({"a": [1.5, float("nan"), None]})
    assert audit(numbers, quasi_identifiers=["a"], privacy="k(1)").classes == 3


def test_nan_and_null_are_distinguished(tmp_path: Path) -> None:
    """A table of another tool may hold both, and whoever reads it can tell one from the other."""
    table = pl.DataFrame({"dose": [1.5, 1.5, float("nan"), None], "s": [float("nan"), 1.0, 2.0, None]})
    table.write_parquet(tmp_path / "other.parquet")
    pyarrow_table = table.to_arrow()
    connection = pytest.importorskip("duckdb").connect()
    for data in (table, table.lazy(), pyarrow_table, tmp_path / "other.parquet", connection.from_arrow(pyarrow_table)):
        verdict = audit(data, quasi_identifiers=["dose"], sensitive=["s"], privacy=["k(2)", "distinct-l(1, s)"])
        assert not verdict.passed
        assert [check.reached for check in verdict.checks] == [1, 0]  # and neither is a sensitive value
    found = check(tmp_path / "other.parquet", quasi_identifiers=["dose"], privacy="k(2)")
    assert any("k(2) does not hold: 1 was reached" in finding.message for finding in found.findings)
    same = table.with_columns(dose=pl.col("dose").fill_nan(None))
    assert audit(same, quasi_identifiers=["dose"], privacy="k(2)").passed
    release = anonymize(table.drop("s"), quasi_identifiers=["dose"], privacy="k(2)")
    assert not release.frame["dose"].is_nan().any()


def test_summary_and_plain_data() -> None:
    table = pl.DataFrame({"a": ["x", "x", "y"]})
    verdict = audit(table, quasi_identifiers="a", privacy=["k(1)", "k(2)"])
    assert not verdict.passed
    assert [check.model for check in verdict.failed] == ["k(2)"]
    assert "FAILED: 3 rows in 2 classes, the smallest of 1." in verdict.summary()
    assert "BROKEN  k(2)" in verdict.summary()
    facts = json.loads(json.dumps(verdict.to_dict(), allow_nan=False))
    assert facts["checks"][1] == {"model": "k(2)", "promised": 2, "reached": 1.0, "passed": False}


def test_an_empty_table_breaks_no_promise(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a,s\n")
    verdict = audit(tmp_path / "a.csv", quasi_identifiers="a", privacy=["k(5)", "distinct-l(2, s)", "t(0.1, s)"])
    assert verdict.passed
    assert (verdict.rows, verdict.classes, verdict.smallest_class) == (0, 0, 0)
    assert verdict.summary().startswith("Audit of nothing: 0 rows in 0 classes.")
    assert "caution: There are no rows, so nothing was checked" in verdict.summary()
    assert "caution" in verdict._repr_html_()
    assert "There are no rows" in json.loads(json.dumps(verdict.to_dict(), allow_nan=False))["notes"][0]


def test_reference_is_the_table_the_release_was_made_from() -> None:
    original = pl.DataFrame({"a": ["x"] * 4 + ["y"] * 4, "s": ["1", "2"] * 2 + ["1"] * 4})
    released = original.head(4)
    alone = audit(released, quasi_identifiers="a", privacy="t(0.1, s)")
    against = audit(released, quasi_identifiers="a", privacy="t(0.1, s)", reference=original)
    assert alone.checks[0].reached == 0
    assert against.checks[0].reached == pytest.approx(0.25)
    counts = {"s": pl.DataFrame({"value": ["1", "2"], "rows": [6, 2]})}
    assert audit(released, quasi_identifiers="a", privacy="t(0.1, s)", reference=counts) == against
    with pytest.raises(AuditError, match=r"Column 's' .* the original table lacks"):
        audit(original, quasi_identifiers="a", privacy="t(0.1, s)", reference=original.tail(4))


@pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl", "xlsx"])
@pytest.mark.parametrize(
    "values",
    [
        pl.Series([1, 2, None] * 4),
        pl.Series([0.1, 1e20, None] * 4),
        pl.Series(["2020-01-01", "1999-12-31", None] * 4).str.to_date(),
        pl.Series(["2020-01-01 10:00:00", "1999-12-31 00:00:00"] * 6).str.to_datetime(),
        pl.Series([True, False, None] * 4),
        pl.Series(["x", "y", None] * 4, dtype=pl.Categorical),
        pl.Series(["1", "1.0", "2"] * 4),
    ],
    ids=["whole", "decimal", "date", "clock", "truth", "category", "spellings"],
)
def test_sensitive_values_of_any_type_survive_a_file(values: pl.Series, suffix: str, tmp_path: Path) -> None:
    table = pl.DataFrame({"a": ["x"] * 6 + ["y"] * 6, "s": values})
    release = anonymize(
        table,
        quasi_identifiers={"a": "flat()"},
        sensitive="s",
        privacy=["t(0.9, s)", "distinct-l(1, s)"],
        output=tmp_path / f"safe.{suffix}",
    )
    assert release.audit.checks[0].reached == pytest.approx(0, abs=1e-9)


def test_two_spellings_of_a_number_are_one_value() -> None:
    table = pl.DataFrame({"a": ["x"] * 4, "s": ["1", "1.0", "1", "1.0"]})
    table = pl.concat([table, pl.DataFrame({"a": ["y"] * 2, "s": ["2", "1"]})])
    assert audit(table, quasi_identifiers="a", privacy="distinct-l(2, s)").checks[0].reached == 1
    release = anonymize(table, quasi_identifiers={"a": "flat()"}, sensitive="s", privacy="distinct-l(2, s)")
    assert release.levels == {"a": 1}


def tamper(path: Path, change: Any) -> None:
    table = pl.read_csv(path, infer_schema=False)
    change(table).write_csv(path)


def test_tampered_files_are_caught(people: pl.DataFrame, tmp_path: Path) -> None:
    path = tmp_path / "safe.csv"
    promises: dict[str, Any] = {"privacy": ["k(4)", "distinct-l(2, disease)"]}
    qi = {"age": "intervals(5, 10, 20)", "zip": "mask(digits=5)", "sex": "flat()"}
    job = {
        "identifiers": "name",
        "quasi_identifiers": qi,
        "sensitive": "disease",
        "suppression": "budget(0.2)",
        **promises,
    }
    release = anonymize(people, **job, output=path)
    check = {"quasi_identifiers": list(qi), **promises}
    assert audit(path, **check, rows=release.n - release.suppressed).passed
    original = path.read_bytes()
    changes = [
        lambda table: table.with_columns(age=pl.when(pl.int_range(pl.len()) == 5).then(pl.lit("31")).otherwise("age")),
        lambda table: table.with_columns(sex=pl.when(pl.int_range(pl.len()) == 3).then(None).otherwise("sex")),
        lambda table: table.with_columns(disease=pl.lit("flu")),
        lambda table: pl.concat([table, table.head(1).with_columns(zip=pl.lit("01000"))]),
    ]
    for change in changes:
        path.write_bytes(original)
        tamper(path, change)
        assert not audit(path, **check).passed
    path.write_bytes(original)
    tamper(path, lambda table: table.head(table.height - 1))
    assert not audit(path, **check, rows=release.n - release.suppressed).passed


@pytest.mark.parametrize("odd", ["plain", "a,b", '"x"', "two\nlines"])
def test_quoted_text_is_read_as_it_was_written(odd: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    values = np.array(["x", "y", odd, None], dtype=object)
    table = pl.DataFrame(
        {name: pl.Series(values[rng.integers(0, 4, 4000)].tolist(), dtype=pl.String) for name in ("a", "rows", "s")}
    )
    table.write_csv(tmp_path / "a.csv", quote_style="necessary")
    promises: dict[str, Any] = {
        "quasi_identifiers": ["a", "rows"],
        "privacy": ["k(5)", "distinct-l(4, s)", "t(0.1, s)"],
    }
    assert audit(tmp_path / "a.csv", **promises) == audit(table, **promises)


@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "csv.zst"])
def test_zero_bytes_are_refused(suffix: str, tmp_path: Path) -> None:
    rows = pl.DataFrame({"a": ["x"] * 1400, "b": ["y", "z\0"] * 700})
    rows.write_csv(tmp_path / f"a.{suffix}", compression={"gz": "gzip", "zst": "zstd"}.get(suffix[4:], "uncompressed"))
    with pytest.raises(DataError, match="zero bytes"):
        audit(tmp_path / f"a.{suffix}", quasi_identifiers=["a", "b"], privacy="k(2)")


def test_two_spellings_of_a_line_are_one_row(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a,b\n" + 'x,"y"\n"x",y\nx,y\n' * 700)
    verdict = audit(tmp_path / "a.csv", quasi_identifiers=["a", "b"], privacy="k(2100)")
    assert (verdict.passed, verdict.classes) == (True, 1)


def test_bad_questions(tmp_path: Path) -> None:
    table = pl.DataFrame({"a": ["x"], "s": ["1"]})
    with pytest.raises(MissingColumnError) as caught:
        audit(table, quasi_identifiers=["b"], privacy="k(2)")
    assert caught.value.column == "b"
    with pytest.raises(MissingColumnError, match="'b'"):
        audit(table.to_pandas(), quasi_identifiers=["a"], privacy="distinct-l(2, b)")
    with pytest.raises(UsageError, match="'a' twice"):
        audit(table, quasi_identifiers=["a", "a"], privacy="k(2)")
    with pytest.raises(UsageError, match="No privacy model"):
        audit(table, quasi_identifiers=["a"], privacy=[])
    with pytest.raises(UsageError, match="no quasi-identifier"):
        audit(table, quasi_identifiers=[], privacy="k(2)")
    with pytest.raises(UsageError, match="needs a sensitive attribute"):
        audit(table, quasi_identifiers=["a"], privacy="distinct-l(2)")
    with pytest.raises(UsageError, match="cannot be read"):
        audit(3, quasi_identifiers=["a"], privacy="k(2)")
    (tmp_path / "a.csv").write_text("a,s\nx,1\ny\n")
    with pytest.raises(DataError, match="Line 3"):
        audit(tmp_path / "a.csv", quasi_identifiers=["a"], privacy="k(2)")


def test_only_the_columns_asked_for_are_looked_at() -> None:
    frame = pl.DataFrame({"a": ["x", "x"]}).to_pandas()
    frame["odd"] = [object(), 1]
    assert audit(frame, quasi_identifiers="a", privacy="k(2)").passed
