"""Hidden cells: how many each counting needs, how many are proven necessary, beside rows that are mended one by one."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

import discreet as dc
from discreet.solve import Budget
from discreet.solve.cells.matching import CellTable, cell_sets
from discreet.solve.cells.start import mend_each
from harness import Row, Settings

__all__ = ["run"]

_TITLE = "cells: hidden cells, and how many are proven necessary"
_KEYS = ["urbrur", "roof", "walls", "water", "electcon", "relat", "sex"]
_FORMS = {
    "classes": ("k({k})", "cells"),
    "matches": ("k({k}, unknown=matches)", "cells"),
    "matches, 1 a row": ("k({k}, unknown=matches)", "cells(most=1)"),
    "matches, 2 a row": ("k({k}, unknown=matches)", "cells(most=2)"),
}
"""What is promised, and the scheme."""


def run(settings: Settings) -> list[Row]:
    """Hide cells of each table in all forms."""
    rows = []
    for name, frame, k in _tables(settings):
        alone = _one_by_one(frame, k)
        figures: dict[str, float | int | str | None] = {"one by one": alone}
        for form, (privacy, scheme) in _FORMS.items():
            cost, bound = _hide(frame, privacy.format(k=k), scheme, settings.time_limit)
            figures |= {form: cost, f"{form}, proven": bound}
            if form == "classes":
                continue
            figures[f"{form}, ratio"] = None if cost is None or not alone else cost / alone
        rows.append(Row(_TITLE, f"{name}, k={k}", figures))
    note = (
        "one by one: each row that lacks matches hides the cheapest cells that give it enough, in one pass. ratio: to "
        "that. 1 a row: at most one hidden cell in each row, where that is possible."
    )
    return [*rows, Row(_TITLE, "", note=note)]


def _hide(frame: pl.DataFrame, privacy: str, scheme: str, limit: float) -> tuple[int | None, int | None]:
    """Return how many cells are hidden and how many are proven necessary; None if there is no such release."""
    try:
        release = dc.anonymize(
            frame, quasi_identifiers=frame.columns, privacy=privacy, scheme=scheme, time_limit=limit, seed=1
        )
    except (dc.errors.InfeasibleError, dc.errors.InterruptedRun):
        return None, None
    return round(release.cost), int(np.ceil(release.lower_bound - 1e-6))


def _one_by_one(frame: pl.DataFrame, k: int) -> int:
    """Return how many cells are hidden if rows are mended one by one."""
    counted = frame.group_by(frame.columns).len().sort(frame.columns)
    codes = counted.drop("len").select(pl.all().rank("dense")).to_numpy()
    table = CellTable(codes, counted["len"].to_numpy().astype(np.int64), np.ones(codes.shape[1]), k)
    return round(table.cost(mend_each(table, cell_sets(table), np.inf, Budget()) or {}))


def _tables(settings: Settings) -> Iterator[tuple[str, pl.DataFrame, int]]:
    """Yield the tables of sdcMicro and Adult where they are at hand, the table of an issue, and made-up people."""
    education = ["no education", "primary", "primary", "primary", "secondary", "secondary"]
    yield "sdcMicro#354", pl.DataFrame({"gender": ["male"] * 6, "education": education}), 3
    folder = settings.data / "sdcmicro"
    if folder.is_dir():
        testdata = pl.read_csv(folder / "testdata.csv").select(_KEYS)
        for k in (3,) if settings.quick else (2, 3, 5, 10):
            yield "testdata, 7 keys", testdata, k
        yield "testdata, 4 keys", testdata.select("urbrur", "roof", "walls", "sex"), 3
        francdat = pl.read_csv(folder / "francdat.csv").select("Key1", "Key2", "Key3", "Key4")
        for k in (2, 3):
            yield "francdat", francdat, k
    people = dc.sample(1000, seed=1).select("sex", "education", "marital_status", "children").drop_nulls()
    yield "1,000 people", people, 3
