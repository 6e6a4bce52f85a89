"""The possible values of a hidden sensitive cell, as an attacker infers them from what its class still shows.

A suppression that hides values hides all occurrences of a value in a class or none. So an attacker who knows which
values there are rules out for ``*`` every value that the class shows. If only values that are too frequent are hidden,
the attacker also rules out those that cannot be: a class of s known values with h hidden ones hides value i only if
h > θ_i · s. What is left are the *candidates* of the class; with a single one, nothing is hidden.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.problem.privacy import TOLERANCE, Groups, PrivacyModel, ThresholdModel
from discreet.runtime.plurals import amount

__all__ = ["HiddenValues", "HidingClasses", "candidates", "hiding_classes", "thresholds"]

_MOST_COUNTS = 1 << 22
"""Classes times values looked at at once."""


def candidates(
    occurs: NDArray[np.bool_], shown: NDArray[np.bool_], hidden: NDArray[np.int64], caps: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Return which values a hidden one of each class can be, (c, v).

    They occur in the table, the class does not show them, and ``hidden`` occurrences exceed what the class may have of
    them (``caps``).

    >>> candidates(np.ones(3, bool), np.array([[False, True, True]]), np.array([4]), np.array([[3, 3, 3]]))
    array([[ True, False, False]])
    """
    return np.asarray(occurs & ~shown & (hidden[:, np.newaxis] > caps))


@dataclass(frozen=True)
class HiddenValues:
    """How well the hidden values of a sensitive column can be guessed.

    The attacker knows the values of the column, sees the classes, and knows why values are hidden. All candidates of a
    class are taken for equally likely.
    """

    values: int
    """The number of hidden values."""
    classes: int
    """The number of classes that hide one."""
    fewest: int
    """The smallest number of candidates in a class that hides a value; 0 if none does."""
    known: int
    """Hidden values that can only be one value, and so are not hidden at all."""
    known_classes: int
    """The number of their classes."""
    confidence: float
    """How sure of a hidden value the attacker can be at most: 1 / ``fewest``."""
    guessed: float
    """The share of hidden values that a guess among the candidates gets right on average."""
    clear_classes: int
    """Classes that show a value although some candidate i is likelier than θ_i: 1 / candidates > θ_i.

    ``violating-values(hide=ambiguous)`` leaves none. 0 where no thresholds are known."""

    def lines(self) -> list[str]:
        """Return what an attacker can infer, in two lines."""
        known = (
            f"in {amount(self.known_classes, 'class', 'classes')} they can only be one value ({self.known:,} of them)"
        )
        return [
            f"{self.values:,} in {amount(self.classes, 'class', 'classes')}; "
            f"{known if self.known else f'each can be {self.fewest:,} values or more'}",
            f"guessed with a confidence of up to {self.confidence:.1%}, {self.guessed:.1%} on average",
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain data, ready for JSON."""
        return asdict(self)


def thresholds(models: Sequence[PrivacyModel], column: str, groups: Groups) -> NDArray[np.float64] | None:
    """Return the lowest threshold of each value of a column; None if no model has one."""
    own = [m for m in models if isinstance(m, ThresholdModel) and getattr(m, "attribute", None) == column]
    if not own:
        return None
    return np.asarray(np.min([model.thetas(groups.whole, groups.names) for model in own], axis=0))


@dataclass(frozen=True, eq=False)
class HidingClasses:
    """The classes that hide values, and what these can be."""

    where: NDArray[np.int64]
    """Their numbers."""
    hidden: NDArray[np.int64]
    """The values each hides."""
    candidates: NDArray[np.int64]
    """The number of values that a hidden one can be."""
    clear: NDArray[np.bool_]
    """Whether the class shows a value although some candidate is likelier than its threshold allows."""

    def expected(self, classes: int) -> NDArray[np.float64]:
        """Return how often a guess among the candidates is right in each of all classes."""
        right = np.zeros(classes)
        right[self.where] = self.hidden / self.candidates
        return right

    def summed_up(self) -> HiddenValues | None:
        """Return the figures of all classes together; None if no value is hidden."""
        if not self.where.size:
            return None
        alone = self.candidates == 1
        return HiddenValues(
            values=int(self.hidden.sum()),
            classes=int(self.where.size),
            fewest=int(self.candidates.min()),
            known=int(self.hidden[alone].sum()),
            known_classes=int(alone.sum()),
            confidence=float(1 / self.candidates.min()),
            guessed=float((self.hidden / self.candidates).sum() / self.hidden.sum()),
            clear_classes=int(self.clear.sum()),
        )


def hiding_classes(groups: Groups, thetas: NDArray[np.float64] | None = None) -> HidingClasses:
    """Return the classes that hide values, and what these can be.

    With ``thetas``, a value is hidden only where it is too frequent. Without, it may be any that the class does not
    show. A class that shows all values there are hides one that is not among them; about a class that shows nothing in
    a table without a known value nothing can be said, and it is left out.
    """
    known = groups.sizes if groups.known is None else groups.known
    hidden = groups.suppressed
    if hidden is None:
        hidden = known - np.bincount(groups.group, weights=groups.count, minlength=known.size).astype(np.int64)
    where = np.flatnonzero(hidden > 0)
    number, clear = np.ones(where.size, dtype=np.int64), np.zeros(where.size, dtype=np.bool_)
    for part, shown in _shown_values(groups, where):
        caps = np.zeros(shown.shape, dtype=np.int64)
        if thetas is not None:
            caps = _caps(known[where[part]], thetas)
        possible = candidates(groups.whole > 0, shown, hidden[where[part]], caps)
        number[part] = np.maximum(possible.sum(axis=1), shown.any(axis=1))
        if thetas is not None:
            likely = (possible & (_caps(number[part], thetas) < 1)).any(axis=1) | ~possible.any(axis=1)
            clear[part] = likely & shown.any(axis=1)
    kept = number > 0
    return HidingClasses(where[kept], hidden[where[kept]], number[kept], clear[kept])


def _caps(sizes: NDArray[np.int64], thetas: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the most rows of each value in classes of these sizes, (c, v)."""
    return np.floor(sizes[:, np.newaxis] * (thetas * (1 + TOLERANCE))).astype(np.int64)


def _shown_values(groups: Groups, where: NDArray[np.int64]) -> Iterator[tuple[slice, NDArray[np.bool_]]]:
    """Yield in portions which values some classes show, (c, v)."""
    width = groups.whole.size
    entry = np.flatnonzero(groups.count > 0)
    place = np.full(groups.sizes.size, -1, dtype=np.int64)
    place[where] = np.arange(where.size)
    row, value = place[groups.group[entry]], groups.value[entry]
    row, value = row[row >= 0], value[row >= 0]
    at_once = max(1, _MOST_COUNTS // max(width, 1))
    for first in range(0, where.size, at_once):
        part = slice(first, min(first + at_once, where.size))
        here = (row >= part.start) & (row < part.stop)
        shown = np.zeros((part.stop - part.start, width), dtype=np.bool_)
        shown[row[here] - part.start, value[here]] = True
        yield part, shown
