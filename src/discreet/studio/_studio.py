"""The studio itself: the projects of each user, and the workspace they are in."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

from discreet.errors import DiscreetError, UsageError
from discreet.studio._project import Form, Project
from discreet.studio._table import Table
from discreet.studio._upload import Limits, admit
from discreet.studio._workspace import Workspace

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
        self._projects: dict[str, Project] = {}
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
            table = Table(file, folder / "rows.parquet")
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
        self.workspace.remove(project.folder)

    def close(self) -> None:
        """End everything and erase it."""
        self._projects.clear()
        self.workspace.erase()
