"""The tuples and hierarchies of a table as the flat arrays that grouping works on."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from discreet.counts import CountTable
from discreet.problem import Problem
from discreet.solve.kernels.classes import CODES, PACKS, AttributeLevel, AttributePack, Lattice, LevelRange
from discreet.solve.kernels.records import Records, records

__all__ = ["lay_out"]

_PACK = CODES
"""The most codes of a pack."""

_laid_out: WeakKeyDictionary[CountTable, Lattice] = WeakKeyDictionary()


def lay_out(problem: Problem) -> Lattice:
    """Return the table of a problem as flat arrays; all but the range of levels is made once per table."""
    lattice = _laid_out.get(problem.table)
    if lattice is None:
        lattice = _laid_out[problem.table] = _lay_out(problem.table)
    limits = records(LevelRange, len(problem.lowest))
    limits["lowest"][:], limits["highest"][:] = problem.lowest, problem.highest
    return lattice._replace(limits=limits)


def _lay_out(table: CountTable) -> Lattice:
    packs, wide = _pack([attribute.leaves for attribute in table.attributes])
    pack = records(AttributePack, len(packs))
    ends = np.cumsum([len(members) for members in packs], dtype=np.int64)
    pack["first"][1:], pack["end"][:] = ends[:-1], ends
    pack["codes"][:] = [prod(table.attributes[i].leaves for i in members) for members in packs]
    return Lattice(
        codes=np.ascontiguousarray(table.codes, dtype=np.int32),
        ancestors=np.concatenate([a.ancestors.ravel() for a in table.attributes]).astype(np.int32, copy=False),
        level=_levels(table),
        limits=records(LevelRange, len(table.attributes)),
        pack=pack,
        member=np.array([i for members in packs for i in members], dtype=np.int64),
        digit=_pack_digits(table, packs),
        wide=np.array(wide, dtype=np.int64),
    )


def _levels(table: CountTable) -> Records[AttributeLevel]:
    """Return the levels of every attribute; those beyond the height of an attribute have one block."""
    heights = np.array([attribute.height for attribute in table.attributes])
    leaves = np.array([attribute.leaves for attribute in table.attributes])
    own = np.arange(heights.max() + 1) <= heights[:, None]
    rows = [rows for attribute in table.attributes for rows in attribute.block_rows]
    share = np.concatenate(rows) / table.n
    surprise = -share * np.log(share, out=np.zeros_like(share), where=share > 0)
    blocks = np.array([row.size for row in rows])
    level = records(AttributeLevel, own.shape)
    level["blocks"][:] = 1
    level["start"][own] = np.cumsum([0, *np.repeat(leaves, heights + 1)])[:-1]
    level["blocks"][own] = blocks
    level["entropy"][own] = np.add.reduceat(surprise, np.cumsum([0, *blocks])[:-1])
    return level


def _pack(leaves: Sequence[int]) -> tuple[list[list[int]], list[int]]:
    """Put attributes together, largest first, wherever the product of their leaves stays small; the rest are wide."""
    packs: list[list[int]] = []
    wide = [i for i, count in enumerate(leaves) if count > _PACK]
    for i in sorted(set(range(len(leaves))) - set(wide), key=lambda i: (-leaves[i], i)):
        fitting = (pack for pack in packs if leaves[i] * prod(leaves[a] for a in pack) <= _PACK)
        pack = next(fitting, None)
        if pack is None:
            packs.append([i])
        else:
            pack.append(i)
    return packs + [[] for _ in range(-len(packs) % PACKS)], wide


def _pack_digits(table: CountTable, packs: list[list[int]]) -> NDArray[np.uint8]:
    """Return the leaf of each packed attribute in every code of its pack."""
    digits = np.zeros((sum(len(pack) for pack in packs), CODES), dtype=np.uint8)
    row = 0
    for pack in packs:
        code = np.arange(CODES)
        for i in pack:
            digits[row] = code % table.attributes[i].leaves
            code //= table.attributes[i].leaves
            row += 1
    return digits
