"""The worked examples of the l+ paper (Liu and Wang, ICDE 2010), and its optima on Adult.

The ten-record table of Fig. 1 is rebuilt here from the text, as scans of the figure are damaged. The quasi-identifiers
follow from Example 1 (records 1 to 4 are in ⟨Sec, Eu⟩, record 5 alone in ⟨Uni, Eu⟩, records 8 to 10 in ⟨Grad, Am⟩) and
from the five regions of section IX-A, of two records each; the diseases of records 5 to 10 from Examples 1 and 4, up to
the order of 6 and 7. Free choices are which of records 9 and 10 is from the USA, and the diseases of records 1 to 4, of
which only the pairs in ⟨Jr, Eu⟩, in ⟨Sr, Eu⟩ and in the regions must differ.
"""

from __future__ import annotations

import itertools
from functools import cache
from math import prod

import polars as pl
import pytest

import discreet as dc
import naive
from discreet.engines import count, open_source
from discreet.problem import Problem
from discreet.problem.schemes.subtree import Subtree
from discreet.schema import Schema
from discreet.solve import solve
from tables import classes_of, count_table

EDUCATION = [("Jr", "Sec", "*"), ("Sr", "Sec", "*"), ("Ba", "Uni", "*"), ("Grad", "Uni", "*")]
COUNTRY = [("UK", "Eu", "*"), ("France", "Eu", "*"), ("Canada", "Am", "*"), ("USA", "Am", "*")]
RECORDS = [
    ("Jr", "UK", "Flu"),
    ("Jr", "France", "Cancer"),
    ("Sr", "UK", "Asthma"),
    ("Sr", "France", "Cancer"),
    ("Ba", "UK", "Asthma"),
    ("Ba", "Canada", "Flu"),
    ("Ba", "USA", "Asthma"),
    ("Grad", "Canada", "Asthma"),
    ("Grad", "USA", "Cancer"),
    ("Grad", "Canada", "Cancer"),
]
COLUMNS = ("education", "country", "disease")
PLAIN = naive.Table(
    [dict(zip(COLUMNS, record, strict=True)) for record in RECORDS], {"education": EDUCATION, "country": COUNTRY}
)
COUNTS = count_table(PLAIN, {"disease": [("Asthma",), ("Cancer",), ("Flu",)]})
FRAME = pl.DataFrame(RECORDS, schema=COLUMNS, orient="row")
KINDS = ["none", "class-records", "violating-records", "class-values", "violating-values"]

QUASI_IDENTIFIERS = ["age", "education", "native-country", "workclass", "marital-status", "sex", "race"]


def partition(hierarchy, *names):
    """The cut made of these values, as sets of leaves."""
    return frozenset(frozenset(row[0] for row in hierarchy if name in row) for name in names)


CUT_A = (partition(EDUCATION, "Jr", "Sr", "Uni"), partition(COUNTRY, "Eu", "Am"))
CUT_B = (partition(EDUCATION, "Jr", "Sr", "Ba", "Grad"), partition(COUNTRY, "Eu", "Am"))
CUT_2 = (partition(EDUCATION, "Sec", "Uni"), partition(COUNTRY, "*"))
CUT_18 = (partition(EDUCATION, "Sec", "Uni"), partition(COUNTRY, "Eu", "Am"))


def records_of(cut):
    """The records of each class, counted from 1 as in the paper."""
    return sorted([row + 1 for row in members] for members in naive.classes(PLAIN, cut))


def model(theta):
    thetas = dict.fromkeys(("Asthma", "Cancer", "Flu"), theta)
    return naive.Model(lambda counts: naive.l_plus(counts, thetas), True, thetas)


def test_the_partitions_of_the_text():
    assert records_of(CUT_A) == [[1, 2], [3, 4], [5], [6, 7, 8, 9, 10]]
    assert records_of(CUT_B) == [[1, 2], [3, 4], [5], [6, 7], [8, 9, 10]]
    assert records_of(CUT_2) == [[1, 2, 3, 4], [5, 6, 7, 8, 9, 10]]
    assert [1, 2, 3, 4] in records_of(CUT_18)


def test_the_regions_of_section_9():
    regions = [
        ({"Jr", "Sr"}, {"UK"}),
        ({"Sr", "Ba"}, {"France", "Canada"}),
        ({"Jr", "Grad"}, {"France", "Canada"}),
        ({"Ba", "Grad"}, {"USA"}),
        ({"Ba", "Grad"}, {"UK", "Canada"}),
    ]
    pairs = [(0, 2), (3, 5), (1, 7), (6, 8), (4, 9)]
    assert sorted(row for pair in pairs for row in pair) == list(range(10))
    for (schools, countries), pair in zip(regions, pairs, strict=True):
        found = [RECORDS[row] for row in pair]
        assert all(school in schools and country in countries for school, country, _ in found)
        assert len({disease for *_, disease in found}) == 2


def test_25_cuts():
    attributes = COUNTS.attributes
    assert prod(Subtree().formal_count(attribute) for attribute in attributes) == 25
    assert prod(Subtree().count(attribute) for attribute in attributes) == 25
    problem = Problem.build(COUNTS, privacy="l+(0.5, disease)", scheme="subtree")
    assert solve(problem).stats["space"] == 25


@pytest.mark.parametrize(
    ("kind", "diseases"),
    [
        ("class-records", ["Flu", "Cancer", "Asthma", "Cancer", None, "Flu", "Asthma", None, None, None]),
        ("violating-records", ["Flu", "Cancer", "Asthma", "Cancer", None, "Flu", "Asthma", "Asthma", "Cancer", None]),
        ("class-values", ["Flu", "Cancer", "Asthma", "Cancer", "*", "Flu", "Asthma", "*", "*", "*"]),
        ("violating-values", ["Flu", "Cancer", "Asthma", "Cancer", "*", "Flu", "Asthma", "Asthma", "*", "*"]),
    ],
)
def test_example_1_what_suppression_does_to_cut_b(kind, diseases):
    """Levels are limited so that Cut_b is the only cut; None stands for a record that is not published."""
    release = dc.anonymize(
        FRAME.with_row_index("record", offset=1),
        quasi_identifiers={"education": dc.Hierarchy.from_rows(EDUCATION), "country": dc.Hierarchy.from_rows(COUNTRY)},
        sensitive=["disease"],
        privacy="l+(0.5, disease)",
        suppression=kind,
        scheme="subtree",
        min_levels={"country": 1},
        max_levels={"education": 0, "country": 1},
    )
    found = dict(release.frame.select("record", "disease").rows())
    assert [found.get(number) for number in range(1, 11)] == diseases
    assert release.audit.passed


def test_example_1_no_suppression_of_cut_a_is_not_allowed():
    assert naive.suppress(PLAIN, CUT_A, [model(0.5)], "none", 0, "LM", "disease").cost is None
    assert naive.suppress(PLAIN, CUT_A, [model(0.5)], "class-records", 10, "LM", "disease").rows == 1


def test_example_4_fewest_records_to_suppress():
    """Lemma 3 at ⟨Uni, AnyCountry⟩ with θ = 1/3: two of Asthma, and then one of Cancer."""
    part = naive.counts(PLAIN, range(4, 10), "disease")
    assert part == {"Asthma": 3, "Cancer": 2, "Flu": 1}
    assert naive.lemma_3(part, dict.fromkeys(part, 1 / 3)) == {"Asthma": 2, "Cancer": 1, "Flu": 0}
    problem = Problem.build(COUNTS, privacy=f"l+({1 / 3!r}, disease)", scheme="subtree")
    assert problem.fewest_removed(classes_of(COUNTS, (1, 2))).tolist() == [1, 3]


@pytest.mark.parametrize("theta", [0.5, 0.4])
@pytest.mark.parametrize(
    ("cost", "kind"),
    [
        *itertools.product(["LM", "LM(penalty=l+)"], KINDS),
        *itertools.product(["DM"], ["none", "class-records", "violating-records"]),
        *itertools.product(["HDM", "NCP"], ["none", "class-records"]),
    ],
)
def test_optimum_of_the_ten_records(cost, kind, theta):
    options = {"penalty": "l+"} if "penalty" in cost else {}
    problem = Problem.build(COUNTS, privacy=f"l+({theta}, disease)", cost=cost, suppression=kind, scheme="subtree")
    want = naive.search_cuts(PLAIN, [model(theta)], kind, problem.limit, cost.split("(")[0], "disease", **options)
    found = solve(problem, "cuts")
    assert want.considered == 25
    assert found.status == "optimal"
    assert found.cost == pytest.approx(want.cost, rel=1e-12)


def test_full_domain_costs_more():
    costs = [
        solve(Problem.build(COUNTS, privacy="l+(0.5, disease)", scheme=scheme), solver).cost
        for scheme, solver in [("subtree", "cuts"), ("full-domain", "incognito")]
    ]
    assert costs == pytest.approx([35 / 3, 40 / 3])


@cache
def adult(folder, taxonomies):
    """The 45,222 rows without missing values as a count table, ages as five-year leaves."""
    trees = folder / "taxonomies" / "adult" / f"liu-wang-{taxonomies}"
    if not trees.is_dir() or not (folder / "adult.csv").is_file():
        pytest.skip("Adult or its taxonomies are not here; set DISCREET_DATA to the folder that holds them")
    ages = pl.read_csv(trees / "age_exact.csv")
    leaf = dict(zip(ages["level0"], ages["level1"], strict=True))
    frame = pl.read_csv(folder / "adult.csv").filter(~pl.any_horizontal(pl.col(pl.String) == "?"))
    frame = frame.with_columns(pl.col("age").replace_strict(leaf, return_dtype=pl.String))
    source = open_source(frame.select(*QUASI_IDENTIFIERS, "occupation", "income"))
    hierarchies = {column: dc.Hierarchy.from_csv(trees / f"{column}.csv") for column in QUASI_IDENTIFIERS}
    schema = Schema.make(
        source.columns, quasi_identifiers=hierarchies, sensitive=["occupation"], class_attribute="income"
    )
    table = count(source, schema).table
    assert table.n == 45_222
    return table


@pytest.mark.parametrize(
    ("taxonomies", "formal", "distinct"),
    [
        ("base", 356_440_500, 198_022_500),
        ("coarse", 152_685_000, 84_825_000),
        ("medium", 6_943_460_940, 3_857_478_300),
        ("fine", 431_934_597_900, 10_701_135_900),
    ],
)
def test_cuts_of_adult(data_folder, taxonomies, formal, distinct):
    table = adult(data_folder, taxonomies)
    problem = Problem.build(table, privacy="l+(0.25, occupation)", cost="DM", scheme="subtree")
    found = solve(problem, "cuts")
    assert found.status == "optimal"
    assert (found.stats["formal_space"], found.stats["space"]) == (formal, distinct)


@pytest.mark.parametrize(
    ("cost", "kind", "optimum"),
    [
        ("LM(penalty=l+)", "none", 233_260.0667),
        ("DM", "class-records", 115_844_810),
        ("CM", "violating-records", 8_484),
    ],
)
def test_optima_of_adult(data_folder, cost, kind, optimum):
    table = adult(data_folder, "base")
    problem = Problem.build(table, privacy="l+(0.25, occupation)", cost=cost, suppression=kind, scheme="subtree")
    found = solve(problem, "cuts")
    assert found.status == "optimal"
    assert found.cost == pytest.approx(optimum, rel=1e-9)
