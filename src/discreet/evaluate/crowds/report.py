"""The report of :func:`discreet.evaluate.find`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from html import escape
from typing import Any, Literal

from discreet.runtime.notebook_html import card, figures, note_list, table
from discreet.runtime.plurals import amount, unit_amount, units

__all__ = ["FoundPerson", "LearntColumn", "LearntValue", "Side"]

Side = Literal["before", "after"]
_SHOWN = 5
"""Values of a column that a summary lists."""
_CERTAIN = 0.9
"""A value that this share of a crowd has is as good as known."""
_MORE = 0.1
"""A crowd tells more than the whole release if this much more of it has a value."""


@dataclass(frozen=True)
class LearntValue:
    """A value of a column, and the share of the crowd that has it."""

    value: str | None
    """The value as text; None if it is missing or suppressed."""
    before: float | None
    """In the original table; None if that was not given, or if nobody matches there."""
    after: float | None
    """In the release; None if nobody matches there."""


@dataclass(frozen=True)
class LearntColumn:
    """A column that was not known, with its values in the crowd."""

    column: str
    sensitive: bool
    """Whether it is a sensitive column; others are those released unchanged."""
    values: tuple[LearntValue, ...]
    """The values in the crowd, the most frequent in the release first."""
    usual: float = 0.0
    """The share, in the whole release, of the value that most of the crowd has."""

    def surest(self, side: Side = "after") -> LearntValue | None:
        """Return the known value that most of the crowd has; None if there is none."""
        known = [each for each in self.values if each.value is not None and getattr(each, side)]
        return max(known, key=lambda each: getattr(each, side)) if known else None

    @property
    def certainty(self) -> float:
        """The largest share of a value in the crowd of the release: how sure of it somebody can be."""
        surest = self.surest()
        return 0.0 if surest is None or surest.after is None else surest.after

    @property
    def tells(self) -> bool:
        """Whether the crowd tells a value nearly for certain, and more than the whole release does.

        Of a column released unchanged, what everybody has says nothing about a person. That a sensitive value is known
        is told in any case.
        """
        gained = self.usual < 1 if self.certainty == 1 else self.certainty - self.usual >= _MORE
        return self.certainty >= _CERTAIN and (self.sensitive or gained)


@dataclass(frozen=True, repr=False)
class FoundPerson:
    """The crowd in which somebody hides, before and after. Made by :func:`find`."""

    known: Mapping[str, str]
    """What is known about the person: column and value."""
    before: int | None
    """The rows, or people, of the original table that match; None if that was not given."""
    after: int
    """The rows of the release that may be the person's, or the people who may be the person."""
    rows: int
    """The rows of the release."""
    learnt: tuple[LearntColumn, ...]
    """What the crowd tells about the other columns: the sensitive ones, then those released unchanged."""
    notes: tuple[str, ...] = ()
    """What to know when reading this."""
    unit_before: str = "row"
    """What ``before`` counts: ``row`` or ``person``."""
    unit_after: str = "row"
    """What ``after`` counts."""
    several_rows: bool = False
    """Whether a person may have several rows."""

    @property
    def found(self) -> bool:
        """Whether a single row or person is left, so that everything released about the person is known."""
        return self.after == 1

    @property
    def certain(self) -> tuple[LearntColumn, ...]:
        """The columns whose value is as good as known in the release: 90 % of the crowd or more have it.

        Columns released unchanged are left out if the whole release tells as much.
        """
        return tuple(each for each in self.learnt if each.tells)

    @property
    def sentences(self) -> tuple[str, ...]:
        """The findings, in plain words."""
        return (*self._crowds(), *self._secrets())

    def _crowds(self) -> list[str]:
        others = unit_amount(self.after, self.unit_after)
        lines = []
        if self.before is not None:
            lines.append(f"In the original table {_match(self.before, self.unit_before)} this.")
        if self.after == 0:
            out = "the person was left out of the release" if self.before else "no such person is in the tables"
            lines.append(f"In the release nobody can be this person{'' if self.before is None else f': {out}'}.")
        elif self.after == 1:
            one = f"only one {self.unit_after} can be this person"
            lines.append(f"In the release {one}: whoever knows this has found them.")
        elif self.several_rows and self.unit_after == "row":
            lines.append(f"In the release {others} can be of this person.")
        else:
            lines.append(f"In the release {others} can be this person: a guess is right 1 time in {self.after:,}.")
        return lines

    def _secrets(self) -> list[str]:
        lines = []
        for each in self.learnt:
            surest = each.surest()
            if surest is None or surest.after is None or not each.tells:
                continue
            if surest.after == 1:
                lines.append(f"All of them have {each.column} = {surest.value}: that is learnt for certain.")
            else:
                usual = f"in the whole release {each.usual:.1%} have it"
                lines.append(f"{surest.after:.1%} of them have {each.column} = {surest.value}; {usual}.")
        return lines

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data, ready for JSON. It holds values of the tables."""
        return {
            "known": dict(self.known),
            "before": self.before,
            "after": self.after,
            "rows": self.rows,
            "unit_before": self.unit_before,
            "unit_after": self.unit_after,
            "found": self.found,
            "sentences": list(self.sentences),
            "learnt": [asdict(each) | {"certainty": each.certainty, "tells": each.tells} for each in self.learnt],
            "notes": list(self.notes),
        }

    def summary(self) -> str:
        """Return the crowds, and what they tell, as a block of text."""
        known = ", ".join(f"{column} = {value}" for column, value in self.known.items())
        lines = [f"Known: {known}", *self.sentences]
        for each in self.learnt:
            with_before = self.before is not None
            wide = max([14, *(len(_name(value)) for value in each.values[:_SHOWN])])
            title = f"{each.column} (sensitive)" if each.sensitive else each.column
            lines += ["", f"{title:<{wide + 2}}" + ("  before" if with_before else "") + "   after"]
            for value in each.values[:_SHOWN]:
                first = f"{_share(value.before):>8}" if with_before else ""
                lines.append(f"  {_name(value):<{max(wide, len(title) - 2)}}{first}{_share(value.after):>8}")
            if len(each.values) > _SHOWN:
                lines.append(f"  and {amount(len(each.values) - _SHOWN, 'other value')}")
        lines += ["", *self.notes] if self.notes else []
        return "\n".join(line.rstrip() for line in lines)

    def _repr_html_(self) -> str:
        danger = self.found or any(each.sensitive for each in self.certain)
        original = []
        if self.before is not None:
            original.append(("in the original table", f"{self.before:,}", f"{units(self.unit_before)} match"))
        among = f"of {self.rows:,} rows" if self.unit_after == "row" else units(self.unit_after)
        crowds = [*original, ("in the release", f"{self.after:,}", f"{among} can be this person")]
        known = ", ".join(f"{column} = {value}" for column, value in self.known.items())
        level = "danger" if danger else "caution" if self.certain else "ok"
        sentences = "".join(f"<p>{escape(sentence)}</p>" for sentence in self.sentences)
        learnt = map(self._learnt_table, self.learnt)
        return card(f"Known: {known}", figures(crowds), sentences, *learnt, note_list(self.notes), level=level)

    def _learnt_table(self, learnt: LearntColumn) -> str:
        """Return what the crowd tells about a column, as a table."""
        with_before = self.before is not None
        title = f"{learnt.column} (sensitive)" if learnt.sensitive else learnt.column
        rows = [
            [_name(each), *([_share(each.before)] if with_before else []), _share(each.after)]
            for each in learnt.values[:_SHOWN]
        ]
        more = len(learnt.values) - _SHOWN
        shown = table(title, ["value", *(["before"] if with_before else []), "after"], rows)
        return shown + (f'<p class="quiet">and {amount(more, "other value")}</p>' if more > 0 else "")

    def __repr__(self) -> str:
        return f"FoundPerson(before={self.before}, after={self.after:,}, rows={self.rows:,})"

    def __str__(self) -> str:
        return self.summary()


def _match(count: int, unit: str) -> str:
    return {0: f"no {unit} matches", 1: f"one {unit} matches"}.get(count, f"{unit_amount(count, unit)} match")


def _name(value: LearntValue) -> str:
    return "(unknown)" if value.value is None else value.value


def _share(share: float | None) -> str:
    return "–" if share is None else f"{share:.1%}"
