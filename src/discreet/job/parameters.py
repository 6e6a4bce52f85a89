"""The parameters of a job: what each one says, and how the command line spells it.

Names are those of the arguments of :func:`discreet.anonymize` and of the keys of a job file. Their types and defaults
are the fields of :class:`discreet.Job`; a test keeps both in step. This module is imported by ``discreet --help`` and
imports nothing heavy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["NOT_OF_FRONTS", "PARAMETERS", "TARGETS", "Parameter", "option_of"]

Kind = Literal[
    "text", "texts", "columns", "roles", "texts by column", "levels by column", "choice", "seconds", "seed", "count"
]
"""What a parameter takes: ``roles`` are columns with an optional hierarchy each."""


@dataclass(frozen=True)
class Parameter:
    """One parameter of a job."""

    about: str
    kind: Kind = "text"
    metavar: str | None = None
    option: str | None = None
    """Its option on the command line, where that is not ``--`` and the name."""
    choices: tuple[str, ...] = ()
    default: str | None = None
    """The default to show on the command line."""


PARAMETERS: dict[str, Parameter] = {
    "input": Parameter("The table: a file, a folder, a pattern of names or a table of a database."),
    "output": Parameter("Where to write the release: a file, a folder/ or a database table.", metavar="FILE"),
    "quasi_identifiers": Parameter(
        "Columns others may know about a person: age,zip,sex. Repeatable.", "roles", "COLUMNS", "--qi"
    ),
    "identifiers": Parameter("Columns to leave out: name,id. Repeatable.", "columns", "COLUMNS"),
    "sensitive": Parameter(
        "Columns nobody may learn about a person; a release has them as they are. Repeatable.", "roles", "COLUMNS"
    ),
    "keep": Parameter("Columns to release as they are, confirmed. Repeatable.", "columns", "COLUMNS"),
    "weights": Parameter("Survey weights: how many people each row represents.", metavar="COLUMN"),
    "population": Parameter("A table of the people the rows were drawn from.", metavar="FILE"),
    "class_attribute": Parameter("The column the cost CM wants to keep predictable.", metavar="COLUMN"),
    "types": Parameter("text, ordered, integer, decimal or date.", "texts by column", "NAME=TYPE", "--type"),
    "cost": Parameter("What to keep low: LM (the default), DM, NCP, CM, score, …", metavar="COST"),
    "priorities": Parameter("How much a column matters.", "levels by column", "NAME=N", "--priority"),
    "keep_at_least": Parameter("The highest level a column may be generalized to.", "levels by column", "NAME=N"),
    "min_levels": Parameter("Generalize at least this far.", "levels by column", "NAME=N", "--min-level"),
    "max_levels": Parameter("Generalize at most this far.", "levels by column", "NAME=N", "--max-level"),
    "missing": Parameter(
        "Missing values: a value of their own, a reason to leave the row out, or an error.",
        "choice",
        choices=("value", "suppress", "error"),
        default="value",
    ),
    "missing_sensitive": Parameter(
        "Missing sensitive values: unknown, so that no promise counts them as values, or one more value.",
        "choice",
        choices=("unknown", "value"),
        default="unknown",
    ),
    "time_limit": Parameter("End the search then.", "seconds", "SECONDS"),
    "threads": Parameter("How many cores a long search may use; by default all there are.", "count", "N"),
    "engine": Parameter(
        "Who works on the file: polars by itself, or DuckDB or Spark.",
        "choice",
        choices=("auto", "polars", "duckdb", "spark"),
        default="auto",
    ),
    "memory_limit": Parameter("The memory DuckDB may use, as in 4GB; the rest is spilled to disk.", metavar="SIZE"),
    "spark": Parameter("Where Spark runs, as in 'local[4]' or spark://host:7077.", "text", "URL", "--spark-master"),
    "privacy": Parameter(
        "A privacy model, such as 'entropy-l(3, disease)' or 't(0.2, disease)'. Repeatable.", "texts", "MODEL"
    ),
    "suppression": Parameter(
        "What may go: none, 'budget(5%)', 'budget(300)', class-records, violating-records, class-values, …",
        metavar="KIND",
        default="none",
    ),
    "scheme": Parameter(
        "How values may be grouped: full-domain (default), subtree, guided-ordered, ordered, guided-set or set, for "
        "all columns or for one (repeatable); local, for all; or best, which tries several.",
        "texts",
        "[NAME=]SCHEME",
    ),
    "solver": Parameter("Which algorithm searches.", metavar="SOLVER", default="auto"),
    "seed": Parameter(
        "Seed of anything random, as secret as the data; by default one is drawn, and --save-job keeps it.", "seed", "N"
    ),
    "order": Parameter("The order rows are written in.", "choice", choices=("random", "keep"), default="random"),
    "report": Parameter("Write a report: .html, .pdf, .md, .txt or .json.", "texts", "FILE"),
    "certificate": Parameter(
        "Write what was promised and reached, with checksums, to check it later: .json.", metavar="FILE"
    ),
    "mapping": Parameter(
        "Write what each value became, for 'discreet apply': .json. Keep it as safe as the data.", metavar="FILE"
    ),
    "key": Parameter(
        "Your key, made if it is not there: it keeps digests of the input secret. Never hand it over.", metavar="FILE"
    ),
}

TARGETS = ("output", "report", "certificate", "mapping", "key")
"""Parameters that name files to write, and the owner's key."""
NOT_OF_FRONTS = ("privacy", "solver", "seed", "order")
"""Parameters of a job that :func:`discreet.pareto` takes in another form, or not at all."""


def option_of(name: str) -> str:
    """Return the command-line option of a parameter.

    >>> option_of("min_levels"), option_of("time_limit"), option_of("held_out")
    ('--min-level', '--time-limit', '--held-out')
    """
    known = PARAMETERS.get(name)
    return known.option if known is not None and known.option is not None else f"--{name.replace('_', '-')}"
