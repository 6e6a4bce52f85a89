"""Messages of errors as the studio shows them: parameters are called by the labels of its controls."""

from __future__ import annotations

from discreet.errors import Argument, DiscreetError
from discreet.studio._vocabulary import vocabulary

__all__ = ["CONTROLS", "error_message", "spell_as_control"]

CONTROLS = {
    "class_attribute": "Predict",
    "date_format": "Dates are written as",
    "decimal": "Numbers have",
    "encoding": "Encoding",
    "household": "Household",
    "cost": "What is kept low",
    "keep_at_least": "How coarse … may become",
    "max_levels": "How coarse … may become",
    "missing": "Empty cells",
    "person": "Whose row",
    "missing_codes": "Codes declared as missing are",
    "na": "Also empty",
    "pseudonyms": "Release pseudonyms instead of removing it",
    "missing_sensitive": "An empty cell of a protected column is",
    "sheet": "Sheet",
    "scheme": "How values may be joined",
    "solver": "Method",
    "suppression": "Who may be left out?",
    "time_limit": "Time",
    "weights": "What matters most?",
}
"""The label of the control that sets a parameter, as in ``texts.js`` and ``terms.js``."""
_WITHOUT_CONTROL = {"min_levels": "the levels of the trees", "models": "no column to “Predict”"}


def error_message(error: DiscreetError) -> str:
    """Return the message of an error for the page."""
    return error.spelled(spell_as_control)


def spell_as_control(argument: Argument) -> str:
    """Spell a parameter in a message as a control of the page; those without a control as in Python.

    >>> spell_as_control(Argument("missing", "suppress")), spell_as_control(Argument("keep", ["name", "town"]))
    ('“Empty cells: A reason to leave out”', '“I have decided: release name, town unchanged”')
    >>> spell_as_control(Argument("class_attribute")), spell_as_control(Argument("memory_limit"))
    ('“Predict”', 'memory_limit')
    """
    if argument.name == "keep" and argument.value is not None:
        return f"“I have decided: release {', '.join(argument.value)} unchanged”"
    if argument.name not in CONTROLS:
        return _WITHOUT_CONTROL.get(argument.name, str(argument))
    titles = {entry["name"]: entry["title"] for entry in vocabulary().get(argument.name, [])}
    value = "" if argument.value is None else f": {titles.get(argument.value, argument.value)}"
    return f"“{CONTROLS[argument.name]}{value}”"
