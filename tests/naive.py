"""Every definition in its most obvious form, in plain Python. Slow, and imports nothing from the package.

A table is ``Table(rows, hierarchies, numeric)``: rows are dicts; ``hierarchies`` maps each quasi-identifier to the
rows of its hierarchy, ``(leaf, level 1, …, top)``, in the order of the leaves; ``numeric`` names the quasi-identifiers
whose leaves are numbers (None is a missing one). Levels are tuples in the order of ``hierarchies``; in place of the
number of a level there may be a partition, a set of frozensets of leaves. A class is a list of row numbers; counts are
dicts from sensitive value to how often it occurs. A recoding is ``levels``, the ``published`` classes and the
``suppressed`` row numbers.

recoding:     ``classes(table, levels)``, ``released(table, name, value, level)``, ``counts(table, rows, column)``
models:       ``k_anonymous(counts, k)``, ``distinct_l(counts, l)``, ``entropy_l(counts, l)``,
              ``recursive_cl(counts, c, l)``, ``l_plus(counts, thetas)``,
              ``alpha_k(counts, alpha, k)``, ``beta_like(counts, whole, beta, enhanced)``,
              ``delta_disclosure(counts, whole, delta)``,
              ``t_close(counts, whole, t, distance, hierarchy)``; with ``thetas(whole, theta, by)`` and
              ``emd(counts, whole, distance, hierarchy)``
suppression:  ``class_records(counts, ok)``, ``largest_ok_parts(counts, ok)`` (violating-records, by trying all),
              ``lemma_3(counts, thetas)`` (violating-records under thresholds, as the paper does it),
              ``class_values(counts, ok)``, ``violating_values(counts, thetas)``, ``budget(limit, n)``;
              ``suppress(table, levels, models, kind, limit, cost, column, **options)`` does one of them to a whole
              recoding and says what that costs, where each model is a ``Model``
costs:        ``COSTS[name](table, levels, published, suppressed, **options)`` for DM, HDM, LM, CM, NCP, C_AVG,
              precision, entropy, ambiguity and score; options are ``weights``, ``node_weights``, ``penalty``, ``k``,
              ``label``, ``by`` and ``d``; ``released_certainty(table, shown, weights, node_weights)`` is NCP of what
              rows show, ``score_of(table, shown, by, d, weights)`` the score
schemes:      ``valid_partitions(scheme, hierarchy)``, ``set_partitions(items)``, ``formal_cuts(hierarchy)``
search:       ``level_vectors(table)``, ``recode(table, levels, ok)``, ``search(table, ok, cost, budget, **options)``,
              ``k_of_node(table, levels, budget)``, ``front(table, budget, cost, value, measures, **options)``,
              ``search_cuts(table, models, kind, limit, cost, column, scheme, **options)`` tries all cuts, or all
              partitions of any scheme
queries:      ``count_query(rows, query)``, ``sum_query(rows, query, column)``
local:        ``mdav(table, k, flat, weights)``, ``squared_error(table, groups)``
"""

from __future__ import annotations

import itertools
import math
import struct
from collections import Counter
from fractions import Fraction
from typing import NamedTuple

TOLERANCE = 1e-9


class Table(NamedTuple):
    rows: list
    hierarchies: dict
    numeric: frozenset = frozenset()


# --- recoding ---------------------------------------------------------------------------------------------------------


def released(table, name, value, level):
    """The value that stands at a level for an original value; with a partition, the block it is in."""
    if not isinstance(level, int):
        return next(block for block in level if value in block)
    for row in table.hierarchies[name]:
        if row[0] == value:
            return row[level]
    raise KeyError(value)


def classes(table, levels):
    """The classes of a recoding, as lists of row numbers."""
    found = {}
    for number, row in enumerate(table.rows):
        key = tuple(
            released(table, name, row[name], level) for name, level in zip(table.hierarchies, levels, strict=True)
        )
        found.setdefault(key, []).append(number)
    return list(found.values())


def counts(table, rows, column):
    """How often each value of a column occurs in some rows."""
    return dict(Counter(table.rows[row][column] for row in rows))


# --- privacy models: conditions on the counts of one class ------------------------------------------------------------


def k_anonymous(counts, k):
    return sum(counts.values()) >= k


def distinct_l(counts, l):  # noqa: E741
    return len([n for n in counts.values() if n > 0]) >= l


def entropy(counts):
    size = sum(counts.values())
    return -sum(n / size * math.log(n / size) for n in counts.values() if n > 0)


def entropy_l(counts, l):  # noqa: E741
    return entropy(counts) >= math.log(l) - TOLERANCE


def recursive_cl(counts, c, l):  # noqa: E741
    n = sorted(counts.values(), reverse=True)
    return n[0] < c * sum(n[l - 1 :]) * (1 - TOLERANCE)


def thetas(whole, theta, by=None):
    """The threshold of each value: one for all, given value by value (others 1), or raised for frequent values."""
    if isinstance(theta, dict):
        return {value: theta.get(value, 1) for value in whole}
    if by is None:
        return dict.fromkeys(whole, theta)
    occurring = [n for n in whole.values() if n > 0]
    average = sum(occurring) / len(occurring)
    return {value: theta if n <= average else min(1, theta * n / average) for value, n in whole.items()}


def l_plus(counts, thetas):
    size = sum(counts.values())
    return all(n / size <= thetas[value] * (1 + TOLERANCE) for value, n in counts.items() if n > 0)


def alpha_k(counts, alpha, k):
    size = sum(counts.values())
    return size >= k and all(count / size <= alpha + TOLERANCE for count in counts.values())


def beta_like(counts, whole, beta, enhanced=False):
    size, n = sum(counts.values()), sum(whole.values())
    for value, count in counts.items():
        p, q = whole[value] / n, count / size
        most = min(beta, -math.log(p)) if enhanced else beta
        if q > p * (1 + most) + TOLERANCE:
            return False
    return True


def delta_disclosure(counts, whole, delta):
    size, n = sum(counts.values()), sum(whole.values())
    return all(
        abs(math.log(count / size) - math.log(whole[value] / n)) < delta - TOLERANCE
        for value, count in counts.items()
        if count
    )


def emd(counts, whole, distance, hierarchy=None):
    """Earth mover's distance to the whole table. ``whole`` is in the column's order; hierarchy rows are leaf first."""
    size, total = sum(counts.values()), sum(whole.values())
    extra = {value: counts.get(value, 0) / size - n / total for value, n in whole.items()}
    if distance == "equal":
        return sum(abs(e) for e in extra.values()) / 2
    if distance == "ordered":
        moved, carried = 0.0, 0.0
        for e in extra.values():
            carried += e
            moved += abs(carried)
        return moved / (len(extra) - 1) if len(extra) > 1 else 0.0
    paths = {row[0]: row for row in hierarchy}
    height = len(hierarchy[0]) - 1
    cost = 0.0
    for level in range(1, height + 1):  # what a node's children exchange travels up to the node and down again
        for node in {path[level] for path in paths.values()}:
            children = {path[level - 1] for path in paths.values() if path[level] == node}
            sums = [sum(e for value, e in extra.items() if paths[value][level - 1] == child) for child in children]
            exchanged = min(sum(s for s in sums if s > 0), -sum(s for s in sums if s < 0))
            cost += level / height * exchanged
    return cost


def t_close(counts, whole, t, distance="equal", hierarchy=None):
    return emd(counts, whole, distance, hierarchy) <= t + TOLERANCE


# --- suppression: what goes from one class ----------------------------------------------------------------------------


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
    left = dict(counts)
    while True:
        size = sum(left.values())
        violating = [v for v, n in left.items() if n > 0 and n / size > thetas[v] * (1 + TOLERANCE)]
        if not violating:
            return {value: counts[value] - left[value] for value in counts}
        for value in violating:
            size = sum(left.values())
            must = math.ceil((left[value] - thetas[value] * size) / (1 - thetas[value]) * (1 - TOLERANCE))
            left[value] -= min(max(must, 0), left[value])


def class_values(counts, ok):
    """How many occurrences of each value become unknown."""
    return {value: 0 if ok(counts) else n for value, n in counts.items()}


def violating_values(counts, thetas):
    """How many occurrences of each value become unknown; shares are of the class before suppression."""
    size = sum(counts.values())
    return {value: n if n / size > thetas[value] * (1 + TOLERANCE) else 0 for value, n in counts.items()}


# --- costs of a whole recoding ----------------------------------------------------------------------------------------


def leaves_under(table, name, value, level):
    """The leaves that are released as the same value."""
    if not isinstance(level, int):
        return released(table, name, value, level)
    rows = table.hierarchies[name]
    if level == 0:
        return [value]
    shown = released(table, name, value, level)
    return [row[0] for row in rows if row[level] == shown]


def each_value(table, levels, published):
    """Every published row with every attribute: name, original value, level."""
    for members in published:
        for row in members:
            for name, level in zip(table.hierarchies, levels, strict=True):
                yield name, table.rows[row][name], level


def rows_with(table, name, values):
    return len([row for row in table.rows if row[name] in values])


def discernibility(table, levels, published, suppressed):
    return sum(len(members) ** 2 for members in published) + len(suppressed) * len(table.rows)


def hierarchical_discernibility(table, levels, published, suppressed):
    n, total = len(table.rows), 0.0
    for name, value, level in each_value(table, levels, published):
        own = rows_with(table, name, [value])
        block = rows_with(table, name, leaves_under(table, name, value, level))
        total += (block - own) / (n - own) if n > own else 0
    return total / len(table.hierarchies) + len(suppressed)


def weight_of(weights, name):
    return (weights or {}).get(name, 1)


def loss(table, levels, published, suppressed, weights=None, penalty="iyengar"):
    total = 0.0
    for name, value, level in each_value(table, levels, published):
        domain = len(table.hierarchies[name])
        covered = len(leaves_under(table, name, value, level))
        total += weight_of(weights, name) * ((covered - 1) / (domain - 1) if domain > 1 else 0)
    record = sum(weight_of(weights, name) for name in table.hierarchies) * (2 if penalty == "l+" else 1)
    return total + len(suppressed) * record


def classification(table, levels, published, suppressed, label="y"):
    wrong = 0
    for members in published:
        found = counts(table, members, label)
        majority = min(found, key=lambda value: (-found[value], value))
        wrong += len([row for row in members if table.rows[row][label] != majority])
    return wrong + len(suppressed)


def certainty(table, levels, published, suppressed, weights=None, node_weights=None):
    total = 0.0
    for members in published:
        for name in table.hierarchies:
            inside = {table.rows[row][name] for row in members}
            everywhere = {row[name] for row in table.rows}
            if len(inside) == 1:
                spread = 0.0
            elif name in table.numeric and None in inside:
                spread = 1.0
            elif name in table.numeric:
                known = [value for value in everywhere if value is not None]
                spread = (max(inside) - min(inside)) / (max(known) - min(known))
            else:
                label, leaves = common_ancestor(table.hierarchies[name], inside)
                spread = node_weight(node_weights, name, label) * leaves / len(table.hierarchies[name])
            total += len(members) * weight_of(weights, name) * spread
    return total + len(suppressed) * suppressed_certainty(table, weights, node_weights)


def suppressed_certainty(table, weights, node_weights):
    """What a suppressed row costs: as much as the root in every attribute."""
    return sum(
        weight_of(weights, name) * node_weight(node_weights, name, rows[0][-1])
        for name, rows in table.hierarchies.items()
    )


def node_weight(node_weights, name, label):
    return (node_weights or {}).get(name, {}).get(label, 1)


def common_ancestor(hierarchy, values):
    """The label of the lowest common ancestor and how many leaves it has; None and all if there is none."""
    for level in range(1, len(hierarchy[0])):
        nodes = {row[level] for row in hierarchy if row[0] in values}
        if len(nodes) == 1:
            return min(nodes), len([row for row in hierarchy if row[level] in nodes])
    return None, len(hierarchy)


def released_certainty(table, shown, weights=None, node_weights=None):
    """NCP of a table of labels, those of nodes or of leaves; rows that are None are suppressed."""
    total = 0.0
    for row in shown:
        if row is None:
            total += suppressed_certainty(table, weights, node_weights)
            continue
        for name, rows in table.hierarchies.items():
            leaves = len([labels for labels in rows if row[name] in labels])
            if leaves > 1:
                total += weight_of(weights, name) * node_weight(node_weights, name, row[name]) * leaves / len(rows)
    return total


def average_class_size(table, levels, published, suppressed, k=1):
    sizes = [len(members) for members in published] or [len(table.rows)]
    return sum(sizes) / len(sizes) / k


def precision(table, levels, published, suppressed, weights=None):
    whole = sum(weight_of(weights, name) for name in table.hierarchies)
    total = 0.0
    for name, _, level in each_value(table, levels, published):
        height = len(table.hierarchies[name][0]) - 1
        total += weight_of(weights, name) / whole * (level / height if height else 0)
    return total + len(suppressed)


def non_uniform_entropy(table, levels, published, suppressed, weights=None):
    total = 0.0
    for name, value, level in each_value(table, levels, published):
        block = rows_with(table, name, leaves_under(table, name, value, level))
        total += weight_of(weights, name) * math.log2(block / rows_with(table, name, [value]))
    for row in suppressed:
        for name in table.hierarchies:
            own = rows_with(table, name, [table.rows[row][name]])
            total += weight_of(weights, name) * math.log2(len(table.rows) / own)
    return total


def ambiguity(table, levels, published, suppressed):
    total = 0
    for members in published:
        for row in members:
            total += math.prod(
                len(leaves_under(table, name, table.rows[row][name], level))
                for name, level in zip(table.hierarchies, levels, strict=True)
            )
    return total + len(suppressed) * math.prod(len(rows) for rows in table.hierarchies.values())


def shown_values(table, levels, published):
    """How many different values of each attribute are to be seen."""
    seen = {name: set() for name in table.hierarchies}
    for name, value, level in each_value(table, levels, published):
        seen[name].add(released(table, name, value, level))
    return {name: len(values) for name, values in seen.items()}


def score_of(table, shown, by="basic", d=10, weights=None):
    """The score of a table that shows so many values of each attribute."""
    before = {name: len({row[name] for row in table.rows}) for name in table.hierarchies}
    parts = []
    for name, e in shown.items():
        v = weight_of(weights, name)
        if by == "basic":
            parts.append(v * e)
        elif by == "eta":
            parts.append(v * (2 if e > d else 1 if e > d / 2 else 0))
        else:
            parts.append(v * math.log(e) / math.log(before[name]) if e and before[name] > 1 else 0)
    return max(parts, default=0) if by == "log" else sum(parts)


def score_lost(table, levels, published, suppressed, by="basic", d=10, weights=None):
    before = {name: len({row[name] for row in table.rows}) for name in table.hierarchies}
    shown = shown_values(table, levels, published)
    return score_of(table, before, by, d, weights) - score_of(table, shown, by, d, weights)


COSTS = {
    "score": score_lost,
    "DM": discernibility,
    "HDM": hierarchical_discernibility,
    "LM": loss,
    "CM": classification,
    "NCP": certainty,
    "C_AVG": average_class_size,
    "precision": precision,
    "entropy": non_uniform_entropy,
    "ambiguity": ambiguity,
}


def value_penalty(table, cost, weights=None, penalty="iyengar", **options):
    """What a sensitive value made unknown costs."""
    if cost != "LM":
        return None
    return sum(weight_of(weights, name) for name in table.hierarchies) if penalty == "l+" else 1


# --- suppression of a whole recoding, with its cost -------------------------------------------------------------------


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
    if kind in ("class-values", "violating-values"):
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
        else:
            each = [violating_values(own, model.thetas) for model in looking]
            unknown += sum(max((gone[value] for gone in each), default=0) for value in own)
    penalty = value_penalty(table, cost, **options) * unknown if unknown else 0
    return Outcome(COSTS[cost](table, levels, found, [], **options) + penalty, 0, unknown)


def rows_that_stay(table, levels, members, models, cost, column, **options):
    """The largest ok part of a class; which rows of a value stay is tried where the cost depends on it.

    Of several parts it is the evenest, and of those the one with most rows of the first values.
    """
    own = counts(table, members, column)
    values = sorted(own)
    parts = largest_ok_parts(own, lambda counts: all_ok(models, counts))
    part = min(parts, key=lambda part: (sum(n**2 for n in part.values()), [-part.get(value, 0) for value in values]))
    ways = [
        list(itertools.combinations([row for row in members if table.rows[row][column] == value], n))
        for value, n in part.items()
    ]
    choices = [[row for rows in way for row in rows] for way in itertools.product(*ways)]
    if cost != "CM" or not part:
        return choices[0]

    def total(stay):
        return COSTS[cost](table, levels, [stay], [row for row in members if row not in stay], **options)

    return min(choices, key=total)


# --- schemes: sets of frozensets of leaves ----------------------------------------------------------------------------


def set_partitions(items):
    """Every partition of some items."""
    items = list(items)
    if not items:
        yield []
        return
    for smaller in set_partitions(items[1:]):
        yield [[items[0]], *smaller]
        for i, block in enumerate(smaller):
            yield [*smaller[:i], [items[0], *block], *smaller[i + 1 :]]


def nodes(hierarchy):
    """Every node as the set of its leaves."""
    found = {frozenset([row[0]]) for row in hierarchy}
    for level in range(1, len(hierarchy[0])):
        for row in hierarchy:
            found.add(frozenset(other[0] for other in hierarchy if other[level] == row[level]))
    return found


def keeps_rule_g(hierarchy, block):
    """Two values under different children of their lowest common ancestor come with all values of both children."""
    known = nodes(hierarchy) | {frozenset(row[0] for row in hierarchy)}
    for x, y in itertools.combinations(block, 2):
        ancestor = min((node for node in known if x in node and y in node), key=len)
        for value in (x, y):
            below = [node for node in known if value in node and node < ancestor]
            if not max(below, key=len) <= block:
                return False
    return True


def valid_partitions(scheme, hierarchy):
    """Every valid partition, by trying all partitions of the leaves."""
    leaves = [row[0] for row in hierarchy]
    place = {leaf: i for i, leaf in enumerate(leaves)}
    known = nodes(hierarchy)
    whole_levels = [{frozenset([leaf]) for leaf in leaves}] + [
        {frozenset(o[0] for o in hierarchy if o[level] == row[level]) for row in hierarchy}
        for level in range(1, len(hierarchy[0]))
    ]

    def consecutive(block):
        places = sorted(place[leaf] for leaf in block)
        return places == list(range(places[0], places[-1] + 1))

    rules = {
        "full-domain": lambda blocks: set(blocks) in whole_levels,
        "subtree": lambda blocks: all(block in known for block in blocks),
        "ordered": lambda blocks: all(consecutive(block) for block in blocks),
        "guided-ordered": lambda blocks: all(consecutive(block) and keeps_rule_g(hierarchy, block) for block in blocks),
        "set": lambda blocks: True,
        "guided-set": lambda blocks: all(keeps_rule_g(hierarchy, block) for block in blocks),
    }
    found = set()
    for partition in set_partitions(leaves):
        blocks = frozenset(frozenset(block) for block in partition)
        if rules[scheme](blocks):
            found.add(blocks)
    return found


def formal_cuts(hierarchy):
    """The cuts of a tree in which every value of every column is a node of its own."""

    def cuts(rows, level):
        if level == 0:
            return 1
        children = {}
        for row in rows:
            children.setdefault(row[level - 1], []).append(row)
        return 1 + math.prod(cuts(below, level - 1) for below in children.values())

    top = {}
    for row in hierarchy:
        top.setdefault(row[-1], []).append(row)
    return math.prod(cuts(rows, len(hierarchy[0]) - 1) for rows in top.values())


# --- search -----------------------------------------------------------------------------------------------------------


class Search(NamedTuple):
    feasible: bool
    cost: float | None
    levels: list  # every vector that reaches the cost
    smallest_budget: int  # fewest suppressed rows of any vector


def level_vectors(table):
    """Every vector of levels."""
    return list(itertools.product(*(range(len(rows[0])) for rows in table.hierarchies.values())))


def recode(table, levels, ok):
    """The published classes and the suppressed rows if exactly the classes that are ok are published."""
    found = classes(table, levels)
    published = [members for members in found if ok(members)]
    return published, [row for members in found if not ok(members) for row in members]


def search(table, ok, cost, budget, vectors=None, **options):
    """The best full-domain recoding within a budget of rows, by trying all; ``ok`` is told the rows of a class."""
    best, levels, fewest = None, [], len(table.rows)
    for vector in vectors if vectors is not None else level_vectors(table):
        published, suppressed = recode(table, vector, ok)
        fewest = min(fewest, len(suppressed))
        if len(suppressed) > budget:
            continue
        total = COSTS[cost](table, vector, published, suppressed, **options)
        if best is None or total < best - TOLERANCE * max(1, abs(best)):
            best, levels = total, [vector]
        elif total <= best + TOLERANCE * max(1, abs(best)):
            levels.append(vector)
    return Search(best is not None, best, levels, fewest)


class CutSearch(NamedTuple):
    feasible: bool
    cost: float | None
    cuts: list  # every tuple of partitions that reaches the cost
    considered: int
    smallest_budget: int  # fewest rows in classes that are not ok, of any cut


def search_cuts(table, models, kind, limit, cost, column, scheme="subtree", **options):
    """The best recoding by a valid partition of each attribute, by trying all; ``scheme`` may be a dict."""
    best, cuts, fewest, considered = None, [], len(table.rows), 0
    schemes = scheme if isinstance(scheme, dict) else dict.fromkeys(table.hierarchies, scheme)
    for levels in itertools.product(*(valid_partitions(schemes[a], rows) for a, rows in table.hierarchies.items())):
        considered += 1
        bad = [m for m in classes(table, levels) if not all_ok(models, counts(table, m, column))]
        fewest = min(fewest, sum(len(members) for members in bad))
        total = suppress(table, levels, models, kind, limit, cost, column, **options).cost
        if total is None:
            continue
        if best is None or total < best - TOLERANCE * max(1, abs(best)):
            best, cuts = total, [levels]
        elif total <= best + TOLERANCE * max(1, abs(best)):
            cuts.append(levels)
    return CutSearch(best is not None, best, cuts, considered, fewest)


def k_of_node(table, levels, budget):
    """The k of a node and the rows it costs: the smallest classes go, all of one size together, within the budget.

    k is None if that leaves nothing.
    """
    left = sorted(classes(table, levels), key=len)
    gone = []
    while left:
        smallest = [members for members in left if len(members) == len(left[0])]
        rows = [row for members in smallest for row in members]
        if len(gone) + len(rows) > budget:
            break
        gone += rows
        left = left[len(smallest) :]
    return (len(left[0]) if left else None), sorted(gone)


class Point(NamedTuple):
    values: tuple  # what is measured on the published classes; more is better
    loss: float
    levels: tuple  # the first vector that has these values and this loss
    also: int  # how many others have them
    suppressed: int
    classes: int  # published


def stay_and_go(table, levels, budget, value):
    """The classes that stay and the rows that go: the worst classes go, all equally bad ones together.

    Something always stays: the best classes, even where the budget would let them go.
    """
    found = [(value(members), members) for members in classes(table, levels)]
    each = sorted({worth for worth, _ in found})
    gone = []
    for worth in each[:-1]:
        rows = [row for own, members in found for row in members if own == worth]
        if len(gone) + len(rows) > budget:
            break
        gone += rows
    return [members for _, members in found if not set(members) & set(gone)], sorted(gone)


def evaluated(table, budget, cost, value=len, measures=None, vectors=None, **options):
    """Every node as a point of its own: vector, values, loss, suppressed rows and published classes.

    ``value`` says how good a class is, given its rows: classes are suppressed by it. Each of ``measures`` is told the
    published classes and returns a number; by default there is one, the worst value.
    """
    measures = measures or [lambda published: min(map(value, published))]
    found = []
    for levels in vectors if vectors is not None else level_vectors(table):
        published, gone = stay_and_go(table, levels, budget, value)
        loss = COSTS[cost](table, levels, published, gone, **options)
        values = tuple(measure(published) for measure in measures)
        found.append(Point(values, loss, tuple(levels), 0, len(gone), len(published)))
    return found


def nearly(a, b):
    return abs(a - b) <= TOLERANCE * max(1, abs(a), abs(b))


def front(table, budget, cost, value=len, measures=None, vectors=None, **options):
    """The points that no node is better than, by evaluating all nodes; the first value falls along it."""
    found = evaluated(table, budget, cost, value, measures, vectors, **options)

    def better(a, b):
        """a is as good as b in everything, and better in something."""
        near = [nearly(x, y) for x, y in zip((*a.values, a.loss), (*b.values, b.loss), strict=True)]
        more = [x > y for x, y in zip((*a.values, -a.loss), (*b.values, -b.loss), strict=True)]
        return all(n or m for n, m in zip(near, more, strict=True)) and not all(near)

    best = [point for point in found if not any(better(other, point) for other in found)]
    points = []
    for point in sorted(best, key=lambda point: point.levels):
        same = [
            i
            for i, other in enumerate(points)
            if all(map(nearly, (*other.values, other.loss), (*point.values, point.loss)))
        ]
        if same:
            points[same[0]] = points[same[0]]._replace(also=points[same[0]].also + 1)
        else:
            points.append(point)
    return sorted(points, key=lambda point: (tuple(-value for value in point.values), point.loss))


def share_inside(block, asked):
    """The share of a released value that is in what is asked for, if it is spread evenly.

    A block is the set of values it may be, None being a missing one, or the ends of a range of decimals.
    """
    if isinstance(block, tuple):
        low, high = block
        if low == high:
            return float(asked[0] <= low <= asked[1])
        return max(min(high, asked[1]) - max(low, asked[0]), 0) / (high - low)
    inside = (lambda v: asked[0] <= v <= asked[1]) if isinstance(asked, tuple) else (lambda v: v in asked)
    return sum(inside(value) for value in block) / len(block)


def count_query(rows, query):
    """How many rows there are where each column is in what the query asks for; rows are dicts of blocks."""
    return sum(math.prod(share_inside(row[name], asked) for name, asked in query.items()) for row in rows)


def sum_query(rows, query, column):
    """The sum of a column over those rows; a missing number counts 0."""
    total = 0.0
    for row in rows:
        mean = sum(value or 0 for value in row[column]) / len(row[column])
        total += mean * math.prod(share_inside(row[name], asked) for name, asked in query.items())
    return total


# --- microaggregation -------------------------------------------------------------------------------------------------


def spread(table, name):
    """The variance and the range of the numbers of a column, without the missing ones."""
    known = [Fraction(row[name]) for row in table.rows if row[name] is not None]
    mean = sum(known) / max(len(known), 1)
    variance = sum((value - mean) ** 2 for value in known) / max(len(known), 1)
    return variance, max(known, default=0) - min(known, default=0)


def mdav(table, k, flat=(), weights=None):
    """The groups of MDAV as lists of row numbers, in the order in which they are made; ``flat`` have no hierarchy.

    Rows stand in the order of their values, and of rows as far away as each other the first counts. Rows with the
    same values as the one a group is made around come first.
    """
    places = {name: [row[0] for row in tree] for name, tree in table.hierarchies.items()}
    spreads = {name: spread(table, name) for name in table.numeric}

    def key(row):
        return tuple(places[name].index(row[name]) for name in places)

    def apart(name, first, second):
        """The squared distance of two values."""
        weight = Fraction(weight_of(weights, name))
        if name in table.numeric:
            variance, whole = spreads[name]
            if first is None or second is None:
                far = max(whole**2 / variance, 1) if variance else 1
                return 0 if first is second else weight**2 * far
            return weight**2 * (first - second) ** 2 / variance if variance else 0
        leaves = len(places[name])
        if first == second:
            return 0
        under = leaves if name in flat else common_ancestor(table.hierarchies[name], {first, second})[1]
        return (weight * Fraction(under - 1, leaves - 1)) ** 2

    def away(first, second):
        total = float(sum(apart(name, first[name], second[name]) for name in places))
        return struct.unpack("f", struct.pack("f", total))[0]  # what differs by less is as far away

    def average(left):
        found = {}
        for name, domain in places.items():
            values = [table.rows[row][name] for row in left]
            if name in table.numeric:
                known = [Fraction(value) for value in values if value is not None]
                found[name] = sum(known) / len(known) if 2 * len(known) >= len(left) else None
            else:
                totals = [sum(apart(name, middle, value) for value in values) for middle in domain]
                found[name] = domain[totals.index(min(totals))]
        return found

    def group(left, seed):
        middle = table.rows[seed]
        nearest = sorted(left, key=lambda row: (away(table.rows[row], middle), key(table.rows[row]) != key(middle)))
        return nearest[:k]

    left, groups = sorted(range(len(table.rows)), key=lambda row: key(table.rows[row])), []
    while len(left) >= 2 * k:
        middle = average(left)
        for _ in range(2 if len(left) >= 3 * k else 1):
            seed = max(left, key=lambda row: away(table.rows[row], middle))
            groups.append(group(left, seed))
            left = [row for row in left if row not in groups[-1]]
            middle = table.rows[seed]
    return [*groups, left] if left else groups


def squared_error(table, groups):
    """The squared distances of standardized numbers from the means of their groups, as a share of those from 0.

    None where there are no numbers that differ.
    """
    within = total = 0.0
    published = [row for group in groups for row in group]
    for name in table.numeric:
        known = [table.rows[row][name] for row in published if table.rows[row][name] is not None]
        mean = math.fsum(known) / max(len(known), 1)
        deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in known) / max(len(known), 1))
        if deviation == 0:
            continue
        for group in groups:
            z = [(table.rows[row][name] - mean) / deviation for row in group if table.rows[row][name] is not None]
            within += sum((value - sum(z) / len(z)) ** 2 for value in z)
            total += sum(value**2 for value in z)
    return within / total if total else None
