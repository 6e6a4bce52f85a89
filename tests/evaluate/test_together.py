"""Several releases together: promises by the intersections of classes, compared with plain loops."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner

import discreet as dc
from discreet.cli import program
from discreet.errors import UnsupportedCombinationError, UsageError
from discreet.evaluate import together
from naive import together as naive

COLUMNS = {"age": "intervals(10, 50)", "town": dc.groups({"x": ["a", "b"], "y": ["c", "d"]})}


def shown(row: dict[str, object], levels: tuple[int, int]) -> tuple[str, str]:
    age, town = int(str(row["age"])), str(row["town"])
    width = (1, 10, 50)[levels[0]]
    text = str(age) if width == 1 else f"[{age // width * width}, {age // width * width + width})"
    return text, (town, "x" if town in "ab" else "y", "*")[levels[1]]


@pytest.mark.parametrize("seed", range(30))
def test_by_plain_loops(seed: int) -> None:
    rng = random.Random(seed)
    rows = [{"age": rng.randrange(100), "town": rng.choice("abcd"), "ill": rng.choice("uvw")} for _ in range(60)]
    levels = [(rng.randrange(3), rng.randrange(3)) for _ in range(rng.randrange(2, 4))]
    tables = [
        pl.DataFrame([{"age": a, "town": t, "ill": row["ill"]} for row in rows for a, t in [shown(row, each)]])
        for each in levels
    ]
    found = together(
        pl.DataFrame(rows), tables, quasi_identifiers=COLUMNS, sensitive=["ill"], privacy=["k(2)", "distinct-l(2, ill)"]
    )
    joint = [tuple(shown(row, each) for each in levels) for row in rows]
    sizes = Counter(joint)
    values: dict[object, set[object]] = {}
    for key, row in zip(joint, rows, strict=True):
        values.setdefault(key, set()).add(row["ill"])
    assert (found.people, found.classes, found.smallest) == (60, len(sizes), min(sizes.values()))
    reached = [min(sizes.values()), min(map(len, values.values()))]
    assert [check.reached for check in found.checks] == reached
    assert [check.passed for check in found.checks] == [each >= 2 for each in reached]


SETS = [["a", "b"], ["b", "c", "d"], ["d"], ["a", "c"]]


@pytest.mark.parametrize("seed", range(30))
def test_local_recodings_by_plain_loops(seed: int) -> None:
    """Ranges, sets and hierarchy labels that overlap: rows that fit a person in every release, value by value."""
    rng = random.Random(seed)
    rows = [{"age": rng.randrange(20), "town": rng.choice("abcd"), "ill": rng.choice("uvw")} for _ in range(40)]
    releases, covers = [], []
    for _ in range(2):
        shown, cover = [], []
        for row in rows:
            low, high = max(0, row["age"] - rng.choice([0, 2, 5])), min(19, row["age"] + rng.choice([0, 2, 5]))
            towns = rng.choice([each for each in SETS if row["town"] in each] + [list("abcd")])
            text = "*" if len(towns) == 4 else "{" + ", ".join(towns) + "}" if len(towns) > 1 else towns[0]
            shown.append({"age": f"[{low}, {high}]" if low < high else str(low), "town": text, "ill": row["ill"]})
            cover.append((range(low, high + 1), towns, row["ill"]))
        releases.append(pl.DataFrame(shown))
        covers.append(cover)
    found = together(
        pl.DataFrame(rows),
        releases,
        quasi_identifiers=["age", "town"],
        sensitive=["ill"],
        privacy=["k(3)", "distinct-l(2, ill)"],
    )
    fitting = [naive.fitting_rows(row["age"], row["town"], covers) for row in rows]
    reached = [min(sum(each.values()) for each in fitting), min(map(len, fitting))]
    assert [check.reached for check in found.checks] == reached
    assert (found.people, found.smallest) == (40, reached[0])
    assert "knows the quasi-identifiers of the person" in found.summary()


def test_a_local_release_that_is_safe_alone() -> None:
    """Two local releases of two people each have one row in common for each person."""
    people = pl.DataFrame({"age": [1, 2, 3, 4], "ill": ["u", "v", "w", "u"]})
    one = people.with_columns(age=pl.Series(["[1, 2]", "[1, 2]", "[3, 4]", "[3, 4]"]))
    two = people.with_columns(age=pl.Series(["[1, 3]", "[2, 4]", "[1, 3]", "[2, 4]"]))
    alone = together(people, [two, two], quasi_identifiers=["age"], sensitive="ill", privacy="k(2)")
    assert alone.passed
    both = together(people, [two, one], quasi_identifiers=["age"], sensitive="ill", privacy="k(2)")
    assert (both.passed, both.smallest) == (False, 1)


def test_a_local_release_without_the_sensitive_column() -> None:
    """Promises about it are measured in the release that shows it."""
    people = pl.DataFrame({"age": [1, 2, 3, 4], "ill": ["u", "u", "w", "u"]})
    one = people.with_columns(age=pl.Series(["[1, 2]", "[1, 2]", "[3, 4]", "[3, 4]"]))
    two = people.select(age=pl.Series(["[1, 3]", "[2, 4]", "[1, 3]", "[2, 4]"]))
    found = together(
        people, [one, two], quasi_identifiers=["age"], sensitive="ill", privacy=["k(2)", "distinct-l(2, ill)"]
    )
    assert [check.reached for check in found.checks] == [2, 1]
    assert not found.passed


def missing_rows(rng: random.Random, labels: dict[int, tuple[str, str]]) -> set[int]:
    """Return some people of some classes."""
    classes: dict[tuple[str, str], list[int]] = {}
    for person, label in labels.items():
        classes.setdefault(label, []).append(person)
    chosen = [each for each in classes.values() if rng.random() < 0.5]
    return {person for each in chosen for person in rng.sample(each, rng.randrange(len(each) + 1))}


@pytest.mark.parametrize("seed", range(60))
def test_rows_that_are_missing_from_classes(seed: int) -> None:
    """Nothing is said to be kept that is broken for the people who are really in both releases, or in one."""
    rng = random.Random(seed)
    rows = {
        i: {"age": rng.randrange(20), "town": rng.choice("abcd"[: rng.choice([1, 4])]), "ill": rng.choice("uvw")}
        for i in range(rng.choice([12, 20, 40]))
    }
    labels, tables = [], []
    for release in range(2):
        levels = (rng.choice([1, 2]), rng.randrange(3))
        label = {i: shown(row, levels) for i, row in rows.items()}
        gone = missing_rows(rng, label) if release == 0 or rng.random() < 0.5 else set()
        labels.append({i: each for i, each in label.items() if i not in gone})
        tables.append([{"age": a, "town": t, "ill": rows[i]["ill"]} for i, (a, t) in labels[-1].items()])
    if not all(tables):
        return
    found = together(
        pl.DataFrame(list(rows.values())),
        [pl.DataFrame(each) for each in tables],
        quasi_identifiers=COLUMNS,
        sensitive=["ill"],
        privacy="k(3)",
    )
    groups = Counter((labels[0].get(i), labels[1].get(i)) for i in rows if i in labels[0] or i in labels[1])
    if len(tables[0]) == len(rows):
        assert found.passed <= (min(groups.values()) >= 3)
    elif found.passed:
        assert min(groups.values()) >= 3
        assert (found.classes, found.smallest) == (len(groups), min(groups.values()))


def test_rows_that_are_missing_from_one_class() -> None:
    """Eight of ten people of a class are released, and six of the ten were before: as few as four may be in both."""
    people = pl.DataFrame({"age": range(20, 30), "ill": ["u", "v"] * 5})
    by_decade = people.with_columns(age=pl.lit("[20, 30)"))
    known = {"quasi_identifiers": {"age": "intervals(10)"}, "sensitive": ["ill"], "privacy": "k(2)"}
    some, others = by_decade.head(8), by_decade.tail(6)
    both = together(people, [some, others], **known)
    assert "nobody can tell who is in both" in both.broken[0]
    all_of_them = together(people, [some, by_decade], **known)
    assert (all_of_them.passed, all_of_them.smallest) == (True, 2)
    by_five = by_decade.with_columns(age=pl.Series(["[20, 25)"] * 5 + ["[25, 30)"] * 5))
    known["quasi_identifiers"] = {"age": "intervals(5, 10)"}
    assert (
        "in several classes of other release 1: nobody can tell whose"
        in together(people, [some, by_five], **known).broken[0]
    )
    with pytest.raises(UsageError, match="name the table it was made from"):
        together(people.head(5), [by_decade, by_decade], **known)


def test_hidden_values_in_a_local_release() -> None:
    """A row whose value is hidden may be anybody's: who fits no other row is not left out of the count."""
    people = pl.DataFrame({"age": [1, 2, 3, 4], "ill": ["u", "v", "w", "u"]})
    one = people.with_columns(age=pl.Series(["[1, 2]", "[1, 2]", "[3, 4]", "[3, 4]"]))
    two = people.with_columns(
        age=pl.Series(["[1, 1]", "[2, 3]", "[2, 4]", "[2, 4]"]), ill=pl.Series(["*", "v", "w", "u"])
    )
    found = together(people, [one, two], quasi_identifiers=["age"], sensitive="ill", privacy="k(2)")
    assert (found.passed, found.smallest) == (False, 0)
    hidden = people.with_columns(age=pl.lit("[1, 4]"), ill=pl.lit("*"))
    both = together(people, [hidden, hidden], quasi_identifiers=["age"], sensitive="ill", privacy="k(4)")
    assert both.passed


def test_frequencies_with_a_local_release() -> None:
    """Three of four rows of one release have a value, one of two of the other: the fewest of both would look even."""
    people = pl.DataFrame({"age": [1, 1, 1, 1, 2, 3], "ill": ["u", "u", "u", "v", "u", "v"]})
    skewed = people.with_columns(age=pl.Series(["1"] * 4 + ["[2, 3]"] * 2))
    overlapping = people.with_columns(age=pl.Series(["[1, 2]", "[1, 3]", "[1, 3]", "[1, 2]", "[1, 3]", "[1, 3]"]))
    with pytest.raises(UnsupportedCombinationError, match="entropy-l"):
        together(
            people,
            [overlapping, skewed],
            quasi_identifiers=["age"],
            sensitive="ill",
            privacy=["k(2)", "entropy-l(2, ill)"],
        )


@pytest.mark.parametrize("promise", ["k(2, any=1)", "k(2, on=[age])", "k(2, unknown=matches)", "k(2, profile=true)"])
def test_promises_about_something_else_than_classes(promise: str) -> None:
    people = pl.DataFrame({"age": [1, 1, 2, 2], "town": ["a", "b", "a", "b"]})
    with pytest.raises(UnsupportedCombinationError, match="promise k"):
        together(people, [people], quasi_identifiers=["age", "town"], privacy=promise)


def test_people_who_joined_and_left() -> None:
    first = pl.DataFrame({"age": [21, 22, 23, 51, 52, 53], "ill": ["u", "v", "w"] * 2})
    new = pl.concat([first.head(5), pl.DataFrame({"age": [24, 25], "ill": ["u", "v"]})])

    def by_decade(table: pl.DataFrame) -> pl.DataFrame:
        low = pl.col("age") // 10 * 10
        return table.with_columns(age=pl.format("[{}, {})", low, low + 10))

    found = together(
        new,
        [by_decade(new), by_decade(first)],
        quasi_identifiers={"age": "intervals(10)"},
        sensitive=["ill"],
        privacy="k(2)",
    )
    assert found.broken == ("k(2) is broken for people who are in other release 1 and not in the release: reached 1.",)
    assert found.classes == 4  # who stayed in each class, who joined the first and who left the second


def test_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    people = pl.DataFrame({"age": [21, 24, 51, 52], "town": ["a", "b", "a", "b"]})
    people.write_csv("people.csv")
    people.with_columns(age=pl.Series(["[20, 30)"] * 2 + ["[50, 60)"] * 2), town=pl.lit("*")).write_csv("by_age.csv")
    people.with_columns(age=pl.lit("*")).write_csv("by_town.csv")
    command = ["audit", "by_age.csv", "--qi", "age,town", "-k", "2", "--hierarchy", "age=intervals(10)"]
    alone = CliRunner().invoke(program, command)
    assert alone.exit_code == 0, alone.output
    both = CliRunner().invoke(program, [*command, "--reference", "people.csv", "--with", "by_town.csv"])
    assert both.exit_code == 5, both.output
    assert "BROKEN" in both.stdout
    same = CliRunner().invoke(program, [*command, "--reference", "people.csv", "--with", "by_age.csv", "--json"])
    assert same.exit_code == 0, same.output
    assert json.loads(same.stdout)["together"]["passed"]
    lacking = CliRunner().invoke(program, [*command, "--with", "by_town.csv"])
    assert lacking.exit_code == 2
