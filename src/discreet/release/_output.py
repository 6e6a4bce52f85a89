"""Where a release goes: looked at before any work starts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

import polars as pl

from discreet._replacing import check_target
from discreet.engines import Format, files_read, format_of, relation_of
from discreet.errors import OutputError

__all__ = ["Output", "check_apart", "check_output", "like_input", "sources"]


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
    if any(_same(target, source) for source in sources(data)):
        raise OutputError(f"The output '{target.name}' is the input itself; give the release another name.")
    check_target(target)
    return Output(target, found)


def check_apart(written: Sequence[Path], read: Sequence[Path]) -> None:
    """Refuse to write over a file that is read, or two things to one file."""
    for place, target in enumerate(written):
        if any(_same(target.resolve(), source) for source in read):
            raise OutputError(f"Writing '{target.name}' would overwrite a file that is read; give it another name.")
        if any(_same(target.resolve(), other) for other in written[:place]):
            raise OutputError(f"Two things would be written to '{target.name}'; give one of them another name.")


def like_input(output: Output, separator: str | None) -> Output:
    """Write delimited text with the separator of the input, unless the name of the output says otherwise."""
    if output.format.kind != "csv" or output.format.separator is not None or separator is None:
        return output
    return replace(output, format=replace(output.format, separator=separator))


def sources(data: Any) -> list[Path]:
    """Return the files data comes from, as far as they are known."""
    if isinstance(data, str | PathLike):
        return [Path(data)]
    if isinstance(data, pl.LazyFrame):
        return files_read(data)
    relation = relation_of(data)
    return [] if relation is None else relation.backend.files(relation.native)


def _same(target: Path, source: Path) -> bool:
    if target == source.resolve():
        return True
    return target.exists() and source.exists() and target.samefile(source)
