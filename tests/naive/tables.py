"""Several tables about the same people, joined as somebody joins them who has all of them."""

from __future__ import annotations

import itertools


def join_tables(tables, person):
    """Every combination of the rows of a person in the tables, by lists of rows; the first has one for each person.

    A person without rows in a table has one there with no values, and ``any NAME`` says so.
    """
    (_, people), *others = tables.items()
    joined = []
    for each in people:
        choices = [[each]]
        for name, rows in others:
            own = [{**row, f"any {name}": "yes"} for row in rows if row[person] == each[person]]
            none = dict.fromkeys([column for row in rows for column in row if column != person])
            choices.append(own or [{**none, f"any {name}": "no"}])
        for chosen in itertools.product(*choices):
            row = {}
            for part in reversed(chosen):
                row.update(part)
            joined.append(row)
    return joined


def whole_links(tables, person):
    """Whether the first table has each person once, and everybody in the others is in it."""
    (_, people), *others = tables.items()
    known = [row[person] for row in people]
    return len(known) == len(set(known)) and all(row[person] in known for _, rows in others for row in rows)
