"""JSON Schemas of job files and policies, for completion and checks in editors.

They are made from the models that read these files and from the families of parts, so that parts of installed packages
are included.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from discreet.job.parameters import PARAMETERS
from discreet.problem import COSTS, PRIVACY, SCHEMES, SUPPRESSION
from discreet.runtime.atomic_write import replacing
from discreet.runtime.parts import Family
from discreet.schema import Type
from discreet.schema.builders import BUILDERS
from discreet.solve import SOLVERS

__all__ = ["SCHEMA_FILE", "job_schema", "policy_schema", "write_beside"]

SCHEMA_FILE = "discreet-job.schema.json"
"""The name of the schema beside saved jobs."""
_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_FAMILY_OF: dict[str, Family[Any]] = {
    "privacy": PRIVACY,
    "cost": COSTS,
    "suppression": SUPPRESSION,
    "scheme": SCHEMES,
    "solver": SOLVERS,
}
"""Keys that hold text forms of parts."""
_CALLED = {"privacy": "privacy model", "suppression": "kind of suppression"}
"""What editors call these parts where a text is none, unless it is the key."""
_BESIDES = {"scheme": ("best",), "solver": ("auto",)}
"""Texts that are no members of the family."""
_LEAST = {"priorities": 1, "keep_at_least": 0, "min_levels": 0, "max_levels": 0}
"""The least number that a mapping by column may hold."""


@cache
def job_schema() -> dict[str, Any]:
    """Return the JSON Schema of a job file.

    >>> schema = job_schema()
    >>> schema["required"], schema["properties"]["engine"]["enum"]
    (['quasi_identifiers', 'privacy'], ['auto', 'polars', 'duckdb', 'spark'])
    """
    from discreet.job.job import Job

    schema = Job.model_json_schema()
    about = {name: parameter.of_key or parameter.about for name, parameter in PARAMETERS.items()}
    properties = {name: _described(field, about.get(name)) for name, field in schema["properties"].items()}
    for name, parameter in PARAMETERS.items():
        if parameter.choices and name in properties:
            properties[name]["enum"] = list(parameter.choices)
    for name in ("quasi_identifiers", "sensitive"):
        properties[name] = _by_column(properties[name], **_hierarchies())
    properties["types"] = _by_column(properties["types"], enum=[str(kind) for kind in Type])
    for name, least in _LEAST.items():
        properties[name] = _by_column(properties[name], minimum=least)
    properties["decimal"]["enum"] = [".", ","]
    for name in ("quasi_identifiers", "privacy"):
        properties[name] = _not_empty(properties[name])
    made = _schema("discreet job", "A table, or several, anonymized, audited and reported.", schema, properties)
    required = [key for key in made["required"] if key != "input"]  # which is the first of several tables
    return {**made, "required": required, "anyOf": [{"required": ["input"]}, {"required": ["tables"]}]}


@cache
def policy_schema() -> dict[str, Any]:
    """Return the JSON Schema of a policy, which ``discreet check`` reads.

    >>> "forbid" in policy_schema()["properties"]
    True
    """
    from discreet.job.policy import Policy

    schema = Policy.model_json_schema()
    whole = schema["$defs"]["Policy"]  # it is a definition because `tables` holds policies in turn
    properties = {name: _plain(field) for name, field in whole["properties"].items()}
    return _schema("discreet policy", "What a table must keep to.", schema, properties)


def write_beside(job: Path) -> None:
    """Write the schema of jobs into the folder of a job file, unless the same one is there."""
    path = job.parent / SCHEMA_FILE
    text = json.dumps(job_schema(), indent=2, ensure_ascii=False) + "\n"
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        with replacing(path) as unfinished:
            unfinished.write_text(text, encoding="utf-8")


def _schema(title: str, about: str, schema: dict[str, Any], properties: dict[str, Any]) -> dict[str, Any]:
    """Put a schema together; editors show the title above the description of every key."""
    definitions = {
        name: {
            **_plain(found),
            "properties": _checked({key: _plain(each) for key, each in found["properties"].items()}),
        }
        for name, found in schema.get("$defs", {}).items()
    }
    return {
        "$schema": _DRAFT,
        "title": title,
        "description": about,
        "type": "object",
        "properties": _checked(properties),
        "required": schema.get("required", []),
        "additionalProperties": False,
        **({"$defs": definitions} if definitions else {}),
    }


def _checked(properties: dict[str, Any]) -> dict[str, Any]:
    """Check the text forms among some fields by the names of parts."""
    return {
        key: _with_forms(field, key, _BESIDES.get(key, ())) if key in _FAMILY_OF else field
        for key, field in properties.items()
    }


def _plain(field: dict[str, Any]) -> dict[str, Any]:
    """Leave out what pydantic derives from names of Python, and null as a default, which editors would write."""
    return {key: value for key, value in field.items() if key != "title" and (key, value) != ("default", None)}


def _described(field: dict[str, Any], about: str | None) -> dict[str, Any]:
    """Describe a key; that an option may be repeated does not matter for a key, which takes a list."""
    return {**({} if about is None else {"description": about.removesuffix(" Repeatable.")}), **_plain(field)}


def _hierarchies() -> dict[str, Any]:
    """Check the names of builders, and offer their examples; other texts are files."""
    members = BUILDERS.members()
    names = _any_of([*(name for part in members.values() for name in (part.name, *part.aliases)), *BUILDERS.others()])
    known = ", ".join(members)
    return {
        "pattern": rf"^(?!\s*[\w-]+\s*\(.*\)\s*$)|^\s*(?:{names})\s*\(.*\)\s*$",
        "patternErrorMessage": f"This is no builder of a hierarchy, such as mask(digits=5); there are {known}.",
        "examples": [form for member in members.values() for form in member.examples],
    }


def _by_column(field: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Say more of the values wherever a field takes a mapping by column."""
    if "anyOf" in field:
        return {**field, "anyOf": [_by_column(each, **more) for each in field["anyOf"]]}
    if "additionalProperties" not in field:
        return field
    return {**field, "additionalProperties": {**field["additionalProperties"], **more}}


def _not_empty(field: dict[str, Any]) -> dict[str, Any]:
    """Refuse an empty list and an empty mapping."""
    least = {"array": "minItems", "object": "minProperties"}
    return {
        **field,
        "anyOf": [{**each, least[each["type"]]: 1} if each["type"] in least else each for each in field["anyOf"]],
    }


def _with_forms(field: dict[str, Any], key: str, more: tuple[str, ...]) -> dict[str, Any]:
    """Check the texts of a field by the names of a family's members, and offer their examples.

    Editors show the ``patternErrorMessage`` instead of the pattern; validators ignore it.
    """
    family = _FAMILY_OF[key]
    members = family.members().values()
    names = [name for part in members if not part.needs_arguments() for name in (part.name, *part.aliases)]
    calls = [name for part in members if part.needs_arguments() for name in (part.name, *part.aliases)]
    forms = [rf"(?:{_any_of([*names, *family.others(), *more])})\s*(?:\(.*\))?"]
    forms += [rf"(?:{_any_of(calls)})\s*\(\s*[^\s)].*\)"] if calls else []
    forms += [part.bare for part in members if part.bare]
    examples = [*more, *dict.fromkeys(m.examples[0] if m.examples else m.name for m in members)]
    known = ", ".join([*more, *family.members()])
    like = next((form for form in examples if "(" in form), examples[len(more)])
    text = {
        "type": "string",
        "pattern": rf"^\s*(?:{'|'.join(forms)})\s*$",
        "patternErrorMessage": f"This is no {_CALLED.get(key, key)}, such as {like}; there are {known}.",
        "examples": examples,
    }
    return {**_replace_texts(field, text), "examples": examples}


def _any_of(names: Iterable[str]) -> str:
    """Return a pattern for names in upper and lower case."""
    return _any_case("|".join(re.escape(name) for name in sorted(set(names), key=str.lower)))


def _any_case(pattern: str) -> str:
    """Return a pattern that ignores case, which JSON Schema has no flag for.

    >>> _any_case("l[+]")
    '[lL][+]'
    """
    return re.sub(r"(?<!\\)[A-Za-z]", lambda found: f"[{found[0].lower()}{found[0].upper()}]", pattern)


def _replace_texts(field: dict[str, Any], text: dict[str, Any]) -> dict[str, Any]:
    """Replace the schema of texts wherever a field takes some: alone, in a list or in a mapping."""
    if field.get("type") == "string":
        return {**field, **text}
    replaced = dict(field)
    for key in ("items", "additionalProperties"):
        if isinstance(field.get(key), dict):
            replaced[key] = _replace_texts(field[key], text)
    if "anyOf" in field:
        replaced["anyOf"] = [_replace_texts(each, text) for each in field["anyOf"]]
    return replaced
