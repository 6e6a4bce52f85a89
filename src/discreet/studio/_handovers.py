"""Which releases left the studio: two different ones of one table can be combined against the people in it.

A run writes many releases that nobody ever sees outside. So a release counts as handed over once it is downloaded.
"""

from __future__ import annotations

from pathlib import Path

from discreet._modes import make_private_file
from discreet.release._checksums import FileStamp
from discreet.release._key import KEY_FILE, KeyPlace
from discreet.release._ledger import Entry, entries_beside, record, released_before, two_releases

__all__ = ["Handovers"]


class Handovers:
    """The key of one user while the studio runs, and beside it the ledger of what was downloaded."""

    def __init__(self, folder: Path) -> None:
        """Make the key in a folder that nobody else can enter."""
        key = KeyPlace(folder / KEY_FILE, explicit=True).make()
        assert key is not None  # a place that was named has a key, or making it failed
        self._key = key

    def lend(self, folder: Path) -> None:
        """Put the key into the folder of a run, so that all runs of a user sign with the same one."""
        copy = folder / KEY_FILE
        make_private_file(copy)
        copy.write_bytes(self._key.path.read_bytes())

    def note(self, run: Path) -> None:
        """Enter the release in the folder of a run as handed over."""
        for entry in entries_beside(run / KEY_FILE):
            record(self._key, entry)

    def others(self, run: Path) -> str | None:
        """Return what to tell about other releases of the same table that were handed over; None if none was."""
        own = entries_beside(run / KEY_FILE)
        inputs = {entry.input for entry in own}
        known = entries_beside(self._key.path)
        others = [one for one in known if one.input in inputs and not any(mine.repeats(one) for mine in own)]
        return two_releases(others)

    def before(self, file: Path) -> str | None:
        """Return what to tell about earlier releases of a table before it is released again."""
        if not entries_beside(self._key.path):
            return None
        stamp = FileStamp.of(file)
        return None if stamp is None else released_before(self._key, stamp)

    def ledger(self, run: Path) -> bytes:
        """Return the ledger to keep with a release: what was handed over so far, and the release itself."""
        lines: dict[Entry, None] = dict.fromkeys([*entries_beside(self._key.path), *entries_beside(run / KEY_FILE)])
        return "".join(f"{entry.line()}\n" for entry in lines).encode()
