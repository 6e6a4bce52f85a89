"""The enumeration of each scheme; see :mod:`discreet.solve.published.li_li.base`."""

from __future__ import annotations

from discreet.counts import CodedAttribute
from discreet.errors import UnsupportedCombinationError
from discreet.problem import Problem
from discreet.problem.schemes import Scheme
from discreet.problem.schemes.guided_ordered import GuidedOrdered
from discreet.solve.published.li_li.base import Direction, Enumeration
from discreet.solve.published.li_li.set_enumeration import Merges, Splits
from discreet.solve.published.li_li.step_enumeration import StepEnumeration, steps

__all__ = ["enumeration", "enumerations"]


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
