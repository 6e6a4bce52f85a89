"""Folders for what may hold rows of a table while a job runs: nobody else can look into them, and they go with it.

A process that is killed leaves its folder behind. Each holds a lock on its own, which the operating system takes back
when it dies, so that the next one can tell and clear up.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from discreet._replacing import fcntl, locked, remove, remove_unlocked

__all__ = ["leave", "private_folder"]

_PREFIX = "discreet-private-"
_OURS: set[Path] = set()
"""The folders of this process."""


@contextmanager
def private_folder() -> Iterator[Path]:
    """Give out an empty folder that is gone in the end; those of processes that were killed go first.

    >>> with private_folder() as folder:
    ...     _ = (folder / "rows").write_text("17")
    >>> folder.exists()
    False
    """
    _clear_up()
    with ExitStack() as held:
        while True:
            folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
            if locked(folder, held):
                break
        _OURS.add(folder)
        try:
            yield folder
        finally:
            remove(folder)
            _OURS.discard(folder)


def leave() -> None:
    """Delete all folders of this process, which is about to end."""
    for folder in list(_OURS):
        remove(folder)


def _clear_up() -> None:
    """Delete what was left behind; of others' folders none can be opened, so that they stay."""
    if fcntl is None:
        return
    with suppress(OSError):
        for entry in os.scandir(tempfile.gettempdir()):
            if entry.name.startswith(_PREFIX) and entry.is_dir(follow_symlinks=False):
                remove_unlocked(Path(entry.path))
