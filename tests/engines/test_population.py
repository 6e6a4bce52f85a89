"""Survey weights and a table of the population: the same people are counted on every engine, as by hand."""

from __future__ import annotations

from collections import Counter, defaultdict
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import discreet as dc
from databases import DATABASES, fill
from discreet.engines import to_lazy
from discreet.errors import DataError, InfeasibleError, OutputError, UnsupportedCombinationError, UsageError
from lazy import ENGINES, make_relation, rows_of
from sources import Constructor

QUASI: dict[str, Any] = {"age": "intervals(10, 20, 40)", "zip": "mask(digits=3)", "sex": None}
BY_WEIGHTS: dict[str, Any] = {
    "quasi_identifiers": QUASI,
    "sensitive": ["disease", "ward"],
    "weights": "weight",
    "privacy": ["k(3)", "k-map(25)", "delta-presence(0.05, 0.5)", "distinct-l(2, disease)", "distinct-l(2, ward)"],
    "suppression": "budget(0.3)",
}
BY_TABLE: dict[str, Any] = {
    "quasi_identifiers": QUASI,
    "privacy": ["k-map(10)", "delta-presence(0, 0.6)"],
    "suppression": "budget(0.3)",
}


def everybody(n: int = 400) -> pl.DataFrame:
    rng = np.random.default_rng(3)

    def pick(values: list[Any], shares: list[float]) -> list[Any]:
        return [values[place] for place in rng.choice(len(values), n, p=shares)]

    return pl.DataFrame(
        {
            "zip": pick(["011", "012", "020", "025"], [0.4, 0.3, 0.2, 0.1]),
            "ward": pick(["east", "west", None], [0.45, 0.45, 0.1]),
            "sex": pick(["m", "f", None], [0.5, 0.4, 0.1]),
            "age": pick([21, 24, 33, 57, 71, None], [0.3, 0.2, 0.2, 0.1, 0.1, 0.1]),
            "disease": pick(["flu", "hiv", "ache", None], [0.45, 0.25, 0.2, 0.1]),
        }
    )


def survey() -> pl.DataFrame:
    """Some of everybody, none of whom is 71, with weights whose sums depend on the order floats are added in."""
    some = everybody().filter(pl.col("age").ne_missing(71)).sample(120, seed=4)
    weights = np.random.default_rng(5).choice([0.1, 1.25, 3.3, 7.77, 12.0], some.height)
    return some.with_columns(weight=pl.Series(weights)).sort(pl.all())


def figures(release: dc.Release) -> dict[str, Any]:
    facts = release.to_dict()
    names = ("status", "cost", "lower_bound", "suppressed", "classes", "levels", "audit")
    return {
        **{key: facts[key] for key in names},
        "about": [n for n in release.notes if "weights" in n or "people" in n],
    }


def cells(frame: Any) -> Counter[tuple[Any, ...]]:
    rows = to_lazy(frame).collect() if isinstance(frame, pl.LazyFrame | pl.DataFrame) else rows_of(frame)
    return Counter(rows.select(pl.all().cast(pl.String).str.strip_suffix(".0")).rows())


@pytest.fixture(scope="module")
def by_weights() -> dc.Release:
    return dc.anonymize(survey(), **BY_WEIGHTS)


@pytest.fixture(scope="module")
def by_table() -> dc.Release:
    return dc.anonymize(survey(), **BY_TABLE, population=everybody())


def test_people_by_hand(by_weights: dc.Release, by_table: dc.Release) -> None:
    """What the audit reached is what counting one by one gives; and every promise mattered."""
    sums: defaultdict[tuple[Any, ...], Decimal] = defaultdict(Decimal)
    sizes: Counter[tuple[Any, ...]] = Counter()
    for row in by_weights.frame.to_dicts():
        key = tuple(row[name] for name in QUASI)
        sums[key] += Decimal(str(row["weight"]))
        sizes[key] += 1
    reached = {check.model: check.reached for check in by_weights.audit.checks}
    assert reached["k-map(25)"] == pytest.approx(float(min(sums.values())), abs=1e-9)
    assert reached["delta-presence(0.05, 0.5)"] == pytest.approx(max(n / float(sums[key]) for key, n in sizes.items()))
    assert by_weights.suppressed

    def shown(person: dict[str, Any]) -> tuple[Any, ...]:
        width = [1, 10, 20, 40][by_table.levels["age"]]
        age, digits = person["age"], 3 - by_table.levels["zip"]
        low = None if age is None else age // width * width
        text = age if low is None or width == 1 else f"[{low}, {low + width})"
        return text, person["zip"][:digits] + "*" * (3 - digits), person["sex"]

    assert by_table.levels["sex"] == 0
    there = Counter(shown(person) for person in everybody().to_dicts())
    released = Counter(tuple(row[name] for name in QUASI) for row in by_table.frame.to_dicts())
    reached = {check.model: check.reached for check in by_table.audit.checks}
    assert reached["k-map(10)"] == min(there[key] for key in released) >= 10
    assert reached["delta-presence(0, 0.6)"] == max(rows / there[key] for key, rows in released.items()) <= 0.6
    assert min(released.values()) < 10


def test_weights_from_every_kind(constructor: Constructor, by_weights: dc.Release) -> None:
    release = dc.anonymize(constructor(survey()), **BY_WEIGHTS)
    assert figures(release) == figures(by_weights)
    assert cells(to_lazy(release.frame)) == cells(by_weights.frame)


def test_population_of_every_kind(constructor: Constructor, by_table: dc.Release) -> None:
    release = dc.anonymize(survey(), **BY_TABLE, population=constructor(everybody()))
    assert figures(release) == figures(by_table)
    assert cells(release.frame) == cells(by_table.frame)


@pytest.mark.parametrize("kind", ENGINES)
def test_both_on_every_engine(kind: str, by_weights: dc.Release, by_table: dc.Release) -> None:
    data = make_relation(kind, survey())
    release = dc.anonymize(data, **BY_WEIGHTS)
    assert figures(release) == figures(by_weights)
    assert cells(release.frame) == cells(by_weights.frame)
    release = dc.anonymize(data, **BY_TABLE, population=make_relation(kind, everybody()))
    assert figures(release) == figures(by_table)
    assert cells(release.frame) == cells(by_table.frame)


@pytest.mark.parametrize("kind", DATABASES)
def test_both_in_every_database(kind: str, place: Any, by_weights: dc.Release, by_table: dc.Release) -> None:
    data, people = fill(place(kind, "survey"), survey()), fill(place(kind, "everybody"), everybody())
    release = dc.anonymize(data, **BY_WEIGHTS, output=place(kind, "safe"))
    assert figures(release) == figures(by_weights)
    assert cells(release.frame) == cells(by_weights.frame)
    release = dc.anonymize(data, **BY_TABLE, population=people, output=place(kind, "safe"))
    assert figures(release) == figures(by_table)
    assert cells(release.frame) == cells(by_table.frame)
    verdict = dc.audit(place(kind, "safe"), quasi_identifiers=QUASI, privacy="k-map(10)", population=people)
    assert verdict.checks[0].reached == by_table.audit.checks[0].reached


@pytest.mark.parametrize("kind", ENGINES)
def test_what_weights_add_up_to_does_not_depend_on_the_order_of_rows(kind: str) -> None:
    promises: dict[str, Any] = {"sensitive": "ward", "privacy": ["k-map(1)", "distinct-l(1, ward)"]}
    for seed in range(20):
        weights = np.random.default_rng(seed).choice([0.1, 1.25, 3.3, 7.77, 12.0], 8)
        people = pl.DataFrame({"zip": ["011"] * 8, "ward": list("abcdefgh"), "weight": weights})
        mixed = make_relation(kind, people.sample(fraction=1, shuffle=True, seed=seed))
        verdict = dc.audit(mixed, quasi_identifiers=["zip"], weights="weight", **promises)
        assert verdict.checks[0].reached == float(sum(Decimal(str(weight)) for weight in weights.tolist()))


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_files_on_an_engine(
    kind: str, engine: Any, tmp_path: Path, by_weights: dc.Release, by_table: dc.Release
) -> None:
    if engine == "duckdb":
        pytest.importorskip("duckdb", reason="DuckDB is not here; it comes with the extra duckdb")
    for name, table in (("survey", survey()), ("everybody", everybody())):
        path = tmp_path / f"{name}.{kind}"
        table.write_csv(path) if kind == "csv" else table.write_parquet(path)
    data, people, output = (tmp_path / f"{name}.{kind}" for name in ("survey", "everybody", "safe"))
    release = dc.anonymize(data, **BY_WEIGHTS, engine=engine, output=output)
    assert figures(release) == figures(by_weights)
    verdict = dc.audit(output, quasi_identifiers=[*QUASI], privacy="k-map(25)", weights="weight", engine=engine)
    assert verdict.checks[0].reached == by_weights.audit.checks[1].reached
    release = dc.anonymize(data, **BY_TABLE, population=people, engine=engine, output=output)
    assert figures(release) == figures(by_table)
    settings = {"quasi_identifiers": QUASI, "engine": engine, "population": people}
    assert dc.audit(output, privacy="k-map(10)", **settings).passed
    assert not dc.audit(output, privacy="k-map(200)", **settings).passed
    with pytest.raises(OutputError, match="input itself"):
        dc.anonymize(data, **BY_TABLE, population=people, output=people)


WRONG = {
    "missing": pl.Series([1.0, None, 2.0, 2.0]),
    "negative": pl.Series([1.0, -0.5, 2.0, 2.0]),
    "not a number": pl.Series([1.0, float("nan"), 2.0, 2.0]),
    "infinite": pl.Series([1.0, float("inf"), 2.0, 2.0]),
    "text": pl.Series(["1.5", "2 or so", "2", "2"]),
}


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("kind", ["polars", *ENGINES, *DATABASES])
def test_wrong_weights(kind: str, wrong: str, place: Any) -> None:
    table = pl.DataFrame({"q": ["a", "a", "b", "b"], "w": WRONG[wrong]})
    if kind in DATABASES:
        data: Any = fill(place(kind, "t"), table)
    else:
        data = table if kind == "polars" else make_relation(kind, table)
    text = "make them numbers" if (kind, wrong) == ("ibis-sqlite", "text") else "in 1 row; correct them"
    with pytest.raises((DataError, UsageError), match=text):
        dc.anonymize(data, quasi_identifiers={"q": "flat"}, weights="w", privacy="k-map(1)")


@pytest.mark.parametrize("kind", ["polars", *ENGINES, *DATABASES])
def test_weights_of_other_types(kind: str, place: Any) -> None:
    """Whole numbers, decimals and numbers written as text can be weights; dates and booleans cannot."""
    number = pl.Series(["1.25", "2", "3.5", "4"])
    forms = {
        "text": number,
        "whole": pl.Series([1, 2, 3, 4]),
        "decimal": number.cast(pl.Decimal(10, 2)),
        "single": number.cast(pl.Float64).cast(pl.Float32),
    }
    for name, weights in forms.items():
        if (kind, name) in (("ibis-sqlite", "text"), ("ibis-sqlite", "decimal")):
            continue
        table = pl.DataFrame({"q": ["a", "a", "b", "b"], "w": weights})
        if kind in DATABASES:
            data: Any = fill(place(kind, name), table)
        else:
            data = table if kind == "polars" else make_relation(kind, table)
        release = dc.anonymize(data, quasi_identifiers={"q": "flat"}, weights="w", privacy="k-map(3)")
        assert release.audit.checks[0].reached == (3.0 if name == "whole" else 3.25)
    days = pl.DataFrame({"q": ["a"], "w": pl.Series(["2020-01-01"]).str.to_date()})
    if kind not in (*DATABASES, "ibis-sqlite"):
        with pytest.raises(DataError, match="Column 'w' does not hold numbers"):
            dc.anonymize(
                days if kind == "polars" else make_relation(kind, days),
                quasi_identifiers=["q"],
                weights="w",
                privacy="k-map(1)",
            )


def test_what_is_refused() -> None:
    table, people = survey(), everybody()
    settings: dict[str, Any] = {"quasi_identifiers": QUASI, "privacy": "k-map(5)"}
    with pytest.raises(UsageError, match=r"'k-map\(5\)' asks how many people"):
        dc.anonymize(table, **settings)
    with pytest.raises(UsageError, match=r"'k-map\(5\)' asks how many people"):
        dc.audit(table, quasi_identifiers=[*QUASI], privacy="k-map(5)")
    with pytest.raises(UsageError, match="either a table or estimated by weights"):
        dc.anonymize(table, **settings, weights="weight", population=people)
    with pytest.raises(UnsupportedCombinationError, match="the scheme local"):
        dc.anonymize(table, **settings, population=people, scheme="local", cost="NCP")
    with pytest.raises(UnsupportedCombinationError, match="subtree"):
        dc.anonymize(table, **settings, population=people, scheme="subtree")
    with pytest.raises(UnsupportedCombinationError, match="violating-records"):
        dc.anonymize(
            table,
            **{**settings, "privacy": ["k-map(5)", "l+(0.5, disease)"]},
            sensitive="disease",
            population=people,
            suppression="violating-records",
            solver="annealing",
            scheme="subtree",
        )
    with pytest.raises(UsageError, match="cannot be both quasi-identifier and the survey weights"):
        dc.anonymize(table, quasi_identifiers=["weight"], weights="weight", privacy="k(2)")
    with pytest.raises(DataError, match="The population has no column 'sex'"):
        dc.anonymize(table, **settings, population=people.drop("sex"))
    with pytest.raises(DataError, match="The population has no people"):
        dc.anonymize(table, **settings, population=people.head(0))
    with pytest.raises(DataError, match="'age' of the population holds values of another type"):
        dc.anonymize(table, **settings, population=people.with_columns(age=pl.lit(20.5)))
    with pytest.raises(DataError, match="Column 'age' of the population has missing values"):
        dc.anonymize(table.drop_nulls(), **settings, population=people, missing="error")
    known, other = table.drop_nulls(), pl.DataFrame({"sex": ["d"], "age": [20], "zip": ["011"]})
    two = {**QUASI, "sex": dc.groups(["m", "f"])}
    with pytest.raises(DataError, match="Column 'sex': 1 of its 3 distinct values"):
        dc.anonymize(known, quasi_identifiers=two, privacy="k-map(1)", population=other)
    with pytest.raises(InfeasibleError, match="the whole population has 400; lower k"):
        dc.anonymize(table, quasi_identifiers=QUASI, privacy="k-map(401)", population=people)


def test_people_without_a_value_are_left_out_with_such_rows() -> None:
    settings: dict[str, Any] = {"quasi_identifiers": QUASI, "privacy": "k-map(10)", "suppression": "budget(0.3)"}
    one = dc.anonymize(survey(), **settings, population=everybody(), missing="suppress")
    other = dc.anonymize(survey().drop_nulls([*QUASI]), **settings, population=everybody().drop_nulls([*QUASI]))
    assert one.dropped_missing
    assert cells(one.frame) == cells(other.frame)
    assert one.audit.checks[0].reached == other.audit.checks[0].reached


def test_a_column_may_have_any_name() -> None:
    table = survey().rename({"weight": "rows", "age": "people", "zip": "weighed"})
    settings = {"people": QUASI["age"], "weighed": QUASI["zip"], "sex": None}
    release = dc.anonymize(table, **{**BY_WEIGHTS, "quasi_identifiers": settings, "weights": "rows"})
    assert release.cost == dc.anonymize(survey(), **BY_WEIGHTS).cost


def test_a_population_nobody_asks_about_is_told() -> None:
    people = everybody(60).select("sex")
    idle = dc.anonymize(people, quasi_identifiers="sex", privacy="k(2)", population=people)
    assert any("No privacy model uses the population" in note for note in idle.notes)
    asked = dc.anonymize(people, quasi_identifiers="sex", privacy="k-map(2)", population=people)
    assert not any("No privacy model uses the population" in note for note in asked.notes)


def test_notes_tell_what_is_odd() -> None:
    table = pl.DataFrame({"q": ["a1", "a2", "a2", "b1", "b1", "b2"], "w": [5.0, 1.0, 0.5, 3.0, 4.0, 3.5]})
    release = dc.anonymize(table, quasi_identifiers={"q": "mask"}, weights="w", privacy="k(3)")
    notes = "\n".join(release.notes)
    assert "below 1 in up to" in notes
    assert "reveal the original values of fewer than 5 rows" in notes  # those of a1 and of a2
    same = dc.anonymize(table.with_columns(w=2.0), quasi_identifiers={"q": "mask"}, weights="w", privacy="k(3)")
    assert "The weights in 'w' are released as they are." in same.notes
    asked: dict[str, Any] = {"privacy": "k-map(1)", "suppression": "budget(1.0)"}
    few = dc.anonymize(table, quasi_identifiers={"q": "mask"}, population=table[[0, 1, 3, 4, 5]], **asked)
    assert any("fewer people with the values of fewer than 5 rows" in note for note in few.notes)
    gone = dc.anonymize(table, quasi_identifiers={"q": "mask"}, population=table.head(5), **asked)
    assert gone.suppressed == 1  # of somebody who is left out nothing is said
    assert not any("fewer people with the values of" in note for note in gone.notes)
