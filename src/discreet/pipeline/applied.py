"""The result of applying a mapping to other rows, and what of it may be handed over."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from discreet.pipeline.audit import Audit
from discreet.pipeline.output import Written
from discreet.pipeline.pickling import released_rows
from discreet.report.small_counts import LEAST, few
from discreet.runtime.plurals import amount

__all__ = ["Applied"]


@dataclass(frozen=True, eq=False, repr=False)
class Applied:
    """A table recoded by a mapping, and its audit."""

    audit: Audit
    rows: int
    """The rows of the table that came in."""
    unknown: Mapping[str, int]
    """For each column with values the mapping lacks, the number of their rows."""
    by_rule: Mapping[str, int]
    """For each column, the number of new values that were recoded by its hierarchy."""
    comparing: frozenset[str]
    """The promises that compare classes with the whole table."""
    table: Any
    notes: tuple[str, ...] = ()
    """What else is good to know."""
    people: int | None = None
    """The people of the table that came in, if promises count people."""

    @property
    def frame(self) -> Any:
        """The recoded table: the kind of frame that came in, and for a file that of the engine."""
        return self.table.read() if isinstance(self.table, Written) else self.table

    @property
    def suppressed(self) -> int:
        """The rows that were left out."""
        return self.rows - self.audit.rows

    @property
    def left_out(self) -> float:
        """The share of the rows that were left out."""
        return self.suppressed / self.rows if self.rows else 0.0

    def summary(self, *, exact: bool = False) -> str:
        """Return the main figures as a block of text.

        It may be handed over: counts of fewer than five suppressed people are hidden, and so are figures that would
        reveal them. With ``exact`` they are included; keep that as safe as the data.
        """
        lines = [self._rows_text(exact)]
        lines += [
            f"'{column}' has values the mapping lacks in {self._unknown_text(rows, exact)}"
            for column, rows in self.unknown.items()
        ]
        lines += [
            f"'{column}': {_count_text(values, 'new value', exact)} recoded by its hierarchy"
            for column, values in self.by_rule.items()
        ]
        return "\n".join([*lines, self.audit.summary(hidden=self._hidden(exact)), *self.notes])

    def to_dict(self, *, exact: bool = False) -> dict[str, Any]:
        """Return the figures as plain data, ready for JSON.

        It may be handed over: figures about fewer than five suppressed people are None, or "fewer than 5". With
        ``exact`` they are included; keep that as safe as the data.
        """
        hidden = not exact and self._few
        return {
            "rows": None if hidden else self.rows,
            "released": self.audit.rows,
            **({} if self.people is None else {"people": None if hidden else self.people}),
            "suppressed": None if hidden else self.suppressed,
            "left_out": self._few_words if hidden else self.left_out,
            "unknown": {column: self._rows_count(rows, exact) for column, rows in self.unknown.items()},
            "by_rule": {column: _count(values, exact) for column, values in self.by_rule.items()},
            "audit": self.audit.to_dict(hidden=self._hidden(exact)),
        }

    @property
    def _few(self) -> bool:
        """Whether so few rows were suppressed, or so few people with all of theirs, that it is not handed over."""
        if self.people is not None and self.audit.people is not None:
            return self.suppressed > 0 and self.people - self.audit.people < LEAST
        return 0 < self.suppressed < LEAST

    @property
    def _few_words(self) -> str:
        """Return the text that replaces a small count; many rows may be those of a few people."""
        return few(self.suppressed) if self.people is None else "some"

    def _rows_count(self, rows: int, exact: bool) -> int | str:
        return "some" if self.people is not None and not exact else _count(rows, exact)

    def _unknown_text(self, rows: int, exact: bool) -> str:
        return "some rows" if self.people is not None and not exact else _count_text(rows, "row", exact)

    def _hidden(self, exact: bool) -> frozenset[str]:
        """Return the promises whose figures, together with the release, would reveal suppressed values."""
        return frozenset() if exact or not self.suppressed else self.comparing

    def _rows_text(self, exact: bool) -> str:
        if self._few and not exact:
            return f"{amount(self.audit.rows, 'row')} released, {self._few_words} left out"
        left = f"{self.suppressed:,} left out ({self.left_out:.1%})" if self.suppressed else "none left out"
        return f"{self.audit.rows:,} of {amount(self.rows, 'row')} released, {left}"

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "table": released_rows(self.table)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def __repr__(self) -> str:
        verdict = "passed" if self.audit.passed else "FAILED"
        of = "" if self._few else f" of {self.rows:,}"
        return f"Applied(rows={self.audit.rows:,}{of}, audit={verdict})"


def _count(number: int, exact: bool) -> int | str:
    return few(number) if not exact and 0 < number < LEAST else number


def _count_text(number: int, noun: str, exact: bool) -> str:
    return amount(number, noun) if exact or number >= LEAST else f"{few(number)} {noun}s"
