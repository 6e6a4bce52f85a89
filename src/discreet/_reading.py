"""Reading small files of our own, such as jobs and mappings: what is not there is told as for tables."""

from __future__ import annotations

from pathlib import Path

from discreet.errors import DataError

__all__ = ["read_text"]


def read_text(path: Path, what: str) -> str:
    """Return the text of a file, ``what`` it is; UnicodeDecodeError is left to the caller, who knows what it is."""
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise DataError(f"There is no {what} '{path}'.", topic="no-such-file") from None
    except IsADirectoryError:
        raise DataError(f"'{path}' is a folder; name a file in it.", topic="no-such-file") from None
    except OSError as error:
        raise DataError(f"The {what} '{path}' cannot be read ({error.strerror}).") from None
