"""What a release was made with, for the commands that measure it: known from its job or its mapping."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from discreet.errors import UsageError

__all__ = ["job_roles", "known_options"]

F = TypeVar("F", bound=Callable[..., Any])


def known_options(command: F) -> F:
    """Add the options that name the job and the mapping of the release."""
    for option in (
        click.option(
            "--mapping",
            metavar="FILE",
            help="The mapping of the release, which says what its values stand for.",
        ),
        click.option(
            "--job", metavar="FILE", help="The job file of the release, which names its columns and hierarchies."
        ),
    ):
        command = option(command)
    return command


def job_roles(job: str | None, mapping: str | None) -> dict[str, Any]:
    """Return the quasi-identifiers, sensitive columns, types and class attribute that a job or a mapping names."""
    if job is not None and mapping is not None:
        raise UsageError("--job and --mapping both say what the release was made with; name one of them.")
    if mapping is not None:
        from discreet.release._mapping import read_mapping

        told = read_mapping(mapping)
        return {
            "quasi_identifiers": dict.fromkeys(told.get("columns") or {}),
            "sensitive": dict.fromkeys(told.get("sensitive") or {}),
            "types": dict(told.get("types") or {}),
            "class_attribute": told.get("class_attribute"),
        }
    if job is not None:
        from discreet.job import Job
        from discreet.release._behind import job_hierarchies

        known = Job.load(job)
        arguments = known.arguments()
        return {
            "quasi_identifiers": job_hierarchies({**known.told(), **arguments}),
            "sensitive": dict(arguments["sensitive"]),
            "types": dict(arguments["types"] or {}),
            "class_attribute": arguments["class_attribute"],
        }
    return {"quasi_identifiers": {}, "sensitive": {}, "types": {}, "class_attribute": None}
