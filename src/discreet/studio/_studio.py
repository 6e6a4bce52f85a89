"""The studio itself: the projects of each user, and the workspace they are in."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from discreet.errors import DiscreetError, UsageError
from discreet.studio._handovers import Handovers
from discreet.studio._jobs import Jobs, Run
from discreet.studio._project import Form, Project
from discreet.studio._script import write_job
from discreet.studio._table import Table
from discreet.studio._upload import Limits, admit
from discreet.studio._worker import FRONT
from discreet.studio._workspace import ROWS, Workspace

__all__ = ["NotFoundError", "Studio"]

_SAMPLES = ("people",)
_MOST_PEOPLE = 1_000_000


class NotFoundError(DiscreetError):
    """There is nothing of that name, or it is somebody else's."""


class Studio:
    """All projects, each seen by its owner only."""

    def __init__(self, workspace: Workspace, limits: Limits | None = None) -> None:
        self.workspace = workspace
        self.limits = limits or Limits()
        self.jobs = Jobs()
        self.closing = False
        self._projects: dict[str, Project] = {}
        self._handovers: dict[str, Handovers] = {}
        self._lock = threading.Lock()

    def projects(self, owner: str) -> list[Project]:
        """Return the projects of a user, the newest first."""
        with self._lock:
            return [project for project in reversed(self._projects.values()) if project.owner == owner]

    def project(self, owner: str, name: str) -> Project:
        """Return a project of a user."""
        found = self._projects.get(name)
        if found is None or found.owner != owner:
            raise NotFoundError("There is no such project; it was removed, or the studio was started anew.")
        return found

    def open_file(self, owner: str, folder: Path, file: Path, forms: dict[str, Form] | None = None) -> Project:
        """Make a project of a file that was put into a folder of the workspace; on failure both are erased."""
        try:
            admit(file, self.limits)
            table = Table(file, folder / ROWS)
            project = Project(owner, folder, table, forms)
        except BaseException:
            self.workspace.remove(folder)
            raise
        with self._lock:
            self._projects[project.id] = project
        return project

    def open_sample(self, owner: str, name: Any, rows: Any) -> Project:
        """Make a project of made-up people, with hierarchies that suit them."""
        from discreet.samples import write_sample
        from discreet.samples._hierarchies import HIERARCHIES
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
        """Erase a project and all that belongs to it."""
        with self._lock:
            self._projects.pop(project.id, None)
        for run in self.jobs.of_project(project.id):
            self.remove_job(run)
        self.workspace.remove(project.folder)

    def handovers(self, owner: str) -> Handovers:
        """Return what a user downloaded of any project; the same table may have been opened twice."""
        with self._lock:
            if owner not in self._handovers:
                self._handovers[owner] = Handovers(self.workspace.new_folder())
            return self._handovers[owner]

    def job(self, owner: str, name: str) -> Run:
        """Return a job of a user."""
        found = self.jobs.get(owner, name)
        if found is None:
            raise NotFoundError("There is no such job; it was removed, or the studio was started anew.")
        return found

    def start_job(self, project: Project, told: Mapping[str, Any]) -> Run:
        """Start what a request asks for: a release, a front, or the release of a point of a front."""
        kind, point = told.get("kind"), told.get("point")
        if kind not in ("release", "front"):
            raise UsageError("A job is a release or a front.")
        settings = project.settings
        task: dict[str, Any] = {"kind": kind, "rows": str(project.table.parquet)}
        if kind == "front":
            task["axes"] = _axes(told.get("axes", ["k"]))
        elif point is not None:
            front = self.job(project.owner, str(told.get("job")))
            if front.kind != "front" or front.state != "done":
                raise UsageError("A point is chosen from a front that is done.")
            known = json.loads((front.folder / "result.json").read_text(encoding="utf-8"))["points"]
            if isinstance(point, bool) or not isinstance(point, int) or not 0 <= point < len(known):
                raise UsageError("The front has no such point.")
            settings = front.settings
            task |= {"kind": "point", "point": point, "of": front.id, "front": str(front.folder / FRONT)}
            task["axes"] = front.task["axes"]
        folder = self.workspace.new_folder()
        try:
            write_job(project, settings, folder)
            self.handovers(project.owner).lend(folder)
        except BaseException:
            self.workspace.remove(folder)
            raise
        task["folder"] = str(folder)
        run = Run(project.owner, project.id, kind, folder, settings, task)
        self.jobs.add(run)
        return run

    def remove_job(self, run: Run) -> None:
        """End a job and erase what came of it."""
        self.jobs.remove(run)
        self.workspace.remove(run.folder)

    def close(self) -> None:
        """End everything and erase it."""
        self.closing = True
        self.jobs.close()
        self._projects.clear()
        self.workspace.erase()


def _axes(given: Any) -> list[str]:
    from discreet.problem import AXES

    if not isinstance(given, list) or not given or not all(isinstance(axis, str) for axis in given):
        raise UsageError("A front needs something on its axis of privacy, such as k.")
    return [AXES.make(axis).text for axis in given]
