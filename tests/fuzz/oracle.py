"""Cost of a release, and of the optimum by exhaustive search where that is feasible.

Built on ``naive`` and on the conditions of the auditor; imports nothing of discreet.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter

import naive
from fuzz.auditor import CONDITIONS, OF_PEOPLE, OF_TABLE, asks_for_people, key_sets, known_values, same, unknown

__all__ = ["Plain", "best", "best_local", "plain", "price"]


_MOST_ROWS = 20


class Plain:
    """A case in the plain form of ``naive``: its table, its models as conditions, its cost with options."""

    def __init__(self, case, meanings):
        self.case = case
        self.rows = case.original()
        numeric = frozenset(name for name, column in case.quasi.items() if column.numeric)
        sets = frozenset(name for name, column in case.quasi.items() if column.given is None and self._is_set(name))
        self.table = naive.Table(self.rows, meanings, numeric, sets)
        self.kind = case.suppression.name
        self.cost, self.options = self._cost()
        self.missing = case.options.get("missing_sensitive", "unknown")
        self.wholes = {name: known_values((row[name] for row in self.rows), self.missing) for name in case.sensitive}
        self.trees = {name: tree_of(column) for name, column in case.sensitive.items() if column.rows is not None}
        self.limit = self._limit()
        self.people = case.people()

    def _is_set(self, name):
        """Whether a column of text needs no hierarchy."""
        return not self.case.quasi[name].numeric and self.case.schemes[name].name in ("ordered", "set")

    def _cost(self):
        case, priorities = self.case, self.case.options.get("priorities")
        name = case.cost.name if case.cost else "score" if priorities else "LM"
        options = dict(case.cost.arguments) if case.cost else {}
        if priorities:
            options["weights"] = priorities
        if name == "C_AVG" and options.get("k") is None:
            whole = [p for p in case.privacy if p.name == "k" and not _is_part(p.arguments, case.quasi)]
            options["k"] = max((part.arguments["k"] for part in whole), default=1)
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

    @property
    def key_sets(self):
        """Pairs of columns and k."""
        names = list(self.case.quasi)
        return [(c, p.arguments["k"]) for p in self.case.privacy for c in key_sets(p.name, p.arguments, names)]

    def unknown_members(self):
        return [part.name for part in self.case.privacy if unknown(part.name, part.arguments)]


def _is_part(arguments, names):
    """Whether a promise of k is about some of the quasi-identifiers only."""
    return len(arguments.get("on", names)) < len(names) or arguments.get("any", len(names)) < len(names)


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
    options = made.options
    if (made.kind, made.cost) == ("violating-records", "NCP"):
        options = {**options, "before": naive.classes(made.table, levels)}
    total = naive.COSTS[made.cost](made.table, levels, published, suppressed, **options)
    return total + (unknown * value_penalty(made) if unknown else 0)


def value_penalty(made):
    """What a suppressed sensitive value costs; None if ``naive`` does not define it."""
    return naive.value_penalty(made.table, made.cost, **made.options)


def hides_values(made):
    return made.kind in ("class-values", "violating-values")


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
    if made.unknown_members() or (hides_values(made) and value_penalty(made) is None):
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
        table, column = divided_table(made)
        result = naive.suppress(table, levels, models, made.kind, made.limit, made.cost, column, **made.options)
        if made.kind == "violating-records" and made.key_sets and column == "rid":
            return of_whole_classes(made, levels, found)
        return result.cost if naive.keeps(made.table, levels, made.key_sets, range(len(made.rows))) else None
    return of_whole_classes(made, levels, found)


def of_whole_classes(made, levels, found):
    """Cost of a recoding whose classes are published or suppressed as a whole; None if it is not feasible."""
    stay = set(naive.kept_rows(made.table, levels, made.key_sets, lambda members: made.ok(members, levels)))
    fine = [set(members) <= stay for members in found]
    published = [members for members, ok in zip(found, fine, strict=True) if ok]
    gone = [row for members, ok in zip(found, fine, strict=True) if not ok for row in members]
    if len(gone) > made.limit or not made.table_holds(published):
        return None
    return price(made, levels, published, gone)


def divided_table(made):
    """The table in which a missing value that counts is the empty text, and the column by which classes are divided."""
    column = next((part.arguments["attribute"] for part in made.case.privacy if "attribute" in part.arguments), "rid")
    if column not in made.case.sensitive:
        return made.table, column
    nothing = "" if made.missing == "value" else None
    rows = [{**row, column: same(row[column]) or nothing} for row in made.table.rows]
    return made.table._replace(rows=rows), column


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
    if not naive.keeps(made.table, levels, made.key_sets, stay):
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


def cover(made, name, values):
    """The values that a group with these values could stand for."""
    rows, values = made.table.hierarchies[name], set(values)
    leaves = [row[0] for row in rows]
    if len(values) == 1:
        return values
    if made.case.quasi[name].given is not None:
        level = lowest_level(rows, values)
        shown = {row[level] for row in rows if row[0] in values}
        return {row[0] for row in rows if row[level] in shown}
    if name not in made.table.numeric:
        return values
    if None in values:
        return set(leaves)
    places = [leaves.index(value) for value in values]
    return set(leaves[min(places) : max(places) + 1])


def lowest_level(rows, values):
    """The lowest level at which values are one."""
    return next(level for level in range(len(rows[0])) if len({row[level] for row in rows if row[0] in values}) == 1)


def group_levels(made, members):
    """What one group shows, as levels or partitions for ``naive``."""
    for name, rows in made.table.hierarchies.items():
        values = {made.rows[row][name] for row in members}
        if made.cost == "precision":
            yield lowest_level(rows, values)
        else:
            block = frozenset(cover(made, name, values))
            yield frozenset({block, *(frozenset({row[0]}) for row in rows if row[0] not in block)})


def local_price(made, groups, gone, unknown=0):
    """Cost of a local recoding; groups and suppressed rows are row indices."""
    hidden = unknown * value_penalty(made) if unknown else 0
    if made.cost in ("LM", "NCP"):
        return spread_price(made, groups, len(gone)) + hidden
    cost = naive.COSTS[made.cost]
    levels = [0] * len(made.table.hierarchies)
    if made.cost == "C_AVG":
        return cost(made.table, levels, groups, gone, **made.options) + hidden
    each = (cost(made.table, list(group_levels(made, group)), [group], [], **made.options) for group in groups)
    return sum(each) + cost(made.table, levels, [], gone, **made.options) + hidden


def spread_price(made, groups, gone):
    """Cost of a local recoding by NCP or LM."""
    weights = made.options.get("weights", {})
    total = 0.0
    for members in groups:
        for name in made.table.hierarchies:
            found = {made.rows[row][name] for row in members}
            total += len(members) * weights.get(name, 1) * spread(made, name, found)
    row = sum(weights.get(name, 1) for name in made.table.hierarchies)
    return total + gone * row * (2 if made.options.get("penalty") == "l+" else 1)


def knows_local(made):
    """Whether the cost of a local recoding is known here: limits on levels and scores are not."""
    limited = any(made.case.options.get(name) for name in ("min_levels", "max_levels", "keep_at_least"))
    flat = any(column.given is None for column in made.case.quasi.values())
    return (
        made.cost != "score"
        and not limited
        and not (made.cost == "precision" and flat)
        and not (hides_values(made) and value_penalty(made) is None)
    )


def best_local(made, most=7):
    """The least cost of all local recodings; None if there are too many rows."""
    if made.key_sets:  # covers that several groups share are not tried here
        return None
    if len(made.rows) > most or made.unknown_members() or not knows_local(made) or made.kind == "pre-sampling":
        return None
    least = math.inf
    for partition in naive.set_partitions(range(len(made.rows))):
        for groups, gone, hidden in local_outcomes(made, partition):
            least = min(least, local_price(made, groups, gone, hidden))
    return least


def local_outcomes(made, partition):
    """The ways to publish a partition: groups, suppressed rows, and the number of suppressed values."""
    if hides_values(made):
        hidden = [hidden_values(made, group) for group in partition]
        if None not in hidden:
            yield partition, [], sum(hidden)
        return
    bad = [group for group in partition if not made.ok(group)]
    if len(bad) > 1:
        return
    for out in bad or [[], *partition]:
        if len(out) <= made.limit:
            yield [group for group in partition if group is not out], out, 0


def hidden_values(made, group):
    """How many sensitive values of a group become unknown; None if that does not mend it."""
    table, column = divided_table(made)
    models = [as_model(made, part) for part in made.case.privacy]
    own = naive.counts(table, group, column)
    if not naive.all_ok([model for model in models if not model.looks_at_sensitive], own):
        return None
    looking = [model for model in models if model.looks_at_sensitive]
    if made.kind == "class-values":
        return sum(naive.class_values(own, lambda counts: naive.all_ok(looking, counts)).values())
    each = [naive.violating_values(own, model.thetas) for model in looking]
    return sum(max((gone[value] for gone in each), default=0) for value in own)
