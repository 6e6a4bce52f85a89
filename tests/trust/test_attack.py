"""A few seeds of every attack of ``make attack``."""

from pathlib import Path

import pytest

from attack.base import attacks
from depth import every


@pytest.mark.parametrize("seed", every(3, range(3)))
@pytest.mark.parametrize("name", sorted(attacks()))
def test_attack_fails(name: str, seed: int, tmp_path: Path) -> None:
    outcomes = list(attacks()[name](seed, tmp_path))
    assert outcomes, "the attack tried nothing"
    assert [outcome for outcome in outcomes if not outcome.held] == []
