"""Modes and owners of outputs: an existing one keeps its own, a new one gets those of any new file."""

from __future__ import annotations

import os
import secrets
import stat
from pathlib import Path

__all__ = ["PRIVATE_FILE", "PRIVATE_FOLDER", "make_private_file", "set_mode"]

PRIVATE_FILE = 0o600
PRIVATE_FOLDER = 0o700
_GROUP = 0o070


def make_private_file(path: Path) -> None:
    """Create an empty file that only its owner can read, from the first moment on."""
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, PRIVATE_FILE))


def set_mode(finished: Path, target: Path, *, private: bool = False) -> None:
    """Set the mode and owner of a file or folder that is about to become ``target``.

    A new file gets 0666 and a new folder 0777, less the umask; a ``private`` file gets 0600. The mode and owner of an
    existing target are kept. If its group cannot be kept, the new group gets no access.
    """
    replaced = _stat(target)
    if finished.is_dir():
        old = [] if replaced is None else [entry.stat().st_mode for entry in target.iterdir()]
        for part in finished.iterdir():
            _set_mode(part, replaced, _common(old) if old else _usual(part))
    mode = PRIVATE_FILE if private else _usual(finished) if replaced is None else replaced.st_mode
    _set_mode(finished, replaced, mode)


def _set_mode(path: Path, replaced: os.stat_result | None, mode: int) -> None:
    kept = replaced is None or _set_owner(path, replaced)
    path.chmod(stat.S_IMODE(mode if kept else mode & ~_GROUP))


def _set_owner(path: Path, replaced: os.stat_result) -> bool:
    """Set the owner and group, or only the group; return whether the group is right."""
    for owner in (replaced.st_uid, -1):
        try:
            os.chown(path, owner, replaced.st_gid)
        except (OSError, AttributeError):  # not permitted, or a system without owners
            continue
        return True
    return path.stat().st_gid == replaced.st_gid


def _usual(path: Path) -> int:
    """Return the mode of a new file or folder here; creating one is the only way that does not change the umask."""
    trial = path.parent / secrets.token_hex(8)
    if path.is_dir():
        trial.mkdir()
        mode = trial.stat().st_mode
        trial.rmdir()
    else:
        os.close(os.open(trial, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
        mode = trial.stat().st_mode
        trial.unlink()
    return mode


def _common(modes: list[int]) -> int:
    """Return the permissions that all modes grant."""
    common = 0o777
    for mode in modes:
        common &= mode
    return common


def _stat(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except FileNotFoundError:
        return None
