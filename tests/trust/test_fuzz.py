"""A few fixed seeds of the fuzzing; ``make fuzz`` runs many more."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from depth import cases, enough, every
from discreet.errors import UnsupportedCombinationError
from discreet.solve.kernels.jit import PLAIN, Kernel
from fuzz.auditor import CONDITIONS, OF_TABLE, broken_promises
from fuzz.checks import check, check_combination, check_promises
from fuzz.jobs import FAMILIES, known, make_case, table_of
from fuzz.kernels import Twice, differences
from fuzz.outcome import Broken, Ran, run
from fuzz.process import results
from fuzz.saved import from_data, to_data
from fuzz.shrink import shrink
from fuzz.taken import refusal

PORTION = 20


@pytest.mark.parametrize("first", every(2, range(0, 160, PORTION)))
def test_every_release_passes_the_auditor(first: int) -> None:
    for seed in range(first, first + PORTION):
        try:
            check(make_case(seed, large=False), deep=seed % PORTION == 0)
        except Broken as found:
            pytest.fail(f"{found}; python -m fuzz --tiny --first {seed} --jobs 1 repeats it")


@pytest.mark.deep
def test_kernels_as_plain_python_come_to_the_same() -> None:
    seeds = list(range(12))
    assert results(seeds, "plain Python") == results(seeds, "as always")


@pytest.mark.deep
@pytest.mark.skipif(PLAIN, reason="kernels are not compiled")
def test_every_call_of_a_kernel_comes_to_the_same_as_plain_python() -> None:
    made = differences(range(40))
    assert not made.wrong, made.wrong
    assert len(made.calls) > 50, "most kernels are called"


def test_a_kernel_that_is_compiled_wrongly_is_found() -> None:
    """Whether it returns or writes something else; a copy of the arguments is not written to twice."""

    def total(values: Any, place: Any) -> int:  # place OUT
        place[0] += values.sum()
        return int(values.size)

    def right(kernel: Kernel, *arguments: Any) -> Any:
        return kernel.function(*arguments)

    kernel = Kernel(total, {})
    for compiled, wrong in (
        (right, ""),
        (lambda kernel, *arguments: right(kernel, *arguments) + 1, "returns"),
        (lambda kernel, values, place: values.size, "writes"),
    ):
        made, place = Twice(compiled), np.zeros(1)
        made.call(kernel, np.arange(4.0), place)
        assert place[0] == (0 if wrong == "writes" else 6)
        assert made.calls == {kernel.name: 1}
        assert [wrong in sentence for sentence in made.wrong.values()] == [True] * bool(wrong)


def test_every_member_can_be_drawn() -> None:
    """Including members without a rule for their arguments, which are drawn by the names and types of their fields."""
    seen, refused = set(), 0
    for seed in range(400):
        case = make_case(seed, large=False)
        refused += isinstance(refusal(case), UnsupportedCombinationError)
        seen |= {("privacy", part.name) for part in case.privacy} | {("suppression", case.suppression.name)}
        seen |= {("scheme", part.name) for part in case.schemes.values()}
        seen |= {("cost", case.cost.name)} if case.cost else set()
        seen |= {("solver", case.solver.name)} if case.solver else set()
    assert {(kind, name) for kind in FAMILIES for name in known(kind)} - seen == set()
    assert 0 < refused < 80, "a few jobs are drawn of parts that do not go together, and not many"


def test_a_refusal_that_the_matrix_does_not_know_is_found() -> None:
    case = next(case for seed in range(99) if refusal(case := make_case(seed, large=False)) is None)
    with pytest.raises(Broken, match="refused: the same parts go together elsewhere"):
        check_combination(case, Ran(error=UnsupportedCombinationError("The cost LM", "Mondays", "wait")))
    with pytest.raises(Broken, match="blamed"):
        check_combination(
            next(case for seed in range(99) if refusal(case := make_case(seed, large=False)) is not None),
            Ran(error=UnsupportedCombinationError("The cost LM", "the scheme full-domain", "wait")),
        )


def test_saved_jobs_are_read_as_they_were_drawn() -> None:
    for seed in range(0, 60, 3):
        case = make_case(seed)
        again = from_data(json.loads(json.dumps(to_data(case))))
        assert str(again) == str(case)
        assert table_of(again).equals(table_of(case))


@pytest.mark.scaled
def test_the_auditor_is_not_blind() -> None:
    """It finds faults injected into releases."""
    spoilt = 0
    for seed in range(cases(60)):
        case = make_case(seed, large=False)
        ran = run(case)
        if ran.release is None or len(ran.rows) < 2:
            continue
        with pytest.raises(Broken, match=r"truth|promise"):
            check_promises(case, Ran(ran.release, ran.rows[1:]))
        spoilt += 1
    assert spoilt > enough(10)
    rows = [{"rid": i, "q": "x", "s": value} for i, value in enumerate("aab")]
    for name, arguments in (
        ("k", {"k": 4}),
        ("distinct-l", {"l": 3, "attribute": "s"}),
        ("l+", {"theta": 0.5, "attribute": "s"}),
        ("average-risk", {"risk": 0.2}),
    ):
        assert broken_promises(rows, rows, ["q"], [(name, arguments)], {})
    assert not broken_promises(rows, rows, ["q"], [("k", {"k": 3}), ("t", {"t": 0, "attribute": "s"})], {})
    assert set(CONDITIONS) | set(OF_TABLE) >= {"k", "distinct-l", "t"}


def test_failing_cases_are_made_smaller() -> None:
    case = next(case for seed in range(99) if (case := make_case(seed, large=False)).rows > 8)
    small = shrink(case, lambda smaller: smaller.rows >= 3)
    assert (small.rows, len(small.quasi), len(small.privacy), small.frame) == (3, 1, 1, "polars")
