"""The studio in a real browser: the whole path, a cancelled search, edited hierarchies, phones and the dark."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pytest

import discreet as dc
from studio.browser import ServedStudio, Visit, visiting

QUASI = ["birth_date", "sex", "zip", "education", "marital_status"]
REMOVED = ["city", "occupation", "children"]
ROWS = 2000
pytestmark = pytest.mark.deep


def test_the_whole_path(visit: Visit, tmp_path: Path) -> None:
    page = visit.page
    visit.sample(ROWS)
    for column in REMOVED:
        visit.role(column, "identifier")
    visit.role("income", "insensitive")
    visit.click("I have decided: release income unchanged")
    page.get_by_text("Released unchanged, as you decided.").wait_for()

    # Goals: the slider and a promise about the secret, both kept over a reload in the middle.
    visit.click("Hierarchies", "link")
    visit.click("Goals", "link")
    slider = page.get_by_role("slider", name="How many people look the same, at least")
    slider.focus()
    slider.press("ArrowRight")
    page.get_by_text("Anyone who looks for a person finds at least 6 rows").wait_for()
    # A promise about the secret is on by itself, and only about the column that is still protected.
    page.locator(".promised").get_by_text("distinct-l(3, diagnosis)").wait_for()
    assert page.locator(".promised").get_by_text("income").count() == 0
    page.reload()
    page.get_by_text("Anyone who looks for a person finds at least 6 rows").wait_for()
    assert page.get_by_role("switch", name="No group gives itself away").is_checked()

    # Every trade-off; reload while it runs.
    visit.click("Show every trade-off")
    page.wait_for_url("**/run?job=*")
    page.reload()
    page.get_by_text("Every trade-off has been found.").wait_for()

    # Pick another point than the one that is suggested, by the keyboard.
    visit.click("Choose a trade-off")
    suggested = page.get_by_role("radio", name=re.compile("suggested"))
    suggested.wait_for()
    assert suggested.get_attribute("aria-checked") == "true"
    suggested.press("ArrowLeft")
    page.wait_for_url("**point=*")
    chosen = page.locator(".front [aria-checked=true]")
    assert chosen.get_attribute("data-point") != suggested.get_attribute("data-point")
    k = int(re.search(r"k = ([\d,]+)", chosen.get_attribute("aria-label")).group(1).replace(",", ""))  # type: ignore[union-attr]
    page.reload()
    page.get_by_role("heading", name=f"k = {k:,}").wait_for()
    visit.click("Make this release")
    page.get_by_text("Done: proven optimal").wait_for()
    visit.click("Explore the result")

    # Explore: columns, the cut, and the table before and after.
    page.get_by_role("heading", name="Row by row").wait_for()
    page.get_by_role("radio", name=re.compile("^education")).click()
    page.get_by_role("img", name="The hierarchy of education; what is released is filled").wait_for()
    page.get_by_role("heading", name="One step finer, one step coarser").wait_for()
    page.locator(".compare tbody tr").nth(14).wait_for()
    assert page.locator(".compare tbody tr").count() == 15
    assert page.locator(".compare td.changed").count() > 0
    visit.click("Next page")
    page.get_by_text("16 to 30 of 2,000").wait_for()

    # Risk and utility are measured by themselves.
    page.get_by_role("navigation", name="Previous and next step").get_by_role("link", name="Risk & utility").click()
    page.get_by_role("img", name="The share of the people in classes of each size, before and after").wait_for()
    page.locator("main [data-verdict]").wait_for()
    page.get_by_role("heading", name="What was kept").wait_for()

    # Find somebody: what a neighbour knows, who matches before and after, and a value that nobody has.
    page.get_by_label("sex", exact=True).fill("femal")
    visit.expected.append("422")
    visit.click("Look")
    page.get_by_text("Column 'sex' has no such value; did you mean 'female'?").wait_for()
    page.get_by_label("sex", exact=True).fill("female")
    visit.click("Look")
    page.get_by_text(re.compile("In the release .* rows can be this person")).wait_for()
    page.get_by_role("img", name=re.compile("^diagnosis: the share of those who match")).wait_for()

    # Release: what is handed over and what is kept, and each file by itself.
    page.get_by_role("navigation", name="Previous and next step").get_by_role("link", name="Release").click()
    page.get_by_text("Audit passed.").wait_for()
    page.get_by_role("button", name="Show", exact=True).first.click()
    report = page.frame_locator("iframe.report")
    report.get_by_role("heading").first.wait_for()
    names = {}
    for what in ("hand over", "keep"):
        with page.expect_download() as waiting:
            page.get_by_role("link", name=f"Download to {what}").click()
        archive = tmp_path / f"{what}.zip"
        waiting.value.save_as(archive)
        with zipfile.ZipFile(archive) as opened:
            opened.extractall(tmp_path / what)
        names[what] = {path.name for path in (tmp_path / what).iterdir()}
    assert names["hand over"] == {"people-released.csv", "report.html", "certificate.json"}
    assert names["keep"] == {"job.yaml", "script.py", "mapping.json", "discreet.key", "discreet.ledger"}
    files = [link.get_attribute("href") for link in page.locator(".files a[download]").all()]
    assert len(files) == 8
    for link in page.locator(".files a[download]").all():
        with page.expect_download() as waiting:
            link.click()
        waiting.value.save_as(tmp_path / Path(link.get_attribute("href")).name)

    # What was downloaded keeps its promise, says an audit that knows nothing of the studio.
    assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF")
    safe = tmp_path / "data.csv"
    assert safe.read_bytes() == (tmp_path / "hand over" / "people-released.csv").read_bytes()
    promises = [f"k({k})", "k(6)", "distinct-l(3, diagnosis)"]
    audit = dc.audit(safe, quasi_identifiers=QUASI, sensitive="diagnosis", privacy=promises)
    assert audit.passed, audit.summary()
    assert pl.read_parquet(tmp_path / "data.parquet").height == audit.rows
    released = pl.read_csv(safe, infer_schema=False)
    assert set(released.columns) == {*QUASI, "income", "diagnosis"}
    command = [sys.executable, "-m", "discreet", "audit", str(safe)]
    by_promise = subprocess.run([*command, "--qi", ",".join(QUASI), "-k", str(k)], capture_output=True, text=True)
    assert by_promise.returncode == 0, by_promise.stdout + by_promise.stderr
    by_certificate = subprocess.run(
        [*command, "--certificate", str(tmp_path / "certificate.json")], capture_output=True, text=True
    )
    assert by_certificate.returncode == 0, by_certificate.stdout + by_certificate.stderr


def test_a_cancelled_search_keeps_the_best_so_far(visit: Visit, tmp_path: Path) -> None:
    page = visit.page
    random = Random(7)
    columns = [f"q{number}" for number in range(5)]
    rows = [",".join(f"v{random.randrange(14)}" for _ in columns) for _ in range(300)]
    hard = tmp_path / "hard.csv"
    hard.write_text("\n".join([",".join(columns), *rows]))
    page.locator("input[type=file]").set_input_files(hard)
    page.wait_for_url("**/#/p/*/data")
    for column in columns:
        visit.role(column, "quasi-identifier")
    visit.step("goals")
    page.get_by_text("More schemes").click()
    page.locator("[data-scheme=set] input").check()  # more sets than can be searched in a lifetime
    levels = page.locator("option[value=precision]")  # sets of values have no level
    assert levels.is_disabled()
    assert "does not go with" in str(levels.get_attribute("title"))
    page.get_by_label("Time").select_option("")
    page.get_by_text("Ready to run.").wait_for()
    visit.click("Find the best release")
    page.wait_for_url("**/run?job=*")
    job = re.search(r"job=([^&]+)", page.url).group(1)  # type: ignore[union-attr]
    page.locator(".chart .best").wait_for()
    page.reload()  # the search goes on without its page
    page.locator(".chart .best").wait_for()
    visit.click("Stop and keep the best so far")
    page.get_by_text(re.compile("^Done: a valid release")).wait_for()
    state = visit.fetch(f"api/jobs/{job}")
    assert (state["state"], state["status"]) == ("done", "feasible")
    result = visit.fetch(f"api/jobs/{job}/result")
    assert result["audit"]["passed"]
    assert result["lower_bound"] < result["cost"]
    visit.click("Explore the result")
    page.get_by_role("heading", name="Row by row").wait_for()


def test_what_cannot_be_done_offers_a_way_out(visit: Visit) -> None:
    page = visit.page
    visit.sample(ROWS)
    visit.step("goals")
    exact = page.locator(".k-ends input")
    exact.fill("9999999")
    exact.press("Enter")
    page.get_by_text(f"Enter a number from 2 to {ROWS:,}. The value 5 was kept.").first.wait_for()
    page.get_by_role("radio", name="Nobody").click()
    page.get_by_label("How coarse birth_date may become").select_option("0")
    visit.click("Find the best release")
    failed = page.locator(".status .notice.bad")
    failed.wait_for()
    assert "birth_date" in failed.inner_text()
    failed.get_by_role("button", name=re.compile("^Allow birth_date up to level")).click()
    page.get_by_role("heading", name="What do you promise, and what matters?").wait_for()
    visit.fetch_until(f"api/projects/{visit.project}", lambda found: found["goals"]["keep_at_least"]["birth_date"] > 0)


def test_a_job_started_while_changes_are_on_their_way_includes_them(visit: Visit) -> None:
    page = visit.page
    visit.sample(ROWS)
    visit.step("goals")
    page.get_by_text("Ready to run.").wait_for()

    def late(route: Any) -> None:
        page.wait_for_timeout(300)
        route.continue_()

    page.route(re.compile(f"/api/projects/{visit.project}$"), late)
    page.get_by_role("radio", name="Nobody").click()
    page.get_by_label("How coarse sex may become").select_option("0")
    visit.click("Find the best release")
    page.wait_for_url("**/run?job=*")
    goals = visit.fetch(f"api/projects/{visit.project}")["goals"]
    assert goals["keep_at_least"]["sex"] == 0
    assert goals["suppression"] == "none"


def test_columns_that_single_people_out_need_a_decision(visit: Visit, tmp_path: Path) -> None:
    page = visit.page
    rows = [f"{20 + n % 4},{n * 37 % 1009},{'fm'[n % 2]},{'abc'[n % 3]}" for n in range(300)]
    table = tmp_path / "weights.csv"
    table.write_text("\n".join(["age,weight,sex,disease", *rows]))
    visit.go("#/")
    page.locator("input[type=file]").set_input_files(table)
    page.wait_for_url("**/#/p/*/data")
    assert page.locator("[data-column=weight].insensitive").count() == 0  # it is never proposed to be kept
    for column, role in (("age", "quasi-identifier"), ("sex", "quasi-identifier"), ("disease", "sensitive")):
        visit.role(column, role)
    visit.role("weight", "insensitive")
    page.get_by_text("weight could identify people.").wait_for()
    visit.step("goals")
    page.locator(".plan").get_by_text("weight could identify people.").wait_for()
    assert page.get_by_role("button", name="Find the best release").is_disabled()
    visit.click("I have decided: release weight unchanged")
    page.get_by_text("Ready to run.").wait_for()
    visit.click("Find the best release")
    page.get_by_text(re.compile("^Done")).wait_for()
    visit.click("Explore the result")
    kept = page.get_by_role("region", name="Released unchanged").last
    kept.get_by_text("your decision").wait_for()
    assert "weight" in kept.inner_text()
    assert "'weight'" in page.locator("[data-verdict]").inner_text()

    # A first release is downloaded; another one of the same table is then warned about, here and in the plan.
    visit.step("release")
    with page.expect_download():
        page.get_by_role("link", name="Download to hand over").click()
    visit.step("goals")
    slider = page.get_by_role("slider", name="How many people look the same, at least")
    slider.focus()
    slider.press("End")
    page.locator(".plan").get_by_text("This table was released before").wait_for()
    visit.click("Find the best release")
    page.get_by_text(re.compile("^Done")).wait_for()
    visit.step("release")
    page.get_by_text("THIS TABLE WAS RELEASED BEFORE").wait_for()


def test_secrets_are_protected_one_by_one(visit: Visit) -> None:
    page = visit.page
    visit.sample(ROWS)
    assert page.locator("[data-column=income].sensitive code").inner_text() == "distinct-l(3, income)"
    visit.step("goals")
    model = page.locator("[data-model=distinct-l]")
    promised = page.locator(".promised")
    promised.get_by_text("distinct-l(3, income)").wait_for()
    model.get_by_label("Different values, at least").last.fill("4")
    model.get_by_label("Different values, at least").last.press("Enter")
    promised.get_by_text("distinct-l(4, diagnosis)").wait_for()
    visit.click("Remove this promise about income")
    page.get_by_text("Nothing is promised about income, which you want to protect.").wait_for()
    assert promised.get_by_text("distinct-l(4, diagnosis)").count() == 1
    visit.click("Also for income")
    promised.get_by_text("distinct-l(3, income)").wait_for()
    page.get_by_role("switch", name="No group gives itself away").uncheck()
    page.get_by_text("Nothing is promised about income and diagnosis, which you want to protect.").wait_for()
    for _ in range(2):
        page.keyboard.press("Control+z")
    promised.get_by_text("distinct-l(4, diagnosis)").wait_for()
    page.get_by_label("An empty cell of a protected column is").select_option("value")
    page.get_by_text("An empty cell counts as one of the different values of a group.").wait_for()


def test_edit_a_hierarchy(visit: Visit, tmp_path: Path) -> None:
    page = visit.page
    visit.sample(ROWS)
    visit.step("hierarchies", "?column=education")
    tree = page.get_by_role("tree", name="Tree of education")
    tree.wait_for()

    def under(group: str) -> list[str]:
        found = visit.fetch(f"api/projects/{visit.project}/hierarchy?column=education")["tree"]["children"]
        return next(([child["name"] for child in node["children"]] for node in found if node["name"] == group), [])

    def item(name: str) -> Any:
        return tree.get_by_role("treeitem", name=re.compile(f"^{re.escape(name)},"))

    def wait(message: str) -> None:
        page.get_by_text(message).first.wait_for()

    # By dragging.
    item("Vocational").drag_to(item("Higher"))
    wait("Moved into Higher.")
    assert "Vocational" in under("Higher")
    # By keys alone: walk to it, choose it, move it back.
    item("Vocational").press(" ")
    item("Vocational").press("m")
    page.get_by_label("Into").select_option(label="Secondary")
    page.get_by_role("dialog").get_by_role("button", name="Move").click()
    wait("Moved into Secondary.")
    assert "Vocational" in under("Secondary")
    # Undo and redo, also by keys.
    page.keyboard.press("Control+z")
    page.get_by_role("button", name=re.compile("^Redo")).wait_for()
    page.locator("button[aria-label^='Redo']:not([disabled])").wait_for()
    assert "Vocational" in under("Higher")
    page.keyboard.press("Control+Shift+z")
    page.locator("button[aria-label='Redo'][disabled]").wait_for()
    assert "Vocational" in under("Secondary")
    # Rename, group, merge, add a level, take it out.
    item("Basic").press("F2")
    page.get_by_role("textbox", name="Name").fill("School")
    page.get_by_role("dialog").get_by_role("button", name="Rename").click()
    wait("Renamed to School.")
    item("Bachelor").click()
    item("Master").click(modifiers=["Control"])
    visit.click("Group")
    page.get_by_role("textbox", name="Name").fill("University")
    page.get_by_role("dialog").get_by_role("button", name="Group").click()
    wait("University is now a group.")
    # The new group stands inside the one its members are in, is open and has the focus; nothing else collapsed.
    assert set(under("Higher")) == {"University", "Doctorate"}
    item("Bachelor").wait_for()
    item("Primary school").wait_for()
    page.locator("[role=treeitem][data-id='University']:focus").wait_for()
    item("University").drag_to(item("everything (*)"))
    wait("Taken out of all groups.")
    item("University").click()
    item("Higher").click(modifiers=["Control"])
    visit.click("Merge")
    page.get_by_role("textbox", name="Name").fill("High")
    page.get_by_role("dialog").get_by_role("button", name="Merge").click()
    wait("Merged into High.")
    assert set(under("High")) == {"University", "Doctorate"}
    visit.click("Remove level 1")
    wait("The level was removed.")
    assert set(under("High")) == {"Bachelor", "Master", "Doctorate"}
    visit.click("Insert a level above level 1")
    page.get_by_text("Level 2", exact=True).wait_for()
    visit.click("Remove level 2")
    page.get_by_text("Level 2", exact=True).wait_for(state="detached")
    # By typing into the table.
    visit.click("Table", "radio")
    cell = page.get_by_role("textbox", name="Level 1 of Doctorate")
    cell.fill("Highest")
    cell.press("Enter")
    wait("Renamed to Highest.")
    # Export, import again, and a rule that does not fit is reported at once.
    with page.expect_download() as waiting:
        page.get_by_role("link", name="Export").click()
    exported = tmp_path / "education.csv"
    waiting.value.save_as(exported)
    assert "Doctorate;Highest;*" in exported.read_text()
    exported.write_text(exported.read_text().replace("Highest", "Top"))
    with page.expect_file_chooser() as chooser:
        visit.click("Import")
    chooser.value.set_files(exported)
    wait("The tree was imported.")
    assert set(under("Top")) == {"Bachelor", "Master", "Doctorate"}
    visit.expected.append("422")
    page.get_by_label("Rule").select_option("ordered")
    page.get_by_label("From low to high").fill("[Primary school, Bachelor]")
    visit.click("Apply")
    page.locator(".toast, .chip.bad").first.wait_for()


def test_entries_selected_while_an_edit_is_reloaded_stay_selected(visit: Visit) -> None:
    page = visit.page
    visit.sample(ROWS)
    visit.step("hierarchies", "?column=education")
    tree = page.get_by_role("tree", name="Tree of education")
    tree.wait_for()

    def item(name: str) -> Any:
        return tree.get_by_role("treeitem", name=re.compile(f"^{re.escape(name)},"))

    def late(route: Any) -> None:
        page.wait_for_timeout(600)
        route.continue_()

    page.route(re.compile(f"/api/projects/{visit.project}$"), late)
    item("Basic").press("F2")
    page.get_by_role("textbox", name="Name").fill("School")
    page.get_by_role("dialog").get_by_role("button", name="Rename").click()
    page.get_by_text("Renamed to School.").first.wait_for()
    with page.expect_response(re.compile("/hierarchy[?]column=education")):
        item("Bachelor").click()
        item("Master").click(modifiers=["Control"])
    tree.locator("[aria-selected=true]").nth(1).wait_for()
    assert tree.locator("[aria-selected=true]").count() == 2
    # What undo takes away is no longer selected; what stays, stays selected.
    visit.click("Group")
    page.get_by_role("textbox", name="Name").fill("University")
    page.get_by_role("dialog").get_by_role("button", name="Group").click()
    page.get_by_text("University is now a group.").wait_for()
    item("University").click()
    item("Doctorate").click(modifiers=["Control"])
    with page.expect_response(re.compile("/hierarchy[?]column=education")):
        page.keyboard.press("Control+z")
    item("University").wait_for(state="detached")
    tree.locator("[aria-selected=true]").nth(1).wait_for(state="detached")
    assert tree.locator("[aria-selected=true]").count() == 1


def test_files_of_ones_own(visit: Visit, tmp_path: Path) -> None:
    page = visit.page
    own = tmp_path / "patients <b>.csv"
    own.write_text("name,age,illness\n" + "".join(f"=P{n},{20 + n % 40},<i>{n % 3}</i>\n" for n in range(200)))
    page.locator("input[type=file]").set_input_files(own)
    page.wait_for_url("**/#/p/*/data")
    page.get_by_text("<i>0</i>").first.wait_for()  # values are text, never markup
    assert page.locator("main i i").count() == 0
    visit.click("Show age")
    page.get_by_role("dialog").get_by_role("img", name="Distribution of age").wait_for()
    page.keyboard.press("Escape")
    page.get_by_role("dialog").wait_for(state="detached")
    bad = tmp_path / "bad.csv"
    bad.write_bytes(b"a,b\n1,\0\n")
    visit.go("#/")
    visit.expected.append("422")
    page.locator("input[type=file]").set_input_files(bad)
    assert len(page.get_by_role("alert").inner_text()) > 10
    page.get_by_role("button", name=re.compile("^Erase patients")).click()
    page.get_by_role("dialog").get_by_role("button", name="Erase").click()
    page.get_by_role("button", name=re.compile("^Erase patients")).wait_for(state="detached")


def test_phone_dark_and_wide(served: ServedStudio, browser: Any) -> None:
    phone = {"viewport": {"width": 360, "height": 740}, "color_scheme": "dark", "has_touch": True}
    with visiting(served, browser, **phone) as visit:
        page = visit.page
        visit.sample(ROWS)
        for width in (360, 768, 2000):
            page.set_viewport_size({"width": width, "height": 800})
            for step in ("data", "hierarchies", "goals", "run"):
                visit.step(step)
                page.locator(".ghost").first.wait_for(state="detached")
                assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (step, width)
                clipped = (
                    "[...document.querySelectorAll('.segments button')].filter(b => b.scrollWidth > b.clientWidth)"
                )
                assert page.evaluate(f"{clipped}.length") == 0, (step, width)
        dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
        visit.click("System colours; switch to light")
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") != dark
        page.reload()
        page.get_by_role("heading", level=1).wait_for()
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") != dark


def test_everything_has_a_name(visit: Visit) -> None:
    """Every control has a name for screen readers and can be reached by the Tab key."""
    page = visit.page
    visit.sample(ROWS)
    for step in ("data", "hierarchies", "goals", "run"):
        visit.step(step)
        page.locator(".ghost").first.wait_for(state="detached")
        unnamed = page.evaluate(
            """() => [...document.querySelectorAll("button, a[href], input, select, textarea, [role=img], [role=tree]")]
            .filter((node) => node.offsetParent !== null || node.closest("svg"))
            .filter((node) => !(node.ariaLabel || node.getAttribute("aria-labelledby") || node.textContent.trim()
              || (node.labels && [...node.labels].some((label) => label.textContent.trim()))))
            .map((node) => node.outerHTML.slice(0, 120))"""
        )
        assert unnamed == [], step
        assert page.locator("h1").count() == 1
    page.keyboard.press("Tab")
    visit.step("data")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement !== document.body")
    assert json.loads(page.evaluate("JSON.stringify(document.title)")).startswith("Data")
