"""Two releases together, as an attacker sees them who knows everybody and can link rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence

Row = Mapping[str, object]
Shown = Callable[[Row], Hashable]
"""The class of a row in a release; None if it is suppressed there."""


def groups(
    new: Mapping[int, Row], earlier: Mapping[int, Row], shown: Shown, shown_earlier: Shown
) -> dict[Hashable, list[Row]]:
    """Return the people by their class in each release, where being in none is like a class; people have numbers."""
    found: dict[Hashable, list[Row]] = {}
    for person in {*new, *earlier}:
        here = shown(new[person]) if person in new else None
        there = shown_earlier(earlier[person]) if person in earlier else None
        if here is not None or there is not None:
            found.setdefault((here, there), []).append(new[person] if person in new else earlier[person])
    return found


def keeps(groups: Mapping[Hashable, Sequence[Row]], k: int, l: int, column: str) -> bool:  # noqa: E741
    """Return whether every group has k people and l different values."""
    return all(len(rows) >= k and len({row[column] for row in rows}) >= l for rows in groups.values())


def can_be_shown(
    new: Mapping[int, Row], earlier: Mapping[int, Row], shown: Shown, shown_earlier: Shown, column: str
) -> bool:
    """Return whether no earlier class that people joined or left is divided by the new release."""
    before = Counter((shown_earlier(row), row[column]) for row in earlier.values())
    after = Counter((shown_earlier(row), row[column]) for row in new.values())
    known = {label for label, _ in before} - {None}
    for label in known:
        values = {value for each, value in {*before, *after} if each == label}
        if any(before[label, value] != after[label, value] for value in values):
            inside = {shown(row) for row in new.values() if shown_earlier(row) == label}
            if len(inside) > 1:
                return False
    return True


def replaced(new: Mapping[int, Row], earlier: Mapping[int, Row], shown_earlier: Shown, column: str) -> bool:
    """Return whether somebody joined an earlier class that somebody with the same value left, which nobody can see."""
    joined = {(shown_earlier(row), row[column]) for person, row in new.items() if person not in earlier}
    left = {(shown_earlier(row), row[column]) for person, row in earlier.items() if person not in new}
    return bool(joined & left)


def fitting_rows(age: object, town: object, releases: Sequence[Sequence[tuple[object, ...]]]) -> Counter[object]:
    """Return the rows by sensitive value that a person may have in every release: the fewest of all releases.

    A row of a release are the ages and towns that it covers, and its sensitive value.
    """
    fitting = [
        Counter(value for ages, towns, value in rows if age in ages and town in towns)  # type: ignore[operator]
        for rows in releases
    ]
    fewest = fitting[0]
    for each in fitting[1:]:
        fewest &= each
    return fewest
