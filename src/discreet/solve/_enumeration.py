"""The valid partitions of one attribute as a tree in which each is met exactly once, from below or from above.

A *state* stands for a set of partitions: one of them, its own, and others that are all more general (bottom-up) or all
more specific (top-down). An *applicator* is one step away from the state's own partition. ``apply`` leaves the
partitions that have made the step, ``without`` those that never do; together they are all the others. So the children
of a state are: the first applicator applied; the second applied without the first; the third without the first two;
and so on, in any order of the applicators. This is the set enumeration of Rymon that k-Optimize searches (``ordered``),
and with the applicators in their own order it is also the tree of section 3.1 of *Towards optimal k-anonymization* (Li
and Li, 2008) for ``set``.

States of several attributes make a product: a step of any attribute is a step of the whole (section 3.2). Attributes
may have different schemes.
"""

from __future__ import annotations

from collections.abc import Iterator

from discreet.counts import CodedAttribute
from discreet.errors import UnsupportedCombinationError
from discreet.problem import Problem
from discreet.problem.schemes import Scheme
from discreet.problem.schemes.guided_ordered import GuidedOrdered
from discreet.solve._enumeration_base import Direction, Enumeration, State
from discreet.solve._set_enumeration import Merges, Splits
from discreet.solve._step_enumeration import Implied, steps

__all__ = ["Direction", "Enumeration", "State", "descendants", "enumeration", "enumerations"]


def enumeration(
    scheme: Scheme,
    attribute: CodedAttribute,
    direction: Direction,
    lowest: int = 0,
    highest: int | None = None,
) -> Enumeration:
    """Return the partitions a scheme allows that keep to the levels a recoding may use.

    Every block holds all of each block of the lowest level it touches and lies inside one of the highest level; where
    this is the top of the hierarchy, schemes that may go beyond it do.
    """
    top = attribute.height if highest is None else highest
    if scheme.name in ("set", "guided-set"):
        kind = Merges if direction == "bottom-up" else Splits
        return kind(attribute, lowest, top, guided=scheme.name == "guided-set")
    if isinstance(scheme, GuidedOrdered):
        scheme.count(attribute)  # refuses an order that does not agree with the hierarchy
    if not scheme.is_global:
        raise UnsupportedCombinationError(
            f"The scheme {scheme.name}", "a search over partitions", "choose a local solver or the scheme set"
        )
    return Implied(steps(scheme.name, attribute, lowest, top), direction)


def enumerations(problem: Problem, direction: Direction) -> list[Enumeration]:
    """Return the partitions of each attribute of a problem."""
    each = zip(problem.schemes, problem.table.attributes, problem.lowest, problem.highest, strict=True)
    return [enumeration(scheme, attribute, direction, low, high) for scheme, attribute, low, high in each]


def descendants(partitions: Enumeration, state: State | None = None) -> Iterator[State]:
    """Yield a state, by default the root, and all below it: one for each partition it stands for."""
    open_ = [partitions.root if state is None else state]
    while open_:
        found = open_.pop()
        yield found
        open_.extend(partitions.children(found))
