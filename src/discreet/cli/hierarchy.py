"""``discreet hierarchy``: make, check and show the trees by which columns are generalized."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from discreet.cli._options import quiet_option
from discreet.cli._reading import reading_options
from discreet.errors import MissingColumnError, UsageError
from discreet.runtime.plurals import amount, either

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    from discreet.schema import Hierarchy

__all__ = ["hierarchy"]


@click.group(
    epilog="""\b
Examples:
  discreet hierarchy make people.csv --column income --with 'intervals(10000, 50000)' -o income.csv
  discreet hierarchy show income.csv
  discreet hierarchy check income.csv --data people.csv --column income""",
)
def hierarchy() -> None:
    """Make, check and show hierarchies.

    A hierarchy file has one line per value: the value, then ever more general names for it.
    """


@hierarchy.command(
    epilog="""\b
Examples:
  discreet hierarchy make people.csv --column zip --with 'mask(digits=5)' -o zip.csv
  discreet hierarchy make people.csv --column birth_date --with 'dates(month, year)' -o birth_date.csv
  discreet hierarchy make people.csv --column occupation -o occupation.csv

Without --with the hierarchy is automatic: a start to be edited by hand. The file lists every value of
the column, so keep it as safe as the data.""",
)
@click.argument("file", metavar="FILE")
@click.option("--column", required=True, metavar="NAME", help="The column to make a hierarchy for.")
@click.option("--with", "form", metavar="FORM", help="How: intervals(5,10), mask(digits=5), dates(month,year), auto, …")
@click.option("-o", "--output", required=True, metavar="FILE", help="Where to write the hierarchy.")
@reading_options("file")
@quiet_option
def make(file: str, column: str, form: str | None, output: str, quiet: bool) -> None:
    """Make a hierarchy for a column of the table FILE."""
    from pathlib import Path

    from discreet.job.files import files_at
    from discreet.pipeline.output import check_distinct_files
    from discreet.schema import Hierarchy, LevelBuilder, as_hierarchy, infer_type

    check_distinct_files([Path(output)], files_at(file))
    values, rows = _values(file, column)
    present = values.is_not_null()
    values, rows = values.filter(present), rows[present.to_numpy()]
    recipe = as_hierarchy(form)
    if isinstance(recipe, Hierarchy):
        raise UsageError("--with takes a way to make a hierarchy, as in intervals(5, 10), not a file.")
    kind = infer_type(values)
    if isinstance(recipe, LevelBuilder):
        tree = recipe.build(values, kind, column, rows=rows)
    else:
        tree = recipe.build(values, kind, column)
    tree.to_csv(output)
    if not quiet:
        click.echo(f"wrote {_size(tree)} to {output}")


@hierarchy.command(
    epilog="""\b
Examples:
  discreet hierarchy check zip.csv
  discreet hierarchy check zip.csv --data people.csv --column zip""",
)
@click.argument("file", metavar="HIERARCHY")
@click.option("--data", metavar="FILE", help="A table whose values must all be in the hierarchy.")
@click.option("--column", metavar="NAME", help="The column of that table.")
@quiet_option
def check(file: str, data: str | None, column: str | None, quiet: bool) -> None:
    """Check that the file HIERARCHY is a tree, and that it covers a column."""
    from discreet.schema import Hierarchy, make_domain

    if (data is None) != (column is None):
        raise UsageError("--data and --column go together.")
    tree = Hierarchy.from_csv(file)
    lines = [f"{file} is a tree of {_size(tree)}"]
    if data is not None and column is not None:
        values, rows = _values(data, column)
        domain = make_domain(column, values, tree, rows=rows)
        unused = len(tree.leaves) - len(set(domain.codes[~values.is_null().to_numpy()].tolist()))
        known = len(values.drop_nulls())
        lines.append(
            f"it covers {either(known, 'the one value', f'all {known:,} values')} of '{column}'; "
            f"{amount(unused, 'leaf', 'leaves')} {either(unused, 'does', 'do')} not occur"
        )
    if not quiet:
        click.echo("\n".join(lines))


@hierarchy.command(
    epilog="""\b
Examples:
  discreet hierarchy show zip.csv
  discreet hierarchy show zip.csv --depth 2""",
)
@click.argument("file", metavar="HIERARCHY")
@click.option("--depth", type=click.IntRange(min=1), metavar="N", help="Show the N highest levels only.")
@click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True, help="Children shown of a node.")
def show(file: str, depth: int | None, limit: int) -> None:
    """Draw the file HIERARCHY as a tree."""
    from discreet.schema import Hierarchy

    click.echo(Hierarchy.from_csv(file).show(limit=limit, depth=depth))


def _values(file: str, column: str) -> tuple[pl.Series, NDArray[np.int64]]:
    """Return the distinct values of a column and how many rows have each."""
    from discreet.engines import open_source

    source = open_source(file)
    if column not in source.columns:
        raise MissingColumnError(column, source.columns)
    counted = source.count([column])
    return counted.to_series(0), counted.to_series(1).to_numpy()


def _size(tree: Hierarchy) -> str:
    return f"{amount(len(tree.leaves), 'value')} and {amount(tree.height, 'level')} above them"
