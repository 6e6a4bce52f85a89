"""Results of a finished job for the page: figures to draw, never the whole table. Made in the worker process."""

from __future__ import annotations

import dataclasses
import json
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from discreet.engines import exactly, open_source
from discreet.problem import PRIVACY
from discreet.report.class_sizes import ClassSizes, edges_for
from discreet.report.numbers import number_text
from discreet.report.plain_labels import plain_label
from discreet.report.units import counted_as, values_of
from discreet.runtime.text_form import format_text
from discreet.schema import Domain, infer_type, make_domain, text_of
from discreet.studio._lattice import steps
from discreet.studio._plain import plain
from discreet.studio._script import MAPPING
from discreet.studio._table import BARS, PAGE, bars, number_bars, shown_text

if TYPE_CHECKING:
    from discreet.evaluate import RiskReport, UtilityReport
    from discreet.job import Job
    from discreet.pipeline.front import Front
    from discreet.pipeline.release import Release

__all__ = [
    "compare_page",
    "front_result",
    "release_result",
    "risk_result",
    "run_facts",
    "utility_result",
    "write_json",
]

_CLOUD = 2_000
"""Most points of the cloud drawn with a front."""
_PAIRS = 60
_TOO_SURE = 0.75
"""Certainty about a sensitive value from which a stronger promise is offered."""
_FIRST_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def write_json(path: Path, value: Any) -> None:
    """Write a result atomically."""
    unfinished = path.with_suffix(".part")
    unfinished.write_text(json.dumps(plain(value), ensure_ascii=False, allow_nan=False), encoding="utf-8")
    unfinished.replace(path)


def release_result(release: Release, job: Job, rows: Path, released: Path, formulas: int) -> dict[str, Any]:
    """Everything the page draws about a release; ``rows`` and ``released`` are the tables before and after."""
    domains = _domains(job, rows)
    before, after = pl.scan_parquet(rows, glob=False), pl.scan_parquet(released, glob=False)
    checks = release.audit.to_dict()
    return {
        "kind": "release",
        "status": release.status,
        "cost": release.cost,
        "lower_bound": release.lower_bound,
        "gap": release.gap,
        "normalized_cost": release.normalized_cost,
        "rows": release.n + release.dropped_missing,
        "released": release.audit.rows,
        "counted_as": counted_as(release),
        "values_of": values_of(release),
        "suppressed": release.suppressed,
        "people": _people(release),
        "suppressed_values": release.suppressed_values,
        "dropped_missing": release.dropped_missing,
        "classes": release.classes,
        "smallest_class": release.audit.smallest_class,
        "scheme": release.job["scheme"],
        "solver": release.job["solver"],
        "cost_name": release.job["cost"],
        "levels": release.levels,
        "verdict": release.verdict.to_dict(),
        "remedies": _remedies(release, before),
        "audit": checks,
        "promises": _promises(release),
        "attributes": [_attribute(release, column, domains, before, after) for column in domains],
        "others": _others(release, domains, before, after),
        "class_sizes": _class_sizes(release),
        "lattice": _lattice(release, domains, rows),
        "notes": [str(note) for note in release.notes],
        "warnings": [str(note) for note in release.warnings],
        "kept": [
            {"name": kept.name, "unique": kept.unique, "confirmed": kept.confirmed, "reasons": list(kept.reasons)}
            for kept in release.kept
        ],
        "seconds": release.stats["seconds"],
        "space": release.stats.get("space"),
        "examined": release.stats.get("examined"),
        "trace": [[moment.seconds, moment.best, moment.bound] for moment in release.trace[-500:]],
        "formulas": formulas,
        "mapping": Path(MAPPING).is_file(),
        "schemes": release.stats.get("schemes"),
        "average_risk": release.audit.sizes.average_risk,
        "highest_risk": release.audit.sizes.highest_risk,
        "summary": release.summary(),
    }


def _people(release: Release) -> dict[str, int] | None:
    """How many people, or households, are released and left out; None if rows are counted."""
    if release.people is None or release.suppressed_people is None:
        return None
    return {"released": release.people - release.suppressed_people, "suppressed": release.suppressed_people}


def _remedies(release: Release, before: pl.LazyFrame) -> list[dict[str, Any]]:
    """Promises that would keep sensitive columns from being inferred as surely as they can be now.

    The limit lies a third of the way from the most frequent value of the whole table to certainty: a lower one would
    ask groups to be more diverse than the table.
    """
    found = []
    for certainty in release.audit.certainties:
        _, rows = _counts(before, certainty.column)
        usual = float(rows.max() / rows.sum()) if len(rows) else 1.0
        limit = math.ceil(20 * (usual + (1 - usual) / 3)) / 20
        if certainty.highest >= _TOO_SURE and limit < min(certainty.highest, 1.0):
            text = format_text("l+", [limit, certainty.column], {})
            found.append({"column": certainty.column, "limit": limit, "text": PRIVACY.make(text).text})
    return found


def run_facts(result: Mapping[str, Any]) -> dict[str, Any]:
    """Figures of a release that the list of runs compares."""
    names = ("normalized_cost", "suppressed", "rows", "classes", "smallest_class", "highest_risk", "average_risk")
    facts = {name: result[name] for name in (*names, "status", "gap", "scheme")}
    if result["people"] is not None:
        facts["suppressed"] = result["people"]["suppressed"]
    return {name: plain(value) for name, value in facts.items()} | {"verdict": result["verdict"]["level"]}


def _domains(job: Job, rows: Path) -> dict[str, Domain]:
    """The quasi-identifiers bound to their hierarchies, for labels and levels."""
    arguments, source = job.arguments(), open_source(pl.scan_parquet(rows, glob=False))
    found = {}
    for column, tree in arguments["quasi_identifiers"].items():
        counted = source.count([column])
        found[column] = make_domain(
            column,
            counted.to_series(0),
            tree,
            type=job.types.get(column),
            rows=counted.to_series(1).to_numpy(),
        )
    return found


def _promises(release: Release) -> list[dict[str, Any]]:
    words = {"number of rows": "Every released row was written."}
    for text in release.job["privacy"]:
        model = PRIVACY.make(text)
        words[model.shown] = model.words
    return [
        {
            "model": check.model,
            "words": words.get(check.model),
            "promised": check.promised,
            "reached": check.reached,
            "reached_text": number_text(check.reached),
            "passed": check.passed,
        }
        for check in release.audit.checks
    ]


def _attribute(
    release: Release, column: str, domains: Mapping[str, Domain], before: pl.LazyFrame, after: pl.LazyFrame
) -> dict[str, Any]:
    domain = domains[column]
    level = release.levels.get(column)
    summary = next((item for item in release.columns if item.name == column), None)
    original, released = _counts(before, column), _counts(after, column)
    kind = domain.type
    order = None if level is None else {name: index for index, name in enumerate(domain.labels[level])}
    return {
        "name": column,
        "type": str(kind),
        "level": level,
        "height": domain.height,
        "levels": [
            {
                "level": number,
                "groups": len(names),
                "examples": [name for name in names[:4] if name is not None][:3],
                "chosen": number == level,
            }
            for number, names in enumerate(domain.labels)
        ],
        "loss": _loss(release, column),
        "values": len(original[0]),
        "released_values": len(released[0]),
        "before": number_bars(column, *original, kind) or bars(*original),
        "after": _released_bars(*released, order),
        "cut": None if summary is None else dataclasses.asdict(summary),
    }


def _others(
    release: Release, domains: Mapping[str, Domain], before: pl.LazyFrame, after: pl.LazyFrame
) -> list[dict[str, Any]]:
    """Histograms of released columns that were not generalized."""
    found = []
    for column in after.collect_schema().names():
        if column in domains:
            continue
        original, released = _counts(before, column), _counts(after, column)
        kind = infer_type(original[0])
        found.append(
            {
                "name": column,
                "type": str(kind),
                "before": number_bars(column, *original, kind) or bars(*original),
                "after": (number_bars(column, *released, infer_type(released[0])) or bars(*released))
                if len(released[0])
                else [],
            }
        )
    return found[:PAGE]


def _counts(frame: pl.LazyFrame, column: str) -> tuple[pl.Series, Any]:
    """Distinct non-missing values of a column, and their number of rows."""
    counted = open_source(frame.select(exactly(column))).count([column])
    present = counted.to_series(0).is_not_null()
    return counted.to_series(0).filter(present), counted.to_series(1).filter(present).to_numpy()


def _released_bars(values: pl.Series, rows: Any, order: Mapping[Any, int] | None) -> list[dict[str, Any]]:
    """Bars of the released values, in hierarchy order or by the first number in their labels."""
    if len(values) > BARS:
        kind = infer_type(values)
        return number_bars(values.name, values, rows, kind) or bars(values, rows)
    texts = text_of(values).cast(pl.String).to_list()
    found = [{"label": text, "count": int(count)} for text, count in zip(texts, rows, strict=True)]
    if order is not None:
        return sorted(found, key=lambda bar: (order.get(bar["label"], len(order)), str(bar["label"])))
    numbers = [_FIRST_NUMBER.search(str(bar["label"])) for bar in found]
    if all(numbers):
        return [bar for _, bar in sorted(zip(numbers, found, strict=True), key=lambda pair: float(pair[0][0]))]  # type: ignore[index]
    return sorted(found, key=lambda bar: -bar["count"])


def _loss(release: Release, column: str) -> float | None:
    """Mean share of the domain that a released value covers; None for local recoding."""
    block = release.block_ids.get(column)
    if block is None:
        return None
    sizes = np.bincount(np.unique(block, return_inverse=True)[1])
    return float(((sizes - 1) * sizes).sum() / max(1, (len(block) - 1) * len(block)))


def _class_sizes(release: Release) -> dict[str, Any]:
    before: ClassSizes = release.before
    after: ClassSizes = release.audit.sizes
    edges = edges_for(before, after)
    return {
        "edges": list(edges),
        "before": before.ranges(edges),
        "after": after.ranges(edges),
        "facts_before": before.to_dict(),
        "facts_after": after.to_dict(),
    }


def _lattice(release: Release, domains: Mapping[str, Domain], rows: Path) -> dict[str, Any] | None:
    """Position of the release in the lattice, and its neighbours."""
    if not release.levels:
        return None
    least = max(PRIVACY.make(text).minimum_size for text in release.job["privacy"])
    person = release.job.get("household") or release.job.get("person")
    columns = [*domains, *([] if person is None else [person])]
    counted = open_source(pl.scan_parquet(rows, glob=False)).count(columns)
    return {
        "levels": release.levels,
        "heights": {column: domain.height for column, domain in domains.items()},
        "least": least,
        "steps": steps(counted, domains, release.levels, least, person),
    }


def front_result(front: Front) -> dict[str, Any]:
    """The points of a front, for the chart."""
    knee = None
    if len(front.points) > 2:
        chosen = front.knee()
        number = front.points.index(chosen.point)
        knee = {"point": number, "reason": chosen.reason, "recommended": chosen.recommended}
    points = [{"number": number, "k": point.k, **point.to_dict()} for number, point in enumerate(front.points)]
    return {
        **front.to_dict(),
        "kind": "front",
        "points": points,
        "knee": knee,
        "values_of": "people" if front.problem.people is None else "rows",
        "picture": _picture(front),
        "svg": str(front.plot().render("svg")),
    }


def _picture(front: Front) -> dict[str, Any] | None:
    """What is drawn of a front, as plain data."""
    from discreet.report.front.plot import picture_of

    if not front.points:
        return None
    fields = dataclasses.asdict(picture_of(front))
    cloud = fields["cloud"]
    return {**fields, "cloud": cloud[:: len(cloud) // _CLOUD + 1], "evaluated": len(cloud)}


def risk_result(
    report: RiskReport, before: RiskReport | None, attacked: Any, missing: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Risks of the release and of the original table, and the outcome of attacks on the release.

    ``missing`` says why figures are not there.
    """
    reasons = dict(missing or {})
    if report.journalist is None:
        reasons["journalist"] = "This needs the population, or a column with survey weights; there is neither."
    return {
        "missing": reasons,
        **_risk(report),
        "original": None if before is None else _risk(before),
        "attacks": None if attacked is None else attacked.to_dict(),
        "summary": report.summary(),
    }


def _risk(report: RiskReport) -> dict[str, Any]:
    fields = report.to_dict()
    sizes = ClassSizes(*(tuple(report.sizes[name].to_list()) for name in ("size", "classes", "rows")))
    edges = edges_for(sizes)
    fields["sizes"] = {"edges": list(edges), "rows": sizes.ranges(edges)}
    if isinstance(fields["columns"].get("combinations"), list):
        fields["columns"]["combinations"] = fields["columns"]["combinations"][:_PAIRS]
    return fields


def utility_result(report: UtilityReport, missing: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Utility of the release, for the charts. ``missing`` says why figures are not there."""
    queries = report.queries
    reasons = dict(missing or {})
    if report.association_difference is None:
        reasons["associations"] = "They need two columns with more than one value each, before and in the release."
    if report.unclear:
        reasons["costs"] = " ".join(report.unclear_notes())
    return {
        "missing": reasons,
        "rows": report.rows,
        "released_rows": report.released_rows,
        "suppressed_values": report.suppressed_values,
        "costs": report.costs.to_dicts(),
        "attributes": report.attributes.to_dicts(),
        "associations": report.associations.sort(pl.col("difference").abs(), descending=True).head(_PAIRS).to_dicts(),
        "association_difference": report.association_difference,
        "queries": None
        if queries is None
        else {"count": queries.frame.height, "mean": queries.mean, "median": queries.median},
        "classifiers": None if report.classifiers is None else report.classifiers.to_dicts(),
        "summary": report.summary(),
    }


def compare_page(
    rows: pl.DataFrame, offset: int, kept: Any, released: pl.LazyFrame, types: Mapping[str, str]
) -> dict[str, Any]:
    """Page of the original table with the released version of each row, None for suppressed rows.

    ``rows`` starts at row ``offset``. ``kept`` holds the indices of the released rows, ascending, and for each its
    index in ``released``, which is shuffled. ``types`` are those of the columns, to write ranges in plain words.
    """
    originals, indices = kept
    first, last = np.searchsorted(originals, [offset, offset + rows.height])
    after = shown_text(released.select(pl.all().gather(pl.Series(indices[first:last]))).collect())
    released_row = {int(row) - offset: cells for row, cells in zip(originals[first:last], after.rows(), strict=True)}
    index_of = {column: index for index, column in enumerate(after.columns)}
    indexes = [index_of.get(column) for column in rows.columns]
    compared: list[list[Any] | None] = [
        [
            None if index is None else plain_label(released_row[row][index], types[column])
            for column, index in zip(rows.columns, indexes, strict=True)
        ]
        if row in released_row
        else None
        for row in range(rows.height)
    ]
    changed = [
        None if new is None else [i is not None and old != now for old, now, i in zip(cells, new, indexes, strict=True)]
        for cells, new in zip(rows.rows(), compared, strict=True)
    ]
    return {
        "before": rows.rows(),
        "after": compared,
        "changed": changed,
        "suppressed": [new is None for new in compared],
        "dropped": [column for column in rows.columns if column not in index_of],
    }
