"""What the page asks about a hierarchy: to see it, to search it, to change it, and its file."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from starlette.responses import Response

from discreet.errors import UsageError
from discreet.report.plain_labels import plain_label
from discreet.schema import Domain, Hierarchy
from discreet.studio._hierarchies import edit
from discreet.studio._project import builder
from discreet.studio._table import PAGE
from discreet.studio._tree_view import TreeView, table_page
from discreet.studio._workspace import safe_name

if TYPE_CHECKING:
    from discreet.studio._app import ApiRequest
    from discreet.studio._studio import Studio

__all__ = ["attached", "edit_hierarchy", "export_hierarchy", "show_hierarchy"]

_ABSENT = object()
_MOST_LOADED = 20_000
"""Most children of a node that are shown again after an edit."""


def show_hierarchy(request: ApiRequest) -> dict[str, Any]:
    """The hierarchy of a column, the part that contains a text (``find``), or the subtree of one node.

    ``loaded`` says how many children of which nodes the page shows already.
    """
    return _shown(request)


def _shown(request: ApiRequest, touched: str | None = None) -> dict[str, Any]:
    """The hierarchy as the page draws it; ``touched`` is the name of a group that must be visible."""
    project, column = request.project, request.text("column")
    rows = project.table.counts(column).rows
    offset = request.number("offset", 0)
    if "level" in request.http.query_params:
        view = TreeView(project.domain(column), rows)
        return {"tree": view.subtree(request.number("level", 0), request.number("block", 0), offset)}
    facts = {"column": column, **project.hierarchy_facts(column)}
    check = {"ok": facts.pop("ok"), "message": facts.pop("message")}
    if not check["ok"]:
        return {**facts, "check": check, "tree": None, "table": None, "touched": None}
    domain = project.domain(column)
    view = TreeView(domain, rows)
    reveal = None if touched is None else view.find(touched)
    text = request.http.query_params.get("find", "").strip()
    return {
        **facts,
        "type": str(domain.type),
        "height": domain.height,
        "levels": [_level(domain, level) for level in range(domain.height + 1)],
        "check": check,
        "touched": reveal,
        "tree": view.search(text, reveal) if text else view.subtree(loaded=_loaded(request), reveal=reveal),
        "table": table_page(domain, rows, offset, request.number("limit", 100, PAGE)),
    }


def _level(domain: Domain, level: int) -> dict[str, Any]:
    names = domain.labels[level]
    examples = [plain_label(name, domain.type) for name in names[:4] if name is not None][:3]
    return {"level": level, "groups": len(names), "examples": examples}


def _loaded(request: ApiRequest) -> dict[str, int]:
    """How many children of nodes the page shows, by id."""
    text = request.http.query_params.get("loaded")
    if text is None:
        return {}
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or not all(type(number) is int for number in found.values()):
        raise UsageError("'loaded' in the address must map entries of the tree to whole numbers.")
    return {key: min(number, _MOST_LOADED) for key, number in found.items()}


def edit_hierarchy(request: ApiRequest) -> dict[str, Any]:
    """Replace the hierarchy of a column: by a builder, by an edit, or from the text of a CSV file."""
    project, column = request.project, request.text("column")
    given = [key for key in ("builder", "edit", "csv") if request.field(key, _ABSENT) is not _ABSENT]
    if len(given) != 1:
        raise UsageError("Give a hierarchy as exactly one of builder, edit and csv.")
    value = request.field(given[0])
    with project.lock:
        before = project.history.number
        if given[0] == "edit":
            made = edit(project.tree(column), value)
            operation = str(value["op"]).replace("-", " ")
            project.set_hierarchy(column, made, f"{operation} in the hierarchy")
        elif given[0] == "csv":
            project.set_hierarchy(column, _from_csv(request.studio, value), "import the hierarchy")
        elif value is None or (isinstance(value, str) and value.strip() == "auto"):
            project.set_hierarchy(column, None, "choose the automatic hierarchy")
        elif isinstance(value, str):
            project.set_hierarchy(column, builder(value).text, "make the hierarchy")
        else:
            raise UsageError("A builder must be text, such as intervals(5, 10).")
        number = project.history.number
    return {**_shown(request, _group_of(value)), "change": None if number == before else number}


def _group_of(change: Any) -> str | None:
    """The name of the group that an edit made or filled."""
    name = (change.get("to") or change.get("name")) if isinstance(change, Mapping) else None
    return name.strip() if isinstance(name, str) else None


def _from_csv(studio: Studio, text: Any) -> Hierarchy:
    """Read the text of a hierarchy file."""
    if not isinstance(text, str) or not text.strip():
        raise UsageError("The file is empty.")
    if "\0" in text:
        raise UsageError("The file contains zero bytes, so it is not text.")
    folder = studio.workspace.new_folder()
    try:
        file = folder / "imported.csv"
        file.write_text(text, encoding="utf-8", newline="")
        tree = Hierarchy.from_csv(file)
    finally:
        studio.workspace.remove(folder)
    return Hierarchy(tree.labels, tree.ancestors)


def export_hierarchy(request: ApiRequest) -> Response:
    """The hierarchy of a column as a CSV file that can be imported again."""
    project, column = request.project, request.text("column")
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=";", lineterminator="\n").writerows(project.tree(column).rows())
    return Response(text.getvalue(), media_type="text/csv", headers=attached(f"{safe_name(column, 'column')}.csv"))


def attached(name: str) -> dict[str, str]:
    """The header that makes a browser save an answer under a name."""
    plain = re.sub(r"[^\w.-]", "_", name, flags=re.ASCII)
    exact = "" if plain == name else f"; filename*=UTF-8''{quote(name, safe='')}"
    return {"content-disposition": f'attachment; filename="{plain}"{exact}'}
