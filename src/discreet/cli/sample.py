"""``discreet sample``: made-up people to try things on."""

from __future__ import annotations

import click

from discreet.cli._options import quiet_option
from discreet.errors import UsageError
from discreet.runtime.locations import without_password
from discreet.runtime.plurals import amount

__all__ = ["sample"]


@click.command(
    epilog="""\b
Examples:
  discreet sample -n 1000 -o people.csv
  discreet sample -n 10000000 --seed 7 -o people.parquet
  discreet sample -n 1000 -o people.csv --hierarchies hierarchies/
  discreet sample --visits -o visits.csv
  discreet sample --visits --people people.csv -o visits.csv""",
)
@click.option(
    "-n",
    "--rows",
    "rows",
    type=click.IntRange(min=0),
    help="How many people, or visits.  [default: 1000 people, 100000 visits]",
)
@click.option("--visits", is_flag=True, help="Visits to a hospital instead: seven people make ten of them.")
@click.option("--people", metavar="FILE", help="With --visits: write what is the same in all visits of a person here.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Another seed, other people.")
@click.option("-o", "--output", required=True, metavar="FILE", help="Where to write: a file, a folder/ or a table.")
@click.option("--hierarchies", metavar="DIR", help="Also write hierarchies for the columns into this folder.")
@quiet_option
def sample(
    rows: int | None,
    visits: bool,
    people: str | None,
    seed: int,
    output: str,
    hierarchies: str | None,
    quiet: bool,
) -> None:
    """Write a realistic table about people who do not exist.

    The columns depend on each other as in life: schooling on age, work on schooling, illness on age and sex.
    """
    from discreet.pipeline.sample_file import write_sample
    from discreet.samples import people_of, visits_alone, write_hierarchies

    if people is not None and not visits:
        raise UsageError("--people is the table of those who make visits; add --visits.")
    number = (100_000 if visits else 1000) if rows is None else rows
    if people is None:
        write_sample(output, number, seed, visits=visits)
    else:
        write_sample(people, number, seed, visits=True, part=people_of)
        write_sample(output, number, seed, visits=True, part=visits_alone)
    if not quiet:
        what = ("made-up visit",) if visits else ("made-up person", "made-up people")
        click.echo(f"wrote {amount(number, *what)} to {without_password(output)}")
        if people is not None:
            click.echo(f"wrote the people who made them to {without_password(people)}")
    if hierarchies is not None:
        files = write_hierarchies(hierarchies)
        if not quiet:
            click.echo(f"wrote {amount(len(files), 'hierarchy', 'hierarchies')} to {hierarchies}")
