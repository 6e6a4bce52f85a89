"""The files of the page: nothing from elsewhere, nothing inline, and colours that can be read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import discreet
from discreet.job.parameters import PARAMETERS
from discreet.studio._spelling import CONTROLS

STATIC = Path(discreet.__file__).parent / "studio" / "static"
OWN = sorted(
    path for path in STATIC.rglob("*") if path.suffix in (".js", ".css", ".html") and "vendor" not in path.parts
)
NAMESPACE = "http://www.w3.org/2000/svg"


@pytest.mark.parametrize("path", OWN, ids=lambda path: path.name)
def test_nothing_from_elsewhere(path: Path) -> None:
    text = path.read_text(encoding="utf-8").replace(NAMESPACE, "")
    assert not re.search(r"(?:https?:)?//[a-z0-9.-]+\.[a-z]{2,}", text)
    assert not re.search(r"@import|@font-face|\beval\(|new Function|innerHTML|document\.write", text)


def test_nothing_inline() -> None:
    page = (STATIC / "index.html").read_text(encoding="utf-8")
    assert not re.search(r"<style|\sstyle=|\son[a-z]+=", page)
    assert all("src=" in tag for tag in re.findall(r"<script[^>]*>", page))


def test_the_table_of_terms_is_that_of_the_documentation() -> None:
    terms = (STATIC / "terms.js").read_text(encoding="utf-8")
    found = re.findall(r'^  "?([\w -]+?)"?: \{ (?:role: "([^"]+)", )?word: "([^"]+)" \},$', terms, re.MULTILINE)
    page = (Path(__file__).parents[2] / "docs" / "studio.md").read_text(encoding="utf-8")
    table = page.partition("## Plain words")[2].partition("## ")[0]
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", table, re.MULTILINE)[1:]
    assert [(term, role or word) for term, role, word in found] == rows
    assert len(rows) >= 15


def test_texts_use_the_plain_words() -> None:
    texts = (STATIC / "texts.js").read_text(encoding="utf-8")
    assert not re.search(r"\bcrowds?\b|equivalence|quasi-identifiers|suppressed rows", texts)


def test_errors_name_controls_of_the_page() -> None:
    texts = (STATIC / "texts.js").read_text(encoding="utf-8") + (STATIC / "terms.js").read_text(encoding="utf-8")
    for label in {*CONTROLS.values(), "I have decided: release … unchanged"}:
        pattern = re.escape(label).replace("…", r"\$\{[^}]+\}")
        assert re.search(rf"[\"`]{pattern}[\"`]", texts), label
    assert PARAMETERS.keys() >= CONTROLS.keys()


def test_texts_are_in_one_place() -> None:
    """No sentence stands in a screen: between two tags of a template there is nothing but names of texts."""
    for path in sorted((STATIC / "screens").glob("*.js")):
        for line in path.read_text(encoding="utf-8").splitlines():
            if "html`" in line or line.strip().startswith("<"):
                bare = re.sub(r"\$\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}", "", line)
                assert not re.search(r">\s*[A-Z][a-z]+ [a-z]+[^<]*<", bare), (path.name, line)


def luminance(colour: str) -> float:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def looks() -> list[dict[str, str]]:
    """The colours of light and of dark pages."""
    text = (STATIC / "styles" / "tokens.css").read_text(encoding="utf-8")
    both = re.findall(r"--([a-z-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);", text)
    return [{name: colours[place] for name, *colours in both} for place in (0, 1)]


def test_every_colour_has_a_value_for_light_and_one_for_dark_pages() -> None:
    text = (STATIC / "styles" / "tokens.css").read_text(encoding="utf-8")
    rest = re.sub(r"light-dark\([^()]*(?:\([^()]*\)[^()]*)*\)", "", text)
    assert not re.search(r"#[0-9a-f]{3,8}\b|rgb\(", rest)


@pytest.mark.parametrize("look", looks(), ids=["light", "dark"])
def test_colours_can_be_read(look: dict[str, str]) -> None:
    for ground in ("paper", "canvas", "sunken"):
        for ink in ("ink", "soft", "faint", "accent", "accent-strong", "good", "warn", "bad", "secret"):
            assert contrast(look[ink], look[ground]) >= 4.5, (ink, ground)
    for ink, ground in (("good", "good-soft"), ("warn", "warn-soft"), ("bad", "bad-soft"), ("secret", "secret-soft")):
        assert contrast(look[ink], look[ground]) >= 4.5, (ink, ground)
    assert contrast(look["on-accent"], look["accent"]) >= 4.5
    assert contrast(look["accent-strong"], look["accent-soft"]) >= 4.5
    assert contrast(look["paper"], look["after"]) >= 4.5
    for mark in ("edge", "after", "best", "bound", "knee"):  # borders, lines and bars
        assert contrast(look[mark], look["paper"]) >= 3, mark


def test_no_text_is_written_twice() -> None:
    """A key that occurs twice in a section would silently replace the first text."""
    section, seen = "", set()
    for line in (STATIC / "texts.js").read_text(encoding="utf-8").splitlines():
        if found := re.match(r"  (\w+): \{", line):
            section = found[1]
        elif found := re.match(r'    "?([\w.-]+)"?:', line):
            assert (section, found[1]) not in seen
            seen.add((section, found[1]))
    assert len(seen) > 300
