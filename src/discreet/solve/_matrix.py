"""Which parts go together: each pair of parts is tried on a tiny table, and solvers are asked whether they take it."""

from __future__ import annotations

import dataclasses
import inspect
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from typing import Any, Literal, TypeGuard, get_type_hints

import numpy as np
from numpy.typing import NDArray

from discreet.counts import CodedAttribute, CountTable, Histogram, Population
from discreet.errors import DiscreetError, UnsupportedCombinationError, UsageError
from discreet.problem import COSTS, PRIVACY, SCHEMES, SUPPRESSION, PrivacyModel, Problem, Suppression
from discreet.runtime.parts import Family, Part
from discreet.solve._base import SOLVERS, Solver
from discreet.solve._choose import choose_solver

__all__ = ["PAIRS", "Combination", "combinations", "example_problem", "tiny_table"]

_FAMILIES: dict[str, Family[Any]] = {
    "schemes": SCHEMES,
    "suppression": SUPPRESSION,
    "costs": COSTS,
    "privacy": PRIVACY,
    "solvers": SOLVERS,
}
_PARAMETERS = {"schemes": "scheme", "suppression": "suppression", "costs": "cost", "privacy": "privacy"}
"""The parameter of :meth:`Problem.build` that takes a part of each family."""

PAIRS = (
    ("suppression", "schemes"),
    ("costs", "schemes"),
    ("privacy", "schemes"),
    ("schemes", "schemes"),
    ("costs", "suppression"),
    ("privacy", "suppression"),
    ("solvers", "schemes"),
    ("solvers", "suppression"),
    ("solvers", "costs"),
    ("solvers", "privacy"),
)
"""The families that are combined; a scheme with a scheme are those of two columns."""

_GUESSED = {int: 2, float: 0.5, str: "disease"}
"""Arguments by type, for parts of other packages that give no example."""

_MOST_UNUSUAL = 2
"""The most defaults of other families that are replaced so that a pair works."""

Choice = Mapping[str, str]
"""A text form from each family; two schemes, those of different columns, are separated by `` + ``."""

_Tried = tuple[str, Literal["compiled", "general"]] | DiscreetError
"""The name of a solver and how it searches, or why nothing does."""


@dataclass(frozen=True)
class Combination:
    """Whether two parts go together.

    >>> from discreet.solve import combinations
    >>> found = next(c for c in combinations() if (c.first, c.second) == ("DM", "full-domain"))
    >>> found.search, found.solver, found.partners["suppression"]
    ('compiled', 'lattice', 'none')
    """

    first_family: str
    first: str
    second_family: str
    second: str
    search: Literal["compiled", "general"] | None = None
    """How it is searched: in compiled kernels, or by general code that is slower. None if it is refused."""
    solver: str | None = None
    """The solver that was chosen, or the one that was asked for."""
    choice: Choice = field(default_factory=dict)
    """What was tried: a text form of each family. As many as possible are defaults."""
    unusual: Choice = field(default_factory=dict)
    """The partners that replace a default, which does not go with the two parts."""
    reason: str | None = None
    """Why it is refused, in one sentence with a way out."""
    refusal: tuple[str, ...] = ()
    """The same in pieces: the two parts that do not fit, and the way out; empty if it is another error."""
    other_forms: Mapping[str, Combination] = field(default_factory=dict)
    """Other examples of the two parts that are refused though the first one is not."""

    @property
    def works(self) -> bool:
        """Whether a solver takes it."""
        return self.search is not None

    @property
    def partners(self) -> Choice:
        """The other parts of the trial: a text form of each other family."""
        return {name: text for name, text in self.choice.items() if name not in (self.first_family, self.second_family)}

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for programs."""
        families = {"first_family": self.first_family, "second_family": self.second_family}
        found = {"first": self.first, "second": self.second, "search": self.search, "solver": self.solver}
        forms = {form: other.reason for form, other in self.other_forms.items()}
        more = {"partners": dict(self.partners), "reason": self.reason, "other_forms": forms}
        return families | found | more


def combinations(first: str | None = None, second: str | None = None) -> list[Combination]:
    """Return for each pair of parts whether a solver takes it; names of families limit it to them, in either order.

    A pair is tried with a default from each other family, then with other partners, as few as possible. It is refused
    if it goes with none of them; the reason is that of the partners nearest to the defaults.

    Parts of other packages are included. The first call takes seconds, as it loads all solvers and tries all pairs;
    further ones return what was found.
    """
    wanted = [family for family in (first, second) if family is not None]
    pairs = [pair for pair in PAIRS if all(wanted.count(family) <= pair.count(family) for family in wanted)]
    if not pairs:
        raise UsageError(
            f"The families {first} and {second} are not combined; the pairs are "
            f"{', '.join(' and '.join(pair) for pair in PAIRS)}."
        )
    forms = {name: _forms(family) for name, family in _FAMILIES.items()}
    known = _results(tuple((member, *texts) for each in forms.values() for member, texts in each.items()))
    if missing := [pair for pair in pairs if pair not in known]:
        matrix = _Matrix({name: {member.name: texts for member, texts in each.items()} for name, each in forms.items()})
        known.update({pair: list(matrix.pair(*pair)) for pair in missing})
    return [found for pair in pairs for found in known[pair]]


@lru_cache(maxsize=1)
def _results(parts: tuple[Any, ...]) -> dict[tuple[str, str], list[Combination]]:
    """Return where the combinations of these parts are kept; other parts, as those of other packages, begin anew."""
    return {}


def example_problem(choice: Choice) -> tuple[Problem, Solver]:
    """Return the problem of a choice on the tiny table, and the solver; raise an error if parts do not fit."""
    problem = _problem(tiny_table(), choice)
    return problem, choose_solver(problem, choice["solvers"])


def _problem(table: CountTable, choice: Choice) -> Problem:
    schemes = [_part("schemes", text) for text in choice["schemes"].split(" + ")]
    return Problem.build(
        table,
        scheme=dict(zip(table.names, itertools.cycle(schemes), strict=False)),
        **{name: _part(family, choice[family]) for family, name in _PARAMETERS.items() if family != "schemes"},
    )


@cache
def _part(family: str, text: str) -> Any:
    """Return the part of a text form; a model that names no sensitive attribute looks at the disease."""
    part = _FAMILIES[family].make(text)
    if getattr(part, "looks_at_sensitive", False) and getattr(part, "attribute", "") is None:
        return replace(part, attribute="disease")
    return part


class _Matrix:
    """The parts of all families, and the results of what was tried."""

    def __init__(self, forms: Mapping[str, Mapping[str, Sequence[str]]]) -> None:
        self.table = tiny_table()
        self.forms = forms
        built = inspect.signature(Problem.build).parameters
        self.usual = {family: built[name].default for family, name in _PARAMETERS.items() if name != "privacy"}
        self.usual |= {"privacy": next(iter(self.forms["privacy"].values()))[0], "solvers": "auto"}
        self._problems: dict[tuple[str, ...], Problem | DiscreetError] = {}
        self._tried: dict[tuple[str, ...], _Tried] = {}
        solvers = [form for forms in self.forms["solvers"].values() for form in forms]
        self._solvers = {form: SOLVERS.make(form) for form in solvers}
        self._models = dict(self._models_of_kinds())
        self._partners: dict[tuple[str, ...], list[Choice]] = {}
        self._alone: dict[tuple[str, str], Choice] = {}

    def pair(self, first_family: str, second_family: str) -> Iterator[Combination]:
        """Yield the combinations of two families."""
        for (first, forms), (second, others) in itertools.product(
            self.forms[first_family].items(), self.forms[second_family].items()
        ):
            names = (first_family, first, second_family, second)
            if not (forms and others):
                lacking = (second_family, second) if forms else (first_family, first)
                part = f"{_FAMILIES[lacking[0]].kind} {lacking[1]}"
                yield Combination(*names, reason=f"The {part} gives no example to try; add one to its class.")
                continue
            found = self._combine(names, forms[0], others[0])
            if not found.works and second_family == "schemes" and first_family != second_family:
                other = (self._combine(names, forms[0], form) for form in others[1:])
                found = next((one for one in other if one.works), found)
            refused = {}
            if found.works:
                usual = others[0] if first_family == second_family else found.choice[second_family]
                further = [(form, form, usual) for form in forms[1:]] + [
                    (form, forms[0], form) for form in others if form != usual
                ]
                tried = {form: self._combine(names, *both) for form, *both in further}
                refused = {form: one for form, one in tried.items() if not one.works}
            yield replace(found, other_forms=refused)

    def _combine(self, names: tuple[str, str, str, str], form: str, other: str) -> Combination:
        """Return two forms with the first partners that work, or why none does."""
        first_family, first, second_family, second = names
        fixed = {first_family: form, second_family: other}
        if first_family == second_family:
            fixed = {first_family: form if form == other else f"{form} + {other}"}
        refused: list[DiscreetError] = []
        for unusual in itertools.chain(self._attempts(fixed), self._own_partners(fixed)):
            choice = self._complete({**unusual, **fixed})
            tried = self._try(choice)
            if isinstance(tried, DiscreetError):
                refused.append(tried)
                continue
            solver, search = tried
            return Combination(*names, search, solver, choice, unusual)
        both = [_pattern(first_family, first), _pattern(second_family, second)]
        named = [error for error in refused if all(pattern.search(error.message) for pattern in both)]
        error = (named or refused[-1:])[0]
        pieces = [self._plain(piece) for piece in (*error.parts, error.way_out)] if _names_parts(error) else []
        return Combination(*names, reason=self._plain(error.message), refusal=tuple(pieces))

    def _own_partners(self, fixed: Choice) -> Iterator[Choice]:
        """Yield the partners that each of two parts works with alone, together: what is refused then is due to both."""
        choice: dict[str, str] = {}
        for family, form in reversed(list(fixed.items())):
            if (family, form) not in self._alone:
                works = (one for one in self._attempts({family: form}) if not self._fails({**one, family: form}))
                self._alone[family, form] = next(works, {})
            choice |= self._alone[family, form]
        yield {family: form for family, form in choice.items() if family not in fixed}

    def _models_of_kinds(self) -> Iterator[tuple[str, str]]:
        """Yield the default model of each suppression kind that suppresses by sensitive values."""
        for form in (forms[0] for forms in self.forms["suppression"].values() if forms):
            kind = _part("suppression", form)
            if kind.whole_classes and not kind.hides_values:
                continue
            for model in (forms[0] for forms in self.forms["privacy"].values() if forms):
                made = _part("privacy", model)
                if made.looks_at_sensitive and _accepts(kind, made):
                    yield form, model
                    break

    def _fails(self, changes: Choice) -> bool:
        return isinstance(self._try(self._complete(changes)), DiscreetError)

    def _complete(self, choice: Choice) -> dict[str, str]:
        """Return a choice with defaults of the other families; kinds that divide classes get a model they divide by."""
        found = {**self.usual, **choice}
        if "privacy" not in choice and found["suppression"] in self._models:
            found["privacy"] = self._models[found["suppression"]]
        return found

    def _plain(self, text: str) -> str:
        """Return a sentence without the columns of the tiny table."""
        return re.sub(rf" of '({'|'.join(self.table.names)})'", "", text)

    def _attempts(self, fixed: Choice) -> Iterator[Choice]:
        """Yield partners that are no defaults, as few as possible first; a solver by name comes after all others."""
        named = [] if "solvers" in fixed else [{"solvers": form} for form, one in self._solvers.items() if one.baseline]
        free = tuple(family for family in _PARAMETERS if family not in fixed)
        if free not in self._partners:
            self._partners[free] = list(self._replacements(free))
        for solver in ({}, *named):
            for unusual in self._partners[free]:
                choice = {**unusual, **fixed}
                if "privacy" in unusual and self._has_no_effect(choice):
                    continue
                if not solver or isinstance(self._problem(self._complete(choice)), Problem):
                    yield {**unusual, **solver}

    def _has_no_effect(self, choice: Choice) -> bool:
        """Return whether a suppression kind looks at sensitive values and the privacy model does not."""
        return choice.get("suppression") in self._models and not _part("privacy", choice["privacy"]).looks_at_sensitive

    def _replacements(self, free: Sequence[str]) -> Iterator[Choice]:
        """Yield what may replace the defaults of some families: nothing, one part or two."""
        others = {
            family: [forms[0] for forms in self.forms[family].values() if forms and forms[0] != self.usual[family]]
            for family in free
        }
        if "schemes" in others:  # some costs need a certain form of a scheme
            others["schemes"] += [form for forms in self.forms["schemes"].values() for form in forms[1:]]
        for replaced in range(_MOST_UNUSUAL + 1):
            for families in itertools.combinations(free, replaced):
                for chosen in itertools.product(*(others[family] for family in families)):
                    yield dict(zip(families, chosen, strict=True))

    def _problem(self, choice: Choice) -> Problem | DiscreetError:
        key = tuple(choice[family] for family in _PARAMETERS)
        if key not in self._problems:
            try:
                self._problems[key] = _problem(self.table, choice)
            except DiscreetError as error:
                self._problems[key] = error.with_traceback(None)
        return self._problems[key]

    def _try(self, choice: Choice) -> _Tried:
        """Return the solver of a choice and how it searches, or why the choice is refused."""
        key = tuple(choice[family] for family in _FAMILIES)
        if key not in self._tried:
            self._tried[key] = self._solver(choice)
        return self._tried[key]

    def _solver(self, choice: Choice) -> _Tried:
        problem = self._problem(choice)
        if isinstance(problem, DiscreetError):
            return problem
        try:
            solver = choose_solver(problem, self._solvers.get(choice["solvers"], "auto"))
        except DiscreetError as error:
            return error.with_traceback(None)
        return solver.name, "compiled" if solver.compiled(problem) else "general"


def _accepts(kind: Suppression, model: PrivacyModel) -> bool:
    try:
        kind.check([model])
    except UsageError:
        return False
    return True


def _names_parts(error: DiscreetError) -> TypeGuard[UnsupportedCombinationError]:
    return isinstance(error, UnsupportedCombinationError)


def _forms(family: Family[Any]) -> dict[type[Part], list[str]]:
    """Return text forms of each member of a family; of another package only what can be loaded."""
    members = list(family.members().values())
    for name in sorted(family.others()):
        with suppress(UsageError):
            members.append(family.find(name))  # type: ignore[arg-type]
    return {member: list(_examples(family, member)) for member in members}


def _examples(family: Family[Any], member: type[Part]) -> Iterator[str]:
    """Yield the examples of a member; without any, its name or a form with arguments by their types."""
    for form in member.examples or (member.name,):
        with suppress(DiscreetError):
            family.make(form)
            yield form
    if not member.examples:
        fields = [item for item in dataclasses.fields(member) if item.init]  # type: ignore[arg-type]
        types = get_type_hints(member)
        with suppress(DiscreetError, KeyError, TypeError):
            required = [item.name for item in fields if item.default is dataclasses.MISSING]
            if required:
                yield member(**{name: _GUESSED[types[name]] for name in required}).text


@cache
def _pattern(family: str, name: str) -> re.Pattern[str]:
    """Return what a sentence matches that names a part, as in "the scheme set"."""
    return re.compile(rf"\b{_FAMILIES[family].kind} {re.escape(name)}(?![\w+-])", re.IGNORECASE)


# --- the tiny table ---------------------------------------------------------------------------------------------------

_ROWS = 20
"""Rows of each tuple: more than the classes that examples of privacy models ask for."""


_AGE = ((0, 1, 2, 3), (0, 0, 1, 1), (0, 0, 0, 0)), (("20", "30", "40", "50"), ("20-39", "40-59"), ("*",))
_WORK = (
    ((0, 1, 2, 3, 4), (0, 0, 1, 2, 2), (0, 0, 0, 0, 0)),
    (("State", "Local", "Private", "Inc", "Not-inc"), ("Government", "Private", "Self-employed"), ("*",)),
)
_ZIP = ((0, 1), (0, 0)), (("1", "2"), ("*",))
_DISEASES = ("Ache", "Cold", "Cough", "Flu", "HIV", "Ulcer")
_DISEASE_TREE = ((0, 1, 2, 3, 4, 5), (0, 1, 1, 1, 2, 3), (0, 0, 0, 0, 0, 0))


@cache
def tiny_table() -> CountTable:
    """Return a table with the columns that examples of parts name; each tuple has one value of every other column."""
    trees = {"age": _AGE, "work": _WORK, "zip": _ZIP}
    leaves = [range(len(ancestors[0])) for ancestors, _ in trees.values()]
    codes = np.array(list(itertools.product(*leaves)), dtype=np.int32).T.copy()
    number = np.arange(codes.shape[1])
    weights = np.full(number.size, _ROWS, dtype=np.int64)
    attributes = tuple(
        CodedAttribute(
            name,
            np.array(ancestors, dtype=np.int32),
            np.bincount(column) * _ROWS,
            np.array(names[0], dtype=np.float64) if name == "age" else None,
            labels=names,
        )
        for (name, (ancestors, names)), column in zip(trees.items(), codes, strict=True)
    )
    disease, income, label = (number + number // 6) % 6, (number + number // 4) % 4, number % 2
    incomes = np.array([10.0, 20.0, 30.0, 40.0])
    return CountTable(
        attributes,
        codes,
        weights,
        {
            "disease": _histogram("disease", disease, _DISEASES, np.array(_DISEASE_TREE, dtype=np.int32)),
            "income": _histogram("income", income, tuple(map(str, incomes)), positions=incomes),
        },
        _histogram("label", label, ("no", "yes")),
        {
            "disease": _histogram("disease", disease * 2 + label, ("",) * 12),
            "income": _histogram("income", income * 2 + label, ("",) * 8),
        },
        Population(codes, (weights * 4).astype(np.float64), number),
    )


def _histogram(
    name: str,
    value: NDArray[np.int64],
    labels: tuple[str, ...],
    ancestors: NDArray[np.int32] | None = None,
    positions: NDArray[np.float64] | None = None,
) -> Histogram:
    """Return the histogram of a column with one value per tuple."""
    offsets, counts = np.arange(value.size + 1), np.full(value.size, _ROWS, dtype=np.int64)
    return Histogram(name, len(labels), offsets, value, counts, ancestors, labels, positions=positions)
