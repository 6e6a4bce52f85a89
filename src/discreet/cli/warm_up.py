"""``discreet warm-up``: compile searches ahead of the first job."""

from __future__ import annotations

import time

import click

from discreet.cli._options import quiet_option

__all__ = ["warm_up"]


@click.command(
    "warm-up",
    epilog="""\b
Examples:
  discreet warm-up                        all searches, once, for an image or after an update
  discreet warm-up full-domain pareto     those two alone
  discreet warm-up local --jobs 4""",
)
@click.argument("kinds", nargs=-1, metavar="[KIND]...")
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Processes to share the work.")
@click.option("--native", is_flag=True, help="For this very processor, even what came compiled with the installation.")
@quiet_option
def warm_up(kinds: tuple[str, ...], jobs: int, native: bool, quiet: bool) -> None:
    """Compile searches now rather than at their first job.

    A KIND is a scheme (full-domain, subtree, local, ..., or best for those it tries), a solver, or pareto; without one
    all searches are compiled.
    What is compiled already, or came with the installation, is only loaded. The compiled code goes to the folder
    ~/.cache/discreet, or where XDG_CACHE_HOME says.
    """
    from discreet.cli._watch import Watch
    from discreet.job.settings import is_best
    from discreet.pipeline.best_scheme import CANDIDATES
    from discreet.solve import compile_ahead

    searches: list[str] = []
    for kind in kinds:
        searches += CANDIDATES if is_best(kind) else [kind]
    began = time.monotonic()
    with Watch(quiet) as watch, watch.budget.paused():
        compile_ahead(searches, jobs=jobs, native=native)
    if not quiet:
        click.echo(f"ready in {time.monotonic() - began:.1f} s: {', '.join(kinds) if kinds else 'all searches'}")
