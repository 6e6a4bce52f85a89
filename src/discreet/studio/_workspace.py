"""The folder everything of a studio is in: readable by its user alone, and gone when the studio ends.

Names of files below it are chosen here and never by a request, so that no request can name another place.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import tempfile
import unicodedata
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from discreet.errors import OutputError

_fcntl: Any
try:
    import fcntl as _fcntl
except ImportError:  # Windows: leftovers of a studio that was killed stay until somebody removes them
    _fcntl = None

__all__ = ["RELEASED", "ROWS", "Workspace", "new_id", "safe_name"]

ROWS, RELEASED = "_rows.parquet", "_released.parquet"
"""What a table and its release are kept as; no file that comes in can have such a name."""
_PREFIX = "discreet-studio-"
_LOCK = "in-use"
_LONGEST = 120
"""The most bytes of a name without its ending; file systems take 255, and other names are made of it."""
_UNSAFE = re.compile(r"[^\w.-]+")


def new_id() -> str:
    """Return a name nobody can guess."""
    return secrets.token_hex(8)


def safe_name(given: str, otherwise: str = "table") -> str:
    """Return a plain file name like the one given: no folders, no hidden files, nothing a shell would mind.

    >>> safe_name("../../etc/passwd"), safe_name("Mes données (1).csv"), safe_name(".."), safe_name("???.csv")
    ('passwd', 'Mes_données_1_.csv', 'table', 'table.csv')
    """
    last = unicodedata.normalize("NFC", given).replace("\\", "/").rpartition("/")[2]
    plain = _UNSAFE.sub("_", last)
    stem, dot, suffix = plain.lstrip(".-_").partition(".")
    if stem and not dot and "." in plain:  # nothing but an ending, which says what the file is
        stem, dot, suffix = otherwise, ".", stem
    short = stem.encode(errors="ignore")[:_LONGEST].decode(errors="ignore")
    return f"{short}{dot}{suffix[-20:]}" if short else otherwise


class Workspace:
    """A folder in which every project and every job has one of its own."""

    def __init__(self, folder: Path, lock: IO[bytes] | None = None) -> None:
        self.folder = folder
        self._lock = lock

    @classmethod
    def make(cls) -> Workspace:
        """Make a new one where temporary files go, and clear away those of studios that were killed."""
        _clear_up()
        try:
            folder = Path(tempfile.mkdtemp(prefix=_PREFIX)).resolve()  # mode 0700, says tempfile
            lock = (folder / _LOCK).open("wb")
        except OSError as error:
            raise OutputError(f"No folder for the work of the studio can be made: {error.strerror}.") from None
        if _fcntl is not None:
            _fcntl.flock(lock, _fcntl.LOCK_EX | _fcntl.LOCK_NB)
        return cls(folder, lock)

    def new_folder(self) -> Path:
        """Make a folder inside."""
        folder = self.folder / new_id()
        folder.mkdir(mode=0o700)
        return folder

    def remove(self, folder: Path) -> None:
        """Erase a folder that was made here."""
        if folder.parent == self.folder:
            shutil.rmtree(folder, ignore_errors=True)

    def erase(self) -> None:
        """Erase everything; once more does no harm."""
        shutil.rmtree(self.folder, ignore_errors=True)
        if self._lock is not None:
            self._lock.close()
            self._lock = None


def _clear_up() -> None:
    """Erase the folders of this user's studios that ended without doing so, as after a loss of power."""
    if _fcntl is None:
        return
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError):
            if folder.is_symlink() or folder.stat().st_uid != os.getuid():
                continue
            with (folder / _LOCK).open("rb") as lock:
                _fcntl.flock(lock, _fcntl.LOCK_EX | _fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
