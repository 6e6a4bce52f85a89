"""The report of :func:`discreet.evaluate.risk`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from discreet._words import amount, either
from discreet.counts import IntArray
from discreet.evaluate._risk._combinations import ColumnRisk
from discreet.evaluate._risk._disclosure import Disclosure
from discreet.evaluate._risk._identifying import IdentifierWarning
from discreet.evaluate._risk._population import Population
from discreet.evaluate._risk._records import RecordRisk

if TYPE_CHECKING:
    from discreet.release._sections import Section

__all__ = ["RiskReport"]

_SHOWN = 5
_COLUMNS = ("columns", "distinction", "separation", "unique")


@dataclass(frozen=True, eq=False, repr=False)
class RiskReport:
    """How likely people are found in a table, and what it tells about them. Made by :func:`risk`."""

    quasi_identifiers: tuple[str, ...]
    rows: int
    classes: int
    threshold: float
    prosecutor: RecordRisk
    journalist: RecordRisk | None
    """Known with a population."""
    marketer: float
    """The share of records that are found on average: in the population, or without one in the table itself."""
    before: RecordRisk | None
    """The risk by the prosecutor that the original table had, where one was given."""
    uniques: int
    """The rows that no other row is like."""
    sizes: pl.DataFrame
    """The distribution of class sizes: for each size its ``classes``, its ``rows`` and their ``share`` of all."""
    population: Population | None
    columns: ColumnRisk
    """Which columns, and combinations of them, make people unique."""
    disclosure: Mapping[str, Disclosure]
    """For each sensitive column what the classes give away about it."""
    warnings: tuple[IdentifierWarning, ...]
    """The columns that may name people outright."""
    original_rows: int | None = None
    """The rows of the original table it was compared with; None without one."""

    @property
    def histogram(self) -> tuple[IntArray, IntArray]:
        """The class sizes that occur, and how many classes have each, as estimators of uniqueness want them."""
        return self.sizes["size"].to_numpy(), self.sizes["classes"].to_numpy()

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data, ready for JSON, without any value of the data."""
        return {
            "quasi_identifiers": list(self.quasi_identifiers),
            "rows": self.rows,
            "classes": self.classes,
            "uniques": self.uniques,
            "threshold": self.threshold,
            "prosecutor": self.prosecutor.to_dict(),
            "journalist": None if self.journalist is None else self.journalist.to_dict(),
            "marketer": self.marketer,
            "before": None if self.before is None else self.before.to_dict(),
            "sizes": self.sizes.to_dicts(),
            "population": None if self.population is None else self.population.to_dict(),
            "columns": self.columns.to_dict(),
            "disclosure": {column: told.to_dict() for column, told in self.disclosure.items()},
            "warnings": [warning.to_dict() for warning in self.warnings],
        }

    def to_frame(self) -> pl.DataFrame:
        """Return the risk of records as a table, with a row for each attacker."""
        attackers = {
            "prosecutor": self.prosecutor,
            "journalist": self.journalist,
            "prosecutor before": self.before,
        }
        lines = [{"attacker": name, **found.to_dict()} for name, found in attackers.items() if found is not None]
        return pl.DataFrame(lines, orient="row")

    def sections(self) -> list[Section]:
        """Return it as sections for the report of a release."""
        from discreet.evaluate._sections import risk_sections

        return risk_sections(self)

    def summary(self) -> str:
        """Return the main figures as a block of text."""
        lines = [
            f"{amount(self.rows, 'row')} in {amount(self.classes, 'class', 'classes')}; "
            f"{amount(self.uniques, 'row')} ({self.uniques / self.rows:.1%}) "
            f"{either(self.uniques, 'is', 'are')} unique.",
            "",
            f"{'Risk of a record':<18}{'highest':>9}{'average':>9}{'lowest':>9}   above {self.threshold:g}",
            _risk_line("prosecutor", self.prosecutor),
        ]
        if self.before is not None:
            lines.append(_risk_line("  before", self.before))
        if self.journalist is not None:
            lines.append(_risk_line("journalist", self.journalist))
        lines += [f"{'marketer':<18}{'':>9}{self.marketer:>9.2%}", *self._about_population(), *self._about_columns()]
        lines += [*self._about_sensitive(), *self._about_identifiers()]
        return "\n".join(line.rstrip() for line in lines)

    def _about_population(self) -> list[str]:
        if self.population is None:
            return []
        people, estimated = self.population, self.population.estimated
        models = {"Pitman": estimated.pitman, "Zayatz": estimated.zayatz, "SNB": estimated.snb}
        told = ", ".join(f"{name} {_count(found)}" for name, found in models.items())
        lines = ["", f"The rows are {people.fraction:.2%} of a population of {people.size:,}."]
        if people.uniques is not None:
            lines.append(f"Unique in the population, of the unique rows: {people.uniques:,}.")
        if people.outside:
            lines.append(
                f"The population lacks people of {amount(people.outside, 'row')}; their risk is that of the data alone."
            )
        by = f" by the rule of Dankar et al. ({estimated.chosen})" if estimated.chosen else ""
        lines.append(f"Estimated unique people in the population: {_count(estimated.dankar)}{by}; {told}.")
        return lines

    def _about_columns(self) -> list[str]:
        frame = self.columns.combinations
        lines = []
        for size in sorted(set(frame["size"])):
            some = frame.filter(pl.col("size") == size).head(_SHOWN)
            wide = max([24, *some["columns"].str.len_chars().to_list()])
            title = "Column" if size == 1 else f"{size} columns"
            lines += ["", f"{title:<{wide}}  distinction  separation  unique rows"]
            lines += [
                f"{name:<{wide}}  {distinction:>11.2%}  {separation:>10.2%}  {unique:>11,}"
                for name, distinction, separation, unique in some.select(_COLUMNS).iter_rows()
            ]
        if self.columns.keys:
            shown = "; ".join(", ".join(key) for key in self.columns.keys[:_SHOWN])
            lines += ["", f"Every row is unique on: {shown}."]
        return lines

    def _about_sensitive(self) -> list[str]:
        lines = []
        for column, told in self.disclosure.items():
            beta = _number(told.beta) if math.isfinite(told.enhanced_beta) else f"{_number(told.beta)} (enhanced: none)"
            lines += [
                "",
                f"Sensitive column '{column}'",
                f"  confidence     {told.confidence:.1%} at most, {told.average_confidence:.1%} on average",
                f"  diversity      distinct l {_number(told.distinct_l)}, entropy l {_number(told.entropy_l)}, "
                f"recursive c {_number(told.recursive_c2)} (l=2), {_number(told.recursive_c3)} (l=3)",
                f"  t-closeness    {_number(told.t_equal)} (equal), {_number(told.t_ordered)} (ordered)"
                + ("" if told.t_hierarchical is None else f", {_number(told.t_hierarchical)} (hierarchical)"),
                f"  likeness       β {beta}, δ-disclosure {_number(told.delta)}",
            ]
        return lines

    def _about_identifiers(self) -> list[str]:
        return ["", *(f"! {warning.message}" for warning in self.warnings)] if self.warnings else []

    def __repr__(self) -> str:
        return (
            f"RiskReport(rows={self.rows:,}, classes={self.classes:,}, highest={self.prosecutor.highest:.4f}, "
            f"average={self.prosecutor.average:.4f}, uniques={self.uniques:,})"
        )

    def __str__(self) -> str:
        return self.summary()


def _risk_line(name: str, found: RecordRisk) -> str:
    return (
        f"{name:<18}{found.highest:>9.2%}{found.average:>9.2%}{found.lowest:>9.2%}   "
        f"{amount(found.at_risk, 'row')} ({found.share_at_risk:.1%})"
    )


def _number(value: float) -> str:
    return "none" if math.isinf(value) else f"{value:.4g}"


def _count(value: float | None) -> str:
    return "no fit" if value is None else f"{value:,.0f}"
