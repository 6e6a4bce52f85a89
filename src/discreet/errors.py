"""Every error a user can meet, with its exit code and the fields that name the culprit.

A message is one sentence: what is wrong, and the way out. It never quotes a value of the data, only column names,
counts and option values. Parameters it mentions are :class:`Argument` objects, so that the command line can print
``--missing value`` where Python prints ``missing='value'``.

``topic`` names the section that ``discreet explain TOPIC`` prints. Each class has one; a single error may name a finer
one. In Python the command is added to the traceback as a note.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from discreet.runtime.plurals import amount, either

__all__ = [
    "Argument",
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


@dataclass(frozen=True)
class Argument:
    """A parameter mentioned in a message, with the value to give it, if any.

    >>> str(Argument("missing", "value")), str(Argument("models", ())), str(Argument("min_levels"))
    ("missing='value'", 'models=()', 'min_levels')
    """

    name: str
    value: Any = None

    def __str__(self) -> str:
        return self.name if self.value is None else f"{self.name}={self.value!r}"


class DiscreetError(Exception):
    """Base of all errors a user can meet.

    The message is given in pieces; parameters among them are :class:`Argument` objects. ``column`` names the column
    concerned, if there is one; ``topic`` the section of the documentation that explains the error.
    """

    exit_code = 1
    topic = "unexpected"

    def __init__(self, *text: str | Argument, column: str | None = None, topic: str | None = None) -> None:
        self.text = text
        self.message = self.spelled(str)
        super().__init__(self.message)
        self.column = column
        if topic is not None:
            self.topic = topic
        self.add_note(f"More: discreet explain {self.topic}")

    def spelled(self, spell: Callable[[Argument], str]) -> str:
        """Return the message with the parameters spelled for a user interface.

        >>> UsageError("Choose ", Argument("missing", "value"), ".").spelled(lambda argument: f"--{argument.name}")
        'Choose --missing.'
        """
        return "".join(spell(piece) if isinstance(piece, Argument) else piece for piece in self.text)

    def __reduce__(self) -> tuple[Any, ...]:
        return _remake, (type(self), self.message, self._pickled())

    def _pickled(self) -> dict[str, Any]:
        """Return the fields to pickle, for errors that cross process boundaries."""
        return dict(vars(self))


class UsageError(DiscreetError):
    """A parameter, option or job file asks for something that makes no sense."""

    exit_code = 2
    topic = "usage"


class UnsupportedCombinationError(UsageError):
    """Two parts of a problem do not fit; ``parts`` names both, ``way_out`` says what would do."""

    topic = "combination"

    def __init__(self, first: str, second: str, way_out: str) -> None:
        super().__init__(f"{first} does not go with {second}: {way_out}.")
        self.parts = (first, second)
        self.way_out = way_out


class DataError(DiscreetError):
    """The data or a hierarchy cannot be used as it is."""

    exit_code = 3
    topic = "data"


class UndecidedColumnError(DataError):
    """Columns without a role could identify people if they were released unchanged; ``columns`` names them."""

    topic = "undecided-column"

    def __init__(self, *text: str | Argument, columns: Iterable[str]) -> None:
        names = list(columns)
        super().__init__(*text, column=names[0] if len(names) == 1 else None)
        self.columns = names


class MissingColumnError(DataError):
    """A column was named that the data does not have."""

    topic = "unknown-column"

    def __init__(self, column: str, available: Iterable[str]) -> None:
        names = list(available)  # not listed in the message: without a header they may be somebody's record
        others = f"there {either(len(names), 'is', 'are')} {amount(len(names), 'other')}"
        hint = did_you_mean(column, names) or f"{others}, which 'discreet info FILE' lists."
        super().__init__(f"There is no column '{column}'; {hint}", column=column)
        self.available = names

    def _pickled(self) -> dict[str, Any]:
        return {**vars(self), "available": []}


class InfeasibleError(DiscreetError):
    """No release of this problem satisfies the privacy models.

    ``smallest_budget`` is the smallest suppression budget that would do, if known. Each of ``limits`` maps columns to
    generalization levels that would do, too.
    """

    exit_code = 4
    topic = "no-release"

    def __init__(
        self,
        *text: str | Argument,
        column: str | None = None,
        topic: str | None = None,
        smallest_budget: int | None = None,
        limits: Sequence[Mapping[str, int]] = (),
    ) -> None:
        super().__init__(*text, column=column, topic=topic)
        self.smallest_budget = smallest_budget
        self.limits = list(limits)


class NothingFoundError(DiscreetError):
    """The search ended without a release, and without a proof that there is none."""

    exit_code = 7
    topic = "nothing-found"


class AuditError(DiscreetError):
    """What was written breaks a promise; nothing is left under the final name."""

    exit_code = 5
    topic = "audit-failed"


class OutputError(DiscreetError):
    """The result cannot be written to where it should go."""

    exit_code = 6
    topic = "output"


class InterruptedRun(DiscreetError):  # noqa: N818 - the user ended the run, which is no error
    """The user stopped the run before there was anything to release."""

    exit_code = 130
    topic = "interrupted"


def _remake(kind: type[DiscreetError], message: str, fields: dict[str, Any]) -> DiscreetError:
    """Restore a pickled error."""
    error = kind.__new__(kind, message)
    error.__dict__.update(fields)
    return error


_SIMILAR = 0.65
"""How similar two words have to be, from 0 to 1, for one to be a misspelling of the other."""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return ``did you mean 'x'?`` for the closest known word, ignoring case, or an empty string.

    >>> did_you_mean("agge", ["Age", "Sex"])
    "did you mean 'Age'?"
    """
    spelled = {item.lower(): item for item in reversed(list(known))}
    close = get_close_matches(word.lower(), spelled, n=1, cutoff=_SIMILAR)
    return f"did you mean '{spelled[close[0]]}'?" if close else ""
