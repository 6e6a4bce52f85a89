"""``dp(epsilon, delta)``: its k by brute force, sampling, and which statement holds."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, localcontext
from fractions import Fraction
from math import ceil, comb, exp, floor
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import discreet as dc
from discreet.errors import UnsupportedCombinationError, UsageError
from discreet.pipeline.sampling import draw_rows
from discreet.problem.privacy.differential_privacy import DifferentialPrivacy, delta_of, least_k

PAIRS = {
    (2.0, 1e-5): 113,
    (1.5, 1e-6): 99,
    (1.0, 1e-6): 74,
    (1.0, 1e-3): 34,
    (0.5, 1e-6): 63,
    (2.0, 0.05): 21,
}
"""k of pairs that ARX's examples and tests use, and of some others."""


def brute_delta(k: int, epsilon: float, upto: int) -> float:
    """The largest probability over n that more than γn of n rows are drawn, with exact sums of binomial terms."""
    beta = 1 - exp(-epsilon)
    gamma = (exp(epsilon) - 1 + beta) / exp(epsilon)
    share, largest = Fraction(beta), 0.0
    for n in range(max(ceil(k / gamma - 1), 1), upto):
        tail = sum(comb(n, j) * share**j * (1 - share) ** (n - j) for j in range(floor(n * gamma) + 1, n + 1))
        largest = max(largest, float(tail))
    return largest


def float_delta(k: int, epsilon: float, upto: int) -> float:
    """The same in floating point, for more n."""
    beta = 1 - exp(-epsilon)
    gamma = (exp(epsilon) - 1 + beta) / exp(epsilon)
    logs = np.append(0.0, np.cumsum(np.log(np.arange(1, upto + 1))))
    largest = 0.0
    for n in range(max(ceil(k / gamma - 1), 1), upto):
        j = np.arange(floor(n * gamma) + 1, n + 1)
        terms = logs[n] - logs[j] - logs[n - j] + j * np.log(beta) + (n - j) * np.log(1 - beta)
        largest = max(largest, float(np.exp(terms).sum()))
    return largest


@pytest.mark.parametrize(("epsilon", "delta"), PAIRS)
def test_k_by_brute_force(epsilon: float, delta: float) -> None:
    k = least_k(epsilon, delta)
    assert k == PAIRS[epsilon, delta]
    assert float_delta(k, epsilon, 1200) <= delta < float_delta(k - 1, epsilon, 1200)
    assert delta_of(k, epsilon) == pytest.approx(float_delta(k, epsilon, 1200), rel=1e-9)


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 2.0])
def test_delta_by_exact_sums(epsilon: float) -> None:
    for k in (1, 2, 5, 9):
        assert delta_of(k, epsilon) == pytest.approx(brute_delta(k, epsilon, 60), rel=1e-9)


def precise_tail(n: int, epsilon: str) -> Decimal:
    """The probability that more than γn of n rows are drawn, with 50 digits."""
    e = Decimal(epsilon).exp()
    beta = 1 - 1 / e
    first = int((n * (e - 1 + beta) / e).to_integral_value(ROUND_FLOOR)) + 1
    return sum((comb(n, j) * beta**j * (1 - beta) ** (n - j) for j in range(first, n + 1)), Decimal(0))


@pytest.mark.parametrize(
    ("epsilon", "delta", "upto"),
    [("0.25", "1e-6", 300), ("1", "1e-6", 200), ("2", "1e-5", 250), ("3", "1e-12", 700), ("4", "1e-3", 450)],
)
def test_k_with_many_digits(epsilon: str, delta: str, upto: int) -> None:
    """Neither a small δ nor an ε far from 1 leads to a class of a row too few; all n up to a large one are tried."""
    with localcontext() as context:
        context.prec = 50
        k = least_k(float(epsilon), float(delta))
        gamma = 1 - (-2 * Decimal(epsilon)).exp()
        first, before = (max(int((x / gamma - 1).to_integral_value(ROUND_CEILING)), 1) for x in (k, k - 1))
        largest = max(precise_tail(n, epsilon) for n in range(first, upto))
        assert largest <= Decimal(delta) < max(largest, *(precise_tail(n, epsilon) for n in range(before, first + 1)))
        assert delta_of(k, float(epsilon)) == pytest.approx(float(largest), rel=1e-9)
        drawn = DifferentialPrivacy(float(epsilon), float(delta)).sampling
        assert Decimal(drawn) == pytest.approx(1 - (-Decimal(epsilon)).exp(), rel=Decimal("1e-15"))


@pytest.mark.parametrize(("epsilon", "delta"), PAIRS)
def test_k_of_the_code_of_arx(epsilon: float, delta: float) -> None:
    """ARX raises k once more after the first that suffices."""
    k, found = 1, float("inf")
    while not found < delta:
        found = delta_of(k, epsilon)
        k += 1
    assert k == PAIRS[epsilon, delta] + 1 == least_k(epsilon, delta) + 1


def test_large_epsilon() -> None:
    """Nearly all rows are drawn, and classes have to be large; too large ones are refused, without a long search."""
    assert [least_k(epsilon, 1e-6) for epsilon in (4.0, 5.0, 10.0)] == [748, 2044, 304300]
    for epsilon in (12.0, 20.0):
        with pytest.raises(UsageError, match="more than a million rows"):
            least_k(epsilon, 1e-6)


def test_delta_falls_with_k() -> None:
    found = [delta_of(k, 1.0) for k in range(1, 120)]
    assert found == sorted(found, reverse=True)


def test_rows_are_drawn_independently() -> None:
    drawn = draw_rows(100_000, 0.632, 5)
    assert drawn.mean() == pytest.approx(0.632, abs=0.01)
    assert np.corrcoef(drawn[:-1], drawn[1:])[0, 1] == pytest.approx(0, abs=0.02)
    assert (drawn == draw_rows(100_000, 0.632, 5)).all()
    assert (drawn != draw_rows(100_000, 0.632, 6)).any()
    assert draw_rows(10, 1.0, 1).all()


def people(rows: int) -> pl.DataFrame:
    rng = np.random.default_rng(1)
    return pl.DataFrame({"age": rng.integers(20, 60, rows), "sex": rng.choice(["f", "m"], rows)})


FIXED = {
    "quasi_identifiers": {"age": "intervals(10, 20)", "sex": dc.groups(["f", "m"])},
    "min_levels": {"age": 1, "sex": 0},
    "max_levels": {"age": 1, "sex": 0},
    "suppression": "class-records",
}


def test_the_statement_holds_if_the_recoding_was_fixed() -> None:
    table = people(3000)
    release = dc.anonymize(table, **FIXED, privacy="dp(1, 1e-6)", seed=3)
    assert release.audit.passed
    assert release.audit.smallest_class >= 74
    assert release.frame.height == pytest.approx(0.632 * 3000, abs=120)
    assert any("so that dp(1, 1e-06) holds for the released table" in note for note in release.notes)
    assert not any("does not hold" in note for note in release.warnings)
    again = dc.anonymize(table, **FIXED, privacy="dp(1, 1e-6)", seed=3)
    assert again.frame.equals(release.frame)
    other = dc.anonymize(table, **FIXED, privacy="dp(1, 1e-6)", seed=4)
    assert not other.frame.equals(release.frame)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"min_levels": {}}, "looking at the data"),
        ({"suppression": "budget(0.1)"}, "without a limit"),
        ({"quasi_identifiers": {"age": "intervals(10, 20)", "sex": None}}, "depends on the data"),
        (
            {
                "quasi_identifiers": {"age": "intervals(10, 20)"},
                "min_levels": {"age": 1},
                "max_levels": {"age": 1},
                "keep": ["sex"],
            },
            "released unchanged",
        ),
    ],
)
def test_it_is_said_if_the_statement_does_not_hold(change: dict[str, object], reason: str) -> None:
    release = dc.anonymize(people(3000), **{**FIXED, **change}, privacy="dp(1, 1e-6)", seed=3)
    assert release.audit.passed
    (warning,) = [note for note in release.warnings if "does not hold" in note]
    assert reason in warning


def test_the_ledger_remembers_the_table_that_rows_were_drawn_from(tmp_path: Path) -> None:
    table = people(2000)
    table.write_csv(tmp_path / "people.csv")
    options = {**FIXED, "privacy": "dp(2, 0.05)", "key": tmp_path / "key"}
    for data in (tmp_path / "people.csv", table):
        first = dc.anonymize(data, **options, seed=1, output=tmp_path / "one.csv")
        assert not any("RELEASED BEFORE" in warning for warning in first.warnings)
        again = dc.anonymize(data, **options, seed=1, output=tmp_path / "one.csv")
        assert not any("RELEASED BEFORE" in warning for warning in again.warnings)
        other = dc.anonymize(data, **options, seed=2, output=tmp_path / "two.csv")
        assert any("RELEASED BEFORE" in warning for warning in other.warnings)
    assert first.job["input"] is None


def test_figures_say_that_they_are_about_drawn_rows() -> None:
    release = dc.anonymize(people(2000), **FIXED, privacy="dp(2, 0.05)", seed=1)
    assert any(f"{release.n:,} of 2,000 rows of the table were drawn" in note for note in release.notes)
    assert "counted are the rows that were drawn at random" in release.summary()
    assert "2,000" in release.summary(exact=True)
    assert "2,000" not in release.summary()
    without = dc.anonymize(people(2000), **FIXED, privacy="k(5)", seed=1)
    assert "drawn" not in without.summary()


def test_files_and_other_frames(tmp_path: Path) -> None:
    table = people(2000)
    table.write_csv(tmp_path / "people.csv")
    by_file = dc.anonymize(
        tmp_path / "people.csv", **FIXED, privacy="dp(2, 0.05)", seed=1, output=tmp_path / "safe.csv"
    )
    by_frame = dc.anonymize(table, **FIXED, privacy="dp(2, 0.05)", seed=1)
    assert by_file.n == by_frame.n < 2000
    by_pandas = dc.anonymize(table.to_pandas(), **FIXED, privacy="dp(2, 0.05)", seed=1)
    assert type(by_pandas.frame).__module__.startswith("pandas")
    assert len(by_pandas.frame) == by_frame.frame.height
    with pytest.raises(dc.DiscreetError):
        dc.anonymize(tmp_path / "people.csv", **FIXED, privacy="dp(2, 0.05)", output=tmp_path / "people.csv")


def test_what_does_not_fit() -> None:
    for text in ("dp(0, 1e-6)", "dp(1, 0)", "dp(1, 1)", "dp(true, 0.1)", "dp(99, 0.1)"):
        with pytest.raises(UsageError):
            dc.anonymize(people(10), **FIXED, privacy=text)
    with pytest.raises(UnsupportedCombinationError, match="a front"):
        dc.pareto(people(100), quasi_identifiers=["age"], privacy=["k", "dp(1, 1e-6)"])
