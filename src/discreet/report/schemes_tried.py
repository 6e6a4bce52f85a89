"""The schemes that ``scheme="best"`` tried, side by side: detail lost, risk and people left out.

All keep the same promises. What the others lose also depends on people that this release leaves out, so unless nobody
is, it is for the owner of the data.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.report.job_text import scheme_names
from discreet.report.numbers import number_text, percent
from discreet.report.small_counts import LeftOut, few

if TYPE_CHECKING:
    from discreet.pipeline.release import Release

__all__ = ["HEAD", "TriedScheme", "schemes_tried", "table_rows"]

HEAD = ("scheme", "detail lost", "average risk", "left out", "proof")


@dataclass(frozen=True)
class TriedScheme:
    """A scheme that was tried, and its best release, or why there is none."""

    name: str
    taken: bool
    loss: float | None = None
    risk: float | None = None
    left_out: str = ""
    left_out_share: float | None = None
    proof: str = ""
    reason: str = ""

    @property
    def risk_text(self) -> str:
        """The average risk, in words."""
        return f"1 in {number_text(round(1 / self.risk, 1))}" if self.risk else "none"


def schemes_tried(release: Release, *, exact: bool = False) -> list[TriedScheme]:
    """Return the schemes that were tried; empty if none were, or if that may not be handed over."""
    tried = release.stats.get("schemes")
    if not tried or (LeftOut.of(release).total and not exact):
        return []
    taken = scheme_names(release.job)
    found = []
    for each in tried:
        name, own = str(each["scheme"]), str(each["scheme"]) == taken
        if each["cost"] is None:
            found.append(TriedScheme(name, own, reason=str(each["reason"])))
            continue
        rows = each["suppressed"]
        proof = "optimal" if each["status"] == "optimal" else f"within {percent(each['gap'])}"
        found.append(
            TriedScheme(
                name,
                own,
                loss=each["normalized_cost"],
                risk=each["average_risk"],
                left_out=f"{rows:,}" if exact else few(rows),
                left_out_share=rows / max(each["rows"], 1),
                proof=proof,
            )
        )
    return found


def table_rows(tried: list[TriedScheme]) -> list[list[str]]:
    """Return a row for each scheme, with the columns of :data:`HEAD`."""
    return [
        [
            each.name + (" (taken)" if each.taken else ""),
            *(
                ["no release", "", "", each.reason]
                if each.loss is None
                else [percent(each.loss), each.risk_text, each.left_out, each.proof]
            ),
        ]
        for each in tried
    ]
