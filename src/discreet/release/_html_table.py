"""A plain table in HTML, as notebooks show it."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

__all__ = ["table_html"]


def table_html(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table with a title."""
    heads = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    body = "".join(
        "<tr>"
        + "".join(f"<{'td' if n else 'th'}>{escape(c)}</{'td' if n else 'th'}>" for n, c in enumerate(row))
        + "</tr>"
        for row in rows
    )
    first = f"<thead><tr>{heads}</tr></thead>" if head else ""
    return f"<table><caption>{escape(title)}</caption>{first}<tbody>{body}</tbody></table>"
