"""What notebooks show: cards with the verdict and the notes, a widget, and a first look at a table."""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from typing import Any

import polars as pl
import pytest

import discreet as dc

NASTY = "<b>\"age\" & 'co'</b>"
VOID = {"br", "img", "path", "circle", "rect", "line"}


@pytest.fixture(scope="module")
def people() -> pl.DataFrame:
    return dc.sample(300, seed=3).select("name", "birth_date", "sex", "zip", "diagnosis")


@pytest.fixture(scope="module")
def release(people: pl.DataFrame) -> dc.Release:
    return dc.anonymize(
        people,
        identifiers="name",
        quasi_identifiers={"birth_date": "dates(year, decade)", "sex": None, "zip": "mask(digits=5)"},
        sensitive="diagnosis",
        privacy=["k(5)", "distinct-l(2, diagnosis)"],
        suppression="budget(10%)",
    )


@pytest.fixture(scope="module")
def front(people: pl.DataFrame) -> dc.Front:
    return dc.pareto(people, identifiers="name", quasi_identifiers=["sex", "zip"], keep=["birth_date", "diagnosis"])


class Balanced(HTMLParser):
    """Checks that every tag is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag


def html_of(shown: Any) -> str:
    html: str = shown._repr_html_()
    checked = Balanced()
    checked.feed(html)
    assert checked.open == []
    return html


def words_of(html: str) -> str:
    return " ".join(re.sub(r"<style>.*?</style>|<[^>]+>", " ", html, flags=re.DOTALL).split())


def test_a_release_shows_its_verdict_first_and_its_notes(release: dc.Release) -> None:
    words = words_of(html_of(release))
    assert words.startswith(f"{release.verdict.level} {release.verdict.headline}")
    assert all(part in words for part in ("Privacy audit", "k(5)", "An automatic hierarchy was made"))
    assert words_of(html_of(release.verdict)).startswith(f"{release.verdict.level} {release.verdict.headline}")
    assert "Every promise is kept" in words_of(html_of(release.audit))


def test_notes_for_the_owner_are_only_counted(release: dc.Release) -> None:
    from dataclasses import replace

    from discreet.report.notes import Private

    words = words_of(html_of(replace(release, notes=("All is well.", Private("A value is rare.")))))
    assert "All is well." in words
    assert "A value is rare." not in words
    assert "1 note for you alone" in words


def test_evaluations(release: dc.Release) -> None:
    risk, utility = release.risk(), release.utility(models=[])
    assert f"{risk.prosecutor.highest:.1%}" in words_of(html_of(risk))
    assert "relative to suppressing everything" in words_of(html_of(utility))
    assert "linkage" in words_of(html_of(release.attacks()))


def test_hierarchies(people: pl.DataFrame) -> None:
    assert html_of(dc.mask(digits=5).build(people["zip"])).count("<details") > 10
    tree = dc.groups({NASTY: ["a", "b"], "other": ["c"]}).hierarchy
    assert "<b>" not in html_of(tree).partition("</style>")[2]
    many = dc.flat().build(pl.Series([f"v{i}" for i in range(500)]))
    assert "480 more" in words_of(html_of(many))


def test_fronts_and_their_suggestion(front: dc.Front) -> None:
    html = html_of(front)
    assert "<svg" in html
    assert front.knee().reason in words_of(html)
    assert str(front.knee().point.k) in words_of(html_of(front.knee()))


def test_names_are_escaped() -> None:
    table = pl.DataFrame({NASTY: [31, 34, 38, 39] * 3})
    job: dict[str, Any] = {"quasi_identifiers": {NASTY: "intervals(10)"}}
    made = dc.anonymize(table, **job, privacy="k(2)")
    person = dc.find(made, {NASTY: 31}, original=table)
    policy = dc.Policy(quasi_identifiers=[NASTY], privacy="k(2)")
    for shown in (person, policy):
        assert NASTY not in html_of(shown)
    for shown in (made, made.risk(), made.utility(models=[]), made.attacks(), dc.pareto(table, **job), dc.look(table)):
        assert NASTY not in html_of(shown)


def test_a_person_that_is_looked_for(people: pl.DataFrame, release: dc.Release) -> None:
    known = {"sex": people["sex"][0], "birth_date": people["birth_date"][0]}
    person = dc.find(release, known, original=people)
    words = words_of(html_of(person))
    assert all(sentence in words for sentence in person.sentences)
    assert "diagnosis (sensitive)" in words
    assert f"of {person.rows:,} rows can be this person" in words
    alone = dc.find(people.drop("name"), known, quasi_identifiers=["sex", "birth_date"], sensitive="diagnosis")
    assert alone.found
    assert words_of(html_of(alone)).startswith("danger Known: ")


def test_a_policy() -> None:
    policy = dc.Policy(
        quasi_identifiers={"age": "intervals(5)", "zip": None},
        privacy="k(5)",
        warn={"privacy": "k(10)"},
        tables={"visits*": {"privacy": "k(3)", "risk": {"average": "5%"}}},
    )
    words = words_of(html_of(policy))
    for part in ("privacy k(5)", "age: intervals(5), zip", "Warnings", "k(10)", "visits*", "average: 0.05"):
        assert part in words
    assert "No rule." in words_of(html_of(dc.Policy()))


def test_a_look_suggests_roles_and_shows_no_value(people: pl.DataFrame) -> None:
    seen = dc.look(people)
    assert seen.identifiers == ["name"]
    assert {"birth_date", "zip"} <= set(seen.quasi_identifiers)
    assert seen.sensitive == ["diagnosis"]
    assert seen.unique_rows is not None
    assert seen.unique_rows > 250
    text = seen.summary() + words_of(html_of(seen)) + repr(seen) + str(seen.to_dict())
    for column in ("name", "birth_date", "zip", "diagnosis"):
        assert not [value for value in people[column].drop_nulls().cast(pl.String) if len(value) > 4 and value in text]
    assert seen.to_frame()["name"].to_list() == people.columns


def test_a_look_counts_what_pairs_single_out() -> None:
    table = pl.DataFrame({"sex": list("mmff"), "zip": ["1", "2", "1", "1"], "age": [30, 30, 30, 31]})
    seen = dc.look(table)
    assert seen.quasi_identifiers == ["sex", "zip", "age"]
    assert dict(seen.pairs) == {("sex", "zip"): 2, ("sex", "age"): 2, ("zip", "age"): 2}
    assert (seen.rows, seen.unique_rows, seen.classes) == (4, 4, 4)


def test_a_look_at_no_rows_and_odd_columns() -> None:
    assert dc.look(pl.DataFrame({"age": pl.Series([], dtype=pl.Int64)})).rows == 0
    odd = dc.look(pl.DataFrame({"age": [1, 2], "tags": [["a"], ["b"]]}))
    assert odd.columns[1].type == "other"
    assert "other" in words_of(html_of(odd))


def test_the_choice_of_a_widget_is_read_back(front: dc.Front) -> None:
    pytest.importorskip("anywidget", reason="the extra notebook is not installed")
    widget = front.widget()
    assert widget.point is front.knee().point
    assert [widget.names[0], len(widget.names)] == [f"k = {front.points[0].k}", len(front)]
    for number, point in enumerate(front):
        widget.set_state({"index": number})  # as a click does
        assert widget.point is point
        assert widget.k == point.k
    widget.set_state({"index": 10_000})
    assert widget.point is front.points[-1]
    widget.set_state({"index": -5})
    assert widget.point is front.points[0]
    widget.index = 1
    assert widget.release().audit.smallest_class >= front.points[1].k


def test_pairs_single_out_more_rows_than_either_column() -> None:
    rows = range(300)
    table = pl.DataFrame(
        {
            "age": [row // 10 for row in rows],
            "zip": [row % 100 for row in rows],
            "sex": ["fm"[row // 299] for row in rows],
        }
    )
    pairs = dict(dc.look(table).pairs)
    assert pairs[("age", "zip")] == 300
    assert set(pairs) == {("age", "zip")}  # one row has a sex of its own, whatever else is known


def test_widgets_without_the_extra(front: dc.Front, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "anywidget", None)
    monkeypatch.setattr("discreet.pipeline.front.find_spec", lambda name: None)
    with pytest.raises(dc.UsageError, match=r"pip install 'discreet\[notebook\]'"):
        front.widget()
