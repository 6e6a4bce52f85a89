"""Published algorithms word by word, with exact numbers."""

from __future__ import annotations

from fractions import Fraction

from naive.recoding import released
from naive.searches import level_vectors, stay_and_go


def _leaf_losses(table, name, level, cost):
    """What one row of each value costs at a level, under LM or HDM, as a fraction."""
    tree, n = table.hierarchies[name], len(table.rows)
    rows = {line[0]: sum(row[name] == line[0] for row in table.rows) for line in tree}
    losses = {}
    for value in rows:
        shown = released(table, name, value, level)
        block = [line[0] for line in tree if line[level] == shown] if level else [value]
        if cost == "LM":
            losses[value] = Fraction(len(block) - 1, max(len(tree) - 1, 1))
        else:
            wider = sum(rows[leaf] for leaf in block) - rows[value]
            losses[value] = Fraction(wider, max(n - rows[value], 1) * len(table.hierarchies))
    return losses


def exact_nodes(table, budget, cost):
    """The k and the loss of every node, LM or HDM as a fraction: equal losses are equal numbers."""
    of = {
        (name, level): _leaf_losses(table, name, level, cost)
        for name, tree in table.hierarchies.items()
        for level in range(len(tree[0]))
    }
    gone_for = len(table.hierarchies) if cost == "LM" else 1
    nodes = {}
    for levels in level_vectors(table):
        published, gone = stay_and_go(table, levels, budget, len)
        loss = Fraction(len(gone) * gone_for)
        for row in (table.rows[number] for members in published for number in members):
            loss += sum(of[at][row[at[0]]] for at in zip(table.hierarchies, levels, strict=True))
        nodes[levels] = (min(map(len, published)), loss)
    return nodes


def poka(nodes, depth, start=None):
    """The nodes that functions 1 to 3 of Dewri et al. report, of a lattice ``{levels: (k, loss)}``.

    Two rules are added where the paper says nothing: the bottom of the lattice is a ground node too, and ground nodes
    next to the base node are evaluated.
    """
    top = tuple(map(max, zip(*nodes, strict=True)))
    bottom = (0,) * len(top)
    nothing = (None, 0, 0)

    def moved(node, by):
        for i in range(len(node)):
            other = (*node[:i], node[i] + by, *node[i + 1 :])
            if other in nodes:
                yield other

    def skipped(node):
        return all(a <= b for a, b in zip(node, base, strict=True)) and sum(base) - sum(node) > 1

    def better(one, other):
        if one[0] is None:
            return False
        return other[0] is None or one[1] > other[1] or (one[1] == other[1] and one[2] < other[2])

    def allowed(node):
        return nodes[node][0] < nodes[base][0] and nodes[node][1] < nodes[base][1]

    def height_search(node):
        if node not in seen_above:  # HBest, or it takes for ever
            seen_above[node] = height_search_afresh(node)
        return seen_above[node]

    def height_search_afresh(node):
        best = nothing if skipped(node) else (node, *nodes[node])
        for above in moved(node, 1):
            if skipped(above) or allowed(above):
                found = height_search(above)
                best = found if better(found, best) else best
        return best

    def depth_search(node):
        if node not in seen_below:  # DBest
            seen_below[node] = depth_search_afresh(node)
        return seen_below[node]

    def depth_search_afresh(node):
        best = nothing
        for below in moved(node, -1):
            if sum(base) - sum(below) == depth or below == bottom:
                found = height_search(below) if skipped(below) or allowed(below) else nothing
            else:
                found = depth_search(below)
            best = found if better(found, best) else best
        return best

    base = top if start is None else start
    reported = [base]
    while nodes[base][0] > 2:
        seen_above, seen_below = {}, {}
        found = depth_search(base)
        if found[0] is None:
            break
        base = found[0]
        reported.append(base)
    return reported
