"""What every attack must keep."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

from discreet.evaluate.attacks import ATTACKS, Attack, AttackReport, attacks

__all__ = ["AttackContract"]

_MARK = "canary"


class AttackContract:
    """Tests of an attack; give it in a fixture ``attack``."""

    def report(self, attack: Attack, release: pl.DataFrame, seed: int = 0) -> AttackReport:
        """Run the attack on a small release, with everything an attack may need."""
        people, others = _people(60, 1), _people(40, 2)
        return attacks(
            people,
            release,
            quasi_identifiers=["age", "town"],
            sensitive=["ill"],
            privacy=["k(2)", "distinct-l(2, ill)"],
            suppression="none",
            control=others,
            population=pl.concat([people, others]),
            earlier=[_recoded(people, 7)],
            only=[attack],
            seed=seed,
        )

    def test_text_form_reads_back(self, attack: Attack) -> None:
        """The text form makes an equal attack."""
        assert ATTACKS.make(attack.text) == attack, attack.text

    def test_says_what_it_is(self, attack: Attack) -> None:
        """It says what it tries and what it needs."""
        assert attack.goal, "an attack has a goal"
        assert attack.needs, "an attack says what it needs"

    def test_figures(self, attack: Attack) -> None:
        """Shares are between 0 and 1 and within their interval; an attack that was not run says why."""
        for release in (_recoded(_people(60, 1), 10), _recoded(_people(60, 1), 100), _people(60, 1)):
            for result in self.report(attack, release).results[attack.name]:
                assert result.attack == attack.name
                assert result.sentence.endswith("."), "a result is put into a sentence"
                if not result.ran:
                    assert result.sentence.startswith("Not run: ")
                    continue
                assert result.attempts > 0
                for share in (result.success, result.naive, result.control):
                    assert share is None or 0 <= share <= 1 + 1e-9, share
                ends = [end for end in (result.low, result.success, result.high) if end is not None]
                assert ends == pytest.approx(sorted(ends)), "the success is not in its interval"

    def test_control_group(self, attack: Attack) -> None:
        """It has a figure for people who are not in the release, or says why there is none."""
        found = self.report(attack, _recoded(_people(60, 1), 10)).results[attack.name]
        if any(result.ran for result in found):
            known = any(result.control is not None for result in found)
            assert known != bool(attack.no_control), "an attack has a control group, or says why not"

    def test_no_value_of_the_data(self, attack: Attack) -> None:
        """Neither text nor plain data of a result holds a value of the data."""
        report = self.report(attack, _recoded(_people(60, 1), 10))
        text = json.dumps(report.to_dict(), allow_nan=False) + str(report)
        assert _MARK not in text, "a value of the data is in the result"

    def test_the_same_seed_draws_the_same(self, attack: Attack) -> None:
        """Equal seeds give equal results."""
        release = _recoded(_people(60, 1), 10)
        assert self.report(attack, release, 5).results == self.report(attack, release, 5).results

    def test_nothing_to_go_by(self, attack: Attack) -> None:
        """Without sensitive columns, control group, population and earlier releases it runs or says why not."""
        people = _people(60, 1)
        found = attacks(people, _recoded(people, 10), quasi_identifiers=["age", "town"], only=[attack])
        assert found[attack.name].ran or found[attack.name].sentence.startswith("Not run: ")


def _people(count: int, seed: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "age": rng.integers(20, 60, count),
            "town": rng.choice([f"{_MARK}-{letter}" for letter in "abc"], count),
            "ill": rng.choice([f"{_MARK}-{letter}" for letter in "xyz"], count),
        }
    )


def _recoded(people: pl.DataFrame, width: int) -> pl.DataFrame:
    """Return the table with ages in ranges of a width, each as short as its people allow."""
    block = pl.col("age") // width
    low, high = pl.col("age").min().over(block), pl.col("age").max().over(block)
    return people.with_columns(age=pl.format("[{}, {}]", low, high))
