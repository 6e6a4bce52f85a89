"""Words in messages: plurals and lists."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["amount", "either", "listed", "unit_amount", "units"]


def amount(number: int, noun: str, many: str | None = None) -> str:
    """Return a number with a noun; ``many`` is an irregular plural.

    >>> amount(1, "row"), amount(1200, "row"), amount(2, "leaf", "leaves")
    ('1 row', '1,200 rows', '2 leaves')
    """
    return f"{number:,} {either(number, noun, many or f'{noun}s')}"


def units(unit: str) -> str:
    """Return the plural of what is counted: rows, people or households.

    >>> units("row"), units("person")
    ('rows', 'people')
    """
    return "people" if unit == "person" else f"{unit}s"


def unit_amount(number: int, unit: str) -> str:
    """Return a number of rows, people or households.

    >>> unit_amount(1, "person"), unit_amount(5, "person"), unit_amount(5, "household")
    ('1 person', '5 people', '5 households')
    """
    return amount(number, unit, units(unit))


def either(number: int, one: str, many: str) -> str:
    """Return the singular or the plural form.

    >>> either(1, "is", "are"), either(0, "is", "are")
    ('is', 'are')
    """
    return one if number == 1 else many


def listed(words: Iterable[str]) -> str:
    """Join words into a list for a sentence.

    >>> listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    """
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last
