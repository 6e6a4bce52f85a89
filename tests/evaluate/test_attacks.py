"""Attacks: each succeeds as often as the plain definition says, and minimality as often as trying all deals says."""

from __future__ import annotations

import json
import random
import sys

import numpy as np
import polars as pl
import pytest

import discreet as dc
import naive_risk as plain
from discreet.errors import DataError, MissingColumnError, UsageError
from discreet.evaluate import attacks

CITIES = {"north": ["Oslo", "Bergen"], "south": {"coast": ["Nice", "Genoa"], "inland": ["Turin"]}}
NODES = {
    "Oslo": ("Oslo", "north", "*"),
    "Bergen": ("Bergen", "north", "*"),
    "Nice": ("Nice", "coast", "south", "*"),
    "Genoa": ("Genoa", "coast", "south", "*"),
    "Turin": ("Turin", "inland", "south", "*"),
}
COLUMNS = ["age", "city", "letter"]
HIERARCHIES = {"age": None, "city": dc.groups(CITIES), "letter": None}


def shown_as(rng, person, ages, letters):
    """A released row, and what each of its cells may be."""
    age, city, letter = person["age"], person["city"], person["letter"]
    if age is None:
        shown, meant = (None, {None}) if rng.random() < 0.7 else ("*", {*ages, None})
    else:
        low, high = age - rng.randrange(4), age + rng.randrange(4)
        shown, meant = rng.choice(
            [
                (f"[{low}, {high}]", set(range(low, high + 1))),
                (f"{age}", {age}),
                (f"[{low}, {high}] or missing", {*range(low, high + 1), None}),
                ("*", {*ages, None}),
            ]
        )
    node = rng.choice(NODES[city])
    others = sorted({letter, *rng.sample(letters, rng.randrange(len(letters)))})
    cells = {
        "age": meant,
        "city": {leaf for leaf, above in NODES.items() if node in above},
        "letter": set(others),
    }
    return [shown, node, others[0] if len(others) == 1 else f"{{{', '.join(others)}}}"], cells


def random_release(seed, coarse=False):
    rng = random.Random(seed)
    people = [
        {
            "age": None if rng.random() < 0.1 else rng.randrange(20, 30),
            "city": rng.choice(list(NODES)),
            "letter": rng.choice("abcd"),
            "ill": rng.choice("xxxyyz"),
        }
        for _ in range(rng.randrange(6, 40))
    ]
    ages = {person["age"] for person in people}
    letters = sorted({person["letter"] for person in people})
    published = rng.sample(people, len(people) - rng.randrange(3))
    shown, meant, secrets = [], [], []
    for person in published:
        row, cells = shown_as(rng, person, ages, letters)
        if coarse:
            row[:2], cells["age"], cells["city"] = ["*", "*"], {*ages, None}, set(NODES)
        shown.append([*row, person["ill"]])
        meant.append(cells)
        secrets.append(person["ill"])
    original = pl.DataFrame(people, schema={"age": pl.Int64, "city": pl.String, "letter": pl.String, "ill": pl.String})
    released = pl.DataFrame(shown, schema=dict.fromkeys([*COLUMNS, "ill"], pl.String), orient="row")
    return people, original, released, meant, secrets


@pytest.mark.parametrize("coarse", [False, True])
@pytest.mark.parametrize("seed", range(30))
def test_linkage(seed, coarse):
    people, original, released, meant, secrets = random_release(seed, coarse)
    link = attacks(original, released, quasi_identifiers=HIERARCHIES, sensitive=["ill"]).linkage
    expected = plain.linkage(people, meant, secrets, COLUMNS, "ill")
    assert (link.matched, link.singled_out, link.success, link.values["ill"]) == pytest.approx(tuple(expected))
    assert link.records == len(people)
    assert link.naive == pytest.approx(1 / len(secrets))
    usual = plain.most_frequent(secrets, secrets)
    assert link.naive_values["ill"] == pytest.approx(sum(person["ill"] == usual for person in people) / len(people))


@pytest.mark.parametrize("seed", range(10))
def test_linkage_in_small_pieces(seed, monkeypatch):
    _, original, released, *_ = random_release(seed)
    asked = {"quasi_identifiers": HIERARCHIES, "sensitive": ["ill"]}
    whole = attacks(original, released, **asked)
    monkeypatch.setattr("discreet.evaluate.candidates._AT_ONCE", 7)
    assert attacks(original, released, **asked).to_dict() == whole.to_dict()


def test_linkage_of_some_people_only(monkeypatch):
    monkeypatch.setattr(sys.modules["discreet.evaluate.attacks.linkage"], "_PAIRS", 200)
    people, original, released, *_ = random_release(3)
    found = [attacks(original, released, quasi_identifiers=HIERARCHIES, seed=7).linkage for _ in range(2)]
    assert found[0] == found[1]
    assert 0 < found[0].records < len(people)


@pytest.mark.parametrize("seed", range(20))
def test_homogeneity(seed):
    _, original, released, _, secrets = random_release(seed, coarse=seed % 2 == 0)
    disclosed = attacks(original, released, quasi_identifiers=HIERARCHIES, sensitive=["ill"]).homogeneity["ill"]
    rows = released.to_dicts()
    assert (disclosed.certain, disclosed.at_least_80, disclosed.at_least_50) == pytest.approx(
        tuple(plain.homogeneity(rows, COLUMNS, "ill"))
    )
    assert disclosed.success == pytest.approx(plain.average_confidence(rows, COLUMNS, "ill"))
    assert disclosed.naive == pytest.approx(max(map(secrets.count, secrets)) / len(secrets))


def test_an_unchanged_table_gives_everything_away():
    people = dc.sample(200, seed=1)
    report = attacks(people, people, quasi_identifiers=["birth_date", "zip", "sex"], sensitive=["diagnosis"])
    assert report.linkage.success == 1.0
    assert report.linkage.values["diagnosis"] == 1.0
    assert report.homogeneity["diagnosis"].certain == 1.0


@pytest.mark.parametrize("scheme", ["full-domain", "local"])
def test_no_release_is_linked_better_than_its_k_allows(scheme):
    people = dc.sample(300, seed=2).select("birth_date", "education", "zip", "diagnosis")
    release = dc.anonymize(
        people,
        quasi_identifiers=["birth_date", "education", "zip"],
        sensitive=["diagnosis"],
        privacy="k(4)",
        scheme=scheme,
        time_limit=5,
    )
    report = attacks(people, release)
    assert report.linkage.matched == 1.0
    assert report.linkage.singled_out == 0.0
    assert report.linkage.success <= 0.25
    assert report.notes == ("Minimality was not tried on 'diagnosis': no promise about it was named.",)


def tree_rows(groups):
    """A table of one column whose classes and finer classes have the sizes and values given."""
    rows = []
    for i, (sizes, values) in enumerate(groups):
        left = list(values)
        for j, size in enumerate(sizes):
            rows += [(f"c{i}g{j}", f"c{i}", left.pop(0)) for _ in range(size)]
    return rows


MODELS = {
    "l+(0.5, ill)": lambda part: max(map(part.count, part)) <= 0.5 * len(part),
    "distinct-l(2, ill)": lambda part: len(set(part)) >= 2,
}


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    "groups",
    [
        [((2, 2), "xxyz"), ((2, 2), "xyyz")],
        [((2, 3), "xxyyz"), ((2, 2), "wxyz")],
        [((2, 2, 2), "xxxyyz")],
        [((2, 2), "xxyy"), ((2, 2), "xxyy")],
        [((1, 3), "xyzw")],
        [((2, 2), "wxyz"), ((2, 2), "wxyz")],
    ],
)
def test_minimality(model, groups):
    rows = tree_rows(groups)
    original = pl.DataFrame([(leaf, ill) for leaf, _, ill in rows], schema=["place", "ill"], orient="row")
    released = pl.DataFrame([(top, ill) for _, top, ill in rows], schema=["place", "ill"], orient="row")
    tree = dc.Hierarchy.from_rows(sorted({(leaf, top) for leaf, top, _ in rows}))
    report = attacks(original, released, quasi_identifiers={"place": tree}, sensitive=["ill"], privacy=model)
    (found,) = report.minimality["ill"]
    exact = plain.minimality(groups, MODELS[model])
    own = max(max(map(values.count, values)) / len(values) for _, values in groups)
    assert found.attribute == "place"
    assert found.confidence == pytest.approx(own)
    assert found.naive == pytest.approx(max(original["ill"].value_counts()["count"]) / len(rows))
    if exact is None:
        assert not found.learnt
        assert found.credibility == pytest.approx(own)
        return
    highest = max(max(finer.values()) for one in exact for finer in one)
    assert found.credibility == pytest.approx(highest, abs=0.08)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("suppressed", [0, 1])
@pytest.mark.parametrize(
    ("groups", "spare"),
    [
        ([((2, 2), "xxyz"), ((2, 2), "xyyz")], 2),
        ([((2, 3), "xxyyz"), ((2, 2), "wxyz")], 2),
        ([((2, 2), "xxyy"), ((2, 2), "xxyy")], 3),
        ([((2, 2, 2), "xxxyyz")], 2),
        ([((2, 2), "xxyy"), ((2, 2), "xxyy")], 8),
    ],
)
def test_minimality_with_suppression(model, groups, spare, suppressed):
    """A finer release would have suppressed more rows than were left to suppress; compared with all deals."""
    rows = tree_rows(groups)
    gone = [("lone", "lone", "x")] * suppressed
    original = pl.DataFrame([(leaf, ill) for leaf, _, ill in [*rows, *gone]], schema=["place", "ill"], orient="row")
    released = pl.DataFrame([(top, ill) for _, top, ill in rows], schema=["place", "ill"], orient="row")
    tree = dc.Hierarchy.from_rows(sorted({(leaf, top) for leaf, top, _ in [*rows, *gone]}))
    budget = f"budget({spare + suppressed})"
    asked = {"quasi_identifiers": {"place": tree}, "sensitive": ["ill"], "privacy": model, "suppression": budget}
    report = attacks(original, released, control=original, **asked)
    if spare + suppressed >= len(rows) + suppressed:
        assert "any number of rows" in report.notes[0]
        return
    (found,) = report.minimality["ill"]
    exact = plain.minimality(groups, MODELS[model], spare)
    own = max(max(map(values.count, values)) / len(values) for _, values in groups)
    highest = own if exact is None else max(max(finer.values()) for one in exact for finer in one)
    assert found.credibility == pytest.approx(highest, abs=0.08)
    assert found.people == len(rows)
    if not suppressed:
        assert found.control == pytest.approx(found.success)  # the same people again


def test_minimality_finds_what_the_release_hides():
    """Had the finer class of two had two values, it would have been shown: it has one."""
    groups = [((2, 4), "xxyyzz")]
    rows = tree_rows(groups)
    original = pl.DataFrame([(leaf, ill) for leaf, _, ill in rows], schema=["place", "ill"], orient="row")
    released = pl.DataFrame([(top, ill) for _, top, ill in rows], schema=["place", "ill"], orient="row")
    tree = dc.Hierarchy.from_rows(sorted({(leaf, top) for leaf, top, _ in rows}))
    asked = {"quasi_identifiers": {"place": tree}, "sensitive": ["ill"]}
    (found,) = attacks(original, released, privacy="distinct-l(2)", **asked).minimality["ill"]
    assert found.learnt
    assert found.confidence == pytest.approx(1 / 3)
    frame = attacks(original, released, privacy="distinct-l(2)", **asked).to_frame()
    assert frame.filter(attack="minimality")["guessed"].to_list() == ["ill"]
    (nothing,) = attacks(original, released, privacy=["k(3)", "distinct-l(2)"], **asked).minimality["ill"]
    assert not nothing.learnt
    assert nothing.credibility == pytest.approx(1 / 3)
    assert nothing.success == nothing.without


def test_minimality_says_why_it_is_not_tried():
    people = pl.DataFrame({"age": [21, 24, 27, 52], "ill": list("xyxy"), "pay": list("abab")})
    tree = dc.intervals(10, 50)
    coarse = people.with_columns(age=pl.Series(["[0, 50)", "[0, 50)", "[0, 50)", "[50, 100)"]))

    def notes(released, **more):
        asked = {"quasi_identifiers": {"age": tree}, "sensitive": ["ill"], "privacy": "distinct-l(2, ill)"}
        return attacks(people, released, **{**asked, **more}).notes

    assert notes(coarse) == ()
    assert "no promise" in notes(coarse, privacy="k(2)")[0]
    assert "rows were suppressed" in notes(coarse.head(3))[0]
    assert "made unknown" in notes(coarse.with_columns(ill=pl.Series(["x", "*", "x", "y"])))[0]
    overlapping = people.with_columns(age=pl.Series(["[21, 30]", "[21, 24]", "[21, 30]", "52"]))
    assert "which class people are in is not known" in notes(overlapping)[0]
    assert "level of its hierarchy" in notes(people)[0]
    both = {"sensitive": ["ill", "pay"], "privacy": ["distinct-l(2, ill)", "distinct-l(2, pay)"]}
    assert "another sensitive column" in notes(coarse, **both)[0]
    release = dc.anonymize(
        people,
        quasi_identifiers={"age": tree},
        sensitive=["ill"],
        privacy=["distinct-l(2, ill)"],
        suppression="budget(1)",
    )
    assert not attacks(people, release).notes
    any_number = {"suppression": "class-records", "privacy": "distinct-l(2, ill)", "sensitive": ["ill"]}
    assert "any number of rows" in attacks(people, coarse, quasi_identifiers={"age": tree}, **any_number).notes[0]
    part = {**any_number, "suppression": "violating-records"}
    assert "parts of classes" in attacks(people, coarse, quasi_identifiers={"age": tree}, **part).notes[0]


def test_unknown_values():
    people = pl.DataFrame({"sex": ["f", "f", "m", "m"], "ill": ["a", "b", "b", "b"]})
    shown = people.with_columns(ill=pl.Series(["a", "*", "*", "*"]))
    report = attacks(people, shown, quasi_identifiers=["sex"], sensitive=["ill"], unknown="*")
    assert report.homogeneity["ill"].certain == 0.0
    assert report.homogeneity["ill"].success == 0.5  # b of the first class, and any of two values in the second
    hidden = report.homogeneity["ill"].hidden
    assert (hidden.values, hidden.known, hidden.known_classes, hidden.confidence) == (3, 1, 1, 1.0)
    assert report.linkage.values["ill"] == 0.25


def test_files_and_types(tmp_path):
    people = dc.sample(150, seed=5).select("birth_date", "zip", "diagnosis")
    people.write_csv(tmp_path / "people.csv")
    tree = {"birth_date": dc.dates("year", "decade"), "zip": dc.mask(digits=5)}
    release = dc.anonymize(people, quasi_identifiers=tree, sensitive=["diagnosis"], privacy="k(3)")
    release.write(tmp_path / "safe.csv")
    asked = {"quasi_identifiers": tree, "sensitive": ["diagnosis"]}
    by_file = attacks(tmp_path / "people.csv", tmp_path / "safe.csv", **asked).to_dict()
    by_frame = attacks(people, release.frame, **asked).to_dict()
    assert by_file["results"].pop("order") != by_frame["results"].pop("order")  # files are shuffled
    assert by_file == by_frame


def test_text():
    _, original, released, *_ = random_release(1)
    report = attacks(original, released, quasi_identifiers=HIERARCHIES, sensitive=["ill"])
    assert str(report) == report.summary()
    assert report.summary().startswith("Attack")
    assert repr(report).startswith("AttackReport(records=")
    json.dumps(report.to_dict(), allow_nan=False)
    assert report.to_frame().columns[:4] == ["attack", "guessed", "success", "naive"]


def test_errors():
    people = pl.DataFrame({"city": ["Oslo", "Nice"], "ill": ["a", "b"]})
    shown = people.with_columns(city=pl.lit("Europe"))
    with pytest.raises(DataError, match="neither the original table nor its hierarchy"):
        attacks(people, shown, quasi_identifiers=["city"])
    with pytest.raises(UsageError, match="no quasi-identifier"):
        attacks(people, people)
    with pytest.raises(MissingColumnError):
        attacks(people.drop("city"), people, quasi_identifiers=["city"])
    with pytest.raises(UsageError, match="not sensitive"):
        attacks(people, people, quasi_identifiers=["city"], privacy="distinct-l(2, ill)")
    with pytest.raises(DataError, match="no rows"):
        attacks(people.clear(), people, quasi_identifiers=["city"])


def test_the_same_seed_draws_the_same():
    rng = np.random.default_rng(0)
    people = pl.DataFrame({"age": rng.integers(20, 60, 200), "ill": rng.choice(list("abcd"), 200)})
    asked = {"quasi_identifiers": {"age": dc.intervals(5, 20)}, "sensitive": ["ill"], "privacy": ["distinct-l(3, ill)"]}
    release = dc.anonymize(people, **asked)
    found = [attacks(people, release).to_dict() for _ in range(2)]
    assert found[0] == found[1]


def test_the_report_says_that_people_are_attacked_where_they_have_several_rows() -> None:
    visits = dc.sample_visits(300, seed=1)
    release = dc.anonymize(
        visits,
        quasi_identifiers={"age": "intervals(10, 40)", "sex": "flat"},
        identifiers=["household_id", "visit_date", "zip", "department"],
        sensitive=["diagnosis"],
        privacy="k(4)",
        person="patient_id",
    )
    report = release.attacks(only="linkage")
    assert report.unit == "person"
    assert f"Of {release.people} people" in report.summary()
    assert any("attacked once" in note for note in report.notes)
    minimality = release.attacks(only="minimality", privacy="distinct-l(2, diagnosis)")["minimality"]
    assert "the promises count people" in minimality.sentence
