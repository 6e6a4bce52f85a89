"""Errors of polars, arrow and the operating system, said in one sentence and without a value of the data.

What the libraries say may quote cells, so their text is looked at but never shown or chained.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import polars as pl

from discreet._replacing import not_written
from discreet.errors import DataError, DiscreetError

__all__ = ["LibraryError", "reading", "writing"]

LibraryError = (pl.exceptions.PolarsError, pl.exceptions.PanicException)


@contextmanager
def reading(what: str, explain: Callable[[str], DiscreetError | None] = lambda _: None) -> Iterator[None]:
    """Turn what goes wrong while ``what`` is read into a DataError; ``explain`` may know the cause."""
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
    """Turn what goes wrong while ``what`` is written into an OutputError."""
    try:
        yield
    except OSError as error:
        raise not_written(what, error) from None
    except LibraryError as error:
        if "os error 28" not in str(error):
            raise
        raise not_written(what, error) from None


def _unreadable(what: str, text: str) -> DataError:
    if "replace_strict" in text:
        return DataError(f"{what} changed while it was being read; run the job again.", topic="input-changed")
    return DataError(f"{what} cannot be read; it is damaged or not in the format its name says.", topic="file-format")


def _reason(error: OSError) -> str:
    """Say what the operating system said; polars raises OSError with a text alone."""
    return error.strerror or str(error).split(" (os error")[0]
