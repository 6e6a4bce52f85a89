"""The contract of every part, of any family; and the parts that contract tests are run for."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, TypeVar

from discreet.runtime.parts import Family, Part

__all__ = ["check_description", "contract_parts"]

P = TypeVar("P", bound=Part)


def contract_parts(family: Family[P]) -> list[P]:
    """Return the examples that members of a family give, as the contracts can run them.

    The sensitive column is left open, so that it is filled in; examples that map columns or values are left out. A
    member without an example is tried with its defaults.
    """
    found = []
    for member in family.members().values():
        for example in member.examples or (member.name,):
            part = family.make(example)
            args, kwargs = part.arguments()
            if not any(isinstance(value, Mapping) for value in (*args, *kwargs.values())):
                found.append(_unnamed(part))
    return list({part.text: part for part in found}.values())


def _unnamed(part: Any) -> Any:
    for field in ("attribute", "column"):
        if getattr(part, "looks_at_sensitive", False) and hasattr(part, field):
            return dataclasses.replace(part, **{field: None})
    return part


def check_description(member: type[Any], family: Family[Any]) -> None:
    """Check that a member says about itself what the studio, the documentation and error messages show."""
    assert hasattr(member, "__dataclass_fields__"), "a part is a frozen dataclass"
    assert (member.__doc__ or "").strip().splitlines()[0].endswith("."), "the docstring begins with a definition"
    for text in (member.title, member.summary):
        assert text, f"{member.name} has no title or no summary for the studio"
    assert member.summary.endswith("."), "the summary is a sentence"
    assert member.examples, f"{member.name} gives no example"
    for example in member.examples:
        part = family.make(example)
        assert type(part) is member, f"'{example}' is not a {member.name}"
        assert part.words, f"{member.name} cannot be put into words"
    fields = {field.name for field in dataclasses.fields(member)}
    for control in member.controls:
        assert control.field in fields, f"{member.name} has a control for '{control.field}', which is not an argument"
