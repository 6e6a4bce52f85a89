"""The HTTP API of the studio: its routes and what each of them does."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

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
from discreet.report.protection_page import Handover
from discreet.studio._hierarchy_api import attached, edit_hierarchy, export_hierarchy, show_hierarchy
from discreet.studio._history import differences
from discreet.studio._jobs import Run
from discreet.studio._plain import plain
from discreet.studio._project import ChangedElsewhereError, Project
from discreet.studio._results import compare_page
from discreet.studio._security import REPORT_POLICY, Access, Guard
from discreet.studio._spelling import error_message
from discreet.studio._studio import NotFoundError, Studio
from discreet.studio._table import PAGE
from discreet.studio._upload import TooLargeError, receive_file
from discreet.studio._vocabulary import reason_for, vocabulary
from discreet.studio._workspace import RELEASED

__all__ = ["make_app"]

_STATIC = Path(__file__).parent / "static"
_POLL, _KEEP_ALIVE = 0.15, 15.0
"""Seconds between two checks of a job, and of silence before a keep-alive comment."""
_STATUS = {NotFoundError: 404, ChangedElsewhereError: 409, TooLargeError: 413}
"""HTTP status of errors; that of all others is 422."""


class ApiRequest:
    """A request to the API: its user, its path and query, and its JSON body."""

    def __init__(self, studio: Studio, http: Request, body: Any) -> None:
        self.studio = studio
        self.http = http
        self.body = body
        self.owner: str = http.scope["user"]

    @property
    def project(self) -> Project:
        """The project named in the path."""
        return self.studio.project(self.owner, self.http.path_params["project"])

    def project_of(self, run: Run) -> Project:
        """Project that a job belongs to."""
        return self.studio.project(self.owner, run.project)

    @property
    def run(self) -> Run:
        """The job named in the path."""
        return self.studio.job(self.owner, self.http.path_params["job"])

    @property
    def done(self) -> Run:
        """The job named in the path; raises UsageError unless it is done."""
        run = self.run
        if run.state != "done":
            raise UsageError("The job is not done yet." if run.busy else "The job ended without a result.")
        return run

    def text(self, name: str) -> str:
        """Required query parameter."""
        found = self.http.query_params.get(name)
        if found is None:
            raise UsageError(f"The address lacks '{name}'.")
        return found

    def number(self, name: str, default: int, most: int = 2**53) -> int:
        """Query parameter that is a whole number, capped at ``most``."""
        given = self.http.query_params.get(name, str(default))
        if not given.isascii() or not given.isdecimal() or len(given) > 15:
            raise UsageError(f"'{name}' in the address must be a whole number.")
        return min(int(given), most)

    def field(self, name: str, default: Any = None) -> Any:
        """Field of the JSON body."""
        return self.body.get(name, default) if isinstance(self.body, dict) else default


Answer = Mapping[str, Any] | list[Any] | Response
Endpoint = Callable[[ApiRequest], Answer]


def error_answer(error: BaseException) -> JSONResponse:
    """Turn an exception into a JSON error of one sentence that quotes no value of the data."""
    if not isinstance(error, DiscreetError):
        # Messages of foreign exceptions may quote the data, so only the type is named.
        message = f"Something unexpected went wrong ({type(error).__name__}); your work is still here, try again."
        return JSONResponse({"error": {"message": message, "field": None}}, 500)
    status = next((code for kind, code in _STATUS.items() if isinstance(error, kind)), 422)
    fields: dict[str, Any] = {"message": error_message(error), "field": error.column, "kind": type(error).__name__}
    if isinstance(error, InfeasibleError):
        fields |= {"smallest_budget": error.smallest_budget, "limits": error.limits}
    return JSONResponse({"error": plain(fields)}, status)


@dataclass(frozen=True)
class _Api:
    """Makes the routes of one studio."""

    studio: Studio

    def route(self, path: str, endpoint: Endpoint, method: str = "GET") -> Route:
        """Make a route whose endpoint runs in a worker thread, so that it does not block the event loop."""

        async def answer(request: Request) -> Response:
            try:
                body = None if method in ("GET", "DELETE") else await self.body(request)
                result = await run_in_threadpool(endpoint, ApiRequest(self.studio, request, body))
            except ClientDisconnect:
                return Response(status_code=499)  # nobody is left to read the answer
            except Exception as error:
                return error_answer(error)
            return result if isinstance(result, Response) else JSONResponse(plain(result))

        return Route(path, answer, methods=[method])

    async def body(self, request: Request) -> Any:
        """Read a JSON body within the size limit."""
        if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
            raise UsageError("Send JSON, with the header Content-Type: application/json.")
        received = bytearray()
        async for piece in request.stream():
            received += piece
            if len(received) > self.studio.limits.json:
                raise TooLargeError("The request is larger than the studio accepts.")
        try:
            return json.loads(received) if received else {}
        except (ValueError, RecursionError):
            raise UsageError("The request is not valid JSON.") from None


def _about(request: ApiRequest) -> Answer:
    from discreet.engines import SUFFIXES

    limits = request.studio.limits
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
        "pdf": _pdf(),
        "vocabulary": vocabulary(),
    }


def _pdf() -> dict[str, Any]:
    """Whether reports can be printed to PDF here, and if not, why."""
    from discreet.report.formats.pdf import find_browser

    try:
        find_browser()
    except UsageError as error:
        return {"possible": False, "reason": error_message(error)}
    return {"possible": True, "reason": None}


def _projects(request: ApiRequest) -> Answer:
    return [
        {
            "id": project.id,
            "name": project.settings.name,
            "file": project.table.file.name,
            "rows": project.table.rows,
            "created": project.created,
            "step": project.step,
        }
        for project in request.studio.projects(request.owner)
    ]


def _project(request: ApiRequest) -> Answer:
    return _document(request.studio, request.project)


def _document(studio: Studio, project: Project) -> dict[str, Any]:
    """Project with its jobs, as the page shows it."""
    runs = studio.jobs.of_project(project.id)
    return project.to_dict([_listed(run, runs, project) for run in runs])


def _listed(run: Run, runs: list[Run], project: Project) -> dict[str, Any]:
    """A job for the list of a project: with what changed since, and how it differs from the one before it."""
    now = project.settings
    if run.kind == "front" or "of" in run.task:  # a release from a front has the goals of the front
        now = replace(now, goals=now.goals.for_front())
    before = next((each for each in runs if each.number < run.number and each.kind == run.kind), None)
    return {
        **run.brief_dict(),
        "changed_since": differences(run.settings, now),
        "differs": [] if before is None else differences(before.settings, run.settings),
    }


def _make_sample(request: ApiRequest) -> Answer:
    project = request.studio.open_sample(request.owner, request.field("sample"), request.field("rows", 20_000))
    return _document(request.studio, project)


def _create_project(api: _Api) -> Callable[[Request], Awaitable[Response]]:
    """Endpoint that creates a project from a sample (JSON) or from an uploaded file (a form)."""

    async def create(request: Request) -> Response:
        studio: Studio = api.studio
        owner: str = request.scope["user"]
        try:
            kind = request.headers.get("content-type", "")
            if kind.partition(";")[0].strip() != "multipart/form-data":
                body = await api.body(request)
                return JSONResponse(
                    plain(await run_in_threadpool(_make_sample, ApiRequest(studio, request, body))), 201
                )
            length = request.headers.get("content-length", "0")
            if length.isdecimal() and int(length) > studio.limits.upload + (1 << 20):
                raise TooLargeError("The file is larger than the studio accepts; raise the limit with --max-upload.")
            reading = _given_reading(request)
            folder = studio.workspace.new_folder()
            try:
                file = await receive_file(request.stream(), kind, folder, studio.limits)
            except BaseException:
                studio.workspace.remove(folder)
                raise
            project = await run_in_threadpool(studio.open_file, owner, folder, file, None, reading)
            return JSONResponse(plain(await run_in_threadpool(_document, studio, project)), 201)
        except ClientDisconnect:
            return Response(status_code=499)  # nobody is left to read the answer
        except Exception as error:
            return error_answer(error)

    return create


def _given_reading(request: Request) -> Any:
    """How to read an uploaded file: JSON in the address, since the body is the file."""
    given = request.query_params.get("reading")
    try:
        return None if given is None else json.loads(given)
    except (ValueError, RecursionError):
        raise UsageError("'reading' in the address is not valid JSON.") from None


def _remove(request: ApiRequest) -> Answer:
    request.studio.remove(request.project)
    return {}


def _patch(request: ApiRequest) -> Answer:
    if not isinstance(request.body, dict):
        raise UsageError('A change must be a mapping, such as {"name": "People"}.')
    project = request.project
    project.patch(request.body)
    return _document(request.studio, project)


def _undo(request: ApiRequest) -> Answer:
    request.project.undo(request.field("change"))
    return _project(request)


def _redo(request: ApiRequest) -> Answer:
    request.project.redo()
    return _project(request)


def _rows(request: ApiRequest) -> Answer:
    """Page of the table; with ``release``, also the released version of each row."""
    project = request.project
    offset, limit = request.number("offset", 0), request.number("limit", 50, PAGE)
    name = request.http.query_params.get("release")
    run = None if name is None else request.studio.job(request.owner, name)
    table = project.table if run is None or run.project != project.id else project.table_of(run.settings)
    page = table.page(offset, limit)
    fields = {"columns": page.columns, "rows": page.rows(), "offset": offset, "total": table.rows}
    if run is None:
        return fields
    if run.project != project.id or run.kind != "release" or run.state != "done":
        raise UsageError("This job has no release yet.")
    kept = np.load(run.folder / "kept.npy", mmap_mode="r", allow_pickle=False)
    released = pl.scan_parquet(run.folder / RELEASED, glob=False)
    types = {facts["name"]: run.settings.types.get(facts["name"], facts["type"]) for facts in table.facts}
    return {**fields, **compare_page(page, offset, kept, released, types)}


def _column(request: ApiRequest) -> Answer:
    from discreet.schema import as_type

    project, name = request.project, request.text("name")
    chosen = project.settings.types.get(name)
    return project.table.column(name, None if chosen is None else as_type(chosen))


def _check(request: ApiRequest) -> Answer:
    """Whether the current settings would run, and by which solver."""
    from discreet.solve import SOLVERS
    from discreet.studio._script import write_job

    project = request.project
    settings = project.settings
    privacy = [{"text": text, "words": _words(text)} for text in settings.goals.privacy]
    folder = request.studio.workspace.new_folder()
    try:
        plan = write_job(project, settings, folder).plan()
    except DiscreetError as error:
        columns = error.columns if isinstance(error, UndecidedColumnError) else []
        problem = {"ok": False, "message": error_message(error), "field": error.column, "kind": type(error).__name__}
        return {**problem, "columns": columns, "privacy": privacy}
    finally:
        request.studio.workspace.remove(folder)
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
        "notes": [
            note for note in [request.studio.handovers(request.owner).warning_before(project.table.file)] if note
        ],
        "privacy": privacy,
    }


def _words(text: str) -> str:
    from discreet.problem import PRIVACY

    return PRIVACY.make(text).words


def _start_job(request: ApiRequest) -> Answer:
    if not isinstance(request.body, dict):
        raise UsageError("A job must be a mapping.")
    return request.studio.start_job(request.project, request.body).to_dict()


def _jobs(request: ApiRequest) -> Answer:
    return [run.brief_dict() for run in request.studio.jobs.of_project(request.project.id)]


def _job(request: ApiRequest) -> Answer:
    return request.run.to_dict()


def _rename_job(request: ApiRequest) -> Answer:
    request.run.rename(request.field("name"))
    return request.run.to_dict()


def _cancel(request: ApiRequest) -> Answer:
    request.studio.jobs.cancel(request.run, now=request.field("now") is True)
    return request.run.to_dict()


def _remove_job(request: ApiRequest) -> Answer:
    request.studio.remove_job(request.run)
    return {}


def _result(request: ApiRequest) -> Answer:
    """The result of a job; for a release, with a warning if another release of the same table was handed over."""
    run = request.done
    if run.kind != "release":
        return _saved(run, "result.json")
    result = json.loads((run.folder / "result.json").read_text(encoding="utf-8"))
    second = request.studio.handovers(request.owner).warning_about_others(run.folder)
    return {**result, "warnings": [*([] if second is None else [second]), *result["warnings"]]}


def _evaluation(name: str) -> Endpoint:
    def answer(request: ApiRequest) -> Answer:
        run = request.done
        if run.kind != "release":
            raise UsageError("Only a release has risk and utility; choose a point of the front first.")
        if (run.folder / f"{name}.json").is_file():
            return _saved(run, f"{name}.json")
        if not run.busy:
            request.studio.jobs.evaluate(run)
        return JSONResponse({"state": run.evaluation.get(name, "waiting")}, 202)

    return answer


def _column_chart(request: ApiRequest) -> Answer:
    """The distribution of a column of the table, drawn at a width."""
    from discreet.studio._charts import column_chart

    found = _column(request)
    assert isinstance(found, Mapping)
    return column_chart(found["name"], found["histogram"] or [], request.number("width", 460))


def _chart(request: ApiRequest) -> Answer:
    """A chart of a job, drawn at a width."""
    from discreet.studio._charts import job_chart

    query, name = request.http.query_params, request.http.path_params["name"]
    return job_chart(request.run, name, query.get("column"), request.number("width", 460))


def _find(request: ApiRequest) -> Answer:
    """Look for a person in a release by what somebody knows about them."""
    from discreet.studio._find import find_person

    run = request.done
    if run.kind != "release":
        raise UsageError("People can be looked for in a release; choose a point of the front first.")
    width = request.field("width", 460)
    return find_person(run, request.field("known"), width if isinstance(width, int) else 460)


def _saved(run: Run, name: str) -> Response:
    return Response((run.folder / name).read_bytes(), media_type="application/json")


async def _events(request: Request) -> Response:
    """Stream a job as server-sent events whenever it changes, until it is finished."""
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
                yield f"data: {json.dumps(plain(run.to_dict()))}\n\n"
            elif quiet >= _KEEP_ALIVE:
                quiet = 0.0
                yield ": still here\n\n"
            if not busy and run.version == seen:
                yield "event: end\ndata: {}\n\n"
                return
            await asyncio.sleep(_POLL)
            quiet += _POLL

    return StreamingResponse(stream(), media_type="text/event-stream")


def _file(request: ApiRequest) -> Answer:
    """Send a download. Which files exist is decided by the job, never by the request."""
    from discreet.studio._downloads import HANDED_OVER, download

    run, name, handovers = request.done, request.http.path_params["name"], request.studio.handovers(request.owner)
    query = request.http.query_params
    handover = Handover(query.get("purpose", "")[:500], query.get("recipient", "")[:500])
    found = download(run, request.project_of(run).table.file, name, handovers, handover)
    if found is None:
        raise NotFoundError("This job has no such file.")
    if name in HANDED_OVER:
        handovers.record(run.folder)
    inline = "inline" in request.http.query_params and found.kind == "text/html"
    headers = {"content-security-policy": REPORT_POLICY} if found.kind == "text/html" else {}
    if not inline:
        headers |= attached(found.name)
    if isinstance(found.content, Path):
        return FileResponse(found.content, media_type=found.kind, headers=headers)
    return Response(found.content, media_type=found.kind, headers=headers)


async def _index(request: Request) -> Response:
    return FileResponse(_STATIC / "index.html")


async def _unknown(request: Request, error: Exception) -> Response:
    return JSONResponse({"error": {"message": "There is nothing at this address.", "field": None}}, 404)


def make_app(studio: Studio, access: Access) -> Guard:
    """Assemble the app: the page, its API, and the guard in front of both."""
    api = _Api(studio)
    of_project = "/api/projects/{project}"
    of_job = "/api/jobs/{job}"
    routes = [
        Route("/", _index),
        Mount("/static", StaticFiles(directory=_STATIC)),
        api.route("/api/about", _about),
        api.route("/api/projects", _projects),
        Route("/api/projects", _create_project(api), methods=["POST"]),
        api.route(of_project, _project),
        api.route(of_project, _remove, "DELETE"),
        api.route(of_project, _patch, "PATCH"),
        api.route(f"{of_project}/undo", _undo, "POST"),
        api.route(f"{of_project}/redo", _redo, "POST"),
        api.route(f"{of_project}/rows", _rows),
        api.route(f"{of_project}/column", _column),
        api.route(f"{of_project}/chart", _column_chart),
        api.route(f"{of_project}/hierarchy", show_hierarchy),
        api.route(f"{of_project}/hierarchy", edit_hierarchy, "POST"),
        api.route(f"{of_project}/hierarchy.csv", export_hierarchy),
        api.route(f"{of_project}/check", _check, "POST"),
        api.route(f"{of_project}/jobs", _jobs),
        api.route(f"{of_project}/jobs", _start_job, "POST"),
        api.route(of_job, _job),
        api.route(of_job, _rename_job, "PATCH"),
        api.route(of_job, _remove_job, "DELETE"),
        Route(f"{of_job}/events", _events),
        api.route(f"{of_job}/cancel", _cancel, "POST"),
        api.route(f"{of_job}/result", _result),
        api.route(f"{of_job}/risk", _evaluation("risk")),
        api.route(f"{of_job}/utility", _evaluation("utility")),
        api.route(f"{of_job}/charts/{{name}}", _chart),
        api.route(f"{of_job}/find", _find, "POST"),
        api.route(f"{of_job}/files/{{name}}", _file),
    ]
    app = Starlette(routes=routes, exception_handlers={404: _unknown})
    app.state.studio = studio
    return Guard(app, access)
