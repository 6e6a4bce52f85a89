"""What must hold after every test of a release."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _nothing_left_behind(tmp_path: Path) -> Iterator[None]:
    """Whatever happens in a test, no unfinished file may stay."""
    yield
    assert not list(tmp_path.rglob(".*.part"))
