"""Which original and which released values of a column fit what is known about a person."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Set
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.counts import IntArray
from discreet.errors import DataError, UsageError, did_you_mean
from discreet.evaluate.classes import Int64Array
from discreet.evaluate.released_as import ReleasedAs, bind
from discreet.evaluate.spread import Block, Predicate
from discreet.runtime.plurals import amount
from discreet.schema import Hierarchy, Interval, ValueSet, as_hierarchy, make_domain, parse_block, text_of
from discreet.schema import plain as plain_values

__all__ = ["Fact", "Matches", "match_both", "match_released"]

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Fact:
    """A known fact about one column: a value, several possible values, or a range."""

    column: str
    given: Any

    @property
    def text(self) -> str:
        """The fact as text."""
        if isinstance(self.given, Set | list | tuple):
            return " or ".join(map(str, self.given))
        return "missing" if self.given is None else str(self.given)

    @property
    def block(self) -> Block:
        """The fact as a set of values or a range."""
        if isinstance(self.given, Set | list | tuple):
            blocks = [parse_block(item) for item in self.given]
            if any(isinstance(block, Interval) for block in blocks):
                raise UsageError(
                    f"Several ranges are given for column '{self.column}'; give a single one.", column=self.column
                )
            values = (block.values for block in blocks if isinstance(block, ValueSet))
            return ValueSet(frozenset().union(*values), missing=any(block.missing for block in blocks))
        return parse_block(self.given)


@dataclass(frozen=True, eq=False)
class Matches:
    """For the distinct values of a column, whether they fit: in the original table, if given, and in the release."""

    before: Mask | None
    after: Mask


def match_both(
    fact: Fact, original: pl.Series, rows: Int64Array, released: pl.Series, hierarchy: Any, kind: Any
) -> Matches:
    """Compare a fact with distinct original values and distinct released ones, as the attacks do.

    A number or date that the original table lacks still fits a released range around it.
    """
    attribute, _ = bind(fact.column, original, rows, hierarchy, kind, released)
    given = fact.given
    try:
        predicate = attribute.predicate(list(given) if isinstance(given, Set | list | tuple) else given)
    except (DataError, UsageError):
        raise _no_such_value(fact, released) from None
    spread = attribute.released(released)
    after = spread.overlaps(predicate)
    if attribute.domain.positions is not None and not predicate.leaves.any():
        after |= _covering(released, lambda label: _shares_a_value(fact.block, label))
    return Matches(_leaves_that_fit(predicate, attribute.domain.codes), after)


def _leaves_that_fit(predicate: Predicate, codes: IntArray) -> Mask:
    return np.asarray(predicate.leaves[codes])


def match_released(fact: Fact, released: pl.Series, hierarchy: Any, kind: Any) -> Matches:
    """Compare a fact with distinct released values alone.

    A released value fits if it is ``*``, if its text is a range or set that includes the fact, or if the hierarchy or
    the mapping of the release says that it covers the fact.
    """
    block = fact.block
    covering = _labels_covering(fact, block, hierarchy, kind)
    texts = released_texts(fact.column, released)
    after = _covering(released, lambda label: _shares_a_value(block, label))
    after |= texts.is_in(list(covering)).fill_null(False).to_numpy()
    if not after.any() and not (_numeric([fact.text]) and _numeric(texts.drop_nulls().to_list())):
        raise _no_such_value(fact, released)
    return Matches(None, after)


def _labels_covering(fact: Fact, block: Block, hierarchy: Any, kind: Any) -> set[str]:
    """Return the names of released values that cover a fact, by a mapping or a hierarchy."""
    if isinstance(hierarchy, ReleasedAs):
        meanings = hierarchy.values.items()
        covering = {label for label, values in meanings if any(value in block for value in values)}
        return covering or _labels_covering(fact, block, hierarchy.hierarchy, kind)
    if isinstance(block, Interval) or not block.values:
        return set()
    if hierarchy is None or (isinstance(hierarchy, str) and hierarchy.startswith("auto")):
        return set()  # an automatic hierarchy depends on all values
    tree = as_hierarchy(hierarchy)
    values = pl.Series(fact.column, sorted(block.values), dtype=pl.String)
    if isinstance(tree, Hierarchy):
        values = values.filter(pl.Series(tree.find(values) >= 0, dtype=pl.Boolean))
    try:
        domain = make_domain(fact.column, values, hierarchy, type=kind)
    except DataError:
        return set()
    return {str(domain.labels[level][node]) for level, row in enumerate(domain.ancestors) for node in row[domain.codes]}


def released_texts(column: str, released: pl.Series) -> pl.Series:
    """Return released values as text."""
    return text_of(plain_values(column, released))


def _covering(released: pl.Series, fits: Callable[[Block], bool]) -> Mask:
    texts = released_texts(released.name, released).to_list()
    return np.array([fits(parse_block(text)) for text in texts], dtype=np.bool_)


def _shares_a_value(fact: Block, label: Block) -> bool:
    """Whether a value can be both."""
    if isinstance(label, ValueSet) and label.everything:
        return True
    if fact.missing and label.missing:
        return True
    if isinstance(fact, ValueSet):
        masks = [mask for mask in label.values if "*" in mask] if isinstance(label, ValueSet) else []
        return any(value in label or any(_masked(value, mask) for mask in masks) for value in fact.values)
    if isinstance(label, ValueSet):
        return any(value in fact for value in label.values)
    return _overlap(fact, label)


def _masked(value: str, mask: str) -> bool:
    """Whether a value has the characters that a mask such as ``151**`` leaves."""
    return len(value) == len(mask) and all(shown in ("*", own) for own, shown in zip(value, mask, strict=True))


def _overlap(one: Interval, other: Interval) -> bool:
    """Whether two ranges of numbers, or of dates, overlap."""
    ends: list[tuple[Any, bool]] = [(each.left, each.closed in ("left", "both")) for each in (one, other)]
    tops: list[tuple[Any, bool]] = [(each.right, each.closed in ("right", "both")) for each in (one, other)]
    try:
        low, high = max(ends, key=lambda end: (end[0], not end[1])), min(tops)
        return bool(low[0] < high[0] or (low[0] == high[0] and low[1] and high[1]))
    except TypeError:  # numbers and dates
        return False


def _numeric(texts: Iterable[str]) -> bool:
    """Whether texts are numbers, dates or ranges of these, so that a value outside all of them makes sense."""
    return all(isinstance(parse_block(text), Interval) or _is_number(text) for text in texts)


def _is_number(text: str) -> bool:
    return isinstance(parse_block(f"[{text}, {text}]"), Interval)


def _no_such_value(fact: Fact, released: pl.Series) -> UsageError:
    """Return the error for a value that no table has; it suggests released values only."""
    labels = released_texts(fact.column, released).drop_nulls().to_list()
    blocks = [parse_block(label) for label in labels]
    members = sorted({value for block in blocks if isinstance(block, ValueSet) for value in block.values})
    hint = did_you_mean(fact.text, [*labels, *members])
    if not hint:
        hint = f"its {amount(len(labels), 'released value')} and the nodes of its hierarchy can be given."
    return UsageError(f"Column '{fact.column}' has no such value; {hint}", column=fact.column, topic="find")
