"""The parameters of a job: what each one says, and how the command line spells it.

Names are those of the arguments of :func:`discreet.anonymize` and of the keys of a job file. Their types and defaults
are the fields of :class:`discreet.Job`; a test keeps both in step. This module is imported by ``discreet --help`` and
imports nothing heavy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["NOT_OF_FRONTS", "PAGES", "PARAMETERS", "READING", "TARGETS", "OptionGroup", "Parameter", "option_of"]

Kind = Literal[
    "text",
    "texts",
    "columns",
    "roles",
    "texts by column",
    "levels by column",
    "choice",
    "seconds",
    "seed",
    "count",
    "flag",
    "switch",
]
"""What a parameter takes: ``roles`` are columns with an optional hierarchy each."""


OptionGroup = Literal["table", "roles", "privacy", "quality", "output"]
"""The groups of options in the help of a command, in their order."""


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
    group: OptionGroup = "table"
    """The group of its option in the help of a command."""
    of_key: str | None = None
    """What its key in a job file is about, where that is not what the option says."""


PARAMETERS: dict[str, Parameter] = {
    "input": Parameter("The table: a file, a folder, a pattern of names or a table of a database."),
    "tables": Parameter(
        "A further table about the same people, linked by --person: visits=visits.csv. Repeatable.",
        "texts by column",
        "NAME=FILE",
        "--table",
        of_key="Further tables about the same people by name, linked by the column person.",
    ),
    "output": Parameter(
        "Where to write the release: a file, a folder/ or a database table.", metavar="FILE", group="output"
    ),
    "quasi_identifiers": Parameter(
        "Columns others may know about a person: age,zip,sex. Repeatable.", "roles", "COLUMNS", "--qi", group="roles"
    ),
    "identifiers": Parameter("Columns to leave out: name,id. Repeatable.", "columns", "COLUMNS", group="roles"),
    "sensitive": Parameter(
        "Columns nobody may learn about a person; a release has them as they are. Repeatable.",
        "roles",
        "COLUMNS",
        group="roles",
    ),
    "keep": Parameter("Columns to release as they are, confirmed. Repeatable.", "columns", "COLUMNS", group="roles"),
    "person": Parameter(
        "The column that says whose row it is: promises count people, not rows, and it does not leave.",
        metavar="COLUMN",
        group="roles",
    ),
    "household": Parameter(
        "The column with the household of each person: promises count households, and it does not leave.",
        metavar="COLUMN",
        group="roles",
    ),
    "pseudonyms": Parameter(
        "Release the person and the household as random pseudonyms instead of leaving them out.",
        "switch",
        group="roles",
    ),
    "weights": Parameter("Survey weights: how many people each row represents.", metavar="COLUMN"),
    "population": Parameter("A table of the people the rows were drawn from.", metavar="FILE"),
    "against": Parameter(
        "An earlier release: keep the promises together with it. Repeatable.", "texts", "FILE", group="privacy"
    ),
    "class_attribute": Parameter("The column the cost CM wants to keep predictable.", metavar="COLUMN", group="roles"),
    "types": Parameter(
        "text, ordered, integer, decimal or date.",
        "texts by column",
        "NAME=TYPE",
        "--type",
        of_key="The type of a column: text, ordered, integer, decimal or date.",
    ),
    "derive": Parameter(
        "Replace a column before all else: shift_dates(person=COLUMN) or pseudonym. Repeatable.",
        "texts by column",
        "NAME=FORM",
    ),
    "cost": Parameter("What to keep low: LM (the default), DM, NCP, CM, score, …", metavar="COST", group="quality"),
    "na": Parameter("A text that means a missing value, as in NA or ?. Repeatable.", "texts", "TEXT"),
    "decimal": Parameter("The decimal mark of numbers in text, a point or a comma.", metavar="MARK", default="."),
    "encoding": Parameter("The encoding of text that is not UTF-8, such as latin1 or cp1252.", metavar="NAME"),
    "date_format": Parameter("How dates are written, as in %d.%m.%Y.", metavar="FORMAT"),
    "sheet": Parameter("The sheet of an Excel file; the first one otherwise.", metavar="NAME"),
    "missing_codes": Parameter(
        "Missing-value codes of an SPSS file: values that are kept, or missing values.",
        "choice",
        choices=("keep", "missing"),
        default="keep",
    ),
    "priorities": Parameter("How much a column matters.", "levels by column", "NAME=N", "--priority", group="quality"),
    "keep_at_least": Parameter(
        "The highest level a column may be generalized to.", "levels by column", "NAME=N", group="quality"
    ),
    "min_levels": Parameter(
        "Generalize at least this far.", "levels by column", "NAME=N", "--min-level", group="quality"
    ),
    "max_levels": Parameter(
        "Generalize at most this far.", "levels by column", "NAME=N", "--max-level", group="quality"
    ),
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
    "time_limit": Parameter(
        "End the search then; the scheme best ends after 60 by default.", "seconds", "SECONDS", group="quality"
    ),
    "threads": Parameter(
        "How many cores a long search may use; by default all there are.", "count", "N", group="quality"
    ),
    "engine": Parameter(
        "Who works on the file: polars by itself, or DuckDB or Spark.",
        "choice",
        choices=("auto", "polars", "duckdb", "spark"),
        default="auto",
    ),
    "memory_limit": Parameter("The memory DuckDB may use, as in 4GB; the rest is spilled to disk.", metavar="SIZE"),
    "spark": Parameter("Where Spark runs, as in 'local[4]' or spark://host:7077.", "text", "URL", "--spark-master"),
    "privacy": Parameter(
        "A privacy model, such as 'entropy-l(3, disease)' or 't(0.2, disease)'. Repeatable.",
        "texts",
        "MODEL",
        group="privacy",
    ),
    "suppression": Parameter(
        "What may go: none, 'budget(5%)', 'budget(300)', class-records, violating-records, class-values, …",
        metavar="KIND",
        default="none",
        group="privacy",
    ),
    "scheme": Parameter(
        "How values may be grouped: full-domain (default), subtree, guided-ordered, ordered, guided-set or set, for "
        "all columns or for one (repeatable); local, or cells (single values hidden), for all; or best, which tries "
        "several.",
        "texts",
        "[NAME=]SCHEME",
        group="quality",
        of_key="How values may be grouped, for all columns or by column; local, cells and best are for all.",
    ),
    "solver": Parameter("Which algorithm searches.", metavar="SOLVER", default="auto", group="quality"),
    "seed": Parameter(
        "Seed of anything random, as secret as the data; by default one is drawn, and --save-job keeps it.",
        "seed",
        "N",
        group="quality",
        of_key="Seed of anything random, as secret as the data; by default one is drawn.",
    ),
    "order": Parameter(
        "The order rows are written in.", "choice", choices=("random", "keep"), default="random", group="output"
    ),
    "report": Parameter("Write a report: .html, .pdf, .md, .txt or .json.", "texts", "FILE", group="output"),
    "protection_page": Parameter(
        "Write one page for the data protection officer to sign: .html, .pdf or .md.", "texts", "FILE", group="output"
    ),
    "internal_page": Parameter(
        "The same with exact figures about the whole table. Keep it as safe as the data.",
        "texts",
        "FILE",
        group="output",
    ),
    "purpose": Parameter(
        "What the release is for, as the data protection page says it.", metavar="TEXT", group="output"
    ),
    "recipient": Parameter(
        "Who gets the release, as the data protection page says it.", metavar="TEXT", group="output"
    ),
    "certificate": Parameter(
        "Write what was promised and reached, with checksums, to check it later: .json.", metavar="FILE", group="output"
    ),
    "mapping": Parameter(
        "Write what each value became, for 'discreet apply': .json. Keep it as safe as the data.",
        metavar="FILE",
        group="output",
    ),
    "overwrite": Parameter(
        "Refuse to replace files and tables that exist already.",
        "flag",
        option="--no-overwrite",
        group="output",
        of_key="Whether to replace files and tables that exist already.",
    ),
    "key": Parameter(
        "Your key, made if it is not there: it keeps digests of the input secret. Never hand it over.",
        metavar="FILE",
        group="output",
    ),
}

PAGES = ("protection_page", "internal_page", "purpose", "recipient")
"""Parameters of the data protection page."""
TARGETS = ("output", "report", *PAGES, "certificate", "mapping", "key")
"""Parameters that name files to write and what they say, and the owner's key."""
NOT_OF_FRONTS = ("privacy", "solver", "seed", "order", "overwrite", "against")
"""Parameters of a job that :func:`discreet.pareto` takes in another form, or not at all."""
READING = ("na", "decimal", "encoding", "date_format", "sheet", "missing_codes")
"""Parameters that say how to read a file; :func:`discreet.table` takes them too."""


def option_of(name: str) -> str:
    """Return the command-line option of a parameter.

    >>> option_of("min_levels"), option_of("time_limit"), option_of("held_out")
    ('--min-level', '--time-limit', '--held-out')
    """
    known = PARAMETERS.get(name)
    return known.option if known is not None and known.option is not None else f"--{name.replace('_', '-')}"
