"""Suppression: what goes from one class, and from a whole recoding with its cost."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import NamedTuple

from naive.costs import COSTS, value_penalty
from naive.privacy import known
from naive.recoding import TOLERANCE, classes, counts


def budget(limit, n):
    """How many records may go: a number of records, or a share as the decimals say."""
    return min(limit, n) if isinstance(limit, int) else math.floor(Fraction(str(limit)) * n)


def class_records(counts, ok):
    """How many records go."""
    return 0 if ok(counts) else sum(counts.values())


def sub_counts(counts):
    """Every part of a class that is not empty."""
    values = list(counts)
    for chosen in itertools.product(*(range(counts[value] + 1) for value in values)):
        if any(chosen):
            yield {value: n for value, n in zip(values, chosen, strict=True) if n}


def largest_ok_parts(counts, ok):
    """All largest parts of a class that are ok; nothing is left if none is."""
    fine = [part for part in sub_counts(counts) if ok(part)]
    most = max((sum(part.values()) for part in fine), default=0)
    return [part for part in fine if sum(part.values()) == most] or [{}]


def lemma_3(counts, thetas):
    """How many records of each value go under thresholds: the lemma, again and again."""
    left = known(counts)
    while True:
        size = sum(left.values())
        violating = [v for v, n in left.items() if n > 0 and n / size > thetas[v] * (1 + TOLERANCE)]
        if not violating:
            return {value: 0 if value is None else n - left[value] for value, n in counts.items()}
        for value in violating:
            size = sum(left.values())
            must = math.ceil((left[value] - thetas[value] * size) / (1 - thetas[value]) * (1 - TOLERANCE))
            left[value] -= min(max(must, 0), left[value])


def class_values(counts, ok):
    """How many occurrences of each value become unknown."""
    return {value: 0 if ok(counts) or value is None else n for value, n in counts.items()}


def violating_values(counts, thetas):
    """How many occurrences of each value become unknown; shares are of the known values before suppression."""
    size = sum(known(counts).values())
    above = {value for value, n in known(counts).items() if n / size > thetas[value] * (1 + TOLERANCE)}
    return {value: n if value in above else 0 for value, n in counts.items()}


def star_candidates(counts, hidden, thetas, values):
    """The values that ``*`` can be: not shown, and with all hidden occurrences together too frequent."""
    size = sum(known(counts).values())
    h = sum(counts.get(value, 0) for value in hidden)
    shown = {value for value in known(counts) if value not in hidden}
    return [value for value in values if value not in shown and h / size > thetas[value] * (1 + TOLERANCE)]


def is_ambiguous(counts, hidden, thetas, values):
    """Whether a guess among the candidates is within the threshold of each of them."""
    found = star_candidates(counts, hidden, thetas, values)
    return all(1 / len(found) <= thetas[value] * (1 + TOLERANCE) for value in found)


def ambiguous_values(counts, thetas, values):
    """How many occurrences become unknown if ``*`` must stay ambiguous; ``values`` are those of the table, sorted."""
    hidden = [value for value, n in violating_values(counts, thetas).items() if n]
    while hidden and not is_ambiguous(counts, hidden, thetas, values):
        shown = sorted(value for value in known(counts) if value not in hidden)
        if not shown:
            break
        hidden.append(min(shown, key=lambda value: counts[value]))
    return {value: n if value in hidden else 0 for value, n in counts.items()}


class Model(NamedTuple):
    """A privacy model as a condition on counts; with thresholds if it is one of thresholds."""

    ok: object
    looks_at_sensitive: bool
    thetas: dict | None = None


class Outcome(NamedTuple):
    cost: float | None  # None: the recoding is not allowed
    rows: int  # suppressed
    values: int  # made unknown


def suppress(table, levels, models, kind, limit, cost, column, **options):
    """What a recoding costs and suppresses; ``limit`` is the most rows that may go, ``column`` the sensitive one."""
    found = classes(table, levels)
    if kind in ("class-values", "violating-values", "violating-values(hide=ambiguous)"):
        return suppress_values(table, levels, found, models, kind, cost, column, **options)
    published, suppressed = [], []
    for members in found:
        stay = members if all_ok(models, counts(table, members, column)) else []
        if not stay and kind == "violating-records":
            stay = rows_that_stay(table, levels, members, models, cost, column, **options)
        published += [stay] if stay else []
        suppressed += [row for row in members if row not in stay]
    if len(suppressed) > limit:
        return Outcome(None, len(suppressed), 0)
    if (kind, cost) == ("violating-records", "NCP"):
        options["before"] = found
    return Outcome(COSTS[cost](table, levels, published, suppressed, **options), len(suppressed), 0)


def all_ok(models, counts):
    return all(model.ok(counts) for model in models)


def suppress_values(table, levels, found, models, kind, cost, column, **options):
    unknown = 0
    for members in found:
        own = counts(table, members, column)
        if not all_ok([model for model in models if not model.looks_at_sensitive], own):
            return Outcome(None, 0, 0)
        looking = [model for model in models if model.looks_at_sensitive]
        if kind == "class-values":
            unknown += sum(class_values(own, lambda counts, looking=looking: all_ok(looking, counts)).values())
        elif kind == "violating-values":
            each = [violating_values(own, model.thetas) for model in looking]
            unknown += sum(max((gone[value] for gone in each), default=0) for value in own)
        elif looking:
            values = sorted({row[column] for row in table.rows} - {None})
            thetas = {value: min(model.thetas[value] for model in looking) for value in values}
            unknown += sum(ambiguous_values(own, thetas, values).values())
    penalty = value_penalty(table, cost, **options) * unknown if unknown else 0
    return Outcome(COSTS[cost](table, levels, found, [], **options) + penalty, 0, unknown)


def rows_that_stay(table, levels, members, models, cost, column, **options):
    """The largest ok part of a class; which rows of a value stay is tried where the cost depends on it.

    Of several parts it is the evenest, and of those the one with most rows of the first values.
    """
    own = counts(table, members, column)
    values = sorted(known(own))
    parts = largest_ok_parts(own, lambda counts: all_ok(models, counts))
    part = min(
        parts, key=lambda part: (sum(n**2 for n in known(part).values()), [-part.get(value, 0) for value in values])
    )
    ways = [
        list(itertools.combinations([row for row in members if table.rows[row][column] == value], n))
        for value, n in part.items()
    ]
    choices = [[row for rows in way for row in rows] for way in itertools.product(*ways)]
    if cost not in ("CM", "HDM") or not part:
        return choices[0]

    def total(stay):
        return COSTS[cost](table, levels, [stay], [row for row in members if row not in stay], **options)

    return min(choices, key=total)
