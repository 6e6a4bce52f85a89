"""Dry runs: everything before the search is checked for real, and described."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

from discreet.runtime.locations import without_password
from discreet.runtime.plurals import amount, either, unit_amount

if TYPE_CHECKING:
    from discreet.job import Job
    from discreet.job.files import FileStamp
    from discreet.pipeline.prepare import Prepared
    from discreet.problem import Problem

__all__ = ["JobPlan", "make_plan"]


@dataclass(frozen=True)
class JobPlan:
    """A job that was checked against its data, but not run."""

    rows: int
    tuples: int
    dropped: tuple[str, ...]
    attributes: tuple[dict[str, Any], ...]
    sensitive: tuple[str, ...]
    population: str | None
    """How many people the rows were drawn from, and how this is known."""
    unchanged: tuple[str, ...]
    privacy: tuple[str, ...]
    cost: str
    suppression: str
    most_suppressed: int
    solver: str
    nodes: int | None
    """The size of the search space; None for local recoding."""
    output: str | None
    reports: tuple[str, ...]
    notes: tuple[str, ...] = ()
    unit: str = "row"
    """What promises count: rows, people or households."""
    people: int | None = None
    """How many people or households there are, if promises count those."""
    budget_unit: str = "row"
    """What ``most_suppressed`` counts."""

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as plain data, ready for JSON."""
        return {"dry_run": True, **{name: _plain(value) for name, value in vars(self).items()}}

    def summary(self) -> str:
        """Return the plan as text for people."""
        from discreet.report.numbers import count_text

        space = ""
        if self.nodes is not None:
            space = f", {count_text(self.nodes)} possible {either(self.nodes, 'recoding', 'recodings')}"
        facts = [
            (
                "input",
                f"{amount(self.rows, 'row')}, {amount(self.tuples, 'different combination')} of quasi-identifiers",
            ),
            *((f"'{each['name']}'", _describe(each)) for each in self.attributes),
            ("sensitive", ", ".join(self.sensitive)),
            ("counted", "" if self.people is None else f"{unit_amount(self.people, self.unit)}, not rows"),
            ("population", self.population or ""),
            ("left out", ", ".join(self.dropped)),
            ("as it is", ", ".join(self.unchanged)),
            ("privacy", " and ".join(self.privacy)),
            ("cost", self.cost),
            (
                "suppression",
                f"{self.suppression}: at most {unit_amount(self.most_suppressed, self.budget_unit)} may be left out",
            ),
            ("search", self.solver + space),
            ("output", self.output or ""),
            ("reports", ", ".join(self.reports)),
        ]
        width = max(len(name) for name, text in facts if text)
        lines = [f"{name:<{width}}  {text}" for name, text in facts if text]
        lines += [f"note: {note}" for note in self.notes]
        return "\n".join([*lines, "Everything fits. Nothing was searched or released."])


def make_plan(job: Job) -> JobPlan:
    """Check a job as far as possible without searching or writing."""
    from discreet.job.settings import JobSettings
    from discreet.pipeline.derive import with_derived_columns
    from discreet.pipeline.prepare import build_problem, prepare
    from discreet.pipeline.release_notes import population_text
    from discreet.pipeline.run_job import check_targets
    from discreet.pipeline.tables import with_joined_tables
    from discreet.solve import choose_solver

    check_targets(job)
    settings = JobSettings.make({**job.arguments(), "output": job.locate(job.output)})
    settings = with_derived_columns(with_joined_tables(settings), dry=True)
    prepared = prepare(settings)
    problem = build_problem(prepared, settings.privacy)
    searched = problem if prepared.earlier is None else prepared.earlier.require(problem, prepared)
    solver = choose_solver(searched, settings.solver)
    schema = prepared.schema
    unit = "row" if schema.unit is None else str(schema.role(schema.unit))
    return JobPlan(
        rows=problem.whole.n,
        tuples=problem.whole.tuples,
        dropped=schema.dropped,
        attributes=tuple(_attributes(prepared, problem)),
        sensitive=schema.sensitive,
        population=population_text(problem.whole, schema.weights),
        unchanged=schema.insensitive,
        privacy=tuple(model.shown for model in problem.privacy),
        cost=problem.cost.shown,
        suppression=problem.suppression.text,
        most_suppressed=problem.whole.n - problem.table.n + problem.limit,
        unit=unit,
        people=None if prepared.counted.owners is None else prepared.counted.owners.people.count,
        budget_unit=unit if problem.limit_of_people else "row",
        solver=solver.name,
        nodes=_recodings(problem),
        output=None if job.output is None else without_password(job.output),
        reports=tuple(job.report),
        notes=tuple(_notes(job, prepared.stamp)),
    )


def _attributes(prepared: Prepared, problem: Problem) -> Iterator[dict[str, Any]]:
    """Describe how each quasi-identifier may be recoded."""
    from discreet.schema import hierarchy_for_reports

    limits = zip(problem.schemes, problem.lowest, problem.highest, strict=True)
    for (name, domain), (scheme, low, high) in zip(prepared.counted.domains.items(), limits, strict=True):
        yield {
            "name": name,
            "type": str(domain.type),
            "distinct": len(domain.values),
            "hierarchy": hierarchy_for_reports(domain.text or None),
            "automatic": domain.automatic,
            "scheme": scheme.text,
            "lowest": low,
            "highest": high,
        }


def _notes(job: Job, read: FileStamp | None) -> Iterator[str]:
    """Yield what a plan of several schemes leaves out, and a warning if the table was released before."""
    from discreet.job.owner_key import key_file
    from discreet.job.settings import is_best
    from discreet.pipeline.best_scheme import CANDIDATES
    from discreet.pipeline.ledger import released_before

    if is_best(job.scheme):
        yield f"The schemes {', '.join(CANDIDATES)} will be tried; this is the plan of the first."
    key = key_file(job.key_file())
    if read is not None and key is not None and key.path.exists():
        warning = released_before(key.load(), [*job.located_tables().values()] or [read])
        if warning is not None:
            yield warning


def _describe(attribute: dict[str, Any]) -> str:
    full = attribute["scheme"] == "full-domain"
    recoding = f"levels {attribute['lowest']} to {attribute['highest']}" if full else attribute["scheme"]
    hierarchy = "an automatic hierarchy" if attribute["automatic"] else attribute["hierarchy"]
    if hierarchy is not None:
        recoding += f" of {hierarchy if len(hierarchy) <= 60 else hierarchy[:59] + '…'}"
    return f"{attribute['type']}, {amount(attribute['distinct'], 'value')}, {recoding}"


def _recodings(problem: Problem) -> int | None:
    """Return the size of the search space: levels for full-domain, partitions for other schemes, None for local."""
    if not all(scheme.is_global for scheme in problem.schemes):
        return None
    return prod(
        high - low + 1 if scheme.name == "full-domain" else scheme.count(attribute)
        for attribute, scheme, low, high in zip(
            problem.table.attributes, problem.schemes, problem.lowest, problem.highest, strict=True
        )
    )


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
