"""The report as a page: whole, offline, well formed, and without a value of the data that was not released."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import discreet as dc
from discreet.errors import UsageError
from discreet.job import Job
from discreet.pipeline.release import Release
from discreet.report.formats import pdf as _browser
from discreet.report.sections.blocks import DataTable, Section, Text

NASTY = "a<b>&\"'</script><script>alert(1)</script>"


class Reader(HTMLParser):
    """Collects what a page holds, and checks that every element is closed in order."""

    VOID = ("meta", "link", "rect", "path", "circle", "br")

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] != "style":
            self.words.append(data)


@pytest.fixture(scope="module")
def people() -> pl.DataFrame:
    return dc.sample(1500, seed=3)


@pytest.fixture(scope="module")
def release(people: pl.DataFrame) -> Release:
    return dc.anonymize(
        people,
        identifiers=["person_id", "name", "city", "occupation", "children", "income"],
        quasi_identifiers={
            "birth_date": "dates(year, decade)",
            "sex": "flat",
            "zip": "mask(digits=5)",
            "education": dc.groups(
                {
                    "Basic": ["No schooling", "Primary school", "Middle school"],
                    "Secondary": ["High school", "Vocational"],
                    "Higher": ["Bachelor", "Master", "Doctorate"],
                }
            ),
        },
        sensitive=["diagnosis"],
        privacy=["k(5)", "distinct-l(2, diagnosis)"],
        suppression="budget(5%)",
    )


def page_of(release: Release, folder: Path, **more: Any) -> str:
    return release.report(folder / "report.html", **more).read_text("utf-8")


def test_it_needs_nothing_and_lets_nothing_in(release: Release, tmp_path: Path) -> None:
    page = page_of(release, tmp_path)
    read = Reader(page)
    tags = {tag for tag, _ in read.tags}
    assert not tags & {"script", "img", "iframe", "object", "embed", "form", "audio", "video", "base"}
    for tag, attributes in read.tags:
        assert not {name for name in attributes if name in ("src", "style", "srcset") or name.startswith("on")}
        for name in ("href", "xlink:href"):
            assert str(attributes.get(name, "#")).startswith(("#", "data:,")), tag
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", page)
    policy = str(next(a for _, a in read.tags if "http-equiv" in a)["content"])
    style = re.search(r"<style>(.*?)</style>", page, re.DOTALL)
    assert style is not None
    digest = b64encode(sha256(style[1].encode()).digest()).decode()
    assert policy.startswith("default-src 'none';")
    assert f"style-src 'sha256-{digest}'" in policy
    assert "unsafe" not in policy
    assert "script-src" not in policy


def test_it_says_what_matters(release: Release, tmp_path: Path) -> None:
    words = " ".join(Reader(page_of(release, tmp_path)).words)
    for sentence in (
        "Every person is one of at least 5 who look the same.",
        "People who look the same have at least 2 different values of diagnosis.",
        "At most 5 % of the people may be left out.",
        "passed",
        "proven",
        f"{release.n - release.suppressed:,}",
        "birth_date",
        "dates(year, decade)",
        "groups(8 values)",
        "Higher",
        "polars",
        "no file",
    ):
        assert sentence in words, sentence


def test_every_id_that_is_linked_to_is_there(release: Release, tmp_path: Path) -> None:
    read = Reader(page_of(release, tmp_path))
    ids = [attributes["id"] for _, attributes in read.tags if "id" in attributes]
    assert len(set(ids)) == len(ids)
    links = {str(attributes["href"])[1:] for tag, attributes in read.tags if tag == "a"}
    assert links <= set(ids)


def test_names_are_escaped(tmp_path: Path) -> None:
    table = pl.DataFrame({NASTY: [NASTY, "x"] * 20, "b": ["<i>", "&amp;"] * 20})
    release = dc.anonymize(table, quasi_identifiers=[NASTY], sensitive=["b"], privacy="k(5)")
    page = page_of(release, tmp_path)
    read = Reader(page)
    assert "script" not in {tag for tag, _ in read.tags}
    assert any(NASTY in words for words in read.words)
    text = release.report(tmp_path / "report.md").read_text()
    outside = re.sub(r"^(```+)$.*?^\1$", "", text, flags=re.MULTILINE | re.DOTALL)
    assert not re.search(r"(?<!\\)<script", outside)


def test_more_sections_come_before_the_columns(release: Release, tmp_path: Path) -> None:
    more = Section("Risk in full", [Text("Nobody was found."), DataTable(["attack", "found"], [["linkage", "0"]])])
    words = Reader(page_of(release, tmp_path, sections=[more])).words
    assert words.index("Risk in full") < words.index("Columns before and after")
    text = release.report(tmp_path / "report.md", [more]).read_text()
    assert "## Risk in full" in text
    assert "| linkage | 0 |" in text


def test_a_release_of_nobody_and_a_search_that_was_stopped(people: pl.DataFrame, tmp_path: Path) -> None:
    table = people.select("sex", "zip").head(6)
    empty = dc.anonymize(
        table, quasi_identifiers=["sex", "zip"], privacy="k(6)", suppression="class-records", max_levels={"zip": 0}
    )
    assert empty.audit.rows == 0
    assert "nothing was released" in page_of(empty, tmp_path)
    stopped = replace(empty, status="feasible", gap=0.25, lower_bound=3.0)
    assert "within 25.0 %" in page_of(stopped, tmp_path)


@pytest.mark.parametrize("scheme", ["subtree", "ordered", "set", "local"])
def test_every_scheme(scheme: str, people: pl.DataFrame, tmp_path: Path) -> None:
    table = people.select("sex", "education", "children", "diagnosis").head(400)
    quasi = {"sex": "flat", "education": None, "children": None}
    release = dc.anonymize(
        table,
        quasi_identifiers=quasi,
        sensitive="diagnosis",
        privacy="k(5)",
        scheme=scheme,
        cost="NCP" if scheme == "local" else "LM",
        time_limit=20,
    )
    words = " ".join(Reader(page_of(release, tmp_path)).words)
    assert "education" in words
    for column in release.columns:
        assert sum(bar.rows for bar in column.bars) == release.audit.rows
        assert column.values == release.frame[column.name].n_unique()
        released = dict(release.frame[column.name].cast(pl.String).fill_null("missing").value_counts().iter_rows())
        assert {bar.name: bar.rows for bar in column.bars if bar.name} == {
            name: rows for name, rows in released.items() if name in {bar.name for bar in column.bars}
        }


def test_charts_agree_with_the_tables(release: Release, people: pl.DataFrame) -> None:
    """What is drawn is what a plain count of the frames gives."""
    assert release.before.rows == people.height
    keys = ["birth_date", "sex", "zip", "education"]
    sizes = people.group_by(keys).len()["len"]
    assert release.before.unique == int((sizes == 1).sum())
    assert release.audit.sizes.count == release.frame.group_by(keys).len().height
    assert release.audit.sizes.average_risk == pytest.approx(release.classes / release.audit.rows)
    for column in release.columns:
        after = dict(release.frame[column.name].cast(pl.String).fill_null("missing").value_counts().iter_rows())
        for bar in column.bars:
            if bar.name:
                assert bar.rows == after[bar.name]
                assert not bar.parts or sum(bar.parts) == bar.rows
        for steps in (column.before, column.after):
            if steps is not None:
                assert sum(steps.rows) == release.audit.rows
                assert all(not 0 < rows < release.least for rows in steps.rows)
                assert list(steps.edges) == sorted(steps.edges)
        for row in column.tree:
            assert isinstance(row, int) or sum(box.rows for box in row) == release.audit.rows
            assert isinstance(row, int) or all(box.rows >= release.least for box in row)


def test_markdown_and_json_say_the_same(release: Release, tmp_path: Path) -> None:
    text = release.report(tmp_path / "report.md").read_text()
    for title in ("What was requested", "Proof", "Privacy audit", "Risk before and after", "How to repeat it"):
        assert f"## {title}" in text
    assert "The course of the search also depends on the people who were left out" in text
    assert "best cost" not in text


def test_the_search_is_told_where_nobody_is_left_out(people: pl.DataFrame, tmp_path: Path) -> None:
    table = people.select("sex", "education", "zip")
    release = dc.anonymize(table, quasi_identifiers=table.columns, privacy="k(5)")
    assert release.suppressed == 0
    text = release.report(tmp_path / "report.md").read_text()
    assert "possible recodings" in text
    assert "A little more, a little less" in text
    assert "examined" in release.summary()
    assert release.to_dict()["stats"]["examined"] == release.stats["examined"]


def test_pdf_without_a_browser_names_the_way_out(
    release: Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_browser.shutil, "which", lambda name: None)
    with pytest.raises(UsageError, match=r"write \.html, open it in any browser and print"):
        release.report(tmp_path / "report.pdf")
    assert list(tmp_path.iterdir()) == []


def test_pdf(release: Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The browser prints the page from a folder that is removed afterwards."""
    seen: list[str] = []

    def run(command: list[str], **options: Any) -> None:
        page = Path(command[-1].removeprefix("file://"))
        seen.append(page.read_text("utf-8"))
        target = next(word for word in command if word.startswith("--print-to-pdf=")).partition("=")[2]
        Path(target).write_bytes(b"%PDF-1.4")
        seen.append(str(page))

    monkeypatch.setattr(_browser, "find_browser", lambda: "browser")
    monkeypatch.setattr("discreet.report.release_report.find_browser", lambda: "browser")
    monkeypatch.setattr(_browser.subprocess, "run", run)
    assert release.report(tmp_path / "report.pdf").read_bytes() == b"%PDF-1.4"
    assert "Every person is one of at least 5" in seen[0]
    assert not Path(seen[1]).exists()


@pytest.mark.parametrize("make", [lambda folder: folder / "r.doc", lambda folder: folder / "r"])
def test_other_names_are_refused(make: Callable[[Path], Path], release: Release, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"end the name in \.json, \.txt, \.md, \.html, \.pdf"):
        release.report(make(tmp_path))


def test_a_job_writes_it(people: pl.DataFrame, tmp_path: Path) -> None:
    people.write_csv(tmp_path / "people.csv")
    job = Job(
        input=str(tmp_path / "people.csv"),
        output=str(tmp_path / "safe.csv"),
        identifiers=["person_id", "name", "birth_date", "zip", "income"],
        quasi_identifiers=["sex"],
        privacy="k(5)",
        report=str(tmp_path / "report.html"),
    )
    job.run()
    page = (tmp_path / "report.html").read_text()
    assert sha256((tmp_path / "safe.csv").read_bytes()).hexdigest() in page
    assert sha256((tmp_path / "people.csv").read_bytes()).hexdigest() not in page
    assert "people.csv, HMAC-SHA256 " in page
    assert str(tmp_path) not in page


def test_risk_utility_and_the_neighbourhood_are_told(release: Release, tmp_path: Path) -> None:
    words = Reader(page_of(release, tmp_path)).words
    assert "Who could be found, and what would be learned about them" in words
    assert "A little more, a little less" not in words  # neighbours depend on people who were left out
    assert "Utility before and after" in words
    assert words.index("Utility before and after") < words.index("Columns before and after")
    bare = Reader(page_of(release, tmp_path, evaluate=False)).words
    assert "Utility before and after" not in bare


def test_an_evaluation_that_is_given_is_not_made_again(release: Release, tmp_path: Path) -> None:
    given = release.utility(queries=7, only_released=True)
    page = page_of(release, tmp_path, sections=[given])
    assert page.count(">Utility before and after</h2>") == 1
    assert "half of 7 random" in page


def test_an_evaluation_of_people_left_out_is_not_handed_over(release: Release, tmp_path: Path) -> None:
    assert release.suppressed
    given = [release.utility(queries=7), release.attacks()]
    page = page_of(release, tmp_path, sections=given)
    assert page.count(">Utility before and after</h2>") == 1
    assert "half of 7 random" not in page
    assert "half of 200 random" in page
    assert page.count(">Attacks</h2>") == 1
    assert page.count("This was measured against the whole original table") == 0
    bare = page_of(release, tmp_path, sections=given, evaluate=False)
    assert bare.count("This was measured against the whole original table") == 2


def test_what_cannot_be_measured_is_said(people: pl.DataFrame, tmp_path: Path) -> None:
    people.select("sex", "education").write_csv(tmp_path / "people.csv")
    release = dc.anonymize(tmp_path / "people.csv", quasi_identifiers=["sex", "education"], privacy="k(5)")
    (tmp_path / "people.csv").unlink()
    words = " ".join(Reader(page_of(release, tmp_path)).words)
    assert "This was not measured" in words


def test_neighbours_are_the_best_releases_for_other_promises(
    people: pl.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("discreet.pipeline.neighbours._SECONDS", 3600.0)
    settings: dict[str, Any] = {"quasi_identifiers": ["sex", "education", "zip"], "suppression": "budget(2%)"}
    table = people.select(settings["quasi_identifiers"])
    release = dc.anonymize(table, privacy="k(5)", **settings)
    found = {one.value: one for one in release.neighbours}
    assert list(found) == sorted(found)
    assert [one.value for one in release.neighbours if one.chosen] == [5]
    assert min(found) < 5 < max(found)
    for k, one in found.items():
        alone = dc.anonymize(table, privacy=f"k({k})", **settings)
        assert (one.cost, one.suppressed, one.classes) == (alone.cost, alone.suppressed, alone.classes)
        assert one.promise == f"k({k})"
        assert one.proven
        assert one.to_dict()["cost"] == alone.cost


def test_neighbours_that_cannot_be(people: pl.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("discreet.pipeline.neighbours._SECONDS", 3600.0)
    table = people.select("sex", "diagnosis").filter(pl.col("sex").is_in(["female", "male", "f", "m"]))
    kinds = table["diagnosis"].n_unique()
    release = dc.anonymize(
        table,
        quasi_identifiers={"sex": "flat"},
        sensitive=["diagnosis"],
        privacy=f"distinct-l({kinds - 1}, diagnosis)",
        max_levels={"sex": 1},
    )
    assert {one.value for one in release.neighbours} <= set(range(2, kinds + 3))
    assert "A little more, a little less" in page_of(release, tmp_path)
    local = dc.anonymize(table, quasi_identifiers=["sex"], privacy="k(5)", scheme="local", cost="NCP")
    assert local.neighbours == ()


def test_folders_of_this_machine_are_not_told(people: pl.DataFrame, tmp_path: Path) -> None:
    people.select("sex").drop_nulls().write_csv(tmp_path / "people.csv")
    values = people["sex"].drop_nulls().unique().to_list()
    (tmp_path / "sexes.csv").write_text("".join(f"{value};*\n" for value in values))
    job = Job(
        input=str(tmp_path / "people.csv"),
        output=str(tmp_path / "safe.csv"),
        quasi_identifiers={"sex": str(tmp_path / "sexes.csv")},
        privacy="k(5)",
    )
    page = page_of(job.run(), tmp_path)
    assert "sexes.csv" in page
    assert str(tmp_path) not in page


def test_what_a_database_holds_is_not_read_again_unasked(people: pl.DataFrame, tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    table = duckdb.from_arrow(people.select("sex", "education").drop_nulls().to_arrow())
    release = dc.anonymize(table, quasi_identifiers=["sex", "education"], privacy="k(5)")
    assert "Utility before and after" not in page_of(release, tmp_path)
    assert "Utility before and after" in page_of(release, tmp_path, evaluate=True)
