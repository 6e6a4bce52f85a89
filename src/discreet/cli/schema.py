"""``discreet schema``: the JSON Schema of job files and policies, for editors."""

from __future__ import annotations

import json
from pathlib import Path

import click

__all__ = ["schema"]


@click.command(
    epilog="""\b
Examples:
  discreet schema -o discreet-job.schema.json
  discreet schema policy -o discreet-policy.schema.json

\b
Editors use it if the first line of a YAML file is
  # yaml-language-server: $schema=discreet-job.schema.json""",
)
@click.argument("kind", type=click.Choice(["job", "policy"]), default="job")
@click.option("-o", "--output", metavar="FILE", help="Write it to a file instead of printing it.")
def schema(kind: str, output: str | None) -> None:
    """Print the JSON Schema of job files, or of policies, for completion and checks in editors."""
    from discreet.job.json_schema import job_schema, policy_schema
    from discreet.runtime.atomic_write import check_target, replacing

    text = json.dumps(job_schema() if kind == "job" else policy_schema(), indent=2, ensure_ascii=False)
    if output is None:
        click.echo(text)
        return
    with replacing(check_target(Path(output))) as unfinished:
        unfinished.write_text(f"{text}\n", encoding="utf-8")
