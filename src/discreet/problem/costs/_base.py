"""The base class of costs: a number for each published and for each suppressed class, added up."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from discreet.counts import CodedAttribute, CountTable, FloatArray, IntArray
from discreet.errors import UsageError
from discreet.problem.classes import Classes
from discreet.runtime.parts import Family, Part
from discreet.runtime.text_form import outline

if TYPE_CHECKING:
    from discreet.problem.privacy._base import PrivacyModel
    from discreet.problem.schemes import Scheme

__all__ = ["COSTS", "AttributeCosts", "Cost", "Separable"]


@dataclass(frozen=True, eq=False)
class Separable:
    """A cost that is a sum over rows and attributes.

    A published row whose leaf of attribute ``i`` lies in block ``b`` at level ``l`` costs, summed over ``i``,
    ``rate[i][l][b] * moment[i][leaf] + offset[i][leaf]``; a suppressed row costs ``penalty[i][leaf]``, summed over
    ``i``. ``block_rate(i, leaves, rows)`` is the rate of blocks that are not nodes of the hierarchy, by the leaves
    and the rows of the whole table in them; None if the cost is not defined for such blocks.
    """

    rate: Sequence[Sequence[FloatArray]]
    moment: Sequence[FloatArray]
    offset: Sequence[FloatArray]
    penalty: Sequence[FloatArray]
    block_rate: Callable[[int, IntArray, IntArray], FloatArray] | None = None

    def sums(self, table: CountTable, *, always: bool = False) -> tuple[float, FloatArray]:
        """Return the penalty of a suppressed row beyond its offset, and columns to add up over the tuples of a class.

        The columns are the moments of each attribute and, last, the penalties. If every moment is 1 and every row has
        the same penalty, there are no columns, unless they are ``always`` wanted; otherwise the penalty returned is 0.
        """
        plain = [p - o for p, o in zip(self.penalty, self.offset, strict=True)]
        if not always and all((m == 1).all() for m in self.moment) and all((p == p[0]).all() for p in plain):
            return float(sum(p[0] for p in plain)), np.zeros((table.tuples, 0))
        columns = [moment[codes] * table.weights for moment, codes in zip(self.moment, table.codes, strict=True)]
        rest = sum(p[codes] for p, codes in zip(plain, table.codes, strict=True)) * table.weights
        return 0.0, np.stack([*columns, rest], axis=1)


@dataclass(frozen=True, eq=False)
class AttributeCosts:
    """What classes cost by attribute; everything that is the same for all attributes is divided among them."""

    published: FloatArray
    """(c, m) of the rows of each class if it is published.

    It sums up to ``Cost.published``, and is never less in a more general recoding.
    """
    margin: FloatArray
    """(c, m) a lower bound, per row, on what suppressing any row of the class costs more than publishing it."""
    penalty: FloatArray
    """(m,) of each suppressed row."""


class Cost(Part, ABC):
    """The information loss of a recoding, lower is better: a total over published and suppressed rows."""

    needs: ClassVar[frozenset[str]] = frozenset()
    """The optional arrays of :class:`Classes` it reads.

    Any of ``labels``, ``blocks``, ``block_leaves``, ``block_rows``, ``block_levels``, ``extent`` (low and high),
    ``set_sizes``, ``moments`` (moments and offsets), ``joint``, which only :meth:`partly` and :meth:`labels_removed`
    may read, and ``members``, which only :meth:`partly` and :meth:`members_removed` may read.

    If it is wrong, an array is None.
    """
    superadditive: ClassVar[bool] = False
    """A published class costs at least as much as its parts would, and at most as much as when it is suppressed.

    If it is wrong, lower bounds are too high, and what exact solvers call optimal may not be.
    """
    additive: ClassVar[bool] = True
    """The total is the sum of ``published`` or ``suppressed`` over the classes.

    If it is wrong, solvers minimize something else than :meth:`total`.
    """
    compiled: ClassVar[str | None] = None
    """The formula of its compiled fast path beside ``separable``, if it has one: ``squares`` or ``minority``.

    If it is wrong, solvers minimize another cost.
    """
    needs_hierarchy: ClassVar[bool] = False
    """Only defined if released values are nodes of a hierarchy, as under full-domain and subtree.

    If it is wrong, ``block_levels`` means nothing under other schemes.
    """
    local: ClassVar[bool] = False
    """Also defined if each class recodes its values by itself, as under the scheme ``local``.

    Local solvers minimize NCP, LM and precision in kernels, and other costs with this flag through their arrays.

    If it is wrong, reports on local recodings show a figure that means nothing.
    """
    divisible: ClassVar[bool] = False
    """Some rows of a class may be suppressed and the rest published, see :meth:`partly`.

    If it is wrong, ``violating-records`` fails.
    """
    counts_values: ClassVar[bool] = False
    """It only depends on which values occur in the release, not on how many rows have them.

    If it is wrong, ``auto`` chooses a solver for scores, which prices another cost.
    """
    tells_suppressed: ClassVar[bool] = False
    """The cost of released rows depends on the values of suppressed ones, by ranges or counts of the whole table.

    Reports then withhold it where somebody was suppressed. If it is wrong, reports may reveal such a value.
    """
    solver: ClassVar[str | None] = None
    """The name of the solver that is made for it, which ``auto`` takes; None for the usual one of the scheme."""
    removal_never_pays: ClassVar[bool] = False
    """A class with some rows suppressed costs at least as much as the whole class published.

    If it is wrong, lower bounds are too high, and what exact solvers call optimal may not be.
    """

    @property
    def shown(self) -> str:
        """The text form for messages and reports; nodes of hierarchies, whose names may be values, are only counted."""
        return outline(self.text, by_column=True)

    @abstractmethod
    def published(self, classes: Classes) -> FloatArray:
        """Return the total cost of the rows of each class if it is published."""

    @abstractmethod
    def suppressed(self, classes: Classes) -> FloatArray:
        """Return the total cost of the rows of each class if it is suppressed."""

    def partly(self, classes: Classes, attribute: str, removed: IntArray) -> FloatArray:
        """Return the total cost of the rows of each class if some are suppressed and the rest is published.

        Of the rows of class ``c`` with value ``v`` of the sensitive attribute, ``removed[c, v]`` are suppressed.
        Called only if ``divisible`` is set.
        """
        raise NotImplementedError

    def labels_removed(self, classes: Classes, attribute: str, removed: IntArray) -> IntArray | None:
        """Return the rows of each value and class label to suppress so that :meth:`partly` is the cost, (c, v, L).

        None, the default, means that the cost is the same whichever rows of a value are suppressed.
        """
        return None

    def members_removed(self, classes: Classes, attribute: str, removed: IntArray) -> IntArray | None:
        """Return the rows of each entry of ``classes.members`` to suppress so that :meth:`partly` is the cost.

        None, the default, means that the cost is the same whichever tuples the suppressed rows have.
        """
        return None

    def total(self, classes: Classes, ok: NDArray[np.bool_]) -> float:
        """Return the cost of a recoding that publishes exactly the classes that are ``ok``."""
        return float(self.published(classes)[ok].sum() + self.suppressed(classes)[~ok].sum())

    @abstractmethod
    def worst(self, table: CountTable) -> float:
        """Return the cost of suppressing everything, by which totals are normalized."""

    def floor(self, classes: Classes, smallest: int) -> FloatArray:
        """Return a lower bound on what the rows of each class cost in this recoding and in any more general one.

        ``smallest`` is the least size of an ok class. Used only if the cost is superadditive. The default is the
        published cost.
        """
        return self.published(classes)

    def divided_floor(self, classes: Classes) -> FloatArray:
        """Return the same as :meth:`floor` if some rows of a class may be suppressed and the rest published.

        The default is the floor if ``removal_never_pays``, else 0.
        """
        return self.floor(classes, 1) if self.superadditive and self.removal_never_pays else np.zeros(len(classes))

    def divided_margin(self, classes: Classes, largest: IntArray) -> FloatArray:
        """Return a lower bound on what each suppressed row of a class adds to its :meth:`divided_floor`.

        ``largest`` is the most rows of a class that its rows may be in. The default is 0.
        """
        return np.zeros(len(classes))

    def lower(self, classes: Classes, limit: int) -> float:
        """Return a lower bound on the total of a recoding with these classes and of every more general one.

        Up to ``limit`` records may be suppressed. Used only if the cost is not additive. The default is 0.
        """
        return 0.0

    def lower_by_counts(self, table: CountTable, limit: int, classes: int, values: Sequence[int]) -> float:
        """Return a lower bound on the total of a release with at most so many classes and values of each attribute.

        Up to ``limit`` records may be suppressed. Used only if the cost is not additive. The default is 0.
        """
        return 0.0

    def margin(self, classes: Classes, smallest: int = 1) -> FloatArray:
        """Return a lower bound, per row, on what suppressing a class or a part of it adds to its :meth:`floor`.

        A part is a class of a less general recoding. ``smallest`` is the same as for ``floor``.
        """
        return np.zeros(len(classes))

    def value_penalty(self, table: CountTable) -> float | None:
        """Return what each suppressed sensitive value adds to the cost of its record; None if it is not defined."""
        return None

    def by_attribute(self, classes: Classes) -> AttributeCosts | None:
        """Return what each attribute contributes to the cost, if the cost is a sum over attributes.

        Bounds add up the least contributions of the attributes. If it is wrong, they are too high.
        """
        return None

    def separable(self, table: CountTable) -> Separable | None:
        """Return the cost as a sum over rows and attributes, if it is one; it agrees with the other methods.

        For a cost that is not additive it agrees with :meth:`total` if nothing is suppressed, and is a lower bound
        otherwise.
        """
        return None

    def leaf_moment(self, attribute: CodedAttribute, table: CountTable) -> FloatArray | None:
        """Return a number per leaf, whose sum over a class :meth:`published` reads as ``classes.moments``.

        A matrix has several numbers per leaf, each of which becomes a column of the moments.
        """
        return None

    def leaf_offset(self, attribute: CodedAttribute, table: CountTable) -> FloatArray | None:
        """Return a number per leaf, whose sum over a class :meth:`published` reads as ``classes.offsets``."""
        return None

    def figures(self, table: CountTable, cost: float, lower_bound: float) -> dict[str, Any]:
        """Return further figures for the report that follow from the cost of a release and its lower bound."""
        return {}

    def resolve(self, table: CountTable, privacy: Sequence[PrivacyModel]) -> Self:
        """Return the cost with what was left open filled in; raise a UsageError if a weight names an unknown column."""
        weights = getattr(self, "weights", None) or {}
        for column in weights:
            if column not in table.names:
                raise UsageError(
                    f"The cost {self.name} has a weight for '{column}', which is not a quasi-identifier.",
                    column=column,
                    topic="not-a-quasi-identifier",
                )
        return self

    def without(self, columns: Collection[str]) -> Self:
        """Return the cost with no weight on some quasi-identifiers, if it has weights."""
        given = getattr(self, "weights", None)
        if not columns or given is None:
            return self
        other = copy(self)  # a weight of a user is above 0
        object.__setattr__(other, "weights", {**given, **dict.fromkeys(columns, 0.0)})
        return other

    def check(self, table: CountTable, schemes: Sequence[Scheme]) -> None:
        """Raise a UsageError if the cost needs something that attributes recoded by these schemes do not have."""
        return


COSTS: Family[Cost] = Family("cost", Cost, "discreet.problem.costs", "discreet.costs")  # type: ignore[type-abstract]
