"""Random columns with their hierarchies in plain Python: values, the form given to discreet, and its meaning.

A hierarchy is given as a text form or as rows of names. What it means is ``rows``: for each leaf the leaf itself and
what it belongs to at each level, the last one the root; None where it is made automatically.
"""

from __future__ import annotations

import bisect
import datetime
import math
from dataclasses import dataclass, field, replace

__all__ = ["Column", "quasi_identifier", "random_tree", "sensitive_column", "with_missing"]

WORDS = [
    "Ulm", "Zürich", "São Paulo", "Łódź", "北京", "Ωmega", "naïve", "o'Brien", "a, b", 'say "x"', "{x}", "x or missing",
    "tab\there", "emoji 🙂", "é", "e\u0301", "ß", "SS", " lead", "trail ", "İstanbul", "Kiel", "Bonn", "Trier", "Oslo",
    "Rom", "Bern", "Nis", "Ivrea", "Turku",
]  # fmt: skip
ILLNESSES = ["flu", "ache", "hiv", "cold", "ängst", "cough", "none"]
DAY = datetime.date(1950, 1, 1)


@dataclass(frozen=True)
class Column:
    """A column: its values, its type, the hierarchy as given, and its meaning."""

    values: list
    kind: str  # text, integer, decimal, date or boolean
    given: object = None  # a text form, rows of names, or None
    rows: list | None = None  # leaf and groups, without the leaf of missing values; None if not known
    file: bool = field(default=False)  # given as a file
    people: list | None = None  # the values of the population, person by person, where there is one

    @property
    def numeric(self) -> bool:
        return self.kind in ("integer", "decimal", "date") and not str(self.given).startswith("mask")

    @property
    def needs_tree(self) -> bool:
        """Whether no hierarchy was given."""
        return self.given is None

    @property
    def everything(self) -> list:
        """The values of the table and of the population."""
        return [*self.values, *(self.people or ())]

    def leaves(self) -> list:
        """The rows of the hierarchy with the leaf of missing values, which stays alone until the root."""
        assert self.rows is not None
        rows = [tuple(row) for row in self.rows]
        if None in self.everything:
            levels = len(rows[0]) if rows else 2
            rows.append((None, *(("missing", level) for level in range(1, levels - 1)), "*"))
        return rows


def pick(rng, values, n):
    """Values of a pool, some more frequent than others."""
    pool = list(values)
    weights = [rng.choice((1, 1, 2, 6)) for _ in pool]
    return rng.choices(pool, weights, k=n)


def random_tree(rng, leaves, height, prefix):
    """Rows (leaf, level 1, …, root): each level joins neighbours; some leaves are repeated on the way up."""
    columns = [[str(leaf) for leaf in leaves]]
    for level in range(1, height + 1):
        below, new, block = columns[-1], [], 0
        for i, label in enumerate(below):
            if i and label != below[i - 1] and rng.random() < 0.5:
                block += 1
            new.append(f"{prefix}{level}.{block}")
        alone = [len({b for b, n in zip(below, new, strict=True) if n == label}) == 1 for label in new]
        keep = {label: rng.random() < 0.3 for label in new}
        columns.append([b if one and keep[n] else n for b, n, one in zip(below, new, alone, strict=True)])
    columns.append(["*"] * len(leaves))
    return [tuple(column[i] for column in columns) for i in range(len(leaves))]


def depth_first(rows):
    """The rows in depth-first order, children by first appearance."""
    if len(rows) < 2 or len(rows[0]) < 2:
        return list(rows)

    def go(rows, level):
        if level < 1:
            return rows
        groups = {}
        for row in rows:
            groups.setdefault(row[level], []).append(row)
        return [row for group in groups.values() for row in go(group, level - 1)]

    return go(list(rows), len(rows[0]) - 1)


def text_with_tree(rng, n):
    leaves = rng.sample(WORDS, rng.randint(1, 6))
    rows = random_tree(rng, leaves, rng.randint(0, 2), rng.choice(("g", "ä", "G ")))
    pool = rng.sample(leaves, rng.randint(1, len(leaves))) if rng.random() < 0.3 else leaves
    if rng.random() < 0.2:
        rng.shuffle(rows)  # a file need not be in the order of its tree
    meaning = depth_first(rows)
    clean = [row for row in rows if row[0] == row[0].strip()]
    file = rng.random() < 0.3 and len(clean) == len(rows)
    return Column(pick(rng, pool, n), "text", [list(row) for row in rows], meaning, file)


def flat_text(rng, n):
    leaves = rng.sample(WORDS, rng.randint(1, 5))
    given = rng.choice(("flat", "flat()", None))
    values = pick(rng, leaves, n)
    present = sorted(set(values))
    return Column(values, "text", given, [(leaf, "*") for leaf in present] if given else None)


def ordered_text(rng, n):
    leaves = rng.sample(["low", "middle", "high", "top", "äußerst", "no"], rng.randint(1, 5))
    return Column(pick(rng, leaves, n), "text", f"ordered([{', '.join(leaves)}])", [(leaf, "*") for leaf in leaves])


def yes_or_no(rng, n):
    values = pick(rng, (True, False), n)
    given = rng.choice(("flat", None))
    return Column(values, "boolean", given, [(leaf, "*") for leaf in sorted(set(values))] if given else None)


def by_levels(values, keys):
    """Group of each value at each level; ``keys`` are functions of a value, from fine to coarse."""
    return [(value, *((level, key(value)) for level, key in enumerate(keys)), "*") for value in sorted(set(values))]


def whole_numbers(rng, n):
    start = rng.choice((0, 20, -7, 10**9, 10**15))
    pool = [start + rng.randint(0, rng.choice((3, 6, 40))) for _ in range(rng.randint(1, 6))]
    values = pick(rng, pool, n)
    return numbers(rng, values, "integer", 1)


def decimals(rng, n):
    pool = [rng.choice((-2, 0, 5, 1000)) + rng.randint(0, 40) / 4 for _ in range(rng.randint(1, 6))]
    return numbers(rng, pick(rng, pool, n), "decimal", 0.5)


def numbers(rng, values, kind, unit):
    chance = rng.random()
    if chance < 0.4:
        widths = [unit * rng.choice((2, 5))]
        widths += [widths[0] * rng.choice((2, 4))] if rng.random() < 0.6 else []
        origin = rng.choice((0, 0, unit))
        text = f"intervals({', '.join(map(repr, widths))}{f', origin={origin!r}' if origin else ''})"
        whole = all(float(value).is_integer() for value in values)
        merging = [width for width in widths if width != 1 or not whole]  # one that would repeat the values is left out
        keys = [lambda v, w=w: math.floor((v - origin) / w) for w in merging]
        return Column(values, kind, text, by_levels(values, keys))
    if chance < 0.6:
        cuts = sorted({rng.choice(values) + rng.choice((0, 1)) for _ in range(3)})
        coarse = [rng.choice(cuts)]
        text = f"ranges({cuts!r}, {coarse!r})" if len(cuts) > 1 else f"ranges({cuts!r})"
        chosen = [cuts, coarse] if len(cuts) > 1 else [cuts]
        keys = [lambda v, c=c: bisect.bisect_right(c, v) for c in chosen]
        return Column(values, kind, text, by_levels(values, keys))
    if chance < 0.75 and kind == "integer" and len(set(values)) < 7:
        leaves = sorted(set(values) | {values[0] + 1})
        rows = random_tree(rng, leaves, rng.randint(0, 2), "n")
        return Column(values, kind, [list(row) for row in rows], numbers_first(rows, int))
    return Column(values, kind)


def numbers_first(rows, kind):
    return [(kind(row[0]), *row[1:]) for row in rows]


def days(rng, n):
    pool = [
        DAY + datetime.timedelta(days=rng.choice((1, 30, 400)) * rng.randint(0, 40)) for _ in range(rng.randint(1, 6))
    ]
    values = pick(rng, pool, n)
    month, year = (lambda d: (d.year, d.month)), (lambda d: d.year)
    chance = rng.random()
    if chance < 0.3:
        return Column(values, "date", "dates(month, year)", by_levels(values, [month, year]))
    if chance < 0.6:
        return Column(values, "date", "dates(year, decade)", by_levels(values, [year, lambda d: d.year // 10]))
    return Column(values, "date")


def codes(rng, n):
    length = rng.randint(2, 5)
    pool = [
        "0" + "".join(rng.choice("01" if i else "0123") for i in range(length - 1)) for _ in range(rng.randint(1, 6))
    ]
    values, digits = pick(rng, pool, n), rng.randint(1, length - 1)
    keys = [lambda v, d=d: v[: length - d] for d in range(1, digits + 1)]
    return Column(values, "text", f"mask(digits={digits})", by_levels(values, keys))


def everybody_differs(rng, n):
    """A domain as large as the table."""
    values = [f"p{i:05d} {rng.choice('xyz')}" for i in range(n)]
    rng.shuffle(values)
    given = rng.choice((None, "flat"))
    return Column(values, "text", given, [(value, "*") for value in sorted(values)] if given else None)


KINDS = {
    text_with_tree: 6,
    whole_numbers: 4,
    decimals: 2,
    days: 2,
    codes: 2,
    flat_text: 2,
    ordered_text: 2,
    yes_or_no: 1,
    everybody_differs: 1,
}


def quasi_identifier(rng, n, *, missing, others=None):
    """A random quasi-identifier; sometimes with missing values.

    With a population the table is its first people, and there are so many ``others`` besides.
    """
    made = rng.choices(list(KINDS), list(KINDS.values()))[0](rng, n + (others or 0))
    made = with_missing(rng, made) if missing and rng.random() < 0.3 else made
    return made if others is None else replace(made, values=made.values[:n], people=made.values)


def with_missing(rng, column):
    """The column with some values missing; hierarchies made from the values lose leaves that no longer occur."""
    values = [None if rng.random() < 0.2 else value for value in column.values]
    rows = column.rows
    if rows is not None and isinstance(column.given, str) and not column.given.startswith("ordered"):
        rows = [row for row in rows if row[0] in set(values)]
    if not any(value is not None for value in values):
        return column
    return replace(column, values=values, rows=rows)


def sensitive_column(rng, n):
    """A random sensitive column: text, sometimes with a hierarchy, or numbers; possibly with missing values."""
    kind = rng.choice(("text", "text", "tree", "integer"))
    if kind == "integer":
        values = pick(rng, range(1, rng.randint(2, 5) + 1), n)
        column = Column(values, "integer", None, [(value, "*") for value in sorted(set(values))])
    else:
        values = pick(rng, rng.sample(ILLNESSES, rng.randint(1, 5)), n)
        present = list(dict.fromkeys(values))
        if kind == "tree":
            rows = depth_first(random_tree(rng, present, rng.randint(1, 2), "s"))
            column = Column(values, "text", [list(row) for row in rows], rows)
        else:
            column = Column(values, "text", None, None)
    if rng.random() < 0.2 and kind != "tree":
        gone = [None if rng.random() < 0.2 else value for value in values]
        if any(value is not None for value in gone):
            rows = column.rows and [row for row in column.rows if row[0] in set(gone)]
            column = replace(column, values=gone, rows=rows)
    return column
