"""Errors of the libraries that read tables, as one sentence. What they say may quote cells, and is never shown."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import polars as pl

from discreet.errors import DataError, DiscreetError

__all__ = ["reading", "running"]


@contextmanager
def reading(what: str, explain: Callable[[str], DiscreetError | None] = lambda _: None) -> Iterator[None]:
    """Turn what goes wrong while polars reads ``what`` into a DataError; ``explain`` may know the cause."""
    try:
        yield
    except FileNotFoundError:
        raise DataError(f"There is no file {what}.", topic="no-such-file") from None
    except PermissionError:
        raise DataError(f"{what} cannot be read; the permission is missing.") from None
    except pl.exceptions.NoDataError:
        raise DataError(f"{what} is empty.", topic="no-rows") from None
    except (OSError, EOFError, zlib.error, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        if isinstance(error, OSError) and error.strerror:
            raise DataError(f"{what} cannot be read ({error.strerror}).") from None
        raise explain(str(error)) or _unreadable(what) from None


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
        if type(error).__name__ == "InterruptException":  # DuckDB takes Ctrl-C for itself
            raise KeyboardInterrupt from None
        if "Out of Memory" in str(error):
            raise DiscreetError(
                "DuckDB needs more memory than it may take; set a higher memory_limit.", topic="out-of-memory"
            ) from None
        raise DataError(f"{what} {way_out}") from None


def _unreadable(what: str) -> DataError:
    return DataError(f"{what} cannot be read; it is damaged or not in the format its name says.", topic="file-format")
