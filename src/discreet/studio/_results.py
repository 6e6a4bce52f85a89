"""What a finished job tells the page, made in the process that did it: numbers for drawing, never the whole table."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from discreet.engines import exactly, open_source
from discreet.problem import PRIVACY
from discreet.release._audit import number_text
from discreet.release._sizes import ClassSizes, edges_for
from discreet.schema import Domain, infer_type, make_domain, text_of
from discreet.studio._lattice import steps
from discreet.studio._plain import plain
from discreet.studio._table import BARS, PAGE, bars, number_bars, shown_text

if TYPE_CHECKING:
    from discreet.evaluate import RiskReport, UtilityReport
    from discreet.job import Job
    from discreet.release import Front, Release

__all__ = ["front_result", "page_beside", "release_result", "risk_result", "utility_result", "write_json"]

_CLOUD = 2_000
"""The most points of the cloud behind a front."""
_PAIRS = 60
_FIRST_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def write_json(path: Path, value: Any) -> None:
    """Write a result where the page can be told of it; it appears when it is complete."""
    unfinished = path.with_suffix(".part")
    unfinished.write_text(json.dumps(plain(value), ensure_ascii=False, allow_nan=False), encoding="utf-8")
    unfinished.replace(path)


def release_result(release: Release, job: Job, rows: Path, released: Path, formulas: int) -> dict[str, Any]:
    """Return all about a release that the page draws; ``rows`` and ``released`` are the tables before and after."""
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
        "suppressed": release.suppressed,
        "suppressed_values": release.suppressed_values,
        "dropped_missing": release.dropped_missing,
        "classes": release.classes,
        "smallest_class": release.audit.smallest_class,
        "scheme": release.job["scheme"],
        "solver": release.job["solver"],
        "cost_name": release.job["cost"],
        "levels": release.levels,
        "audit": checks,
        "promises": _promises(release),
        "attributes": [_attribute(release, column, domains, before, after) for column in domains],
        "others": _others(release, domains, before, after),
        "class_sizes": _class_sizes(release),
        "lattice": _lattice(release, domains, rows),
        "notes": [str(note) for note in release.notes],
        "warnings": [str(note) for note in release.warnings],
        "kept": [
            {"name": one.name, "unique": one.unique, "confirmed": one.confirmed, "reasons": list(one.reasons)}
            for one in release.kept
        ],
        "seconds": release.stats["seconds"],
        "space": release.stats.get("space"),
        "examined": release.stats.get("examined"),
        "trace": [[moment.seconds, moment.best, moment.bound] for moment in release.trace[-500:]],
        "formulas": formulas,
        "mapping": job.mapping is not None,
        "summary": release.summary(),
    }


def _domains(job: Job, rows: Path) -> dict[str, Domain]:
    """Bind the columns to their hierarchies once more, for their names and levels."""
    told, source = job.arguments(), open_source(pl.scan_parquet(rows, glob=False))
    found = {}
    for column, tree in told["quasi_identifiers"].items():
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
    words = {"number of rows": "As many rows were written as were meant to be."}
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
    told = next((item for item in release.columns if item.name == column), None)
    had, has = _counts(before, column), _counts(after, column)
    kind = domain.type
    first = number_bars(column, had[0], had[1], kind) or bars(had[0], had[1])
    order = None if level is None else {name: place for place, name in enumerate(domain.labels[level])}
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
        "values": len(had[0]),
        "released_values": len(has[0]),
        "before": first,
        "after": _released_bars(has[0], has[1], order),
        "cut": None if told is None else dataclasses.asdict(told),
    }


def _others(
    release: Release, domains: Mapping[str, Domain], before: pl.LazyFrame, after: pl.LazyFrame
) -> list[dict[str, Any]]:
    """Return the histograms of released columns that were not made coarser."""
    found = []
    for column in after.collect_schema().names():
        if column in domains:
            continue
        had, has = _counts(before, column), _counts(after, column)
        kind = infer_type(had[0])
        found.append(
            {
                "name": column,
                "type": str(kind),
                "before": number_bars(column, *had, kind) or bars(*had),
                "after": number_bars(column, *has, infer_type(has[0])) or bars(*has) if len(has[0]) else [],
            }
        )
    return found[:PAGE]


def _counts(frame: pl.LazyFrame, column: str) -> tuple[pl.Series, Any]:
    """Return the values of a column that are not missing, and their rows."""
    counted = open_source(frame.select(exactly(column))).count([column])
    present = counted.to_series(0).is_not_null()
    return counted.to_series(0).filter(present), counted.to_series(1).filter(present).to_numpy()


def _released_bars(values: pl.Series, rows: Any, order: Mapping[Any, int] | None) -> list[dict[str, Any]]:
    """Return the released values in the order of the hierarchy, or by the first number in their names."""
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
    """Return the share of all values a value could stand for, in the mean over the values; None for local recoding."""
    if column not in release.partition:
        return None
    _, block = release.partition[column]
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
    """Return where the release is among all choices of levels, and what one step more or less would mean."""
    if not release.levels:
        return None
    least = max(PRIVACY.make(text).minimum_size for text in release.job["privacy"])
    counted = open_source(pl.scan_parquet(rows, glob=False)).count(list(domains))
    return {
        "levels": release.levels,
        "heights": {column: domain.height for column, domain in domains.items()},
        "least": least,
        "steps": steps(counted, domains, release.levels, least),
    }


def front_result(front: Front) -> dict[str, Any]:
    """Return the points of a front for drawing and choosing."""
    told = front.to_dict()
    knee = None
    if len(front.points) > 2:
        chosen = front.knee()
        knee = {"point": front.points.index(chosen.point), "reason": chosen.reason}
    cloud = front.cloud
    if len(cloud) > _CLOUD:
        cloud = cloud[:: len(cloud) // _CLOUD + 1]
    points = [{"number": number, "k": point.k, **point.to_dict()} for number, point in enumerate(front.points)]
    return {
        **told,
        "kind": "front",
        "points": points,
        "knee": knee,
        "cloud": cloud.tolist(),
        "svg": str(front.plot().render("svg")),
    }


def risk_result(report: RiskReport, before: RiskReport | None, attacked: Any) -> dict[str, Any]:
    """Return the risks for drawing: of the release, of the original table, and how attacks on the release went."""
    return {
        **_risk(report),
        "original": None if before is None else _risk(before),
        "attacks": None if attacked is None else attacked.to_dict(),
        "summary": report.summary(),
    }


def _risk(report: RiskReport) -> dict[str, Any]:
    told = report.to_dict()
    sizes = ClassSizes(tuple(report.sizes["size"].to_list()), tuple(report.sizes["classes"].to_list()))
    edges = edges_for(sizes)
    told["sizes"] = {"edges": list(edges), "rows": sizes.ranges(edges)}
    if isinstance(told["columns"].get("combinations"), list):
        told["columns"]["combinations"] = told["columns"]["combinations"][:_PAIRS]
    return told


def utility_result(report: UtilityReport) -> dict[str, Any]:
    """Return what the release is still good for, for drawing."""
    queries = report.queries
    return {
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


def page_beside(rows: pl.DataFrame, offset: int, kept: Any, released: pl.LazyFrame) -> dict[str, Any]:
    """Return a page of the original table with what became of each row; None for a row that was left out.

    ``rows`` are the rows from ``offset`` on. ``kept`` has the numbers of the released ones, in order, and below each
    the place it has in ``released``, which is shuffled.
    """
    numbers, places = kept
    first, last = np.searchsorted(numbers, [offset, offset + rows.height])
    after = shown_text(released.select(pl.all().gather(pl.Series(places[first:last]))).collect())
    columns = [column for column in rows.columns if column in after.columns]
    place = {int(number) - offset: line for number, line in zip(numbers[first:last], after.rows(), strict=True)}
    at = [after.columns.index(column) if column in columns else None for column in rows.columns]
    beside = [
        None if line not in place else [None if spot is None else place[line][spot] for spot in at]
        for line in range(rows.height)
    ]
    changed = [
        None if new is None else [spot is not None and old != now for old, now, spot in zip(line, new, at, strict=True)]
        for line, new in zip(rows.rows(), beside, strict=True)
    ]
    return {
        "before": rows.rows(),
        "after": beside,
        "changed": changed,
        "suppressed": [new is None for new in beside],
        "dropped": [column for column in rows.columns if column not in columns],
    }
