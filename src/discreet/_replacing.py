"""Files that appear whole or not at all: written under a hidden name, and renamed when they are complete."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from discreet.errors import OutputError

__all__ = ["check_target", "not_written", "replacing"]


def check_target(target: Path) -> None:
    """Refuse a target that is no file, or whose folder is missing or cannot be written to, by trying."""
    if target.is_dir():
        raise OutputError(f"'{target}' is a folder; name a file in it.")
    if target.exists() and not target.is_file():
        raise OutputError(f"'{target}' is a device or pipe, which cannot be replaced by a file; name a file.")
    if not target.parent.is_dir():
        raise OutputError(f"There is no folder '{target.parent}'; make it first or write elsewhere.")
    trial = _temporary(target)
    try:
        trial.touch(exist_ok=False)
    except OSError:
        raise OutputError(f"The folder '{target.parent}' cannot be written to; choose another.") from None
    trial.unlink(missing_ok=True)


@contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """Give out a hidden name beside the target; it becomes the target if all goes well, and goes if not.

    What the operating system refuses on the way is an OutputError.

    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp()) / "note.txt"
    >>> with replacing(target) as unfinished:
    ...     _ = unfinished.write_text("done")
    >>> [file.name for file in target.parent.iterdir()]
    ['note.txt']
    """
    unfinished = _temporary(target)
    try:
        yield unfinished
        _flush(unfinished)
        unfinished.replace(target)
    except OSError as error:
        raise not_written(f"'{target.name}'", error) from None
    finally:
        unfinished.unlink(missing_ok=True)


def not_written(what: str, error: Exception) -> OutputError:
    """Say why ``what`` was not written, knowing what the operating system, or polars for it, said."""
    if "No space left" in str(error) or "os error 28" in str(error):
        return OutputError(f"The disk is full: {what} was not written, and nothing was left behind; free some space.")
    reason = getattr(error, "strerror", None) or str(error).split(" (os error")[0]
    return OutputError(f"{what} cannot be written ({reason}).")


def _temporary(target: Path) -> Path:
    return target.with_name(f".{target.name}.{secrets.token_hex(6)}.part")


def _flush(path: Path) -> None:
    """Have the operating system put the file on the disk before it gets its name."""
    with path.open("rb+") as stream:
        os.fsync(stream.fileno())
