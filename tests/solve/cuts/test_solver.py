"""What the solver `cuts` says and refuses, and how it is stopped."""

from __future__ import annotations

import numpy as np
import pytest

import naive
from cases import built
from discreet.errors import InfeasibleError, InterruptedRun, UnsupportedCombinationError, UsageError
from discreet.problem import Problem
from discreet.solve import SOLVERS, Budget, choose_solver
from discreet.solve.cuts.layout import CutTechniques, lay_out_cuts
from discreet.solve.cuts.solver import CutsSolver
from tables import random_sample


def problem_of(seed, **parts):
    sample = random_sample(seed, rows=(60, 60), attributes=(3, 3), leaves=(6, 6), height=(2, 3), values=(4, 4))
    return Problem.build(
        sample.counts, scheme="subtree", **{"privacy": "l+(0.5)", "suppression": "class-records", **parts}
    )


@pytest.mark.parametrize(
    "text",
    [
        "cuts(order=foo)",
        "cuts(bounds=none)",
        "cuts(update=no)",
        "cuts(formal=3)",
        "cuts(top=0)",
        "cuts(extra=-1)",
        "cuts(extra_loss=0)",
    ],
)
def test_options_that_make_no_sense(text):
    with pytest.raises(UsageError, match="of cuts"):
        SOLVERS.make(text)


def test_it_is_chosen_for_cuts_and_refuses_other_schemes():
    assert choose_solver(problem_of(1)).name == "cuts"
    table = problem_of(1).table
    with pytest.raises(UnsupportedCombinationError):
        choose_solver(Problem.build(table, privacy="k(2)"), "cuts")


def test_a_cost_that_does_not_add_up_is_refused():
    with pytest.raises(UnsupportedCombinationError, match="adds up"):
        CutsSolver().solve(problem_of(1, cost="C_AVG", privacy="k(2)"), Budget())


def test_interrupted_before_anything_was_found(monkeypatch):
    """That nothing was found so far is no proof that there is nothing."""

    def interrupt(self):
        raise KeyboardInterrupt

    table = problem_of(1).table
    most_specific = dict.fromkeys(table.names, 1)
    problem = Problem.build(
        table, privacy="l+(0.3)", suppression="class-records", scheme="subtree", max_levels=most_specific
    )
    whole = CutsSolver().solve(problem, Budget())
    monkeypatch.setattr("discreet.solve.cuts.solver.CutSearch._branch_and_bound", interrupt)
    monkeypatch.setattr("discreet.solve.cuts.solver.CutSearch.found", property(lambda self: False))
    assert whole.status == "optimal"
    with pytest.raises(InterruptedRun, match="No release"):
        CutsSolver(incumbent=False).solve(problem, Budget())


def test_more_cuts_wanted_than_there_are():
    found = CutsSolver(top=10**12).solve(problem_of(2, cost="LM"), Budget(time_limit=1, seed=3))
    assert found.status in ("optimal", "feasible")


def test_the_same_seed_releases_the_same_cut():
    for solver in (CutsSolver(top=6), CutsSolver(extra=2)):
        runs = [solver.solve(problem_of(3), Budget(seed=seed)) for seed in (4, 4)]
        assert all(np.array_equal(a, b) for a, b in zip(runs[0].blocks, runs[1].blocks, strict=True))
    drawn = {CutsSolver(top=6).solve(problem_of(3), Budget()).cost for _ in range(30)}
    assert len(drawn) > 1


def rows_of(sample, found):
    """The classes of a solution as lists of row numbers, and which of its rows are suppressed."""
    table = sample.naive
    names = list(table.hierarchies)
    leaves = [{row[0]: i for i, row in enumerate(table.hierarchies[name])} for name in names]
    tuples = {codes: j for j, codes in enumerate(zip(*sample.counts.codes.tolist(), strict=True))}
    of_row = [tuples[tuple(leaf[row[name]] for leaf, name in zip(leaves, names, strict=True))] for row in table.rows]
    levels = tuple(
        {frozenset(x for x, i in leaf.items() if block[i] == number) for number in set(block.tolist())}
        for leaf, block in zip(leaves, found.blocks, strict=True)
    )
    suppressed = [row for row, j in enumerate(of_row) if found.suppressed[j]]
    return levels, naive.classes(table, levels), suppressed


@pytest.mark.parametrize("kind", ["none", "class-records", "budget(0.3)", "class-values", "violating-values"])
def test_random_steps_stay_within_their_loss(kind):
    """What is said to be suppressed is valid and costs what is said, at most so much more than the least."""
    stepped = dearest = 0
    seen = set()
    for seed in range(40):
        sample = random_sample(seed, rows=(30, 60), attributes=(2, 3), leaves=(3, 6), height=(2, 3), values=(3, 4))
        problem = built(sample, privacy=["l+(0.5, s0)"], cost="LM", suppression=kind, scheme="subtree")
        if problem is None:
            continue
        best = CutsSolver().solve(problem, Budget())
        if best.status == "infeasible":
            continue
        found = CutsSolver(extra=3, extra_loss=0.4).solve(problem, Budget(seed=seed))
        drawn = found.stats["precaution"]
        assert found.status == "feasible"
        assert found.lower_bound <= best.cost * (1 + 1e-9)
        assert best.cost * (1 - 1e-9) <= found.cost <= best.cost * 1.4 * (1 + 1e-9) + 1e-9
        assert 1 <= drawn["steps_drawn"] <= 3
        assert drawn["generalized"] + drawn["suppressed_classes"] <= drawn["steps_drawn"]
        assert drawn["extra_cost"] == pytest.approx(found.cost - best.cost, abs=1e-9)
        assert kind != "none" or not drawn["suppressed_classes"]
        assert found.suppressed_rows <= problem.limit
        stepped += found.cost > best.cost
        dearest += found.classes == 1
        seen.add((drawn["generalized"], drawn["suppressed_classes"]))
        levels, classes, suppressed = rows_of(sample, found)
        published = [members for members in classes if not set(members) & set(suppressed)]
        unknown = 0 if found.inside is None else found.inside.count.sum()
        assert (len(suppressed), unknown) == (found.suppressed_rows, found.suppressed_values)
        cost = naive.COSTS["LM"](sample.naive, levels, published, suppressed)
        cost += naive.value_penalty(sample.naive, "LM") * unknown if unknown else 0
        assert found.cost == pytest.approx(cost)
        if not found.suppressed_values:
            thetas = dict.fromkeys([row[0] for row in sample.sensitive["s0"]], 0.5)
            assert all(naive.l_plus(naive.counts(sample.naive, members, "s0"), thetas) for members in published)
    assert stepped >= 5
    assert dearest < stepped
    assert len(seen) >= 3


def test_no_step_is_cheap_enough():
    problem = problem_of(3)
    found = CutsSolver(extra=2, extra_loss=1e-9).solve(problem, Budget(seed=1))
    assert found.status == "feasible"
    assert found.cost == CutsSolver().solve(problem, Budget()).cost
    assert found.stats["precaution"]["generalized"] == found.stats["precaution"]["suppressed_classes"] == 0


def test_the_best_cut_is_not_called_so_if_it_was_drawn():
    statuses = {CutsSolver(top=2).solve(problem_of(3), Budget(seed=seed)).status for seed in range(8)}
    assert statuses == {"feasible"}


def test_ties_are_decided_in_the_order_of_the_columns():
    """All roots have equally many rows; the figures of the paper depend on which comes first."""
    tree = lay_out_cuts(problem_of(1), CutTechniques(order="descending")).cut_tree
    by_rank = np.argsort(-tree.tree.rank)
    assert by_rank[:3].tolist() == sorted(tree.roots.tolist())
    rows = tree.rows[by_rank]
    assert (np.diff(rows) <= 0).all()
    assert (np.diff(by_rank)[np.diff(rows) == 0] > 0).all()
    reverse = lay_out_cuts(problem_of(1), CutTechniques(order="ascending")).cut_tree
    assert np.argsort(-reverse.tree.rank).tolist() == by_rank[::-1].tolist()


def test_the_trace_ends_with_the_proof():
    found = CutsSolver().solve(problem_of(5), Budget())
    assert found.trace[-1].best == found.trace[-1].bound == pytest.approx(found.cost)
    assert found.stats["seconds_to_best"] <= found.stats["seconds_to_proof"]


def test_values_made_unknown_can_mend_what_no_class_can_keep():
    sample = random_sample(1, rows=(20, 20), values=(2, 2))
    with pytest.raises(InfeasibleError):
        Problem.build(sample.counts, privacy="l+(0.25, s0)", scheme="subtree")
    hidden = Problem.build(sample.counts, privacy="l+(0.25, s0)", suppression="class-values", scheme="subtree")
    assert CutsSolver().solve(hidden, Budget()).status == "optimal"
