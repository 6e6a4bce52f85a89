"""Runs: consecutive items of a sequence."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TypeVar

__all__ = ["is_run", "runs"]

T = TypeVar("T")


def is_run(block: Collection[int]) -> bool:
    """Return whether codes are consecutive."""
    return max(block) - min(block) + 1 == len(block)


def runs(items: Sequence[T]) -> Iterator[tuple[tuple[T, ...], ...]]:
    """Yield each partition of a sequence into runs, from one run to single items.

    >>> list(runs("abc"))
    [(('a', 'b', 'c'),), (('a', 'b'), ('c',)), (('a',), ('b', 'c')), (('a',), ('b',), ('c',))]
    """
    gaps = max(len(items) - 1, 0)
    for cuts in range(1 << gaps):
        ends = [*(gap + 1 for gap in range(gaps) if cuts >> (gaps - 1 - gap) & 1), len(items)]
        yield tuple(tuple(items[start:end]) for start, end in zip([0, *ends], ends, strict=False) if start < end)
