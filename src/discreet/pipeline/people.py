"""People in a release: who is left out with all rows, and pseudonyms."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.engines import ValueMap

if TYPE_CHECKING:
    from discreet.engines import Counted, Recoding
    from discreet.pipeline.prepare import Prepared
    from discreet.solve import Solution

__all__ = ["draw_pseudonyms", "with_people"]


def with_people(recoding: Recoding, prepared: Prepared, counted: Counted, solution: Solution, choices: str) -> Recoding:
    """Return a recoding that also leaves out suppressed people and replaces people by pseudonyms, if asked for.

    ``choices`` is the text of the job. Pseudonyms depend on it and on the seed: two releases of a table that differ in
    anything have different ones, so that nobody can join them by pseudonym.
    """
    schema, seed = prepared.schema, prepared.settings.seed
    assert schema.unit is not None
    assert counted.owners is not None
    gone = getattr(solution, "suppressed_people", None)
    left_out = {}
    if gone is not None and len(gone):
        left_out = {schema.unit: pl.Series(counted.owners.numbers[np.asarray(gone)], dtype=pl.Int64)}
    maps = dict(recoding.maps)
    for column in schema.owners if schema.pseudonyms else ():
        if column == schema.unit:
            numbers = pl.Series(counted.owners.numbers)
        else:
            numbers = prepared.source.count([column]).to_series(0)
        named = draw_pseudonyms(len(numbers), f"{seed} {column} {choices}")
        maps[column] = ValueMap(numbers, named.set(numbers.is_null(), None) if numbers.null_count() else named)
    return replace(recoding, maps=maps, left_out=left_out)


def draw_pseudonyms(count: int, secret: str) -> pl.Series:
    """Return distinct pseudonyms of 16 hexadecimal digits, drawn by a secret text: the seed of the job and its choices.

    They depend on nothing else, so that nobody without the seed can tell whose they are, or in which order people were.

    >>> draw_pseudonyms(2, "7").to_list() == draw_pseudonyms(2, "7").to_list() != draw_pseudonyms(2, "8").to_list()
    True
    """
    drawn: NDArray[np.uint64] = np.zeros(0, dtype=np.uint64)
    wanted = count
    while drawn.size < count:  # two of 2**64 are rarely the same
        stream = hashlib.shake_256(f"discreet pseudonyms {secret}".encode()).digest(8 * wanted)
        found = np.frombuffer(stream, dtype="<u8")
        drawn = found[np.sort(np.unique(found, return_index=True)[1])][:count]
        wanted += count
    text = "".join(f"{number:016x}" for number in drawn.tolist())
    return pl.Series([text[start : start + 16] for start in range(0, 16 * count, 16)], dtype=pl.String)
