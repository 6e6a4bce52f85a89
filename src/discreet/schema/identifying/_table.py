"""All columns of a table together: what each could be, and which hold values of those that name people."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from discreet.schema._schema import Role
from discreet.schema.identifying._detect import ColumnFacts, Finding, detect
from discreet.schema.identifying._leaks import Leak, find_leaks

__all__ = ["detect_all"]


def detect_all(facts: Mapping[str, ColumnFacts], sample: pl.DataFrame) -> tuple[dict[str, Finding], dict[str, Leak]]:
    """Propose a role for each column, and find identifiers in the others; both by column.

    >>> sample = pl.DataFrame({"name": ["Ann Lee", "Bo Cruz"], "remark": ["called Ann twice", "Cruz was late"]})
    >>> found, leaks = detect_all({name: ColumnFacts.of(name, sample[name]) for name in sample.columns}, sample)
    >>> str(found["name"].role), leaks["remark"].identifier
    ('identifier', 'name')
    """
    found = {name: detect(each) for name, each in facts.items()}
    direct = [name for name, finding in found.items() if finding.role is Role.IDENTIFIER]
    others = [name for name in found if name not in direct]
    return found, {leak.column: leak for leak in find_leaks(sample, direct, others)}
