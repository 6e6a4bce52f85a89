"""``discreet info``: what is in a table, and what in it could identify people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from discreet.cli._answer import echo_json
from discreet.cli._options import json_option
from discreet.cli._terminal import echo
from discreet.runtime.locations import without_password
from discreet.runtime.plurals import amount

if TYPE_CHECKING:
    from discreet.engines import Source
    from discreet.schema import ColumnFacts, Finding, Leak

__all__ = ["info"]


@click.command(
    epilog="""\b
Examples:
  discreet info people.csv
  discreet info people.parquet --json

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
        echo_json({"file": without_password(file), **facts})
    else:
        echo(_table(facts))


def _facts(source: Source) -> dict[str, Any]:
    from discreet.schema import Role, detect, find_leaks

    profile = source.profile(source.columns)
    found = {name: detect(facts) for name, facts in profile.facts.items()}
    direct = [name for name, finding in found.items() if finding.role is Role.IDENTIFIER]
    others = [name for name in found if name not in direct]
    leaks = {leak.column: leak for leak in find_leaks(profile.sample, direct, others)}
    columns = [
        _column(profile.facts[name], found[name], leaks.get(name)) if name in found else _unreadable(name)
        for name in source.columns
    ]
    likely = [column["name"] for column in columns if column["suggested_role"] == str(Role.QUASI_IDENTIFIER)]
    rows = max((facts.rows for facts in profile.facts.values()), default=0)
    facts: dict[str, Any] = {"rows": rows, "columns": columns}
    if likely:
        sizes = source.count(likely).to_series(-1)
        facts["quasi_identifiers"] = {
            "columns": likely,
            "classes": len(sizes),
            "unique_rows": int((sizes == 1).sum()),
            "smallest_class": int(sizes.min() or 0),  # type: ignore[arg-type]
        }
    return facts


def _column(facts: ColumnFacts, found: Finding, leak: Leak | None) -> dict[str, Any]:
    from discreet.schema import Role

    role, reasons = str(found.role), list(found.reasons)
    if leak is not None:
        role = str(Role.IDENTIFIER)
        reasons.insert(0, f"It holds values of the identifier '{leak.identifier}'.")
    return {
        "name": facts.name,
        "type": str(found.type),
        "missing": facts.missing,
        "distinct": facts.distinct,
        "unique": round(facts.unique / max(facts.rows, 1), 6),
        "suggested_role": role,
        "reasons": reasons,
        "certainty": found.certainty if leak is None else "certain",
        "needs_decision": found.stops or leak is not None,
        **({} if facts.exact else {"estimated": True}),
    }


def _unreadable(name: str) -> dict[str, Any]:
    """Describe a column of lists, structs or bytes, which cannot be inspected."""
    return {
        "name": name,
        "type": "other",
        "missing": 0,
        "distinct": 0,
        "unique": 0.0,
        "suggested_role": "identifier",
        "reasons": ["It holds lists, records or bytes, which cannot be inspected."],
        "certainty": "possible",
        "needs_decision": False,
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
            cell.rjust(width) if number in numeric else cell.ljust(width)
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        lines.append("  ".join(cells).rstrip())
    decide = [column for column in facts["columns"] if column["needs_decision"]]
    if decide:
        lines += ["", "Give each of these a role, or confirm with --keep that it is released as it is:"]
        lines += [f"  {column['name']}: {' '.join(column['reasons'])}" for column in decide]
    if "quasi_identifiers" in facts:
        found = facts["quasi_identifiers"]
        share = 100 * found["unique_rows"] / max(facts["rows"], 1)
        lines += [
            "",
            f"Together {', '.join(found['columns'])}",
            f"single out {found['unique_rows']:,} of {amount(facts['rows'], 'row')} ({share:.1f} %).",
        ]
    return "\n".join(lines)
