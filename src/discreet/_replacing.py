"""Files and folders that appear whole or not at all: made under a hidden name, and renamed when they are complete.

What is being made lies in a hidden folder beside its target that only its maker can enter, whatever the umask: it may
hold what no audit has seen. Who else may read it is decided at the moment it gets its name (``_modes``).

A process that is killed leaves that folder behind. Makers hold a lock on it, which the operating system takes back when
they die, so that the next one for the same target can tell and clear up.
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

from discreet._exchange import exchange
from discreet._modes import PRIVATE_FOLDER, make_private_file, set_mode
from discreet.errors import OutputError

try:
    import fcntl as _fcntl

    fcntl: Any = _fcntl
except ImportError:  # there are no such locks on Windows: nothing is cleared up there
    fcntl = None

__all__ = [
    "abandon",
    "check_parent",
    "check_target",
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
"""The most bytes of a name: most file systems allow 255, and what is being written has a longer name."""
_BEFORE = "before"
"""How the name ends of a folder that was moved out of the way."""
_UNFINISHED: dict[Path, Path] = {}
"""The hidden folders of this process, and the target of each."""


def leading_to(path: Path) -> Path:
    """Return where a path leads; refuse one that leads nowhere, or whose name no file can have here."""
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
    """Refuse a path that is no file, or whose folder is missing or cannot be written to, by trying.

    The path is told as it was given, and where it leads is returned: what a link points to is replaced, not the link.
    """
    leading_to(path)
    if path.is_dir():
        raise OutputError(f"'{path}' is a folder; name a file in it.", topic="output-folder")
    if path.exists() and not path.is_file():
        raise OutputError(f"'{path}' is a device or pipe, which cannot be replaced by a file; name a file.")
    return check_parent(path)


def check_parent(path: Path) -> Path:
    """Refuse a path whose folder is missing or cannot be written to, by trying; return where it leads."""
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
    """Return where an engine may write the rows of an unfinished file: beside it, in the folder that goes with it."""
    return unfinished.with_name(unfinished.name + ".rows")


@contextmanager
def replacing(target: Path, *, private: bool = False) -> Iterator[Path]:
    """Yield an empty file in a hidden folder beside the target, which becomes the target if all goes well.

    An existing target keeps its mode and owner, and a new one gets the usual mode; a ``private`` one gets 0600. What
    the operating system refuses on the way is an OutputError.

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
    """Do the same for the file of a database, which the database has to make itself."""
    with _making(target) as unfinished:
        yield unfinished
        _finish_file(unfinished, target)


def _finish_file(unfinished: Path, target: Path, private: bool = False) -> None:
    _flush(unfinished)
    set_mode(unfinished, target, private=private)
    unfinished.replace(target)


@contextmanager
def replacing_folder(target: Path) -> Iterator[Path]:
    """Do the same for a folder of files; a folder of that name is replaced by it in one step, and deleted.

    Where names cannot be exchanged the old folder is moved out of the way first. Who is killed between these two steps
    leaves none, and the next one begins by putting the old one back.
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
    """Give a complete folder its name."""
    if not target.exists():
        try:
            unfinished.replace(target)
            return
        except OSError:
            if not target.exists():  # else somebody was faster
                raise
    if exchange(unfinished, target):  # what was there is in the hidden folder now, and goes with it
        return
    old = _temporary(target, _BEFORE)
    with ExitStack() as held:
        locked(target, held)
        try:
            target.replace(old)
            unfinished.replace(target)
        finally:
            if old.exists() and not target.exists():
                old.replace(target)
            remove(old)


def put_back(target: Path) -> None:
    """Give a folder its name back that was moved out of the way by somebody who was killed before the new one came."""
    form = _form(target, _BEFORE)
    with suppress(OSError):
        for old in [entry for entry in target.parent.iterdir() if form.fullmatch(entry.name)]:
            with ExitStack() as held:
                if not locked(old, held):
                    continue
                if not target.exists():
                    old.replace(target)
                elif fcntl is not None:
                    remove(old)


@contextmanager
def _making(target: Path) -> Iterator[Path]:
    """Make a hidden folder, hold a lock on it, yield a path inside that has the target's name, and remove it all."""
    hidden = _temporary(target)
    try:
        _clear_up(target)
        with ExitStack() as held:
            while True:
                _UNFINISHED[hidden] = target
                hidden.mkdir(mode=PRIVATE_FOLDER)
                if locked(hidden, held):
                    break
                hidden = _temporary(target)  # somebody clearing up took it for a left-over, and it is gone
            yield hidden / target.name
        _flush_folder(target.parent)
    except OSError as error:
        raise not_written(f"'{target.name}'", error) from None
    finally:
        remove(hidden)
        _UNFINISHED.pop(hidden, None)


def abandon() -> None:
    """Delete all that is being made, by whoever it is, as this process is about to end.

    Each gets another name first: a folder must not get its own while it is being emptied.
    """
    for hidden, target in list(_UNFINISHED.items()):
        with suppress(OSError):
            remove(hidden.rename(_temporary(target)))


def not_written(what: str, error: Exception) -> OutputError:
    """Say why ``what`` was not written, knowing what the operating system, or polars for it, said."""
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
    """Return what hidden names beside a target are like."""
    return re.compile(rf"\.{re.escape(target.name)}\.[0-9a-f]{{12}}\.{ending}")


def _clear_up(target: Path) -> None:
    """Delete what makers of the same target left behind when they were killed."""
    if fcntl is None:
        return
    form = _form(target)
    for entry in list(target.parent.iterdir()):
        if form.fullmatch(entry.name):
            remove_unlocked(entry)


def remove_unlocked(path: Path) -> None:
    """Delete what nobody holds a lock on; the lock is held meanwhile, so that nobody takes it up."""
    with suppress(OSError):
        place = os.open(path, os.O_RDONLY)
        try:
            fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
            remove(path)
        finally:
            os.close(place)


def locked(path: Path, held: ExitStack) -> bool:
    """Hold a lock on a file or folder until the end; False if somebody else was faster and it is going away."""
    if fcntl is None:
        return True
    try:
        place = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return False
    held.callback(os.close, place)
    try:
        fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
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
    """Have the operating system put the file on the disk before it gets its name."""
    with path.open("rb+") as stream:
        os.fsync(stream.fileno())


def _flush_folder(folder: Path) -> None:
    """Have the operating system put the names in a folder on the disk."""
    with suppress(OSError):
        place = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(place)
        finally:
            os.close(place)
