"""Charts of the studio, drawn by the server as in reports; finding people; data protection pages."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import polars as pl
import pytest

import discreet
from discreet.report.charts.svg import PATTERNS, text_width
from discreet.studio._charts import _bar_name

STATIC = Path(discreet.__file__).parent / "studio" / "static"
PEOPLE = pl.DataFrame(
    {
        "name": [f"Person {n}" for n in range(300)],
        "age": [18 + 7 * n % 71 for n in range(300)],
        "born": [f"{1930 + 7 * n % 80}-0{1 + n % 9}-11" for n in range(300)],
        "sex": ["fm"[n // 3 % 2] for n in range(300)],
        "city": [["Leeds", "York", "Hull", "Kingston upon Thames"][n // 5 % 4] for n in range(300)],
        "note": ["fine" for n in range(300)],
        "diagnosis": [["Flu", "Cold", "Asthma", "None"][n // 2 % 4] for n in range(300)],
    }
)
ROLES = {
    **dict.fromkeys(("age", "born", "sex", "city"), "quasi-identifier"),
    "name": "identifier",
    "note": "insensitive",
    "diagnosis": "sensitive",
}
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def done(long_studio: tuple[Any, Any]) -> tuple[Any, str, str]:
    """A visitor, a project and a release of it that is done and evaluated."""
    visitor, _ = long_studio
    project = visitor.table(PEOPLE)["id"]
    assert visitor.patch(f"/projects/{project}", {"roles": ROLES}).status_code == 200
    goals = {"privacy": ["k(4)", "distinct-l(2, diagnosis)"], "suppression": "budget(10%)", "scheme": "subtree"}
    assert visitor.patch(f"/projects/{project}", {"goals": goals}).status_code == 200
    job = visitor.post(f"/projects/{project}/jobs", {"kind": "release"}).json()["id"]
    fields = visitor.wait(job)
    assert fields["state"] == "done", fields["message"]
    return visitor, project, job


def test_the_page_defines_the_patterns_of_charts() -> None:
    assert PATTERNS in (STATIC / "index.html").read_text(encoding="utf-8")


def test_the_page_draws_no_chart_of_its_own() -> None:
    for path in (STATIC / "charts.js", STATIC / "screens" / "risk.js", STATIC / "screens" / "run.js"):
        assert not re.search(r"<(?:rect|path|circle|line|polyline)\b", path.read_text(encoding="utf-8")), path.name


@pytest.mark.parametrize(
    ("label", "end", "name"),
    [
        ("5", "10", "5–9"),
        ("5", "6", "5"),
        ("-10", "0", "-10–-1"),
        ("0.5", "1", "0.5–1"),
        ("1980-01-01", "1985-01-01", "1980–1984"),
        ("1980-01-01", "1981-01-01", "1980"),
        ("1980-03-01", "1980-06-01", "1980-03–1980-05"),
        ("York", None, "York"),
    ],
)
def test_bins_say_which_values_they_hold(label: str, end: str | None, name: str) -> None:
    assert _bar_name({"label": label, **({} if end is None else {"to": end})}) == name


def labels_of(markup: str) -> list[tuple[float, float, float]]:
    """The left end, the right end and the baseline of each text of a drawing."""
    found = []
    for text in ElementTree.fromstring(markup).iter(f"{SVG}text"):
        wide = 0.9 * text_width(text.text or "", float(text.get("font-size", 13)))
        x, anchor = float(text.get("x", 0)), text.get("text-anchor", "start")
        left = {"start": x, "middle": x - wide / 2, "end": x - wide}[anchor]
        found.append((left, left + wide, float(text.get("y", 0))))
    return found


@pytest.mark.parametrize("width", [300, 340, 460, 900])
@pytest.mark.parametrize("name", ["sizes", "column", "trace"])
def test_labels_are_neither_clipped_nor_overprinted(done: tuple[Any, str, str], name: str, width: int) -> None:
    visitor, _, job = done
    for column in ("age", "born", "sex", "city"):
        drawn = visitor.get(f"/jobs/{job}/charts/{name}", width=width, column=column).json()
        for markup in [*re.findall(r"<svg.*?</svg>", drawn["svg"]), *([drawn["tree"]] if drawn.get("tree") else [])]:
            assert f'viewBox="0 0 {width} ' in markup
            labels = labels_of(markup)
            assert all(left >= -1 and right <= width + 1 for left, right, _ in labels), (name, column)
            for i, (left, right, y) in enumerate(labels):
                for other_left, other_right, other_y in labels[i + 1 :]:
                    assert abs(y - other_y) > 6 or right <= other_left + 2 or other_right <= left + 2, (name, column)


@pytest.mark.parametrize("width", [300, 460, 900])
def test_columns_of_the_table_are_drawn(done: tuple[Any, str, str], width: int) -> None:
    visitor, project, _ = done
    for column in PEOPLE.columns:
        drawn = visitor.get(f"/projects/{project}/chart", name=column, width=width).json()["svg"]
        labels = labels_of(drawn)
        assert all(left >= -1 and right <= width + 1 for left, right, _ in labels), column
    assert "1930–1934" in visitor.get(f"/projects/{project}/chart", name="born", width=1200).json()["svg"]


def test_charts_that_do_not_exist_are_refused(done: tuple[Any, str, str]) -> None:
    visitor, _, job = done
    assert visitor.get(f"/jobs/{job}/charts/pie").status_code == 422
    assert visitor.get(f"/jobs/{job}/charts/sizes", width="wide").status_code == 422
    assert visitor.get(f"/jobs/{job}/charts/column", column="no such").json()["svg"] == ""


def test_a_person_is_found_as_in_python(done: tuple[Any, str, str]) -> None:
    visitor, _, job = done
    found = visitor.post(f"/jobs/{job}/find", {"known": {"sex": "f"}, "width": 400}).json()
    assert found["before"] > 0
    assert found["after"] > 0
    assert found["known"] == {"sex": "f"}
    assert {each["column"] for each in found["learnt"]} == {"note", "diagnosis"}
    assert all(markup.startswith("<svg") for markup in found["charts"].values())
    for known in ({}, {"age": 3}, None, {"no such": "x"}, {"sex": "nobody"}):
        answer = visitor.post(f"/jobs/{job}/find", {"known": known})
        assert answer.status_code == 422


def test_data_protection_pages_are_downloads(done: tuple[Any, str, str]) -> None:
    visitor, _, job = done
    external = visitor.get(f"/jobs/{job}/files/protection-page.md", purpose="a study", recipient="Bonn")
    assert "**purpose**: a study" in external.text
    assert "trial attack" in external.text
    assert re.search(r"people-released.csv, SHA-256 [0-9a-f]{64}", external.text)
    assert "HMAC-SHA256" in external.text
    assert not Path("discreet.key").exists()  # the key is in the folder of the run
    assert "For the owner alone" not in external.text
    internal = visitor.get(f"/jobs/{job}/files/internal-page.html")
    assert "For the owner alone" in internal.text
    assert "internal-page.html" in internal.headers["content-disposition"]
