"""Ledger of releases that left the studio, to warn about two releases of one table, which can be combined.

Most releases are only looked at. A release counts as handed over once it is downloaded.
"""

from __future__ import annotations

from pathlib import Path

from discreet.job.files import FileStamp
from discreet.job.owner_key import KEY_FILE, KeyFile
from discreet.pipeline.ledger import LedgerEntry, entries_beside, record, released_before, two_releases
from discreet.runtime.file_modes import make_private_file

__all__ = ["Handovers"]


class Handovers:
    """The signing key of one user while the studio runs, with the ledger of what was downloaded."""

    def __init__(self, folder: Path) -> None:
        """Make a key in ``folder``, which only the user can enter."""
        key = KeyFile(folder / KEY_FILE, explicit=True).make()
        assert key is not None  # an explicit location either gets a key or raises
        self._key = key

    def copy_key(self, folder: Path) -> None:
        """Copy the key into the folder of a run, so that all runs of a user sign with the same one."""
        copy = folder / KEY_FILE
        make_private_file(copy)
        copy.write_bytes(self._key.path.read_bytes())

    def record(self, run: Path) -> None:
        """Record the release in the folder of a run as handed over."""
        for entry in entries_beside(run / KEY_FILE):
            record(self._key, entry)

    def warning_about_others(self, run: Path) -> str | None:
        """Warning about other releases of the same table that were handed over; None if there are none."""
        own = entries_beside(run / KEY_FILE)
        read = {each for entry in own for each in entry.read}
        known = entries_beside(self._key.path)
        others = [entry for entry in known if entry.read & read and not any(mine.repeats(entry) for mine in own)]
        return two_releases(others)

    def warning_before(self, file: Path) -> str | None:
        """Warning before a table is released again; None if it was not released yet."""
        if not entries_beside(self._key.path):
            return None
        stamp = FileStamp.of(file)
        return None if stamp is None else released_before(self._key, [stamp])

    def ledger_of(self, run: Path) -> bytes:
        """The ledger to keep with a release: everything handed over so far, and the release itself."""
        lines: dict[LedgerEntry, None] = dict.fromkeys(
            [*entries_beside(self._key.path), *entries_beside(run / KEY_FILE)]
        )
        return "".join(f"{entry.line()}\n" for entry in lines).encode()
