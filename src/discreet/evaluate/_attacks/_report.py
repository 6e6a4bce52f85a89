"""The report of :func:`discreet.evaluate.attacks`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from discreet.evaluate._attacks._homogeneity import Homogeneity
from discreet.evaluate._attacks._linkage import Linkage
from discreet.evaluate._attacks._minimality import Minimality

if TYPE_CHECKING:
    from discreet.release._sections import Section

__all__ = ["AttackReport"]


@dataclass(frozen=True, eq=False, repr=False)
class AttackReport:
    """How attacks on a release went, each against the naive guess. Made by :func:`attacks`."""

    linkage: Linkage
    homogeneity: Mapping[str, Homogeneity]
    """For each sensitive column."""
    minimality: Mapping[str, tuple[Minimality, ...]]
    """For each sensitive column, what asking why each generalized column is not finer tells about it."""
    notes: tuple[str, ...]
    """Which attacks were not run, and why."""

    @property
    def original_rows(self) -> int:
        """The people who were attacked."""
        return self.linkage.records

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data, ready for JSON, without any value of the data."""
        return {
            "linkage": asdict(self.linkage),
            "homogeneity": {column: asdict(found) for column, found in self.homogeneity.items()},
            "minimality": {column: [asdict(one) for one in found] for column, found in self.minimality.items()},
            "notes": list(self.notes),
        }

    def to_frame(self) -> pl.DataFrame:
        """Return a row for each attack: what was guessed, and how often that and the naive guess are right."""
        link = self.linkage
        lines = [("linkage", "row", link.success, link.naive)]
        lines += [("linkage", column, right, link.naive_values[column]) for column, right in link.values.items()]
        lines += [("homogeneity", column, told.success, told.naive) for column, told in self.homogeneity.items()]
        for column, found in self.minimality.items():
            best = max(found, key=lambda one: one.credibility)
            lines.append((f"minimality ({best.attribute})", column, best.success, best.naive))
        return pl.DataFrame(lines, schema=["attack", "guessed", "success", "naive"], orient="row")

    def sections(self) -> list[Section]:
        """Return it as sections for the report of a release."""
        from discreet.evaluate._sections import attack_sections

        return attack_sections(self)

    def summary(self) -> str:
        """Return the main figures as a block of text."""
        frame = self.to_frame()
        wide = max(20, *frame["attack"].str.len_chars().to_list())
        width = max(12, *frame["guessed"].str.len_chars().to_list())
        lines = [f"{'Attack':<{wide}}  {'what is guessed':<{max(width, 15)}}  {'right':>8}  {'naive':>8}"]
        lines += [
            f"{attack:<{wide}}  {guessed:<{max(width, 15)}}  {success:>8.2%}  {naive:>8.2%}"
            for attack, guessed, success, naive in frame.iter_rows()
        ]
        link = self.linkage
        lines += [
            "",
            f"Of {link.records:,} people, {link.matched:.1%} match a released row and {link.singled_out:.1%} just one.",
        ]
        lines += [
            f"'{column}' is certain for {told.certain:.1%} of the released rows, at least 80 % sure for "
            f"{told.at_least_80:.1%}, at least 50 % for {told.at_least_50:.1%}."
            for column, told in self.homogeneity.items()
        ]
        for column, found in self.minimality.items():
            best = max(found, key=lambda one: one.credibility)
            lines.append(
                f"Minimality makes a value of '{column}' up to {best.credibility:.1%} credible, where its class alone "
                f"makes one {best.confidence:.1%}."
            )
        return "\n".join([*lines, *self.notes])

    def __repr__(self) -> str:
        return (
            f"AttackReport(records={self.linkage.records:,}, linkage={self.linkage.success:.4f}, "
            f"singled_out={self.linkage.singled_out:.4f})"
        )

    def __str__(self) -> str:
        return self.summary()
