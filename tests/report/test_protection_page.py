"""The data protection page: what it says in each format and version, and nothing about people who were left out."""

from __future__ import annotations

import dataclasses
import random
import re
import stat
from pathlib import Path

import polars as pl
import pytest

import discreet as dc
from discreet.errors import UsageError


def release_of(people: pl.DataFrame, **options: object) -> dc.Release:
    given = {"privacy": ["k(3)", "distinct-l(2, ill)"], "suppression": "budget(30%)", "scheme": "subtree", "seed": 1}
    quasi = {"age": "intervals(10, 20)", "city": None}
    return dc.anonymize(people, quasi_identifiers=quasi, sensitive=["ill"], keep=["note"], **{**given, **options})


def people_with(others: list[tuple[int, str, str]]) -> pl.DataFrame:
    """Forty people in large classes, and others who are alone."""
    draw = random.Random(3)
    rows = [(20 + 10 * (i % 2) + i % 5, "ab"[i % 4 // 2], draw.choice(["flu", "cold", "hiv"])) for i in range(40)]
    table = pl.DataFrame([*rows, *others], schema=["age", "city", "ill"], orient="row")
    return table.with_columns(note=pl.lit("x"))


def text_of(release: dc.Release, path: Path, **options: object) -> str:
    page = release.protection_page(path, purpose="a <study>", recipient="Bonn", **options).read_text(encoding="utf-8")
    return re.sub(r"Released \d{4}-\d\d-\d\d \d\d:\d\d", "Released", page)


def test_the_page_says_all_that_is_signed(tmp_path: Path) -> None:
    page = text_of(release_of(people_with([])), tmp_path / "page.md", prepared_by="A. Meyer")
    for words in (
        "# Data protection page",
        "External version",
        "**purpose**: a \\<study\\>",
        "**recipient**: Bonn",
        "k(3): Every person is one of at least 3",
        "| made coarser | age, city |",
        "| released as they are | note |",
        "| singling out | people who share their released quasi-identifiers, at least |",
        "| linkability | chance to link a row to a person, at most | 1 in",
        "| inference | certainty about ill, at most |",
        "## What this does not protect against",
        "released as they are: note",
        "discreet run job.yaml",
        "**Prepared by**: A. Meyer",
        "**Data protection officer**",
    ):
        assert words in page, words
    assert "For the owner alone" not in page


def test_the_page_does_not_say_what_a_longer_search_could_save(tmp_path: Path) -> None:
    """How wide the gap is depends on everybody, also on people who were left out."""
    release = release_of(people_with([(90 + i, "c", "rare") for i in range(6)]), scheme="full-domain")
    stopped = dataclasses.replace(release, status="feasible", lower_bound=release.cost / 2, gap=0.5)
    saved = "A better release of this kind could save at most 50.0 % of the loss; whether there is one is not known."
    assert saved in stopped.verdict.sentences
    pages = [text_of(stopped, tmp_path / f"{internal}.md", internal=internal) for internal in (False, True)]
    assert [saved in page for page in pages] == [False, True]


@pytest.mark.parametrize("suffix", ["md", "html"])
@pytest.mark.parametrize("number", [2, 6])
def test_tables_that_differ_in_people_left_out_have_the_same_page(suffix: str, number: int, tmp_path: Path) -> None:
    seen = set()
    for seed in range(3):
        draw = random.Random(seed)
        ages = draw.sample(range(45, 99), number)
        others = [(age, draw.choice("cde"), draw.choice(["flu", "hiv", "rare"])) for age in ages]
        release = release_of(people_with(others), scheme="full-domain", max_levels={"age": 1, "city": 0})
        assert release.suppressed == number
        seen.add(text_of(release, tmp_path / f"page.{suffix}"))
    assert len(seen) == 1
    page = seen.pop()
    assert ("fewer than 5 left out" in page) == (number < 5)
    assert "rare" not in page


def test_the_internal_page_has_exact_figures_and_is_private(tmp_path: Path) -> None:
    others = [(70, "c", "flu"), (90, "d", "hiv")]
    release = release_of(people_with(others), scheme="full-domain", max_levels={"age": 1, "city": 0})
    page = text_of(release, tmp_path / "page.html", internal=True)
    assert "Internal version, for the owner of the data alone" in page
    assert "42; 2 suppressed" in page
    assert stat.S_IMODE((tmp_path / "page.html").stat().st_mode) == 0o600
    assert "<b>" not in page.partition("a &lt;study&gt;")[0]


def test_a_promise_that_is_not_made_is_named(tmp_path: Path) -> None:
    page = text_of(release_of(people_with([]), privacy="k(3)"), tmp_path / "page.md")
    assert "ill (no promise about it)" in page
    assert "No promise is about ill" in page


def test_other_formats_are_refused_before_any_work(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"end the name in \.html, \.pdf, \.md"):
        release_of(people_with([])).protection_page(tmp_path / "page.docx")
    people_with([]).write_csv(tmp_path / "people.csv")
    fields = {"input": str(tmp_path / "people.csv"), "output": str(tmp_path / "safe.csv"), "privacy": "k(3)"}
    roles = {"quasi_identifiers": ["age", "city"], "sensitive": "ill", "keep": "note"}
    job = dc.Job(**fields, **roles, protection_page=str(tmp_path / "page.txt"))
    with pytest.raises(UsageError, match="data protection page"):
        job.run()
    assert not (tmp_path / "safe.csv").exists()
    pages = {"protection_page": str(tmp_path / "page.md"), "internal_page": str(tmp_path / "internal.md")}
    release = dc.Job(**fields, **roles, **pages, purpose="study", key=str(tmp_path / "key")).run()
    assert release.job["purpose"] == "study"
    assert "**purpose**: study" in (tmp_path / "page.md").read_text()
    assert "For the owner alone" in (tmp_path / "internal.md").read_text()


def test_a_pdf_has_one_page_with_its_number(tmp_path: Path) -> None:
    from discreet.report.formats.pdf import find_browser

    try:
        find_browser()
    except UsageError:
        pytest.skip("no Chromium, Chrome or Edge is installed")
    printed = release_of(people_with([])).protection_page(tmp_path / "page.pdf").read_bytes()
    assert re.findall(rb"/Count (\d+)", printed) == [b"1"]
