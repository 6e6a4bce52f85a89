"""Errors of the libraries that read tables, in one sentence. Their own messages may quote cells and are never shown."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import polars as pl

from discreet.errors import Argument, DataError, DiscreetError

__all__ = ["reading", "running"]

_DAMAGED = (EOFError, zlib.error, pl.exceptions.PolarsError, pl.exceptions.PanicException)


@contextmanager
def reading(what: str, explain: Callable[[str], DiscreetError | None] = lambda _: None) -> Iterator[None]:
    """Turn errors while polars reads ``what`` into a DataError; ``explain`` may know the cause."""
    try:
        yield
    except pl.exceptions.NoDataError:
        raise DataError(f"{what} is empty.", topic="no-rows") from None
    except (OSError, *_DAMAGED) as error:
        raise (
            _of_system(error, what)
            or explain(str(error))
            or DataError(
                f"{what} cannot be read; it is damaged or not in the format its name says.", topic="file-format"
            )
        ) from None


def _of_system(error: BaseException, what: str) -> DataError | None:
    """Return the error for what the operating system refuses."""
    if isinstance(error, FileNotFoundError):
        return DataError(f"There is no file {what}.", topic="no-such-file")
    if isinstance(error, PermissionError):
        return DataError(f"{what} cannot be read; the permission is missing.")
    reason = error.strerror if isinstance(error, OSError) else None
    return None if reason is None else DataError(f"{what} cannot be read ({reason}).")


@contextmanager
def running(what: str, libraries: frozenset[str], way_out: str) -> Iterator[None]:
    """Turn an error of some libraries, while they work on ``what``, into a DataError."""
    try:
        yield
    except DiscreetError:
        raise
    except Exception as error:
        if type(error).__module__.partition(".")[0] not in libraries:
            raise
        if type(error).__name__ == "InterruptException":  # DuckDB catches Ctrl-C itself
            raise KeyboardInterrupt from None
        if "Out of Memory" in str(error):
            raise DiscreetError(
                "DuckDB needs more memory than it may take; set a higher ",
                Argument("memory_limit"),
                ".",
                topic="out-of-memory",
            ) from None
        raise DataError(f"{what} {way_out}") from None
