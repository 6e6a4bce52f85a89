"""Released values read back as ranges and sets of values."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from discreet.errors import UsageError
from discreet.schema._blocks import OR_MISSING, set_name
from discreet.schema._column import canonical, value_text
from discreet.schema._forms import as_hierarchy
from discreet.schema._hierarchy import ROOT, Hierarchy
from discreet.schema.builders.groups import GroupTree

__all__ = ["Interval", "ValueSet", "parse_block"]

Bound = int | float | datetime.date
Closed = Literal["left", "right", "both", "neither"]

_ITEM = re.compile(r'\s*(?:"((?:[^"]|"")*)"|([^",{}\s](?:[^",{}]*[^",{}\s])?))\s*(?:,|\Z)')
_RANGE = re.compile(r'([\[(])"?([^",]+?)"?, "?([^",]+?)"?\s*([\])])')
_HALF = re.compile(r"(<=?|>=?) (\S.*)")
_LEVEL = re.compile(r"(.*) \(level (\d+)\)", re.DOTALL)
_INTEGER = re.compile(r"[+-]?\d+")
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}.*)?")
_CLOSED: dict[str, Closed] = {"[]": "both", "[)": "left", "(]": "right", "()": "neither"}


@dataclass(frozen=True)
class Interval:
    """A range of numbers or dates. ``left``, ``right`` and ``closed`` are as in :class:`pandas.Interval`.

    An open end is infinite for numbers, and the first or last possible date for dates.

    >>> 17 in Interval(17, 23), 23.5 in Interval(17, 23), None in Interval(17, 23, missing=True)
    (True, False, True)
    """

    left: Bound
    right: Bound
    closed: Closed = "both"
    missing: bool = False
    """Whether the value may also be missing."""

    def __contains__(self, value: object) -> bool:
        if _is_missing(value):
            return self.missing
        bound = _bound(value_text(value))
        if bound is None or isinstance(bound, datetime.date) != isinstance(self.left, datetime.date):
            return False
        low, here, high = _comparable(self.left), _comparable(bound), _comparable(self.right)
        return bool(
            (low <= here if self.closed in ("left", "both") else low < here)
            and (here <= high if self.closed in ("right", "both") else here < high)
        )


@dataclass(frozen=True, repr=False)
class ValueSet:
    """A set of values, each as text; a single value is a set of one.

    >>> block = ValueSet(frozenset({"17", "Inc"}))
    >>> "Inc" in block, 17 in block, "Private" in block
    (True, True, False)
    """

    values: frozenset[str]
    missing: bool = False
    """Whether the value may also be missing."""
    everything: bool = False
    """Whether it is ``*``, which may be any value; ``values`` are those of the hierarchy, if one was given."""

    def __contains__(self, value: object) -> bool:
        if self.everything:
            return True
        if _is_missing(value):
            return self.missing
        text = value_text(value)
        return text in self.values or canonical(text) in map(canonical, self.values)

    def __repr__(self) -> str:
        if self.everything:
            return "ValueSet(everything)"
        return f"ValueSet({set_name(sorted(self.values))}{', missing=True' if self.missing else ''})"


def parse_block(released: object, hierarchy: Any = None) -> Interval | ValueSet:
    """Return the original values that a released value may be.

    Ranges such as ``[17, 23]``, ``[20, 30)``, ``< 18`` and ``>= 65`` become an :class:`Interval` of numbers or dates;
    sets such as ``{Inc, Private}`` and single values become a :class:`ValueSet`. Both support ``in``, and know whether
    the value may have been missing. Original values (a number, a date, a null) may be given too.

    >>> parse_block("{Inc, Private}"), parse_block("Private or missing"), parse_block(38)
    (ValueSet({Inc, Private}), ValueSet({Private}, missing=True), ValueSet({38}))
    >>> parse_block("[17, 23]")
    Interval(left=17, right=23, closed='both', missing=False)

    Only a hierarchy knows the values of a name such as ``Government``. Give one (a :class:`Hierarchy`, groups or a
    file), or the original values as a list if some look like ranges or sets themselves:

    >>> parse_block("Government", {"Government": ["State", "Local"], "Other": ["Private"]})
    ValueSet({Local, State})
    >>> parse_block("{a, b}"), parse_block("{a, b}", ["{a, b}", "c"])
    (ValueSet({a, b}), ValueSet({"{a, b}"}))
    """
    if _is_missing(released):
        return ValueSet(frozenset(), missing=True)
    text = value_text(released)
    tree = None if hierarchy is None else _tree(hierarchy)
    if text == ROOT:
        return ValueSet(frozenset(tree.leaves if tree else ()), missing=True, everything=True)
    if tree is not None and (known := _in_tree(text, tree)) is not None:
        return known
    missing = text.endswith(OR_MISSING) and text != OR_MISSING
    body = text.removesuffix(OR_MISSING) if missing else text
    return _range(body, missing) or ValueSet(frozenset(_items(body)), missing)


def _is_missing(value: object) -> bool:
    return value is None or type(value).__name__ in ("NAType", "NaTType") or bool(value != value)


def _tree(given: Any) -> Hierarchy:
    made = as_hierarchy(given)
    if isinstance(made, GroupTree):
        return made.hierarchy
    if isinstance(made, Hierarchy):
        return made
    raise UsageError(f"'{made.text}' needs to see the values; build it first, as in {made.name}(…).build(values).")


def _in_tree(text: str, tree: Hierarchy) -> ValueSet | None:
    """Return the leaves under all nodes of a name, which may end with its level; None if there is no such node.

    If a value has the name of its group, the leaves are those of the group.
    """
    leveled = _LEVEL.fullmatch(text)
    found = _levels_with_node(text, range(tree.height + 1), tree)
    if not found and leveled and int(leveled[2]) <= tree.height:
        found = _levels_with_node(leveled[1], [int(leveled[2])], tree)
    if not found:
        return None
    leaves = frozenset(leaf for _, under in found for leaf in under)
    root = any(0 < level == tree.height for level, _ in found)
    return ValueSet(leaves, missing=root, everything=root)


def _levels_with_node(name: str, levels: Iterable[int], tree: Hierarchy) -> list[tuple[int, list[str]]]:
    """Return the levels that have a node of a name, with the leaves under it."""
    return [
        (level, [tree.labels[0][leaf] for leaf in (tree.ancestors[level] == block).nonzero()[0].tolist()])
        for level, block in tree.nodes(name)
        if level in levels
    ]


def _items(text: str) -> list[str]:
    """Return the values of a set, or the text itself if it is not a set."""
    inner = text[1:-1] if text[:1] == "{" and text[-1:] == "}" else None
    if inner is None:
        quotes = re.fullmatch(r'"((?:[^"]|"")*)"\s*', text)
        return [quotes[1].replace('""', '"')] if quotes else [text]
    items, position = [], 0
    while position <= len(inner):
        match = _ITEM.match(inner, position)
        if match is None:
            return [text]
        items.append(match[2] if match[1] is None else match[1].replace('""', '"'))
        if not match[0].endswith(","):
            break
        position = match.end()
    return items


def _range(text: str, missing: bool) -> Interval | None:
    """Return the range of numbers or dates that a text describes, if it does."""
    if match := _RANGE.fullmatch(text):
        left, right = _bound(match[2]), _bound(match[3])
        closed = _CLOSED[match[1] + match[4]]
    elif match := _HALF.fullmatch(text):
        sign, bound = match[1], _bound(match[2])
        left, right = (_without_limit(bound, -1), bound) if sign[0] == "<" else (bound, _without_limit(bound, 1))
        closed = ("right" if sign[0] == "<" else "left") if sign[1:] else "neither"
    else:
        return None
    if left is None or right is None or isinstance(left, datetime.date) != isinstance(right, datetime.date):
        return None
    return Interval(left, right, closed, missing)


def _without_limit(bound: Bound | None, side: Literal[-1, 1]) -> Bound | None:
    if isinstance(bound, datetime.date):
        kind = type(bound)
        return kind.min if side < 0 else kind.max
    return None if bound is None else side * math.inf


def _bound(text: str) -> Bound | None:
    if _INTEGER.fullmatch(text):
        return int(text)
    if _NUMBER.fullmatch(text):
        return float(text)
    if _DATE.fullmatch(text):
        try:
            return datetime.datetime.fromisoformat(text) if len(text) > 10 else datetime.date.fromisoformat(text)
        except ValueError:
            return None
    return None


def _comparable(bound: Bound) -> Any:
    if isinstance(bound, datetime.datetime):
        return bound.replace(tzinfo=None)
    return datetime.datetime.combine(bound, datetime.time()) if isinstance(bound, datetime.date) else bound
