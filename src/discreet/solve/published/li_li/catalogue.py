"""The states the Li-Li search has met: each has a number, and its blocks are in arrays for the kernels."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.counts import CodedAttribute, FloatArray, IntArray
from discreet.errors import UnsupportedCombinationError
from discreet.problem import Problem
from discreet.problem.schemes import Scheme
from discreet.problem.schemes.guided_ordered import GuidedOrdered
from discreet.solve.published.li_li.base import Direction, Enumeration, State
from discreet.solve.published.li_li.set_enumeration import Merges, Splits
from discreet.solve.published.li_li.step_enumeration import StepEnumeration, steps

__all__ = ["Catalogue", "Node", "enumeration", "enumerations"]

Node = tuple[int, ...]
"""The state of each attribute, by number: all combinations of their partitions."""

_MOST_CHOICES = 256
"""A random step is drawn from at most so many."""


@dataclass(eq=False)
class _StateBlocks:
    """One partition per state: the block of each leaf, the number of blocks, and the cost of a row by leaf."""

    blocks: NDArray[np.int32]
    count: NDArray[np.int64]
    cost: FloatArray

    @classmethod
    def empty(cls, room: int, leaves: int, priced: bool) -> _StateBlocks:
        """Return room for so many states."""
        return cls(
            np.zeros((room, leaves), dtype=np.int32),
            np.zeros(room, dtype=np.int64),
            np.zeros((room, leaves if priced else 0)),
        )

    def doubled(self) -> _StateBlocks:
        """Return the same with twice the room."""
        return _StateBlocks(*(np.concatenate([a, np.zeros_like(a)]) for a in (self.blocks, self.count, self.cost)))


@dataclass(eq=False)
class _CatalogueArrays:
    """The own and the extreme partition of each state."""

    own: _StateBlocks
    extreme: _StateBlocks


class Catalogue:
    """Numbers states, and remembers where their applicators lead."""

    def __init__(self, problem: Problem, direction: Direction) -> None:
        self.upward = direction == "bottom-up"
        self.leaves = [attribute.leaves for attribute in problem.table.attributes]
        self.enumerations = enumerations(problem, direction)
        self._leaf_costs: Callable[[int, IntArray], FloatArray] | None = None
        self._clear()

    def price_leaves(self, leaf_costs: Callable[[int, IntArray], FloatArray]) -> None:
        """Store with each state what a row with each leaf costs; call it before anything else."""
        self._leaf_costs = leaf_costs
        self._clear()

    def _clear(self) -> None:
        priced = self._leaf_costs is not None
        self._states: list[State] = []
        self._numbers: list[dict[State, int]] = [{} for _ in self.enumerations]
        self._known: dict[tuple[str, int, Any], int] = {}
        self._open: dict[int, list[Any]] = {}
        self.arrays = _CatalogueArrays(*(_StateBlocks.empty(64, max(self.leaves), priced) for _ in range(2)))
        self.root: Node = tuple(self._number(i, each.root) for i, each in enumerate(self.enumerations))

    def __len__(self) -> int:
        return len(self._states)

    def _number(self, i: int, state: State) -> int:
        """The number of a state of attribute ``i``."""
        number = self._numbers[i].get(state)
        if number is None:
            number = self._numbers[i][state] = len(self._states)
            self._states.append(state)
            self._write(i, number, state)
        return number

    def _write(self, i: int, number: int, state: State) -> None:
        if number == self.arrays.own.count.size:
            self.arrays = _CatalogueArrays(self.arrays.own.doubled(), self.arrays.extreme.doubled())
        partitions = self.enumerations[i]
        for into, found in (
            (self.arrays.own, partitions.own(state)),
            (self.arrays.extreme, partitions.extreme(state)),
        ):
            into.blocks[number, : found.size] = found
            into.count[number] = int(found.max(initial=0)) + 1
            if self._leaf_costs is not None:
                into.cost[number, : found.size] = self._leaf_costs(i, found)

    def blocks(self, node: Sequence[int], *, extreme: bool = False) -> tuple[IntArray, ...]:
        """Return the block of each leaf by attribute, in the own or the extreme recoding of a node."""
        of = self.arrays.extreme if extreme else self.arrays.own
        return tuple(
            of.blocks[state, :leaves].astype(np.int64) for state, leaves in zip(node, self.leaves, strict=True)
        )

    def is_list(self, i: int) -> bool:
        """Whether attribute ``i`` lists its children; see :class:`Enumeration`."""
        return self.enumerations[i].is_list

    def applicators(self, i: int, number: int) -> list[Any]:
        """Return the open applicators of a state of attribute ``i``."""
        found = self._open.get(number)
        if found is None:
            found = list(self.enumerations[i].applicators(self._states[number]))
            if not self.is_list(i):
                self._open[number] = found
        return found

    def is_open(self, i: int, number: int, applicator: Any) -> bool:
        """Return whether an applicator is open in a state."""
        return self.enumerations[i].is_open(self._states[number], applicator)

    def apply(self, i: int, number: int, applicator: Any) -> int:
        """Return the state with an applicator applied."""
        key = ("apply", number, applicator)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._number(i, self.enumerations[i].apply(self._states[number], applicator))
        return found

    def without(self, i: int, number: int, applicator: Any) -> int:
        """Return the state with an applicator ruled out."""
        key = ("without", number, applicator)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._number(i, self.enumerations[i].without(self._states[number], applicator))
        return found

    def without_all(self, i: int, number: int, applicators: Sequence[Any]) -> int:
        """Return the state with some applicators ruled out."""
        return self._number(i, self.enumerations[i].without_all(self._states[number], applicators))

    def frozen(self, i: int, number: int) -> int:
        """Return the state with all applicators ruled out."""
        return self._number(i, self.enumerations[i].frozen(self._states[number]))

    def children(self, i: int, number: int) -> Iterator[int]:
        """Yield states that together hold all partitions of a state but its own."""
        return (self._number(i, state) for state in self.enumerations[i].children(self._states[number]))

    def at_random(self, random: Random) -> Node:
        """Return a random node, by a random number of random steps from the root."""
        node = []
        for i, state in enumerate(self.root):
            most = abs(int(self.arrays.own.count[state] - self.arrays.extreme.count[state]))
            partitions, found = self.enumerations[i], self._states[state]
            for _ in range(random.randint(0, most)):
                choices = list(islice(partitions.applicators(found), _MOST_CHOICES))
                if not choices:
                    break
                found = partitions.apply(found, random.choice(choices))
            node.append(self._number(i, found))
        return tuple(node)


def enumeration(
    scheme: Scheme,
    attribute: CodedAttribute,
    direction: Direction,
    lowest: int = 0,
    highest: int | None = None,
) -> Enumeration:
    """Return the enumeration of a scheme between two levels.

    Every block consists of whole blocks of the lowest level and lies within one block of the highest. If that is the
    top of the hierarchy, schemes that may go beyond it do.
    """
    top = attribute.height if highest is None else highest
    if scheme.name in ("set", "guided-set"):
        kind = Merges if direction == "bottom-up" else Splits
        return kind(attribute, lowest, top, guided=scheme.name == "guided-set")
    if isinstance(scheme, GuidedOrdered):
        scheme.count(attribute)  # raises an error if the order contradicts the hierarchy
    if not scheme.is_global:
        raise UnsupportedCombinationError(
            f"The scheme {scheme.name}", "a search over partitions", "choose a local solver or the scheme set"
        )
    return StepEnumeration(steps(scheme.name, attribute, lowest, top), direction)


def enumerations(problem: Problem, direction: Direction) -> list[Enumeration]:
    """Return the enumeration of each attribute of a problem."""
    each = zip(problem.schemes, problem.table.attributes, problem.lowest, problem.highest, strict=True)
    return [enumeration(scheme, attribute, direction, low, high) for scheme, attribute, low, high in each]
