"""The studio at work in a real browser: the default path, runs compared, two tabs, large tables and trees, by touch."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from studio.browser import ServedStudio, Visit, visiting

pytestmark = pytest.mark.deep


def upload(visit: Visit, folder: Path, columns: str, rows: list[str]) -> None:
    table = folder / "table.csv"
    table.write_text("\n".join([columns, *rows]))
    visit.go("#/")
    visit.page.locator("input[type=file]").set_input_files(table)
    visit.page.wait_for_url("**/#/p/*/data")
    visit.page.get_by_role("heading", name="What is in your table?").wait_for()


def some_people(visit: Visit, folder: Path) -> None:
    upload(
        visit,
        folder,
        "name,age,sex,illness",
        [f"Person {n},{20 + n * 7 % 50},{'fm'[n % 2]},{['flu', 'cold', 'gout'][n * 5 % 3]}" for n in range(300)],
    )
    for column, role in (("age", "quasi-identifier"), ("sex", "quasi-identifier"), ("illness", "sensitive")):
        visit.role(column, role)


def item(visit: Visit, name: str) -> Any:
    return visit.page.get_by_role("treeitem", name=re.compile(f"^{re.escape(name)},"))


def test_the_default_path_compares_the_ways_and_the_runs(visit: Visit, tmp_path: Path) -> None:
    page = visit.page
    some_people(visit, tmp_path)
    visit.step("goals")
    page.get_by_text("Ready to run.").wait_for()
    plan = page.locator(".plan")
    assert "Try all of them" in plan.inner_text()
    visit.click("Find the best release")
    rows = page.locator(".schemes-table tbody tr")
    page.get_by_text(re.compile("^Done")).wait_for()
    rows.nth(2).wait_for()
    assert [row.get_attribute("data-tried") for row in rows.all()] == ["full-domain", "subtree", "local"]
    assert page.locator(".schemes-table tr.taken").count() == 1
    page.locator("[data-verdict]").wait_for()

    # A priority and a limit are listed in the plan, and make the run out of date.
    visit.step("goals")
    page.get_by_label("How coarse age may become").select_option("2")
    slider = page.get_by_role("slider", name="How much sex matters")
    slider.focus()
    slider.press("ArrowRight")
    plan.get_by_text("sex matters more").wait_for()
    plan.get_by_text(re.compile("^age at most level 2")).wait_for()
    visit.step("release")
    changed = page.locator("[data-outdated]")
    changed.get_by_text("what matters most").wait_for()
    changed.get_by_role("button", name="Run again with the current settings").click()
    page.wait_for_url("**/run?job=*")
    page.get_by_text(re.compile("^Done")).wait_for()

    # Two runs with names that differ, side by side.
    compared = page.locator(".runs tbody tr")
    compared.nth(1).wait_for()
    names = [row.locator("th .link").inner_text() for row in compared.all()]
    assert len(set(names)) == 2
    page.get_by_role("button", name=f"Rename {names[0]}").click()
    page.get_by_role("textbox", name="Name").fill("For the council")
    visit.click("Save")
    page.locator(".runs").get_by_text("For the council").wait_for()
    page.locator(".picks").get_by_text("For the council").wait_for()


def test_a_slider_moves_table_and_risk(visit: Visit, tmp_path: Path) -> None:
    page = visit.page
    some_people(visit, tmp_path)
    visit.step("goals")
    page.get_by_text("Ready to run.").wait_for()
    visit.click("Show every trade-off")
    page.get_by_text("Every trade-off has been found.").wait_for()
    visit.click("Choose a trade-off")
    live = page.locator(".live")
    slider = live.get_by_role("slider")
    figure = live.locator(".k-figure")

    def press(key: str) -> None:
        before, at = figure.inner_text(), slider.input_value()
        slider.press(key)
        if slider.input_value() != at:  # the figure follows
            moved = "(before) => document.querySelector('.live .k-figure').innerText !== before"
            page.wait_for_function(moved, arg=before)

    slider.focus()
    press("Home")
    seen = set()
    for _ in range(4):
        seen.add((figure.inner_text(), live.locator(".live-figures").inner_text()))
        press("ArrowRight")
    assert len(seen) == 4
    visit.click(f"Try all ways with k = {live.locator('.k-figure').inner_text()}")
    page.get_by_text(re.compile("^Done")).wait_for()


def test_two_tabs(visit: Visit, tmp_path: Path) -> None:
    some_people(visit, tmp_path)
    visit.step("goals")
    visit.page.get_by_text("Ready to run.").wait_for()
    other = visit.page.context.new_page()
    other.goto(visit.page.url)
    other.get_by_text("Ready to run.").wait_for()
    slider = other.get_by_role("slider", name="How many people look the same, at least")
    slider.focus()
    slider.press("ArrowRight")
    # The first tab shows the change of the second before it can run it.
    visit.page.get_by_text("Anyone who looks for a person finds at least 6 rows").wait_for()
    # Where messages between tabs do not arrive, the server refuses to run what is not shown.
    version = visit.fetch(f"api/projects/{visit.project}")["version"]
    answer = visit.page.request.post(
        visit.studio.at(f"api/projects/{visit.project}/jobs"),
        data={"kind": "release", "version": version - 1},
        headers={"x-discreet": "studio", "origin": visit.studio.at("").rstrip("/")},
    )
    assert answer.status == 409
    other.close()


def test_many_columns(visit: Visit, tmp_path: Path) -> None:
    page = visit.page
    columns = [f"column_{n:03}" for n in range(300)]
    upload(visit, tmp_path, ",".join(columns), [",".join(str(row * n % 5) for n in range(300)) for row in range(60)])
    page.get_by_label("Search columns").fill("_01")
    page.locator("[data-column=column_020]").wait_for(state="detached")
    assert page.locator(".variable").count() == 10
    page.get_by_label("Select all 10 shown").check()
    page.get_by_role("toolbar").get_by_role("button", name="Make coarser").click()
    page.locator("[data-column=column_013].quasi-identifier").wait_for()
    page.get_by_label("Search columns").fill("")
    page.get_by_label("Show", exact=True).select_option("quasi-identifier")
    page.locator("[data-column=column_020]").wait_for(state="detached")

    def made_coarser(found: Any) -> int:
        return sum(column["role"] == "quasi-identifier" for column in found["columns"])

    visit.fetch_until(f"api/projects/{visit.project}", lambda found: made_coarser(found) == 10)
    assert page.locator(".variable").count() == 10
    page.locator("button[aria-label^='Undo: ']:not([disabled])").wait_for()
    page.keyboard.press("Control+z")
    page.get_by_text("No column matches.").wait_for()


def test_a_flat_tree_of_five_thousand_values(visit: Visit, tmp_path: Path) -> None:
    page = visit.page
    upload(visit, tmp_path, "town,ill", [f"Town {n % 5000:04} in the west,{'ab'[n % 2]}" for n in range(6000)])
    visit.role("town", "quasi-identifier")
    visit.step("hierarchies", "?column=town")
    page.get_by_label("Rule").select_option("flat")
    page.get_by_text("The tree was rebuilt.").wait_for()
    search = page.get_by_label("Search values and groups")
    for town in ("4711", "0815"):  # what is selected stays so while another search hides it
        search.fill(town)
        item(visit, f"Town {town} in the west").locator(".box").click()
    page.get_by_text("2 selected").wait_for()
    visit.click("Group")
    name = page.get_by_role("textbox", name="Name")
    assert name.input_value() == "Town 4711 in the west or Town 0815 in the west"
    name.fill("Far away")
    name.press("Enter")
    page.locator("[role=treeitem][data-id='Far away']:focus").wait_for()
    search.fill("")
    item(visit, "Town 0000 in the west").wait_for()
    assert item(visit, "Far away").get_attribute("aria-expanded") == "true"

    # A value dropped on a value makes a group of both; the tree stays as it was opened.
    item(visit, "Town 0002 in the west").drag_to(item(visit, "Town 0001 in the west"))
    name.fill("Near")
    name.press("Enter")
    page.locator("[role=treeitem][data-id='Near']:focus").wait_for()
    assert item(visit, "Far away").get_attribute("aria-expanded") == "true"

    # Undo in a toast undoes the edit it is about, whatever was done since.
    page.locator(".toast", has_text="Near is now a group.").wait_for()
    item(visit, "Town 0001 in the west").drag_to(item(visit, "everything (*)"))
    page.get_by_text("Taken out of all groups.").wait_for()
    page.keyboard.press("Control+z")
    page.locator("button[aria-label^='Redo']:not([disabled])").wait_for()
    page.locator(".toast", has_text="Near is now a group.").get_by_role("button", name="Undo").click()
    item(visit, "Near").wait_for(state="detached")
    item(visit, "Far away").wait_for()


def test_plain_labels_and_whole_words(visit: Visit, tmp_path: Path) -> None:
    some_people(visit, tmp_path)
    visit.step("hierarchies", "?column=age")
    item(visit, "20–39").wait_for()
    assert "[20, 40)" not in visit.page.locator(".treebox").inner_text()


def test_dragging_by_touch(served: ServedStudio, browser: Any, tmp_path: Path) -> None:
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    with visiting(served, browser, **phone) as visit:
        page = visit.page
        visit.sample(2000)
        visit.step("hierarchies", "?column=education")
        grip, target = item(visit, "Vocational").locator(".grip"), item(visit, "Higher")
        grip.scroll_into_view_if_needed()
        start, end = grip.bounding_box(), target.bounding_box()
        touch = page.context.new_cdp_session(page)

        def send(kind: str, box: dict[str, float] | None, share: float = 0.5) -> None:
            points = [] if box is None else [{"x": box["x"] + box["width"] * share, "y": box["y"] + box["height"] / 2}]
            touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

        send("touchStart", start)
        for _ in range(3):
            send("touchMove", end)
            page.wait_for_timeout(60)
        send("touchEnd", None)
        page.get_by_text("Moved into Higher.").first.wait_for()


def test_kept_columns_are_said_not_to_count(visit: Visit, tmp_path: Path) -> None:
    page = visit.page
    some_people(visit, tmp_path)
    visit.role("illness", "insensitive")
    visit.step("goals")
    page.locator(".plan").get_by_text("does not count columns that are released unchanged").wait_for()
    visit.click("Find the best release")
    page.get_by_text(re.compile("^Done")).wait_for()
    visit.step("risk")
    page.get_by_text("Columns that are released unchanged are not counted.").wait_for()
