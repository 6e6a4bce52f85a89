"""Numbers of set partitions."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["bell", "mixed_partitions"]


def _bells(n: int) -> list[int]:
    """Return the numbers of partitions of 0..n things, by the Bell triangle."""
    numbers, row = [1], [1]
    for _ in range(n):
        following = [row[-1]]
        for entry in row:
            following.append(following[-1] + entry)
        numbers.append(following[0])
        row = following
    return numbers


def bell(n: int) -> int:
    """Return the number of partitions of n things.

    >>> bell(8)
    4140
    """
    return _bells(n)[-1]


def mixed_partitions(ways: Iterable[int]) -> int:
    """Return the number of partitions of things, of which thing i may look ``ways[i]`` ways where alone.

    Sums over how many things are alone: the elementary symmetric polynomial of their ways, times the
    partitions of the others that leave nothing alone.

    >>> mixed_partitions([5, 1, 2, 2])
    67
    """
    alone = [1]
    for way in ways:
        shifted = [0, *(way * value for value in alone)]
        alone = [value + more for value, more in zip([*alone, 0], shifted, strict=True)]
    numbers = _bells(len(alone) - 1)
    together = [1]
    for number in numbers[:-1]:
        together.append(number - together[-1])
    return sum(value * rest for value, rest in zip(alone, reversed(together), strict=True))
