"""Random predicates for the attributes of a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from discreet.evaluate._attribute import Attribute
from discreet.evaluate._spread import Predicate
from discreet.schema import ValueSet

__all__ = ["Query", "random_queries"]

Query = Mapping[int, Predicate]
"""A predicate for each attribute that is asked for, by its number."""

_ALL = ValueSet(frozenset(), missing=True, everything=True)


def random_queries(
    attributes: Sequence[Attribute],
    asked: Sequence[int],
    dimensions: int,
    selectivity: float | None,
    random: np.random.Generator,
) -> Iterator[Query]:
    """Yield queries without end, each on so many of the attributes that may be ``asked`` for."""
    share = None if selectivity is None else selectivity ** (1 / dimensions)
    while True:
        chosen = random.permutation(len(asked))[:dimensions] if dimensions < len(asked) else np.arange(len(asked))
        yield {asked[i]: _predicate(attributes[asked[i]], share, random) for i in sorted(chosen.tolist())}


def _predicate(attribute: Attribute, share: float | None, random: np.random.Generator) -> Predicate:
    if not attribute.present.size:
        return attribute.predicate(_ALL)
    if attribute.domain.positions is not None:
        return attribute.from_range(*_range(*attribute.ends, attribute.whole, share, random))
    return _node(attribute, share, random) if attribute.given else _subset(attribute, share, random)


def _range(
    least: float, greatest: float, whole: bool, share: float | None, random: np.random.Generator
) -> tuple[float, float]:
    """Draw both ends; with a share, the place of a range that covers this share of all there is."""
    if share is None:
        ends = random.integers(int(least), int(greatest) + 1, 2) if whole else random.uniform(least, greatest, 2)
        return float(ends.min()), float(ends.max())
    if whole:
        numbers = int(greatest - least) + 1
        some = min(max(round(share * numbers), 1), numbers)
        low = least + float(random.integers(numbers - some + 1))
        return low, low + some - 1
    width = share * (greatest - least)
    start = random.uniform(least, greatest - width)
    return start, start + width


def _node(attribute: Attribute, share: float | None, random: np.random.Generator) -> Predicate:
    """Draw a value or an inner node, each as often; with a share, the node nearest to it above a random value."""
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
    """Draw how many values, then which; with a share, as many as that is."""
    count = attribute.present.size
    size = int(random.integers(1, count + 1)) if share is None else min(max(round(share * count), 1), count)
    return attribute.from_leaves(random.permutation(attribute.present)[:size])
