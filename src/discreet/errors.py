"""Everything that can go wrong, each with its own exit code and fields that name the culprit.

A message is one sentence that says what is wrong and the way out. It never holds a raw value of the data:
column names, counts and option values only.

Every error has a ``topic``, such as ``unknown-column``: ``discreet explain unknown-column`` prints the section of the
documentation of that name. Classes have one, and a single error may name a finer one. In Python the command stands
below the message as a note.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from discreet._words import amount, either

__all__ = [
    "AuditError",
    "DataError",
    "DiscreetError",
    "InfeasibleError",
    "InterruptedRun",
    "MissingColumnError",
    "NothingFoundError",
    "OutputError",
    "UndecidedColumnError",
    "UnsupportedCombinationError",
    "UsageError",
    "did_you_mean",
]


class DiscreetError(Exception):
    """Base of all errors a user can meet.

    ``column`` names the column concerned, if one is; ``topic`` the section of the documentation that explains it.
    """

    exit_code = 1
    topic = "unexpected"

    def __init__(self, message: str, *, column: str | None = None, topic: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.column = column
        if topic is not None:
            self.topic = topic
        self.add_note(f"More: discreet explain {self.topic}")

    def __reduce__(self) -> tuple[Any, ...]:
        return _remake, (type(self), self.message, self._pickled())

    def _pickled(self) -> dict[str, Any]:
        """Return the fields that may be pickled, as when an error comes from another process."""
        return dict(vars(self))


class UsageError(DiscreetError):
    """A parameter, option or job file asks for something that makes no sense."""

    exit_code = 2
    topic = "usage"


class UnsupportedCombinationError(UsageError):
    """Two parts of a problem do not go together; ``parts`` names both."""

    topic = "combination"

    def __init__(self, first: str, second: str, way_out: str) -> None:
        super().__init__(f"{first} does not go with {second}: {way_out}.")
        self.parts = (first, second)


class DataError(DiscreetError):
    """The data or a hierarchy cannot be used as it is."""

    exit_code = 3
    topic = "data"


class UndecidedColumnError(DataError):
    """Columns that are released as they are could tell who somebody is; ``columns`` names all of them."""

    topic = "undecided-column"

    def __init__(self, message: str, columns: Iterable[str]) -> None:
        names = list(columns)
        super().__init__(message, column=names[0] if len(names) == 1 else None)
        self.columns = names


class MissingColumnError(DataError):
    """A column that was asked for is not in the data."""

    topic = "unknown-column"

    def __init__(self, column: str, available: Iterable[str]) -> None:
        names = list(available)  # not shown: without a header they may be somebody's record
        others = f"there {either(len(names), 'is', 'are')} {amount(len(names), 'other')}"
        hint = did_you_mean(column, names) or f"{others}, which 'discreet info FILE' lists."
        super().__init__(f"There is no column '{column}'; {hint}", column=column)
        self.available = names

    def _pickled(self) -> dict[str, Any]:
        return {**vars(self), "available": []}


class InfeasibleError(DiscreetError):
    """No release of the problem satisfies the privacy models: the data decide, not the way of asking.

    ``smallest_budget`` records would do, if known; so would any one of ``limits``, mappings from column to level.
    """

    exit_code = 4
    topic = "no-release"

    def __init__(
        self,
        message: str,
        *,
        column: str | None = None,
        topic: str | None = None,
        smallest_budget: int | None = None,
        limits: Sequence[Mapping[str, int]] = (),
    ) -> None:
        super().__init__(message, column=column, topic=topic)
        self.smallest_budget = smallest_budget
        self.limits = list(limits)


class NothingFoundError(DiscreetError):
    """A search ended without a release and without a proof that there is none."""

    exit_code = 7
    topic = "nothing-found"


class AuditError(DiscreetError):
    """What was written does not keep a promise; nothing was left under the final name."""

    exit_code = 5
    topic = "audit-failed"


class OutputError(DiscreetError):
    """The result cannot be written where it should go."""

    exit_code = 6
    topic = "output"


class InterruptedRun(DiscreetError):  # noqa: N818 - it is how a run ended, not an error of the user's
    """Stopped by the user before there was anything to release."""

    exit_code = 130
    topic = "interrupted"


def _remake(kind: type[DiscreetError], message: str, fields: dict[str, Any]) -> DiscreetError:
    """Return an error that was pickled."""
    error = kind.__new__(kind, message)
    error.__dict__.update(fields)
    return error


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return ``did you mean 'x'?`` for the closest known word, whatever its case, or nothing.

    >>> did_you_mean("agge", ["Age", "Sex"])
    "did you mean 'Age'?"
    """
    spelled = {item.lower(): item for item in reversed(list(known))}
    close = get_close_matches(word.lower(), spelled, n=1)
    return f"did you mean '{spelled[close[0]]}'?" if close else ""
