"""The settings of a run: the arguments of :func:`discreet.anonymize`, checked, with every part made.

Texts have become privacy models, costs, suppression kinds and schemes here, and nothing below checks them again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from os import PathLike
from typing import TYPE_CHECKING, Any, get_args

from discreet.engines import Engine, Format, Missing, MissingSensitive, Order, Shuffle
from discreet.errors import Argument, UsageError, did_you_mean
from discreet.job.linked_tables import LinkedTables
from discreet.job.owner_key import draw_seed
from discreet.job.parameters import READING
from discreet.problem import (
    COSTS,
    PRIVACY,
    SCHEMES,
    SUPPRESSION,
    Cost,
    PrivacyModel,
    Scheme,
    Suppression,
    make_schemes,
)
from discreet.runtime.arguments import levels_by_column, switch, whole_number
from discreet.runtime.locations import is_url
from discreet.runtime.read_options import check_missing_sensitive
from discreet.runtime.table_path import ReadOptions, TablePath

if TYPE_CHECKING:
    from discreet.solve import Solver

__all__ = ["JobSettings", "SampledFrom", "as_list", "cost_by_priorities", "highest_levels", "is_best"]


@dataclass(frozen=True, eq=False)
class SampledFrom:
    """A table that rows were drawn from, and how many rows it has."""

    data: Any
    rows: int


@dataclass(frozen=True, eq=False, kw_only=True)
class JobSettings:
    """The settings of a release or a front. Fields are described at :func:`discreet.anonymize`."""

    data: Any
    identifiers: str | Sequence[str] = ()
    quasi_identifiers: str | Sequence[str] | Mapping[str, Any]
    sensitive: str | Sequence[str] | Mapping[str, Any] = ()
    class_attribute: str | None = None
    person: str | None = None
    household: str | None = None
    pseudonyms: bool = False
    weights: str | None = None
    population: Any = None
    sampled_from: SampledFrom | None = None
    """The table that ``data`` was drawn from, for promises that rest on sampling."""
    linked: LinkedTables | None = None
    """The tables that ``data`` was joined from, if several are released together."""
    against: tuple[Any, ...] = ()
    """Earlier releases to keep the promises together with."""
    keep: str | Sequence[str] = ()
    types: Mapping[str, Any] | None = None
    derive: Mapping[str, str] = field(default_factory=dict)
    read_as: Format | None = None
    """The format of the file that a table with derived columns was read from."""
    privacy: tuple[PrivacyModel, ...] = ()
    cost: Cost
    given_cost: str | Cost | None = None
    """The cost as it was given, before priorities became its weights."""
    suppression: Suppression
    scheme: Scheme | Mapping[str, Scheme]
    any_scheme: bool = False
    """Whether several schemes are tried, and the best is taken (``scheme="best"``)."""
    solver: str | Solver = "auto"
    priorities: Mapping[str, int] = field(default_factory=dict)
    keep_at_least: Mapping[str, int] = field(default_factory=dict)
    min_levels: Mapping[str, int] = field(default_factory=dict)
    max_levels: Mapping[str, int] = field(default_factory=dict)
    missing: Missing = "value"
    missing_sensitive: MissingSensitive = "unknown"
    order: Order = "random"
    time_limit: float | None = None
    threads: int | None = None
    seed: int
    engine: Engine = field(default_factory=Engine)
    output: str | PathLike[str] | None = None
    overwrite: bool = True
    key: str | PathLike[str] | None = None

    @classmethod
    def make(cls, arguments: Mapping[str, Any]) -> JobSettings:
        """Check the arguments of :func:`discreet.anonymize` or :func:`discreet.pareto`, and make the parts they name.

        Arguments that are no settings, such as ``progress``, are left out.
        """
        given = {item.name: arguments[item.name] for item in fields(cls) if item.name in arguments}
        time_limit, seed = given.get("time_limit"), given.get("seed")
        _check_time_limit(time_limit)
        _check_seed(seed)
        _check_threads(given.get("threads"))
        for name in ("person", "household"):
            _check_owner(name, given.get(name))
        given["seed"] = draw_seed() if seed is None else seed
        given["privacy"] = tuple(PRIVACY.make(model) for model in as_list(given.get("privacy", ())))
        given["given_cost"] = given.get("cost")
        given["cost"] = cost_by_priorities(given.get("cost"), given.get("priorities"), given["quasi_identifiers"])
        for name in ("priorities", "keep_at_least", "min_levels", "max_levels", "derive"):
            given[name] = given.get(name) or {}
        levels_by_column(given["min_levels"])
        highest_levels(given["max_levels"], given["keep_at_least"])
        Shuffle.of(given.get("order", "random"))
        given["any_scheme"] = is_best(given["scheme"])
        given["scheme"] = make_schemes("full-domain") if given["any_scheme"] else _schemes(given["scheme"])
        given["suppression"] = SUPPRESSION.make(given["suppression"])
        if given["missing"] not in get_args(Missing):
            raise UsageError(f"missing is one of {', '.join(get_args(Missing))}, not '{given['missing']}'.")
        check_missing_sensitive(given["missing_sensitive"])
        switch(given.get("pseudonyms", False), "pseudonyms")
        if given["weights"] is not None and given["population"] is not None:
            raise UsageError("The population is either a table or estimated by weights; leave one of the two out.")
        reading = ReadOptions.make({name: arguments.get(name) for name in READING})
        if isinstance(given["data"], Mapping):
            given["data"] = {name: _to_read(table, reading) for name, table in given["data"].items()}
        else:
            given["data"] = _to_read(given["data"], reading)
        given["against"] = _tables(given.get("against"))
        if given["against"] and (given["person"] or given["household"]):
            raise UsageError(
                "Earlier releases do not say whose rows they have, so that people cannot be counted; leave out ",
                Argument("against"),
                ", or count rows.",
                topic="against",
            )
        given["engine"] = Engine(given["engine"], arguments["memory_limit"], arguments["spark"])
        return cls(**given)

    @property
    def table(self) -> Any:
        """The table as it was given, before any rows were drawn."""
        return self.data if self.sampled_from is None else self.sampled_from.data

    @property
    def highest_levels(self) -> dict[str, int]:
        """The highest level of each column that has a limit."""
        return highest_levels(self.max_levels, self.keep_at_least)

    @property
    def shuffle(self) -> Shuffle | None:
        """The random order of what is written; None keeps that of the table."""
        return Shuffle.of(self.order, self.seed)

    def describe_search(self, models: Iterable[PrivacyModel]) -> dict[str, Any]:
        """Return what was searched for, with the keys of a job file; optional keys only where they were used.

        ``models`` are the promises of the problem, which name the columns that those of the job left out.
        """
        presence = () if self.linked is None else self.linked.presence
        return {
            "privacy": [model.text for model in models],
            "cost": self.given_cost if self.priorities else self.cost,
            "suppression": self.suppression,
            "scheme": (self.linked and self.linked.scheme) or self.scheme,
            "solver": self.solver,
            **({"priorities": dict(self.priorities)} if self.priorities else {}),
            **({"keep_at_least": dict(self.keep_at_least)} if self.keep_at_least else {}),
            "min_levels": self.min_levels,
            "max_levels": {name: level for name, level in self.max_levels.items() if name not in presence},
            "time_limit": self.time_limit,
            **({} if self.threads is None else {"threads": self.threads}),
            **({} if self.order == "random" else {"order": self.order}),
            "seed": self.seed,
        }


def _to_read(data: Any, options: ReadOptions) -> Any:
    """Return the data with how to read it, if it is a file."""
    if options == ReadOptions():
        return data
    name = next(iter(options.to_dict()))
    if not isinstance(data, str | PathLike) or is_url(data):
        raise UsageError(
            Argument(name),
            " says how to read a file, and the data is not a file; leave it out.",
            topic="read-options",
        )
    if isinstance(data, TablePath):
        raise UsageError("How to read the file is said twice; leave ", Argument(name), " out.", topic="read-options")
    return TablePath(data, options)


def _tables(given: Any) -> tuple[Any, ...]:
    """Return one table or several as a tuple."""
    return tuple(given) if isinstance(given, list | tuple) else () if given is None else (given,)


def is_best(scheme: Any) -> bool:
    """Return whether several schemes are to be tried, instead of one or one per column."""
    return isinstance(scheme, str) and scheme.strip().lower() == "best"


def _schemes(choice: Any) -> Scheme | dict[str, Scheme]:
    """Return the schemes of a choice; a misspelled ``best`` is recognized too."""
    try:
        return make_schemes(choice)
    except UsageError as error:
        aliases = [alias for scheme in SCHEMES.members().values() for alias in scheme.aliases]
        if isinstance(choice, str) and error.topic == "unknown-name":
            best, closest = (
                did_you_mean(choice, names) for names in (["best"], [*SCHEMES.members(), *aliases, "best"])
            )
            if best:
                hint = best if closest == best else f"{best[:-1]} or {closest.removeprefix('did you mean ')}"
                raise UsageError(f"There is no scheme '{choice}'; {hint}", topic="unknown-name") from None
        raise


def as_list(choices: Any) -> list[Any]:
    """Return one choice or several as a list."""
    return list(choices) if isinstance(choices, Sequence) and not isinstance(choices, str) else [choices]


def cost_by_priorities(
    cost: str | Cost | None, priorities: Mapping[str, int] | None, columns: str | Iterable[str] = ()
) -> Cost:
    """Return the cost to minimize: priorities become its weights, and without a cost make it a score.

    ``columns`` are the quasi-identifiers, if they are known.

    >>> cost_by_priorities(None, {"zip": 10, "age": 5}).text
    'score(weights={zip: 10, age: 5})'
    >>> cost_by_priorities("NCP", {"zip": 10}).text
    'NCP(weights={zip: 10})'
    """
    chosen = COSTS.make(cost if cost is not None else "score" if priorities else "LM")
    if not priorities:
        return chosen
    if not isinstance(priorities, Mapping) or not all(isinstance(column, str) for column in priorities):
        raise UsageError("The priorities must map column names to whole numbers, as in {zip: 10, age: 5}.")
    names = [columns] if isinstance(columns, str) else list(columns)
    for column in priorities:
        if names and column not in names:
            hint = did_you_mean(column, names) or f"the quasi-identifiers are {', '.join(names)}."
            raise UsageError(
                f"A priority is given for '{column}', which is not a quasi-identifier; {hint}",
                column=column,
                topic="not-a-quasi-identifier",
            )
    weights = {column: whole_number(v, f"The priority of '{column}'", least=1) for column, v in priorities.items()}
    if "weights" not in {item.name for item in fields(chosen)}:  # type: ignore[arg-type]
        raise UsageError(f"The cost {chosen.name} has no weights, so priorities do not apply; choose score or LM.")
    if getattr(chosen, "weights", None):
        raise UsageError(f"The cost {chosen.text} has weights of its own; give either those or priorities.")
    return replace(chosen, weights=weights)  # type: ignore[type-var]


def highest_levels(max_levels: Mapping[str, int] | None, keep_at_least: Mapping[str, int] | None) -> dict[str, Any]:
    """Return the highest level of each column that has a limit, from the two parameters that set it.

    >>> highest_levels({"age": 3}, {"zip": 1})
    {'age': 3, 'zip': 1}
    """
    for limits in (max_levels, keep_at_least):
        levels_by_column(limits or {})
    both = sorted(set(max_levels or {}) & set(keep_at_least or {}))
    if both:
        raise UsageError(
            f"'{both[0]}' is in ",
            Argument("keep_at_least"),
            " and in ",
            Argument("max_levels"),
            ", which mean the same; give one.",
            column=both[0],
        )
    return {**(max_levels or {}), **(keep_at_least or {})}


def _check_time_limit(time_limit: Any) -> None:
    if time_limit is not None and (
        isinstance(time_limit, bool) or not isinstance(time_limit, int | float) or not time_limit > 0
    ):
        raise UsageError(f"The time limit is a number of seconds above 0, not {time_limit!r}.", topic="parameter")


def _check_seed(seed: Any) -> None:
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int) or seed < 0):
        raise UsageError("The seed is a whole number of at least 0.", topic="parameter")


def _check_owner(name: str, column: Any) -> None:
    if not isinstance(column, str | None):
        raise UsageError(
            f"The {name} is one column, named by text; where several columns together say whose row it is, make one "
            "of them first.",
            topic="people",
        )


def _check_threads(threads: Any) -> None:
    if threads is not None and (isinstance(threads, bool) or not isinstance(threads, int) or threads < 1):
        raise UsageError("The number of threads is a whole number of at least 1.", topic="parameter")
