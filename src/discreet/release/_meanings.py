"""What each released value stands for, known from the recoding: it need not be guessed from the text of the value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from discreet.errors import DataError
from discreet.release._columns import is_automatic, released_names
from discreet.schema import Hierarchy, LevelBuilder, Naming

if TYPE_CHECKING:
    from discreet.counts import IntArray
    from discreet.engines import Recoding
    from discreet.evaluate._released_as import ReleasedAs
    from discreet.schema import Domain
    from discreet.solve import Cover

__all__ = ["meanings", "own_hierarchy"]


def meanings(
    domains: Mapping[str, Domain],
    given: Mapping[str, Any],
    blocks: Sequence[IntArray],
    covers: Sequence[Cover],
    recoding: Recoding,
) -> dict[str, ReleasedAs]:
    """Return for each quasi-identifier the hierarchy it was released with, and what its released values stand for.

    They stand for ``blocks`` of a global recoding or for ``covers`` of a local one; without either they are means.
    """
    from discreet.evaluate._released_as import ReleasedAs

    found = {}
    for number, (name, domain) in enumerate(domains.items()):
        values: dict[str, Sequence[str | None]] = {}
        if blocks:
            values = _of_blocks(domain, blocks[number], recoding)
        elif covers:
            values = _of_groups(domain, covers[number], recoding)
        from_table = given[name] is None or isinstance(given[name], LevelBuilder)
        found[name] = ReleasedAs(own_hierarchy(domain, given[name]), values, is_automatic(domain), from_table)
    return found


def own_hierarchy(domain: Domain, given: Any) -> Any:
    """Return the hierarchy a column was released by, also an automatic one; None where there was none."""
    if not is_automatic(domain) and domain.naming is Naming.FIXED:
        return given
    if domain.labels[0][-1] is not None:
        return Hierarchy(domain.labels, domain.ancestors.copy())  # type: ignore[arg-type]
    labels = [[name for name in level if name is not None] for level in domain.labels]
    return Hierarchy(labels, domain.ancestors[:, :-1].copy())


def _of_blocks(domain: Domain, blocks: IntArray, recoding: Recoding) -> dict[str, Sequence[str | None]]:
    """Return the leaves of each block by the name it is released as."""
    _, block = np.unique(blocks, return_inverse=True)
    names = released_names(domain, block, int(block.max(initial=-1)) + 1, recoding)
    order = np.argsort(block, kind="stable")
    ends = np.cumsum(np.bincount(block))
    leaves = [domain.labels[0][leaf] for leaf in order.tolist()]
    begins = [0, *ends[:-1].tolist()]
    return {
        name: leaves[begin:end]
        for name, begin, end in zip(names, begins, ends.tolist(), strict=True)
        if name is not None
    }


def _of_groups(domain: Domain, cover: Cover, recoding: Recoding) -> dict[str, Sequence[str | None]]:
    """Return the leaves each released value of a local recoding covers; ranges say so themselves."""
    shown = None if recoding.shares is None else recoding.shares.shown.get(domain.name)
    if shown is None:
        return {str(name): [name] for name in domain.labels[0] if name is not None}
    if cover.form == "range":
        return {}
    groups = pl.DataFrame({"text": shown.cast(pl.String), "first": cover.first, "second": cover.second})
    if cover.form == "node":
        groups = groups.unique(maintain_order=True)
    else:
        groups = groups.unique("text", maintain_order=True)
    found: dict[str, Sequence[str | None]] = {}
    for text, first, second in groups.drop_nulls("text").iter_rows():
        node = cover.form == "node"
        leaves: IntArray = np.flatnonzero(domain.ancestors[first] == second) if node else cover.leaves[first:second]
        values = [domain.labels[0][leaf] for leaf in leaves.tolist()]
        if found.setdefault(text, values) != values:
            raise DataError(
                f"Column '{domain.name}' is released with a value that stands for one thing in some rows and for "
                "another elsewhere, so that it cannot be measured; give groups of its hierarchy names of their own.",
                column=domain.name,
            )
    return found
