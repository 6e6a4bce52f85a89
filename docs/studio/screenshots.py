"""Take the pictures of the studio in the guides and the README: every screen, light and dark, and on a phone.

Run it in a checkout with the extras ``dev`` and ``docs``, where Chromium, Chrome or Edge is installed:
``python docs/studio/screenshots.py``.
"""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1] / "tests"))

from PIL import Image  # noqa: E402

from studio.browser import Visit, running_browser, running_studio, visiting  # noqa: E402

ROWS = 20_000
COLOURS = 240
"""Enough for a page of few colours, and a third of the size."""
DESKTOP = {"width": 1280, "height": 860}
PHONE = {"width": 390, "height": 844}
REMOVED = ("city", "occupation", "children")
STEPS = (
    "data",
    "hierarchies",
    "goals",
    "run",
    "ways",
    "explore",
    "live",
    "columns",
    "rows",
    "risk",
    "utility",
    "release",
)
ON_PHONE = ("data", "goals", "explore", "risk")


def prepare(visit: Visit) -> str:
    """Create a project with two releases and a front; return the job of the release made from the front."""
    page = visit.page
    visit.sample(ROWS)
    for column in REMOVED:
        visit.role(column, "identifier")
    visit.role("income", "insensitive")
    visit.step("goals")
    page.get_by_text("distinct-l(3, diagnosis)").first.wait_for()
    page.get_by_text("Ready to run.").wait_for()
    visit.click("Show every trade-off")
    page.get_by_text("Every trade-off has been found.").wait_for()
    visit.click("Choose a trade-off")
    visit.click("Make this release")
    page.wait_for_url("**/run?job=*")
    page.get_by_text(re.compile("^Done")).wait_for()
    made = re.search(r"job=([^&]+)", page.url)
    assert made is not None
    visit.step("goals")
    page.get_by_text("Ready to run.").wait_for()
    visit.click("Find the best release")
    page.get_by_text(re.compile("^Done")).wait_for()
    visit.step("risk")
    page.get_by_role("heading", name="What was kept").wait_for()
    return made.group(1)


def show(visit: Visit, step: str, made: str) -> None:
    """Navigate to the screen of a picture; ``made`` is the release from the front, whose trees were cut."""
    page = visit.page
    if step == "start":
        visit.go("#/")
        page.get_by_role("button", name="Choose a file").wait_for()
        return
    address = {"columns": "explore", "rows": "explore", "live": "explore", "ways": "run", "utility": "risk"}.get(
        step, step
    )
    query = {
        "hierarchies": "?column=education",
        "columns": f"?column=education&job={made}",
        "rows": f"?job={made}",
    }.get(step, "")
    visit.step(address, query)
    page.locator(".ghost").first.wait_for(state="detached")
    heading = {
        "hierarchies": "From exact to nothing",
        "columns": "Column by column",
        "rows": "Row by row",
        "utility": "Utility",
        "ways": "Ways that were tried",
        "live": "Move the slider and watch",
    }.get(step)
    if step == "goals":
        page.get_by_text("Ready to run.").wait_for()
    if address == "risk":
        page.get_by_role("heading", name="Groups before and after").wait_for()
        page.get_by_role("heading", name="What was kept").wait_for()
    if heading is None:
        page.evaluate("scrollTo(0, 0)")
    else:
        target = page.get_by_role("heading", name=heading, exact=True)
        target.wait_for()
        target.evaluate("node => node.scrollIntoView()")
    page.wait_for_timeout(300)


def picture(page: Any) -> Image.Image:
    """Screenshot of the page."""
    return Image.open(io.BytesIO(page.screenshot())).convert("RGB")


def save(image: Image.Image, name: str) -> None:
    """Write a picture as a small PNG."""
    few = image.quantize(COLOURS, method=Image.Quantize.MAXCOVERAGE, kmeans=4, dither=Image.Dither.NONE)
    few.save(HERE / f"{name}.png", optimize=True)


def side_by_side(images: list[Image.Image], gap: int = 28) -> Image.Image:
    """Join screenshots of phones side by side."""
    width, height = images[0].size
    sheet = Image.new("RGB", (len(images) * (width + gap) - gap, height), "#8592a3")
    for number, image in enumerate(images):
        sheet.paste(image, (number * (width + gap), 0))
    return sheet


def main() -> None:
    """Take all pictures."""
    with running_browser() as browser, running_studio() as studio:
        options = {"viewport": DESKTOP, "color_scheme": "light"}
        with visiting(studio, browser, **options) as visit:
            made = prepare(visit)
            address = re.sub(r"/[a-z]+(\?.*)?$", "/data", visit.page.url)
            for look in ("light", "dark"):
                visit.page.emulate_media(color_scheme=look, reduced_motion="reduce")
                for step in ("start", *STEPS):
                    if step != "start":
                        visit.page.goto(address)
                    show(visit, step, made)
                    save(picture(visit.page), f"{step}-{look}")
            visit.page.set_viewport_size(PHONE)
            for look in ("light", "dark"):
                visit.page.emulate_media(color_scheme=look, reduced_motion="reduce")
                shown = []
                for step in ON_PHONE:
                    visit.page.goto(address)
                    show(visit, step, made)
                    shown.append(picture(visit.page))
                save(side_by_side(shown), f"phone-{look}")


if __name__ == "__main__":
    main()
