"""Costs of a whole recoding."""

from __future__ import annotations

import math

from naive.recoding import counts, released


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


def certainty(table, levels, published, suppressed, weights=None, node_weights=None, before=None):
    """With ``before``, partly suppressed classes spread as far as they did before."""
    total = 0.0
    for members in published:
        whole = members if before is None else next(each for each in before if members[0] in each)
        for name in table.hierarchies:
            inside = {table.rows[row][name] for row in whole}
            everywhere = {row[name] for row in table.rows}
            if len(inside) == 1:
                spread = 0.0
            elif name in table.numeric and None in inside:
                spread = 1.0
            elif name in table.numeric:
                known = [value for value in everywhere if value is not None]
                spread = (max(inside) - min(inside)) / (max(known) - min(known))
            elif name in table.sets:
                spread = len(inside) / len(table.hierarchies[name])
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
    for name, value, level in each_value(table, levels, published):
        height = len(table.hierarchies[name][0]) - 1
        if not isinstance(level, int):
            level = lowest_level(table.hierarchies[name], released(table, name, value, level))
        total += weight_of(weights, name) / whole * (level / height if height else 0)
    return total + len(suppressed)


def lowest_level(hierarchy, block):
    """The lowest level at which a block is a node."""
    leaves = [row[0] for row in hierarchy]
    if len(block) == 1:
        return 0
    for level in range(1, len(hierarchy[0])):
        nodes = {row[level] for row in hierarchy if row[0] in block}
        if len(nodes) == 1 and {
            leaf for leaf, row in zip(leaves, hierarchy, strict=True) if row[level] in nodes
        } == set(block):
            return level
    raise ValueError(block)


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
    """What a sensitive value made unknown adds to the cost of its record; None if that is not defined."""
    whole = sum(weight_of(weights, name) for name in table.hierarchies)
    each = {"DM": len(table.rows), "HDM": 1, "CM": 1, "NCP": whole, "LM": whole if penalty == "l+" else 1}
    return each.get(cost)
