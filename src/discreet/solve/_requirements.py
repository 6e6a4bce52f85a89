"""The privacy models of a problem in compiled form."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.counts import CountTable, FloatArray, Histogram
from discreet.problem import Problem
from discreet.problem.privacy import TOLERANCE, PrivacyModel, ThresholdModel
from discreet.problem.privacy.entropy_l_diversity import EntropyLDiversity
from discreet.problem.privacy.k_anonymity import KAnonymity
from discreet.problem.privacy.l_diversity import LDiversity
from discreet.problem.privacy.recursive_diversity import RecursiveDiversity
from discreet.problem.privacy.t_closeness import TCloseness, levels_below_root
from discreet.solve.kernels.records import records
from discreet.solve.kernels.requirements import (
    CAPS,
    DISTINCT,
    ENTROPY,
    NODES,
    ORDERED,
    RECURSIVE,
    CompiledModel,
    Requirement,
)

__all__ = ["TupleValues", "make_counted_requirement", "make_requirement", "value_of_each"]


class _CompiledModel(NamedTuple):
    """One model, with the numbers that :class:`Requirement` holds of it."""

    histogram: Histogram
    kind: int
    limit: float
    depth: int = 0
    share: FloatArray = np.zeros(0)
    member: NDArray[np.int64] = np.zeros(0, dtype=np.int64)


class TupleValues(NamedTuple):
    """Sensitive values of tuples that may have several; those of tuple j are at ``offset[j]:offset[j + 1]``."""

    offset: NDArray[np.int64]
    cell: NDArray[np.int64]
    """The cell of each value in the histogram."""
    rows: NDArray[np.int64]


def make_requirement(problem: Problem) -> Requirement:
    """Return what every group must satisfy; ``complete`` is False if some model has no compiled form.

    Of models that are not built in, only the smallest class size is enforced. Each tuple must have at most one known
    value of every sensitive column that a model looks at; rows without a known value get a cell of their own.
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


def make_counted_requirement(problem: Problem) -> tuple[Requirement, TupleValues]:
    """Return the requirement on groups, and the values of tuples, of which each column may have several."""
    requirement, first = _of_models(problem)
    none = np.zeros(0, dtype=np.int64)
    tuples = problem.table.tuples
    columns = [(start, problem.table.sensitive[name]) for name, start in first.items()]
    owner = np.concatenate([none, *(np.repeat(np.arange(tuples), np.diff(h.offsets)) for _, h in columns)])
    cell = np.concatenate([none, *(start + h.values for start, h in columns)]).astype(np.int64)
    count = np.concatenate([none, *(h.counts for _, h in columns)]).astype(np.int64)
    order = np.argsort(owner, kind="stable")
    offset = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=tuples))]).astype(np.int64)
    return requirement, TupleValues(offset, cell[order], count[order])


def _of_models(problem: Problem) -> tuple[Requirement, dict[str, int]]:
    """Return the requirement without the points, and where each sensitive column begins in a histogram."""
    table = problem.table
    others = [model for model in problem.privacy if type(model) is not KAnonymity]
    compiled = [form for model in others if (form := _compile(model, table)) is not None]
    columns = {form.histogram.name: form.histogram for form in compiled}
    ends = np.cumsum([0, *(histogram.cardinality for histogram in columns.values())], dtype=np.int64)
    first = dict(zip(columns, ends[:-1].tolist(), strict=True))
    model, shares, members = records(CompiledModel, len(compiled)), 0, 0
    for number, form in enumerate(compiled):
        begin = first[form.histogram.name]
        end = begin + form.histogram.cardinality
        model[number] = (form.kind, begin, end, form.limit, form.depth, shares, members)
        shares += form.share.size
        members += form.member.size
    requirement = Requirement(
        smallest=problem.smallest_class,
        cells=int(ends[-1]),
        complete=len(compiled) == len(others),
        values=np.zeros((table.tuples, 0), dtype=np.int64),
        model=model,
        share=np.concatenate([np.zeros(0), *(form.share for form in compiled)]),
        member=np.concatenate([np.zeros(0, dtype=np.int64), *(form.member for form in compiled)]),
    )
    return requirement, first


def _compile(model: PrivacyModel, table: CountTable) -> _CompiledModel | None:
    """Return the compiled form of a model; None if it has none, as a subclass that may have changed what is ok."""
    if type(model) is LDiversity:
        return _CompiledModel(model.histogram(table), DISTINCT, model.l)
    if type(model) is EntropyLDiversity:
        return _CompiledModel(model.histogram(table), ENTROPY, model.l * (1 - TOLERANCE))
    if type(model) is RecursiveDiversity:
        return _CompiledModel(model.histogram(table), RECURSIVE, model.c * (1 - TOLERANCE), model.l)
    if isinstance(model, ThresholdModel) and model.compiled:
        histogram = model.histogram(table)
        thetas = model.thetas(histogram.totals, histogram.labels)
        return _CompiledModel(histogram, CAPS, 0.0, share=thetas * (1 + TOLERANCE))
    if type(model) is TCloseness:
        return _closeness(model, table)
    return None


def _closeness(model: TCloseness, table: CountTable) -> _CompiledModel:
    histogram, limit = model.histogram(table), model.t + TOLERANCE
    whole = histogram.shares
    if model.distance == "ordered":
        return _CompiledModel(histogram, ORDERED, limit, share=whole)
    values = np.arange(histogram.cardinality, dtype=np.int64)
    levels = [values] if model.distance == "equal" else levels_below_root(histogram.ancestors)
    members = []
    for level in levels:
        order = np.argsort(level, kind="stable").astype(np.int64)
        ends = np.diff(level[order], append=-1) != 0
        members.append(np.where(ends, ~order, order))
    return _CompiledModel(histogram, NODES, limit, len(levels), whole, np.concatenate([values[:0], *members]))


def value_of_each(histogram: Histogram) -> NDArray[np.int64]:
    """Return the one value of each tuple; -1 if it is unknown."""
    length = np.diff(histogram.offsets)
    assert (length <= 1).all(), "each tuple must have one sensitive value"
    value = np.full(length.size, -1, dtype=np.int64)
    value[length == 1] = histogram.values
    return value
