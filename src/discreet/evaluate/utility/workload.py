"""Random predicates for the attributes of a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from discreet.evaluate.attribute import Attribute
from discreet.evaluate.spread import Predicate
from discreet.schema import ValueSet

__all__ = ["Query", "random_queries"]

Query = Mapping[int, Predicate]
"""The predicates of a query, by the index of their attribute."""

_ALL = ValueSet(frozenset(), missing=True, everything=True)


def random_queries(
    attributes: Sequence[Attribute],
    free: Sequence[int],
    dimensions: int,
    selectivity: float | None,
    random: np.random.Generator,
) -> Iterator[Query]:
    """Yield random queries forever, each on this many of the ``free`` attributes."""
    share = None if selectivity is None else selectivity ** (1 / dimensions)
    while True:
        chosen = random.permutation(len(free))[:dimensions] if dimensions < len(free) else np.arange(len(free))
        yield {free[i]: _predicate(attributes[free[i]], share, random) for i in sorted(chosen.tolist())}


def _predicate(attribute: Attribute, share: float | None, random: np.random.Generator) -> Predicate:
    if not attribute.present.size:
        return attribute.predicate(_ALL)
    if attribute.domain.positions is not None:
        return attribute.from_range(*_range(*attribute.ends, attribute.whole, share, random))
    return _node(attribute, share, random) if attribute.given else _subset(attribute, share, random)


def _range(
    least: float, greatest: float, whole: bool, share: float | None, random: np.random.Generator
) -> tuple[float, float]:
    """Draw both ends of a range; with a share, the position of a range that covers this share of the domain."""
    if share is None:
        ends = random.integers(int(least), int(greatest) + 1, 2) if whole else random.uniform(least, greatest, 2)
        return float(ends.min()), float(ends.max())
    if whole:
        numbers = int(greatest - least) + 1
        size = min(max(round(share * numbers), 1), numbers)
        low = least + float(random.integers(numbers - size + 1))
        return low, low + size - 1
    width = share * (greatest - least)
    start = random.uniform(least, greatest - width)
    return start, start + width


def _node(attribute: Attribute, share: float | None, random: np.random.Generator) -> Predicate:
    """Draw a value or an inner node, equally often; with a share, the ancestor of a random value nearest to it."""
    ancestors = attribute.domain.ancestors
    leaf = int(random.choice(attribute.present))
    if share is None:
        if random.random() < 0.5:
            return attribute.from_leaves(np.array([leaf]))
        level, block = attribute.inner_nodes[int(random.integers(len(attribute.inner_nodes)))]
    else:
        sizes = [np.count_nonzero(row == row[leaf]) / row.size for row in ancestors]
        level = int(np.argmin(np.abs(np.array(sizes) - share)))
        block = int(ancestors[level, leaf])
    under = np.flatnonzero(ancestors[level] == block)
    return attribute.predicate(_ALL) if under.size == ancestors.shape[1] else attribute.from_leaves(under)


def _subset(attribute: Attribute, share: float | None, random: np.random.Generator) -> Predicate:
    """Draw the number of values and then the values; with a share, as many values as that is."""
    count = attribute.present.size
    size = int(random.integers(1, count + 1)) if share is None else min(max(round(share * count), 1), count)
    return attribute.from_leaves(random.permutation(attribute.present)[:size])
