"""``discreet info``: what is in a table, and what in it could identify people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from discreet._places import shown
from discreet._words import amount
from discreet.cli._answer import echo_json
from discreet.cli._options import json_option

if TYPE_CHECKING:
    from discreet.engines import Source

__all__ = ["info"]


@click.command(
    epilog="""\b
Examples:
  discreet info people.csv
  discreet info people.parquet --json

\b
'unique' is the share of rows whose value nobody else has. The roles are guesses from names and values:
check them. The line below the table says how many people the suggested quasi-identifiers single out.""",
)
@click.argument("file", metavar="FILE")
@json_option
def info(file: str, as_json: bool) -> None:
    """Show what is in the table FILE, and what could identify people."""
    from discreet.engines import open_source

    facts = _facts(open_source(file))
    if as_json:
        echo_json({"file": shown(file), **facts})
    else:
        click.echo(_table(facts))


def _facts(source: Source) -> dict[str, Any]:
    from discreet.schema import Role

    columns = [_column(source, name) for name in source.columns]
    likely = [column["name"] for column in columns if column["suggested_role"] == str(Role.QUASI_IDENTIFIER)]
    facts: dict[str, Any] = {"rows": columns[0]["rows"] if columns else 0, "columns": columns}
    for column in columns:
        del column["rows"]
    if likely:
        sizes = source.count(likely).to_series(-1)
        facts["quasi_identifiers"] = {
            "columns": likely,
            "classes": len(sizes),
            "unique_rows": int((sizes == 1).sum()),
            "smallest_class": int(sizes.min() or 0),  # type: ignore[arg-type]
        }
    return facts


def _column(source: Source, name: str) -> dict[str, Any]:
    from discreet.schema import infer_type, suggest_roles

    counted = source.count([name])
    values, sizes = counted.to_series(0), counted.to_series(1)
    rows = int(sizes.sum())
    return {
        "name": name,
        "type": str(infer_type(values)),
        "missing": int(sizes.filter(values.is_null()).sum()),
        "distinct": len(values) - values.null_count(),
        "unique": round(float((sizes == 1).sum()) / max(rows, 1), 6),
        "suggested_role": str(suggest_roles(name, values, rows)),
        "rows": rows,
    }


def _table(facts: dict[str, Any]) -> str:
    head = ("column", "type", "missing", "distinct", "unique", "suggested role")
    body = [
        (
            column["name"],
            column["type"],
            f"{column['missing']:,}",
            f"{column['distinct']:,}",
            f"{100 * column['unique']:.1f} %",
            column["suggested_role"],
        )
        for column in facts["columns"]
    ]
    widths = [max(map(len, cells)) for cells in zip(head, *body, strict=True)]
    numeric = {2, 3, 4}
    lines = [f"{amount(facts['rows'], 'row')}, {amount(len(body), 'column')}", ""]
    for row in (head, *body):
        cells = (
            cell.rjust(width) if place in numeric else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        lines.append("  ".join(cells).rstrip())
    if "quasi_identifiers" in facts:
        found = facts["quasi_identifiers"]
        share = 100 * found["unique_rows"] / max(facts["rows"], 1)
        lines += [
            "",
            f"Together {', '.join(found['columns'])}",
            f"single out {found['unique_rows']:,} of {amount(facts['rows'], 'row')} ({share:.1f} %).",
        ]
    return "\n".join(lines)
