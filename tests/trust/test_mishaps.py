"""The quick mishaps, each in its own process; ``make faults`` runs all of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from mishaps import MISHAPS, QUICK, Skip


@pytest.mark.deep
@pytest.mark.parametrize("name", QUICK)
def test_mishap(name: str, tmp_path: Path) -> None:
    try:
        MISHAPS[name](tmp_path)
    except Skip as reason:
        pytest.skip(str(reason))
