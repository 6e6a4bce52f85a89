"""The addresses of the studio, each with what it does."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import polars as pl
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from discreet import __version__
from discreet.errors import DiscreetError, InfeasibleError, UndecidedColumnError, UsageError
from discreet.schema import Hierarchy
from discreet.studio._jobs import Run
from discreet.studio._plain import plain
from discreet.studio._project import Project
from discreet.studio._results import page_beside
from discreet.studio._security import REPORT_POLICY, Access, Guard
from discreet.studio._studio import NotFoundError, Studio
from discreet.studio._table import PAGE
from discreet.studio._upload import TooLargeError, receive_file
from discreet.studio._vocabulary import reason_for, vocabulary
from discreet.studio._workspace import RELEASED, safe_name

__all__ = ["make_app"]

_STATIC = Path(__file__).parent / "static"
_NOTHING = object()
_LOOK, _QUIET = 0.15, 15.0
"""Seconds between two looks at a job, and of silence before a sign of life."""


class Asked:
    """A request: who asks the studio, by which address, with what."""

    def __init__(self, studio: Studio, request: Request, body: Any) -> None:
        self.studio = studio
        self.request = request
        self.body = body
        self.owner: str = request.scope["user"]

    @property
    def project(self) -> Project:
        """The project of the address."""
        return self.studio.project(self.owner, self.request.path_params["project"])

    def project_of(self, run: Run) -> Project:
        """Return the project a job belongs to."""
        return self.studio.project(self.owner, run.project)

    @property
    def run(self) -> Run:
        """The job of the address."""
        return self.studio.job(self.owner, self.request.path_params["job"])

    @property
    def done(self) -> Run:
        """The job of the address, which must be done."""
        run = self.run
        if run.state != "done":
            raise UsageError("The job is not done yet." if run.busy else "The job ended without a result.")
        return run

    def text(self, name: str) -> str:
        """Return a part of the query."""
        found = self.request.query_params.get(name)
        if found is None:
            raise UsageError(f"The address lacks '{name}'.")
        return found

    def number(self, name: str, default: int, most: int = 2**53) -> int:
        """Return a part of the query that is a whole number."""
        given = self.request.query_params.get(name, str(default))
        if not given.isascii() or not given.isdecimal() or len(given) > 15:
            raise UsageError(f"'{name}' in the address is a whole number.")
        return min(int(given), most)

    def field(self, name: str, default: Any = None) -> Any:
        """Return a field of what was sent."""
        return self.body.get(name, default) if isinstance(self.body, dict) else default


Answer = Mapping[str, Any] | list[Any] | Response
Endpoint = Callable[[Asked], Answer]


def error_answer(error: BaseException) -> JSONResponse:
    """Say what went wrong in one sentence, without a value of the data."""
    if not isinstance(error, DiscreetError):
        # The text of a foreign exception may quote the data, so only its kind is shown.
        message = f"Something unexpected went wrong ({type(error).__name__}); your work is still here, try again."
        return JSONResponse({"error": {"message": message, "field": None}}, 500)
    status = 404 if isinstance(error, NotFoundError) else 413 if isinstance(error, TooLargeError) else 422
    told: dict[str, Any] = {"message": error.message, "field": error.column, "kind": type(error).__name__}
    if isinstance(error, InfeasibleError):
        told |= {"smallest_budget": error.smallest_budget, "limits": error.limits}
    return JSONResponse({"error": plain(told)}, status)


@dataclass(frozen=True)
class _Rooms:
    """The endpoints of one studio."""

    studio: Studio

    def route(self, path: str, endpoint: Endpoint, method: str = "GET") -> Route:
        """Make a route whose work is done beside the loop that answers requests."""

        async def answer(request: Request) -> Response:
            try:
                body = None if method in ("GET", "DELETE") else await self._body(request)
                result = await run_in_threadpool(endpoint, Asked(self.studio, request, body))
            except ClientDisconnect:
                return Response(status_code=499)  # nobody is there to read it
            except Exception as error:
                return error_answer(error)
            return result if isinstance(result, Response) else JSONResponse(plain(result))

        return Route(path, answer, methods=[method])

    async def _body(self, request: Request) -> Any:
        if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
            raise UsageError("Send JSON, and say so with the header Content-Type.")
        held = bytearray()
        async for piece in request.stream():
            held += piece
            if len(held) > self.studio.limits.json:
                raise TooLargeError("That is more than the studio takes at once.")
        try:
            return json.loads(held) if held else {}
        except (ValueError, RecursionError):
            raise UsageError("What was sent is not JSON.") from None


def _about(asked: Asked) -> Answer:
    from discreet.engines import SUFFIXES

    limits = asked.studio.limits
    return {
        "version": __version__,
        "samples": [
            {
                "name": "people",
                "title": "Made-up people",
                "text": "A realistic table about people who do not exist: births, homes, work, income, illness.",
                "rows": 20_000,
            }
        ],
        "limits": {"upload": limits.upload, "rows": limits.rows, "columns": limits.columns, "page": PAGE},
        "formats": [*SUFFIXES, ".csv.gz", ".csv.bz2"],
        "vocabulary": vocabulary(),
    }


def _projects(asked: Asked) -> Answer:
    return [
        {
            "id": project.id,
            "name": project.settings.name,
            "file": project.table.file.name,
            "rows": project.table.rows,
            "created": project.created,
            "step": project.step,
        }
        for project in asked.studio.projects(asked.owner)
    ]


def _told(asked: Asked, project: Project | None = None) -> Answer:
    return _document(asked.studio, project or asked.project)


def _document(studio: Studio, project: Project) -> dict[str, Any]:
    return project.told([run.told_briefly() for run in studio.jobs.of_project(project.id)])


def _make_sample(asked: Asked) -> Answer:
    return _told(asked, asked.studio.open_sample(asked.owner, asked.field("sample"), asked.field("rows", 20_000)))


def _uploading(rooms: _Rooms) -> Callable[[Request], Awaitable[Response]]:
    async def create(request: Request) -> Response:
        """Make a project of a sample (JSON) or of a file (a form)."""
        studio: Studio = rooms.studio
        owner: str = request.scope["user"]
        try:
            kind = request.headers.get("content-type", "")
            if kind.partition(";")[0].strip() != "multipart/form-data":
                body = await rooms._body(request)
                return JSONResponse(plain(await run_in_threadpool(_make_sample, Asked(studio, request, body))), 201)
            length = request.headers.get("content-length", "0")
            if length.isdecimal() and int(length) > studio.limits.upload + (1 << 20):
                raise TooLargeError("The file is larger than the studio takes; start it with --max-upload.")
            folder = studio.workspace.new_folder()
            try:
                file = await receive_file(request.stream(), kind, folder, studio.limits)
            except BaseException:
                studio.workspace.remove(folder)
                raise
            project = await run_in_threadpool(studio.open_file, owner, folder, file)
            return JSONResponse(plain(await run_in_threadpool(_document, studio, project)), 201)
        except ClientDisconnect:
            return Response(status_code=499)  # nobody is there to read it
        except Exception as error:
            return error_answer(error)

    return create


def _remove(asked: Asked) -> Answer:
    asked.studio.remove(asked.project)
    return {}


def _patch(asked: Asked) -> Answer:
    if not isinstance(asked.body, dict):
        raise UsageError('A change is a mapping, such as {"name": "People"}.')
    project = asked.project
    project.patch(asked.body)
    return _told(asked, project)


def _undo(asked: Asked) -> Answer:
    asked.project.undo()
    return _told(asked)


def _redo(asked: Asked) -> Answer:
    asked.project.redo()
    return _told(asked)


def _rows(asked: Asked) -> Answer:
    """Send a page of the table; with ``release`` also what became of each row."""
    project = asked.project
    offset, limit = asked.number("offset", 0), asked.number("limit", 50, PAGE)
    page = project.table.page(offset, limit)
    told = {"columns": page.columns, "rows": page.rows(), "offset": offset, "total": project.table.rows}
    name = asked.request.query_params.get("release")
    if name is None:
        return told
    run = asked.studio.job(asked.owner, name)
    if run.project != project.id or run.kind != "release" or run.state != "done":
        raise UsageError("This job has no release yet.")
    kept = np.load(run.folder / "kept.npy", mmap_mode="r", allow_pickle=False)
    released = pl.scan_parquet(run.folder / RELEASED, glob=False)
    return {**told, **page_beside(page, offset, kept, released)}


def _column(asked: Asked) -> Answer:
    from discreet.schema import as_type

    project, name = asked.project, asked.text("name")
    chosen = project.settings.types.get(name)
    return project.table.column(name, None if chosen is None else as_type(chosen))


def _hierarchy(asked: Asked) -> Answer:
    """Tell a hierarchy: as a whole, or with ``level`` and ``block`` what is under one of its groups."""
    from discreet.studio._hierarchies import table_of, tree_of

    project, column = asked.project, asked.text("column")
    rows = project.table.counts(column).rows
    offset = asked.number("offset", 0)
    if "level" in asked.request.query_params:
        domain = project.domain(column)
        return {"tree": tree_of(domain, rows, asked.number("level", 0), asked.number("block", 0), offset)}
    facts = {"column": column, **project.hierarchy_facts(column)}
    check = {"ok": facts.pop("ok"), "message": facts.pop("message")}
    if not check["ok"]:
        return {**facts, "check": check, "tree": None, "table": None}
    domain = project.domain(column)
    levels = [
        {
            "level": level,
            "groups": len(names),
            "examples": [name for name in names[:4] if name is not None][:3],
        }
        for level, names in enumerate(domain.labels)
    ]
    return {
        **facts,
        "type": str(domain.type),
        "height": domain.height,
        "levels": levels,
        "check": check,
        "tree": tree_of(domain, rows),
        "table": table_of(domain, rows, offset, asked.number("limit", 100, PAGE)),
    }


def _edit_hierarchy(asked: Asked) -> Answer:
    """Give a column another hierarchy: by a builder, by an edit or from the text of a file."""
    from discreet.studio._hierarchies import edit
    from discreet.studio._project import builder

    project, column = asked.project, asked.text("column")
    given = [key for key in ("builder", "edit", "csv") if asked.field(key, _NOTHING) is not _NOTHING]
    if len(given) != 1:
        raise UsageError("A hierarchy is given by one of builder, edit and csv.")
    value = asked.field(given[0])
    with project.lock:
        if given[0] == "edit":
            made = edit(project.tree(column), value)
            operation = str(value["op"]).replace("-", " ")
            project.set_hierarchy(column, made, f"{operation} in the hierarchy")
        elif given[0] == "csv":
            project.set_hierarchy(column, _from_csv(asked.studio, value), "import the hierarchy")
        elif value is None or (isinstance(value, str) and value.strip() == "auto"):
            project.set_hierarchy(column, None, "choose the automatic hierarchy")
        elif isinstance(value, str):
            project.set_hierarchy(column, builder(value).text, "make the hierarchy")
        else:
            raise UsageError("A builder is given as text, such as intervals(5, 10).")
    return _hierarchy(asked)


def _from_csv(studio: Studio, text: Any) -> Hierarchy:
    """Read the text of a hierarchy file."""
    if not isinstance(text, str) or not text.strip():
        raise UsageError("The file is empty.")
    if "\0" in text:
        raise UsageError("The file holds zero bytes, so it is no text.")
    folder = studio.workspace.new_folder()
    try:
        file = folder / "imported.csv"
        file.write_text(text, encoding="utf-8", newline="")
        read = Hierarchy.from_csv(file)
    finally:
        studio.workspace.remove(folder)
    return Hierarchy(read.labels, read.ancestors)


def _export_hierarchy(asked: Asked) -> Answer:
    """Send a hierarchy as a file of the kind that can be imported."""
    import csv
    import io

    project, column = asked.project, asked.text("column")
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=";", lineterminator="\n").writerows(project.tree(column).rows())
    return Response(text.getvalue(), media_type="text/csv", headers=_attached(f"{safe_name(column, 'column')}.csv"))


def _check(asked: Asked) -> Answer:
    """Say whether what is set now would run, and how it would be done."""
    from discreet.solve import SOLVERS
    from discreet.studio._script import write_job

    project = asked.project
    settings = project.settings
    privacy = [{"text": text, "words": _words(text)} for text in settings.goals.privacy]
    folder = asked.studio.workspace.new_folder()
    try:
        plan = write_job(project, settings, folder).plan()
    except DiscreetError as error:
        columns = error.columns if isinstance(error, UndecidedColumnError) else []
        told = {"ok": False, "message": error.message, "field": error.column, "kind": type(error).__name__}
        return {**told, "columns": columns, "privacy": privacy}
    finally:
        asked.studio.workspace.remove(folder)
    exact = SOLVERS.members()[plan.solver].exact
    return {
        "ok": True,
        "message": None,
        "field": None,
        "solver": plan.solver,
        "automatic": settings.goals.solver == "auto",
        "exact": exact,
        "why": reason_for(plan.solver, exact, plan.nodes),
        "space": plan.nodes,
        "rows": plan.rows,
        "tuples": plan.tuples,
        "most_suppressed": plan.most_suppressed,
        "dropped": plan.dropped,
        "sensitive": plan.sensitive,
        "unchanged": plan.unchanged,
        "attributes": plan.attributes,
        "notes": [note for note in [asked.studio.handovers(asked.owner).before(project.table.file)] if note],
        "privacy": privacy,
    }


def _words(text: str) -> str:
    from discreet.problem import PRIVACY

    return PRIVACY.make(text).words


def _start_job(asked: Asked) -> Answer:
    if not isinstance(asked.body, dict):
        raise UsageError("A job is told as a mapping.")
    return asked.studio.start_job(asked.project, asked.body).told()


def _jobs(asked: Asked) -> Answer:
    return [run.told_briefly() for run in asked.studio.jobs.of_project(asked.project.id)]


def _job(asked: Asked) -> Answer:
    return asked.run.told()


def _cancel(asked: Asked) -> Answer:
    asked.studio.jobs.cancel(asked.run, now=asked.field("now") is True)
    return asked.run.told()


def _remove_job(asked: Asked) -> Answer:
    asked.studio.remove_job(asked.run)
    return {}


def _result(asked: Asked) -> Answer:
    """Tell a result, and of a release also whether another one of the same table was handed over meanwhile."""
    run = asked.done
    if run.kind != "release":
        return _kept(run, "result.json")
    told = json.loads((run.folder / "result.json").read_text(encoding="utf-8"))
    second = asked.studio.handovers(asked.owner).others(run.folder)
    return {**told, "warnings": [*([] if second is None else [second]), *told["warnings"]]}


def _evaluation(name: str) -> Endpoint:
    def answer(asked: Asked) -> Answer:
        run = asked.done
        if run.kind != "release":
            raise UsageError("Risk and utility are measured of a release; choose a point of the front first.")
        if (run.folder / f"{name}.json").is_file():
            return _kept(run, f"{name}.json")
        if not run.busy:
            asked.studio.jobs.evaluate(run)
        return JSONResponse({"state": run.evaluation.get(name, "waiting")}, 202)

    return answer


def _kept(run: Run, name: str) -> Response:
    return Response((run.folder / name).read_bytes(), media_type="application/json")


async def _events(request: Request) -> Response:
    """Tell a job again whenever it changed, until nothing more will."""
    studio: Studio = request.app.state.studio
    try:
        run = studio.job(request.scope["user"], request.path_params["job"])
    except DiscreetError as error:
        return error_answer(error)

    async def stream() -> AsyncIterator[str]:
        seen, quiet = -1, 0.0
        while not studio.closing:
            version, busy = run.version, run.busy
            if version != seen:
                seen, quiet = version, 0.0
                yield f"data: {json.dumps(plain(run.told()))}\n\n"
            elif quiet >= _QUIET:
                quiet = 0.0
                yield ": still here\n\n"
            if not busy and run.version == seen:
                yield "event: end\ndata: {}\n\n"
                return
            await asyncio.sleep(_LOOK)
            quiet += _LOOK

    return StreamingResponse(stream(), media_type="text/event-stream")


def _file(asked: Asked) -> Answer:
    """Send something that can be downloaded; which there is is told by the job, never by the request."""
    from discreet.studio._downloads import HANDED_OVER, download

    run, name, handovers = asked.done, asked.request.path_params["name"], asked.studio.handovers(asked.owner)
    found = download(run, asked.project_of(run).table.file, name, handovers)
    if found is None:
        raise NotFoundError("This job has no such file.")
    if name in HANDED_OVER:
        handovers.note(run.folder)
    shown = "inline" in asked.request.query_params and found.kind == "text/html"
    headers = {"content-security-policy": REPORT_POLICY} if found.kind == "text/html" else {}
    if not shown:
        headers |= _attached(found.name)
    if isinstance(found.content, Path):
        return FileResponse(found.content, media_type=found.kind, headers=headers)
    return Response(found.content, media_type=found.kind, headers=headers)


def _attached(name: str) -> dict[str, str]:
    plain = re.sub(r"[^\w.-]", "_", name, flags=re.ASCII)
    exact = "" if plain == name else f"; filename*=UTF-8''{quote(name, safe='')}"
    return {"content-disposition": f'attachment; filename="{plain}"{exact}'}


async def _index(request: Request) -> Response:
    return FileResponse(_STATIC / "index.html")


async def _unknown(request: Request, error: Exception) -> Response:
    return JSONResponse({"error": {"message": "There is nothing at this address.", "field": None}}, 404)


def make_app(studio: Studio, access: Access) -> Guard:
    """Put everything together: the page, the addresses it talks to, and the guard in front of both."""
    rooms = _Rooms(studio)
    of_project = "/api/projects/{project}"
    of_job = "/api/jobs/{job}"
    routes = [
        Route("/", _index),
        Mount("/static", StaticFiles(directory=_STATIC)),
        rooms.route("/api/about", _about),
        rooms.route("/api/projects", _projects),
        Route("/api/projects", _uploading(rooms), methods=["POST"]),
        rooms.route(of_project, _told),
        rooms.route(of_project, _remove, "DELETE"),
        rooms.route(of_project, _patch, "PATCH"),
        rooms.route(f"{of_project}/undo", _undo, "POST"),
        rooms.route(f"{of_project}/redo", _redo, "POST"),
        rooms.route(f"{of_project}/rows", _rows),
        rooms.route(f"{of_project}/column", _column),
        rooms.route(f"{of_project}/hierarchy", _hierarchy),
        rooms.route(f"{of_project}/hierarchy", _edit_hierarchy, "POST"),
        rooms.route(f"{of_project}/hierarchy.csv", _export_hierarchy),
        rooms.route(f"{of_project}/check", _check, "POST"),
        rooms.route(f"{of_project}/jobs", _jobs),
        rooms.route(f"{of_project}/jobs", _start_job, "POST"),
        rooms.route(of_job, _job),
        rooms.route(of_job, _remove_job, "DELETE"),
        Route(f"{of_job}/events", _events),
        rooms.route(f"{of_job}/cancel", _cancel, "POST"),
        rooms.route(f"{of_job}/result", _result),
        rooms.route(f"{of_job}/risk", _evaluation("risk")),
        rooms.route(f"{of_job}/utility", _evaluation("utility")),
        rooms.route(f"{of_job}/files/{{name}}", _file),
    ]
    app = Starlette(routes=routes, exception_handlers={404: _unknown})
    app.state.studio = studio
    return Guard(app, access)
