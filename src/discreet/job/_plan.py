"""What a job would do: everything before the search, checked for real, and put into words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

from discreet._places import shown
from discreet._words import amount, either

if TYPE_CHECKING:
    from discreet.job._job import Job
    from discreet.problem import Problem
    from discreet.release._checksums import FileStamp

__all__ = ["Plan", "make_plan"]


@dataclass(frozen=True)
class Plan:
    """A job that was checked against its data and not done."""

    rows: int
    tuples: int
    dropped: tuple[str, ...]
    attributes: tuple[dict[str, Any], ...]
    sensitive: tuple[str, ...]
    population: str | None
    """How many people the rows were drawn from, and how that is known."""
    unchanged: tuple[str, ...]
    privacy: tuple[str, ...]
    cost: str
    suppression: str
    most_suppressed: int
    solver: str
    nodes: int | None
    """The size of the space; None where no one partition describes a recoding."""
    output: str | None
    reports: tuple[str, ...]
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as plain data, ready for JSON."""
        return {"dry_run": True, **{name: _plain(value) for name, value in vars(self).items()}}

    def summary(self) -> str:
        """Return the plan as text for people."""
        from discreet.release._report import count_text

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
            ("population", self.population or ""),
            ("left out", ", ".join(self.dropped)),
            ("as it is", ", ".join(self.unchanged)),
            ("privacy", " and ".join(self.privacy)),
            ("cost", self.cost),
            ("suppression", f"{self.suppression}: at most {amount(self.most_suppressed, 'row')} may be left out"),
            ("search", self.solver + space),
            ("output", self.output or ""),
            ("reports", ", ".join(self.reports)),
        ]
        width = max(len(name) for name, text in facts if text)
        lines = [f"{name:<{width}}  {text}" for name, text in facts if text]
        lines += [f"note: {note}" for note in self.notes]
        return "\n".join([*lines, "Everything fits. Nothing was searched or released."])


def make_plan(job: Job) -> Plan:
    """Check a job as far as possible without searching or writing."""
    from discreet.engines import Engine, Shuffle
    from discreet.problem import PRIVACY, Problem, make_schemes
    from discreet.release._describe import population_text
    from discreet.release._prepare import prepare
    from discreet.release._wishes import cost_by_priorities, highest_levels
    from discreet.schema import shown_hierarchy
    from discreet.solve import choose_solver

    told = job.arguments()
    Shuffle.of(told["order"])
    job.check_targets()
    cost = cost_by_priorities(told["cost"], told["priorities"], told["quasi_identifiers"])
    columns = ("identifiers", "quasi_identifiers", "sensitive", "class_attribute", "weights")
    roles = ("data", *columns, "population", "keep", "types", "missing", "missing_sensitive")
    prepared = prepare(
        **{role: told[role] for role in roles},
        models=[PRIVACY.make(model) for model in told["privacy"]],
        schemes=make_schemes(told["scheme"]),
        cost=cost,
        output=job.locate(job.output),
        engine=Engine(told["engine"], told["memory_limit"], told["spark"]),
    )
    schema, counted = prepared.schema, prepared.counted
    parts = ("privacy", "suppression", "scheme", "min_levels")
    problem = Problem.build(
        counted.table,
        **{part: told[part] for part in parts},
        cost=cost,
        max_levels=highest_levels(told["max_levels"], told["keep_at_least"]),
    )
    solver = choose_solver(problem, told["solver"])
    limits = zip(problem.schemes, problem.lowest, problem.highest, strict=True)
    return Plan(
        rows=problem.whole.n,
        tuples=problem.whole.tuples,
        dropped=schema.identifiers,
        attributes=tuple(
            {
                "name": name,
                "type": str(domain.type),
                "distinct": len(domain.values),
                "hierarchy": shown_hierarchy(domain.text or None),
                "automatic": domain.automatic,
                "scheme": scheme.text,
                "lowest": low,
                "highest": high,
            }
            for (name, domain), (scheme, low, high) in zip(counted.domains.items(), limits, strict=True)
        ),
        sensitive=schema.sensitive,
        population=population_text(problem.whole, schema.weights),
        unchanged=schema.insensitive,
        privacy=tuple(model.shown for model in problem.privacy),
        cost=problem.cost.shown,
        suppression=problem.suppression.text,
        most_suppressed=problem.whole.n - problem.table.n + problem.limit,
        solver=solver.name,
        nodes=_recodings(problem),
        output=None if job.output is None else shown(job.output),
        reports=tuple(job.report),
        notes=tuple(_notes(job, prepared.stamp)),
    )


def _notes(job: Job, read: FileStamp | None) -> Iterator[str]:
    """Yield what should be known before the job is done: that the table was released before."""
    from discreet.release._key import key_place
    from discreet.release._ledger import released_before

    place = key_place(job.key_file())
    if read is not None and place is not None and place.path.exists():
        told = released_before(place.load(), read)
        if told is not None:
            yield told


def _describe(attribute: dict[str, Any]) -> str:
    full = attribute["scheme"] == "full-domain"
    way = f"levels {attribute['lowest']} to {attribute['highest']}" if full else attribute["scheme"]
    made = "an automatic hierarchy" if attribute["automatic"] else attribute["hierarchy"]
    if made is not None:
        way += f" of {made if len(made) <= 60 else made[:59] + '…'}"
    return f"{attribute['type']}, {amount(attribute['distinct'], 'value')}, {way}"


def _recodings(problem: Problem) -> int | None:
    """Return the size of the space: levels for full-domain, partitions for other schemes; None for local recoding."""
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
