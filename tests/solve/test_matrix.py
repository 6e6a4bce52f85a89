"""The matrix of combinations: complete, true, and with a way out wherever something is refused."""

from __future__ import annotations

import json
import random

import pytest
from click.testing import CliRunner

import discreet as dc
from discreet.cli import program
from discreet.cli._matrix import grids, text_lines
from discreet.errors import UsageError
from discreet.problem import COSTS, PRIVACY, SCHEMES, SUPPRESSION, Problem
from discreet.solve import SOLVERS, Budget
from discreet.solve._matrix import PAIRS, _results, example_problem

FAMILIES = {"schemes": SCHEMES, "suppression": SUPPRESSION, "costs": COSTS, "privacy": PRIVACY, "solvers": SOLVERS}


@pytest.fixture(scope="module")
def combined():
    """All combinations; every test of this file looks at the same."""
    return dc.combinations()


@pytest.mark.parametrize("pair", PAIRS, ids=" ".join)
def test_every_member_is_combined_with_every_other(pair, combined):
    found = [(each.first, each.second) for each in combined if (each.first_family, each.second_family) == pair]
    first, second = (FAMILIES[name].members() for name in pair)
    assert found == [(a, b) for a in first for b in second]


def test_solvers_and_schemes_are_combined_with_everything():
    pairs = {frozenset(pair) for pair in PAIRS}
    for family in ("schemes", "solvers"):
        assert pairs >= {frozenset({family, other}) for other in FAMILIES if other != family}


def test_every_part_goes_with_something(combined):
    for name, family in FAMILIES.items():
        works = {each.first for each in combined if each.works and each.first_family == name}
        works |= {each.second for each in combined if each.works and each.second_family == name}
        assert works == set(family.members())


def test_a_refusal_is_one_sentence_with_a_way_out(combined):
    for each in combined:
        assert (each.reason is None) == each.works == bool(each.choice)
        for reason in filter(None, (each.reason, *(other.reason for other in each.other_forms.values()))):
            assert reason.endswith("."), reason
            assert ". " not in reason, reason
            assert ": " in reason or "; " in reason, f"no way out: {reason}"
            assert "'age'" not in reason, f"it names a column of the tiny table: {reason}"


def test_a_refusal_names_one_of_the_two_parts(combined):
    for each in combined:
        if each.reason is not None:
            assert each.first in each.reason or each.second in each.reason, each


@pytest.mark.parametrize("pair", PAIRS, ids=" ".join)
def test_what_works_is_solved(pair, combined):
    """A few cells of each table, those of general code among them."""
    works = [each for each in combined if each.works and (each.first_family, each.second_family) == pair]
    general = [each for each in works if each.search == "general"]
    rng = random.Random(20)
    for each in [*rng.sample(works, min(5, len(works))), *rng.sample(general, min(3, len(general)))]:
        problem, solver = example_problem(each.choice)
        assert solver.name == each.solver
        assert each.search == ("compiled" if solver.compiled(problem) else "general")
        solution = solver.solve(problem, Budget(time_limit=20, seed=1))
        assert solution.status in ("optimal", "feasible"), each
        assert solution.lower_bound <= solution.cost, each


def test_defaults_are_those_of_a_problem(combined):
    plain = next(each for each in combined if (each.first, each.second) == ("LM", "full-domain"))
    assert plain.partners == {"suppression": "none", "privacy": "k(5)", "solvers": "auto"}
    problem, _ = example_problem(plain.choice)
    defaults = Problem.build(problem.table, privacy="k(5)")
    assert (problem.cost, problem.suppression, problem.schemes) == (
        defaults.cost,
        defaults.suppression,
        defaults.schemes,
    )


def test_kinds_that_look_at_sensitive_values_are_tried_with_a_model_that_does(combined):
    for each in combined:
        if each.works and "privacy" in each.partners and each.choice["suppression"].endswith("-values"):
            assert PRIVACY.make(each.choice["privacy"]).looks_at_sensitive


def test_two_families_alone(combined):
    _results.cache_clear()  # what two families result in does not depend on what was tried before
    assert dc.combinations("costs", "schemes") == [
        each for each in combined if (each.first_family, each.second_family) == ("costs", "schemes")
    ]
    assert dc.combinations("suppression", "costs") == dc.combinations("costs", "suppression")
    assert {(each.first_family, each.second_family) for each in dc.combinations("schemes", "schemes")} == {
        ("schemes", "schemes")
    }
    with pytest.raises(UsageError, match="are not combined"):
        dc.combinations("costs", "builders")


def test_local_columns_among_others_are_refused(combined):
    """The solver user-oriented would recode all columns locally."""
    mixed = next(each for each in combined if (each.first, each.second) == ("full-domain", "local"))
    assert not mixed.works


def test_tables_fit_the_terminal(combined):
    shown = list(grids(combined))
    assert len(shown) == len(PAIRS)
    for grid in shown:
        lines = list(text_lines(grid))
        assert max(map(len, lines)) <= 100
        for row in grid.rows:
            assert any(line.startswith(f"  {row} ") for line in lines)
        labels = {label for each in grid.marks.values() for label in each}
        assert labels == set(grid.notes), "a note that nothing refers to, or a label without a note"
        for key, each in grid.cells.items():
            assert each.works or any(label.isdecimal() for label in grid.marks[key])


def test_the_command(combined, monkeypatch):
    monkeypatch.setattr("discreet.solve._matrix.combinations", lambda: combined)
    shown = CliRunner().invoke(program, ["parts", "costs", "--matrix"])
    assert shown.exit_code == 0
    assert "Cost and scheme" in shown.output
    assert "Solver and cost" in shown.output
    assert "Solver and scheme" not in shown.output
    listed = json.loads(CliRunner().invoke(program, ["parts", "--matrix", "--json"]).output)
    assert len(listed) == len(combined)
    assert {"first", "second", "search", "solver", "partners", "reason"} <= set(listed[0])
    refused = CliRunner().invoke(program, ["parts", "builders", "--matrix"])
    assert refused.exit_code == 2
