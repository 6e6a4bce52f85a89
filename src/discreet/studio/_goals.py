"""The goals of a project: what is promised, what is kept low, and how long the search may take."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple, get_args

from discreet.engines import Missing, MissingSensitive
from discreet.errors import DiscreetError, MissingColumnError, UsageError, did_you_mean

__all__ = ["Goals"]


@dataclass(frozen=True)
class Goals:
    """What is promised, what should be kept, and how long it may take."""

    privacy: tuple[str, ...] = ("k(5)",)
    cost: str = "LM"
    weights: Mapping[str, float] = field(default_factory=dict)
    priorities: Mapping[str, int] = field(default_factory=dict)
    keep_at_least: Mapping[str, int] = field(default_factory=dict)
    min_levels: Mapping[str, int] = field(default_factory=dict)
    suppression: str = "budget(5%)"
    scheme: str = "best"
    solver: str = "auto"
    time_limit: float | None = 60.0
    missing: str = "value"
    missing_sensitive: str = "unknown"
    seed: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the goals for the page."""
        plain = {item.name: getattr(self, item.name) for item in fields(self)}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in plain.items()}

    def changed(self, changes: Any, columns: Sequence[str]) -> tuple[Goals, str]:
        """Return the goals with some changed, and a name for the change; raise an error if a choice is not valid."""
        if not isinstance(changes, dict) or not changes:
            raise UsageError("The goals are given as a mapping from goal to choice.")
        new = {}
        for name, value in changes.items():
            if name not in _GOALS:
                hint = did_you_mean(name, _GOALS) or f"the goals are {', '.join(_GOALS)}."
                raise UsageError(f"There is no goal '{name}'; {hint}")
            try:
                new[name] = _GOALS[name].check(value, columns)
            except DiscreetError as error:
                error.column = error.column or name
                raise
        label = f"change {_GOALS[next(iter(changes))].label}" if len(changes) == 1 else "change goals"
        return replace(self, **new), label

    def promised_of(self, column: str) -> list[str]:
        """Return the promises about a sensitive column."""
        return [text for text in self.privacy if _attribute(text) == column]

    def protecting(self, column: str, diversity: int | None) -> Goals:
        """Return goals that promise so many different values of a column, unless it has a promise already."""
        from discreet.problem import PRIVACY
        from discreet.runtime.text_form import format_text

        if diversity is None or self.promised_of(column):
            return self
        text = PRIVACY.make(format_text("distinct-l", [diversity, column], {})).text
        return replace(self, privacy=(*self.privacy, text))

    def without(self, column: str) -> Goals:
        """Return goals without promises about a column, which is not sensitive any more."""
        left = tuple(text for text in self.privacy if _attribute(text) != column)
        return replace(self, privacy=left or Goals.privacy)

    def changes_since(self, before: Goals) -> list[str]:
        """Return which goals differ from earlier ones, in plain words."""
        names = [item.name for item in fields(self) if getattr(self, item.name) != getattr(before, item.name)]
        return list(dict.fromkeys(_GOALS[name].label for name in names))

    def for_front(self) -> Goals:
        """Return the goals of a front, which has one global scheme: full-domain unless another is chosen."""
        from discreet.job.settings import is_best

        local = self.scheme.startswith(("local", "cells"))
        return replace(self, scheme="full-domain") if is_best(self.scheme) or local else self

    def job(self) -> dict[str, Any]:
        """Return the goals as fields of a job."""
        return {
            "privacy": list(self.privacy),
            "cost": self._cost(),
            "suppression": self.suppression,
            "scheme": self.scheme,
            "solver": self.solver,
            "priorities": dict(self.priorities),
            "keep_at_least": dict(self.keep_at_least),
            "min_levels": dict(self.min_levels),
            "missing": self.missing,
            "missing_sensitive": self.missing_sensitive,
            "time_limit": self.time_limit,
            "seed": self.seed,
        }

    def _cost(self) -> str:
        if not self.weights:
            return self.cost
        from discreet.runtime.text_form import format_text, parse_text

        name, arguments, options = parse_text(self.cost)
        weights = {column: int(w) if float(w).is_integer() else w for column, w in self.weights.items()}
        return format_text(name, arguments, {**options, "weights": weights})


def _attribute(text: str) -> str | None:
    """Return the sensitive column that a promise names, if any."""
    from discreet.problem import PRIVACY

    found: str | None = getattr(PRIVACY.make(text), "attribute", None)
    return found


def _privacy(value: Any, columns: Sequence[str]) -> tuple[str, ...]:
    from discreet.problem import PRIVACY

    if not isinstance(value, list) or not value or not all(isinstance(item, str) for item in value):
        raise UsageError("A release must promise something; choose at least one privacy model, such as k(5).")
    return tuple(PRIVACY.make(item).text for item in value)


def _one_of(family: str) -> Callable[[Any, Sequence[str]], str]:
    def check(value: Any, columns: Sequence[str]) -> str:
        from discreet import problem
        from discreet.job.settings import is_best
        from discreet.problem import make_schemes

        if not isinstance(value, str):
            raise UsageError("This is given as text, such as k(5).")
        if family == "SCHEMES" and is_best(value):
            return "best"
        if family == "SCHEMES":
            made = make_schemes(value)
            return value if isinstance(made, Mapping) else made.text
        text: str = getattr(problem, family).make(value).text
        return text

    return check


def _solver(value: Any, columns: Sequence[str]) -> str:
    if not isinstance(value, str):
        raise UsageError("A method is given by its name, such as auto.")
    if value.strip() == "auto":
        return "auto"
    from discreet.solve import SOLVERS

    return SOLVERS.make(value).text


def _mapping(kind: type, least: float, what: str) -> Callable[[Any, Sequence[str]], dict[str, Any]]:
    def check(value: Any, columns: Sequence[str]) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise UsageError(f"{what} is given as a mapping from column to number.")
        for column, number in value.items():
            if column not in columns:
                raise MissingColumnError(column, columns)
            fits = isinstance(number, int | float) and not isinstance(number, bool) and least <= number < 1e9
            if not fits or (kind is int and number != int(number)) or (kind is float and number <= 0):
                limit = "above 0" if kind is float else f"of at least {least:g}"
                raise UsageError(f"{what} of '{column}' must be a number {limit}.", column=column)
        return {column: kind(number) for column, number in value.items()}

    return check


def _time_limit(value: Any, columns: Sequence[str]) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e9:
        raise UsageError("The time limit is a number of seconds above 0, or nothing.")
    return float(value)


def _choice(what: str, choices: Sequence[str]) -> Callable[[Any, Sequence[str]], str]:
    def check(value: Any, columns: Sequence[str]) -> str:
        if value not in choices:
            raise UsageError(f"{what} are treated in one of these ways: {', '.join(choices)}.")
        return str(value)

    return check


def _seed(value: Any, columns: Sequence[str]) -> int | None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 0):
        raise UsageError("The seed is a whole number of at least 0, or nothing.")
    return value


class _Goal(NamedTuple):
    """A choice: what a change of it is called, and how it is checked."""

    label: str
    check: Callable[[Any, Sequence[str]], Any]


_GOALS = {
    "privacy": _Goal("what is promised", _privacy),
    "cost": _Goal("what is kept low", _one_of("COSTS")),
    "weights": _Goal("what matters most", _mapping(float, 0, "The weight")),
    "priorities": _Goal("what matters most", _mapping(int, 1, "The priority")),
    "keep_at_least": _Goal("how far columns may be made coarser", _mapping(int, 0, "The highest level")),
    "min_levels": _Goal("how far columns must be made coarser", _mapping(int, 0, "The lowest level")),
    "suppression": _Goal("who may be left out", _one_of("SUPPRESSION")),
    "scheme": _Goal("how values may be joined", _one_of("SCHEMES")),
    "solver": _Goal("the method", _solver),
    "time_limit": _Goal("the time limit", _time_limit),
    "missing": _Goal("what missing values are", _choice("Missing values", get_args(Missing))),
    "missing_sensitive": _Goal(
        "what missing sensitive values are", _choice("Missing sensitive values", get_args(MissingSensitive))
    ),
    "seed": _Goal("the seed", _seed),
}
