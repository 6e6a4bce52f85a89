"""The mapping of a release: what each value of each column became, so that the recoding can be applied to other rows.

A mapping lists values of the original data, rare ones too. It is for the owner of the data.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from discreet.counts import IntArray
from discreet.engines import Recoding
from discreet.errors import UsageError
from discreet.pipeline.pickling import unpickled
from discreet.problem import PrivacyModel, Scheme
from discreet.runtime.atomic_write import check_target, replacing
from discreet.runtime.versions import versions
from discreet.schema import Builder, Domain, Hierarchy, LevelBuilder, Naming, Schema, as_hierarchy, text_of
from discreet.schema.mapping_file import FORMAT, KIND

if TYPE_CHECKING:
    from discreet.pipeline.release import Release
    from discreet.solve import Solution

__all__ = ["Recipe", "check_mapping", "leaf_of", "make_mapping", "write_mapping"]

_WARNING = "This file lists values of the original data. It is for their owner only; keep it as safe as the data."


@dataclass(frozen=True, eq=False)
class Recipe:
    """Everything needed to apply a global recoding to other rows."""

    schema: Schema
    domains: Mapping[str, Domain]
    solution: Solution
    recoding: Recoding
    trees: Mapping[str, Hierarchy | Builder]
    """The hierarchies of sensitive columns."""
    privacy: tuple[PrivacyModel, ...]
    missing: str
    missing_sensitive: str


def check_mapping(path: Path, schemes: Scheme | Mapping[str, Scheme], suppression: str) -> Path:
    """Refuse a mapping that could not be written in the end, and return its path."""
    chosen = list(schemes.values()) if isinstance(schemes, Mapping) else [schemes]
    if not all(scheme.is_global for scheme in chosen):
        raise _no_mapping("With the scheme local equal values become different ones")
    if suppression.startswith("violating") or suppression == "class-values":
        raise _no_mapping(f"'{suppression}' suppresses single records or values, which depends on the rows")
    return _check(path)


def _check(path: Path) -> Path:
    if path.suffix.lower() != ".json":
        raise UsageError(f"A mapping is written as JSON; end the name '{path.name}' in .json.")
    return check_target(path)


def _no_mapping(why: str) -> UsageError:
    return UsageError(
        f"{why}, so that there is no mapping; choose another scheme and the suppression none, budget or class-records."
    )


def write_mapping(release: Release, path: Path) -> Path:
    """Write the mapping of a release as JSON, readable by its owner alone."""
    target = _check(path)
    text = json.dumps(make_mapping(release), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    with replacing(target, private=True) as unfinished:
        unfinished.write_text(text, encoding="utf-8")
    return target


def make_mapping(release: Release) -> dict[str, Any]:
    """Return the mapping of a release as plain data."""
    if release.provenance is None:
        raise unpickled("the mapping", "write it with release.mapping before pickling")
    recipe = release.provenance.recipe
    if release.job.get("derive"):
        raise UsageError(
            "Columns were derived, which a mapping does not do, so that it would release other rows as they are; leave "
            "derive out to have one.",
            topic="derive",
        )
    if recipe is None:
        raise _no_mapping("Equal values became different ones, or records were left out before the search")
    if recipe.recoding.parts is not None:
        raise _no_mapping("Single records or values were suppressed, which depends on the rows")
    if recipe.recoding.everything:
        raise UsageError("Every row was suppressed, so there is nothing to apply to other rows; ask for less.")
    schema = recipe.schema
    released = {
        name: _released_leaves(domain, recipe.solution, number, recipe.recoding)
        for number, (name, domain) in enumerate(recipe.domains.items())
    }
    return {
        "kind": KIND,
        "format": FORMAT,
        "warning": _WARNING,
        "made": release.made,
        "columns": {
            name: {
                **_column(
                    domain,
                    released[name],
                    recipe.solution.blocks[number],
                    name in recipe.recoding.kept,
                    _rule(recipe, number),
                ),
                "hierarchy": _levels(domain),
            }
            for number, (name, domain) in enumerate(recipe.domains.items())
        },
        "suppressed": _suppressed(recipe, released),
        "identifiers": list(schema.identifiers),
        "others": list(schema.insensitive),
        **({"keep": list(schema.keep)} if schema.keep else {}),
        "sensitive": {name: _tree(recipe.trees.get(name)) for name in schema.sensitive},
        "class_attribute": schema.class_attribute,
        **({} if schema.weights is None else {"weights": schema.weights}),
        **{str(schema.role(column)): column for column in schema.owners},
        "types": {name: str(kind) for name, kind in schema.types.items()},
        "missing": recipe.missing,
        "missing_sensitive": recipe.missing_sensitive,
        "privacy": [model.text for model in recipe.privacy],
        "versions": versions(),
    }


def _released_leaves(domain: Domain, solution: Solution, number: int, recoding: Recoding) -> list[str | None]:
    """Return the released value of each leaf of a column, including leaves that do not occur."""
    if solution.levels is not None:
        level = solution.levels[number]
        names = [domain.labels[level][block] for block in domain.ancestors[level].tolist()]
    else:
        _, block = np.unique(solution.blocks[number], return_inverse=True)
        by_block = domain.block_names(block)
        names = [by_block[index] for index in block.tolist()]
    if domain.name in recoding.maps:  # the release chose one of several spellings of a value
        chosen = text_of(recoding.maps[domain.name].released).to_list()
        for leaf, text in zip(domain.codes.tolist(), chosen, strict=True):
            names[leaf] = text
    return names


def _column(
    domain: Domain, released: list[str | None], blocks: IntArray, kept: bool, rule: dict[str, Any] | None
) -> dict[str, Any]:
    """Return what becomes of the values of a column.

    Labels name only values of released rows, so a value that only suppressed rows had may have none. Rows with such a
    value are suppressed again.
    """
    covered = domain.covered(blocks)
    known = [leaf for leaf, label in enumerate(domain.labels[0]) if label is not None and covered[leaf]]
    missing = [leaf for leaf, label in enumerate(domain.labels[0]) if label is None]
    lost = [leaf for leaf in np.unique(domain.codes).tolist() if not covered[leaf]]
    top = domain.labels[-1]
    return {
        "type": str(domain.type),
        "values": [domain.labels[0][leaf] for leaf in known],
        "released": None if kept else [released[leaf] for leaf in known],
        "missing": {"released": released[missing[0]]} if missing else None,
        "left_out": [domain.labels[0][leaf] for leaf in lost],
        "top": top[0] if len(top) == 1 else None,
        "rule": rule,
    }


def _levels(domain: Domain) -> dict[str, Any] | None:
    """Return the hierarchy of a column, each row from leaf to root, so that the release can be measured later."""
    if not domain.text:
        return None
    known = [leaf for leaf, label in enumerate(domain.labels[0]) if label is not None]
    levels = zip(domain.labels, domain.ancestors, strict=True)
    names = [[labels[block] for block in blocks[known].tolist()] for labels, blocks in levels]
    return {"automatic": domain.automatic, "rows": [list(row) for row in zip(*names, strict=True)]}


def _rule(recipe: Recipe, number: int) -> dict[str, Any] | None:
    """Return how to generalize values that are not in the table, where a builder defines that value by value."""
    domain = list(recipe.domains.values())[number]
    level = None if recipe.solution.levels is None else int(recipe.solution.levels[number])
    if not level or domain.given is None or domain.naming is Naming.BY_VALUES:
        return None
    if not isinstance(_as_builder(domain.given), LevelBuilder):
        return None
    return {"hierarchy": domain.given, "level": level}


def _as_builder(text: str) -> Hierarchy | Builder | None:
    """Return the builder of a text form; None for a file name."""
    try:
        return as_hierarchy(text) if "(" in text else None
    except UsageError:
        return None


def _suppressed(recipe: Recipe, released: Mapping[str, list[str | None]]) -> list[list[str | None]]:
    """Return the suppressed classes as released values of all columns."""
    suppressed = recipe.recoding.suppressed
    if suppressed is None:
        return []
    columns = []
    for name, leaves in released.items():
        text = text_of(suppressed[name]) if name in suppressed.columns else pl.Series([leaves[0]], dtype=pl.String)
        columns.append(text.to_list() * (suppressed.height if name not in suppressed.columns else 1))
    return [list(row) for row in zip(*columns, strict=True)]


def _tree(tree: Hierarchy | Builder | None) -> Any:
    if tree is None or isinstance(tree, Builder):
        return None if tree is None else tree.text
    return {"rows": tree.rows()}


def leaf_of(texts: pl.Series, known: list[str]) -> IntArray:
    """Return the index of each text among known values, whatever the spelling of a number; -1 if it is not there."""
    indices = np.arange(len(known), dtype=np.int32)[np.newaxis]
    return Hierarchy([known], indices).find(texts)
