"""``discreet anonymize``: a job told by options."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from discreet.cli._execute import execute
from discreet.cli._options import (
    columns,
    json_option,
    level_pairs,
    once,
    pairs,
    privacy_models,
    privacy_options,
    qi_option,
    quiet_option,
    sensitive_option,
)
from discreet.errors import UsageError

if TYPE_CHECKING:
    from discreet.job import Job

__all__ = ["anonymize"]


@click.command(
    epilog="""\b
Examples:
  discreet anonymize people.csv --qi sex,education,city -k 5 -o safe.csv
  discreet anonymize people.csv -o safe.csv --identifiers person_id,name \\
      --qi birth_date,sex,zip --hierarchy 'birth_date=dates(month, year, decade)' \\
      --hierarchy 'zip=mask(digits=5)' --sensitive diagnosis -k 5 -l 3 \\
      --suppression 'budget(5%)' --report report.json
  discreet anonymize people.csv --qi zip,sex -k 10 -o safe.csv --save-job job.yaml
  discreet anonymize people.csv --qi zip,sex --sensitive diagnosis --scheme subtree \\
      --privacy 'l+(0.25, diagnosis)' --suppression violating-records -o safe.csv
  discreet anonymize people.csv --qi sex,education,marital_status -k 5 -o safe.csv \\
      --scheme subtree --scheme marital_status=set

\b
A hierarchy is text such as intervals(5,10,20), ranges([18,65]), mask(digits=5), dates(month,year),
ordered([low,middle,high]), flat or auto, or the path of a CSV file (leaf first, one line per value).
Columns without one get an automatic hierarchy, and the release says so; those with the scheme ordered
or set need none. Ctrl-C ends the search with the best release so far.""",
)
@click.argument("source", metavar="INPUT")
@click.option("-o", "--output", metavar="FILE", help="Where the release goes; the suffix says the format.")
@qi_option
@click.option("--identifiers", multiple=True, metavar="COLUMNS", help="Columns to leave out: name,id. Repeatable.")
@sensitive_option
@click.option("--class-attribute", metavar="COLUMN", help="The column the cost CM wants to keep predictable.")
@privacy_options
@click.option(
    "--hierarchy", "forms", multiple=True, metavar="NAME=FORM", help="How to generalize a column. Repeatable."
)
@click.option("--hierarchies", metavar="DIR", help="A folder with NAME.csv or *_hierarchy_NAME.csv for the columns.")
@click.option("--type", "types", multiple=True, metavar="NAME=TYPE", help="text, ordered, integer, decimal or date.")
@click.option("--cost", default="LM", show_default=True, metavar="COST", help="What to keep low: LM, DM, NCP, CM, …")
@click.option("--weight", "weights", multiple=True, metavar="NAME=X", help="How much a column counts in the cost.")
@click.option(
    "--suppression",
    default="none",
    show_default=True,
    metavar="KIND",
    help="What may go: none, 'budget(5%)', 'budget(300)', class-records, violating-records, class-values, …",
)
@click.option(
    "--scheme",
    "schemes",
    multiple=True,
    metavar="[NAME=]SCHEME",
    help="How values may be grouped: full-domain (default), subtree, guided-ordered, ordered, guided-set or set; "
    "for all columns or for one. Repeatable.",
)
@click.option("--solver", default="auto", show_default=True, metavar="SOLVER", help="Which algorithm searches.")
@click.option("--min-level", "min_levels", multiple=True, metavar="NAME=N", help="Generalize at least this far.")
@click.option("--max-level", "max_levels", multiple=True, metavar="NAME=N", help="Generalize at most this far.")
@click.option(
    "--missing",
    default="value",
    show_default=True,
    type=click.Choice(["value", "suppress", "error"]),
    help="Missing values: a value of their own, a reason to leave the row out, or an error.",
)
@click.option(
    "--time-limit",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="End the search then.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    metavar="N",
    help="Seed of anything random; by default the system's secure source.",
)
@click.option("--report", "reports", multiple=True, metavar="FILE", help="Write a report: .json or .txt. Repeatable.")
@click.option("--save-job", metavar="FILE", help="Keep all this as a job file for 'discreet run'.")
@click.option("--dry-run", is_flag=True, help="Check everything and say what would be done; write nothing.")
@json_option
@quiet_option
def anonymize(save_job: str | None, dry_run: bool, as_json: bool, quiet: bool, **options: Any) -> None:
    """Make a copy of the table INPUT that is safe to share."""
    job = _job(**options)
    execute(job, dry_run=dry_run, as_json=as_json, quiet=quiet, save_as=save_job)


def _job(
    *,
    source: str,
    output: str | None,
    qi: tuple[str, ...],
    identifiers: tuple[str, ...],
    sensitive: tuple[str, ...],
    class_attribute: str | None,
    k: str | None,
    ell: str | None,
    privacy: tuple[str, ...],
    forms: tuple[str, ...],
    hierarchies: str | None,
    types: tuple[str, ...],
    cost: str,
    weights: tuple[str, ...],
    suppression: str,
    schemes: tuple[str, ...],
    solver: str,
    min_levels: tuple[str, ...],
    max_levels: tuple[str, ...],
    missing: str,
    time_limit: float | None,
    seed: int | None,
    reports: tuple[str, ...],
) -> Job:
    from discreet.job import Job

    attributes, secrets = columns(qi), columns(sensitive)
    if not attributes:
        raise UsageError(f"Which columns could identify a person? Name them with --qi; 'discreet info {source}' helps.")
    given = pairs("--hierarchy", forms)
    for name in given:
        if name not in attributes and name not in secrets:
            raise UsageError(f"--hierarchy names '{name}', which is neither in --qi nor in --sensitive.", column=name)
    found = _files_for([*attributes, *secrets], hierarchies) if hierarchies is not None else {}
    known = {**found, **given}
    return Job(
        input=source,
        output=output,
        identifiers=columns(identifiers),
        quasi_identifiers={name: known.get(name) for name in once("--qi", attributes)},
        sensitive={name: known.get(name) for name in once("--sensitive", secrets)},
        class_attribute=class_attribute,
        types=pairs("--type", types),
        privacy=privacy_models(k, ell, privacy, secrets),
        cost=_weighted(cost, weights),
        suppression=suppression,
        scheme=_schemes(schemes, attributes),
        solver=solver,
        min_levels=level_pairs("--min-level", min_levels),
        max_levels=level_pairs("--max-level", max_levels),
        missing=missing,
        time_limit=time_limit,
        seed=seed,
        report=list(reports),
    )


def _files_for(names: list[str], folder: str) -> dict[str, str]:
    """Find the hierarchy file of each column in a folder, named as people and as ARX name them."""
    place = Path(folder)
    if not place.is_dir():
        raise UsageError(f"--hierarchies: there is no folder '{folder}'.")
    found = {}
    for name in names:
        candidates = [file for file in sorted(place.iterdir()) if _holds(file, name)]
        if len(candidates) > 1:
            listing = " and ".join(f"'{file.name}'" for file in candidates)
            raise UsageError(f"'{folder}' has several hierarchies for '{name}': {listing}.", column=name)
        if candidates:
            found[name] = str(candidates[0])
    return found


def _holds(file: Path, name: str) -> bool:
    return file.suffix.lower() == ".csv" and (file.stem == name or file.stem.endswith(f"_hierarchy_{name}"))


def _weighted(cost: str, weights: tuple[str, ...]) -> str:
    if not weights:
        return cost
    from discreet.problem._text import format_text, parse_text

    name, args, options = parse_text(cost)
    numbers: dict[str, float] = {}
    for column, text in pairs("--weight", weights).items():
        try:
            number = float(text)
        except ValueError:
            raise UsageError(f"--weight of '{column}' must be a number.", column=column) from None
        numbers[column] = int(number) if number.is_integer() else number
    return format_text(name, args, {**options, "weights": {**options.get("weights", {}), **numbers}})


def _schemes(given: tuple[str, ...], attributes: list[str]) -> str | dict[str, str]:
    general = [item for item in given if "=" not in item.partition("(")[0]]
    special = pairs("--scheme", [item for item in given if item not in general])
    if len(general) > 1:
        raise UsageError("--scheme is given twice for all columns; write NAME=SCHEME for single ones.")
    for name in special:
        if name not in attributes:
            raise UsageError(f"--scheme names '{name}', which is not in --qi.", column=name)
    base = general[0] if general else "full-domain"
    return {name: special.get(name, base) for name in attributes} if special else base
