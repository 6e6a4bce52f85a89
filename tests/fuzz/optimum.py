"""Checks against the oracle: the recoding is allowed, its cost is right, and nothing is better than what is proven."""

from __future__ import annotations

from fuzz import auditor, oracle
from fuzz.auditor import same
from fuzz.jobs import Case
from fuzz.outcome import NEAR, Broken, Ran, expect, near
from naive.cells import fewest_cells as naive_cells
from naive.cells import matches

__all__ = ["check_best", "check_cost", "check_global", "check_infeasible", "check_local", "check_matches"]


def check_global(case: Case, ran: Ran, meanings) -> None:
    """Equal values are released equally, by a level or partition that the scheme allows."""
    original = {row["rid"]: row for row in case.original()}
    for name, rows in meanings.items():
        shown: dict = {}
        for row in ran.rows:
            value = original[row["rid"]][name]
            if shown.setdefault(same(value), row[name]) != row[name]:
                raise Broken("global", f"a value of {name} is released in two ways")
        if rows is None:
            continue
        blocks = shown_blocks(case, ran, name)
        level = ran.release.levels.get(name)
        if level is not None:
            expect(level < len(rows[0]), "global", f"level {level} of {name}")
            expected = {frozenset(same(r[0]) for r in rows if r[level] == row[level]) for row in rows}
            if isinstance(case.quasi[name].given, list) and level:
                names = {same(row[0]): row[level] for row in rows if row[0] is not None or level == len(rows[0]) - 1}
                for value, text in shown.items():
                    wrong = value in names and text != same(names[value])
                    expect(not wrong, "global", f"{name}: {value!r} is shown as {text!r} and not {names.get(value)!r}")
        else:
            expected = None
        present = occurring(case, name)
        for block in blocks:
            if expected is not None:
                expect(
                    any(block == whole & present for whole in expected),
                    "global",
                    f"{name}: {block} is no block of level {level}",
                )
            expect(
                allowed(case.schemes[name].name, block, rows, present),
                "global",
                f"{name}: {sorted(map(str, block))} is no block of {case.schemes[name].name}",
            )
        for block in blocks:
            texts = {shown[value] for value in block if value in shown}
            expect(len(texts) <= 1, "global", f"{name}: a block is shown as {texts}")


def occurring(case, name):
    """The values of a column in the table and in the population."""
    return {same(row[name]) for row in [*case.original(), *(case.people() or ())]}


def shown_blocks(case, ran, name):
    blocks = [frozenset(same(value) for value in block) for block in ran.release.blocks[name]]
    present = occurring(case, name)
    expect(
        sorted(v or "" for block in blocks for v in block) == sorted(v or "" for v in present),
        "global",
        f"{name}: blocks {blocks}",
    )
    return blocks


def allowed(scheme, block, rows, present):
    """Whether the scheme allows a block, judged by the values that occur."""
    import naive

    place = {same(row[0]): i for i, row in enumerate(rows) if same(row[0]) in present}
    if scheme in ("full-domain", "subtree"):
        nodes = [{same(leaf) for leaf in node} & present for node in naive.nodes(rows)]
        return block in nodes
    if scheme in ("ordered", "guided-ordered"):
        order = sorted(place.values())
        places = sorted(order.index(place[value]) for value in block)
        return places == list(range(places[0], places[-1] + 1))
    return True


def check_local(case: Case, ran: Ran, made) -> None:
    """Each class shows the smallest cover of its values, unless key sets let classes share covers."""
    if made.key_sets:
        return
    if case.schemes[next(iter(case.quasi))].arguments.get("show", "cover") != "cover" or not oracle.knows_local(made):
        return
    place = {row["rid"]: i for i, row in enumerate(made.rows)}
    groups = [[place[row["rid"]] for row in group] for group in auditor.classes_of(ran.rows, list(case.quasi))]
    there = {row for group in groups for row in group}
    gone = [i for i in range(len(made.rows)) if i not in there]
    cost = oracle.local_price(made, groups, gone, ran.release.suppressed_values)
    expect(near(cost, ran.release.cost), "local cost", f"{ran.release.cost} is said and {cost} is so")
    least = oracle.best_local(made)
    if least is None:
        return
    expect(
        ran.release.lower_bound <= least + NEAR * max(1, least), "bound", f"{ran.release.lower_bound} is above {least}"
    )
    if ran.release.status == "optimal":
        expect(near(ran.release.cost, least), "optimal", f"{ran.release.cost} is not {least}")


def check_matches(case: Case, ran: Ran) -> None:
    """Each hidden cell costs its weight, no row hides more than it may, and nothing is better than what is proven."""
    weights = cell_weights(case)
    most = next(iter(case.schemes.values())).arguments.get("most", len(weights))
    hidden = [[name for name in case.quasi if row[name] == "*"] for row in ran.rows]
    expect(max(map(len, hidden), default=0) <= most, "cells", f"a row hides more than {most} cells")
    cost = sum(weights[name] for row in hidden for name in row)
    expect(near(cost, ran.release.cost), "cells cost", f"{ran.release.cost} is said and {cost} is so")
    least = fewest_cells(case)
    if least is None:
        return
    bound = ran.release.lower_bound
    expect(bound <= least + NEAR * max(1, least), "bound", f"{bound} is above {least}")
    if not ran.slow or ran.release.status == "optimal":
        expect(ran.release.status == "optimal" and near(cost, least), "optimal", f"{cost} is not {least}")


def cell_weights(case: Case) -> dict[str, float]:
    """What hiding a cell of each column costs: nothing if the column has one value."""
    weights = {} if case.cost is None else case.cost.arguments.get("weights", {})
    return {name: weights.get(name, 1) for name in case.quasi}


def fewest_cells(case: Case, most_cells: int = 12) -> float | None:
    """The least cost of hidden cells that match; None if there are too many cells to try."""
    rows = [tuple(same(row[name]) for name in case.quasi) for row in case.original()]
    if not rows or len(rows) * len(case.quasi) > most_cells:
        return None
    k = max(part.arguments["k"] for part in case.privacy)
    most = next(iter(case.schemes.values())).arguments.get("most", len(case.quasi))

    def count(shown):
        return [0] if any(row.count("*") > most for row in shown) else matches(shown)

    return naive_cells(rows, k, list(cell_weights(case).values()), count)


def check_cost(case: Case, ran: Ran, made) -> None:
    """The cost equals that computed from the release by the definitions."""
    if case.is_local:
        return
    names = list(case.quasi)
    if oracle.hides_values(made) and oracle.value_penalty(made) is None:
        return
    spare = any(len(rows) > len({row[name] for row in made.rows}) for name, rows in made.table.hierarchies.items())
    levels = []
    for name in names:
        level = ran.release.levels.get(name)
        if level is None:
            if spare:
                return  # the blocks of values that do not occur are not known
            texts = {same(row[0]): row[0] for row in made.table.hierarchies[name]}
            level = frozenset(frozenset(texts[v] for v in block) for block in shown_blocks(case, ran, name))
        levels.append(level)
    place = {row["rid"]: i for i, row in enumerate(made.rows)}
    published = [[place[row["rid"]] for row in group] for group in auditor.classes_of(ran.rows, names)]
    there = {row for group in published for row in group}
    gone = [i for i in range(len(made.rows)) if i not in there]
    cost = oracle.price(made, levels, published, gone, ran.release.suppressed_values)
    expect(near(cost, ran.release.cost), "cost", f"{ran.release.cost} is said and {cost} is so")


def check_best(case: Case, ran: Ran, made) -> None:
    """Nothing is better than a proven optimum, and no bound exceeds the optimum."""
    if case.is_local:
        return
    least = oracle.best(made)
    if least is None:
        return
    release = ran.release
    expect(release.lower_bound <= least + NEAR * max(1, abs(least)), "bound", f"{release.lower_bound} is above {least}")
    expect(release.cost >= least - NEAR * max(1, abs(least)), "impossible", f"{release.cost} is below {least}")
    if release.status == "optimal":
        expect(near(release.cost, least), "optimal", f"{release.cost} is not {least}")
    elif case.exact and not ran.slow:
        raise Broken("optimal", f"a small problem was not solved to the end: {release.status}")


def check_infeasible(case: Case, made) -> None:
    if made is None:
        return
    if case.counts_matches:
        least = fewest_cells(case)
    else:
        least = oracle.best_local(made) if case.is_local else oracle.best(made)
    if least is not None and least < float("inf"):
        raise Broken("infeasible", f"a recoding of cost {least} was overlooked")
