"""The report of :func:`discreet.evaluate.risk`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from discreet.counts import IntArray
from discreet.evaluate.risk.combinations import ColumnRisk
from discreet.evaluate.risk.disclosure import Disclosure
from discreet.evaluate.risk.identifying import IdentifierWarning
from discreet.evaluate.risk.individual import IndividualRisk
from discreet.evaluate.risk.log_linear import LogLinearRisk
from discreet.evaluate.risk.population import PopulationFacts
from discreet.evaluate.risk.records import RecordRisk
from discreet.evaluate.risk.suda import SudaScores
from discreet.runtime.notebook_html import card, figures, findings, folded, note_list, table
from discreet.runtime.plurals import amount, either, unit_amount, units

__all__ = ["RiskReport"]

_SHOWN = 5
_COLUMNS = ("columns", "distinction", "separation", "unique")


@dataclass(frozen=True, eq=False, repr=False)
class RiskReport:
    """How likely people are found in a table, and what it reveals about them. Made by :func:`risk`."""

    quasi_identifiers: tuple[str, ...]
    rows: int
    classes: int
    threshold: float
    prosecutor: RecordRisk
    journalist: RecordRisk | None
    """None without a population."""
    marketer: float
    """The share of records that are found on average: in the population, or without one in the table itself."""
    before: RecordRisk | None
    """The prosecutor risk of the original table, if that was given."""
    uniques: int
    """The rows that are alone in their class."""
    sizes: pl.DataFrame
    """The distribution of class sizes: ``classes``, ``rows`` and the ``share`` of all rows for each ``size``. Where
    people are counted, ``rows`` are people, each in the smallest of their classes."""
    population: PopulationFacts | None
    individual: IndividualRisk | None
    """Frequency counts in the data and in the population, and the expected re-identifications; None without a
    population."""
    log_linear: LogLinearRisk | None
    """What a log-linear model expects of the unique rows; None without a population."""
    columns: ColumnRisk
    """Which columns, and combinations of them, make people unique."""
    suda: SudaScores
    """How special the unique rows are, and how much each column contributes to that."""
    disclosure: Mapping[str, Disclosure]
    """What the classes give away, for each sensitive column."""
    warnings: tuple[IdentifierWarning, ...]
    """Columns that may be direct identifiers."""
    original_rows: int | None = None
    """The rows of the original table it was compared with; None without one."""
    notes: tuple[str, ...] = ()
    """What was assumed."""
    people: int | None = None
    """The number of people, if those are counted: risks, uniques and class sizes are then of people."""
    household: RecordRisk | None = None
    """How likely at least one member of a household is found by the prosecutor, if households are known."""

    @property
    def histogram(self) -> tuple[IntArray, IntArray]:
        """The class sizes that occur and the number of classes of each, as estimators of uniqueness take them."""
        return self.sizes["size"].to_numpy(), self.sizes["classes"].to_numpy()

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data, ready for JSON, without any value of the data."""
        return {
            "quasi_identifiers": list(self.quasi_identifiers),
            "rows": self.rows,
            **({} if self.people is None else {"people": self.people}),
            "classes": self.classes,
            "uniques": self.uniques,
            "threshold": self.threshold,
            "prosecutor": self.prosecutor.to_dict(),
            "journalist": None if self.journalist is None else self.journalist.to_dict(),
            "marketer": self.marketer,
            "before": None if self.before is None else self.before.to_dict(),
            **({} if self.household is None else {"household": self.household.to_dict()}),
            "sizes": self.sizes.to_dicts(),
            "population": None if self.population is None else self.population.to_dict(),
            "individual": None if self.individual is None else self.individual.to_dict(),
            "log_linear": None if self.log_linear is None else self.log_linear.to_dict(),
            "columns": self.columns.to_dict(),
            "suda": self.suda.to_dict(),
            "disclosure": {column: measured.to_dict() for column, measured in self.disclosure.items()},
            "warnings": [warning.to_dict() for warning in self.warnings],
            "notes": list(self.notes),
        }

    def to_frame(self) -> pl.DataFrame:
        """Return the risk of records as a table, with a row for each attacker."""
        attackers = {
            "prosecutor": self.prosecutor,
            "journalist": self.journalist,
            "prosecutor before": self.before,
            "prosecutor of households": self.household,
        }
        lines = [{"attacker": name, **found.to_dict()} for name, found in attackers.items() if found is not None]
        return pl.DataFrame(lines, orient="row")

    def summary(self) -> str:
        """Return the main figures as a block of text."""
        lines = [
            f"{self._counts} in {amount(self.classes, 'class', 'classes')}; "
            f"{unit_amount(self.uniques, self._unit)} ({self.uniques / (self.people or self.rows):.1%}) "
            f"{either(self.uniques, 'is', 'are')} unique.",
            "",
            f"{self._whose:<18}{'highest':>9}{'average':>9}{'lowest':>9}   above {self.threshold:g}",
            _risk_line("prosecutor", self.prosecutor, self._unit),
        ]
        if self.before is not None:
            lines.append(_risk_line("  before", self.before, self._unit))
        if self.household is not None:
            lines.append(_risk_line("  any of a house", self.household, "household"))
        if self.journalist is not None:
            lines.append(_risk_line("journalist", self.journalist, self._unit))
        lines += [f"{'marketer':<18}{'':>9}{self.marketer:>9.2%}", *self._about_population(), *self._about_columns()]
        lines += [*self._about_special_uniques(), *self._about_sensitive(), *self._about_identifiers()]
        lines += ["", *self.notes] if self.notes else []
        return "\n".join(line.rstrip() for line in lines)

    @property
    def _unit(self) -> str:
        return "row" if self.people is None else "person"

    @property
    def _counts(self) -> str:
        rows = amount(self.rows, "row")
        return rows if self.people is None else f"{rows} of {unit_amount(self.people, 'person')}"

    @property
    def _whose(self) -> str:
        return "Risk of a record" if self.people is None else "Risk of a person"

    def _about_population(self) -> list[str]:
        if self.population is None:
            return []
        people, estimated = self.population, self.population.estimated
        models = {"Pitman": estimated.pitman, "Zayatz": estimated.zayatz, "SNB": estimated.snb}
        estimates = ", ".join(f"{name} {_count(number)}" for name, number in models.items())
        lines = ["", f"The rows are {people.fraction:.2%} of a population of {people.size:,}."]
        if people.uniques is not None:
            lines.append(
                f"{amount(people.uniques, 'of the unique rows', 'of the unique rows')} "
                f"{either(people.uniques, 'is', 'are')} unique in the population too."
            )
        if people.outside:
            lines.append(
                f"The population has too few people for {amount(people.outside, 'row')}; their risk is that of the "
                "data alone."
            )
        if self.individual is not None:
            found = self.individual
            lines.append(
                f"Expected re-identifications: {found.expected:.4g} ({found.share:.2%} of the rows), "
                f"{found.expected_uniques:.4g} of them of unique rows."
            )
        if self.log_linear is not None:
            expected = self.log_linear
            lines.append(
                f"By a log-linear model with main effects, {expected.uniques:.4g} of the unique rows are unique in the "
                f"population too, and {expected.matches:.4g} are re-identified."
            )
        by = f" (Dankar et al., choosing {estimated.chosen})" if estimated.chosen else ""
        lines.append(f"Estimated unique people in the population: {_count(estimated.dankar)}{by}; {estimates}.")
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

    def _about_special_uniques(self) -> list[str]:
        sentences, columns = self._suda_sentences(), self.suda.columns.head(_SHOWN)
        if not sentences:
            return []
        wide = max([24, *columns["column"].str.len_chars().to_list()])
        lines = [
            f"{name:<{wide}}  {contribution:>12.1%}  {msus:>15,}" for name, msus, contribution in columns.iter_rows()
        ]
        return ["", *sentences, "", f"{'Column':<{wide}}  contribution  minimal uniques", *lines]

    def _suda_sentences(self) -> list[str]:
        """Say how many rows are unique on few columns, and how likely a match is right; nothing if no row is."""
        found = self.suda
        if not found.rows:
            return []
        columns = f"{amount(found.largest, 'column')}{' or fewer' if found.largest > 1 else ''}"
        first = (
            f"Minimal sample uniques (SUDA): {amount(found.rows, 'row')} {either(found.rows, 'is', 'are')} unique on "
            f"{columns}; the highest score is {found.highest:,.0f}, the average {found.average:,.1f}."
        )
        if found.dis is None:
            return [first]
        most = "" if found.dis_highest is None else f", and with the row most at risk {found.dis_highest:.2%}"
        return [first, f"A match with one row alone is right with a probability of {found.dis:.2%} (DIS){most}."]

    def _about_sensitive(self) -> list[str]:
        lines = []
        for column, measured in self.disclosure.items():
            enhanced = "" if math.isfinite(measured.enhanced_beta) else "; enhanced β-likeness holds for no β"
            lines += [
                "",
                f"Sensitive column '{column}'",
                f"  confidence     {measured.confidence:.1%} at most, {measured.average_confidence:.1%} on average",
                f"  diversity      distinct l {_number(measured.distinct_l)}, entropy l {_number(measured.entropy_l)}, "
                f"recursive c {_number(measured.recursive_c2)} (l=2), {_number(measured.recursive_c3)} (l=3)",
                f"  t-closeness    {_number(measured.t_equal)} (equal), {_number(measured.t_ordered)} (ordered)"
                + ("" if measured.t_hierarchical is None else f", {_number(measured.t_hierarchical)} (hierarchical)"),
                f"  β-likeness     {_number(measured.beta)}{enhanced}",
                f"  δ-disclosure   {_number(measured.delta)}",
            ]
            if measured.hidden is not None:
                lines += [f"  hidden values  {line}" for line in measured.hidden.lines()]
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

    def _repr_html_(self) -> str:
        attackers = [
            [name, *(f"{risk:.2%}" for risk in (found.highest, found.average, found.lowest)), f"{found.at_risk:,}"]
            for name, found in (
                ("prosecutor", self.prosecutor),
                ("before", self.before),
                ("any of a household", self.household),
                ("journalist", self.journalist),
            )
            if found is not None
        ]
        head = ("attacker", "highest", "average", "lowest", f"{units(self._unit)} above {self.threshold:g}")
        columns = [
            [name, f"{distinction:.2%}", f"{separation:.2%}", f"{unique:,}"]
            for name, distinction, separation, unique in self.columns.combinations.select(_COLUMNS).iter_rows()
        ]
        disclosed = [
            [column, f"{each.confidence:.1%}", f"{each.average_confidence:.1%}", _number(each.distinct_l)]
            for column, each in self.disclosure.items()
        ]
        return card(
            "How likely people are found",
            findings(("caution", warning.message) for warning in self.warnings),
            figures(
                [
                    ("Highest risk", f"{self.prosecutor.highest:.1%}", "of being found, for the person most at risk"),
                    ("Average risk", f"{self.prosecutor.average:.2%}", f"over {self._counts}"),
                    (
                        f"Unique {units(self._unit)}",
                        f"{self.uniques:,}",
                        f"{self.uniques / (self.people or self.rows):.1%} of all {units(self._unit)}",
                    ),
                    ("Classes", f"{self.classes:,}", f"groups of {units(self._unit)} that look the same"),
                ]
            ),
            table(self._whose, head, attackers),
            note_list(self._about_population()[1:]),
            table("Sensitive columns", ("column", "surest guess", "on average", "distinct l"), disclosed)
            if disclosed
            else "",
            self._suda_html() if self.suda.rows else "",
            folded(
                "Columns that make people unique",
                table("", ("columns", "distinction", "separation", "unique rows"), columns),
            ),
            note_list(self.notes),
        )

    def _suda_html(self) -> str:
        columns = [
            [name, f"{contribution:.1%}", f"{msus:,}"] for name, msus, contribution in self.suda.columns.iter_rows()
        ]
        return folded(
            "Rows that are unique on few columns (SUDA)",
            note_list(self._suda_sentences()),
            table("", ("column", "contribution", "minimal uniques"), columns),
        )


def _risk_line(name: str, found: RecordRisk, unit: str) -> str:
    return (
        f"{name:<18}{found.highest:>9.2%}{found.average:>9.2%}{found.lowest:>9.2%}   "
        f"{unit_amount(found.at_risk, unit)} ({found.share_at_risk:.1%})"
    )


def _number(value: float) -> str:
    return "none" if math.isinf(value) else f"{value:.4g}"


def _count(value: float | None) -> str:
    return "no fit" if value is None else f"{value:,.0f}"
