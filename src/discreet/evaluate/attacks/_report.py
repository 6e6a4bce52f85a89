"""The report of :func:`discreet.evaluate.attacks`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import polars as pl

from discreet.errors import UsageError, did_you_mean
from discreet.evaluate.attacks._base import AttackResult
from discreet.evaluate.attacks.homogeneity import Homogeneity
from discreet.evaluate.attacks.linkage import Linkage
from discreet.evaluate.attacks.minimality import Minimality
from discreet.evaluate.evidence import Evidence, Profile, make_evidence
from discreet.runtime.notebook_html import card, note_list, table
from discreet.runtime.plurals import unit_amount, units

__all__ = ["AttackReport"]

_COLUMNS = {
    "attack": pl.String,
    "guessed": pl.String,
    "success": pl.Float64,
    "naive": pl.Float64,
    "control": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "sentence": pl.String,
}


@dataclass(frozen=True, eq=False, repr=False)
class AttackReport:
    """How successful attacks on a release are, compared with naive guesses. Made by :func:`attacks`."""

    linkage: Linkage
    homogeneity: Mapping[str, Homogeneity]
    """For each sensitive column."""
    minimality: Mapping[str, tuple[Minimality, ...]]
    """For each sensitive column, what is learned from each quasi-identifier that was not released finer."""
    notes: tuple[str, ...]
    """Why minimality was not tried on a column, and what was assumed."""
    results: Mapping[str, tuple[AttackResult, ...]]
    """For each attack its results, one for each thing that was guessed."""
    attackers: Mapping[str, float | None] = field(default_factory=dict)
    """The risk that rows are picked: the highest for a ``prosecutor`` and, with a population, for a ``journalist``; on
    average for a ``marketer``."""
    unit: str = "person"
    """What is attacked: a ``person`` or ``household``; a ``row`` if people have several and nobody knows whose."""
    counted: str = "row"
    """What the release is counted in: rows, or ``person`` or ``household`` where these are attacked."""

    @property
    def original_rows(self) -> int:
        """The number of people, or rows, that were attacked."""
        return self.linkage.records

    def __getitem__(self, attack: str) -> AttackResult:
        """The result of an attack by name: of several columns, the one about which the release tells most."""
        try:
            found = self.results[attack]
        except KeyError:
            hint = did_you_mean(attack, list(self.results)) or f"run were {', '.join(self.results)}."
            raise UsageError(f"There is no attack '{attack}' in this report; {hint}", topic="unknown-name") from None
        return max(found, key=lambda each: -1.0 if each.gain is None else each.gain)

    @property
    def worst(self) -> tuple[AttackResult, ...]:
        """The attacks that do better than their naive guess and their control group, the most successful first."""
        better = [self[name] for name in self.results if self[name].better]
        return tuple(sorted(better, key=lambda each: -(each.gain or 0)))

    def evidence(self, profile: str | Profile = "public-use-file") -> Evidence:
        """Compare singling out, linkability and inference with the limits of a profile, such as ``ema-0070``."""
        return make_evidence(self, profile)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data, ready for JSON, without any value of the data."""
        return {
            "linkage": asdict(self.linkage),
            "homogeneity": {column: asdict(found) for column, found in self.homogeneity.items()},
            "minimality": {column: [asdict(each) for each in found] for column, found in self.minimality.items()},
            "results": {name: [each.to_dict() for each in found] for name, found in self.results.items()},
            "attackers": dict(self.attackers),
            "unit": self.unit,
            "notes": list(self.notes),
        }

    def to_frame(self) -> pl.DataFrame:
        """Return a row for each attack: what is guessed, and how often that and a naive guess are right.

        ``control`` is the success for people who are not in the release, ``low`` to ``high`` a 95 % confidence
        interval. Of several sensitive columns, the one about which the release tells most is shown. An attack that was
        not run has no figures, and a sentence that says why.
        """
        rows = [
            (each.attack, each.guessed, each.success, each.naive, each.control, each.low, each.high, each.sentence)
            for each in map(self.__getitem__, self.results)
        ]
        return pl.DataFrame(rows, schema=_COLUMNS, orient="row")

    def summary(self) -> str:
        """Return the main figures as a block of text."""
        ran = [self[name] for name in self.results if self[name].ran]
        wide = max(12, *(len(each.guessed) for each in ran)) if ran else 12
        lines = [f"{'Attack':<12}  {'what is guessed':<{max(wide, 15)}}  {'right':>8}  {'naive':>8}  {'control':>8}"]
        lines += [
            f"{each.attack:<12}  {each.guessed:<{max(wide, 15)}}  {_share(each.success)}  {_share(each.naive)}  "
            f"{_share(each.control)}{'  !' if each.better else ''}"
            for each in ran
        ]
        link, who = self.linkage, units(self.counted)
        one = "exactly one" if self.counted == "row" else f"those of one {self.counted} only"
        lines += [
            "",
            f"Of {unit_amount(link.records, self.unit)}, {link.matched:.1%} match a released row, "
            f"{link.singled_out:.1%} {one}.",
        ]
        if self.worst:
            lines.append("! means better than the naive guess and the control group, beyond chance.")
        lines += [
            f"'{column}' is certain for {each.certain:.1%} of the released {who}, at least 80 % sure for "
            f"{each.at_least_80:.1%}, at least 50 % for {each.at_least_50:.1%}."
            for column, each in self.homogeneity.items()
        ]
        lines += [
            f"Hidden values of '{column}': {line}."
            for column, each in self.homogeneity.items()
            for line in ([] if each.hidden is None else each.hidden.lines())
        ]
        for column, found in self.minimality.items():
            best = max(found, key=lambda each: each.credibility)
            lines.append(
                f"With minimality an attacker is up to {best.credibility:.1%} sure of a value of '{column}', and up to "
                f"{best.confidence:.1%} from the class alone."
            )
        left = [self[name] for name in self.results if not self[name].ran]
        lines += [f"{each.attack}: {each.sentence}" for each in left if each.attack not in ("minimality",)]
        return "\n".join([*lines, *self.notes])

    def __repr__(self) -> str:
        return (
            f"AttackReport(records={self.linkage.records:,}, linkage={self.linkage.success:.4f}, "
            f"singled_out={self.linkage.singled_out:.4f})"
        )

    def _repr_html_(self) -> str:
        frame = self.to_frame()
        rows = [[_cell(value) for value in row] for row in frame.drop("sentence").iter_rows()]
        shown = frame.columns[:-1]
        text = [number for number, name in enumerate(shown) if frame.schema[name] == pl.String]
        sentences = [self[name].sentence for name in self.results]
        return card("How successful attacks are", table("", shown, rows, text), note_list([*sentences, *self.notes]))

    def __str__(self) -> str:
        return self.summary()


def _share(share: float | None) -> str:
    return f"{'–' if share is None else f'{share:.2%}':>8}"


def _cell(value: object) -> str:
    """Return a cell of a table: shares of right guesses in percent."""
    return "–" if value is None else f"{value:.2%}" if isinstance(value, float) else str(value)
