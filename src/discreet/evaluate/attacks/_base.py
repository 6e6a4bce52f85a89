"""What an attack is: something that is tried on a release, and how often it succeeds compared with a naive guess."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from discreet.evaluate.attacks._statistics import interval, least_difference
from discreet.runtime.parts import Family, Part
from discreet.runtime.plurals import units

if TYPE_CHECKING:
    from discreet.evaluate.attacks._target import AttackTarget

__all__ = ["ATTACKS", "Attack", "AttackResult", "NotModelled"]


class NotModelled(Exception):  # noqa: N818 - a reason, not an error
    """Why an attack cannot be run on a release: the end of a sentence, without values of the data."""


@dataclass(frozen=True)
class AttackResult:
    """How often an attack succeeds. It holds no value of the data."""

    attack: str
    guessed: str
    """What is guessed: a sensitive column, or one of row, cell, person and membership."""
    success: float | None
    """The share of attempts that succeed; None if the attack was not run."""
    naive: float | None = None
    """The same for somebody who guesses without the attack."""
    control: float | None = None
    """The same attack on people who are not in the release; None if there is no control group."""
    baseline: float | None = None
    """What the success is compared with: the naive guess or, if that does better, the control group."""
    attempts: int = 0
    """How many people, cells or predicates were attacked."""
    sentence: str = ""
    """The result, or why the attack was not run, in one or two sentences."""
    independent: float | None = None
    """How many independent attempts would be as exact; None unless classes were drawn, whose people share a guess."""
    control_attempts: int = 0
    """How many people who are not in the release the attack is compared on; 0 if the control figure is another."""

    @property
    def ran(self) -> bool:
        """Whether the attack was run."""
        return self.success is not None

    @property
    def low(self) -> float | None:
        """The lower end of the 95 % confidence interval of the success."""
        return None if self.success is None else interval(self.success, self._weight)[0]

    @property
    def high(self) -> float | None:
        """The upper end of the 95 % confidence interval of the success."""
        return None if self.success is None else interval(self.success, self._weight)[1]

    @property
    def _weight(self) -> float:
        return self.attempts if self.independent is None else self.independent

    @property
    def gain(self) -> float | None:
        """By how much the success exceeds the baseline, as a share of what is left to gain; at most 1."""
        if self.success is None or self.baseline is None:
            return None
        return (self.success - self.baseline) / max(1 - self.baseline, 1e-12)

    @property
    def better(self) -> bool:
        """Whether the attack does better than its naive guess and its control group, beyond chance.

        The lower end of the confidence interval has to exceed the naive guess. A control group is a sample as well, so
        that the lower end of the interval of the difference has to be positive.
        """
        return self.exceeds_baseline and not self._like_others

    @property
    def exceeds_baseline(self) -> bool:
        """Whether the lower end of the confidence interval exceeds the baseline, taken as exact."""
        return self.low is not None and self.baseline is not None and self.low > self.baseline

    @property
    def _like_others(self) -> bool:
        """Whether the difference to a control group of others may be chance."""
        if self.success is None or self.control is None or not self.control_attempts:
            return False
        return least_difference(self.success, self._weight, self.control, self.control_attempts) <= 0

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data, ready for JSON."""
        derived = {"low": self.low, "high": self.high, "gain": self.gain, "better": self.better}
        return {**asdict(self), **derived}


class Attack(Part, ABC):
    """An attack on a release. The original table is both what the attacker knows about people and the truth.

    A result must not hold a value of the data, and a run takes seconds on a hundred thousand rows: draw a sample of
    people, seeded by ``target.seed``, if it would take longer.
    """

    goal: ClassVar[str] = ""
    """What an attempt tries, as in "pick the row of a person"."""
    control_is_baseline: ClassVar[bool] = True
    """What the attack achieves for the control group is no success.

    If it is wrong, an attack on cells, which control groups of other classes have, looks better or worse than it is.
    """
    no_control: ClassVar[str] = ""
    """Why there is no figure for a control group, in one sentence; empty if there is one.

    If it is wrong, people miss a figure that was announced, or get one that was not.
    """
    needs: ClassVar[str] = ""
    """What the attacker has to know or to have, beside the release, in one phrase."""

    @abstractmethod
    def run(self, target: AttackTarget) -> Sequence[AttackResult]:
        """Run the attack; return a result for each thing that is guessed, or raise NotModelled with the reason."""

    def result(
        self,
        guessed: str,
        success: float,
        naive: float,
        attempts: int,
        *,
        control: float | None = None,
        control_attempts: int = 0,
        independent: float | None = None,
        remark: str = "",
    ) -> AttackResult:
        """Return a result with its sentence; a ``remark`` is a further sentence.

        ``independent`` is the number of independent attempts that would be as exact, where people share a guess.
        ``control_attempts`` is the size of the control group, 0 where the figure is not about other people.
        """
        success, naive = float(success), float(naive)
        control = None if control is None else float(control)
        baseline = max(naive, control) if control is not None and self.control_is_baseline else naive
        found = AttackResult(
            self.name,
            guessed,
            success,
            naive,
            control,
            baseline,
            attempts,
            independent=independent,
            control_attempts=control_attempts if self.control_is_baseline else 0,
        )
        low, high = found.low, found.high
        what = "" if guessed in _NO_COLUMN else f" of '{guessed}'"
        words = f"Attempts to {self.goal}{what} succeed in {success:.1%} ({low:.1%} to {high:.1%})"
        words += f", naive guesses in {naive:.1%}"
        words += "." if control is None else f", and the same for people who are not in the release in {control:.1%}"
        if control is not None:
            least, most = interval(control, control_attempts)
            words += f" ({least:.1%} to {most:.1%})." if control_attempts else "."
        words += "" if found.better else " That is no better than without the release's help."
        return replace(found, sentence=f"{words} {remark}" if remark else words)

    def found(self, target: AttackTarget, success: float, naive: float, attempts: int, **others: Any) -> AttackResult:
        """Return the result of an attack that finds rows; where people are counted, those whose rows they are."""
        if target.people is None:
            return self.result("row", success, naive, attempts, **others)
        row, whole = self.result("row", success, naive, attempts, **others), target.people.unit
        goal = self.goal.replace("the row of a person", f"a {whole} by one row").replace("rows", units(whole))
        return replace(row, guessed=whole, sentence=row.sentence.replace(self.goal, goal, 1))

    def not_run(self, reason: str) -> AttackResult:
        """Return the result of an attack that was not run."""
        return AttackResult(self.name, "", None, sentence=f"Not run: {reason}.")


_NO_COLUMN = ("row", "cell", "person", "household", "membership")


ATTACKS: Family[Attack] = Family("attack", Attack, "discreet.evaluate.attacks", "discreet.attacks")  # type: ignore[type-abstract]
