"""``discreet sample``: made-up people to try things on."""

from __future__ import annotations

import click

from discreet.cli._options import quiet_option
from discreet.runtime.locations import without_password
from discreet.runtime.plurals import amount

__all__ = ["sample"]


@click.command(
    epilog="""\b
Examples:
  discreet sample -n 1000 -o people.csv
  discreet sample -n 10000000 --seed 7 -o people.parquet
  discreet sample -n 1000 -o people.csv --hierarchies hierarchies/""",
)
@click.option(
    "-n",
    "--rows",
    "rows",
    type=click.IntRange(min=0),
    default=1000,
    show_default=True,
    help="How many people.",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Another seed, other people.")
@click.option("-o", "--output", required=True, metavar="FILE", help="Where to write: a file, a folder/ or a table.")
@click.option("--hierarchies", metavar="DIR", help="Also write hierarchies for the columns into this folder.")
@quiet_option
def sample(rows: int, seed: int, output: str, hierarchies: str | None, quiet: bool) -> None:
    """Write a realistic table about people who do not exist.

    The columns depend on each other as in life: schooling on age, work on schooling, illness on age and sex.
    """
    from discreet.pipeline.sample_file import write_sample
    from discreet.samples import write_hierarchies

    write_sample(output, rows, seed)
    if not quiet:
        click.echo(f"wrote {amount(rows, 'made-up person', 'made-up people')} to {without_password(output)}")
    if hierarchies is not None:
        files = write_hierarchies(hierarchies)
        if not quiet:
            click.echo(f"wrote {amount(len(files), 'hierarchy', 'hierarchies')} to {hierarchies}")
