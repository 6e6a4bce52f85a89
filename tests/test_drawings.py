"""Drawings in the guides are what their scripts draw."""

from __future__ import annotations

import runpy
from pathlib import Path
from xml.etree import ElementTree

import pytest

SCRIPTS = sorted((Path(__file__).parents[1] / "docs" / "drawings").glob("*.py"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_drawing_is_up_to_date(script: Path) -> None:
    names = runpy.run_path(str(script))
    drawn = names["draw"]()
    ElementTree.fromstring(drawn)
    assert names["TARGET"].read_text(encoding="utf-8") == drawn, f"run python docs/drawings/{script.name}"
