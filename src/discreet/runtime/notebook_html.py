"""HTML for notebooks: cards with a title, figures, tables and notes, each with its own style.

Notebooks have light and dark themes that pages cannot tell apart by media queries, so text and lines take the colour of
the notebook, and only badges have colours of their own. What Jupyter sets for lists and tables is overruled.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

__all__ = ["card", "figures", "findings", "folded", "note_list", "table"]

_STYLE = """
.discreet-card { --paper: transparent; --ink: currentColor; --soft: color-mix(in srgb, currentColor 78%, transparent);
  --grid: color-mix(in srgb, currentColor 14%, transparent); --cloud: color-mix(in srgb, currentColor 32%, transparent);
  --front: #2487cc; --knee: #d9730d;
  font: 14px/1.5 system-ui, "Segoe UI", Helvetica, Arial, sans-serif; color: inherit; max-width: 60rem;
  border: 1px solid; border-color: color-mix(in srgb, currentColor 22%, transparent); border-radius: 10px;
  padding: 14px 18px; margin: 4px 0; text-align: left }
.discreet-card .title { font-size: 1.1rem; font-weight: 600; margin: 0 0 8px; display: flex; flex-wrap: wrap;
  gap: 4px 10px; align-items: center }
.discreet-card .badge { font-size: .78rem; font-weight: 600; border-radius: 99px; padding: 1px 10px; color: #fff;
  background: #4b5563; white-space: nowrap }
.discreet-card .badge.ok { background: #1b6e3c } .discreet-card .badge.caution { background: #8a5a00 }
.discreet-card .badge.danger { background: #b3261e }
.discreet-card ul { list-style: none !important; margin: 0 0 10px !important; padding: 0 !important }
.discreet-card li { margin: 0 0 4px; padding: 0; list-style: none !important }
.discreet-card li .badge { margin-right: 6px; padding: 0 8px; font-size: .72rem }
.discreet-card .figures { display: flex; flex-wrap: wrap; gap: 8px 26px; margin: 0 0 12px }
.discreet-card .figures div { max-width: 15rem } .discreet-card .figures b { font-size: 1.15rem; display: block }
.discreet-card .figures span { font-size: .8rem; opacity: .85; display: block; line-height: 1.3 }
.discreet-card .scroll { overflow-x: auto; margin: 0 0 12px }
.discreet-card table { border-collapse: collapse; margin: 0; font-size: .86rem; font-variant-numeric: tabular-nums;
  border: 0; color: inherit; background: none }
.discreet-card caption { text-align: left; font-weight: 600; padding: 0 0 4px; color: inherit; caption-side: top;
  white-space: nowrap }
.discreet-card th, .discreet-card td { padding: 3px 14px 3px 0; text-align: right; border: 0; background: none;
  color: inherit; white-space: nowrap }
.discreet-card th:first-child, .discreet-card td:first-child, .discreet-card .text { text-align: left !important }
.discreet-card tr { background: none !important }
.discreet-card td.text { white-space: normal; min-width: 8rem }
.discreet-card thead th { font-weight: 600; opacity: .85 } .discreet-card tbody th { font-weight: 600 }
.discreet-card tbody tr > * { border-top: 1px solid; border-color: color-mix(in srgb, currentColor 14%, transparent) }
.discreet-card details { margin: 0 0 6px } .discreet-card summary { cursor: pointer; font-weight: 600;
  padding: 2px 0 }
.discreet-card details > :not(summary) { margin-top: 6px }
.discreet-card .tree details { margin: 0 0 0 1.1rem } .discreet-card .tree summary { font-weight: 400;
  padding: 2px 0 }
.discreet-card .tree p { margin: 0 0 0 2.2rem } .discreet-card .quiet { opacity: .85; font-size: .86rem }
.discreet-card p { margin: 0 0 8px } .discreet-card svg { max-width: 100%; height: auto }
"""


def card(title: str, *body: str, level: str = "") -> str:
    """Return a card: a title, with a badge where there is a level (ok, caution or danger), and what is in it."""
    mark = _badge(level) if level else ""
    heading = f'<div class="title" role="heading" aria-level="2">{mark}{escape(title)}</div>'
    return f'<div class="discreet-card"><style>{_STYLE}</style>{heading}{"".join(body)}</div>'


def _badge(level: str) -> str:
    """Return a level in its colour."""
    kind = level if level in ("ok", "caution", "danger") else "plain"
    return f'<span class="badge {kind}">{escape(level)}</span>'


def findings(found: Iterable[tuple[str, str]]) -> str:
    """Return sentences, each with its level."""
    items = "".join(f"<li>{_badge(level)}{escape(sentence)}</li>" for level, sentence in found)
    return f"<ul>{items}</ul>" if items else ""


def figures(given: Iterable[tuple[str, str, str]]) -> str:
    """Return figures side by side: a name, the figure and what it means."""
    items = (
        f"<div><span>{escape(name)}</span><b>{escape(figure)}</b><span>{escape(hint)}</span></div>"
        for name, figure, hint in given
    )
    return f'<div class="figures">{"".join(items)}</div>'


def table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]], text: Sequence[int] = ()) -> str:
    """Return a table with a caption; the first cell of each row is its header.

    Columns of ``text`` are left-aligned.

    >>> table("Sizes", ["size", "rows"], [["<5", "3"]]).count("&lt;5")
    1
    """

    def cell(number: int, content: str, kind: str) -> str:
        look = ' class="text"' if number in text else ""
        return f"<{kind}{look}>{escape(content)}</{kind.partition(' ')[0]}>"

    heads = "".join(cell(number, each, 'th scope="col"' if each else "td") for number, each in enumerate(head))
    first = f"<thead><tr>{heads}</tr></thead>" if head else ""
    body = ""
    for row in rows:
        cells = (cell(number, each, "td" if number else 'th scope="row"') for number, each in enumerate(row))
        body += f"<tr>{''.join(cells)}</tr>"
    caption = f"<caption>{escape(title)}</caption>" if title else ""
    name = escape(title or f"Table: {', '.join(filter(None, head))}", quote=True)
    rows_of = f"<table>{caption}{first}<tbody>{body}</tbody></table>"
    return f'<div class="scroll" tabindex="0" role="group" aria-label="{name}">{rows_of}</div>'


def note_list(notes: Iterable[str]) -> str:
    """Return notes as a list; nothing if there are none."""
    items = "".join(f"<li>{escape(note)}</li>" for note in notes)
    return f'<ul class="quiet">{items}</ul>' if items else ""


def folded(title: str, *body: str, opened: bool = False) -> str:
    """Return something that is shown when its title is clicked."""
    return f"<details{' open' if opened else ''}><summary>{escape(title)}</summary>{''.join(body)}</details>"
