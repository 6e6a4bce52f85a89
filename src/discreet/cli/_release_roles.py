"""The roles of a release's columns, for the commands that measure it: from options, its job or its mapping."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from discreet.cli._help import option
from discreet.cli._options import columns, job_options, once, pairs
from discreet.errors import UsageError

__all__ = ["ReleaseRoles", "generalized_option", "named_roles", "original_tables_option", "release_options"]

original_tables_option = option(
    "--original-table",
    "original_tables",
    group="table",
    multiple=True,
    metavar="NAME=FILE",
    help="A further table of the original, where it is several, named like that of the release. Repeatable.",
)

generalized_option = option(
    "--hierarchy",
    "forms",
    group="table",
    multiple=True,
    metavar="NAME=FORM",
    help="How a column was generalized. Repeatable.",
)

release_options = job_options(
    option(
        "--job",
        group="table",
        metavar="FILE",
        help="The job file of the release, which names its columns and hierarchies.",
    ),
    option(
        "--mapping",
        group="roles",
        metavar="FILE",
        help="The mapping of the release, which defines its released values.",
    ),
)
"""Options that name the job or the mapping of the release."""


@dataclass
class ReleaseRoles:
    """Quasi-identifiers and sensitive columns with their hierarchies, types, the class attribute, and promises."""

    quasi_identifiers: dict[str, Any] = field(default_factory=dict)
    sensitive: dict[str, Any] = field(default_factory=dict)
    types: dict[str, Any] = field(default_factory=dict)
    class_attribute: str | None = None
    privacy: list[str] = field(default_factory=list)
    suppression: str | None = None
    person: str | None = None
    """The column that says whose row it is."""


def named_roles(options: Mapping[str, Any]) -> ReleaseRoles:
    """Return the roles named by ``--qi``, ``--sensitive`` and ``--type``, and otherwise those of the job or mapping."""
    known = _known_roles(options["job"], options["mapping"])
    quasi = once("--qi", columns(options["quasi_identifiers"])) or list(known.quasi_identifiers)
    sensitive = once("--sensitive", columns(options["sensitive"])) or list(known.sensitive)
    return ReleaseRoles(
        {name: known.quasi_identifiers.get(name) for name in quasi},
        {name: known.sensitive.get(name) for name in sensitive},
        {**known.types, **pairs("--type", options["types"])},
        known.class_attribute,
        known.privacy,
        known.suppression,
        known.person,
    )


def _known_roles(job: str | None, mapping: str | None) -> ReleaseRoles:
    """Return the roles that a job or a mapping names."""
    if job is not None and mapping is not None:
        raise UsageError("--job and --mapping both say what the release was made with; name one of them.")
    if mapping is not None:
        from discreet.schema.mapping_file import read_mapping

        fields = read_mapping(mapping)
        return ReleaseRoles(
            dict.fromkeys(fields["columns"]),
            dict.fromkeys(fields["sensitive"]),
            dict(fields["types"]),
            fields["class_attribute"],
            person=fields.get("person") or fields.get("household"),
        )
    if job is not None:
        from discreet.job import Job
        from discreet.pipeline.provenance import job_hierarchies

        known = Job.load(job)
        arguments = known.arguments()
        return ReleaseRoles(
            job_hierarchies({**known.to_dict(), **arguments}),
            dict(arguments["sensitive"]),
            dict(arguments["types"]),
            known.class_attribute,
            list(known.privacy),
            known.suppression,
            known.person or known.household,
        )
    return ReleaseRoles()
