"""Errors of polars, Arrow and the operating system, translated into one sentence without data.

The messages of libraries may quote cells, so they are inspected but never shown or chained.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import polars as pl

from discreet.errors import DataError, DiscreetError
from discreet.runtime.atomic_write import not_written

__all__ = ["LibraryError", "library_errors", "reading", "writing"]

LibraryError = (pl.exceptions.PolarsError, pl.exceptions.PanicException)


@contextmanager
def reading(what: str, explain: Callable[[str], DiscreetError | None] = lambda _: None) -> Iterator[None]:
    """Translate errors of reading ``what`` into a DataError; ``explain`` may know the cause of a message."""
    try:
        yield
    except FileNotFoundError:
        raise DataError(f"There is no file {what}.", topic="no-such-file") from None
    except PermissionError:
        raise DataError(f"{what} cannot be read; the permission is missing.") from None
    except gzip.BadGzipFile:
        raise _unreadable(what, "") from None
    except OSError as error:
        raise DataError(f"{what} cannot be read ({_reason(error)}).") from None
    except pl.exceptions.NoDataError:
        raise DataError(f"{what} is empty.", topic="no-rows") from None
    except (EOFError, zlib.error):
        raise _unreadable(what, "") from None
    except LibraryError as error:
        raise explain(str(error)) or _unreadable(what, str(error)) from None


@contextmanager
def writing(what: str) -> Iterator[None]:
    """Translate errors of writing ``what`` into an OutputError."""
    try:
        yield
    except OSError as error:
        raise not_written(what, error) from None
    except LibraryError as error:
        if "os error 28" not in str(error):
            raise
        raise not_written(what, error) from None


_LIBRARIES = {"polars", "pyo3_runtime", "pyarrow", "pandas", "narwhals", "numpy", "duckdb", "_duckdb", "xlsxwriter"}


@contextmanager
def library_errors() -> Iterator[None]:
    """Translate errors that no other guard handled; their messages may quote cells and are not shown."""
    try:
        yield
    except DiscreetError:
        raise
    except (Exception, pl.exceptions.PanicException) as error:
        library = type(error).__module__.partition(".")[0]
        if library not in _LIBRARIES:
            raise
        raise DataError(
            f"A column holds something {_NAMES.get(library, library)} cannot work with ({type(error).__name__}); turn "
            "it into text, numbers or dates first, or leave it out by naming it as an identifier."
        ) from None


_NAMES = {"pyo3_runtime": "polars", "_duckdb": "duckdb"}


def _unreadable(what: str, text: str) -> DataError:
    if "replace_strict" in text:
        return DataError(f"{what} changed while it was being read; run the job again.", topic="input-changed")
    return DataError(f"{what} cannot be read; it is damaged or not in the format its name says.", topic="file-format")


def _reason(error: OSError) -> str:
    """Return the reason given by the operating system; polars raises OSError with a message only."""
    return error.strerror or str(error).split(" (os error")[0]
