"""Enumerations by steps that may imply others: all schemes except those of sets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.counts import CodedAttribute, IntArray
from discreet.errors import UsageError
from discreet.problem.schemes import Node, merged, roots
from discreet.solve.published.li_li.base import Direction, Enumeration, State, mask_of

__all__ = ["SchemeSteps", "StepEnumeration", "steps"]


@dataclass(frozen=True, eq=False)
class SchemeSteps:
    """The steps of a scheme from specific to general, and which steps imply which.

    Bit ``b`` of ``implied[a]`` says that step ``a`` implies step ``b``; each implies itself. All partitions make the
    steps ``made``, none those ``barred``; ``blocks`` returns the block of each leaf after some steps.
    """

    implied: Sequence[int]
    made: int
    barred: int
    blocks: Callable[[int], IntArray]
    widest_first: bool = False
    """Bottom-up, a step comes before those it implies, so that it is ruled out where they are made alone."""


class StepEnumeration(Enumeration):
    """Partitions described by the steps they make.

    A state is a pair of bit sets: steps applied, steps ruled out. Top-down, applying a step means not to make it, nor
    any step that implies it.
    """

    def __init__(self, steps: SchemeSteps, direction: Direction) -> None:
        count = len(steps.implied)
        self._all = (1 << count) - 1
        self._blocks = steps.blocks
        self._upward = direction == "bottom-up"
        implying = [mask_of(b for b in range(count) if steps.implied[b] >> a & 1) for a in range(count)]
        self._implied: Sequence[int] = steps.implied if self._upward else implying
        self._implying: Sequence[int] = implying if self._upward else steps.implied
        sign = -1 if steps.widest_first and self._upward else 1
        self._order = sorted(range(count), key=lambda a: (sign * self._implied[a].bit_count(), a))
        self.root = (steps.made, steps.barred) if self._upward else (steps.barred, steps.made)

    def applicators(self, state: State) -> Iterator[int]:
        """Yield the open steps, those that imply few others first (or last, see ``widest_first``)."""
        return (step for step in self._order if self.is_open(state, step))

    def is_open(self, state: State, applicator: int) -> bool:
        """Return whether the step is neither applied nor ruled out."""
        return not (state[0] | state[1]) >> applicator & 1

    def apply(self, state: State, applicator: int) -> State:
        """Apply the step with all it implies."""
        return state[0] | self._implied[applicator], state[1]

    def without(self, state: State, applicator: int) -> State:
        """Rule out the step and all that imply it."""
        return state[0], state[1] | self._implying[applicator]

    def frozen(self, state: State) -> State:
        """Rule out all that is not applied."""
        return state[0], self._all & ~state[0]

    def own(self, state: State) -> IntArray:
        """Return the blocks after the steps applied."""
        return self._blocks(state[0] if self._upward else self._all & ~state[0])

    def extreme(self, state: State) -> IntArray:
        """Return the blocks after all steps not ruled out, which is one of the state's partitions."""
        return self._blocks(self._all & ~state[1] if self._upward else state[1])


def steps(scheme: str, attribute: CodedAttribute, lowest: int, highest: int) -> SchemeSteps:
    """Return the steps of a scheme between two levels.

    A step of ``ordered`` removes the border between two neighbours, of ``guided-ordered`` also all borders within the
    two groups it joins. Those that join larger groups come first: so ⟨{1},{2,3},{4},{5,6},{7},{8}⟩ of the paper's
    Example 5 has one child, in which {7} and {8} are merged. A step of ``subtree`` makes a node one block, of
    ``full-domain`` goes up one level.
    """
    return _STEPS[scheme](attribute, lowest, highest)


def _ordered(attribute: CodedAttribute, lowest: int, highest: int) -> SchemeSteps:
    return _borders(attribute, [1 << border for border in range(attribute.leaves - 1)], lowest, highest)


def _guided_ordered(attribute: CodedAttribute, lowest: int, highest: int) -> SchemeSteps:
    implied = [1 << border for border in range(attribute.leaves - 1)]
    open_ = [merged(attribute)]
    while open_:
        node = open_.pop()
        open_.extend(node.children)
        for left, right in zip(node.children, node.children[1:], strict=False):
            for group in (left, right):
                implied[left.leaves[-1]] |= mask_of(group.leaves[:-1])
    return _borders(attribute, implied, lowest, highest)


def _borders(attribute: CodedAttribute, implied: Sequence[int], lowest: int, highest: int) -> SchemeSteps:
    """SchemeSteps that remove borders between neighbours; border ``b`` is the one after leaf ``b``."""
    made = barred = 0
    low, high = attribute.ancestors[lowest], attribute.ancestors[highest]
    for block in range(int(low.max(initial=-1)) + 1):
        leaves = np.flatnonzero(low == block)
        made |= mask_of(range(int(leaves[0]), int(leaves[-1])))
    if highest < attribute.height:
        barred = mask_of(np.flatnonzero(high[1:] != high[:-1]).tolist())
    if made & barred:
        raise UsageError(
            f"No ordered partition of '{attribute.name}' lies between its levels {lowest} and {highest}; "
            "allow more levels or choose another scheme.",
            column=attribute.name,
        )

    def blocks(removed: int) -> IntArray:
        stays = [not removed >> border & 1 for border in range(attribute.leaves - 1)]
        return np.concatenate([[0], np.cumsum(stays, dtype=np.int64)]).astype(np.int64)

    return SchemeSteps(implied, made, barred, blocks, widest_first=True)


def _subtree(attribute: CodedAttribute, lowest: int, highest: int) -> SchemeSteps:
    inner: list[Node] = []
    implied: list[int] = []

    def add(node: Node) -> int:
        """Add a node after all nodes below it; return it and them as a bit set."""
        below = sum(add(child) for child in node.children if child.children)
        own = 1 << len(inner)
        inner.append(node)
        implied.append(own | below)
        return own | below

    for root in roots(attribute):
        if root.children:
            add(root)
    low, high = attribute.ancestors[lowest], attribute.ancestors[highest]

    def in_one(levels: IntArray, node: Node) -> bool:
        return bool((levels[list(node.leaves)] == levels[node.leaves[0]]).all())

    def blocks(whole: int) -> IntArray:
        first = np.arange(attribute.leaves)
        for number, node in enumerate(inner):
            if whole >> number & 1:
                first[list(node.leaves)] = node.leaves[0]
        return np.asarray(np.unique(first, return_inverse=True)[1].reshape(-1), dtype=np.int64)

    return SchemeSteps(
        implied,
        made=mask_of(number for number, node in enumerate(inner) if in_one(low, node)),
        barred=mask_of(number for number, node in enumerate(inner) if not in_one(high, node)),
        blocks=blocks,
    )


def _full_domain(attribute: CodedAttribute, lowest: int, highest: int) -> SchemeSteps:
    levels = [lowest]
    for level in range(lowest + 1, highest + 1):
        if attribute.block_leaves[level].size < attribute.block_leaves[levels[-1]].size:
            levels.append(level)
    implied = [(2 << step) - 1 for step in range(len(levels) - 1)]

    def blocks(up: int) -> IntArray:
        return np.asarray(attribute.ancestors[levels[up.bit_count()]], dtype=np.int64)

    return SchemeSteps(implied, 0, 0, blocks)


_STEPS: dict[str, Callable[[CodedAttribute, int, int], SchemeSteps]] = {
    "ordered": _ordered,
    "guided-ordered": _guided_ordered,
    "subtree": _subtree,
    "full-domain": _full_domain,
}
