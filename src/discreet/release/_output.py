"""Where a release goes: looked at before any work starts, and filled in one step when all is proven."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

import polars as pl

from discreet.engines import Format, format_of, writing
from discreet.errors import OutputError

__all__ = ["Output", "check_apart", "check_folder", "check_output", "like_input", "replacing"]


@dataclass(frozen=True)
class Output:
    """A file to be written, and its format."""

    path: Path
    format: Format


def check_output(path: str | PathLike[str], data: Any) -> Output:
    """Refuse what could not be written in the end: a missing folder, an unknown format, the input itself."""
    target = Path(path)
    found = format_of(target)
    target = target.resolve()
    if target.is_dir():
        raise OutputError(f"'{target}' is a folder; name a file in it.")
    if any(_same(target, source) for source in _sources(data)):
        raise OutputError(f"The output '{target.name}' is the input itself; give the release another name.")
    check_folder(target)
    return Output(target, found)


def check_apart(written: Sequence[Path], read: Sequence[Path]) -> None:
    """Refuse to write over a file that is read, or two things to one file."""
    for place, target in enumerate(written):
        if any(_same(target.resolve(), source) for source in read):
            raise OutputError(f"Writing '{target.name}' would overwrite a file that is read; give it another name.")
        if any(_same(target.resolve(), other) for other in written[:place]):
            raise OutputError(f"Two things would be written to '{target.name}'; give one of them another name.")


def check_folder(target: Path) -> None:
    """Refuse a target whose folder is missing or cannot be written to, by trying."""
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
        with writing(f"'{target.name}'"):
            _flush(unfinished)
            unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)


def like_input(output: Output, separator: str | None) -> Output:
    """Write delimited text with the separator of the input, unless the name of the output says otherwise."""
    if output.format.kind != "csv" or output.format.separator is not None or separator is None:
        return output
    return replace(output, format=replace(output.format, separator=separator))


def _temporary(target: Path) -> Path:
    return target.with_name(f".{target.name}.{secrets.token_hex(6)}.part")


def _sources(data: Any) -> list[Path]:
    """Return the files data comes from, as far as they are known."""
    if isinstance(data, str | PathLike):
        return [Path(data)]
    if isinstance(data, pl.LazyFrame):
        plan = data.explain(optimized=False)
        return [Path(name) for names in re.findall(r"SCAN \[([^\]]+)\]", plan) for name in names.split(", ")]
    return []


def _same(target: Path, source: Path) -> bool:
    if target == source.resolve():
        return True
    return target.exists() and source.exists() and target.samefile(source)


def _flush(path: Path) -> None:
    """Have the operating system put the file on the disk before it gets its name."""
    with path.open("rb+") as stream:
        os.fsync(stream.fileno())
