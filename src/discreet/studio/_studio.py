"""The studio: the projects of each user, their jobs, and the workspace on disk."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from discreet.errors import DiscreetError, UsageError
from discreet.studio._handovers import Handovers
from discreet.studio._jobs import Jobs, Run
from discreet.studio._project import Project
from discreet.studio._reading import first_reading
from discreet.studio._script import write_job
from discreet.studio._settings import Form
from discreet.studio._table import Table
from discreet.studio._upload import Limits, admit
from discreet.studio._worker import FRONT
from discreet.studio._workspace import ROWS, Workspace

__all__ = ["NotFoundError", "Studio"]

_SAMPLES = ("people",)
_MOST_PEOPLE = 1_000_000


class NotFoundError(DiscreetError):
    """The object does not exist, or belongs to another user."""


class Studio:
    """All projects, each visible to its owner only."""

    def __init__(self, workspace: Workspace, limits: Limits | None = None) -> None:
        self.workspace = workspace
        self.limits = limits or Limits()
        self.jobs = Jobs()
        self.closing = False
        self._projects: dict[str, Project] = {}
        self._handovers: dict[str, Handovers] = {}
        self._lock = threading.Lock()

    def projects(self, owner: str) -> list[Project]:
        """Projects of a user, newest first."""
        with self._lock:
            return [project for project in reversed(self._projects.values()) if project.owner == owner]

    def project(self, owner: str, name: str) -> Project:
        """Project of a user; raises NotFoundError."""
        found = self._projects.get(name)
        if found is None or found.owner != owner:
            raise NotFoundError("There is no such project; it was removed, or the studio was restarted.")
        return found

    def open_file(
        self, owner: str, folder: Path, file: Path, forms: dict[str, Form] | None = None, reading: Any = None
    ) -> Project:
        """Create a project from a file in a folder of the workspace; on failure both are erased.

        ``reading`` are the reading options of the request, if there are any.
        """
        try:
            options = first_reading(file, reading)
            admit(file, self.limits, options)
            table = Table(file, folder / ROWS, options)
            project = Project(owner, folder, table, forms, self.limits)
        except BaseException:
            self.workspace.remove(folder)
            raise
        with self._lock:
            self._projects[project.id] = project
        return project

    def open_sample(self, owner: str, name: Any, rows: Any) -> Project:
        """Create a project from a synthetic sample, with its own hierarchies."""
        from discreet.pipeline.sample_file import write_sample
        from discreet.samples import HIERARCHIES
        from discreet.schema import Builder, as_hierarchy

        if name not in _SAMPLES:
            raise UsageError(f"There is no sample '{name}'; there is {' and '.join(_SAMPLES)}.")
        if isinstance(rows, bool) or not isinstance(rows, int) or not 1 <= rows <= _MOST_PEOPLE:
            raise UsageError(f"A sample has 1 to {_MOST_PEOPLE:,} rows.")
        folder = self.workspace.new_folder()
        file = folder / f"{name}.csv"
        write_sample(file, rows)
        forms: dict[str, Form] = {}
        for column, given in HIERARCHIES.items():
            made = as_hierarchy(given)
            if isinstance(made, Builder):
                forms[column] = made.text
        return self.open_file(owner, folder, file, forms)

    def remove(self, project: Project) -> None:
        """Erase a project with its jobs."""
        with self._lock:
            self._projects.pop(project.id, None)
        for run in self.jobs.of_project(project.id):
            self.remove_job(run)
        self.workspace.remove(project.folder)

    def handovers(self, owner: str) -> Handovers:
        """Ledger of a user, across projects: the same table may have been opened twice."""
        with self._lock:
            if owner not in self._handovers:
                self._handovers[owner] = Handovers(self.workspace.new_folder())
            return self._handovers[owner]

    def job(self, owner: str, name: str) -> Run:
        """Job of a user; raises NotFoundError."""
        found = self.jobs.get(owner, name)
        if found is None:
            raise NotFoundError("There is no such job; it was removed, or the studio was restarted.")
        return found

    def start_job(self, project: Project, fields: Mapping[str, Any]) -> Run:
        """Start the job of a request: a release, a front, or the release of a point of a front."""
        kind, point = fields.get("kind"), fields.get("point")
        if kind not in ("release", "front"):
            raise UsageError("A job is a release or a front.")
        with project.lock:
            if point is None:
                project.check_version(fields.get("version"))
            settings = project.settings
        if kind == "front":
            settings = replace(settings, goals=settings.goals.for_front())
        task: dict[str, Any] = {"kind": kind, "rows": str(project.table.parquet)}
        if kind == "front":
            task["axes"] = _axes(fields.get("axes", ["k"]))
        elif point is not None:
            front = self.job(project.owner, str(fields.get("job")))
            if front.kind != "front" or front.state != "done":
                raise UsageError("Choose a point from a front that is done.")
            known = json.loads((front.folder / "result.json").read_text(encoding="utf-8"))["points"]
            if isinstance(point, bool) or not isinstance(point, int) or not 0 <= point < len(known):
                raise UsageError("The front has no such point.")
            settings = front.settings
            task |= {"kind": "point", "point": point, "of": front.id, "front": str(front.folder / FRONT)}
            task |= {"axes": front.task["axes"], "reaches": known[point]["values"]}
        folder = self.workspace.new_folder()
        try:
            write_job(project, settings, folder)
            self.handovers(project.owner).copy_key(folder)
        except BaseException:
            self.workspace.remove(folder)
            raise
        task["folder"] = str(folder)
        number = max((run.number for run in self.jobs.of_project(project.id)), default=0) + 1
        run = Run(project.owner, project.id, kind, folder, settings, task, number)
        self.jobs.add(run)
        return run

    def remove_job(self, run: Run) -> None:
        """Kill a job and erase its results."""
        self.jobs.remove(run)
        self.workspace.remove(run.folder)

    def close(self) -> None:
        """Kill all jobs and erase the workspace."""
        self.closing = True
        self.jobs.close()
        self._projects.clear()
        self.workspace.erase()


def _axes(given: Any) -> list[str]:
    from discreet.problem import AXES

    if not isinstance(given, list) or not given or not all(isinstance(axis, str) for axis in given):
        raise UsageError("A front needs at least one privacy axis, such as k.")
    return [AXES.make(axis).text for axis in given]
