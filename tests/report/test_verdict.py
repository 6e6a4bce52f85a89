"""The verdict: what a person sees first weighs everything that leaves, and says how serious it is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import discreet as dc
from discreet.report.verdict import Verdict


def released(rows: dict[str, list[Any]], **choices: Any) -> dc.Release:
    return dc.anonymize(
        pl.DataFrame(rows), **{"quasi_identifiers": ["q"], "privacy": "k(5)", "scheme": "full-domain", **choices}
    )


def levels(verdict: Verdict, word: str) -> list[str]:
    return [finding.level for finding in verdict.findings if word in finding.sentence]


def test_nothing_to_say() -> None:
    verdict = released({"q": ["a"] * 6 + ["b"] * 6, "s": list("xyz") * 4}, sensitive=["s"], privacy="k(5)").verdict
    assert levels(verdict, "No privacy model protects the sensitive column 's'") == ["caution"]
    assert verdict.level == "caution"
    verdict = released(
        {"q": ["a"] * 6 + ["b"] * 6, "s": list("xyz") * 4}, sensitive=["s"], privacy=["k(5)", "distinct-l(3)"]
    ).verdict
    assert verdict.level == "ok"
    assert "at least 5 others" in verdict.sentences[0] + verdict.sentences[1]


def test_a_secret_that_is_certain_is_a_danger() -> None:
    rows = {"q": ["a"] * 10 + ["b"] * 10, "s": ["hiv"] * 10 + list("vwxyz") * 2}
    verdict = released(rows, sensitive=["s"]).verdict
    assert verdict.level == "danger"
    assert verdict.sentences[0].startswith("'s' is known for certain for 50.0 % of the people")
    assert verdict.sentences[0].endswith("Promise l+ for 's' to limit that.")
    assert levels(verdict, "No privacy model protects") == []  # the danger says it


def test_a_secret_that_is_almost_certain_is_a_danger_too() -> None:
    rows = {"q": ["a"] * 20 + ["b"] * 20, "s": ["hiv"] * 19 + ["flu"] + list("vwxyz") * 4}
    verdict = released(rows, sensitive=["s"]).verdict
    assert levels(verdict, "95.0 % certainty") == ["danger"]


def test_how_much_more_a_class_tells_than_the_whole_release() -> None:
    """Nearly everybody is well, which is no secret; that a fifth of a class is ill is more than the release says."""
    rows = {"q": ["a"] * 90 + ["b"] * 10, "s": ["well"] * 98 + ["ill"] * 2}
    sentence = "Where a class tells more about 's' than the whole release does, a value is at most 20.0 % certain."
    assert levels(released(rows, sensitive=["s"]).verdict, sentence) == ["ok"]


def test_what_nearly_everybody_has_is_no_secret() -> None:
    rows = {"q": ["a"] * 20 + ["b"] * 20, "s": ["well"] * 39 + ["ill"]}
    assert levels(released(rows, sensitive=["s"]).verdict, "No class tells more about 's'") == ["ok"]


def test_a_rare_value_is_a_secret_though_nearly_everybody_has_another() -> None:
    rows = {"q": ["a"] * 380 + ["b"] * 20, "s": ["no"] * 380 + ["hiv"] * 20}
    verdict = released(rows, sensitive=["s"]).verdict
    assert verdict.level == "danger"
    assert "5.0 % of the people; in the whole release 5.0 % have that value" in verdict.sentences[0]


def test_missing_values_are_no_reason_to_call_a_value_frequent() -> None:
    rows = {"q": ["a"] * 10 + ["b"] * 70, "s": ["yes"] * 10 + [None] * 70}
    assert released(rows, sensitive=["s"]).verdict.level == "danger"


def test_columns_that_single_people_out_together() -> None:
    rows = {"q": ["a"] * 200, "s": list("vwxyz") * 40, "t": [str(n % 10) for n in range(200)]}
    rows |= {"u": [str(n // 10 % 20) for n in range(200)]}
    verdict = released(rows, keep=["t", "u"], sensitive=["s"], privacy=["k(5)", "distinct-l(3)"]).verdict
    together = "The columns released unchanged, together with the generalized ones, single out 100 % of the rows"
    assert levels(verdict, together) == ["caution"]
    assert levels(verdict, "Name those that others may know as identifiers or quasi-identifiers.") == ["caution"]
    # t and u are released too, and differ within a class
    assert levels(verdict, "Everybody shares their released quasi-identifiers with at least 199 others.") == ["ok"]
    verdict = released(rows, identifiers=["u"], keep=["t"], sensitive=["s"], privacy=["k(5)", "distinct-l(3)"]).verdict
    assert verdict.level == "ok"


@pytest.mark.parametrize(("k", "level"), [(1, "danger"), (2, "danger"), (3, "caution"), (4, "caution"), (5, "ok")])
def test_small_classes(k: int, level: str) -> None:
    verdict = released({"q": ["a"] * k + ["b"] * 9}, privacy=f"k({k})").verdict
    assert verdict.level == level
    assert levels(verdict, "released quasi-identifiers") == [level]
    if level == "danger":
        assert levels(verdict, "Promise k(5) or more.") == [level]


def test_a_column_that_singles_people_out() -> None:
    rows = {"q": ["a", "b"] * 60, "pin": [f"{n:04}x" for n in range(120)]}
    verdict = released(rows, keep=["pin"]).verdict
    assert verdict.level == "danger"
    assert levels(
        verdict, "Column 'pin' is released unchanged and has a value of its own in 100 % of the rows that"
    ) == ["danger"]
    assert levels(verdict, "Name it as an identifier or a quasi-identifier.") == ["danger"]


def test_little_left() -> None:
    verdict = released(
        {"q": ["a", "b", "c", "d"], "r": ["x"] * 4}, quasi_identifiers=["q", "r"], privacy="k(4)"
    ).verdict
    assert levels(verdict, "'q' says nothing any more") == ["caution"]
    rows = {"q": ["a"] * 20 + [f"v{n}" for n in range(10)]}
    verdict = released(rows, suppression="budget(40%)", quasi_identifiers={"q": "flat"}).verdict
    assert levels(verdict, "33.3 % of the rows were left out") == ["caution"]


def test_few_who_were_left_out_are_not_counted() -> None:
    rows = {"q": ["a"] * 12 + ["b", "c", "d"]}
    verdict = released(rows, suppression="budget(40%)", quasi_identifiers={"q": "flat"}).verdict
    assert levels(verdict, "left out") == []


def test_nothing_released() -> None:
    rows = {"q": ["a", "b", "c"]}
    verdict = released(rows, privacy="k(3)", suppression="class-records", max_levels={"q": 0}).verdict
    assert verdict.level == "caution"
    assert verdict.sentences == ("Nothing was released: every row was left out.",)


def test_every_report_begins_with_it(tmp_path: Path) -> None:
    release = released({"q": ["a"] * 10 + ["b"] * 10, "s": ["hiv"] * 10 + list("vwxyz") * 2}, sensitive=["s"])
    sentence = release.verdict.sentences[0]
    assert release.summary().startswith("verdict")
    assert sentence in release.summary().partition("\n")[0]
    assert json.loads(release.report(tmp_path / "r.json").read_text())["verdict"]["level"] == "danger"
    for name in ("r.md", "r.html"):
        text = release.report(tmp_path / name, evaluate=False).read_text()
        assert text.index("Do not share this as it is") < text.index("Privacy audit")
    assert ">danger</span>Do not share this as it is<" in release._repr_html_()


def test_how_near_a_drawn_release_is_to_the_best_stays_with_the_owner(tmp_path: Path) -> None:
    rows = {"q": [str(n % 8) for n in range(64)], "r": [str(n % 5) for n in range(64)]}
    trees = {"q": "groups({x: ['0', '1', '2', '3'], y: ['4', '5', '6', '7']})", "r": "flat"}
    choices = {"quasi_identifiers": trees, "privacy": "k(2)", "scheme": "subtree", "seed": 1}
    release = released(rows, **choices, solver="cuts(extra=2, extra_loss=0.9)")
    assert release.drawn
    texts = [
        release.report(tmp_path / name, evaluate=False).read_text() for name in ("r.md", "r.html", "r.json", "r.txt")
    ]
    for text in texts:
        assert "gap at most" not in text
        assert "could be saved" not in text
    data = json.loads(texts[2])
    assert data["lower_bound"] is None
    assert data["gap"] is None
    assert data["stats"] == {}
    assert "gap at most" in release.summary(exact=True)


def test_uniqueness_is_that_of_released_rows() -> None:
    """People who were left out neither make a column look unique nor hide that it is."""
    choices = {"quasi_identifiers": {"q": "flat"}, "suppression": "class-records", "max_levels": {"q": 0}}
    twice = {"q": ["a"] * 120 + [f"z{n}" for n in range(120)], "x": [f"id{n}" for n in range(120)] * 2}
    verdict = released(twice, **choices, keep=["x"]).verdict
    assert levels(verdict, "Column 'x' is released unchanged and has a value of its own in 100 %") == ["danger"]
    found = []
    for alone in (["m", "n"], ["u", "v"]):
        rows = {"q": ["a"] * 20 + ["z"] * 2, "x": ["m", "n"] * 10 + alone}
        found.append(released(rows, **choices, keep=["x"]).verdict)
    assert found[0] == found[1]


def test_a_suppressed_value_that_is_known() -> None:
    rows = {"q": ["a"] * 6 + ["b"] * 6, "s": list("aaaabc") + list("abcabc")}
    choices = {"privacy": ["k(5)", "l+(0.5, s)"], "sensitive": ["s"], "scheme": "subtree", "max_levels": {"q": 0}}
    quasi = {"quasi_identifiers": {"q": "flat"}}
    verdict = released(rows, **choices, **quasi, suppression="violating-values").verdict
    assert levels(verdict, "Suppressed values of 's' can only be one value in 1 class") == ["danger"]
    verdict = released(rows, **choices, **quasi, suppression="violating-values(hide=ambiguous)").verdict
    assert levels(verdict, "Suppressed values") == []


def test_shares_of_few_rows_are_not_shown() -> None:
    rows = {"q": ["a"] * 40, "t": [str(n % 8) for n in range(40)], "u": [str(n // 8) for n in range(40)]}
    verdict = released(rows, keep=["t", "u"]).verdict
    assert levels(verdict, "single out part of the rows") == ["caution"]
