"""A project as files that repeat it: a job file with its hierarchies, and a Python script."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from discreet.engines import format_of
from discreet.job import Job
from discreet.job.job_file import write_fields
from discreet.job.owner_key import KEY_FILE, draw_seed
from discreet.job.parameters import NOT_OF_FRONTS
from discreet.job.settings import is_best
from discreet.problem import make_schemes
from discreet.schema import Hierarchy, Role
from discreet.studio._project import Project
from discreet.studio._settings import Settings
from discreet.studio._workspace import safe_name

__all__ = [
    "FRONT_JOB",
    "JOB",
    "MAPPING",
    "has_mapping",
    "hierarchy_files",
    "job_fields",
    "released_name",
    "script",
    "write_job",
]

JOB, FRONT_JOB, MAPPING = "job.yaml", "front.yaml", "mapping.json"
"""The job file, that of the front from which a release was chosen, and the mapping."""
_HIERARCHIES = "hierarchies"
_LIMITS = ("weights", "priorities", "keep_at_least", "min_levels")


def released_name(file: Path) -> str:
    """File name of the release of a table.

    >>> released_name(Path("people.csv.gz")), released_name(Path("people.parquet"))
    ('people-released.csv', 'people-released.csv')
    """
    stem = file.name.partition(".")[0]
    return f"{stem}-released.{'tsv' if format_of(file).separator == chr(9) else 'csv'}"


def job_fields(settings: Settings, file: Path) -> dict[str, Any]:
    """Settings as fields of a job; edited hierarchies are given as paths of files to be written."""
    quasi = settings.columns(Role.QUASI_IDENTIFIER)
    known = settings.columns(Role.SENSITIVE)
    classes = settings.columns(Role.CLASS)
    people, households = settings.columns(Role.PERSON), settings.columns(Role.HOUSEHOLD)
    goals = settings.goals
    limited = {name: _only(getattr(goals, name), quasi) for name in _LIMITS}
    fields = type(goals)(**{**vars(goals), **limited}).job()
    released = [*quasi, *known, *classes]
    trees = hierarchy_files(settings)
    flat = _without_trees(settings)
    removed = settings.columns(Role.IDENTIFIER)
    return {
        "input": file.name,
        "output": released_name(file),
        "identifiers": removed,
        "quasi_identifiers": {column: None if column in flat else _form(settings, column, trees) for column in quasi},
        "sensitive": {column: _form(settings, column, trees) for column in known},
        "class_attribute": classes[0] if classes else None,
        "person": people[0] if people else None,
        "household": households[0] if households else None,
        "pseudonyms": settings.pseudonyms and bool(people or households),
        "keep": [column for column in settings.columns(Role.INSENSITIVE) if column in settings.keep],
        "types": {column: kind for column, kind in settings.types.items() if column in released},
        "derive": {column: form for column, form in settings.derive.items() if column not in removed},
        **settings.reading.to_dict(),
        **fields,
    }


def hierarchy_files(settings: Settings) -> dict[str, str]:
    """Path of the file of each edited hierarchy; numbered, since column names may be any text."""
    flat = _without_trees(settings)
    trees = [
        column for column, form in settings.hierarchies.items() if isinstance(form, Hierarchy) and column not in flat
    ]
    return {
        column: f"{_HIERARCHIES}/{number}-{safe_name(column, 'column').replace('.', '_')}.csv"
        for number, column in enumerate(trees, start=1)
    }


def _without_trees(settings: Settings) -> list[str]:
    """Columns that are made coarser without their trees, since the scheme shows a value or hides it."""
    if is_best(settings.goals.scheme):
        return []
    chosen = make_schemes(settings.goals.scheme)
    schemes = chosen if isinstance(chosen, Mapping) else dict.fromkeys(settings.roles, chosen)
    quasi = settings.columns(Role.QUASI_IDENTIFIER)
    return [column for column in quasi if column in schemes and schemes[column].flat]


def _form(settings: Settings, column: str, trees: Mapping[str, str]) -> str | None:
    form = settings.hierarchies.get(column)
    return trees[column] if isinstance(form, Hierarchy) else form


def _only(choices: Mapping[str, Any], columns: list[str]) -> dict[str, Any]:
    return {column: choice for column, choice in choices.items() if column in columns}


def write_job(project: Project, settings: Settings, folder: Path) -> Job:
    """Write a job file and everything it needs into a folder, so that it runs there."""
    file = project.table.file
    try:
        os.link(file, folder / file.name)
    except OSError:  # the file system has no hard links
        (folder / file.name).write_bytes(file.read_bytes())
    for column, name in hierarchy_files(settings).items():
        (folder / _HIERARCHIES).mkdir(exist_ok=True)
        tree = settings.hierarchies[column]
        assert isinstance(tree, Hierarchy)
        tree.to_csv(folder / name)
    documents = {"report": ["report.html"], "certificate": "certificate.json", "key": KEY_FILE}
    fields = {**job_fields(settings, file), **documents}
    if fields["seed"] is None:
        fields["seed"] = draw_seed()  # the files must repeat what was done
    if not is_best(fields["scheme"]) and has_mapping(fields):
        fields["mapping"] = MAPPING
    write_fields(folder / JOB, Job(**fields).model_dump(exclude_defaults=True), private=True)
    return Job.load(folder / JOB)


def has_mapping(job: Mapping[str, Any]) -> bool:
    """Return whether the release of a job has a mapping: equal values must be recoded alike, whoever they are of."""
    schemes = make_schemes(job["scheme"])
    chosen = list(schemes.values()) if isinstance(schemes, Mapping) else [schemes]
    by_value = not (job["person"] or job["household"] or job["derive"])
    by_class = job["suppression"].startswith(("none", "budget", "class-rec"))
    return by_value and by_class and all(each.is_global for each in chosen)


def script(
    job: Mapping[str, Any],
    trees: Mapping[str, Hierarchy],
    point: int | None = None,
    axes: Sequence[str] = (),
    *,
    for_spreadsheets: bool = False,
) -> str:
    """Python script that repeats a job. Edited hierarchies are part of it, so it needs only the table.

    ``point`` is the index of the release among the points of the front over ``axes``. With ``for_spreadsheets`` the
    script also writes a file without cells that look like formulas.
    """
    fields = {key: value for key, value in job.items() if value not in (None, {}, [])}
    report, certificate, mapping = (fields.pop(name, None) for name in ("report", "certificate", "mapping"))
    secret = None if point is None else fields.pop("key", None)
    promises = [] if point is None else list(fields.get("privacy", []))
    data, output = fields.pop("input"), fields.pop("output")
    names = {column: f"hierarchy_{number}" for number, column in enumerate(trees, start=1)}
    lines = [
        '"""Repeats a job that was made in the discreet studio.',
        "",
        "Private: it contains the seed. Protect it like the data, and do not hand it over.",
        f"It reads the table {data!r} from the current folder and writes the release and its documents there.",
        '"""',
        "",
        "import discreet as dc",
        "",
        *(line for column, tree in trees.items() for line in _tree_lines(names[column], column, tree)),
    ]
    unused = NOT_OF_FRONTS if point is not None else ()
    arguments = [(key, value) for key, value in fields.items() if key not in unused]
    call = "anonymize" if point is None else "pareto"
    result = "release" if point is None else "front"
    if point is not None:
        arguments.append(("privacy", [*axes, *promises]))
        arguments += [("key", secret)] if "derive" in fields else []
    lines += [f"{result} = dc.{call}(", f"    {data!r},"]
    for key, value in arguments:
        lines += _argument_lines(key, value, names)
    lines += [*([] if point is not None else [f"    output={output!r},"]), ")"]
    if point is not None:
        more = "" if secret is None else f", key={secret!r}"
        lines.append(f"release = front.release(point=front.points[{point}], output={output!r}{more})")
    lines += ["print(release.summary())"]
    if for_spreadsheets:
        lines += [
            "# some cells look like formulas: open this file in a spreadsheet instead",
            f"release.write({f'for-spreadsheets-{output}'!r}, for_spreadsheets=True)",
        ]
    if report:
        lines += [f"release.report({report[0]!r})"]
    if certificate:
        lines += [f"release.certificate({certificate!r})"]
    if mapping:
        lines += [f"release.mapping({mapping!r})"]
    return "\n".join(lines) + "\n"


def _argument_lines(key: str, value: Any, names: Mapping[str, str]) -> list[str]:
    if not isinstance(value, dict):
        return [f"    {key}={value!r},"]
    lines = [f"    {key}={{"]
    for column, item in value.items():
        made = names.get(column) if key in ("quasi_identifiers", "sensitive") else None
        lines.append(f"        {column!r}: {made or repr(item)},")
    return [*lines, "    },"]


def _tree_lines(name: str, column: str, tree: Hierarchy) -> list[str]:
    rows = [f"        {tuple(row)!r}," for row in tree.rows()]
    return [f"{name} = dc.Hierarchy.from_rows(  # of {column!a}", "    [", *rows, "    ]", ")", ""]
