"""Who can be a person about whom something is known."""

from collections import Counter

__all__ = ["crowd", "people", "shares", "shares_of_people"]


def crowd(rows, facts):
    """The rows that can be the person.

    A row maps each column to the set of values that it can have, or to None if it can have any; so do the facts.
    """

    def can_be(row):
        return all(row[column] is None or row[column] & possible for column, possible in facts.items())

    return [row for row in rows if can_be(row)]


def shares(rows, column):
    """The share of each value of a column among rows in which it is known."""
    counts = Counter(next(iter(row[column])) if row[column] else None for row in rows)
    return {value: count / len(rows) for value, count in counts.items()}


def people(rows, person):
    """Whose rows they are."""
    return {row[person] for row in rows}


def shares_of_people(rows, column, person):
    """The share of the people of some rows who have each value of a column in one of these rows."""
    values = {row[column] for row in rows}
    return {
        value: len({row[person] for row in rows if row[column] == value}) / len(people(rows, person))
        for value in values
    }
