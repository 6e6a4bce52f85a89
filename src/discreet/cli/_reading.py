"""Options that say how to read the table of a command: ``--na``, ``--decimal``, ``--encoding`` and others."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from discreet.cli._options import job_options
from discreet.job.parameters import READING

__all__ = ["reading_options"]


def reading_options(*tables: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add the options to a command; the arguments called ``tables`` are read by them."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def run(**options: Any) -> Any:
            given = {name: options.pop(name) for name in READING}
            return command(**{**options, **{name: _to_read(options[name], given) for name in tables}})

        return job_options(*READING)(run)  # type: ignore[no-any-return]

    return decorate


def _to_read(location: Any, given: dict[str, Any]) -> Any:
    """Return a location, or several, with how to read it."""
    from discreet.runtime.table_path import ReadOptions, TablePath

    options = ReadOptions.make({**given, "na": given["na"] or None})
    if location is None or options == ReadOptions():
        return location
    if isinstance(location, tuple):
        return tuple(TablePath(each, options) for each in location)
    return TablePath(location, options)
