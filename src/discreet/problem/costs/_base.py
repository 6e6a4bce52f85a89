"""What a cost is: a number for each class published and for each class suppressed, added up."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from discreet.counts import CodedAttribute, CountTable, FloatArray, IntArray
from discreet.errors import UsageError
from discreet.problem._classes import Classes
from discreet.problem._family import Family, Part
from discreet.problem._text import outline

if TYPE_CHECKING:
    from discreet.problem.privacy._base import PrivacyModel
    from discreet.problem.schemes import Scheme

__all__ = ["COSTS", "Cost", "Separable"]


@dataclass(frozen=True, eq=False)
class Separable:
    """A cost that is a sum over rows and attributes, in the form every such cost here has.

    A published row whose leaf of attribute ``i`` lies in block ``b`` at level ``l`` costs, summed over ``i``,
    ``rate[i][l][b] * moment[i][leaf] + offset[i][leaf]``; a suppressed row costs ``penalty[i][leaf]`` summed
    over ``i``. ``block_rate(i, leaves, rows)`` is the rate of blocks that are no nodes of the hierarchy, given how many
    of its leaves and how many rows of the whole table they hold; None where the cost is not defined for such blocks.
    """

    rate: Sequence[Sequence[FloatArray]]
    moment: Sequence[FloatArray]
    offset: Sequence[FloatArray]
    penalty: Sequence[FloatArray]
    block_rate: Callable[[int, IntArray, IntArray], FloatArray] | None = None

    def sums(self, table: CountTable) -> tuple[float, FloatArray]:
        """Return what a suppressed row costs beyond its offset, and what to add up over the tuples of a class.

        The sums are the moments and, last, what the rows cost suppressed. There are none where every row has the
        moment 1 and costs the same suppressed, which is then told; otherwise that is 0.
        """
        plain = [p - o for p, o in zip(self.penalty, self.offset, strict=True)]
        if all((m == 1).all() for m in self.moment) and all((p == p[0]).all() for p in plain):
            return float(sum(p[0] for p in plain)), np.zeros((table.tuples, 0))
        columns = [moment[codes] * table.weights for moment, codes in zip(self.moment, table.codes, strict=True)]
        rest = sum(p[codes] for p, codes in zip(plain, table.codes, strict=True)) * table.weights
        return 0.0, np.stack([*columns, rest], axis=1)


class Cost(Part, ABC):
    """A cost of a recoding: lower is better. Totals over the published and the suppressed rows."""

    needs: ClassVar[frozenset[str]] = frozenset()
    """Which optional arrays of Classes it reads.

    Any of labels, blocks, block_leaves, block_rows, block_levels, extent (low, high), moments (moments, offsets) and
    joint, which only ``partly`` and ``labels_removed`` may read.
    """
    superadditive: ClassVar[bool] = False
    """A published class costs at least as much as its parts would, and at most as much as suppressed."""
    additive: ClassVar[bool] = True
    """The total is the sum over classes of ``published`` or ``suppressed``."""
    compiled: ClassVar[str | None] = None
    """The formula of its compiled fast path beside ``separable``, if it has one: "squares" or "minority"."""
    needs_hierarchy: ClassVar[bool] = False
    """Only defined where released values are levels of a hierarchy."""
    local: ClassVar[bool] = False
    """Also defined where each class shows its values in its own way, as under the scheme ``local``.

    Searches there know what ranges, nodes and sets of values cost by NCP and LM: they take these two, and others are
    only measured, unless they count values.
    """
    divisible: ClassVar[bool] = False
    """Defined by ``partly`` where some rows of a class go and the rest is published."""
    counts_values: ClassVar[bool] = False
    """It only looks at which values are to be seen in the release, and not at the rows that have them."""
    removal_never_pays: ClassVar[bool] = False
    """A class of which some rows go costs at least as much as the whole class published."""

    @property
    def shown(self) -> str:
        """The text form for people: nodes of hierarchies, whose names may be values, are counted."""
        return outline(self.text, by_column=True)

    @abstractmethod
    def published(self, classes: Classes) -> FloatArray:
        """Return for each class the total cost of its rows if the class is published."""

    @abstractmethod
    def suppressed(self, classes: Classes) -> FloatArray:
        """Return for each class the total cost of its rows if they are all suppressed."""

    def partly(self, classes: Classes, attribute: str, removed: IntArray) -> FloatArray:
        """Return for each class the total cost of its rows if some are suppressed and the rest is published.

        Of the rows of class ``c`` with value ``v`` of the sensitive attribute, ``removed[c, v]`` go. Asked only where
        ``divisible`` is set.
        """
        raise NotImplementedError

    def labels_removed(self, classes: Classes, attribute: str, removed: IntArray) -> IntArray | None:
        """Return how many rows of each value and class label go so that ``partly`` is the cost, (c, v, L).

        None, the default, says that the cost is the same whichever rows of a value go.
        """
        return None

    def total(self, classes: Classes, ok: NDArray[np.bool_]) -> float:
        """Return the cost of a whole recoding in which exactly the classes that are ok are published."""
        return float(self.published(classes)[ok].sum() + self.suppressed(classes)[~ok].sum())

    @abstractmethod
    def worst(self, table: CountTable) -> float:
        """Return the cost of suppressing everything, by which totals are normalized."""

    def floor(self, classes: Classes, smallest: int) -> FloatArray:
        """Return a lower bound on what each class's rows cost under this recoding and any more general one.

        ``smallest`` is the least size an ok class can have. Only used where the cost is superadditive.
        The default is the published cost.
        """
        return self.published(classes)

    def lower(self, classes: Classes, limit: int) -> float:
        """Return a lower bound on the total of a recoding with these classes, and of every more general one.

        ``limit`` records may be suppressed. Only used where the cost is not additive; the default knows
        nothing.
        """
        return 0.0

    def margin(self, classes: Classes, smallest: int = 1) -> FloatArray:
        """Return a lower bound per row on what suppressing the class or a part adds to the floor of its rows.

        A part is a class of a less general recoding. ``smallest`` is what ``floor`` was given: as the floor
        rises with it, less is left to add.
        """
        return np.zeros(len(classes))

    def value_penalty(self, table: CountTable) -> float | None:
        """Return what each sensitive value made unknown costs, or None if the cost does not define it."""
        return None

    def separable(self, table: CountTable) -> Separable | None:
        """Return the row-by-row form, if there is one; it agrees with ``published`` and ``suppressed``.

        Where the cost is not additive it agrees with ``total`` as long as nothing is suppressed, and is a lower bound
        otherwise.
        """
        return None

    def leaf_moment(self, attribute: CodedAttribute, table: CountTable) -> FloatArray | None:
        """Per-leaf numbers whose sums over each class ``published`` wants as ``classes.moments``."""
        return None

    def leaf_offset(self, attribute: CodedAttribute, table: CountTable) -> FloatArray | None:
        """Per-leaf numbers whose sums over each class ``published`` wants as ``classes.offsets``."""
        return None

    def told(self, table: CountTable, cost: float, lower_bound: float) -> dict[str, Any]:
        """Return further figures that follow from the cost of a release and from what is proven about it."""
        return {}

    def resolve(self, table: CountTable, privacy: Sequence[PrivacyModel]) -> Self:
        """Check the cost against the table (weights name real columns, …) and fill in what is left open."""
        weights = getattr(self, "weights", None) or {}
        for column in weights:
            if column not in table.names:
                raise UsageError(
                    f"The cost {self.name} has a weight for '{column}', which is not a quasi-identifier.",
                    column=column,
                    topic="not-a-quasi-identifier",
                )
        return self

    def check(self, table: CountTable, schemes: Sequence[Scheme]) -> None:
        """Raise a UsageError if the cost asks for what the attributes, recoded by these schemes, do not have."""
        return


COSTS: Family[Cost] = Family("cost", Cost, "discreet.problem.costs", "discreet.costs")  # type: ignore[type-abstract]
