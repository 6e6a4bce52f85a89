"""Cost of a release, and of the optimum by exhaustive search where that is feasible.

Built on ``naive`` and on the conditions of the auditor; imports nothing of discreet.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter

import naive
from fuzz.auditor import CONDITIONS, OF_PEOPLE, OF_TABLE, asks_for_people, known_values, same, unknown

__all__ = ["Plain", "best", "best_local", "plain", "price"]


_MOST_ROWS = 20


class Plain:
    """A case in the plain form of ``naive``: its table, its models as conditions, its cost with options."""

    def __init__(self, case, meanings):
        self.case = case
        self.rows = case.original()
        numeric = frozenset(name for name, column in case.quasi.items() if column.numeric)
        self.table = naive.Table(self.rows, meanings, numeric)
        self.kind = case.suppression.name
        self.cost, self.options = self._cost()
        self.missing = case.options.get("missing_sensitive", "unknown")
        self.wholes = {name: known_values((row[name] for row in self.rows), self.missing) for name in case.sensitive}
        self.trees = {name: tree_of(column) for name, column in case.sensitive.items() if column.rows is not None}
        self.limit = self._limit()
        self.people = case.people()

    def _cost(self):
        case, priorities = self.case, self.case.options.get("priorities")
        name = case.cost.name if case.cost else "score" if priorities else "LM"
        options = dict(case.cost.arguments) if case.cost else {}
        if priorities:
            options["weights"] = priorities
        if name == "C_AVG" and options.get("k") is None:
            options["k"] = max((part.arguments["k"] for part in case.privacy if part.name == "k"), default=1)
        return name, options

    def _limit(self):
        if self.kind == "budget":
            return naive.budget(self.case.suppression.arguments["limit"], len(self.rows))
        return len(self.rows) if self.kind in ("class-records", "violating-records") else 0

    def counts(self, members, column):
        return Counter(same(self.rows[row][column]) for row in members)

    def ok(self, members, levels=None):
        """Whether all conditions on one class hold; members are row indices."""
        return all(self._holds(part, members, levels) for part in self.case.privacy if part.name not in OF_TABLE)

    def people_like(self, members, levels):
        """Number of people of the population that match a class."""
        if self.case.weights is not None:
            return sum(self.rows[row]["w"] for row in members)
        wanted = self._shown(self.rows[members[0]], levels)
        return sum(self._shown(person, levels) == wanted for person in self.people)

    def _shown(self, row, levels):
        names = self.table.hierarchies
        return [naive.released(self.table, name, row[name], level) for name, level in zip(names, levels, strict=True)]

    def _holds(self, part, members, levels):
        if asks_for_people(part.name, part.arguments):
            return OF_PEOPLE[part.name](self.people_like(members, levels), len(members), part.arguments)
        column = part.arguments.get("attribute")
        counts = self.counts(members, column) if column else {}
        return self.by_counts(part, counts, len(members))

    def by_counts(self, part, counts, size):
        column = part.arguments.get("attribute")
        whole = self.wholes[column] if column else {}
        counts = {value: n for value, n in counts.items() if n and (value is not None or self.missing == "value")}
        known = sum(counts.values())
        return CONDITIONS[part.name](counts, size, known, whole, part.arguments, self.trees.get(column))

    def table_holds(self, published):
        sizes = [len(members) for members in published]
        return all(OF_TABLE[part.name](sizes, part.arguments) for part in self.case.privacy if part.name in OF_TABLE)

    def unknown_members(self):
        return [part.name for part in self.case.privacy if unknown(part.name, part.arguments)]


def tree_of(column):
    """The path of each value of a sensitive column, in its order; missing values come last, under the root."""
    rows = column.leaves()
    return {same(row[0]): row for row in rows}


def plain(case, meanings):
    """The plain form; None if a hierarchy or the cost is not supported."""
    if any(rows is None for rows in meanings.values()):
        return None
    made = Plain(case, meanings)
    return made if made.cost in naive.COSTS else None


def price(made, levels, published, suppressed, unknown=0):
    """Cost of a recoding; classes and suppressed rows are row indices."""
    total = naive.COSTS[made.cost](made.table, levels, published, suppressed, **made.options)
    return total + (unknown * naive.value_penalty(made.table, made.cost, **made.options) if unknown else 0)


# --- global recodings -------------------------------------------------------------------------------------------------


def choices(made, most):
    """The allowed levels or partitions of each quasi-identifier; None if there are too many."""
    case, found, space = made.case, [], 1
    lowest = case.options.get("min_levels", {})
    highest = {**case.options.get("max_levels", {}), **case.options.get("keep_at_least", {})}
    for name, rows in made.table.hierarchies.items():
        low, high = lowest.get(name, 0), highest.get(name, len(rows[0]) - 1)
        if case.schemes[name].name == "full-domain":
            found.append(list(range(low, high + 1)))
        else:
            if len(rows) > 6:
                return None
            each = naive.valid_partitions(case.schemes[name].name, rows)
            found.append([blocks for blocks in each if between(blocks, rows, low, high)])
        space *= len(found[-1])
        if space > most or not found[-1]:
            return None
    return found


def between(blocks, rows, low, high):
    """Whether a partition lies between two levels."""
    block_of = {leaf: number for number, block in enumerate(blocks) for leaf in block}
    together = all(
        block_of[a[0]] == block_of[b[0]] for a, b in itertools.combinations(rows, 2) if low and a[low] == b[low]
    )
    apart = all(a[high] == b[high] for a, b in itertools.combinations(rows, 2) if block_of[a[0]] == block_of[b[0]])
    return together and apart


def best(made, most=200):
    """The least cost of all recodings, ``inf`` if none is feasible; None if there are too many."""
    if made.unknown_members():
        return None
    if made.case.suppression.arguments.get("hide") == "ambiguous":
        return None  # of equally frequent values the first is hidden, and the plain form orders numbers as texts
    if made.kind == "violating-records" and len(made.rows) > _MOST_ROWS:
        return None  # all choices of suppressed records are tried
    each = choices(made, most)
    if each is None:
        return None
    least = math.inf
    for levels in itertools.product(*each):
        total = outcome(made, levels)
        if total is not None and total < least:
            least = total
    return least


def outcome(made, levels):
    """Cost of a recoding; None if it is not feasible."""
    found = naive.classes(made.table, levels)
    if made.kind == "pre-sampling":
        return after_pre_sampling(made, levels)
    if made.kind in ("violating-records", "class-values", "violating-values"):
        models = [as_model(made, part) for part in made.case.privacy]
        column = next(
            (part.arguments["attribute"] for part in made.case.privacy if "attribute" in part.arguments), None
        )
        if column is None:
            column = "rid"
        table = made.table
        if column in made.case.sensitive:
            nothing = "" if made.missing == "value" else None
            table = table._replace(rows=[{**row, column: same(row[column]) or nothing} for row in table.rows])
        result = naive.suppress(table, levels, models, made.kind, made.limit, made.cost, column, **made.options)
        return result.cost
    fine = [made.ok(members, levels) for members in found]
    published = [members for members, ok in zip(found, fine, strict=True) if ok]
    gone = [row for members, ok in zip(found, fine, strict=True) if not ok for row in members]
    if len(gone) > made.limit or not made.table_holds(published):
        return None
    return price(made, levels, published, gone)


def as_model(made, part):
    """A model for ``naive``; a missing value that counts as a value is the empty text."""

    def ok(counts):
        counts = {value or None: n for value, n in counts.items()}
        return made.by_counts(part, counts, sum(counts.values()))

    column = part.arguments.get("attribute")
    thetas = None
    if column is not None:
        whole = made.wholes[column]
        if part.name == "l+":
            from fuzz.auditor import thresholds

            thetas = thresholds(whole, part.arguments["theta"], part.arguments.get("by"))
        elif part.name == "beta":
            n = sum(whole.values())
            thetas = {}
            for value, count in whole.items():
                p = count / n
                most = part.arguments["beta"]
                most = min(most, -math.log(p)) if part.arguments.get("form") == "enhanced" else most
                thetas[value] = min(1, p * (1 + most))
        thetas = thetas and {value or "": theta for value, theta in thetas.items()}
    return naive.Model(ok, column is not None, thetas)


def after_pre_sampling(made, levels):
    arguments = made.case.suppression.arguments
    coarse = [min(arguments.get("level", 0), len(rows[0]) - 1) for rows in made.table.hierarchies.values()]
    stay = {row for members in naive.classes(made.table, coarse) if len(members) >= arguments["k"] for row in members}
    published = [[row for row in members if row in stay] for members in naive.classes(made.table, levels)]
    published = [members for members in published if members]
    if not published or not all(made.ok(members, levels) for members in published) or not made.table_holds(published):
        return None
    gone = [row for row in range(len(made.rows)) if row not in stay]
    return price(made, levels, published, gone)


# --- local recodings --------------------------------------------------------------------------------------------------


def spread(made, name, values):
    """Loss of each of the values of an attribute in a group."""
    rows = made.table.hierarchies[name]
    values = set(values)
    if len(values) == 1:
        return 0.0
    tree = made.case.quasi[name].given is not None
    if tree:
        _, leaves = naive.common_ancestor(rows, values)
        return (leaves - 1) / (len(rows) - 1) if made.cost == "LM" else leaves / len(rows)
    order = [row[0] for row in rows]
    if name in made.table.numeric:
        if None in values:
            return 1.0
        low, high = order.index(min(values)), order.index(max(values))
        known = [value for value in order if value is not None]
        if made.cost == "LM":
            return (high - low) / (len(order) - 1)
        return (order[high] - order[low]) / (known[-1] - known[0])
    return (len(values) - 1) / (len(order) - 1) if made.cost == "LM" else len(values) / len(order)


def local_price(made, groups, gone):
    """Cost of a local recoding; groups are lists of row indices."""
    weights = made.options.get("weights", {})
    total = 0.0
    for members in groups:
        for name in made.table.hierarchies:
            found = {made.rows[row][name] for row in members}
            total += len(members) * weights.get(name, 1) * spread(made, name, found)
    row = sum(weights.get(name, 1) for name in made.table.hierarchies)
    return total + gone * row * (2 if made.options.get("penalty") == "l+" else 1)


def best_local(made, most=7):
    """The least cost of all local recodings; None if there are too many rows."""
    if len(made.rows) > most or made.unknown_members():
        return None
    least = math.inf
    for partition in naive.set_partitions(range(len(made.rows))):
        fine = [made.ok(group) for group in partition]
        bad = [group for group, ok in zip(partition, fine, strict=True) if not ok]
        if len(bad) > 1:
            continue
        for out in [bad[0]] if bad else [None, *partition]:
            gone = 0 if out is None else len(out)
            if gone > made.limit:
                continue
            groups = [group for group in partition if group is not out]
            least = min(least, local_price(made, groups, gone))
    return least
