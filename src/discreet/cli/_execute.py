"""Doing a job on behalf of ``anonymize`` and ``run``: watched, or only checked."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import click

from discreet._places import Place, is_url, shown
from discreet.errors import InterruptedRun, UsageError

if TYPE_CHECKING:
    from discreet.job import Job

__all__ = ["execute"]


def execute(job: Job, *, dry_run: bool, as_json: bool, quiet: bool, save_as: str | None = None) -> None:
    """Do the job, or with ``dry_run`` say what it would do."""
    if dry_run:
        job.check_targets(save_as)
        plan = job.plan()
        if save_as is not None:
            job.save(save_as)
        if as_json:
            click.echo(json.dumps(plan.to_dict(), indent=2, ensure_ascii=False))
        elif not quiet:
            click.echo(plan.summary())
            if save_as is not None:
                click.echo(f"The job is in {_told(save_as)}.")
        return
    if job.output is None:
        raise UsageError("Where should the release go? Name a file with -o, or as output in the job file.")

    from discreet.cli._watch import Watch

    with Watch(quiet) as watch:
        job.check_targets(save_as)
        if save_as is not None:
            job.save(save_as)
        release = job.run(progress=watch, budget=watch.budget)
    if watch.interrupted:
        click.echo("discreet: stopped early; the best release found so far was written.", err=True)
    if as_json:
        click.echo(json.dumps(release.to_dict(), indent=2, ensure_ascii=False))
    elif not quiet:
        click.echo(release.summary())
        click.echo(f"The release is in {_told(job.locate(job.output) or job.output)}.")
        for report in job.report:
            click.echo(f"The report is in {_told(job.locate(report) or report)}.")
    if watch.interrupted:
        click.get_current_context().exit(InterruptedRun.exit_code)


def _told(place: Place) -> str:
    """Return a place for people."""
    if is_url(place):
        return shown(place)
    return os.path.normpath(place) + ("/" if str(place).endswith("/") else "")
