"""Everybody can use it: axe-core on every page in light and dark, by the keyboard alone, zoomed in, and on a phone."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import discreet as dc
from studio.accessibility import covered, misnamed, tab_through, tab_to, violations
from studio.browser import ServedStudio, Visit, visiting

pytestmark = pytest.mark.deep

REMOVED = ["city", "occupation", "children", "income"]
LOOKS = {
    "light": {"color_scheme": "light", "viewport": {"width": 1280, "height": 860}},
    "dark": {"color_scheme": "dark", "viewport": {"width": 1280, "height": 860}},
    "phone": {"color_scheme": "dark", "viewport": {"width": 390, "height": 800}},
    "zoomed": {"color_scheme": "light", "viewport": {"width": 640, "height": 430}},  # 200 % of 1280 by 860
}


@pytest.fixture(scope="module")
def made(served: ServedStudio, browser: Any) -> str:
    """A project with a front and a release, as the addresses of its pages begin."""
    with visiting(served, browser) as visit:
        page = visit.page
        visit.sample(2000)
        for column in REMOVED:
            visit.role(column, "identifier")
        visit.step("goals")
        visit.click("Show every trade-off")
        page.get_by_text("Every trade-off has been found.").wait_for()
        visit.click("Choose a trade-off")
        page.get_by_role("radio", name=re.compile("suggested")).wait_for()
        visit.click("Make this release")
        page.get_by_text("Done: ").first.wait_for()
        page.wait_for_url("**/run?job=*")
        return page.url.partition("#")[2]


def screens(visit: Visit, made: str) -> Iterator[str]:
    """Go to each screen of the studio; yield its name once everything on it is there."""
    page = visit.page
    base, _, job = made.removeprefix("/").partition("/run?")
    for step in ("", "data", "hierarchies", "goals", "run", "explore", "risk", "release"):
        visit.go(f"#/{base}/{step}?{job}" if step else "#/")
        page.locator("main h1").wait_for()
        with suppress(Exception):
            page.wait_for_load_state("networkidle", timeout=5000)
        if step == "risk":
            page.get_by_role("heading", name="What was kept").wait_for()
        page.wait_for_function("() => !document.querySelector('.ghost')")
        yield step or "start"


@pytest.mark.parametrize("look", LOOKS)
def test_every_screen(look: str, made: str, served: ServedStudio, browser: Any) -> None:
    with visiting(served, browser, **LOOKS[look]) as visit:
        for screen in screens(visit, made):
            assert violations(visit.page) == [], screen
            assert misnamed(visit.page) == [], screen


@pytest.mark.parametrize("look", ["light", "zoomed", "phone"])
def test_bars_never_hide_what_has_the_focus(look: str, made: str, served: ServedStudio, browser: Any) -> None:
    with visiting(served, browser, **LOOKS[look]) as visit:
        for screen in screens(visit, made):
            assert tab_through(visit.page) == [], screen


def test_the_whole_job_by_keyboard(served: ServedStudio, browser: Any) -> None:
    with visiting(served, browser, **LOOKS["zoomed"]) as visit:
        page, keys = visit.page, visit.page.keyboard
        tab_to(page, "Try it")
        keys.press("Enter")
        page.get_by_role("heading", name="What is in your table?").wait_for()
        for column in REMOVED:  # arrow keys go through the roles
            page.evaluate("() => document.activeElement.blur()")
            tab_to(page, "", within=f"[data-column='{column}'] [role=radiogroup]")
            choices = page.locator(f"[data-column='{column}'] [role=radio]")
            names = [each.get_attribute("data-name") for each in choices.all()]
            chosen = page.locator(f"[data-column='{column}'] [aria-checked=true]").get_attribute("data-name")
            for name in names[names.index(chosen) + 1 :] + names[:1]:  # the first is to remove it
                with page.expect_response(lambda answer: answer.request.method == "PATCH"):
                    keys.press("ArrowRight")
                page.locator(f"[data-column='{column}'].{name}").wait_for()
        for step in ("Hierarchies", "Goals"):
            tab_to(page, step, within=".foot")
            keys.press("Enter")
            page.wait_for_url(f"**/{step.lower()}*")
            page.locator("main h1").wait_for()
        tab_to(page, "How many people look the same, at least")
        keys.press("ArrowRight")
        page.get_by_text("Anyone who looks for a person finds at least 6 rows").wait_for()
        tab_to(page, "Find the best release")
        keys.press("Enter")
        page.wait_for_url("**/run?job=*")
        page.get_by_text(re.compile("^Done: ")).first.wait_for()
        tab_to(page, "Explore the result")
        keys.press("Enter")
        page.get_by_role("heading", name="Row by row").wait_for()
        for step in ("Risk & utility", "Release"):
            tab_to(page, step, within=".foot")
            keys.press("Enter")
        page.get_by_text("Audit passed.").wait_for()
        tab_to(page, "Download to hand over")
        with page.expect_download() as waiting:
            keys.press("Enter")
        assert waiting.value.suggested_filename.endswith(".zip")
        assert covered(page) is None


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Reports, a front, a comparison and what notebooks show, as files."""
    folder = tmp_path_factory.mktemp("pages")
    people = dc.sample(400, seed=2)
    people.write_csv(folder / "people.csv")
    job: dict[str, Any] = {
        "identifiers": ["person_id", "name", "income"],
        "quasi_identifiers": {"birth_date": "dates(month, year, decade)", "sex": None, "zip": "mask(digits=5)"},
        "keep": ["city", "education", "occupation", "marital_status", "children"],
    }
    release = dc.anonymize(people, **job, sensitive="diagnosis", privacy="k(5)", suppression="budget(5%)")
    release.report(folder / "report.html", [release.attacks()])
    local = dc.anonymize(people, **job, sensitive="diagnosis", privacy="k(5)", scheme="local", time_limit=2)
    local.report(folder / "local.html", evaluate=False)
    release.protection_page(folder / "protection.html", purpose="A study", recipient="A university")
    front = dc.pareto(people, **{**job, "keep": [*job["keep"], "diagnosis"]})
    front.save(folder / "front.html")
    jobs = [
        dc.Job(input=str(folder / "people.csv"), sensitive="diagnosis", privacy=f"k({k})", **job).save(
            folder / f"k{k}.yaml"
        )
        for k in (3, 8)
    ]
    dc.compare(*jobs).save(folder / "comparison.html")
    shown = [release, release.verdict, release.audit, release.risk(), release.utility(models=[]), release.attacks()]
    shown += [front, front.knee(), dc.mask(digits=5).build(people["zip"]), dc.look(people)]
    for theme, paper, ink in (("light", "#fff", "#111"), ("dark", "#111", "#ddd")):
        cards = "".join(each._repr_html_() for each in shown)
        (folder / f"notebook-{theme}.html").write_text(
            f"<!doctype html><html lang=en><meta charset=utf-8><title>Notebook</title>"
            f'<body style="background: {paper}; color: {ink}"><main><h1>Notebook</h1>{cards}</main>'
        )
    return {path.stem: path for path in sorted(folder.glob("*.html"))}


@pytest.mark.parametrize("look", ["light", "dark", "phone"])
def test_pages(look: str, pages: dict[str, Path], browser: Any) -> None:
    context = browser.new_context(**LOOKS[look])
    try:
        page = context.new_page()
        for name, path in pages.items():
            page.goto(path.as_uri())
            assert violations(page) == [], name
            page.evaluate("() => document.querySelectorAll('details').forEach((each) => { each.open = true; })")
            assert violations(page) == [], f"{name}, with everything open"
            assert misnamed(page) == [], name
            if look == "phone" and not name.startswith("notebook"):  # which has no bars
                assert tab_through(page) == [], name
    finally:
        context.close()


@pytest.mark.parametrize("look", ["light", "dark"])
def test_the_widget_of_a_front(look: str, browser: Any, tmp_path: Path) -> None:
    pytest.importorskip("anywidget", reason="the extra notebook is not installed")
    people = dc.sample(300, seed=2).select("sex", "zip", "education")
    widget = dc.pareto(people, quasi_identifiers=["sex", "zip", "education"]).widget()
    state = json.dumps({name: getattr(widget, name) for name in ("drawing", "cards", "names", "index")})
    paper, ink = ("#fff", "#111") if look == "light" else ("#111", "#ddd")
    script = widget._esm.replace("export default", "const made =")
    (tmp_path / "widget.html").write_text(
        f"<!doctype html><html lang=en><meta charset=utf-8><title>Widget</title><style>{widget._css}</style>"
        f'<body style="background: {paper}; color: {ink}"><main><h1>Widget</h1><div id=here></div></main>'
        f"<script type=module>{script}\nconst state = {state};\nwindow.saved = [];\n"
        "const model = { get: (key) => state[key], set: (key, value) => { state[key] = value; }, on() {}, off() {},"
        " save_changes: () => saved.push(state.index) };\n"
        "made.render({ model, el: document.getElementById('here') });</script>",
        encoding="utf-8",
    )
    context = browser.new_context(**LOOKS[look])
    try:
        page = context.new_page()
        page.goto((tmp_path / "widget.html").as_uri())
        assert violations(page) == []
        assert page.locator(".chosen").text_content() == f"Chosen: {widget.names[widget.index]}"
        page.locator(".point").nth(0).click(force=True)
        tab_to(page, "The choices, from the least private to the most")
        page.keyboard.press("End")
        page.keyboard.press("ArrowLeft")
        last = len(widget.names) - 1
        assert page.evaluate("() => saved") == [0, last, last - 1]
        assert page.locator(".chosen").text_content() == f"Chosen: {widget.names[last - 1]}"
        assert page.get_by_role("slider").get_attribute("aria-valuetext") == widget.names[last - 1]
        assert violations(page) == []
    finally:
        context.close()
