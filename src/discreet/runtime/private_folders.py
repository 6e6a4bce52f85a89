"""Temporary folders for rows of a table: only their owner can enter them, and they are removed with the job.

A killed process leaves its folder behind. Each folder is locked, and the operating system releases the lock when the
process dies, so that the next process can recognize the folder and remove it.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from discreet.runtime.atomic_write import fcntl, locked, remove, remove_unlocked

__all__ = ["private_folder", "remove_private_folders"]

_PREFIX = "discreet-private-"
_OURS: set[Path] = set()
"""The folders of this process."""


@contextmanager
def private_folder() -> Iterator[Path]:
    """Yield an empty folder and remove it; first remove those of killed processes.

    >>> with private_folder() as folder:
    ...     _ = (folder / "rows").write_text("17")
    >>> folder.exists()
    False
    """
    _clear_up()
    with ExitStack() as locks:
        while True:
            folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
            if locked(folder, locks):
                break
        _OURS.add(folder)
        try:
            yield folder
        finally:
            remove(folder)
            _OURS.discard(folder)


def remove_private_folders() -> None:
    """Remove all folders of this process, which is about to end."""
    for folder in list(_OURS):
        remove(folder)


def _clear_up() -> None:
    """Remove what killed processes left behind; folders of other users cannot be opened, and stay."""
    if fcntl is None:
        return
    with suppress(OSError), os.scandir(tempfile.gettempdir()) as entries:
        for entry in entries:
            if entry.name.startswith(_PREFIX) and entry.is_dir(follow_symlinks=False):
                remove_unlocked(Path(entry.path))
