"""The privacy models of a problem in the form kernels look at."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.counts import CountTable, FloatArray, Histogram
from discreet.kernels.requirements import CAPS, DISTINCT, ENTROPY, NODES, ORDERED, RECURSIVE, Requirement
from discreet.problem import Problem
from discreet.problem.privacy import PrivacyModel
from discreet.problem.privacy._sensitive import TOLERANCE
from discreet.problem.privacy._thresholds import ThresholdModel
from discreet.problem.privacy.entropy_l_diversity import EntropyLDiversity
from discreet.problem.privacy.k_anonymity import KAnonymity
from discreet.problem.privacy.l_diversity import LDiversity
from discreet.problem.privacy.recursive_diversity import RecursiveDiversity
from discreet.problem.privacy.t_closeness import TCloseness, levels_apart

__all__ = ["make_counted_requirement", "make_requirement", "value_of_each"]


class _Form(NamedTuple):
    """One model, in the words of :class:`Requirement`."""

    histogram: Histogram
    kind: int
    limit: float
    depth: int = 0
    share: FloatArray = np.zeros(0)
    member: NDArray[np.int64] = np.zeros(0, dtype=np.int64)


class Cells(NamedTuple):
    """The sensitive values of tuples that may have several: of tuple j, from ``offset[j]`` to ``offset[j + 1]``."""

    offset: NDArray[np.int64]
    cell: NDArray[np.int64]
    """Where each value stands in the histogram."""
    rows: NDArray[np.int64]


def make_requirement(problem: Problem) -> Requirement:
    """Return what every group must keep; its ``complete`` says whether that is all the problem asks for.

    Each tuple of the table must have one value of every sensitive column that a model looks at, or none that is known:
    such rows are counted in one further cell of the histogram. Models that are not
    built in have no compiled form: of them only the smallest size is kept.
    """
    requirement, first = _of_models(problem)
    if not first:
        return requirement
    columns = []
    for name, start in first.items():
        value = value_of_each(problem.table.sensitive[name])
        columns.append(np.where(value < 0, requirement.cells, start + value))
    values = np.stack(columns, axis=1)
    cells = requirement.cells + bool((values == requirement.cells).any())
    return requirement._replace(cells=cells, values=values)


def make_counted_requirement(problem: Problem) -> tuple[Requirement, Cells]:
    """Return what every group must keep, and the values of tuples that may have several of each column."""
    requirement, first = _of_models(problem)
    none = np.zeros(0, dtype=np.int64)
    tuples = problem.table.tuples
    columns = [(start, problem.table.sensitive[name]) for name, start in first.items()]
    owner = np.concatenate([none, *(np.repeat(np.arange(tuples), np.diff(h.offsets)) for _, h in columns)])
    cell = np.concatenate([none, *(start + h.values for start, h in columns)]).astype(np.int64)
    count = np.concatenate([none, *(h.counts for _, h in columns)]).astype(np.int64)
    order = np.argsort(owner, kind="stable")
    offset = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=tuples))]).astype(np.int64)
    return requirement, Cells(offset, cell[order], count[order])


def _of_models(problem: Problem) -> tuple[Requirement, dict[str, int]]:
    """Return the requirement but for the values of the points, and where each sensitive column begins in it."""
    table = problem.table
    others = [model for model in problem.privacy if type(model) is not KAnonymity]
    forms = [form for model in others if (form := _form(model, table)) is not None]
    columns = {form.histogram.name: form.histogram for form in forms}
    ends = np.cumsum([0, *(histogram.cardinality for histogram in columns.values())], dtype=np.int64)
    first = dict(zip(columns, ends[:-1].tolist(), strict=True))
    begins = np.array([first[form.histogram.name] for form in forms], dtype=np.int64)
    lengths = np.array([form.histogram.cardinality for form in forms], dtype=np.int64)
    requirement = Requirement(
        smallest=problem.smallest_class,
        cells=int(ends[-1]),
        complete=len(forms) == len(others),
        values=np.zeros((table.tuples, 0), dtype=np.int64),
        kind=np.array([form.kind for form in forms], dtype=np.int64),
        first=begins,
        last=begins + lengths,
        limit=np.array([form.limit for form in forms], dtype=np.float64),
        depth=np.array([form.depth for form in forms], dtype=np.int64),
        start=np.cumsum([0, *(form.share.size for form in forms)], dtype=np.int64)[:-1],
        share=np.concatenate([np.zeros(0), *(form.share for form in forms)]),
        member_start=np.cumsum([0, *(form.member.size for form in forms)], dtype=np.int64)[:-1],
        member=np.concatenate([np.zeros(0, dtype=np.int64), *(form.member for form in forms)]),
    )
    return requirement, first


def _form(model: PrivacyModel, table: CountTable) -> _Form | None:
    """The compiled form of a model, or None if it has none: a subclass may have changed what is ok."""
    if type(model) is LDiversity:
        return _Form(model.histogram(table), DISTINCT, model.l)
    if type(model) is EntropyLDiversity:
        return _Form(model.histogram(table), ENTROPY, model.l * (1 - TOLERANCE))
    if type(model) is RecursiveDiversity:
        return _Form(model.histogram(table), RECURSIVE, model.c * (1 - TOLERANCE), model.l)
    if isinstance(model, ThresholdModel) and model.compiled:
        histogram = model.histogram(table)
        thetas = model.thetas(histogram.totals, histogram.labels)
        return _Form(histogram, CAPS, 0.0, share=thetas * (1 + TOLERANCE))
    if type(model) is TCloseness:
        return _closeness(model, table)
    return None


def _closeness(model: TCloseness, table: CountTable) -> _Form:
    histogram, limit = model.histogram(table), model.t + TOLERANCE
    whole = histogram.shares
    if model.distance == "ordered":
        return _Form(histogram, ORDERED, limit, share=whole)
    values = np.arange(histogram.cardinality, dtype=np.int64)
    levels = [values] if model.distance == "equal" else levels_apart(histogram.ancestors)
    members = []
    for level in levels:
        order = np.argsort(level, kind="stable").astype(np.int64)
        ends = np.diff(level[order], append=-1) != 0
        members.append(np.where(ends, ~order, order))
    return _Form(histogram, NODES, limit, len(levels), whole, np.concatenate([values[:0], *members]))


def value_of_each(histogram: Histogram) -> NDArray[np.int64]:
    """Return the one value that each tuple has, -1 where it is not known."""
    length = np.diff(histogram.offsets)
    assert (length <= 1).all(), "tuples must be told apart by their sensitive values"
    value = np.full(length.size, -1, dtype=np.int64)
    value[length == 1] = histogram.values
    return value
