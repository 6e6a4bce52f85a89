"""The folder that holds all files of a studio: readable by its user only, and erased when the studio ends.

File names in it are chosen here, never by a request, so that no request can reach another folder.
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
except ImportError:  # Windows: leftovers of a killed studio stay until they are removed by hand
    _fcntl = None

__all__ = ["RELEASED", "ROWS", "Workspace", "new_id", "safe_name"]

ROWS, RELEASED = "_rows.parquet", "_released.parquet"
"""Copies of a table and of its release; no upload can have such a name."""
_PREFIX = "discreet-studio-"
_LOCK = "in-use"
_LONGEST = 120
"""Most bytes of a file name without its suffix; file systems allow 255, and longer names are derived from it."""
_UNSAFE = re.compile(r"[^\w.-]+")


def new_id() -> str:
    """A random identifier that cannot be guessed."""
    return secrets.token_hex(8)


def safe_name(given: str, otherwise: str = "table") -> str:
    """Safe version of a file name: no folders, no leading dot, no special characters.

    >>> safe_name("../../etc/passwd"), safe_name("Mes données (1).csv"), safe_name(".."), safe_name("???.csv")
    ('passwd', 'Mes_données_1_.csv', 'table', 'table.csv')
    """
    last = unicodedata.normalize("NFC", given).replace("\\", "/").rpartition("/")[2]
    plain = _UNSAFE.sub("_", last)
    stem, dot, suffix = plain.lstrip(".-_").partition(".")
    if stem and not dot and "." in plain:  # only a suffix, which gives the format
        stem, dot, suffix = otherwise, ".", stem
    short = stem.encode(errors="ignore")[:_LONGEST].decode(errors="ignore")
    return f"{short}{dot}{suffix[-20:]}" if short else otherwise


class Workspace:
    """The folder of a studio, with a subfolder for every project and job."""

    def __init__(self, folder: Path, lock: IO[bytes] | None = None) -> None:
        self.folder = folder
        self._lock = lock

    @classmethod
    def make(cls) -> Workspace:
        """Make a workspace in the folder for temporary files, and erase those of studios that were killed."""
        _erase_leftovers()
        try:
            folder = Path(tempfile.mkdtemp(prefix=_PREFIX)).resolve()  # mode 0700, says tempfile
            lock = (folder / _LOCK).open("wb")
        except OSError as error:
            raise OutputError(f"The studio cannot create its working folder: {error.strerror}.") from None
        if _fcntl is not None:
            _fcntl.flock(lock, _fcntl.LOCK_EX | _fcntl.LOCK_NB)
        return cls(folder, lock)

    def new_folder(self) -> Path:
        """Make a new subfolder."""
        folder = self.folder / new_id()
        folder.mkdir(mode=0o700)
        return folder

    def remove(self, folder: Path) -> None:
        """Erase a subfolder."""
        if folder.parent == self.folder:
            shutil.rmtree(folder, ignore_errors=True)

    def erase(self) -> None:
        """Erase the workspace; may be called twice."""
        shutil.rmtree(self.folder, ignore_errors=True)
        if self._lock is not None:
            self._lock.close()
            self._lock = None


def _erase_leftovers() -> None:
    """Erase workspaces of this user that were left behind, for example after a power failure."""
    if _fcntl is None:
        return
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError):
            if folder.is_symlink() or folder.stat().st_uid != os.getuid():
                continue
            with (folder / _LOCK).open("rb") as lock:
                _fcntl.flock(lock, _fcntl.LOCK_EX | _fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
