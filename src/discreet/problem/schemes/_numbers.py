"""Numbers of set partitions."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["bell", "mixed_partitions"]


def _bells(n: int) -> list[int]:
    """Return the numbers of partitions of sets of 0 to n items, by the Bell triangle."""
    numbers, row = [1], [1]
    for _ in range(n):
        following = [row[-1]]
        for entry in row:
            following.append(following[-1] + entry)
        numbers.append(following[0])
        row = following
    return numbers


def bell(n: int) -> int:
    """Return the number of partitions of a set of n items.

    >>> bell(8)
    4140
    """
    return _bells(n)[-1]


def mixed_partitions(variants: Iterable[int]) -> int:
    """Return the number of partitions of a set whose item i has ``variants[i]`` variants if it is a block of its own.

    Sums over the number of singletons: the elementary symmetric polynomial of the variants, times the partitions of
    the other items without singletons.

    >>> mixed_partitions([5, 1, 2, 2])
    67
    """
    symmetric = [1]
    for count in variants:
        shifted = [0, *(count * value for value in symmetric)]
        symmetric = [value + more for value, more in zip([*symmetric, 0], shifted, strict=True)]
    without_singletons = [1]
    for number in _bells(len(symmetric) - 1)[:-1]:
        without_singletons.append(number - without_singletons[-1])
    return sum(value * rest for value, rest in zip(symmetric, reversed(without_singletons), strict=True))
