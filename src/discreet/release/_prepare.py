"""The first rooms of the flow: source, schema and count. What follows differs; this is always the same."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from os import PathLike
from typing import TYPE_CHECKING, Any, get_args

import polars as pl

from discreet._places import shown
from discreet.engines import (
    UNKNOWN,
    Counted,
    Engine,
    Format,
    Missing,
    MissingSensitive,
    Source,
    count,
    count_people,
    index_of,
    library_errors,
    open_source,
    unnamed_of,
)
from discreet.errors import InterruptedRun, UnsupportedCombinationError, UsageError
from discreet.problem import Cost, PrivacyModel, Problem, Scheme, scheme_of_each
from discreet.release._checksums import FileStamp
from discreet.release._clock import Clock
from discreet.release._missing import check_missing_sensitive
from discreet.release._output import Target, check_output
from discreet.release._undecided import Undecided, look_at_undecided
from discreet.schema import Builder, Hierarchy, Schema, as_hierarchy

if TYPE_CHECKING:
    from discreet.solve import Budget

__all__ = [
    "Prepared",
    "check_divided",
    "check_time_limit",
    "check_unknown",
    "interruptible",
    "prepare",
    "search_budget",
    "several",
]


@dataclass(frozen=True, eq=False)
class Prepared:
    """A table that was opened and counted."""

    data: Any
    source: Source
    schema: Schema
    counted: Counted
    trees: Mapping[str, Hierarchy | Builder]
    """The hierarchies of sensitive columns."""
    schemes: Mapping[str, Scheme]
    """The scheme of each quasi-identifier."""
    missing: Missing
    missing_sensitive: MissingSensitive
    output: str | PathLike[str] | None
    target: Target | None
    stamp: FileStamp | None
    """The files the table is in, as they were before they were read."""
    clock: Clock
    engine: Engine = field(default_factory=Engine)
    population: Any = None
    """A table of the population, as it was given."""
    written_as: Format | None = None
    """The format the table was counted for."""
    undecided: Undecided = field(default_factory=Undecided)
    """The columns without a role."""

    def told(self) -> dict[str, Any]:
        """Return what was told about the table, as a job has it."""
        return {
            "input": _place(self.data),
            "output": None if self.output is None else shown(self.output),
            "identifiers": list(self.schema.identifiers),
            "quasi_identifiers": {name: domain.given for name, domain in self.counted.domains.items()},
            "sensitive": {name: self.trees.get(name) for name in self.schema.sensitive},
            "class_attribute": self.schema.class_attribute,
            **({"keep": list(self.schema.keep)} if self.schema.keep else {}),
            **({} if self.schema.weights is None else {"weights": self.schema.weights}),
            **({} if self.population is None else {"population": _place(self.population)}),
            "types": self.schema.types,
            "missing": self.missing,
            "missing_sensitive": self.missing_sensitive,
            **self.engine.told(),
        }


def prepare(
    data: Any,
    *,
    identifiers: str | Sequence[str] = (),
    quasi_identifiers: str | Sequence[str] | Mapping[str, Any],
    sensitive: str | Sequence[str] | Mapping[str, Any] = (),
    class_attribute: str | None = None,
    weights: str | None = None,
    population: Any = None,
    keep: str | Sequence[str] = (),
    types: Mapping[str, Any] | None = None,
    models: Sequence[PrivacyModel] = (),
    schemes: Scheme | Mapping[str, Scheme],
    cost: Cost | None = None,
    missing: Missing = "value",
    missing_sensitive: MissingSensitive = "unknown",
    output: str | PathLike[str] | None = None,
    engine: Engine | None = None,
    clock: Clock | None = None,
    stop: bool = True,
) -> Prepared:
    """Open a table, find its columns and their hierarchies, count it, and look at columns nobody decided about.

    Where a scheme is local, rows with the same quasi-identifiers may go to different classes, so that they are told
    apart by the sensitive values the ``models`` look at too. Where the ``cost`` counts values, every column has levels.
    With ``stop`` a column without a role that could tell who somebody is ends it here; without, it ends the release.
    """
    clock = clock or Clock()
    if missing not in get_args(Missing):
        raise UsageError(f"missing is one of {', '.join(get_args(Missing))}, not '{missing}'.")
    check_missing_sensitive(missing_sensitive)
    if weights is not None and population is not None:
        raise UsageError("The population is either a table or estimated by weights; leave one of the two out.")
    target = None if output is None else check_output(output, data, population)
    written_as = target.format if target else None
    with clock("read"):
        source = open_source(data, engine)
        stamp = FileStamp.of(data)
        in_columns, in_index = _confirmed(keep, source)
        schema = Schema.make(
            source.columns,
            identifiers,
            quasi_identifiers,
            sensitive,
            class_attribute,
            types,
            weights=weights,
            keep=in_columns,
        )
        each = scheme_of_each(list(schema.quasi_identifiers), schemes)
        trees = _hierarchies(sensitive)
    apart: list[str] = []
    if not all(scheme.is_global for scheme in each.values()):
        looked_at = {getattr(model, "attribute", None) for model in models if model.looks_at_sensitive}
        apart = [column for column in schema.sensitive if column in looked_at or None in looked_at]
        both = next((column for column in apart if column in schema.combined), None)
        if both is not None:
            raise UnsupportedCombinationError(
                f"The sensitive attribute {both}, which is several columns,", "the scheme local", "choose full-domain"
            )
    with clock("count"):
        people = None
        if population is not None:
            people = count_people(population, list(schema.quasi_identifiers), missing, engine)
        counted = count(
            source,
            schema,
            missing=missing,
            missing_sensitive=missing_sensitive,
            hierarchies=trees,
            written_as=written_as,
            without_hierarchy=[] if cost is not None and cost.counts_values else _without_hierarchy(each),
            apart=apart,
            people=people,
        )
    with clock("count"):
        undecided = look_at_undecided(
            source,
            schema.identifiers,
            schema.insensitive,
            [*schema.keep, *in_index],
            schema.sensitive_columns,
            with_index=target is None,
        )
        if stop:
            undecided.check()
    chosen = engine or Engine()
    return Prepared(
        data,
        source,
        schema,
        counted,
        trees,
        each,
        missing,
        missing_sensitive,
        output,
        target,
        stamp,
        clock,
        chosen,
        population,
        written_as,
        undecided,
    )


def _confirmed(keep: str | Sequence[str], source: Source) -> tuple[str | Sequence[str], list[str]]:
    """Return the columns that are confirmed, and what else of a pandas frame is: its index, unnamed columns."""
    levels = {*index_of(source, ())[0], *unnamed_of(source)}
    if not levels or not isinstance(keep, str | Sequence):
        return keep, []
    names = [keep] if isinstance(keep, str) else list(keep)
    return [name for name in names if name in source.columns or name not in levels], [n for n in names if n in levels]


def _place(data: Any) -> str | None:
    """Return where a table is; None for a frame."""
    return shown(data) if isinstance(data, str | PathLike) else None


@contextmanager
def interruptible() -> Iterator[None]:
    """Turn Ctrl-C outside the search (which keeps its best result) into one clear ending."""
    try:
        with library_errors():
            yield
    except KeyboardInterrupt:
        raise InterruptedRun("Stopped before there was anything to release; nothing was written.") from None


def check_time_limit(time_limit: Any) -> None:
    """Refuse what is no time."""
    if time_limit is not None and (
        isinstance(time_limit, bool) or not isinstance(time_limit, int | float) or not time_limit > 0
    ):
        raise UsageError(f"The time limit is a number of seconds above 0, not {time_limit!r}.", topic="parameter")


def search_budget(budget: Budget | None, time_limit: float | None) -> Budget:
    """Return what a search may take. The limit is one on the search, so its clock starts here."""
    from discreet.solve import Budget

    if budget is None:
        return Budget(time_limit)
    if time_limit is not None:
        budget.time_limit = time_limit
    if time_limit is not None or budget.time_limit is None:  # a limit of its own goes on as it began
        budget.started = time.monotonic()
    return budget


def several(privacy: Any) -> list[Any]:
    """Return one or several choices as a list."""
    return list(privacy) if isinstance(privacy, Sequence) and not isinstance(privacy, str) else [privacy]


def _without_hierarchy(schemes: Mapping[str, Scheme]) -> list[str]:
    """Return the columns that need no hierarchy."""
    return [column for column, choice in schemes.items() if not choice.uses_hierarchy]


def _hierarchies(columns: Any) -> dict[str, Hierarchy | Builder]:
    """Return the hierarchies that were given for sensitive columns."""
    given = columns if isinstance(columns, Mapping) else {}
    return {column: as_hierarchy(choice) for column, choice in given.items() if choice is not None}


def check_divided(problem: Problem, schema: Schema) -> None:
    """Refuse to take single records or values of an attribute that is several columns."""
    if problem.divided in schema.combined:
        raise UnsupportedCombinationError(
            f"The sensitive attribute {problem.divided}, which is several columns,",
            f"the suppression {problem.suppression.name}",
            "choose none, a budget or class-records",
        )


def check_unknown(problem: Problem, counted: Counted) -> None:
    """Refuse a column that already holds what would stand for its suppressed values."""
    column = problem.suppression.divided(problem.privacy)
    if column is not None and (counted.codes[column]["value"].cast(pl.String) == UNKNOWN).any():
        raise UsageError(
            f"Column '{column}' has the value '{UNKNOWN}', which {problem.suppression.name} writes for a value it "
            "suppresses; give it another name in the data first.",
            column=column,
        )
