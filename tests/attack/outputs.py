"""Releases of small tables as frames and files of several formats, read back without discreet."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

import discreet as dc

__all__ = ["FORMATS", "Released", "release_into"]

FORMATS = ["", "csv", "parquet", "tsv", "jsonl"]
"""Endings of the files that are written; without one the release stays a frame."""


@dataclass(frozen=True)
class Released:
    """A release, and what anybody can read of it."""

    release: dc.Release
    shown: pl.DataFrame
    content: bytes
    """What was written, or the rows of the frame."""


def release_into(
    ending: str, target: Path, table: pl.DataFrame, *, quasi: dict[str, Any], scheme: str, engine: str, **options: Any
) -> Released:
    """Release a table with the sensitive column ``s``: as a frame, or from one file into another beside ``target``."""
    options |= {
        "quasi_identifiers": dict.fromkeys(quasi) if scheme == "local" else quasi,
        "sensitive": ["s"],
        "scheme": scheme,
    }
    if not ending:
        release = dc.anonymize(table, **options)
        return Released(release, release.frame, repr(release.frame.to_dicts()).encode())
    source, output = target.with_suffix(".csv"), target.with_name(f"{target.name}-safe.{ending}")
    table.write_csv(source)
    release = dc.anonymize(source, output=output, engine=engine, **options)
    return Released(release, _read(output, table.columns), output.read_bytes())


def _read(path: Path, columns: list[str]) -> pl.DataFrame:
    """Read an output without discreet."""
    if not path.stat().st_size:  # JSON lines without a row
        return pl.DataFrame(schema=dict.fromkeys(columns, pl.String))
    if path.suffix == ".parquet":
        return pl.read_parquet(path)
    if path.suffix == ".jsonl":
        return pl.read_ndjson(path, infer_schema_length=None)
    return pl.read_csv(path, separator="\t" if path.suffix == ".tsv" else ",", infer_schema=False)
