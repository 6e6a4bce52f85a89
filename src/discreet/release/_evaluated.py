"""What a report tells beyond the release itself: its neighbourhood, and risk and utility against the original."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import DiscreetError
from discreet.release._front_scale import plain, share
from discreet.release._left_out import LeftOut
from discreet.release._measure_charts import around_chart
from discreet.release._sections import Block, Evaluation, Figure, Items, Section, Table, Text
from discreet.release._small import few

if TYPE_CHECKING:
    from discreet.release._around import Neighbour
    from discreet.release._release import Release

__all__ = ["around_section", "evaluated", "handed_over", "measure"]

_WITHHELD = (
    "This was measured against the whole original table, and would tell about people who were left out; measure it for "
    "those in the release, with only_released=True, to have it here."
)
_MOST_LEARNT = 60_000
"""Classifiers are trained for the report of a table of up to so many rows."""


def evaluated(release: Release, given: Sequence[Section | Evaluation] = ()) -> list[Section | Evaluation]:
    """Return the neighbourhood of a release, and its risk and utility as far as they are not among the ``given``.

    What cannot be measured is said so: the release itself is written and audited by now.
    """
    from discreet.evaluate import RiskReport, UtilityReport

    found: list[Section | Evaluation] = []
    if release.neighbours and not LeftOut.of(release).total:
        found.append(around_section(release.neighbours, release.least))
    if release.behind is None or not release.audit.rows:
        return found
    for kind in (RiskReport, UtilityReport):
        if not any(isinstance(item, kind) and may_hand_over(release, item) for item in given):
            found.append(release.measured[kind.__name__])
    return found


def may_hand_over(release: Release, item: Section | Evaluation) -> bool:
    """Whether an evaluation compares the release with nobody but the people who are in it."""
    rows = getattr(item, "original_rows", None)
    return rows is None or rows == release.audit.rows


def handed_over(release: Release, given: Sequence[Section | Evaluation], *, measured: bool) -> list[Any]:
    """Return what was given for a report without evaluations that tell about people who were left out.

    Risk and utility are measured anew for the report where it is ``measured``; of others it is said why they are not
    there.
    """
    from discreet.evaluate import RiskReport, UtilityReport

    found: list[Any] = []
    for item in given:
        if may_hand_over(release, item):
            found.append(item)
        elif not (measured and isinstance(item, RiskReport | UtilityReport) and release.behind is not None):
            found.append(Section(type(item).__name__.replace("Report", ""), [Text(_WITHHELD)]))
    return found


def measure(release: Release) -> dict[str, Section | Evaluation]:
    """Return risk and utility of a release for the people who are in it, each by the name of its report."""
    found: dict[str, Section | Evaluation] = {}
    ways: dict[str, Callable[[], Evaluation]] = {
        "RiskReport": lambda: release.risk(only_released=True),
        "UtilityReport": lambda: release.utility(only_released=True, models=_models(release)),
    }
    for name, way in ways.items():
        try:
            found[name] = way()
        except DiscreetError as error:
            title = f"{name.removesuffix('Report')} against the original"
            found[name] = Section(title, [Text(f"This was not measured: {error.message}")])
    return found


def _models(release: Release) -> list[str]:
    """Return the classifiers to train: a tree where there is something to predict, and the means to."""
    wanted = release.job.get("class_attribute") and release.n <= _MOST_LEARNT and find_spec("sklearn")
    return ["tree"] if wanted else []


def around_section(neighbours: Sequence[Neighbour], least: int) -> Section:
    """Return what a little more or less privacy would have cost."""
    return Section("A little more, a little less", list(_around(neighbours, least)))


def _around(neighbours: Sequence[Neighbour], least: int) -> Iterator[Block]:
    own = next(one for one in neighbours if one.chosen)
    name = own.promise.partition("(")[0]
    letter = "k" if name == "k" else "l"
    yield Text(
        f"The best releases for other values of {letter}, all other promises and choices being the same: the "
        "neighbours of this release on the front of privacy against loss."
    )
    rows = [_row(one, own, letter, least) for one in neighbours]
    yield Table(["promise", "loss", "compared", "left out", "classes", "proof"], rows)
    words = _steps(neighbours, own, letter)
    if words:
        yield Items(words)
    caption = "The loss of the best release for each promise; the ring is this release."
    yield Figure(around_chart(neighbours, letter), caption)


def _row(one: Neighbour, own: Neighbour, letter: str, least: int) -> list[str]:
    promise = f"{letter} = {one.value:,}" + (" (chosen)" if one.chosen else "")
    if not np.isfinite(one.cost):
        return [promise, "–", "–", "–", "–", "not possible"]
    compared = "" if one.chosen else f"{100 * (one.cost / own.cost - 1):+.0f} %" if own.cost else "–"
    proof = "proven" if one.proven else "stopped early"
    return [promise, share(one.normalized_cost), compared, few(one.suppressed, least), few(one.classes, least), proof]


def _steps(neighbours: Sequence[Neighbour], own: Neighbour, letter: str) -> list[str]:
    """Return the nearest step up in words, and what is free."""
    above = [one for one in neighbours if one.value > own.value]
    told: list[Any] = []
    free = [one for one in above if one.cost <= own.cost * (1 + 1e-9)]
    if free:
        told.append(f"{letter} = {free[-1].value:,} would have cost nothing more.")
    dearer = next((one for one in above if np.isfinite(one.cost) and one not in free), None)
    if dearer is not None and own.cost:
        rise = f"{plain(round(100 * (dearer.cost / own.cost - 1), 1))} %"
        told.append(f"Going up to {letter} = {dearer.value:,} would cost {rise} more.")
    impossible = next((one for one in above if not np.isfinite(one.cost)), None)
    if impossible is not None:
        told.append(f"{letter} = {impossible.value:,} is not possible without leaving more people out.")
    return told
