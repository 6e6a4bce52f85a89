"""How good a released table is, whoever made it: its smallest class and its loss (LM), from its values alone."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import polars as pl

__all__ = ["Quality", "Tree", "from_levels", "from_sets", "judge"]

Tree = list[list[str]]
"""A hierarchy as rows: the leaf first, the root last."""
Leaves = Callable[[Tree, pl.Series], Mapping[str, int]]
"""For each released value of a column, how many leaves it may stand for."""


@dataclass(frozen=True)
class Quality:
    """The smallest class, how many rows are published and suppressed, and the loss of both together."""

    smallest_class: int
    published: int
    suppressed: int
    loss: float


def judge(released: pl.DataFrame, trees: Mapping[str, Path], rows: int, leaves: Leaves) -> Quality:
    """Judge released texts; a column ``count`` says how many rows each line stands for, if there is one."""
    if "count" not in released.columns:
        released = released.with_columns(count=pl.lit(1))
    weight = released["count"].cast(pl.Int64)
    published = int(weight.sum())
    loss = float((rows - published) * len(trees))
    for column, path in trees.items():
        tree = _read(path)
        if len(tree) > 1:
            held = leaves(tree, released[column])
            share = {value: (count - 1) / (len(tree) - 1) for value, count in held.items()}
            loss += float((released[column].replace_strict(share, return_dtype=pl.Float64) * weight).sum())
    classes = released.with_columns(count=weight).group_by(list(trees)).agg(pl.col("count").sum())
    return Quality(int(classes["count"].min() or 0), published, rows - published, loss)  # type: ignore[arg-type]


def from_levels(tree: Tree, released: pl.Series) -> dict[str, int]:
    """Full-domain values: all names of one level, the lowest that has them all."""
    values = set(released.unique().to_list())
    for level in range(len(tree[0])):
        names = [row[level] for row in tree]
        if values <= set(names):
            return {value: names.count(value) for value in values}
    raise ValueError(f"column '{released.name}' does not hold the values of one level")


def from_sets(tree: Tree, released: pl.Series) -> dict[str, int]:
    """Sets as ``a,b`` and, where all leaves are numbers, ranges as ``20-29``."""
    leaves = [row[0] for row in tree]
    values = released.unique().to_list()
    if not all(leaf.isdigit() for leaf in leaves) or any("," in value for value in values):
        return {value: len(value.split(",")) for value in values}
    numbers = [int(leaf) for leaf in leaves]
    ends = {value: [int(end) for end in value.split("-")] for value in values}
    return {value: sum(end[0] <= number <= end[-1] for number in numbers) for value, end in ends.items()}


def _read(path: Path) -> Tree:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file, delimiter=";"))
