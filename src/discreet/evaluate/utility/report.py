"""The report of :func:`discreet.evaluate.utility`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from discreet.errors import UsageError
from discreet.evaluate.utility.queries import QueryReport
from discreet.problem import COSTS
from discreet.runtime.notebook_html import card, figures, folded, note_list, table
from discreet.runtime.plurals import amount, either

__all__ = ["UtilityReport"]


@dataclass(frozen=True, eq=False, repr=False)
class UtilityReport:
    """The utility of a release: names of columns and figures, no values. Made by :func:`utility`."""

    rows: int
    """The rows of the original table."""
    released_rows: int
    suppressed_values: int
    """The number of suppressed values in columns other than quasi-identifiers."""
    linked: bool
    """Whether the original row of each released row is known."""
    unclear: tuple[str, ...]
    """Quasi-identifiers whose released values are ambiguous without their hierarchies."""
    costs: pl.DataFrame
    """A row for each ``cost`` that is defined: its ``total``, and ``normalized`` by that of suppressing all rows."""
    attributes: pl.DataFrame
    """A row for each ``column``: its number of ``values`` before and of ``released_values``; for quasi-identifiers the
    mean ``loss`` (LM) and ``certainty`` penalty (NCP) of a row; and how far its distribution moved:
    ``total_variation``, ``jensen_shannon`` divergence in bits and, for numbers and dates, the ``earth_movers`` distance
    relative to their range."""
    associations: pl.DataFrame
    """A row for every two columns and ``measure``: the association in the ``original`` and in the ``released`` table,
    and the ``difference``."""
    queries: QueryReport | None
    """How well the release answers random COUNT queries."""
    classifiers: pl.DataFrame | None
    """A row for each ``model``: ``accuracy`` and ``auc`` if trained on the release, ``original_accuracy`` and
    ``original_auc`` if trained on the original, and ``majority_accuracy`` of always guessing the most frequent
    label."""

    @property
    def original_rows(self) -> int:
        """The rows of the table it was compared with."""
        return self.rows

    @property
    def suppressed(self) -> int:
        """The number of suppressed rows."""
        return self.rows - self.released_rows

    @property
    def association_difference(self) -> float | None:
        """The mean difference of all associations; None if there is only one column."""
        mean = self.associations["difference"].mean()
        return mean if isinstance(mean, float) else None

    def cost(self, name: str, *, normalized: bool = False) -> float:
        """Return a cost by its text form or its name."""
        wanted = {name, COSTS.make(name).shown}
        for text, total, share in self.costs.iter_rows():
            if not wanted.isdisjoint({text, text.partition("(")[0]}):
                return float(share if normalized else total)
        raise UsageError(f"The report has no cost '{name}'; it has {', '.join(self.costs['cost'].to_list())}.")

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data, ready for JSON."""
        queries = self.queries
        return {
            "rows": self.rows,
            "released_rows": self.released_rows,
            "suppressed": self.suppressed,
            "suppressed_values": self.suppressed_values,
            "linked": self.linked,
            "unclear": list(self.unclear),
            "costs": self.costs.to_dicts(),
            "attributes": self.attributes.to_dicts(),
            "associations": self.associations.to_dicts(),
            "association_difference": self.association_difference,
            "queries": None
            if queries is None
            else {
                "aggregate": queries.aggregate,
                "count": queries.frame.height,
                "mean_error": queries.mean,
                "median_error": queries.median,
            },
            "classifiers": None if self.classifiers is None else self.classifiers.to_dicts(),
        }

    def to_frame(self) -> pl.DataFrame:
        """Return a row for each figure: the ``part`` of the report, ``what`` it is about, ``measure`` and ``value``."""
        rows: list[tuple[str, str, str, float | None]] = [
            ("table", "rows", "original", float(self.rows)),
            ("table", "rows", "released", float(self.released_rows)),
        ]
        parts = {"costs": self.costs, "attributes": self.attributes, "classifiers": self.classifiers}
        for part, frame in parts.items():
            if frame is not None:
                measures = frame.columns[1:]
                rows += [
                    (part, of, *pair) for of, *row in frame.iter_rows() for pair in zip(measures, row, strict=True)
                ]
        for first, second, measure, *row in self.associations.iter_rows():
            what, names = f"{first}, {second}: {measure}", self.associations.columns[3:]
            rows += [("associations", what, *pair) for pair in zip(names, row, strict=True)]
        if self.queries is not None:
            figures = {"mean_error": self.queries.mean, "median_error": self.queries.median}
            rows += [("queries", self.queries.aggregate, *pair) for pair in figures.items()]
        schema = {"part": pl.String, "what": pl.String, "measure": pl.String, "value": pl.Float64}
        return pl.DataFrame(rows, schema, orient="row")

    def unclear_notes(self) -> list[str]:
        """Return a sentence on the columns whose released values cannot be interpreted, if there are any."""
        if not self.unclear:
            return []
        names = ", ".join(f"'{name}'" for name in self.unclear)
        return [
            f"What the released values of {names} stand for cannot be derived from the two tables, so costs that "
            "depend on it are left out; give the hierarchies of the release, its job or its mapping."
        ]

    def summary(self) -> str:
        """Return the main figures as a block of text."""
        lines = [
            f"{self.released_rows:,} of {amount(self.rows, 'row')} "
            f"{either(self.released_rows, 'was', 'were')} released."
        ]
        if self.suppressed_values:
            lines.append(
                f"{amount(self.suppressed_values, 'value')} {either(self.suppressed_values, 'was', 'were')} suppressed."
            )
        if not self.linked:
            lines.append("The original row of each released row is unknown, so some costs are left out.")
        lines += self.unclear_notes()
        lines += ["", "Costs, in total and relative to suppressing everything:"]
        lines += _table(
            ("cost", "total", "share"),
            [(text, f"{total:,.6g}", f"{share:.2%}") for text, total, share in self.costs.iter_rows()],
        )
        lines += ["", "How much each column lost, and how far its distribution moved:"]
        lines += _table(
            ("column", "values", "LM", "NCP", "total variation", "Jensen-Shannon", "earth mover's"),
            [
                (name, f"{had:,} → {has:,}", *map(_number, figures))
                for name, had, has, *figures in self.attributes.iter_rows()
            ],
        )
        if self.association_difference is not None:
            lines += ["", "How strongly columns are associated:"]
            lines += _table(
                ("columns", "measure", "original", "released"),
                [
                    (f"{first}, {second}", measure, _number(original), _number(released))
                    for first, second, measure, original, released, _ in self.associations.iter_rows()
                ],
                left=2,
            )
            lines.append(f"  mean difference {self.association_difference:.4f}")
        if self.queries is not None:
            lines += ["", self.queries.summary()]
        if self.classifiers is not None:
            lines += ["", "Classifiers, tested on original rows (accuracy; AUC):"]
            lines += _table(
                ("model", "trained on the release", "on the original", "always the majority"),
                [
                    (model, f"{_share(a)}; {_number(b)}", f"{_share(c)}; {_number(d)}", _share(e))
                    for model, a, b, c, d, e in self.classifiers.iter_rows()
                ],
            )
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"UtilityReport(rows={self.released_rows:,} of {self.rows:,}, costs={self.costs.height})"

    def __str__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        released = f"of {amount(self.rows, 'row')}"
        parts = [("Rows released", f"{self.released_rows:,}", released)]
        if self.association_difference is not None:
            parts.append(("Associations moved by", f"{self.association_difference:.3f}", "on average over two columns"))
        if self.queries is not None:
            parts.append(("Error of counts", _share(self.queries.mean), "mean relative error of random COUNT queries"))
        costs = [(text, f"{total:,.6g}", f"{share:.2%}") for text, total, share in self.costs.iter_rows()]
        attributes = [
            (name, f"{had:,} → {has:,}", *map(_number, figures))
            for name, had, has, *figures in self.attributes.iter_rows()
        ]
        associations = [
            (f"{first}, {second}", measure, _number(original), _number(released))
            for first, second, measure, original, released, _ in self.associations.iter_rows()
        ]
        classifiers = (
            []
            if self.classifiers is None
            else [(model, *map(_share, (a, c, e))) for model, a, _, c, _, e in self.classifiers.iter_rows()]
        )
        moved = ("column", "values", "LM", "NCP", "total variation", "Jensen-Shannon", "earth mover's")
        trained = ("model", "trained on the release", "on the original", "always the majority")
        return card(
            "How useful the release is",
            figures(parts),
            table("Costs, in total and relative to suppressing everything", ("cost", "total", "share"), costs),
            table("How much each column lost, and how far its distribution moved", moved, attributes),
            table("Accuracy of classifiers, tested on original rows", trained, classifiers) if classifiers else "",
            folded(
                "How strongly columns are associated",
                table("", ("columns", "measure", "original", "released"), associations, text=[1]),
            )
            if associations
            else "",
            note_list(self.unclear_notes()),
        )


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.2%}"


def _table(head: Sequence[str], body: Sequence[Sequence[str]], left: int = 1) -> list[str]:
    """Return aligned lines; the first ``left`` columns are aligned to the left."""
    widths = [max(map(len, cells)) for cells in zip(head, *body, strict=True)]
    return [
        "  "
        + "  ".join(
            cell.ljust(width) if i < left else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in (head, *body)
    ]
