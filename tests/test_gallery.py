"""The notebooks of the gallery run from top to bottom, and the pictures are drawn from what they find."""

from __future__ import annotations

import json
import re
import runpy
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))
PAGE = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
NAMES = runpy.run_path(str(ROOT / "docs" / "gallery" / "pictures.py"))


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook(notebook: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shown: list[Any] = []
    names = NAMES["run"](notebook, shown.append)
    for each in shown:
        assert getattr(each, "_repr_html_", each.__repr__)()
    drawn = NAMES["picture"](notebook.stem, names)
    ElementTree.fromstring(drawn)
    picture = ROOT / "docs" / "gallery" / f"{notebook.stem}.svg"
    assert picture.read_text(encoding="utf-8") == drawn, "run python docs/gallery/pictures.py"


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_are_short_and_hold_no_data(notebook: Path) -> None:
    content = json.loads(notebook.read_text(encoding="utf-8"))
    assert content["nbformat"] == 4
    assert len(content["cells"]) <= 12
    assert len({cell["id"] for cell in content["cells"]}) == len(content["cells"])
    for cell in content["cells"]:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None
        assert set(cell["metadata"]) == set()


def test_the_page_shows_every_notebook() -> None:
    linked = re.findall(r"\]\(\.\./examples/notebooks/([\w-]+)\.ipynb\)", PAGE)
    pictured = re.findall(r"\]\(gallery/([\w-]+)\.svg\)", PAGE)
    assert sorted(linked) == sorted(pictured) == sorted(NAMES["PICTURES"]) == [path.stem for path in NOTEBOOKS]
