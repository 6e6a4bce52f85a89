"""What the solver `cuts` says and refuses, and how it is stopped."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.errors import InfeasibleError, InterruptedRun, UnsupportedCombinationError, UsageError
from discreet.problem import Problem
from discreet.solve import SOLVERS, Budget, choose_solver
from discreet.solve.cuts.solver import CutsSolver
from tables import random_sample


def problem_of(seed, **parts):
    sample = random_sample(seed, rows=(60, 60), attributes=(3, 3), leaves=(6, 6), height=(2, 3), values=(4, 4))
    return Problem.build(
        sample.counts, scheme="subtree", **{"privacy": "l+(0.5)", "suppression": "class-records", **parts}
    )


@pytest.mark.parametrize(
    "text",
    ["cuts(order=foo)", "cuts(bounds=none)", "cuts(update=no)", "cuts(formal=3)", "cuts(top=0)", "cuts(extra=-1)"],
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


def test_generalized_once_more():
    best = CutsSolver().solve(problem_of(3), Budget())
    more = CutsSolver(extra=1).solve(problem_of(3), Budget(seed=1))
    assert more.cost >= best.cost >= more.lower_bound == pytest.approx(best.cost)
    assert sum(block.max() for block in more.blocks) < sum(block.max() for block in best.blocks)


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
