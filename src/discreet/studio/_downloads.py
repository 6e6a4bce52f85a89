"""What can be downloaded of a finished job: a list of names, each with the one file it stands for."""

from __future__ import annotations

import json
import zipfile
from dataclasses import dataclass
from pathlib import Path

from discreet.job import Job
from discreet.schema import Hierarchy
from discreet.studio._jobs import Run
from discreet.studio._script import FRONT_JOB, JOB, hierarchy_files, released_name, script
from discreet.studio._workspace import RELEASED, new_id

__all__ = ["Download", "download"]

_KINDS = {
    "data.csv": "text/csv; charset=utf-8",
    "data.parquet": "application/vnd.apache.parquet",
    "report.html": "text/html",
    "report.pdf": "application/pdf",
    "certificate.json": "application/json",
    "job.yaml": "application/yaml",
    "script.py": "text/x-python",
    "mapping.json": "application/json",
    "front.svg": "image/svg+xml",
    "everything.zip": "application/zip",
}


@dataclass(frozen=True)
class Download:
    """A file, or what would be in it, and the name it is saved under."""

    name: str
    kind: str
    content: Path | bytes


def download(run: Run, file: Path, name: str) -> Download | None:
    """Return what a name stands for; None where there is nothing."""
    if name not in _KINDS:
        return None
    stem = file.name.partition(".")[0]
    content = _content(run, file, name)
    if content is None or (isinstance(content, Path) and not content.is_file()):
        return None
    saved = {
        "data.csv": released_name(file),
        "data.parquet": f"{stem}-released.parquet",
        "report.html": f"{stem}-report.html",
        "report.pdf": f"{stem}-report.pdf",
        "front.svg": f"{stem}-front.svg",
        "everything.zip": f"{stem}-released.zip",
    }
    return Download(saved.get(name, name), _KINDS[name], content)


def _content(run: Run, file: Path, name: str) -> Path | bytes | None:
    folder = run.folder
    if name == JOB:
        return folder / JOB
    if name == "front.svg":
        return _front_picture(folder) if run.kind == "front" else None
    if run.kind != "release":
        return None
    if name == "data.csv":
        return _data(folder, file)
    if name == "data.parquet":
        return folder / RELEASED
    if name == "report.pdf":
        return _printed(folder)
    if name == "script.py":
        return _script(run).encode()
    if name == "everything.zip":
        return _everything(run, file)
    return folder / name


def _data(folder: Path, file: Path) -> Path:
    output = released_name(file)
    safe = folder / "safe" / output
    return safe if safe.is_file() else folder / output


def _front_picture(folder: Path) -> bytes:
    told = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    return str(told["svg"]).encode()


def _printed(folder: Path) -> Path:
    """Print the report with a browser, if there is one."""
    from discreet.release._browser import print_page

    printed = folder / "report.pdf"
    print_page((folder / "report.html").read_text(encoding="utf-8"), printed)
    return printed


def _script(run: Run) -> str:
    trees = {
        column: tree
        for column in hierarchy_files(run.settings)
        if isinstance(tree := run.settings.hierarchies[column], Hierarchy)
    }
    point = run.task.get("point")
    job = Job.load(run.folder / (JOB if point is None else FRONT_JOB)).model_dump(exclude_defaults=True)
    known = {*job["quasi_identifiers"], *job.get("sensitive", ())}
    formulas = (run.folder / "safe").is_dir()
    return script(
        job,
        {column: tree for column, tree in trees.items() if column in known},
        point,
        list(run.task.get("axes", [])),
        for_spreadsheets=formulas,
    )


def _everything(run: Run, file: Path) -> Path:
    """Put everything into one archive, in which the job file finds its hierarchies."""
    unfinished = run.folder / f"{new_id()}.part"
    with zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("data.csv", "report.html", "certificate.json", "job.yaml", "script.py", "mapping.json"):
            found = download(run, file, name)
            if found is None:
                continue
            inside = "report.html" if name == "report.html" else found.name
            if isinstance(found.content, Path):
                archive.write(found.content, inside)
            else:
                archive.writestr(inside, found.content)
        for name in hierarchy_files(run.settings).values():
            archive.write(run.folder / name, name)
    return unfinished.replace(run.folder / "everything.zip")
