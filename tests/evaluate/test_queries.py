"""Queries: every answer is that of the plain definition, and an unchanged table answers without error."""

from __future__ import annotations

import random

import polars as pl
import pytest

import discreet as dc
import naive
from discreet.errors import DataError, MissingColumnError, UsageError
from discreet.evaluate import queries

CITIES = {"north": ["Oslo", "Bergen"], "south": {"coast": ["Nice", "Genoa"], "inland": ["Turin"]}}
TREE = [
    ("Oslo", "north", "north"),
    ("Bergen", "north", "north"),
    ("Nice", "coast", "south"),
    ("Genoa", "coast", "south"),
    ("Turin", "inland", "south"),
]
LETTERS = "abcdef"
HIERARCHIES = {"age": None, "city": dc.groups(CITIES), "letter": None}


def ends(rng, value, least, greatest):
    return max(least, value - rng.randrange(4)), min(greatest, value + rng.randrange(4))


def released_age(rng, value, known, may_miss):
    """A released age in the forms there are, and the ages it may be."""
    everything = {*range(min(known), max(known) + 1), *([None] if may_miss else [])}
    if rng.random() < 0.1:
        return "*", everything
    if value is None:
        return None, {None}
    low, high = ends(rng, value, min(known), max(known))
    form = rng.randrange(5)
    if form == 0:
        return f"{value}", {value}
    if form == 1:
        return f"[{low}, {high + 1})", set(range(low, high + 1))
    if form == 2:
        others = rng.sample(known, min(2, len(known)))
        return f"{{{', '.join(map(str, sorted({value, *others})))}}}", {value, *others}
    if form == 3:
        return (f"< {high + 1}", set(range(min(known), high + 1)))
    if may_miss:
        return f"[{low}, {high}] or missing" if low < high else f"{low} or missing", {*range(low, high + 1), None}
    return f"[{low}, {high}]", set(range(low, high + 1))


def released_city(rng, value):
    row = next(row for row in TREE if row[0] == value)
    name = rng.choice([*row, "*"])
    return name, {leaf for leaf, *above in TREE if name == "*" or name in (leaf, *above)}


def released_letter(rng, value, known):
    values = sorted({value, *rng.sample(known, rng.randrange(len(known)))})
    return (values[0] if len(values) == 1 else f"{{{', '.join(values)}}}"), set(values)


def random_release(seed, may_miss=True):
    """A table, a release of it, and what both mean in plain Python."""
    rng = random.Random(seed)
    n = rng.randrange(8, 40)
    ages = [None if may_miss and rng.random() < 0.15 else rng.randrange(20, 35) for _ in range(n)]
    known = sorted({age for age in ages if age is not None})
    missing = None in ages
    rows = list(zip(ages, rng.choices([row[0] for row in TREE], k=n), rng.choices(LETTERS, k=n), strict=True))
    letters = sorted({letter for _, _, letter in rows})
    shown, meant = [], []
    for age, city, letter in rows:
        each = (released_age(rng, age, known, missing), released_city(rng, city), released_letter(rng, letter, letters))
        shown.append([text for text, _ in each])
        meant.append(dict(zip(HIERARCHIES, [block for _, block in each], strict=True)))
    original = pl.DataFrame(rows, schema=list(HIERARCHIES), orient="row")
    released = pl.DataFrame(shown, schema=dict.fromkeys(HIERARCHIES, pl.String), orient="row")
    plain = [dict(zip(HIERARCHIES, ({value} for value in row), strict=True)) for row in rows]
    return original, released, plain, meant


def as_sets(query):
    """What a query asks for, as sets of values."""
    asked = {}
    for name, block in query.items():
        values = [*range(10, 50), None] if name == "age" else [*(row[0] for row in TREE), *LETTERS]
        asked[name] = {value for value in values if value in block}
    return asked


@pytest.mark.parametrize("seed", range(25))
def test_counts_are_those_of_the_definition(seed):
    original, released, plain, meant = random_release(seed)
    report = queries(original, released, quasi_identifiers=HIERARCHIES, count=40, seed=seed)
    assert report.frame.height == 40
    for query, row in zip(report.workload, report.frame.iter_rows(named=True), strict=True):
        asked = as_sets(query)
        truth = naive.count_query(plain, asked)
        assert row["truth"] == pytest.approx(truth)
        assert row["selectivity"] == pytest.approx(truth / len(plain))
        assert row["estimate"] == pytest.approx(naive.count_query(meant, asked))
        assert row["error"] == pytest.approx(abs(row["estimate"] - truth) / truth)


@pytest.mark.parametrize("seed", range(15))
def test_sums_are_those_of_the_definition(seed):
    original, released, plain, meant = random_release(seed)
    report = queries(original, released, quasi_identifiers=HIERARCHIES, sum_of="age", count=30, seed=seed)
    assert report.aggregate == "sum(age)"
    for query, row in zip(report.workload, report.frame.iter_rows(named=True), strict=True):
        asked = as_sets(query)
        assert "age" not in asked
        assert row["truth"] == pytest.approx(naive.sum_query(plain, asked, "age"))
        assert row["estimate"] == pytest.approx(naive.sum_query(meant, asked, "age"))


@pytest.mark.parametrize("seed", range(5))
def test_sums_of_a_column_that_stays(seed):
    original, released, plain, meant = random_release(seed)
    wages = [None if i == 3 else i * 1.5 - 4 for i in range(original.height)]
    for table in (plain, meant):
        for row, wage in zip(table, wages, strict=True):
            row["wage"] = {wage}
    both = (frame.with_columns(wage=pl.Series(wages)) for frame in (original, released))
    report = queries(*both, quasi_identifiers=HIERARCHIES, sum_of="wage", count=30, seed=seed)
    for query, row in zip(report.workload, report.frame.iter_rows(named=True), strict=True):
        assert row["truth"] == pytest.approx(naive.sum_query(plain, as_sets(query), "wage"))
        assert row["estimate"] == pytest.approx(naive.sum_query(meant, as_sets(query), "wage"))
        assert row["error"] == pytest.approx(abs(row["estimate"] - row["truth"]) / abs(row["truth"]))


@pytest.mark.parametrize("seed", range(10))
def test_decimals_are_spread_over_the_length(seed):
    rng = random.Random(seed)
    values = [rng.randrange(400) / 8 + 0.0625 for _ in range(30)]
    blocks = [(value - rng.randrange(3) / 2, value + rng.randrange(3) / 2) for value in values]
    texts = [f"[{low}, {high}]" if low < high else f"{low}" for low, high in blocks]
    original, released = pl.DataFrame({"x": values}), pl.DataFrame({"x": texts})
    report = queries(original, released, quasi_identifiers=["x"], count=30, seed=seed)
    for query, row in zip(report.workload, report.frame.iter_rows(named=True), strict=True):
        asked = {"x": (query["x"].left, query["x"].right)}
        assert row["truth"] == pytest.approx(naive.count_query([{"x": (value, value)} for value in values], asked))
        assert row["estimate"] == pytest.approx(naive.count_query([{"x": block} for block in blocks], asked))


@pytest.mark.parametrize("options", [{}, {"sum_of": "score"}, {"dimensions": 2}, {"selectivity": 0.3}])
def test_an_unchanged_table_answers_without_error(people, frame_constructor, options):
    columns = {"age": None, "zip": dc.mask(digits=5), "sex": None, "score": None}
    table = frame_constructor(people)
    report = queries(table, table, quasi_identifiers=columns, count=30, **options)
    assert report.mean == report.median == 0
    assert report.frame["error"].max() == 0
    assert report.frame["truth"].min() > 0


def test_an_unchanged_file_answers_without_error(people, constructor):
    table = constructor(people.select("age", "sex", "zip"))
    assert queries(people, table, quasi_identifiers=["age", "sex", "zip"], count=10).mean == 0


def test_dates():
    days = pl.date_range(pl.date(2024, 1, 1), pl.date(2024, 1, 10), eager=True)
    original = pl.DataFrame({"day": days})
    released = pl.DataFrame({"day": ["[2024-01-01, 2024-01-05]"] * 5 + [">= 2024-01-06"] * 5})
    report = queries(original, released, quasi_identifiers=["day"], workload=[{"day": "[2024-01-04, 2024-01-07]"}])
    assert report.frame.select("truth", "estimate").row(0) == (4.0, pytest.approx(2 + 2))
    drawn = queries(original, released, quasi_identifiers=["day"], count=5)
    assert queries(original, released, quasi_identifiers=["day"], workload=drawn.workload).frame.equals(drawn.frame)


def test_seeds():
    original, released, _, _ = random_release(1)

    def drawn(seed):
        return queries(original, released, quasi_identifiers=HIERARCHIES, count=20, seed=seed)

    assert drawn(3).frame.equals(drawn(3).frame)
    assert drawn(3).workload == drawn(3).workload
    assert drawn(3).workload != drawn(4).workload


def test_the_same_queries_for_every_release():
    original, released, _, _ = random_release(2)
    first = queries(original, released, quasi_identifiers=HIERARCHIES, count=20)
    again = queries(original, released, quasi_identifiers=HIERARCHIES, workload=first.workload)
    assert again.frame.equals(first.frame)
    assert queries(original, original, quasi_identifiers=HIERARCHIES, count=20).workload == first.workload


def test_given_queries():
    original = pl.DataFrame({"age": [21, 24, 27, 52], "city": ["Oslo", "Bergen", "Nice", "Nice"]})
    released = pl.DataFrame({"age": ["[21, 24]"] * 2 + ["[27, 52]"] * 2, "city": ["north", "north", "coast", "coast"]})
    asked = [{"age": "[21, 22]"}, {"city": "north"}, {"city": ["Oslo", "Nice"]}, {"age": 24, "city": "Oslo"}, {}]
    report = queries(original, released, quasi_identifiers={"age": None, "city": dc.groups(CITIES)}, workload=asked)
    assert report.frame["truth"].to_list() == [1, 2, 3, 0, 4]
    assert report.frame["estimate"].to_list() == pytest.approx([1, 2, 2, 0.25, 4])
    assert report.frame["error"].to_list() == pytest.approx([0, 0, 1 / 3, None, 0])
    assert report.mean == pytest.approx(1 / 12)
    assert report.frame["dimensions"].to_list() == [1, 1, 1, 2, 0]


def test_which_columns_are_restricted():
    original, released, _, _ = random_release(3)
    two = queries(original, released, quasi_identifiers=HIERARCHIES, dimensions=2, count=30)
    assert {len(query) for query in two.workload} == {2}
    assert {name for query in two.workload for name in query} == set(HIERARCHIES)
    one = queries(original, released, quasi_identifiers=HIERARCHIES, dimensions=["age"], count=10)
    assert {tuple(query) for query in one.workload} == {("age",)}


def test_selectivity_sets_how_wide_predicates_are():
    table = pl.DataFrame({"x": list(range(100)), "y": list(range(100))})
    report = queries(table, table, quasi_identifiers=["x", "y"], selectivity=0.25, count=10)
    assert {query["x"].right - query["x"].left + 1 for query in report.workload} == {50}


@pytest.mark.parametrize(
    ("scheme", "solver"),
    [("full-domain", "auto"), ("ordered", "auto"), ("set", "auto"), ("local", "mondrian"), ("local", "top-down")],
)
def test_releases_of_every_kind(scheme, solver):
    people = dc.sample(400, seed=2).select("sex", "education", "children", "marital_status")
    forms = {name: dc.samples.HIERARCHIES.get(name) for name in people.columns}
    choice = {"scheme": scheme, "solver": solver, "time_limit": 1, "seed": 1}
    release = dc.anonymize(people, quasi_identifiers=forms, privacy="k(4)", **choice)
    report = queries(people, release, quasi_identifiers=forms, count=50)
    assert 0 < report.mean < 50
    whole = queries(people, release, quasi_identifiers=forms, workload=[{}])
    assert whole.frame["estimate"].to_list() == [400 - release.suppressed]
    assert queries(people, people, quasi_identifiers=forms, workload=report.workload).mean == 0


def test_it_is_in_the_public_face():
    original, released, _, _ = random_release(4)
    report = dc.evaluate.queries(original, released, quasi_identifiers=HIERARCHIES, count=10)
    assert isinstance(report, dc.evaluate.QueryReport)
    assert "10 queries for the count" in str(report)
    assert repr(report).startswith("QueryReport(count, queries=10")


def test_nothing_released():
    original = pl.DataFrame({"age": [1, 2, 3]})
    released = pl.DataFrame({"age": []}, schema={"age": pl.String})
    assert queries(original, released, quasi_identifiers=["age"], count=5).mean == 1


def test_values_nobody_knows():
    original = pl.DataFrame({"city": ["Oslo", "Nice"]})
    with pytest.raises(DataError, match=r"'city' of the release has 1 value .* hierarchy") as error:
        queries(original, pl.DataFrame({"city": ["south", "Oslo"]}), quasi_identifiers=["city"])
    assert "south" not in str(error.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"count": 0}, "number of queries"),
        ({"selectivity": 1.5}, "selectivity is a share"),
        ({"dimensions": 4}, "cannot restrict 4 columns"),
        ({"dimensions": ["name"]}, "cannot restrict column 'name'"),
        ({"sum_of": "age", "dimensions": ["age"]}, "cannot restrict column 'age'"),
        ({"sum_of": "city"}, "'city' holds no numbers"),
        ({"workload": [{"wage": 3}]}, "'wage', which is not a quasi-identifier"),
        ({"workload": [{"city": "Rome"}]}, "'city' to something"),
        ({"workload": [{"city": "[1, 2]"}]}, "'city' to something"),
        ({"workload": [{"age": "[2024-01-01, 2024-01-02]"}]}, "'age' holds numbers"),
    ],
)
def test_what_makes_no_sense(options, message):
    original, released, _, _ = random_release(5)
    with pytest.raises(UsageError, match=message):
        queries(original, released, quasi_identifiers=HIERARCHIES, **options)


def test_columns_that_are_not_there():
    original, released, _, _ = random_release(6)
    with pytest.raises(MissingColumnError):
        queries(original, released.drop("age"), quasi_identifiers=HIERARCHIES)
    with pytest.raises(MissingColumnError):
        queries(original, released, quasi_identifiers=HIERARCHIES, sum_of="wage")


def test_a_workload_without_queries():
    table = pl.DataFrame({"age": [20, 21]})
    with pytest.raises(UsageError, match="has no queries"):
        queries(table, table, quasi_identifiers=["age"], workload=[])
