"""Utility: every figure is that of the plain definition, and an unchanged table has lost nothing."""

from __future__ import annotations

import json
import random
from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest

import discreet as dc
import naive
import naive_utility as plain
from discreet.errors import DataError, MissingColumnError, UsageError
from discreet.evaluate import utility

CITIES = {"north": ["Oslo", "Bergen"], "south": {"coast": ["Nice", "Genoa"], "inland": ["Turin"]}}
TREE = [
    ("Oslo", "north", "north", "*"),
    ("Bergen", "north", "north", "*"),
    ("Nice", "coast", "south", "*"),
    ("Genoa", "coast", "south", "*"),
    ("Turin", "inland", "south", "*"),
]
QUASI = {"age": None, "city": dc.groups(CITIES), "letter": None, "day": None}
NUMERIC = frozenset({"age", "day", "wage"})
START = date(2024, 1, 1)


def as_day(number):
    return (START + timedelta(days=number)).isoformat()


def released_range(rng, value, domain, write):
    """A released number in the forms there are, and the values of the domain it may be."""
    known = [each for each in domain if each is not None]
    form = rng.randrange(6)
    if form == 0:
        return "*", set(domain)
    if value is None or form == 1:
        return (None if value is None else write(value)), {value}
    low, high = max(known[0], value - rng.randrange(5)), min(known[-1], value + rng.randrange(5))
    inside = {each for each in known if low <= each <= high}
    if form == 2:
        return f"[{write(low)}, {write(high + 1)})", inside
    if form == 3:
        return f"< {write(high + 1)}", {each for each in known if each <= high}
    if form == 4 and None in domain and low < high:
        return f"[{write(low)}, {write(high)}] or missing", {*inside, None}
    return f"[{write(low)}, {write(high)}]", inside


def released_city(rng, value):
    name = rng.choice(next(row for row in TREE if row[0] == value))
    return name, {row[0] for row in TREE if name in row}


def released_letter(rng, value, known):
    values = sorted({value, *rng.sample(known, rng.randrange(len(known)))})
    return (values[0] if len(values) == 1 else f"{{{', '.join(values)}}}"), set(values)


def random_release(seed):
    """A table, a release of it with rows left out, and both in the plain form."""
    rng = random.Random(seed)
    n = rng.randrange(10, 45)
    days = [rng.randrange(20) for _ in range(n)]
    ages = [None if rng.random() < 0.15 else rng.randrange(20, 32) for _ in range(n)]
    letters, cities = rng.choices("abcdef", k=n), rng.choices([row[0] for row in TREE], k=n)
    domains = {
        "age": [*sorted({age for age in ages if age is not None}), *([None] if None in ages else [])],
        "city": [row[0] for row in TREE],
        "letter": sorted(set(letters)),
        "day": sorted(set(days)),
    }
    rows = [dict(zip(QUASI, row, strict=True)) for row in zip(ages, cities, letters, days, strict=True)]
    shown, meant = [], []
    for row in rows:
        each = {
            "age": released_range(rng, row["age"], domains["age"], str),
            "city": released_city(rng, row["city"]),
            "letter": released_letter(rng, row["letter"], domains["letter"]),
            "day": released_range(rng, row["day"], domains["day"], as_day),
        }
        stays = rng.random() < 0.8 or len(shown) == 0
        shown.append({name: text for name, (text, _) in each.items()})
        meant.append({name: cell for name, (_, cell) in each.items()} if stays else None)
    labels = [rng.choice("yn") for _ in rows]
    original = pl.DataFrame(rows, schema={"age": pl.Int64, "city": pl.String, "letter": pl.String, "day": pl.Int64})
    original = original.with_columns(
        pl.Series("day", [START + timedelta(days=day) for day in days]),
        pl.Series("key", range(n)),
        pl.Series("wage", [rng.randrange(1000) / 8 for _ in rows]),
        pl.Series("y", labels),
    )
    stay = [number for number, cells in enumerate(meant) if cells is not None]
    released = pl.DataFrame([shown[row] for row in stay], schema=dict.fromkeys(QUASI, pl.String))
    released = pl.concat([released, original[stay].select("key", "wage", "y")], how="horizontal")
    return original, released, plain.Rows(rows, shown, meant, domains, {"city": TREE}, NUMERIC, labels)


def columns_of(original, rows):
    """All columns of both tables as lists of cells, and their domains."""
    stay = plain.stayed(rows)
    domains = {**rows.domains, "wage": sorted(set(original["wage"])), "y": sorted(set(original["y"]))}
    before = {name: [{row[name]} for row in rows.originals] for name in rows.domains}
    after = {name: [rows.released[row][name] for row in stay] for name in rows.domains}
    for name in ("wage", "y"):
        before[name] = [{value} for value in original[name]]
        after[name] = [before[name][row] for row in stay]
    return before, after, domains


def measured(original, released, **options):
    options = {"sensitive": "wage", "class_attribute": "y", "queries": 0, "models": (), **options}
    return utility(original, released, quasi_identifiers=QUASI, **options)


@pytest.mark.parametrize("seed", range(30))
def test_costs_are_those_of_the_definition(seed):
    original, released, rows = random_release(seed)
    report = measured(original, released)
    assert report.linked
    assert (report.rows, report.released_rows) == (len(rows.originals), len(plain.stayed(rows)))
    expected = {name: cost(rows) for name, cost in plain.COSTS.items()}
    assert dict(report.costs.select("cost", "total").iter_rows()) == pytest.approx(expected)
    everything = rows._replace(released=[None] * len(rows.originals))
    for name, share in report.costs.select("cost", "normalized").iter_rows():
        if name not in ("C_AVG", "score"):
            assert share == pytest.approx(expected[name] / plain.COSTS[name](everything))


@pytest.mark.parametrize("seed", range(30))
def test_columns_are_those_of_the_definition(seed):
    original, released, rows = random_release(seed)
    report = measured(original, released)
    before, after, domains = columns_of(original, rows)
    assert report.attributes["column"].to_list() == list(domains)
    for row in report.attributes.iter_rows(named=True):
        name = row["column"]
        p, q = (plain.marginal(side[name], domains[name]) for side in (before, after))
        assert row["total_variation"] == pytest.approx(plain.total_variation(p, q))
        assert row["jensen_shannon"] == pytest.approx(plain.jensen_shannon(p, q), abs=1e-12)
        moved = plain.earth_movers(p, q, domains[name]) if name in NUMERIC else None
        assert row["earth_movers"] == (None if moved is None else pytest.approx(moved))
        for key, lost in (("loss", plain.loss_of), ("certainty", plain.certainty_of)):
            assert row[key] == (pytest.approx(lost(rows, name) / len(rows.originals)) if name in QUASI else None)
        assert row["values"] == len({value for cell in before[name] for value in cell})


@pytest.mark.parametrize("seed", range(30))
def test_associations_are_those_of_the_definition(seed):
    original, released, rows = random_release(seed)
    report = measured(original, released)
    before, after, domains = columns_of(original, rows)
    seen = set()
    for first, second, measure, original_value, released_value, difference in report.associations.iter_rows():
        for side, value in ((before, original_value), (after, released_value)):
            a, b = side[first], side[second]
            if measure == "spearman":
                expected = plain.spearman(a, b, (domains[first], domains[second]))
            elif measure == "correlation ratio":
                expected = plain.correlation_ratio(*((a, b) if first in NUMERIC else (b, a)))
            else:
                expected = {"pearson": plain.pearson, "cramers v": plain.cramers_v}[measure](a, b)
            assert value == pytest.approx(expected, abs=1e-7)
        assert difference == pytest.approx(abs(original_value - released_value))
        seen.add((first, second, measure))
    pairs = {(a, b): a in NUMERIC and b in NUMERIC for i, a in enumerate(domains) for b in list(domains)[i + 1 :]}
    assert len(seen) == sum(2 if numbers else 1 for numbers in pairs.values())
    assert report.association_difference == pytest.approx(report.associations["difference"].mean())


@pytest.mark.parametrize("seed", range(20))
def test_full_domain_costs_are_those_of_the_definition(seed):
    rng = random.Random(seed)
    n = rng.randrange(10, 60)
    ages = [(number, f"[{number // 2 * 2}, {number // 2 * 2 + 2})", "*") for number in range(20, 30)]
    hierarchies = {"age": ages, "city": TREE}
    rows = [{"age": rng.randrange(20, 30), "city": rng.choice(TREE)[0], "y": rng.choice("yn")} for _ in range(n)]
    table = naive.Table(rows, hierarchies, frozenset({"age"}))
    levels = (rng.randrange(3), rng.choice([0, 1, 2, 3]))
    found = naive.classes(table, levels)
    published = [members for members in found if len(members) >= 2] or found
    suppressed = sorted(set(range(n)) - {row for members in published for row in members})
    shown = [
        {name: str(naive.released(table, name, row[name], levels[i])) for i, name in enumerate(hierarchies)}
        for row in rows
    ]
    released = pl.DataFrame(shown).with_columns(y=pl.Series([row["y"] for row in rows]))
    released = released[sorted(set(range(n)) - set(suppressed))]
    quasi = {"age": dc.Hierarchy.from_rows(ages), "city": dc.Hierarchy.from_rows(TREE)}
    report = utility(pl.DataFrame(rows), released, quasi_identifiers=quasi, class_attribute="y", queries=0, models=())
    expected = {name: cost(table, levels, published, suppressed) for name, cost in naive.COSTS.items()}
    assert dict(report.costs.select("cost", "total").iter_rows()) == pytest.approx(expected)


def test_a_release_costs_what_it_says():
    people = dc.sample(300, seed=3).select("sex", "education", "city")
    forms = {name: dc.samples.HIERARCHIES[name] for name in ("sex", "education", "city")}
    for cost in ("LM(weights={sex: 2})", "HDM", "entropy", "precision"):
        release = dc.anonymize(people, quasi_identifiers=forms, privacy="k(5)", suppression="budget(10%)", cost=cost)
        report = utility(people, release, quasi_identifiers=forms, costs=[cost], queries=0)
        assert report.cost(cost) == pytest.approx(release.cost)
        assert report.cost(cost, normalized=True) == pytest.approx(release.normalized_cost)
        assert report.suppressed == release.suppressed


def test_an_unchanged_table_has_lost_nothing(people, constructor):
    quasi = {"age": None, "zip": dc.mask(digits=5), "sex": None}
    table = constructor(people.select("age", "zip", "sex", "disease", "score"))
    report = utility(table, table, quasi_identifiers=quasi, sensitive=["disease", "score"], queries=20)
    assert report.linked
    for cost in ("LM", "HDM", "NCP", "entropy", "precision", "score"):
        assert report.cost(cost) == pytest.approx(0)
    assert report.association_difference == 0
    assert report.attributes.select(pl.col("loss", "certainty", "total_variation").max()).row(0) == (0, 0, 0)
    assert report.queries.mean == 0


def test_kinds_of_frames_agree(people, frame_constructor):
    quasi = {"age": dc.intervals(10, 20), "sex": None}
    settings = {"identifiers": "name", "quasi_identifiers": quasi, "privacy": "k(3)", "suppression": "budget(0.2)"}
    released = dc.anonymize(people, **settings, seed=1).frame
    expected = utility(people, released, quasi_identifiers=quasi, sensitive="score", queries=10)
    both = (frame_constructor(table) for table in (people, released))
    assert utility(*both, quasi_identifiers=quasi, sensitive="score", queries=10).to_frame().equals(expected.to_frame())


def test_rows_in_another_order_are_not_linked():
    original, released, rows = random_release(5)
    report = measured(original, released.reverse())
    assert not report.linked
    known = set(report.costs["cost"])
    assert {"DM", "LM", "CM", "NCP"} <= known
    assert known.isdisjoint({"HDM", "entropy"})
    assert report.cost("LM") == pytest.approx(plain.loss(rows))
    assert "row of each released row is unknown" in report.summary()
    moved = [table.attributes["total_variation"].to_list() for table in (report, measured(original, released))]
    assert moved[0] == pytest.approx(moved[1])


def test_rows_are_linked_where_other_columns_changed():
    original, released, _ = random_release(6)
    noisy = released.with_columns(wage=pl.col("wage") + 1)
    assert measured(original, noisy, sensitive=()).linked


def test_means_are_linked_and_cost_nothing_that_is_not_defined():
    original = pl.DataFrame({"age": [20, 30, 40, 50], "key": [1, 2, 3, 4], "y": list("abab")})
    released = original.with_columns(age=pl.Series([25.0, 25.0, 45.0, 45.0]))
    report = utility(original, released, quasi_identifiers=["age"], sensitive="key", queries=0)
    assert report.linked
    assert set(report.costs["cost"]) == {"C_AVG", "DM", "SSE", "score"}
    assert report.cost("SSE") == pytest.approx(4 * 25 / 125)
    assert report.attributes["loss"].to_list() == [None, None]
    assert report.attributes["total_variation"].to_list() == [0.5, 0]


def test_unknown_values_are_counted():
    original = pl.DataFrame({"age": [20, 30, 40, 50], "illness": ["flu", "hiv", "flu", "ache"]})
    released = pl.DataFrame({"age": ["[20, 30]"] * 2 + ["[40, 50]"] * 2, "illness": ["flu", "*", "flu", "*"]})
    report = utility(original, released, quasi_identifiers=["age"], sensitive="illness", queries=0)
    assert report.suppressed_values == 2
    assert report.cost("LM") == pytest.approx(4 / 3 + 2)
    assert report.linked
    share = {"ache": 2 / 3, "flu": 2 + 2 / 3, "hiv": 2 / 3}
    moved = sum(abs(share[name] - count) for name, count in {"ache": 1, "flu": 2, "hiv": 1}.items()) / 2 / 4
    assert report.attributes["total_variation"].to_list()[1] == pytest.approx(moved)


def test_missing_cells_of_a_column_that_had_none_may_be_anything():
    original = pl.DataFrame({"sex": ["f", "m", "f", "m"]})
    released = pl.DataFrame({"sex": ["f", None, "f", "m"]})
    report = utility(original, released, quasi_identifiers=["sex"], queries=0)
    assert report.cost("LM") == 1
    assert report.attributes["total_variation"].item() == pytest.approx(0.125)


@pytest.mark.parametrize(("scheme", "solver"), [("full-domain", "auto"), ("local", "mondrian")])
def test_reports(scheme, solver):
    people = dc.sample(200, seed=4).select("sex", "education", "children", "income", "diagnosis")
    forms = {name: dc.samples.HIERARCHIES[name] for name in ("sex", "education", "children")}
    settings = {"quasi_identifiers": forms, "keep": "income", "privacy": "k(4)"}
    release = dc.anonymize(people, **settings, scheme=scheme, solver=solver)
    report = utility(people, release, quasi_identifiers=forms, sensitive=["income", "diagnosis"], queries=30)
    facts = json.loads(json.dumps(report.to_dict()))
    assert facts["released_rows"] == 200 - release.suppressed
    assert {row["cost"] for row in facts["costs"]} == set(report.costs["cost"])
    assert facts["queries"]["count"] == 30
    frame = report.to_frame()
    assert frame.columns == ["part", "what", "measure", "value"]
    assert set(frame["part"]) == {"table", "costs", "attributes", "associations", "queries"}
    assert frame.filter(part="costs", what="LM", measure="total")["value"].item() == report.cost("LM")
    for name in (*forms, "income", "diagnosis", "LM", "cramers v", "30 queries"):
        assert name in report.summary()
    assert str(report) == report.summary()
    assert repr(report).startswith("UtilityReport(rows=200 of 200")


def test_no_value_of_the_data_is_told():
    original, released, _ = random_release(7)
    text = str(measured(original, released, queries=20)) + json.dumps(measured(original, released).to_dict())
    assert not any(city in text for city, *_ in TREE)


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"sensitive": "wages"}, MissingColumnError, "did you mean 'wage'"),
        ({"class_attribute": None, "models": "tree"}, UsageError, "class_attribute"),
        ({"models": ["trees"]}, UsageError, "did you mean 'tree'"),
        ({"costs": ["ML"]}, UsageError, "There is no cost 'ML'"),
        ({"queries": -1}, UsageError, "number of queries"),
        ({"folds": 1}, UsageError, "number of folds"),
    ],
)
def test_bad_options(options, error, match):
    original, released, _ = random_release(1)
    with pytest.raises(error, match=match):
        measured(original, released, **options)


def test_bad_tables():
    original, released, _ = random_release(1)
    with pytest.raises(MissingColumnError, match="city"):
        measured(original, released.drop("city"))
    with pytest.raises(DataError, match="no rows"):
        measured(original, released.head(0))
    with pytest.raises(DataError, match="'city' of the release"):
        measured(original, released.with_columns(city=pl.lit("elsewhere")))
    with pytest.raises(UsageError, match="The report has no cost 'precision'"):
        measured(original, released).cost("precision")
    with pytest.raises(UsageError, match="'DM2'"):
        measured(original, released).cost("DM2")


def test_names_of_nodes_are_not_told():
    original, released, rows = random_release(9)
    cost = "NCP(node_weights={city: {coast: 1.5}})"
    report = measured(original, released, costs=[cost])
    assert "coast" not in str(report)
    shown = [cells for number, cells in enumerate(rows.shown) if rows.released[number] is not None]
    coast = len([cells for cells in shown if cells["city"] == "coast"])
    assert report.cost(cost) == pytest.approx(plain.certainty(rows) + 0.5 * coast * 2 / 5)
    with pytest.raises(UsageError):
        measured(original, released, costs=["NCP(node_weights={city: {nowhere: 1.5}})"])


def test_many_rows_left_out_are_found():
    rng = np.random.default_rng(0)
    original = pl.DataFrame({"x": rng.integers(0, 50, 5000), "key": np.arange(5000)})
    stay = np.flatnonzero(rng.random(5000) < 0.6)
    report = utility(original, original[stay], quasi_identifiers=["x"], queries=0)
    assert report.linked
    assert report.suppressed == 5000 - stay.size


def test_tables_of_duckdb():
    duckdb = pytest.importorskip("duckdb", reason="DuckDB is not here; it comes with the extra duckdb")
    original, released, _ = random_release(8)
    expected = measured(original, released)
    connection = duckdb.connect()
    tables = {"original": original, "released": released}
    for name, table in tables.items():
        connection.register(f"{name}_arrow", table.to_arrow())
        connection.execute(f"CREATE TABLE {name} AS SELECT *, [1, 2] AS nested FROM {name}_arrow")
    report = measured(*(connection.table(name) for name in tables))
    assert report.linked
    assert report.to_frame().equals(expected.to_frame())


@pytest.mark.parametrize("scheme", ["full-domain", "ordered", "local"])
@pytest.mark.parametrize("tree", [None, "auto", "mask(digits=5)"])
def test_values_of_rows_that_were_left_out_for_missing_values_are_lost(tree, scheme):
    """The hierarchy a release was made with does not know them."""
    zips = ["10001"] * 5 + ["10002"] * 5 + ["20001"] * 5
    table = pl.DataFrame(
        {"zip": [*zips, "30001", "99999"], "sex": [*"mfmfm" * 3, None, None], "s": [*"abcab" * 3, "a", "b"]}
    )
    settings = {"quasi_identifiers": {"zip": tree, "sex": None}, "sensitive": "s", "types": {"zip": "text"}}
    release = dc.anonymize(table, **settings, privacy="k(5)", missing="suppress", scheme=scheme, seed=1)
    assert release.dropped_missing == 2
    assert release.risk().to_dict()
    assert release.attacks().to_dict()
    found = release.utility(queries=20)
    assert found.original_rows == 17
    total = {line["cost"]: line["total"] for line in found.to_dict()["costs"]}["LM"]
    shown = 1 if set(release.frame["zip"]) == {"*"} else 2 / 4  # of the five values of the table, three are in a set
    assert release.cost == 15
    assert total == pytest.approx(15 * shown + 4)  # both columns of both rows are lost
    assert release.utility(only_released=True).original_rows == 15
    if scheme != "local":
        again = utility(table, release.frame, mapping=release.to_mapping(), sensitive="s")
        assert again.original_rows == 17


@pytest.mark.parametrize("scheme", ["set", "ordered", "local"])
def test_certainty_of_text_without_a_hierarchy(scheme):
    """NCP counts the values that occur in a class, whether it is the cost of a release or measured again."""
    for seed in range(8):
        rng = random.Random(seed)
        rows = [(rng.choice("pqrs"), rng.choice("uvwx"), number) for number in range(rng.randrange(4, 25))]
        original = pl.DataFrame(rows, schema=["a", "b", "key"], orient="row")
        release = dc.anonymize(
            original,
            quasi_identifiers=["a", "b"],
            privacy="k(2)",
            cost="NCP",
            scheme=scheme,
            suppression="budget(0.3)",
            keep=["key"],
            seed=1,
        )
        classes = {}
        for a, b, key in release.frame.select("a", "b", "key").iter_rows():
            classes.setdefault((a, b), []).append(rows[key])
        expected = 2 * (len(rows) - release.frame.height)
        for members in classes.values():
            for i in range(2):
                inside = len({row[i] for row in members})
                expected += len(members) * inside / len({row[i] for row in rows}) if inside > 1 else 0
        assert release.cost == pytest.approx(expected)
        report = utility(original, release.frame, quasi_identifiers=["a", "b"], queries=0, models=())
        assert report.linked
        assert report.cost("NCP") == pytest.approx(expected)


def test_what_loses_nothing_costs_nothing():
    """Sums of fractions may be just below 0, which nobody should see."""
    for seed in range(20):
        rng = random.Random(seed)
        rows = [tuple(rng.choice("abcdefg") for _ in range(3)) for _ in range(30)]
        table = pl.DataFrame(rows, schema=["x", "y", "z"], orient="row")
        report = utility(table, table, quasi_identifiers=["x", "y", "z"], queries=0, models=())
        assert report.costs["total"].min() >= 0
        assert "-0" not in report.summary()
