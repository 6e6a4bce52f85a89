"""Loading the search of a job while its table is read and counted.

The first time ever the search is compiled, which takes longer than most tables. Reading and counting is the work of an
engine, which leaves Python alone, so both go on at the same time.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import copy_context
from threading import Thread
from typing import Any

from discreet.engines import FileSource, InMemorySource, Source
from discreet.job.settings import JobSettings
from discreet.problem import Problem, Scheme
from discreet.schema import Schema

__all__ = ["load_ahead"]

_LARGE = 1 << 26
"""The bytes of a file that takes so long to read that it is worth starting a thread."""


def load_ahead(settings: JobSettings, schema: Schema, schemes: Mapping[str, Scheme], source: Source) -> Thread | None:
    """Start to load the search of a job if its table is large; a search waits for what is being loaded."""
    parts = (*settings.privacy, settings.cost, settings.suppression, *schemes.values())
    own = all(type(part).__module__.startswith("discreet.") for part in parts)
    if not own or not isinstance(settings.solver, str) or not _is_large(source):
        return None
    thread = Thread(target=copy_context().run, args=(_load, settings, schema, schemes), daemon=True)
    thread.start()
    return thread


def _is_large(source: Source) -> bool:
    """Whether a table takes a while to count: a large file, or rows that another engine has."""
    if isinstance(source, FileSource):
        return source.file.text_size >= _LARGE
    return not isinstance(source, InMemorySource)


def _load(settings: JobSettings, schema: Schema, schemes: Mapping[str, Scheme]) -> None:
    """Load the modules and kernels for a tiny problem with the same choices; errors of the job are raised elsewhere."""
    from discreet.solve import Budget, choose_solver, listening, stand_in

    def in_silence(_: Any) -> None:
        """Show nothing: whoever waits for it does."""

    table = stand_in(list(schema.quasi_identifiers), list(schema.sensitive), schema.class_attribute)
    try:
        with listening(in_silence):
            problem = Problem.build(
                table,
                privacy=settings.privacy,
                cost=settings.cost,
                suppression=settings.suppression,
                scheme=schemes,
            )
            choose_solver(problem, settings.solver).solve(problem, Budget(time_limit=0.0, seed=0))
    except Exception:  # the search itself loads what it needs
        return
