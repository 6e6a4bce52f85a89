"""What is handed over tells nothing about people who were left out but how many they are, if at least five."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import discreet as dc
from attack.figures import handed_over
from discreet.report.small_counts import LeftOut

QUASI = {"age": "intervals(10, 50)", "town": dc.groups({"near": ["a", "b"], "far": ["x", "y"]})}


def table(odd: list[tuple[int | None, str, str]]) -> pl.DataFrame:
    """Return forty people who look alike in tens, and odd ones."""
    common = [(20 + 10 * (i % 4), "ab"[i % 2], ["flu", "cold", "gout"][i % 3]) for i in range(40)]
    return pl.DataFrame([*common, *odd], schema=["age", "town", "illness"], orient="row")


def released(odd: list[tuple[int | None, str, str]], **choices: Any) -> Any:
    asked = {"privacy": "k(4)", "suppression": "budget(20%)", "sensitive": ["illness"], "quasi_identifiers": QUASI}
    return dc.anonymize(table(odd), **{**asked, **choices})


ONE = [(91, "x", "scurvy")]
TWO = [(95, "y", "flu"), (12, "x", "scurvy")]
SOME = [(91 + i, "x", "scurvy") for i in range(3)] + [(5, "y", "flu"), (6, "a", "flu"), (None, "b", "flu")]
OTHERS = [(101, "x", "flu"), (3, "y", "gout"), (None, "y", "cold"), (7, "x", "cold"), (8, "a", "gout"), (4, "b", "flu")]


@pytest.mark.parametrize("scheme", ["full-domain", "subtree", "guided-set"])
@pytest.mark.parametrize("privacy", ["k(4)", ["k(3)", "t(0.6, illness)"]])
def test_few_can_be_anybody(scheme: str, privacy: Any, tmp_path: Path) -> None:
    first, second = (released(odd, scheme=scheme, privacy=privacy) for odd in (ONE, TWO))
    assert (first.suppressed, second.suppressed) == (1, 2)
    assert first.frame.equals(second.frame)
    assert handed_over(first, tmp_path, cost=True) == handed_over(second, tmp_path, cost=True)


def test_some_can_be_anybody(tmp_path: Path) -> None:
    first, second = (released(odd, privacy="k(5)") for odd in (SOME, OTHERS))
    assert first.suppressed == second.suppressed == 6
    assert first.frame.equals(second.frame)
    assert handed_over(first, tmp_path, cost=False) == handed_over(second, tmp_path, cost=False)


@pytest.mark.parametrize("cost", ["NCP", "HDM", "entropy"])
@pytest.mark.parametrize("oldest", [60, 98])
def test_a_cost_that_depends_on_their_values_is_withheld(cost: str, oldest: int) -> None:
    """NCP divides by the range of all rows, HDM and entropy count all values: a cost would tell who was the oldest."""
    ages = [20] * 10 + [30] * 10 + [oldest + i for i in range(6)]
    release = dc.anonymize(
        pl.DataFrame({"age": ages}),
        quasi_identifiers=["age"],
        privacy="k(10)",
        cost=cost,
        scheme="ordered",
        suppression="budget(6)",
    )
    assert release.suppressed == 6
    data = release.to_dict()
    assert [data[name] for name in ("cost", "normalized_cost", "lower_bound")] == [None] * 3
    assert data["suppressed"] == 6
    assert any("depends on values of people who were left out" in note for note in data["notes"])
    assert release.to_dict(exact=True)["cost"] == release.cost
    assert "not shown" in release.summary()
    assert "cost=" not in repr(release)


def test_figures_that_tell_how_few_are_withheld(tmp_path: Path) -> None:
    release = released(TWO)
    data = release.to_dict()
    assert data["released"] == 40
    assert data["left_out"] == "fewer than 5"
    hidden = ("rows", "suppressed", "cost", "normalized_cost", "lower_bound", "dropped_missing")
    assert [data[key] for key in hidden] == [None] * len(hidden)
    assert any("Fewer than 5 people were left out" in note for note in data["notes"])
    exact = release.to_dict(exact=True)
    assert (exact["rows"], exact["suppressed"], exact["cost"]) == (42, 2, release.cost)
    assert exact["stats"]["examined"] == release.stats["examined"]
    assert "40 of 42 released, 2 suppressed" in release.summary(exact=True)
    texts = {"repr": repr(release), "summary": release.summary(), "notebook": release._repr_html_()}
    for suffix in ("md", "html", "txt", "json"):
        texts[suffix] = release.report(tmp_path / f"r.{suffix}").read_text()
    for name, text in texts.items():
        assert "of 42" not in text, name
        assert "suppressed (" not in text, name


def test_enough_are_counted() -> None:
    release = released(SOME, privacy="k(5)")
    data = release.to_dict()
    assert (data["rows"], data["released"], data["left_out"], data["suppressed"]) == (46, 40, 6, 6)
    assert data["cost"] == release.cost
    assert data["stats"] == {}
    assert "40 of 46 released, 6 suppressed" in release.summary()


def test_nobody_left_out_is_said() -> None:
    release = released([])
    data = release.to_dict()
    assert (data["rows"], data["left_out"], data["cost"]) == (40, 0, release.cost)
    assert data["stats"]["examined"] == release.stats["examined"]


@pytest.mark.parametrize(
    ("suppressed", "dropped", "rows", "words"),
    [
        (0, 0, 50, "0 suppressed (0.00%)"),
        (3, 0, None, "fewer than 5 left out"),
        (3, 1, None, "fewer than 5 left out"),
        (3, 9, 62, "12 left out"),
        (3, 3, 56, "6 left out"),
        (0, 3, None, "0 suppressed (0.00%), fewer than 5 left out for missing values"),
        (50, 3, None, "50 suppressed (50.00%), fewer than 5 left out for missing values"),
        (50, 7, 107, "50 suppressed (50.00%), 7 left out for missing values"),
    ],
)
def test_two_reasons(suppressed: int, dropped: int, rows: int | None, words: str) -> None:
    people = LeftOut(50, suppressed, dropped)
    assert (people.rows, people.words) == (rows, words)
    numbers = {value for value in people.to_dict().values() if isinstance(value, int)}
    few = {number for number in (suppressed, dropped, suppressed + dropped) if 0 < number < 5}
    sums = {abs(a - b) for a in numbers for b in numbers}
    assert not few & (numbers | sums)


def test_what_is_compared_with_the_whole_table_is_not_reached() -> None:
    """With the release at hand, how near a class comes to the whole table tells the value of the one left out."""
    release = released(ONE, privacy=["k(4)", "t(0.6, illness)"])
    check = release.to_dict()["audit"]["checks"][1]
    assert (check["passed"], check["reached"]) == (True, None)
    assert release.audit.checks[1].reached > 0
    everybody = released([], privacy=["k(4)", "t(0.6, illness)"])
    assert everybody.to_dict()["audit"]["checks"][1]["reached"] is not None


def test_single_records_left_out(tmp_path: Path) -> None:
    """Of records taken out of classes nobody knows what they had before, and no report says it of the others."""
    rows = [("a", "flu")] * 12 + [("a", "cold")] * 5 + [("b", "flu")] * 6 + [("b", "cold")] * 6
    people = pl.DataFrame(rows, schema=["town", "illness"], orient="row").with_columns(age=30)
    release = dc.anonymize(
        people,
        quasi_identifiers={"town": "flat", "age": "flat"},
        sensitive=["illness"],
        privacy=["k(2)", "l+(0.5, illness)"],
        suppression="violating-records",
        scheme="subtree",
    )
    assert release.suppressed == 7
    assert release.released_before is None
    assert [column.of for column in release.columns] == [None, None]
    assert {bar.name: bar.rows for bar in release.columns[0].bars} == {"a": 10, "b": 12}
    assert "Single records of classes were left out" in release.report(tmp_path / "r.md").read_text()


def test_comparisons_withhold_what_gives_rows_away() -> None:
    comparison = dc.compare({"few": released(TWO), "none": released(TWO, suppression="none")}, queries=0)
    few, everybody = (one.figures() for one in comparison.jobs)
    for name in ("cost", "lower_bound", "classes", "average_class_size"):
        assert few[name] is None
        assert everybody[name] is None
    assert few["normalized_cost"] is None
    assert few["loss_LM"] is not None
    assert "42" not in json.dumps(comparison.to_dict()["notes"])


@pytest.mark.parametrize("hierarchy", ["mask(digits=5)", "intervals(100, 1000)", None])
def test_utility_in_a_report_does_not_know_values_of_people_left_out(hierarchy: str | None, tmp_path: Path) -> None:
    """Leaves of masks and intervals are values of the table: those only people left out had must not count."""
    kept = [(zip_code, "ab"[i % 2]) for i, zip_code in enumerate(["10240", "10341", "10442", "11243"] * 30)]
    pages = []
    for left_out in (["99781"], ["99781", "77345"], ["99781", "77345", "10999"]):
        rows = kept + [(zip_code, "xyz"[i]) for i, zip_code in enumerate(left_out)]
        table = pl.DataFrame(rows, schema=["zip", "q"], orient="row")
        release = dc.anonymize(
            table,
            quasi_identifiers={"zip": hierarchy, "q": "flat"},
            privacy="k(5)",
            suppression="budget(4)",
            min_levels={"zip": 1},
            seed=1,
        )
        assert release.suppressed == len(left_out)
        page = release.report(tmp_path / "report.md").read_text()
        pages.append(page[page.index("## Utility") :].partition("\n## Columns")[0])
    assert pages[0] == pages[1] == pages[2]


@pytest.mark.parametrize("value", [None, " Y"])
def test_notes_about_values_of_people_left_out_stay_with_the_owner(value: str | None, tmp_path: Path) -> None:
    rows = [("AB"[i % 2], "xyz"[i % 3]) for i in range(150)]
    table = pl.DataFrame([*rows, ("Z", value)], schema=["q", "s"], orient="row")
    release = dc.anonymize(
        table,
        quasi_identifiers={"q": "flat"},
        sensitive=["s"],
        privacy=["k(5)", "distinct-l(2)"],
        suppression="budget(4)",
    )
    about = [note for note in release.notes if "'s'" in note]
    assert len(about) == 1
    handed_over = [release.report(tmp_path / f"report.{kind}").read_text() for kind in ("md", "txt", "html", "json")]
    assert not any(about[0][:40] in text for text in [*handed_over, release.summary(), json.dumps(release.to_dict())])
    assert about[0] in release.summary(exact=True)


def test_small_cells_of_the_class_sizes_are_not_found_by_subtraction(tmp_path: Path) -> None:
    rows = [("A", 10 * (1 + i % 3)) for i in range(200)] + [("A", age) for age in (11, 21, 12)]
    table = pl.DataFrame(rows, schema=["q", "age"], orient="row")
    release = dc.anonymize(table, quasi_identifiers={"q": "flat", "age": "intervals(10)"}, privacy="k(5)")
    text = release.report(tmp_path / "report.md").read_text()
    sizes = text[text.index("class size") :].splitlines()[1:8]
    assert sum("not shown" in line for line in sizes) == 2
    assert not any("fewer than" in line for line in sizes)


def test_values_of_people_left_out_by_pre_sampling_are_not_counted() -> None:
    rows = [(10 * (i % 4) + 23, "ab"[i % 2]) for i in range(60)] + [(-9001, "z")]
    release = dc.anonymize(
        pl.DataFrame(rows, schema=["age", "q"], orient="row"),
        quasi_identifiers={"age": "intervals(10, 50)", "q": "flat"},
        privacy="k(3)",
        suppression="pre-sampling(3, level=1)",
        cost="score",
    )
    assert release.suppressed == 1
    assert release.released_values == {name: release.frame[name].n_unique() for name in ("age", "q")}


def test_the_note_on_alphabetical_order_is_about_released_values() -> None:
    """People who were left out had the third value."""
    table = pl.DataFrame({"q": ["a"] * 5 + ["b"] * 5 + ["c"] * 1})
    settings: dict[str, Any] = {"quasi_identifiers": ["q"], "privacy": "k(5)", "scheme": "ordered", "seed": 1}
    release = dc.anonymize(table, **settings, suppression="budget(0.2)")
    assert set(release.frame["q"]) == {"a", "b"}
    assert not any("alphabetical" in note for note in release.notes)
    more = pl.concat([table, pl.DataFrame({"q": ["c"] * 4})])
    assert any("alphabetical" in note for note in dc.anonymize(more, **settings, suppression="budget(0.2)").notes)
