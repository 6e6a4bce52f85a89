"""All choices for the goals of a project, in plain words.

What is said about a part comes from its class. Here are only choices that are no parts: roles, types, and what missing
values are.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import cache
from typing import Any

from discreet.runtime.parts import Family, NumberControl, Part

__all__ = ["reason_for", "vocabulary"]

Entry = dict[str, Any]
_SENSITIVE_COLUMN = {
    "name": "attribute",
    "label": "Sensitive column",
    "kind": "column",
    "default": None,
    "role": "sensitive",
}


@cache
def vocabulary() -> dict[str, list[Entry]]:
    """Return everything that can be chosen, each with a title, a sentence and its parameters in order."""
    from discreet.vocabulary import families

    parts = {name: _family_entries(name, family) for name, family in families().items()}
    parts["solvers"].insert(0, _AUTOMATIC)
    parts["schemes"].insert(0, _best())
    return {
        **parts,
        "roles": _ROLES,
        "types": _TYPES,
        "missing": _MISSING,
        "missing_sensitive": _MISSING_SENSITIVE,
        "derivations": _derivations(),
    }


def reason_for(solver: str, exact: bool, space: int | None) -> str:
    """Return why a solver is taken, given the number of recodings if it is known."""
    from discreet.solve import SOLVERS

    recodings = (
        f"all {space:,} possible recodings" if space is not None and space < 10**15 else "all possible recodings"
    )
    member = SOLVERS.find(solver)
    if member is not None and member.reason:
        return member.reason.format(recodings=recodings)
    return "It proves its result." if exact else "It finds a good release; a bound says how good."


def _family_entries(name: str, family: Family[Any]) -> list[Entry]:
    return [_part_entry(name, member) for member in family.members().values() if member.in_studio]


def _part_entry(family: str, member: type[Part]) -> Entry:
    """Return what the page knows about a part; keys without content are left out."""
    found = {
        "term": member.term,
        "recommended": member.recommended,
        "prevents": member.prevents,
        "example": member.illustration,
        **(_MORE[family](member) if family in _MORE else {}),
    }
    return _entry(
        member.name,
        member.title or member.name,
        member.summary or _sentence(member),
        parameters=_parameters(member),
        **{key: value for key, value in found.items() if value},
    )


def _sentence(member: type[Part]) -> str:
    from discreet.vocabulary import definition

    return definition(member)


def _parameters(member: type[Part]) -> list[Entry]:
    """Return how the page asks for the arguments of a part, in order."""
    found: list[Entry] = []
    controls = {control.field: control for control in member.controls}
    for field in dataclasses.fields(member):  # type: ignore[arg-type]
        control = controls.get(field.name)
        if field.name == "attribute" and getattr(member, "looks_at_sensitive", False):
            found.append(_SENSITIVE_COLUMN)
        elif isinstance(control, NumberControl):
            limits = {"default": control.default, "min": control.low, "max": control.high, "step": control.step}
            kind = "int" if all(isinstance(number, int) for number in limits.values()) else "float"
            percent = {"percent": True} if control.percent else {}
            found.append({"name": field.name, "label": control.label, "kind": kind, **limits, **percent})
        elif control is not None:
            choices = [{"name": choice, "title": title} for choice, title in control.choices.items()]
            first = choices[0]["name"]
            found.append(
                {"name": field.name, "label": control.label, "kind": "choice", "default": first, "choices": choices}
            )
    return found


def _cost_facts(member: Any) -> Entry:
    names = {field.name for field in dataclasses.fields(member)}
    needs = "class" if "labels" in member.needs else None
    return {"weights": "weights" in names, "needs": needs, **_refused("costs")(member)}


def _refused(family: str) -> Callable[[Any], Entry]:
    """Return how to look up the schemes that do not go with a part, each with the reason."""
    return lambda member: {"refused": _refusals(family).get(member.name)}


@cache
def _refusals(family: str) -> dict[str, dict[str, str]]:
    from discreet.solve import combinations

    found: dict[str, dict[str, str]] = {}
    for pair in combinations(family, "schemes"):
        if pair.reason is not None:
            found.setdefault(pair.first, {})[pair.second] = pair.reason
    return found


def _searched(solver: Any) -> list[str]:
    """Return the names of the schemes a solver can search."""
    from discreet.problem import SCHEMES

    forms = [next(iter(scheme.examples), scheme.name) for scheme in SCHEMES.members().values()]
    return [scheme.name for scheme in map(SCHEMES.make, forms) if solver().searches(scheme)]


_MORE: dict[str, Callable[[Any], Entry]] = {
    "costs": _cost_facts,
    "suppression": _refused("suppression"),
    "solvers": lambda member: {"schemes": _searched(member)},
    "axes": lambda member: {"needs": "sensitive" if member.looks_at_sensitive else None},
    "builders": lambda member: {"types": list(member.types), "example": next(iter(member.examples), member.name)},
}
"""Further facts that the page shows about the parts of a family."""


def _entry(name: str, title: str, text: str, **more: Any) -> Entry:
    return {"name": name, "title": title, "text": text, "parameters": [], **more}


def _derivations() -> list[Entry]:
    """Return the ways to replace the values of a column before anything else."""
    from discreet.pipeline.derive import DERIVATIONS

    return [_entry(name, way.title, way.summary, example=way.form) for name, way in DERIVATIONS.items()]


@cache
def _best() -> Entry:
    """Return the choice to try several schemes."""
    from discreet.pipeline.best_scheme import CANDIDATES
    from discreet.problem import SCHEMES

    titles = [SCHEMES.members()[name].title for name in CANDIDATES]
    named = f"{', '.join(titles[:-1])} and {titles[-1]}"
    return _entry(
        "best",
        "Try all of them",
        f"{named}, one after the other with the same promises. The release that loses least is taken, and all are "
        "compared.",
        recommended=True,
        tries=list(CANDIDATES),
    )


_AUTOMATIC = _entry(
    "auto",
    "Automatic",
    "Takes the method that proves its result for the choices you made.",
    recommended=True,
    why="It is never worse: whichever choices you make, it takes the method that finds the best release and "
    "proves it, or the one that comes nearest.",
)
_ROLES = [
    _entry("identifier", "Identifier", "Names a person. It is never released."),
    _entry("quasi-identifier", "Known to others", "Others may know it and find a person by it. It is made coarser."),
    _entry("sensitive", "Sensitive", "Nobody should learn it about a person. It is released, and protected."),
    _entry("class", "To predict", "What the released table should still be able to predict. It is released."),
    _entry("insensitive", "Ordinary", "Neither of these. It is released as it is."),
    _entry(
        "person", "Whose row", "Says whose row it is, if people have several. People are counted, and it is removed."
    ),
    _entry(
        "household",
        "Household",
        "Says which people live together. Households are counted, and it is removed: if one is found, all are.",
    ),
]
_TYPES = [
    _entry("text", "Text", "Words and codes."),
    _entry("integer", "Whole numbers", "Numbers without a fraction."),
    _entry("decimal", "Numbers", "Numbers with a fraction."),
    _entry("date", "Dates", "Days, as in 2024-03-01."),
    _entry("ordered", "Ordered text", "Words that have an order."),
]
_MISSING = [
    _entry(
        "value", "A value of its own", "People with a missing value look the same as others with it.", recommended=True
    ),
    _entry("suppress", "A reason to leave out", "Rows with a missing value in a column others know are left out."),
    _entry("error", "A mistake", "The job stops if one is missing."),
]
_MISSING_SENSITIVE = [
    _entry(
        "unknown",
        "Not known, so no value",
        "A group needs its different values among those that are known.",
        recommended=True,
    ),
    _entry("value", "A value like any other", "An empty cell counts as one of the different values of a group."),
]
