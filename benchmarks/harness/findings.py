"""What a paper says and what was seen here."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["BEYOND", "Finding", "print_findings"]

BEYOND = "beyond the paper"
"""The place of a statement that is ours and not the paper's."""

_WIDTH = 110
_VERDICTS = {True: "HOLDS", False: "DOES NOT HOLD", None: "NOT LOOKED AT"}


@dataclass(frozen=True)
class Finding:
    """A statement of a paper, the place it stands, and what was seen; ``holds`` is None if nothing was looked at."""

    place: str
    claim: str
    holds: bool | None
    seen: str

    @property
    def verdict(self) -> str:
        """Whether the statement holds, in a word."""
        return _VERDICTS[self.holds]


def print_findings(findings: Sequence[Finding]) -> None:
    """Print each statement with its verdict, and what was seen below it."""
    for finding in findings:
        claim = f"{finding.verdict}  {finding.place}: {finding.claim}"
        print("\n" + textwrap.fill(claim, _WIDTH, subsequent_indent="    "))
        print(textwrap.fill(finding.seen, _WIDTH, initial_indent="    ", subsequent_indent="    "))
