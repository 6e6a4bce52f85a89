"""The report of :func:`discreet.evaluate.attacks`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import polars as pl

from discreet.evaluate.attacks.homogeneity import Homogeneity
from discreet.evaluate.attacks.linkage import Linkage
from discreet.evaluate.attacks.minimality import Minimality
from discreet.runtime.notebook_html import card, note_list, table

__all__ = ["AttackReport"]


@dataclass(frozen=True, eq=False, repr=False)
class AttackReport:
    """How successful attacks on a release are, compared with naive guesses. Made by :func:`attacks`."""

    linkage: Linkage
    homogeneity: Mapping[str, Homogeneity]
    """For each sensitive column."""
    minimality: Mapping[str, tuple[Minimality, ...]]
    """For each sensitive column, what is learned from each quasi-identifier that was not released finer."""
    notes: tuple[str, ...]
    """Which attacks were not run, and why."""

    @property
    def original_rows(self) -> int:
        """The number of people who were attacked."""
        return self.linkage.records

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data, ready for JSON, without any value of the data."""
        return {
            "linkage": asdict(self.linkage),
            "homogeneity": {column: asdict(found) for column, found in self.homogeneity.items()},
            "minimality": {column: [asdict(each) for each in found] for column, found in self.minimality.items()},
            "notes": list(self.notes),
        }

    def to_frame(self) -> pl.DataFrame:
        """Return a row for each attack: what is guessed, and how often that guess and the naive one are right."""
        link = self.linkage
        lines = [("linkage", "row", link.success, link.naive)]
        lines += [("linkage", column, right, link.naive_values[column]) for column, right in link.values.items()]
        lines += [("homogeneity", column, each.success, each.naive) for column, each in self.homogeneity.items()]
        for column, found in self.minimality.items():
            best = max(found, key=lambda each: each.credibility)
            lines.append((f"minimality ({best.attribute})", column, best.success, best.naive))
        return pl.DataFrame(lines, schema=["attack", "guessed", "success", "naive"], orient="row")

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
            f"Of {link.records:,} people, {link.matched:.1%} match a released row, {link.singled_out:.1%} exactly one.",
        ]
        lines += [
            f"'{column}' is certain for {each.certain:.1%} of the released rows, at least 80 % sure for "
            f"{each.at_least_80:.1%}, at least 50 % for {each.at_least_50:.1%}."
            for column, each in self.homogeneity.items()
        ]
        lines += [
            f"Hidden values of '{column}': {line}."
            for column, each in self.homogeneity.items()
            for line in ([] if each.hidden is None else each.hidden.lines())
        ]
        for column, found in self.minimality.items():
            best = max(found, key=lambda each: each.credibility)
            lines.append(
                f"With minimality an attacker is up to {best.credibility:.1%} sure of a value of '{column}', and up to "
                f"{best.confidence:.1%} from the class alone."
            )
        return "\n".join([*lines, *self.notes])

    def __repr__(self) -> str:
        return (
            f"AttackReport(records={self.linkage.records:,}, linkage={self.linkage.success:.4f}, "
            f"singled_out={self.linkage.singled_out:.4f})"
        )

    def __str__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        frame = self.to_frame()
        rows = [[_cell(value) for value in row] for row in frame.iter_rows()]
        text = [number for number, dtype in enumerate(frame.dtypes) if dtype == pl.String]
        sentences = self.summary().partition("\n\n")[2].splitlines()
        return card("How successful attacks are", table("", frame.columns, rows, text), note_list(sentences))


def _cell(value: object) -> str:
    """Return a cell of a table: shares of right guesses in percent."""
    return "–" if value is None else f"{value:.2%}" if isinstance(value, float) else str(value)
