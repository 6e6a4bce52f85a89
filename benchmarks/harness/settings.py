"""What a run of the benchmarks may vary, and where things are."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

__all__ = ["BENCHMARKS", "Settings"]

BENCHMARKS = Path(__file__).parents[1]
_ROOT = BENCHMARKS.parent


@dataclass(frozen=True)
class Settings:
    """``quick`` measures fewer cases, fewer times; ``scratch`` is a folder that goes when the run ends."""

    quick: bool
    scratch: Path

    @property
    def repeat(self) -> int:
        """How often a short piece of work is measured."""
        return 3 if self.quick else 9

    @property
    def processes(self) -> int:
        """How often a whole process is measured."""
        return 2 if self.quick else 5

    @property
    def time_limit(self) -> float:
        """Seconds for a search that is not expected to end."""
        return 5.0 if self.quick else 60.0

    @property
    def data(self) -> Path:
        """The folder of public benchmark data; it may not be there."""
        return Path(os.environ.get("DISCREET_DATA", _ROOT.parent / "shared" / "data"))

    @property
    def kept(self) -> Path:
        """The folder of what is kept from run to run: virtualenvs and the history."""
        folder = _ROOT / ".bench"
        folder.mkdir(exist_ok=True)
        return folder
