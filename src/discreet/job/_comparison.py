"""What came of several jobs, side by side: as text, as data, and as a page."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from discreet._places import as_path
from discreet._replacing import check_target, replacing
from discreet._words import amount
from discreet.errors import DiscreetError, UsageError
from discreet.release._describe import shown_job
from discreet.release._front_scale import plain, share
from discreet.release._left_out import WITHHELD, LeftOut
from discreet.release._measure_charts import share_chart, trade_chart
from discreet.release._page import document, own_file
from discreet.release._section_html import to_html
from discreet.release._section_markdown import to_markdown
from discreet.release._sections import Block, Facts, Figure, Items, Section, Table, Text
from discreet.release._small import few

if TYPE_CHECKING:
    from discreet.evaluate import UtilityReport
    from discreet.job._job import Job
    from discreet.release import Release

__all__ = ["ComparedJob", "Comparison", "measure"]

_GIVE_ROWS = frozenset({"cost", "lower_bound", "classes", "average_class_size"})
"""What tells, with the shares beside it, how many rows the original table or a release has."""
_SUFFIXES = (".html", ".md", ".json", ".csv", ".txt")
_FOOTER = (
    "Made with discreet. This page holds names of jobs and columns, and figures; no value of the data, and no count of "
    "few people."
)


@dataclass(frozen=True, eq=False)
class ComparedJob:
    """One job of a comparison. Where no release keeps its promises, ``status`` is infeasible and the rest unknown."""

    name: str
    release: Release | None = field(repr=False)
    status: str
    why: str | None = field(repr=False)
    """Why there is no release."""
    told: Mapping[str, Any] = field(repr=False)
    """The job, with values of the data only counted."""
    utility: UtilityReport | None = field(repr=False)
    notes: tuple[str, ...] = ()
    withheld: frozenset[str] = field(default=frozenset(), repr=False)
    """Figures that would tell, beside those of another job, how few people that leaves out."""

    @property
    def rows(self) -> int | None:
        """The rows of the original table."""
        return None if self.release is None else self.release.n + self.release.dropped_missing

    @property
    def cost(self) -> float:
        """The cost the job kept low; infinite without a release."""
        return math.inf if self.release is None else self.release.cost

    def figures(self) -> dict[str, float | int | None]:
        """Return everything that was measured, by name; shares are from 0 to 1.

        Risk and loss compare the release with the people who are in it; what would tell about others is None.
        """
        release, told = self.release, self.utility
        if release is None:
            return {}
        after, before, people = release.audit.sizes, release.released_before, LeftOut.of(release)
        counted = release.to_dict()
        figures: dict[str, float | int | None] = {
            **{name: counted[name] for name in ("cost", "normalized_cost", "lower_bound", "gap", "suppressed")},
            "suppressed_share": None if people.few else release.suppressed / max(release.n, 1),
            "suppressed_values": release.suppressed_values,
            "classes": release.classes,
            "smallest_class": after.smallest,
            "average_class_size": after.rows / after.count if after.count else None,
            "highest_risk_before": None if before is None else before.highest_risk,
            "average_risk_before": None if before is None else before.average_risk,
            "highest_risk": after.highest_risk,
            "average_risk": after.average_risk,
        }
        if told is not None:
            figures |= {f"loss_{name}": part for name, _, part in told.costs.iter_rows()}
            figures["query_error"] = None if told.queries is None else told.queries.median
            figures["association_difference"] = told.association_difference
            if told.classifiers is not None:
                for line in told.classifiers.iter_rows(named=True):
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
            "privacy": list(self.told["privacy"]),
            "scheme": self.told["scheme"],
            "suppression": self.told["suppression"],
            "cost_model": self.told["cost"] or "LM",
            **self.figures(),
            "notes": list(self.notes),
        }


def measure(
    name: str, job: Job | Release, release: Release | None, why: str | None, options: Mapping[str, Any] | None
) -> ComparedJob:
    """Measure one job; without ``options`` its utility is left out."""
    told = shown_job(_told(job))
    if release is None:
        return ComparedJob(name, None, "infeasible", why, told, None)
    utility: UtilityReport | None = None
    notes: tuple[str, ...] = ()
    if options is not None and release.audit.rows:
        asked = dict(options)
        if not release.job.get("class_attribute"):
            asked.pop("models")
        try:
            utility = release.utility(only_released=True, **asked)
        except DiscreetError as error:
            notes = (f"The utility of '{name}' was not measured: {error.message}",)
    return ComparedJob(name, release, release.status, None, told, utility, notes)


def _told(job: Job | Release) -> dict[str, Any]:
    from discreet.release import Release

    return dict(job.job) if isinstance(job, Release) else job.told()


class _Line(NamedTuple):
    """A line of the table: a figure of each job, how it is written, and whether less or more of it is better."""

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
        """Withhold what gives the number of original rows away where a job leaves out so few that it must not."""
        if any(one.release is not None and LeftOut.of(one.release).few for one in self.jobs):
            object.__setattr__(self, "jobs", tuple(replace(one, withheld=_GIVE_ROWS) for one in self.jobs))

    def to_frame(self) -> pl.DataFrame:
        """Return a row for each job with all its figures."""
        told = [{k: v for k, v in one.to_dict().items() if k not in ("notes", "why")} for one in self.jobs]
        for line in told:
            line["privacy"] = ", ".join(line["privacy"])
            line["scheme"] = str(line["scheme"])
        names = list(dict.fromkeys(name for line in told for name in line))
        return pl.DataFrame([{name: line.get(name) for name in names} for line in told], infer_schema_length=None)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data, ready for JSON."""
        return {"jobs": [one.to_dict() for one in self.jobs], "notes": list(self.notes)}

    @property
    def notes(self) -> tuple[str, ...]:
        """What to keep in mind."""
        columns = {tuple(sorted(one.told["quasi_identifiers"])) for one in self.jobs}
        notes = [note for one in self.jobs for note in one.notes]
        notes += [f"'{one.name}': {one.why}" for one in self.jobs if one.why is not None]
        if any(one.release is not None and LeftOut.of(one.release).few for one in self.jobs):
            notes.append(WITHHELD)
        if len(columns) > 1:
            notes.append(
                "The jobs name different quasi-identifiers: each risk and loss is about the columns of its job."
            )
        return tuple(notes)

    def _lines(self) -> list[_Line]:
        """Return what is shown, line by line, as far as any job has it."""
        known = {key for one in self.jobs for key, value in one.figures().items() if value is not None}
        lines = [
            _Line("cost", "cost", plain),
            _Line("share of leaving all out", "normalized_cost", share),
            _Line("gap", "gap", share, -1),
            _Line("rows suppressed", "suppressed", lambda rows: few(int(rows))),
            _Line("share suppressed", "suppressed_share", share, -1),
            _Line("values made unknown", "suppressed_values", lambda rows: few(int(rows)), -1),
            _Line("classes", "classes", lambda number: f"{number:,.0f}"),
            _Line("smallest class", "smallest_class", lambda number: f"{number:,.0f}", 1),
            _Line("average class size", "average_class_size", plain),
            _Line("highest risk before", "highest_risk_before", share),
            _Line("highest risk after", "highest_risk", share, -1),
            _Line("average risk before", "average_risk_before", share),
            _Line("average risk after", "average_risk", share, -1),
        ]
        lines += [_Line(f"loss {key[5:]}", key, share, -1) for key in sorted(known) if key.startswith("loss_")]
        lines += [
            _Line("query error (median)", "query_error", share, -1),
            _Line("associations apart", "association_difference", plain, -1),
        ]
        for key in sorted(known):
            if key.startswith("accuracy_"):
                model, original = key.removeprefix("accuracy_").removesuffix("_original"), key.endswith("_original")
                lines.append(_Line(f"accuracy {model}{', original' * original}", key, share, 0 if original else 1))
        lines += [_Line("seconds of search", "seconds_solve", plain), _Line("seconds in all", "seconds", plain)]
        unknown = not any(one.figures().get("suppressed_values") for one in self.jobs)
        return [line for line in lines if line.key in known and not (unknown and line.key == "suppressed_values")]

    def table(self) -> list[list[str]]:
        """Return the figures as text, a line for each and a column for each job; the best of a line has a star."""
        figures = [one.figures() for one in self.jobs]
        rows = [["", *(one.name for one in self.jobs)], ["status", *(one.status for one in self.jobs)]]
        for line in self._lines():
            values = [told.get(line.key) for told in figures]
            known = [value for value in values if value is not None]
            best = None if not line.better or len(set(known)) < 2 else (min if line.better < 0 else max)(known)
            cells = ["–" if value is None else line.write(value) + " *" * (value == best) for value in values]
            rows.append([line.name, *cells])
        return rows

    def summary(self) -> str:
        """Return what each job asked for, and the table, as text."""
        rows = self.table()
        widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
        lines = [f"{one.name}: {_asked(one)}" for one in self.jobs]
        lines += ["", *(_aligned(row, widths) for row in rows), "", "* the best of a line"]
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])

    def sections(self) -> list[Section]:
        """Return the comparison as sections of a report."""
        head, *rows = self.table()
        first: list[Block] = [
            Text("One table, made safe in several ways. For each: the promises, the scheme, and who may be left out."),
            Facts([(one.name, _asked(one)) for one in self.jobs]),
            *([Items(self.notes)] if self.notes else []),
            *(Figure(svg, caption) for svg, caption in self._charts() if svg),
        ]
        table = Table(["figure", *head[1:]], rows)
        return [Section("", first), Section("Side by side", [Text("A star marks the best of a line."), table])]

    def _charts(self) -> Iterator[tuple[str, str]]:
        known = [one for one in self.jobs if one.release is not None]
        loss = next((key for key in ("loss_LM", "loss_NCP") if all(key in one.figures() for one in known)), None)
        points = [
            (one.name, float(one.figures()["average_risk"] or 0), float(one.figures()[loss or "normalized_cost"] or 0))
            for one in known
            if one.figures()[loss or "normalized_cost"] is not None
        ]
        up = f"loss ({loss[5:]})" if loss else "loss, each by its own cost"
        label = "The average risk of being found and the loss of each job"
        yield trade_chart(points, "average risk", up, label), f"{label}; nearer to the corner is better."
        groups = []
        for line in self._lines():
            if line.key in (loss, "query_error", "association_difference"):
                told = [(one.name, one.figures().get(line.key)) for one in known]
                bars = [(name, float(value)) for name, value in told if value is not None]
                groups.append((line.name, bars))
        label = "What was lost, by several measures"
        yield share_chart([group for group in groups if group[1]], label, hatched=False), f"{label}; less is better."

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
        return document(title, subtitle, to_html(self.sections()), [_FOOTER], style=own_file("_report_page.css"))

    def _title(self) -> tuple[str, str]:
        known = next((one.release for one in self.jobs if one.release is not None), None)
        place = next((str(one.told["input"]) for one in self.jobs if one.told.get("input")), None)
        title = "Comparison" if place is None else f"Comparison: {Path(place).name}"
        few = any(one.release is not None and LeftOut.of(one.release).rows is None for one in self.jobs)
        rows = "" if known is None or few else f" of {amount(known.n + known.dropped_missing, 'row')}"
        return title, f"{amount(len(self.jobs), 'way')} to release a table{rows}"

    def __repr__(self) -> str:
        told = ", ".join(f"{one.name}: {one.status}" for one in self.jobs)
        return f"Comparison({told})"

    def __str__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        from discreet.release._html_table import table_html

        head, *rows = self.table()
        return table_html("Comparison", head, rows)


def check_comparison(path: Path) -> Path:
    """Refuse a name that says nothing a comparison can be written as, or a place where nothing can be."""
    if path.suffix.lower() not in _SUFFIXES:
        raise UsageError(f"A comparison is written as {', '.join(_SUFFIXES)}; '{path.name}' says none of these.")
    return check_target(path)


def _asked(one: ComparedJob) -> str:
    told = one.told
    scheme = told["scheme"]
    schemes = ", ".join(dict.fromkeys(map(str, scheme.values()))) if isinstance(scheme, Mapping) else str(scheme)
    return f"{', '.join(told['privacy'])}; {schemes}; suppression {told['suppression']}; cost {told['cost'] or 'LM'}"


def _aligned(row: Sequence[str], widths: Sequence[int]) -> str:
    """Return a line whose figures end below each other, stars apart."""
    cells = [row[0].ljust(widths[0])]
    for cell, width in zip(row[1:], widths[1:], strict=True):
        cells.append((cell if cell.endswith(" *") else f"{cell}  ").rjust(width + 2))
    return "  ".join(cells).rstrip()
