"""Some of the mishaps, each in a process of its own; ``make faults`` does all of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from mishaps import MISHAPS, QUICK, Skip


@pytest.mark.parametrize("name", QUICK)
def test_mishap(name: str, tmp_path: Path) -> None:
    try:
        MISHAPS[name](tmp_path)
    except Skip as why:
        pytest.skip(str(why))
