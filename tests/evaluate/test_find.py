"""find: the crowd before and after, and what it tells, compared with a brute force over sets of possible values."""

import random

import polars as pl
import pytest

import discreet as dc
import naive
from discreet.errors import MissingColumnError, UsageError
from discreet.evaluate.released_as import ReleasedAs

CITIES = ["Aachen", "Bonn", "Celle", "Demmin", "Essen"]
REGIONS = {"west": ["Aachen", "Bonn", "Essen"], "north": ["Celle", "Demmin"]}
ILLS = ["flu", "cold", "hiv"]


class Case:
    """A random original table, a local recoding of it, and what each released value can have been."""

    def __init__(self, seed):
        self.draw = draw = random.Random(seed)
        self.named = draw.random() < 0.5  # cities are released as regions, which only the hierarchy knows
        rows = draw.randint(2, 14)
        self.people = [
            {"age": draw.randint(20, 40), "city": draw.choice(CITIES), "ill": draw.choice(ILLS)} for _ in range(rows)
        ]
        kept = [row for row in self.people if draw.random() < 0.85] or self.people[:1]
        self.released = [self._recode(row) for row in kept]
        self.original = pl.DataFrame(self.people)
        self.safe = pl.DataFrame(
            {name: [row[name][0] for row in self.released] for name in ("age", "city", "ill")},
            schema=dict.fromkeys(("age", "city", "ill"), pl.String),
        )

    def _recode(self, row):
        low, high = row["age"] - self.draw.randint(0, 6), row["age"] + self.draw.randint(0, 6)
        ages = self.draw.choice(
            [("*", None), (str(row["age"]), {row["age"]}), (f"[{low}, {high + 1})", {*range(low, high + 1)})]
        )
        if self.named:
            region = next(name for name, cities in REGIONS.items() if row["city"] in cities)
            city = self.draw.choice([(row["city"], {row["city"]}), (region, {*REGIONS[region]}), ("*", None)])
        else:
            there = [person["city"] for person in self.people]
            others = sorted({row["city"], *self.draw.choices(there, k=self.draw.randint(0, 2))})
            name = others[0] if len(others) == 1 else "{" + ", ".join(others) + "}"
            city = self.draw.choice([(name, {*others}), ("*", None)])
        return {"age": ages, "city": city, "ill": (row["ill"], {row["ill"]})}

    def facts(self):
        """What somebody knows, as it is given and as sets of possible values."""
        draw, person = self.draw, self.draw.choice(self.people)
        first = draw.randint(18, 40)
        last = first + draw.randint(0, 5)
        ages = draw.choice(
            [
                (person["age"], {person["age"]}),
                (f"[{first}, {last}]", {*range(first, last + 1)}),
                (draw.randint(15, 45), None),
            ]
        )
        if ages[1] is None:
            ages = (ages[0], {ages[0]})
        city = draw.choice([(person["city"], {person["city"]}), ([person["city"], "Bonn"], {person["city"], "Bonn"})])
        chosen = draw.choice([("age",), ("city",), ("age", "city"), ("age", "city", "ill")])
        both = {"age": ages, "city": city, "ill": (person["ill"], {person["ill"]})}
        return {name: both[name][0] for name in chosen}, {name: both[name][1] for name in chosen}

    def sets(self, released):
        if released:
            return [{name: possible for name, (_, possible) in row.items()} for row in self.released]
        return [{name: {value} for name, value in row.items()} for row in self.people]


@pytest.mark.parametrize("seed", range(150))
def test_crowds_and_what_they_tell_equal_the_brute_force(seed):
    case = Case(seed)
    given, possible = case.facts()
    roles = {
        "quasi_identifiers": {"age": None, "city": REGIONS if case.named else None},
        "sensitive": "ill",
        "types": {"age": "integer"},
    }
    before = naive.find.crowd(case.sets(released=False), possible)
    after = naive.find.crowd(case.sets(released=True), possible)
    cities = {row["city"] for row in case.people}
    if "city" in possible and not case.named and not possible["city"] <= cities:
        return  # a value that the table lacks; see below
    person = dc.find(case.safe, given, original=case.original, **roles)
    assert (person.before, person.after, person.rows) == (len(before), len(after), len(case.released))
    assert {*person.known} == {*given}
    for learnt in person.learnt:
        for side, crowd in (("before", before), ("after", after)):
            found = {each.value: getattr(each, side) for each in learnt.values if getattr(each, side)}
            assert found == pytest.approx(naive.shares(crowd, learnt.column) if crowd else {})
    try:
        alone = dc.find(case.safe, given, **roles)
    except UsageError:
        assert not after
    else:
        assert (alone.before, alone.after) == (None, len(after))


def test_everybody_is_in_their_own_crowd():
    people = dc.sample(300, seed=2).select("birth_date", "sex", "zip", "diagnosis")
    release = dc.anonymize(
        people,
        quasi_identifiers=["birth_date", "sex", "zip"],
        sensitive=["diagnosis"],
        privacy="k(4)",
        scheme="subtree",
        suppression="budget(5%)",
    )
    there = {*release.rows_of(people).to_list()}
    mapping = release.to_mapping()
    for number, row in enumerate(people.head(12).iter_rows(named=True)):
        known = {name: row[name] for name in ("birth_date", "sex", "zip")}
        person = release.find(known)
        assert person.before >= 1
        assert person.after >= 4 or number not in there
        assert dc.find(release.frame, known, mapping=mapping).after == person.after
        assert dc.find(release.frame, known, mapping=mapping, original=people).after == person.after


def test_masks_dates_and_missing_values_are_understood_without_the_original():
    safe = pl.DataFrame({"zip": ["151**", "151**", "1****", None], "born": ["1987", "1990s", "*", "1987"]})
    assert dc.find(safe, {"zip": "15101"}).after == 3
    assert dc.find(safe, {"zip": None}).after == 1
    assert dc.find(safe, {"born": "1987-03-02"}, quasi_identifiers={"born": "dates(year)"}).after == 3


def test_one_row_left_and_a_certain_value_are_said_in_plain_words():
    people = pl.DataFrame({"age": [31, 34, 52], "ill": ["flu", "flu", "hiv"]})
    safe = people.with_columns(age=pl.Series(["[31, 34]", "[31, 34]", "52"]))
    alone = dc.find(safe, {"age": 52}, original=people, sensitive="ill")
    assert alone.found
    assert [each.column for each in alone.certain] == ["ill"]
    assert "only one row can be this person" in alone.summary()
    assert "All of them have ill = hiv" in dc.find(safe, {"age": "52"}, sensitive="ill").summary()
    left_out = dc.find(safe.head(2), {"age": 52}, original=people, sensitive="ill")
    assert (left_out.before, left_out.after, left_out.found) == (1, 0, False)
    assert "left out of the release" in left_out.summary()


def test_hidden_sensitive_values_are_unknown_and_never_learnt():
    safe = pl.DataFrame({"age": ["*"] * 4, "ill": ["*", "*", "*", "flu"]})
    person = dc.find(safe, {"age": 3}, sensitive="ill")
    assert [(each.value, each.after) for each in person.learnt[0].values] == [(None, 0.75), ("flu", 0.25)]
    assert not person.certain


def test_errors_name_the_column_and_suggest_released_values_only():
    people = pl.DataFrame({"name": ["x", "y", "z"], "city": ["Oberammergau", "Bonn", "Bonn"]})
    safe = pl.DataFrame({"city": ["Bonn", "Bonn"]})
    with pytest.raises(UsageError, match="'city' has no such value; did you mean 'Bonn'") as close:
        dc.find(safe, {"city": "Bon"}, original=people)
    assert close.value.column == "city"
    sets = pl.DataFrame({"city": ["{Bonn, Essen}", "{Bonn, Essen}"]})
    with pytest.raises(UsageError, match="did you mean 'Essen'"):
        dc.find(sets, {"city": "Esen"})
    with pytest.raises(UsageError, match="'city' has no such value") as rare:
        dc.find(safe, {"city": "Oberamergau"}, original=people)
    assert "Oberammergau" not in str(rare.value)
    with pytest.raises(UsageError, match="'name' is not in the release"):
        dc.find(safe, {"name": "x"}, original=people)
    with pytest.raises(MissingColumnError, match="did you mean 'city'"):
        dc.find(safe, {"citty": "x"})
    with pytest.raises(UsageError, match="Say what is known"):
        dc.find(safe, {})
    with pytest.raises(UsageError, match="give a single one"):
        dc.find(safe, {"city": ["[1, 2]", "[3, 4]"]})


def test_a_mapping_says_what_a_name_covers():
    safe = pl.DataFrame({"city": ["west", "north", "*"]})
    known = ReleasedAs(None, {"west": ["Aachen", "Bonn"], "north": ["Celle"]})
    assert dc.find(safe, {"city": "Bonn"}, quasi_identifiers={"city": known}).after == 2


@pytest.mark.parametrize("seed", range(40))
def test_people_are_counted_where_a_table_says_whose_rows_they_are(seed):
    draw = random.Random(seed)
    rows = [
        {"age": draw.randint(20, 29), "ill": draw.choice(["flu", "hiv", "cold", None]), "pid": f"p{draw.randint(1, 9)}"}
        for _ in range(draw.randint(3, 30))
    ]
    original = pl.DataFrame(rows, schema={"age": pl.Int64, "ill": pl.String, "pid": pl.String})
    safe = original.with_columns(age=pl.when(pl.col("age") < 25).then(pl.lit("[20, 24]")).otherwise(pl.lit("[25, 29]")))
    age = draw.choice(rows)["age"]
    before = [row for row in rows if row["age"] == age]
    after = [row for row in rows if (row["age"] < 25) == (age < 25)]
    options = {"quasi_identifiers": ["age"], "sensitive": "ill", "original": original, "person": "pid"}
    found = dc.find(safe, {"age": age}, **options)
    assert (found.unit_before, found.unit_after, found.rows) == ("person", "person", len(rows))
    assert found.before == len(naive.find.people(before, "pid"))
    assert found.after == len(naive.find.people(after, "pid"))
    assert [learnt.column for learnt in found.learnt] == ["ill"]
    for side, crowd in (("before", before), ("after", after)):
        shares = {each.value: getattr(each, side) for each in found.learnt[0].values if getattr(each, side)}
        assert shares == pytest.approx(naive.find.shares_of_people(crowd, "ill", "pid"))
    unsaid = dc.find(safe.drop("pid"), {"age": age}, **options)
    assert (unsaid.before, unsaid.unit_before) == (found.before, "person")
    assert (unsaid.after, unsaid.unit_after) == (len(after), "row")
    assert "does not say whose they are" in unsaid.summary()


def test_a_release_finds_people_though_it_does_not_say_whose_rows_they_are(tmp_path):
    visits = dc.sample_visits(400, seed=3)
    release = dc.anonymize(
        visits,
        quasi_identifiers={"age": "intervals(10, 40)", "sex": "flat"},
        identifiers=["household_id", "visit_date", "zip", "department"],
        sensitive=["diagnosis"],
        privacy="k(4)",
        suppression="budget(10%)",
        person="patient_id",
        output=tmp_path / "safe.csv",
    )
    numbered = visits[release.rows_of(visits).to_numpy()]
    shown = release.frame.with_columns(numbered["patient_id"])
    for age, sex in visits.select("age", "sex").head(8).iter_rows():
        found = release.find(age=age, sex=sex)
        same = dc.find(shown, {"age": age, "sex": sex}, quasi_identifiers=["age", "sex"], person="patient_id")
        assert (found.after, found.unit_after) == (same.after, "person")
        assert found.after == 0 or found.after >= 4
        assert "patient_id" not in str(found.to_dict())


def test_what_everybody_in_the_release_has_is_not_learnt_about_a_person():
    rows = [{"age": n // 10, "planet": "Earth", "town": "Bonn" if n else "Celle", "ill": "flu"} for n in range(100)]
    rows = [{**row, "job": "baker" if row["age"] == 3 else "tailor"} for row in rows]
    found = dc.find(pl.DataFrame(rows), {"age": 3}, quasi_identifiers=["age"], sensitive="ill")
    said = " ".join(found.sentences)
    assert "planet" not in said  # all have it
    assert "All of them have town = Bonn" in said  # nearly all, but not all
    assert "All of them have job = baker" in said
    assert "All of them have ill = flu" in said  # sensitive, so it counts that everybody has it
    assert [each.column for each in found.certain] == ["ill", "town", "job"]
    assert {each.column: each.usual for each in found.learnt} == {"ill": 1, "planet": 1, "town": 0.99, "job": 0.1}
    nearly = dc.find(pl.DataFrame(rows), {"age": 0}, quasi_identifiers=["age"], sensitive="ill")
    assert "town" not in " ".join(nearly.sentences)  # 90 % of them, and 99 % of all


def test_a_value_most_of_the_crowd_has_stands_beside_its_share_in_the_whole_release():
    rows = [{"age": n // 10, "ill": "flu" if n in range(10, 19) else "cold"} for n in range(100)]
    found = dc.find(pl.DataFrame(rows), {"age": 1}, quasi_identifiers=["age"], sensitive="ill")
    assert "90.0% of them have ill = flu; in the whole release 9.0% have it." in found.sentences
