"""Several jobs on the same data, side by side: as text, as data, and as a page."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from discreet.errors import DiscreetError, UsageError
from discreet.report.charts.evaluations import grouped_bar_chart, trade_off_chart
from discreet.report.formats.html import to_html
from discreet.report.formats.markdown import to_markdown
from discreet.report.formats.page import document, own_file
from discreet.report.job_text import job_for_reports
from discreet.report.numbers import number_text, percent
from discreet.report.sections.blocks import Block, BulletList, DataTable, Facts, Figure, Section, Text
from discreet.report.small_counts import COST_WITHHELD, WITHHELD, LeftOut, few
from discreet.runtime.atomic_write import check_target, replacing
from discreet.runtime.locations import as_path
from discreet.runtime.plurals import amount

if TYPE_CHECKING:
    from discreet.evaluate import UtilityReport
    from discreet.pipeline.release import Release

__all__ = ["ComparedJob", "Comparison", "check_comparison", "compare_job"]

_REVEAL_ROWS = frozenset({"cost", "lower_bound", "classes", "average_class_size"})
"""Figures that reveal, together with shares, the number of rows of the original table or of a release."""
_SUFFIXES = (".html", ".md", ".json", ".csv", ".txt")
_FOOTER = (
    "Made with discreet. This page holds names of jobs and columns, and figures; no value of the data, and no small "
    "count of people."
)


@dataclass(frozen=True, eq=False)
class ComparedJob:
    """A job of a comparison; ``status`` is infeasible if no release keeps its promises."""

    name: str
    release: Release | None = field(repr=False)
    status: str
    why: str | None = field(repr=False)
    """Why there is no release."""
    job: Mapping[str, Any] = field(repr=False)
    """The job as reports show it."""
    utility: UtilityReport | None = field(repr=False)
    notes: tuple[str, ...] = ()
    withheld: frozenset[str] = field(default=frozenset(), repr=False)
    """Figures that would reveal, beside those of another job, how few people that one leaves out."""

    @property
    def rows(self) -> int | None:
        """The rows of the original table."""
        return None if self.release is None else self.release.n + self.release.dropped_missing

    @property
    def cost(self) -> float:
        """The cost of the release; infinite without job."""
        return math.inf if self.release is None else self.release.cost

    def figures(self) -> dict[str, float | int | None]:
        """Return every figure by name; shares are from 0 to 1.

        Risk and loss are about the people in the release; figures that would disclose something about others are None.
        """
        release, utility = self.release, self.utility
        if release is None:
            return {}
        after, before, left_out = release.audit.sizes, release.released_before, LeftOut.of(release)
        data = release.to_dict()
        figures: dict[str, float | int | None] = {
            **{name: data[name] for name in ("cost", "normalized_cost", "lower_bound", "gap", "suppressed")},
            "suppressed_share": None if left_out.few else release.suppressed / max(release.n, 1),
            "suppressed_values": release.suppressed_values,
            "classes": release.classes,
            "smallest_class": after.smallest,
            "average_class_size": after.rows / after.count if after.count else None,
            "highest_risk_before": None if before is None else before.highest_risk,
            "average_risk_before": None if before is None else before.average_risk,
            "highest_risk": after.highest_risk,
            "average_risk": after.average_risk,
        }
        if utility is not None:
            figures |= {f"loss_{name}": share for name, _, share in utility.costs.iter_rows()}
            figures["query_error"] = None if utility.queries is None else utility.queries.median
            figures["association_difference"] = utility.association_difference
            if utility.classifiers is not None:
                for line in utility.classifiers.iter_rows(named=True):
                    figures[f"accuracy_{line['model']}"] = line["accuracy"]
                    figures[f"accuracy_{line['model']}_original"] = line["original_accuracy"]
        seconds = release.stats["seconds"]
        figures |= {"seconds_solve": seconds.get("solve"), "seconds": sum(seconds.values())}
        return {name: None if name in self.withheld else figure for name, figure in figures.items()}

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data, without any value of the data."""
        return {
            "name": self.name,
            "status": self.status,
            **({} if self.why is None else {"why": self.why}),
            "privacy": list(self.job["privacy"]),
            "scheme": self.job["scheme"],
            "suppression": self.job["suppression"],
            "cost_model": self.job["cost"] or "LM",
            **self.figures(),
            "notes": list(self.notes),
        }


def compare_job(
    name: str, job: Mapping[str, Any], release: Release | None, why: str | None, options: Mapping[str, Any] | None
) -> ComparedJob:
    """Measure the release of a job, or say ``why`` there is none; without ``options`` its utility is left out."""
    shown = job_for_reports(job)
    if release is None:
        return ComparedJob(name, None, "infeasible", why, shown, None)
    utility: UtilityReport | None = None
    notes: tuple[str, ...] = ()
    if options is not None and release.audit.rows:
        wanted = {key: value for key, value in options.items() if key != "models" or release.job.get("class_attribute")}
        try:
            utility = release.utility(only_released=True, **wanted)
        except DiscreetError as error:
            notes = (f"The utility of '{name}' was not measured: {error.message}",)
    return ComparedJob(name, release, release.status, None, shown, utility, notes)


class _ComparedFigure(NamedTuple):
    """A line of the table: its name, the figure it shows, how to write it, and which direction is better."""

    name: str
    key: str
    write: Callable[[float], str]
    better: int = 0
    """-1 where less is better, 1 where more is."""


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Several jobs on the same data, side by side. Made by :func:`discreet.compare`."""

    jobs: tuple[ComparedJob, ...]

    def __post_init__(self) -> None:
        """Withhold figures that reveal the number of original rows if a job leaves out only a few people."""
        if any(job.release is not None and LeftOut.of(job.release).few for job in self.jobs):
            object.__setattr__(self, "jobs", tuple(replace(job, withheld=_REVEAL_ROWS) for job in self.jobs))

    def to_frame(self) -> pl.DataFrame:
        """Return a row for each job with all its figures."""
        rows = [{k: v for k, v in job.to_dict().items() if k not in ("notes", "why")} for job in self.jobs]
        for row in rows:
            row["privacy"] = ", ".join(row["privacy"])
            row["scheme"] = str(row["scheme"])
        names = list(dict.fromkeys(name for row in rows for name in row))
        return pl.DataFrame([{name: row.get(name) for name in names} for row in rows], infer_schema_length=None)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data, ready for JSON."""
        return {"jobs": [job.to_dict() for job in self.jobs], "notes": list(self.notes)}

    @property
    def notes(self) -> tuple[str, ...]:
        """What to keep in mind when comparing."""
        columns = {tuple(sorted(job.job["quasi_identifiers"])) for job in self.jobs}
        notes = [note for job in self.jobs for note in job.notes]
        notes += [f"'{job.name}': {job.why}" for job in self.jobs if job.why is not None]
        if any(job.release is not None and LeftOut.of(job.release).few for job in self.jobs):
            notes.append(WITHHELD)
        elif any(job.release is not None and LeftOut.of(job.release).hides_cost for job in self.jobs):
            notes.append(COST_WITHHELD)
        if len(columns) > 1:
            notes.append(
                "The jobs have different quasi-identifiers: each risk and loss is about the columns of its own job."
            )
        return tuple(notes)

    def _lines(self) -> list[_ComparedFigure]:
        """Return the lines of the table for which at least one job has a figure."""
        known = {key for job in self.jobs for key, value in job.figures().items() if value is not None}
        lines = [
            _ComparedFigure("cost", "cost", number_text),
            _ComparedFigure("share of leaving all out", "normalized_cost", percent),
            _ComparedFigure("gap", "gap", percent, -1),
            _ComparedFigure("rows suppressed", "suppressed", lambda rows: few(int(rows))),
            _ComparedFigure("share suppressed", "suppressed_share", percent, -1),
            _ComparedFigure("values made unknown", "suppressed_values", lambda rows: few(int(rows)), -1),
            _ComparedFigure("classes", "classes", lambda number: f"{number:,.0f}"),
            _ComparedFigure("smallest class", "smallest_class", lambda number: f"{number:,.0f}", 1),
            _ComparedFigure("average class size", "average_class_size", number_text),
            _ComparedFigure("highest risk before", "highest_risk_before", percent),
            _ComparedFigure("highest risk after", "highest_risk", percent, -1),
            _ComparedFigure("average risk before", "average_risk_before", percent),
            _ComparedFigure("average risk after", "average_risk", percent, -1),
        ]
        lines += [
            _ComparedFigure(f"loss {key[5:]}", key, percent, -1) for key in sorted(known) if key.startswith("loss_")
        ]
        lines += [
            _ComparedFigure("query error (median)", "query_error", percent, -1),
            _ComparedFigure("association error", "association_difference", number_text, -1),
        ]
        for key in sorted(known):
            if key.startswith("accuracy_"):
                model, original = key.removeprefix("accuracy_").removesuffix("_original"), key.endswith("_original")
                lines.append(
                    _ComparedFigure(f"accuracy {model}{', original' * original}", key, percent, 0 if original else 1)
                )
        lines += [
            _ComparedFigure("seconds of search", "seconds_solve", number_text),
            _ComparedFigure("seconds in all", "seconds", number_text),
        ]
        unknown = not any(job.figures().get("suppressed_values") for job in self.jobs)
        return [line for line in lines if line.key in known and not (unknown and line.key == "suppressed_values")]

    def table(self) -> list[list[str]]:
        """Return the table as text: a line for each figure and a column for each job; a star marks the best."""
        figures = [job.figures() for job in self.jobs]
        rows = [["", *(job.name for job in self.jobs)], ["status", *(job.status for job in self.jobs)]]
        for line in self._lines():
            values = [each.get(line.key) for each in figures]
            known = [value for value in values if value is not None]
            best = None if not line.better or len(set(known)) < 2 else (min if line.better < 0 else max)(known)
            cells = ["–" if value is None else line.write(value) + " *" * (value == best) for value in values]
            rows.append([line.name, *cells])
        return rows

    def summary(self) -> str:
        """Return the choices of each job and the table, as text."""
        rows = self.table()
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [f"{job.name}: {_choices(job)}" for job in self.jobs]
        lines += ["", *(_aligned(row, widths) for row in rows), "", "* best of its line"]
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])

    def sections(self) -> list[Section]:
        """Return the comparison as sections of a report."""
        head, *rows = self.table()
        first: list[Block] = [
            Text("The same table, made safe in several ways. For each: its promises, scheme, suppression and cost."),
            Facts([(job.name, _choices(job)) for job in self.jobs]),
            *([BulletList(self.notes)] if self.notes else []),
            *(Figure(svg, caption) for svg, caption in self._charts() if svg),
        ]
        table = DataTable(["figure", *head[1:]], rows)
        return [
            Section("", first),
            Section("Side by side", [Text("A star marks the best figure of each line."), table]),
        ]

    def _charts(self) -> Iterator[tuple[str, str]]:
        known = [job for job in self.jobs if job.release is not None]
        loss = next((key for key in ("loss_LM", "loss_NCP") if all(key in job.figures() for job in known)), None)
        points = [
            (job.name, float(job.figures()["average_risk"] or 0), float(job.figures()[loss or "normalized_cost"] or 0))
            for job in known
            if job.figures()[loss or "normalized_cost"] is not None
        ]
        up = f"loss ({loss[5:]})" if loss else "loss, each by its own cost"
        label = "The average risk and the loss of each job"
        yield trade_off_chart(points, "average risk", up, label), f"{label}; nearer to the lower left corner is better."
        groups = []
        for line in self._lines():
            if line.key in (loss, "query_error", "association_difference"):
                values = [(job.name, job.figures().get(line.key)) for job in known]
                bars = [(name, float(value)) for name, value in values if value is not None]
                groups.append((line.name, bars))
        label = "The loss by several measures"
        yield (
            grouped_bar_chart([group for group in groups if group[1]], label, hatched=False),
            f"{label}; less is better.",
        )

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the comparison: a page (.html), Markdown (.md), data (.json), a table (.csv) or text (.txt)."""
        target = check_comparison(as_path(path, "The comparison"))
        with replacing(target) as unfinished:
            unfinished.write_text(self._written(target.suffix.lower()), encoding="utf-8")
        return target

    def _written(self, kind: str) -> str:
        if kind == ".json":
            return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
        if kind == ".csv":
            return self.to_frame().write_csv()
        if kind == ".txt":
            return f"{self.summary()}\n"
        title, subtitle = self._title()
        if kind == ".md":
            return to_markdown(title, subtitle, self.sections(), [_FOOTER])
        return document(title, subtitle, to_html(self.sections()), [_FOOTER], style=own_file("formats/report_page.css"))

    def _title(self) -> tuple[str, str]:
        known = next((job.release for job in self.jobs if job.release is not None), None)
        location = next((str(job.job["input"]) for job in self.jobs if job.job.get("input")), None)
        title = "Comparison" if location is None else f"Comparison: {Path(location).name}"
        few = any(job.release is not None and LeftOut.of(job.release).rows is None for job in self.jobs)
        rows = "" if known is None or few else f" of {amount(known.n + known.dropped_missing, 'row')}"
        return title, f"{amount(len(self.jobs), 'way')} to release a table{rows}"

    def __repr__(self) -> str:
        statuses = ", ".join(f"{job.name}: {job.status}" for job in self.jobs)
        return f"Comparison({statuses})"

    def __str__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        from discreet.runtime.notebook_html import card, table

        head, *rows = self.table()
        return card("Comparison", table("", head, rows))


def check_comparison(path: Path) -> Path:
    """Raise UsageError if a comparison could not be written there; return the target."""
    if path.suffix.lower() not in _SUFFIXES:
        raise UsageError(f"A comparison cannot be written as '{path.name}'; end the name in {', '.join(_SUFFIXES)}.")
    return check_target(path)


def _choices(compared: ComparedJob) -> str:
    job = compared.job
    scheme = job["scheme"]
    schemes = ", ".join(dict.fromkeys(map(str, scheme.values()))) if isinstance(scheme, Mapping) else str(scheme)
    return f"{', '.join(job['privacy'])}; {schemes}; suppression {job['suppression']}; cost {job['cost'] or 'LM'}"


def _aligned(row: Sequence[str], widths: Sequence[int]) -> str:
    """Return a line with right-aligned figures; stars stand outside of the alignment."""
    cells = [row[0].ljust(widths[0])]
    for cell, width in zip(row[1:], widths[1:], strict=True):
        cells.append((cell if cell.endswith(" *") else f"{cell}  ").rjust(width + 2))
    return "  ".join(cells).rstrip()
