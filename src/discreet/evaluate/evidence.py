"""Evidence for a decision: singling out, linkability and inference, measured and compared with a named profile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from discreet.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from discreet.evaluate.attacks import AttackReport

__all__ = ["PROFILES", "Evidence", "MeasuredRisk", "Profile", "make_evidence"]


@dataclass(frozen=True)
class Profile:
    """Which risks a recipient may be exposed to; the numbers are customary and not part of any law."""

    name: str
    title: str
    highest: float
    """The highest risk that the row of one person is picked (prosecutor; journalist if there is a population)."""
    average: float
    """The same on average (marketer, and the linkage attack)."""
    gain: float
    """By how much attacks may exceed naive guesses and the control group, as a share of what is left to gain."""

    def changed(self, **limits: float) -> Profile:
        """Return the profile with other limits, as in ``PROFILES["ema-0070"].changed(gain=0.02)``."""
        fields = asdict(self) | limits
        unknown = set(limits) - {"highest", "average", "gain"}
        if unknown or not all(0 <= fields[name] <= 1 for name in ("highest", "average", "gain")):
            raise UsageError("The limits of a profile are highest, average and gain, each a share from 0 to 1.")
        return Profile(**fields)


PROFILES: Mapping[str, Profile] = {
    each.name: each
    for each in (
        Profile("ema-0070", "Clinical reports by EMA policy 0070: at most 0.09", 0.09, 0.09, 0.09),
        Profile("hipaa-expert", "HIPAA expert determination, very small risk: customarily 0.05", 0.2, 0.05, 0.05),
        Profile("public-use-file", "Files for everybody: at most 0.05", 0.05, 0.05, 0.05),
        Profile("research-use", "Researchers under contract: classes of at least five", 0.2, 0.2, 0.1),
    )
}
"""The profiles by name."""


@dataclass(frozen=True)
class MeasuredRisk:
    """One measured risk beside its limit."""

    criterion: str
    """``singling out``, ``linkability`` or ``inference``, as in the guidance of EU data protection authorities."""
    attacker: str
    value: float | None
    """None if it could not be measured."""
    limit: float
    control: float | None
    """The same for people who are not in the release, where there is a control group."""
    sentence: str

    @property
    def passed(self) -> bool | None:
        """Whether the value is within the limit; None if it could not be measured."""
        return None if self.value is None else self.value <= self.limit + 1e-12


@dataclass(frozen=True)
class Evidence:
    """All figures for one profile. What could not be measured is listed, and does not count as passed."""

    profile: Profile
    figures: tuple[MeasuredRisk, ...]

    @property
    def passed(self) -> bool:
        """Whether every figure that was measured is within its limit, and each criterion has one."""
        measured = {each.criterion for each in self.figures if each.value is not None}
        return measured == set(_CRITERIA) and all(each.passed is not False for each in self.figures)

    @property
    def failed(self) -> tuple[MeasuredRisk, ...]:
        """The figures beyond their limit."""
        return tuple(each for each in self.figures if each.passed is False)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data, ready for JSON, without any value of the data."""
        figures = [{**asdict(each), "passed": each.passed} for each in self.figures]
        return {"profile": asdict(self.profile), "passed": self.passed, "figures": figures}

    def to_frame(self) -> pl.DataFrame:
        """Return a row for each figure."""
        rows = [
            (each.criterion, each.attacker, each.value, each.limit, each.control, each.passed) for each in self.figures
        ]
        kinds = {"criterion": pl.String, "attacker": pl.String, "value": pl.Float64, "limit": pl.Float64}
        return pl.DataFrame(rows, schema={**kinds, "control": pl.Float64, "passed": pl.Boolean}, orient="row")

    def summary(self) -> str:
        """Return the figures as a block of text."""
        lines = [f"{self.profile.title}: {'within all limits' if self.passed else 'NOT within all limits'}"]
        for each in self.figures:
            value = "–" if each.value is None else f"{each.value:.2%}"
            mark = {True: "ok", False: "TOO HIGH", None: "not measured"}[each.passed]
            lines.append(f"{each.criterion:<13} {each.attacker:<19} {value:>8} of {each.limit:>6.1%}  {mark}")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.summary()


_CRITERIA = ("singling out", "linkability", "inference")


def make_evidence(report: AttackReport, profile: str | Profile) -> Evidence:
    """Compare the results of attacks with the limits of a profile, named or given."""
    chosen = PROFILES.get(profile) if isinstance(profile, str) else profile
    if chosen is None:
        hint = did_you_mean(str(profile), list(PROFILES)) or f"known are {', '.join(PROFILES)}."
        raise UsageError(f"There is no profile '{profile}'; {hint}", topic="unknown-name")
    seen = report.attackers
    figures = [
        *_gains(report, "singling out", ("singling-out", "membership"), chosen.gain),
        _risk("prosecutor", seen.get("prosecutor"), chosen.highest, "The highest chance of picking somebody's row."),
        _risk("journalist", seen.get("journalist"), chosen.highest, "The same among all people of the population."),
        _risk("marketer", seen.get("marketer"), chosen.average, "The share of rows that are picked right on average."),
        _linkage(report, chosen.average),
        *_gains(report, "inference", ("homogeneity", "inference", "definetti", "minimality"), chosen.gain),
    ]
    return Evidence(chosen, tuple(figures))


def _risk(attacker: str, value: float | None, limit: float, sentence: str) -> MeasuredRisk:
    return MeasuredRisk("linkability", attacker, value, limit, None, sentence)


def _linkage(report: AttackReport, limit: float) -> MeasuredRisk:
    """Return the success of somebody who looks for people by what is known about them; of means, for the nearest."""
    tried = [report[name] for name in ("linkage", "distance") if name in report.results]
    found = next((each for each in tried if each.ran), tried[0] if tried else None)
    value = None if found is None else found.success
    control = None if found is None else found.control
    sentence = "" if found is None else found.sentence
    return MeasuredRisk("linkability", "motivated intruder", value, limit, control, sentence)


def _gains(report: AttackReport, criterion: str, names: tuple[str, ...], limit: float) -> list[MeasuredRisk]:
    """Return by how much attacks exceed what is possible without the release, 0 if they do not beyond chance.

    The baseline is taken as exact, so that a small control group does not make a release look safe.
    """
    figures = []
    for name in names:
        if name not in report.results:
            continue
        found = report[name]
        value = None if found.gain is None else found.gain if found.exceeds_baseline else 0.0
        figures.append(MeasuredRisk(criterion, name, value, limit, found.control, found.sentence))
    return figures
