"""``discreet check``: a gate that tables must pass before they are shared or committed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from discreet.cli._help import Command, option
from discreet.cli._options import columns, job_options, once, privacy_models, privacy_options, quiet_option
from discreet.cli._reading import reading_options
from discreet.errors import AuditError

if TYPE_CHECKING:
    from discreet.report.check_result import CheckResult

__all__ = ["check"]


@click.command(
    cls=Command,
    epilog="""\b
Examples:
  discreet check people.csv
  discreet check safe.csv --policy policy.yaml
  discreet check safe.csv --qi zip,sex -k 5 --forbid '*_id'
  discreet check exports/ --policy policy.yaml --format junit -o check.xml
  discreet check 'sqlite:///clinic.db?table=visits' --policy policy.yaml --strict

\b
Without a policy no column may name people or single them out. docs/policies.md lists the keys of a policy.
The exit code is 0 if no rule ends in an error, and 5 if one does.""",
)
@click.argument("tables", metavar="TABLE...", nargs=-1, required=True)
@option(
    "--policy",
    group="privacy",
    metavar="FILE",
    help="The rules, as YAML or JSON; options below replace those of the file.",
)
@job_options("quasi_identifiers", "sensitive")
@privacy_options
@option(
    "--forbid", group="roles", multiple=True, metavar="NAME", help="A column that must not be there; *_id is a pattern."
)
@option(
    "--allow",
    group="roles",
    multiple=True,
    metavar="NAME",
    help="A column that may be there although it could identify.",
)
@option("--unknown", group="roles", metavar="TEXT", help="The mark of a suppressed sensitive value, as in '*'.")
@option(
    "--reference",
    group="table",
    metavar="FILE",
    help="The original table, for promises that compare with it (t-closeness); each TABLE itself otherwise.",
)
@option("--strict", group="output", is_flag=True, help="Warnings fail too.")
@option(
    "--format",
    "layout",
    group="output",
    type=click.Choice(["text", "json", "junit", "sarif"]),
    default="text",
    show_default=True,
    help="What to print or write: for people, programs, test runners or code scanners.",
)
@option("-o", "--output", group="output", metavar="FILE", help="Write the result to a file instead of printing it.")
@reading_options("tables")
@quiet_option
def check(tables: tuple[str, ...], layout: str, output: str | None, strict: bool, quiet: bool, **options: Any) -> None:
    """Check whether each TABLE keeps to a policy: a file, a folder of tables or a table of a database."""
    from discreet.pipeline.check import check_all
    from discreet.runtime.atomic_write import check_target, replacing

    target = None if output is None else check_target(Path(output))
    found = check_all(tables, options["policy"], reference=options["reference"], **_rules(options))
    found = found.strict() if strict else found
    text = _text(found, layout)
    if target is not None:
        with replacing(target) as unfinished:
            unfinished.write_text(f"{text}\n", encoding="utf-8")
        if not quiet:
            click.echo(found.summary().splitlines()[0])
    elif not quiet or layout != "text" or not found.passed:
        click.echo(text)
    if not found.passed:
        click.get_current_context().exit(AuditError.exit_code)


def _text(found: CheckResult, layout: str) -> str:
    """Return the result in one of the formats."""
    if layout == "text":
        return found.summary()
    if layout == "junit":
        return found.to_junit().rstrip()
    return json.dumps(found.to_dict() if layout == "json" else found.to_sarif(), indent=2, ensure_ascii=False)


def _rules(options: dict[str, Any]) -> dict[str, Any]:
    """Return the rules given by options, which replace those of the policy."""
    sensitive = once("--sensitive", columns(options["sensitive"]))
    promised = options["k"] is not None or options["ell"] is not None or options["privacy"]
    rules = {
        "quasi_identifiers": once("--qi", columns(options["quasi_identifiers"])),
        "sensitive": sensitive,
        "privacy": privacy_models(options["k"], options["ell"], options["privacy"], sensitive) if promised else [],
        "forbid": list(options["forbid"]),
        "allow": list(options["allow"]),
        "unknown": options["unknown"],
    }
    return {name: value for name, value in rules.items() if value}
