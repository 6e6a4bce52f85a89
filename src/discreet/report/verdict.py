"""The verdict on a release: what a person should know before anything else, with the figures behind it.

An audit says whether the promises are kept. The verdict weighs everything that leaves: columns released unchanged,
sensitive values that can be inferred for certain, small classes, rows left out, columns that say nothing any more. It
is made of released rows and of figures that may be handed over, so it stands at the top of every report.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from discreet.problem.privacy import WEAKER
from discreet.report.key_sets import unprotected
from discreet.report.notes import UNPROTECTED, Caution, handed_over
from discreet.report.numbers import LEAST_ROWS, percent, rounded_percent
from discreet.report.small_counts import LeftOut
from discreet.report.units import counted_as
from discreet.runtime.notebook_html import card, findings
from discreet.runtime.plurals import amount, unit_amount, units

if TYPE_CHECKING:
    from discreet.pipeline.audit.verdict import AttributeDisclosure
    from discreet.pipeline.release import Release

__all__ = ["Level", "Verdict", "VerdictSentence", "make_verdict"]

Level = Literal["ok", "caution", "danger"]
_ORDER: dict[Level, int] = {"danger": 0, "caution": 1, "ok": 2}
_HEADLINES: dict[Level, str] = {
    "ok": "Nothing that was measured speaks against sharing",
    "caution": "Read this before you share",
    "danger": "Do not share this as it is",
}
_SURE = 0.9
"""A sensitive value known with this certainty is as good as known."""
_LIKELY = 0.75
_IDENTIFYING = 0.05
"""A column in which this share of the rows have a value of their own singles people out."""
_TOGETHER = 0.05
_SMALL, _SMALLER = 5, 3
"""Classes below these sizes: a caution, and a danger."""
_MANY_LEFT_OUT = 0.1
_MUCH_LOST = 0.5
_WIDE_GAP, _VOID_GAP = 0.1, 0.9
"""Gaps worth a sentence; wider ones say nothing about the release."""


@dataclass(frozen=True)
class VerdictSentence:
    """One sentence of a verdict, and how serious it is."""

    level: Level
    sentence: str
    of_cost: bool = False
    """Whether it is about the cost, which may depend on values of people who were left out."""


@dataclass(frozen=True)
class Verdict:
    """How safe and how useful a release is, the most serious finding first."""

    findings: tuple[VerdictSentence, ...]

    @property
    def level(self) -> Level:
        """``ok``, ``caution`` or ``danger``: that of the most serious finding."""
        return self.findings[0].level if self.findings else "ok"

    @property
    def headline(self) -> str:
        """The level in a few words."""
        return _HEADLINES[self.level]

    @property
    def sentences(self) -> tuple[str, ...]:
        """The findings, the most serious first."""
        return tuple(finding.sentence for finding in self.findings)

    def without_cost(self) -> Verdict:
        """Return the verdict without sentences about the cost."""
        return Verdict(tuple(finding for finding in self.findings if not finding.of_cost))

    def __str__(self) -> str:
        return "\n".join(f"{finding.level}: {finding.sentence}" for finding in self.findings)

    def _repr_html_(self) -> str:
        return card(self.headline, findings((each.level, each.sentence) for each in self.findings), level=self.level)

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict as plain data, ready for JSON."""
        return {
            "level": self.level,
            "headline": self.headline,
            "findings": [{"level": each.level, "sentence": each.sentence} for each in self.findings],
        }


def make_verdict(release: Release) -> Verdict:
    """Weigh everything that a release hands out."""
    if not release.audit.rows:
        return Verdict((VerdictSentence("caution", "Nothing was released: every row was left out."),))
    findings = [
        *_promises(release),
        *_kept_columns(release),
        *_secrets(release),
        *_class_sizes(release),
        *_left_out(release),
        *_usefulness(release),
        *_cautions(release),
    ]
    if all(finding.level == "ok" for finding in findings):
        findings.append(VerdictSentence("ok", "No column that is released unchanged singles people out."))
    return Verdict(tuple(sorted(findings, key=lambda finding: _ORDER[finding.level])))


def _cautions(release: Release) -> Iterator[VerdictSentence]:
    """Yield the warnings, but not that a column may be inferred for certain where it was found to be."""
    certain = [found.column for found in release.audit.certainties if found.highest >= _SURE]
    known = tuple(UNPROTECTED.format(column) for column in certain)
    for note in handed_over(release.notes):
        if isinstance(note, Caution) and not note.startswith(known):
            yield VerdictSentence("caution", str(note))


def _promises(release: Release) -> Iterator[VerdictSentence]:
    if not release.audit.passed:
        yield VerdictSentence("danger", "The release breaks a promise; do not share it.")
    yield from (VerdictSentence("caution", note) for note in release.audit.notes if WEAKER in note)


def _kept_columns(release: Release) -> Iterator[VerdictSentence]:
    """Judge the columns that are released unchanged by how many rows have a value of their own."""
    for column in release.kept:
        unique = column.unique
        if column.role != "" or unique is None:
            continue
        how = "derived" if column.name in (release.job.get("derive") or ()) else "released unchanged"
        if unique >= _IDENTIFYING:
            yield VerdictSentence(
                "danger",
                f"Column '{column.name}' is {how} and has a value of its own in "
                f"{_part(unique, release.audit.rows, ' that have one')}: whoever knows it finds the person. "
                "Name it as an identifier or a quasi-identifier.",
            )
        elif column.stops:
            why = column.reasons[0] if column.reasons else "it could identify people"
            yield VerdictSentence("caution", f"Column '{column.name}' is {how}: {why}.")
    together = release.audit.singled_out
    if together is not None and together >= _TOGETHER:
        yield VerdictSentence(
            "caution",
            f"The columns released unchanged, together with the generalized ones, single out "
            f"{_part(together, release.audit.rows)}: whoever knows enough of them finds the person. "
            "Name those that others may know as identifiers or quasi-identifiers.",
        )


def _part(share: float, rows: int, which: str = "") -> str:
    """Return a share of the rows, or no figure if there are too few of them."""
    return f"{rounded_percent(share, rows)} of the rows{which}" if rows >= LEAST_ROWS else "part of the rows"


def _secrets(release: Release) -> Iterator[VerdictSentence]:
    """Judge how surely sensitive values can be inferred, and how much of that is no more than a good guess."""
    for found in release.audit.certainties:
        hidden = release.audit.hidden.get(found.column)
        if hidden is not None and hidden.known:
            where = amount(hidden.known_classes, "class", "classes")
            yield VerdictSentence(
                "danger",
                f"Suppressed values of '{found.column}' can only be one value in {where} and so are known for certain; "
                "choose violating-values(hide=ambiguous) or class-values.",
            )
        yield from _secret(found, counted_as(release))


def _secret(found: AttributeDisclosure, who: str) -> Iterator[VerdictSentence]:
    guess = f"; in the whole release {_share(found.usual)} have that value"
    inferred = f"'{found.column}' can be inferred with {percent(found.highest)} certainty"
    if found.highest >= _SURE:
        remedy = f"Promise l+ for '{found.column}' to limit that."
        if found.certain:
            text = f"'{found.column}' is known for certain for {_share(found.certain)} of the {who}"
        else:
            text = f"{inferred} for some {who}"
        yield VerdictSentence("danger", f"{text}{guess}. {remedy}")
    elif found.highest >= _LIKELY:
        yield VerdictSentence("caution", f"{inferred} for some {who}{guess}.")
    elif found.highest:
        more = f"Where a class tells more about '{found.column}' than the whole release does"
        yield VerdictSentence("ok", f"{more}, a value is at most {percent(found.highest)} certain.")
    else:
        yield VerdictSentence("ok", f"No class tells more about '{found.column}' than a guess by its frequent values.")


def _share(share: float) -> str:
    return "under 1 %" if share < 0.01 else percent(share)


def _class_sizes(release: Release) -> Iterator[VerdictSentence]:
    smallest = release.audit.smallest_class
    others = amount(smallest - 1, "other")
    unit = release.audit.unit
    who = counted_as(release)
    by_key_sets = unprotected(release) if smallest < _SMALL else None
    if by_key_sets is not None:
        yield VerdictSentence("caution", by_key_sets)
    elif smallest < _SMALLER:
        alone = (
            "Some rows have released quasi-identifiers that no other row has: whoever knows them finds the person."
            if release.audit.people is None
            else f"Some {who} have released quasi-identifiers that nobody else has: these can be found."
        )
        few = f"Some {who} share their released quasi-identifiers with {others} only."
        yield VerdictSentence("danger", f"{alone if smallest == 1 else few} Promise k({_SMALL}) or more.")
    elif smallest < _SMALL:
        yield VerdictSentence("caution", f"Some {who} share their released quasi-identifiers with {others} only.")
    elif release.audit.people is None:
        yield VerdictSentence("ok", f"Everybody shares their released quasi-identifiers with at least {others}.")
    else:
        same = f"at least {unit_amount(smallest, unit)} with the same released quasi-identifiers"
        yield VerdictSentence("ok", f"Every {unit} is one of {same}.")


def _left_out(release: Release) -> Iterator[VerdictSentence]:
    left_out = LeftOut.of(release)
    gone = left_out.total if left_out.counted is None else left_out.counted.suppressed
    if left_out.rows and gone / left_out.rows >= _MANY_LEFT_OUT:
        yield VerdictSentence(
            "caution", f"{percent(gone / left_out.rows)} of the {units(left_out.unit)} were left out."
        )


def _usefulness(release: Release) -> Iterator[VerdictSentence]:
    empty = [f"'{column.name}'" for column in release.columns if column.values == 1 and (column.of or 2) > 1]
    if empty:
        says = "says" if len(empty) == 1 else "say"
        yield VerdictSentence("caution", f"{_listed(empty)} {says} nothing any more: all rows have the same value.")
    if LeftOut.of(release).hides_cost or release.score is not None or release.drawn:
        return
    if release.normalized_cost > _MUCH_LOST and not empty:
        yield VerdictSentence(
            "caution", f"Much detail is lost: {percent(release.normalized_cost)} of what could be lost.", of_cost=True
        )
    if release.status != "optimal" and _WIDE_GAP < release.gap < _VOID_GAP:
        saved = f"A better release of this kind could save at most {percent(release.gap)} of the loss"
        yield VerdictSentence("ok", f"{saved}; whether there is one is not known.", of_cost=True)


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
