"""In a real browser: how to read a table, values that are replaced, households, and hidden cells."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from studio.accessibility import misnamed, violations
from studio.browser import ServedStudio, Visit, visiting

pytestmark = pytest.mark.deep

VISITS = "patient;family;born;seen;size;sex;ward;ill\n" + "".join(
    f"P{n // 2:03};F{n // 6};{1 + n % 28:02}.0{1 + n % 9}.19{60 + n % 30};2026-0{1 + n % 9}-{1 + n % 28:02};"
    f"1{n % 10},5;{'fm'[n // 2 % 2]};{['Köln', 'NA', 'Ulm'][n // 2 % 3]};{['Flu', 'Cold', 'NA'][n % 3]}\n"
    for n in range(120)
)
LOOKS = {
    "light": {"color_scheme": "light"},
    "dark": {"color_scheme": "dark"},
    "phone": {"color_scheme": "light", "viewport": {"width": 390, "height": 800}},
}


def choose(visit: Visit, folder: Path) -> None:
    """Upload a table in another encoding, which is refused, and choose its encoding."""
    file = folder / "visits.csv"
    file.write_bytes(VISITS.encode("latin1"))
    visit.expected.append("422")
    page = visit.page
    visit.go("#/")
    with page.expect_file_chooser() as chooser:
        visit.click("Choose a file")
    chooser.value.set_files(file)
    page.get_by_role("alert").get_by_text("choose its encoding under “How to read the table”").wait_for()
    page.get_by_label("Encoding").select_option("latin1")
    page.get_by_label("Dates are written as").select_option("%d.%m.%Y")
    checked(page, "start")
    visit.click("Try visits.csv again")
    page.get_by_role("heading", name="What is in your table?").wait_for()
    page.get_by_role("cell", name="Köln").first.wait_for()


def checked(page: Any, where: str) -> None:
    """Fail if axe-core finds anything, or a control is named otherwise than it is seen."""
    page.wait_for_function("() => !document.querySelector('.ghost')")
    page.evaluate("() => scrollTo(0, 0)")  # so that no control is half behind a bar, where it would seem too small
    found = violations(page)
    assert found == [], (where, *found)
    assert misnamed(page) == [], where


def read_again(visit: Visit) -> None:
    """Read the table with decimal commas and NA as empty; what is wrong is said in the dialog."""
    page = visit.page
    visit.click("How to read the table")
    page.get_by_label("Dates are written as").select_option("other")
    page.get_by_label("Pattern of dates").fill("%d")
    visit.click("Read it like this")
    page.get_by_role("dialog").get_by_text("does not say where day, month and year are").wait_for()
    checked(page, "how to read")
    page.get_by_label("Pattern of dates").fill("%d.%m.%Y")
    page.get_by_label("Numbers have").select_option(",")
    visit.click("Read it like this")
    page.get_by_role("dialog").wait_for(state="detached")
    page.get_by_text("dates as in 31.12.2026").wait_for()
    page.get_by_role("cell", name="10.5").first.wait_for()
    page.get_by_text("80 cells are the text NA, in ward and ill.").wait_for()
    visit.click("Read NA as empty")
    page.locator("td .none").first.wait_for()
    page.get_by_text("NA is an empty cell").wait_for()


def replace_values(visit: Visit) -> None:
    """Say whose rows they are, in which households, and shift dates."""
    page = visit.page
    for column, role in {
        "patient": "person",
        "seen": "insensitive",
        "size": "identifier",
        "born": "identifier",
    }.items():
        visit.role(column, role)
    page.get_by_label("Their household is in").select_option("family")
    page.locator("[data-column='family'].household").wait_for()
    page.get_by_role("switch", name="Release pseudonyms instead of removing it").check()
    page.get_by_text("It is released as random codes, new ones in every release").wait_for()
    page.locator("[data-column='seen']").get_by_role("button", name="Shift its dates, or replace its values").click()
    page.get_by_label("Before anything else").select_option("shift_dates")
    page.get_by_label("At most so many days").fill("30")
    page.get_by_label("At most so many days").press("Enter")
    page.get_by_text("whoever knows one true date of a person knows all of them").wait_for()
    checked(page, "replace values")
    page.get_by_role("dialog").get_by_role("button", name="Close").last.click()
    page.get_by_text("Its dates are shifted by up to 30 days, alike for each patient.").wait_for()
    checked(page, "columns")


@pytest.mark.parametrize("look", LOOKS)
def test_reading_replacing_and_counting(look: str, served: ServedStudio, browser: Any, tmp_path: Path) -> None:
    with visiting(served, browser, **LOOKS[look]) as visit:
        choose(visit, tmp_path)
        read_again(visit)
        replace_values(visit)
        found = visit.fetch(f"api/projects/{visit.project}")
        assert {column["name"]: column["derive"] for column in found["columns"] if column["derive"]} == {
            "seen": "shift_dates(person=patient, days=30)"
        }
        assert found["pseudonyms"] is True
        assert found["reading"]["na"] == ["NA"]


def test_a_release_in_another_way(visit: Visit, tmp_path: Path) -> None:
    """The whole path: dates shifted, people counted, and the release says that dates are pseudonymous."""
    page = visit.page
    choose(visit, tmp_path)
    read_again(visit)
    replace_values(visit)
    for column, role in {"sex": "quasi-identifier", "ward": "quasi-identifier", "ill": "insensitive"}.items():
        visit.role(column, role)
    page.locator("[data-column='seen']").get_by_role("button", name="I have decided: release seen unchanged").click()
    page.get_by_text("Released unchanged, as you decided.").wait_for()
    visit.step("goals")
    page.get_by_text("Released as random pseudonyms: patient and family").wait_for()
    page.get_by_text("seen: Its dates are shifted by up to 30 days").wait_for()
    page.get_by_text("Anyone who looks for a person finds at least 5 households").wait_for()
    page.get_by_text("Ready to run.").wait_for()
    visit.click("Find the best release")
    page.get_by_text("They are pseudonymous and not anonymous").first.wait_for()
    visit.step("explore")
    page.get_by_text("Households released").wait_for()


def test_hidden_cells_and_the_weaker_promise(visit: Visit) -> None:
    """The weaker promise is explained, keeps the number of the slider, and goes when another scheme is chosen."""
    page = visit.page
    visit.sample(2000)
    for column in ("person_id", "name", "birth_date", "zip", "city", "occupation", "income", "diagnosis"):
        visit.role(column, "identifier")
    visit.step("goals")
    page.locator("[data-scheme='cells'] input").check()
    page.get_by_text("Every person is one of a group whose released values are all the same").wait_for()
    page.get_by_role("radio", name=re.compile("^equal to every value")).check()
    page.get_by_text("What is hidden may be inferred from rows that are not").wait_for()
    page.locator(".promised").get_by_text("k(5, unknown=matches)").wait_for()
    page.get_by_text("Ready to run.").wait_for()
    checked(page, "hidden cells")
    slider = page.get_by_role("slider", name="How many people look the same, at least")
    slider.focus()
    slider.press("ArrowLeft")
    page.locator(".promised").get_by_text("k(4, unknown=matches)").wait_for()
    page.get_by_text("Every row is matched by at least 4 rows").wait_for()
    with page.expect_response(lambda answer: "cells(most=3)" in (answer.request.post_data or "")):
        page.get_by_label("Hidden cells in a row, at most").select_option("3")
    goals = visit.fetch(f"api/projects/{visit.project}")["goals"]
    assert (goals["privacy"], goals["scheme"]) == (["k(4, unknown=matches)"], "cells(most=3)")
    visit.step("hierarchies")
    page.get_by_text("Trees are not used").wait_for()
    visit.step("goals")
    page.locator("[data-scheme='local'] input").check()
    page.locator(".promised").get_by_text("k(4)", exact=True).wait_for()


def test_ages_and_coded_ends_are_rules(visit: Visit) -> None:
    page = visit.page
    visit.sample(2000)
    visit.step("hierarchies", "?column=birth_date")
    rule = page.get_by_label("Rule")
    rule.wait_for()
    assert {"Ages", "Largest values as one", "Smallest values as one"} <= set(rule.locator("option").all_inner_texts())
    rule.select_option("top")
    assert page.get_by_label("Largest values as one", exact=True).input_value() == "2010-01-01"
    rule.select_option("age")
    page.get_by_label("Ages", exact=True).fill("5, 10, on=2026-01-01")
    visit.click("Apply")
    page.get_by_text("The tree was rebuilt.").wait_for()
    found = visit.fetch(f"api/projects/{visit.project}")
    assert found["hierarchies"]["birth_date"]["form"] == "age(5, 10, on=2026-01-01)"
