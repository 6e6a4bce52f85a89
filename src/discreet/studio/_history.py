"""The history of a project's settings: undo, redo, and undoing one change while later ones stay."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from discreet.errors import UsageError
from discreet.studio._goals import Goals
from discreet.studio._settings import Settings

__all__ = ["History", "differences"]

_STEPS = 500
"""Most changes that can be undone."""
_MISSING = object()


@dataclass(frozen=True)
class _Entry:
    """Settings, and the change that led to them."""

    number: int
    label: str
    settings: Settings


class History:
    """All settings a project had. Every change has a number of its own; undo and redo are no changes."""

    def __init__(self, first: Settings) -> None:
        self._entries = [_Entry(0, "", first)]
        self._now = 0
        self._last = 0
        self.version = 0
        """Rises whenever the current settings change in any way, undo and redo included."""

    @property
    def settings(self) -> Settings:
        """The current settings."""
        return self._entries[self._now].settings

    @property
    def number(self) -> int:
        """The number of the change that led to the current settings."""
        return self._entries[self._now].number

    @property
    def undo_label(self) -> str | None:
        """The change that undo takes back."""
        return self._entries[self._now].label if self._now else None

    @property
    def redo_label(self) -> str | None:
        """The change that redo makes again."""
        return self._entries[self._now + 1].label if self._now + 1 < len(self._entries) else None

    def change(self, label: str, settings: Settings) -> None:
        """Replace the settings by new ones; equal ones are no change."""
        if settings == self.settings:
            return
        del self._entries[self._now + 1 :]
        self._last += 1
        self._entries.append(_Entry(self._last, label, settings))
        del self._entries[: max(0, len(self._entries) - _STEPS)]
        self._move_to(len(self._entries) - 1)

    def undo(self) -> None:
        """Undo the last change."""
        if not self._now:
            raise UsageError("There is nothing to undo.")
        self._move_to(self._now - 1)

    def redo(self) -> None:
        """Redo the last change that was undone."""
        if self._now + 1 >= len(self._entries):
            raise UsageError("There is nothing to redo.")
        self._move_to(self._now + 1)

    def revert(self, number: Any) -> None:
        """Undo one change, and keep the later ones; raise UsageError if one of them changed the same thing again."""
        at = next((index for index, entry in enumerate(self._entries) if entry.number == number and index), None)
        if isinstance(number, bool) or at is None or at > self._now:
            raise UsageError("This change was undone already.")
        if at == self._now:
            return self.undo()
        before, after = self._entries[at - 1].settings, self._entries[at].settings
        label = self._entries[at].label
        return self.change(f"undo “{label}”", _without(self.settings, before, after, label))

    def _move_to(self, index: int) -> None:
        self._now = index
        self.version += 1


def _without(now: Any, before: Any, after: Any, label: str) -> Any:
    """Return ``now`` without the change from ``before`` to ``after``, for settings, goals, mappings and values."""
    if before == after:
        return now
    if now == after:
        return before
    if isinstance(now, Settings | Goals):
        names = [item.name for item in fields(now)]
        found = {
            name: _without(getattr(now, name), getattr(before, name), getattr(after, name), label) for name in names
        }
        return replace(now, **found)
    if isinstance(now, Mapping):
        keys = dict.fromkeys([*now, *before, *after])
        left = {
            key: _without(now.get(key, _MISSING), before.get(key, _MISSING), after.get(key, _MISSING), label)
            for key in keys
        }
        return {key: value for key, value in left.items() if value is not _MISSING}
    raise UsageError(f"“{label}” was followed by another change of the same thing; use Undo at the top, step by step.")


def differences(before: Settings, now: Settings) -> list[str]:
    """Return what is different in settings since a run, in plain words; names of projects do not count."""
    found = [f"the role of {column}" for column, role in now.roles.items() if before.roles.get(column) is not role]
    typed = sorted({*before.types, *now.types})
    found += [f"the type of {column}" for column in typed if before.types.get(column) != now.types.get(column)]
    trees = sorted({*before.hierarchies, *now.hierarchies})
    found += [
        f"the tree of {column}" for column in trees if before.hierarchies.get(column) != now.hierarchies.get(column)
    ]
    derived = sorted({*before.derive, *now.derive})
    found += [f"the values of {column}" for column in derived if before.derive.get(column) != now.derive.get(column)]
    if before.reading != now.reading:
        found.append("how the table is read")
    if before.pseudonyms != now.pseudonyms:
        found.append("whether there are pseudonyms")
    if before.keep != now.keep:
        found.append("which columns are released unchanged")
    found += now.goals.changes_since(before.goals)
    return found
