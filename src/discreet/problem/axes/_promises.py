"""The axes of a front, along which privacy is traded, and the promises that every point keeps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from numbers import Real

from discreet.problem.axes._base import AXES, Axis
from discreet.problem.privacy import PRIVACY, PrivacyModel
from discreet.runtime.text_form import parse_text

__all__ = ["axes_and_promises"]


def axes_and_promises(given: Sequence[str | Axis | PrivacyModel]) -> tuple[list[Axis], list[PrivacyModel]]:
    """Return the axes and the promises among text forms and parts; the axis ``k`` if there is no other.

    A text that says how much is wanted is a promise, such as ``k(5)`` and ``distinct-l(3, disease)``: it has a number
    or a mapping among its plain arguments, or a keyword that no axis of the name has. Any other text is an axis if
    there is one of that name, such as ``k`` and ``distinct-l(disease)``. A number is never the name of a column; write
    ``distinct-l('3')`` for the axis about a column called 3.

    >>> axes, promises = axes_and_promises(["k", "distinct-l(3, disease)"])
    >>> [axis.text for axis in axes], [model.text for model in promises]
    (['k'], ['distinct-l(3, disease)'])
    """
    axes: list[Axis] = []
    promises: list[PrivacyModel] = []
    for each in given:
        if isinstance(each, PrivacyModel) or (isinstance(each, str) and _is_promise(each)):
            promises.append(PRIVACY.make(each))
        else:
            axes.append(AXES.make(each))
    return axes or [AXES.make("k")], promises


def _is_promise(text: str) -> bool:
    """Return whether a text names a model and says how much of it is wanted."""
    name, args, kwargs = parse_text(text)
    axis = AXES.find(name)
    if axis is None:
        return PRIVACY.find(name) is not None
    if PRIVACY.find(name) is None:
        return False
    own = {item.name for item in fields(axis)}  # type: ignore[arg-type]
    amounts = any(isinstance(value, Real | dict) and not isinstance(value, bool) for value in args)
    return amounts or not own.issuperset(kwargs)
