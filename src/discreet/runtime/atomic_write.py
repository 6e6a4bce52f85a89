"""Files and folders that appear complete or not at all: written under a hidden name, then renamed.

Unfinished output is kept in a hidden folder beside its target that only its owner can enter, whatever the umask: it may
hold rows that were not audited. Its final mode is set just before it gets its name (:mod:`file_modes`).

A killed process leaves that folder behind. The writer holds a lock on it, which the operating system releases when the
process dies, so the next writer of the same target can recognize the folder and remove it.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from discreet.errors import OutputError
from discreet.runtime.file_modes import PRIVATE_FOLDER, make_private_file, set_mode

try:
    import fcntl as _fcntl

    fcntl: Any = _fcntl
except ImportError:  # Windows has no such locks: nothing is cleaned up there
    fcntl = None

__all__ = [
    "abandon",
    "check_parent",
    "check_target",
    "exchange",
    "fcntl",
    "leading_to",
    "locked",
    "not_written",
    "put_back",
    "remove",
    "remove_unlocked",
    "replacing",
    "replacing_database",
    "replacing_folder",
    "rows_beside",
]

_LONGEST = 220
"""The longest name in bytes: most file systems allow 255, and hidden names are longer."""
_BEFORE = "before"
"""The suffix of a folder that is being replaced."""
_UNFINISHED: dict[Path, Path] = {}
"""The hidden folders of this process, and the target of each."""
_AT_FDCWD = -100
_RENAME_EXCHANGE = 2


def leading_to(path: Path) -> Path:
    """Resolve the links of a path; refuse a circular link, or a name that no file can have."""
    try:
        target = path.resolve()
        len(target.name.encode())
    except RuntimeError:
        raise OutputError(f"'{path}' is a link that leads to itself; choose another name.") from None
    except ValueError:
        raise OutputError("The name of the output has bytes that are no text (UTF-8); choose another name.") from None
    if len(target.name.encode()) > _LONGEST:
        raise OutputError(f"The name of the output is too long; {_LONGEST} bytes are the most.")
    return target


def check_target(path: Path) -> Path:
    """Refuse a path that is not a file, or whose folder is missing or not writable; return the resolved path.

    Messages show the path as given. The target of a link is replaced, not the link.
    """
    leading_to(path)
    if path.is_dir():
        raise OutputError(f"'{path}' is a folder; name a file in it.", topic="output-folder")
    if path.exists() and not path.is_file():
        raise OutputError(f"'{path}' is a device or pipe, which cannot be replaced by a file; name a file.")
    return check_parent(path)


def check_parent(path: Path) -> Path:
    """Refuse a path whose folder is missing or not writable, by trying; return the resolved path."""
    target = leading_to(path)
    leads = f", where '{path}' leads to," if path.is_symlink() else ""
    folder = target.parent if leads else path.parent
    if not target.parent.is_dir():
        raise OutputError(
            f"There is no folder '{folder}'{leads[:-1]}; make it first or write elsewhere.", topic="output-folder"
        )
    trial = _temporary(target)
    try:
        make_private_file(trial)
    except OSError:
        raise OutputError(
            f"The folder '{folder}'{leads} cannot be written to; choose another.", topic="output-folder"
        ) from None
    trial.unlink(missing_ok=True)
    return target


def rows_beside(unfinished: Path) -> Path:
    """Return a path beside an unfinished file, in its hidden folder, where an engine may write rows."""
    return unfinished.with_name(unfinished.name + ".rows")


@contextmanager
def replacing(target: Path, *, private: bool = False) -> Iterator[Path]:
    """Yield an empty file in a hidden folder beside the target, which becomes the target on success.

    An existing target keeps its mode and owner, a new one gets the default mode, and a ``private`` one gets 0600.
    Errors of the operating system become an OutputError.

    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp()) / "note.txt"
    >>> with replacing(target) as unfinished:
    ...     _ = unfinished.write_text("done")
    >>> [file.name for file in target.parent.iterdir()]
    ['note.txt']
    """
    with _making(target) as unfinished:
        make_private_file(unfinished)
        yield unfinished
        _finish_file(unfinished, target, private)


@contextmanager
def replacing_database(target: Path) -> Iterator[Path]:
    """Do the same for a database file, which the database has to create itself."""
    with _making(target) as unfinished:
        yield unfinished
        _finish_file(unfinished, target)


def _finish_file(unfinished: Path, target: Path, private: bool = False) -> None:
    _flush(unfinished)
    set_mode(unfinished, target, private=private)
    unfinished.replace(target)


@contextmanager
def replacing_folder(target: Path) -> Iterator[Path]:
    """Do the same for a folder of files; an existing folder is exchanged for it in one step, and deleted.

    If names cannot be exchanged, the old folder is moved away first. A process killed between these two steps leaves no
    folder, and the next writer starts by putting the old one back.
    """
    put_back(target)
    with _making(target) as unfinished:
        unfinished.mkdir(mode=PRIVATE_FOLDER)
        yield unfinished
        for file in unfinished.iterdir():
            _flush(file)
        _flush_folder(unfinished)
        set_mode(unfinished, target)
        _put(unfinished, target)


def _put(unfinished: Path, target: Path) -> None:
    """Give a complete folder its final name."""
    if not target.exists():
        try:
            unfinished.replace(target)
            return
        except OSError:
            if not target.exists():  # else another process was faster
                raise
    if exchange(unfinished, target):  # the old one is in the hidden folder now, and removed with it
        return
    old = _temporary(target, _BEFORE)
    with ExitStack() as locks:
        locked(target, locks)
        try:
            target.replace(old)
            unfinished.replace(target)
        finally:
            if old.exists() and not target.exists():
                old.replace(target)
            remove(old)


def put_back(target: Path) -> None:
    """Restore a folder that was moved away by a process killed before it could replace it."""
    form = _form(target, _BEFORE)
    with suppress(OSError):
        for old in [entry for entry in target.parent.iterdir() if form.fullmatch(entry.name)]:
            with ExitStack() as locks:
                if not locked(old, locks):
                    continue
                if not target.exists():
                    old.replace(target)
                elif fcntl is not None:
                    remove(old)


@contextmanager
def _making(target: Path) -> Iterator[Path]:
    """Create and lock a hidden folder, yield a path in it with the name of the target, and remove the folder."""
    hidden = _temporary(target)
    try:
        _clear_up(target)
        with ExitStack() as locks:
            while True:
                _UNFINISHED[hidden] = target
                hidden.mkdir(mode=PRIVATE_FOLDER)
                if locked(hidden, locks):
                    break
                hidden = _temporary(target)  # another process took it for a leftover and removed it
            yield hidden / target.name
        _flush_folder(target.parent)
    except OSError as error:
        raise not_written(f"'{target.name}'", error) from None
    finally:
        remove(hidden)
        _UNFINISHED.pop(hidden, None)


def abandon() -> None:
    """Delete all unfinished output of this process, which is about to end.

    Folders are renamed first: one must not get its final name while it is being emptied.
    """
    for hidden, target in list(_UNFINISHED.items()):
        with suppress(OSError):
            remove(hidden.rename(_temporary(target)))


def not_written(what: str, error: Exception) -> OutputError:
    """Return the error for ``what``, given that of the operating system or of polars."""
    if "No space left" in str(error) or "os error 28" in str(error):
        return OutputError(
            f"The disk is full: {what} was not written, and nothing was left behind; free some space.",
            topic="disk-full",
        )
    reason = getattr(error, "strerror", None) or str(error).split(" (os error")[0]
    return OutputError(f"{what} cannot be written ({reason}).")


def _temporary(target: Path, ending: str = "part") -> Path:
    return target.with_name(f".{target.name}.{secrets.token_hex(6)}.{ending}")


def _form(target: Path, ending: str = "part") -> re.Pattern[str]:
    """Return a pattern for hidden names beside a target."""
    return re.compile(rf"\.{re.escape(target.name)}\.[0-9a-f]{{12}}\.{ending}")


def _clear_up(target: Path) -> None:
    """Delete what killed writers of the same target left behind."""
    if fcntl is None:
        return
    form = _form(target)
    for entry in list(target.parent.iterdir()):
        if form.fullmatch(entry.name):
            remove_unlocked(entry)


def remove_unlocked(path: Path) -> None:
    """Delete a file or folder unless it is locked; it is locked meanwhile, so that no other process uses it."""
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            remove(path)
        finally:
            os.close(descriptor)


def locked(path: Path, locks: ExitStack) -> bool:
    """Lock a file or folder until ``locks`` is closed; False if another process has it and will remove it."""
    if fcntl is None:
        return True
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return False
    locks.callback(os.close, descriptor)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    return path.exists()


def remove(path: Path) -> None:
    """Delete a file or a folder and everything in it."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _flush(path: Path) -> None:
    """Flush a file to disk before it gets its name."""
    with path.open("rb+") as stream:
        os.fsync(stream.fileno())


def _flush_folder(folder: Path) -> None:
    """Flush the names in a folder to disk."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def exchange(first: Path, second: Path) -> bool:
    """Exchange the names of two files or folders in one step; False, and nothing happens, if the system cannot.

    Linux can, on most file systems.
    """
    try:
        import ctypes

        rename = ctypes.CDLL(None).renameat2
    except (ImportError, OSError, TypeError, AttributeError):  # another system, or an older C library
        return False
    return int(rename(_AT_FDCWD, os.fsencode(first), _AT_FDCWD, os.fsencode(second), _RENAME_EXCHANGE)) == 0
