"""Fields that job files and policies have in common, and the errors for wrong ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import BeforeValidator, ValidationError, WithJsonSchema

from discreet.errors import did_you_mean

__all__ = ["HierarchyForm", "Roles", "Texts", "explain_fields"]

HierarchyForm = Any
"""Text such as ``intervals(5, 10)``, a CSV file, nested groups, or None for an automatic hierarchy."""


def _one_or_many(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


def _columns(value: Any) -> Any:
    """Accept a column or a list of columns instead of a mapping from column to hierarchy."""
    value = _one_or_many(value)
    if isinstance(value, list):
        if not all(isinstance(name, str) for name in value):
            raise ValueError("must be a list of column names, or a mapping from column to hierarchy")
        for name in value:
            if value.count(name) > 1:
                raise ValueError(f"names the column '{name}' twice")
        return dict.fromkeys(value)
    if isinstance(value, dict):
        for name, form in value.items():
            if not (form is None or isinstance(form, str | list | dict)):
                raise ValueError(f"gives '{name}' no hierarchy; write text, a CSV file, groups or null")
    return value


_TEXTS = {"type": "array", "items": {"type": "string"}}
_FORMS = {"type": "object", "additionalProperties": {"type": ["string", "array", "object", "null"]}}

Texts = Annotated[
    list[str], BeforeValidator(_one_or_many), WithJsonSchema({"anyOf": [{"type": "string"}, _TEXTS], "default": []})
]
"""One text or a list of them."""
Roles = Annotated[
    dict[str, HierarchyForm],
    BeforeValidator(_columns),
    WithJsonSchema({"anyOf": [{"type": "string"}, {**_TEXTS, "uniqueItems": True}, _FORMS]}),
]
"""A column, a list of columns, or a mapping from columns to hierarchies."""

_MOST_LISTED = 20
"""The most keys that a message lists."""
_WANTED = {
    "string_type": "must be text",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "bool_type": "must be true or false",
    "list_type": "must be text or a list of texts",
    "dict_type": "must be a mapping",
    "model_type": "must be a mapping",
    "too_short": "must not be empty",
    "greater_than": "must be more than 0",
    "greater_than_equal": "must be 0 or more",
    "less_than_equal": "must be 1 or less",
    "finite_number": "must be a finite number",
}


def _all_keys(what: str, known: Sequence[str]) -> str:
    """List the keys of a file, or some of them and where the others are."""
    if len(known) <= _MOST_LISTED:
        return f"the keys are {', '.join(known)}."
    return f"the keys are {', '.join(known[:_MOST_LISTED])} and others, which 'discreet schema {what}' lists."


def explain_fields(
    error: ValidationError, what: str, known: Sequence[str], other_names: Mapping[str, str] | None = None
) -> str:
    """Turn an error of pydantic into a sentence that names the key.

    ``known`` are the keys of a ``what`` (job or policy), ``other_names`` words people try as keys, with what to write.
    """
    # A key that seems to be missing may only be misspelt, so unknown keys are reported first.
    first = min(error.errors(), key=lambda found: found["type"] != "extra_forbidden")
    kind, path = first["type"], [str(part) for part in first["loc"]]
    if not path:
        return f"A {what} is a mapping with keys such as {known[0]} and privacy."
    key = path[0]
    if kind == "extra_forbidden":
        unknown = path[-1]
        if len(path) > 1 and unknown in known:
            return f"The key '{unknown}' does not belong in '{key}'; write it at the top."
        instead = (other_names or {}).get(unknown.strip("-").lower())
        hint = f"write {instead}." if instead else did_you_mean(unknown, known) or _all_keys(what, known)
        return f"There is no key '{unknown}'; {hint}"
    if kind == "missing":
        return f"The key '{key}' is missing."
    if kind == "value_error":
        return f"The key '{key}' {first['ctx']['error']}."
    if kind == "literal_error":
        return f"The key '{key}' is one of {first['ctx']['expected'].replace(chr(39), '')}."
    if key == "scheme":
        return "The key 'scheme' must be text, or a mapping from column to text."
    entry = f", entry '{path[1]}'," if len(path) > 1 else ""
    return f"The key '{key}'{entry} {_WANTED.get(kind, 'has a value of the wrong kind')}."
