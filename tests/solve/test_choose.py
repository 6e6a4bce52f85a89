"""Which solver is chosen, and what is blamed where none fits."""

from __future__ import annotations

import numpy as np
import pytest

import discreet as dc
from discreet.errors import UnsupportedCombinationError
from discreet.problem import COSTS, Problem
from discreet.solve import SOLVERS, choose_solver
from tables import add_people, random_sample


def problem_of(**parts):
    return Problem.build(random_sample(1, attributes=(2, 2)).counts, **{"privacy": "k(1)", **parts})


def test_baselines_are_never_chosen_unasked():
    made_for_costs = {cost.solver for cost in COSTS.members().values()}
    for name, member in SOLVERS.members().items():
        for scheme in member.schemes if name not in made_for_costs else ():
            for kind in member.suppressions - {"budget"}:
                cost = "LM" if member().takes(COSTS.make("LM")) and kind != "pre-sampling" else "score"
                problem = problem_of(
                    scheme=scheme, suppression=f"{kind}(1)" if kind == "pre-sampling" else kind, cost=cost
                )
                assert choose_solver(problem, name).name == name
                try:
                    assert not choose_solver(problem).baseline
                except UnsupportedCombinationError:
                    assert member.baseline


def test_a_solver_made_for_a_cost_is_chosen():
    problem = problem_of(scheme="local(show=mean)", cost="SSE")
    assert choose_solver(problem).name == "microaggregation"
    with pytest.raises(UnsupportedCombinationError, match="searches for other costs"):
        choose_solver(problem_of(scheme="local", cost="LM"), "microaggregation")


def only(monkeypatch, **solvers):
    members = {}
    for name, (schemes, suppressions) in solvers.items():
        flags = {"name": name, "schemes": frozenset(schemes), "suppressions": frozenset(suppressions)}
        members[name] = type(name, (SOLVERS.members()["lattice"],), flags)
    monkeypatch.setattr(SOLVERS, "members", lambda: members)
    monkeypatch.setattr("discreet.solve._choose._USUAL", {})


@pytest.mark.parametrize(
    ("parts", "blamed"),
    [
        ({"scheme": "set"}, ("The scheme set", "any solver")),
        ({"scheme": "set", "suppression": "class-values"}, ("The scheme set", "any solver")),
        ({"suppression": "class-records"}, ("The scheme full-domain", "the suppression class-records")),
        ({"scheme": {"q1": "subtree"}}, ("The scheme full-domain", "the scheme subtree of another attribute")),
    ],
)
def test_the_right_part_is_blamed(monkeypatch, parts, blamed):
    only(monkeypatch, levels=(["full-domain"], ["none", "budget"]), trees=(["subtree"], ["none", "class-records"]))
    with pytest.raises(UnsupportedCombinationError) as caught:
        choose_solver(problem_of(**parts))
    assert caught.value.parts == blamed


def test_a_solver_that_is_named_says_what_it_cannot_do(monkeypatch):
    only(monkeypatch, levels=(["full-domain"], ["none"]))
    with pytest.raises(UnsupportedCombinationError, match="it searches full-domain"):
        choose_solver(problem_of(scheme="subtree"), SOLVERS.members()["levels"]())


def test_a_cost_no_solver_takes_here():
    problem = problem_of(scheme="local", suppression="class-records", cost="score")
    with pytest.raises(UnsupportedCombinationError, match="The cost score does not go with the scheme local"):
        choose_solver(problem)


@pytest.mark.parametrize("cost", ["LM", "NCP", "score"])
@pytest.mark.parametrize("scheme", ["full-domain", "subtree", "ordered", "local"])
def test_the_usual_solver_is_the_one_chosen_among_all(scheme, cost, monkeypatch):
    def chosen():
        try:
            return choose_solver(problem_of(cost=cost, scheme=scheme))
        except UnsupportedCombinationError as refused:
            return refused.parts

    quickly = chosen()
    monkeypatch.setattr("discreet.solve._choose._USUAL", {})
    assert quickly == chosen()


@pytest.mark.parametrize("solver", sorted(SOLVERS.members()))
def test_what_is_asked_of_the_whole_table_is_kept_or_refused(solver):
    people = dc.sample(60, seed=1).select("sex", "education", "children")
    kept = 0
    for privacy in ("average-risk(0.3)", "sample-uniqueness(0.05)", ["k(2)", "average-risk(0.1)"]):
        for suppression in ("none", "budget(0.2)"):
            for cost in ("LM", "score"):
                asked = {"privacy": privacy, "suppression": suppression, "cost": cost, "scheme": "full-domain"}
                try:
                    release = dc.anonymize(people, quasi_identifiers=people.columns, solver=solver, **asked)
                except UnsupportedCombinationError:
                    continue
                sizes = release.frame.group_by(people.columns).len()["len"]
                risk, unique = sizes.len() / sizes.sum(), (sizes == 1).sum() / sizes.sum()
                assert unique <= 0.05 if privacy == "sample-uniqueness(0.05)" else risk <= (0.3, 0.1)["k(2)" in privacy]
                kept += 1
    assert kept or not SOLVERS.members()[solver].sees_table


@pytest.mark.parametrize(("scheme", "cost", "solver"), [("subtree", "score", "cuts"), ("set", "NCP", "partitions")])
def test_what_a_solver_cannot_do_is_told_when_it_is_chosen(scheme, cost, solver):
    problem = problem_of(scheme=scheme, cost=cost)
    with pytest.raises(UnsupportedCombinationError, match=f"the cost {cost}"):
        choose_solver(problem, solver)
    assert choose_solver(problem).name == "general"


def test_compiled_solvers_come_first():
    for scheme, kind, solver in (
        ("full-domain", "class-values", "lattice"),
        ("subtree", "class-values", "cuts"),
        ("ordered", "class-records", "partitions"),
        ("ordered", "class-values", "general"),
    ):
        problem = problem_of(scheme=scheme, suppression=kind, privacy=["k(2)", "l+(0.5, s0)"])
        assert choose_solver(problem).name == solver
        assert choose_solver(problem).compiled(problem) == (solver == "cuts")


@pytest.mark.parametrize("solver", ["auto", "local"])
@pytest.mark.parametrize(
    ("cost", "scheme"), [("DM", "local"), ("entropy", "local(people=apart)"), ("SSE", "local(show=mean)")]
)
def test_the_cost_is_blamed_that_local_recoding_of_people_does_not_take(cost, scheme, solver):
    sample = add_people(random_sample(1, attributes=(2, 2)), np.random.default_rng(1), most=3)
    problem = Problem.build(sample.counts, privacy="k(2)", scheme=scheme, cost=cost)
    with pytest.raises(UnsupportedCombinationError, match="choose LM, NCP or precision") as caught:
        choose_solver(problem, solver)
    assert caught.value.parts == (f"The cost {cost}", "local recoding that counts people")
