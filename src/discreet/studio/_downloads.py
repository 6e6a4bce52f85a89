"""Downloads of a finished job: a fixed list of names, each backed by one file.

There are two archives. The one to hand over contains nothing private. The one to keep repeats the job and must be
protected like the data itself.
"""

from __future__ import annotations

import json
import pickle
import shutil
import stat
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from discreet.errors import UsageError
from discreet.job import Job
from discreet.job.owner_key import KEY_FILE
from discreet.pipeline.ledger import LEDGER_FILE
from discreet.report.protection_page import Handover, ProtectionPage
from discreet.runtime.atomic_write import replacing
from discreet.schema import Hierarchy
from discreet.studio._handovers import Handovers
from discreet.studio._jobs import Run
from discreet.studio._script import FRONT_JOB, JOB, hierarchy_files, released_name, script
from discreet.studio._worker import PAGES_FILE
from discreet.studio._workspace import RELEASED

__all__ = ["HANDED_OVER", "Download", "download"]

HAND_OVER, KEEP = "hand-over.zip", "keep.zip"

PAGES = ("protection-page", "internal-page")
"""Data protection pages: to hand over, and for the owner alone."""
_PAGE_KINDS = {"html": "text/html", "pdf": "application/pdf", "md": "text/markdown; charset=utf-8"}
_KINDS = {
    "data.csv": "text/csv; charset=utf-8",
    "data.parquet": "application/vnd.apache.parquet",
    "report.html": "text/html",
    "report.pdf": "application/pdf",
    "certificate.json": "application/json",
    **{f"{page}.{suffix}": kind for page in PAGES for suffix, kind in _PAGE_KINDS.items()},
    "job.yaml": "application/yaml",
    "script.py": "text/x-python",
    "mapping.json": "application/json",
    "front.svg": "image/svg+xml",
    HAND_OVER: "application/zip",
    KEEP: "application/zip",
}
HANDED_OVER = ("data.csv", "data.parquet", HAND_OVER)
"""Downloads that contain the released table; downloading one counts as handing the release over."""
_TO_HAND_OVER = ("data.csv", "report.html", "certificate.json")
_TO_KEEP = ("job.yaml", "script.py", "mapping.json")


@dataclass(frozen=True)
class Download:
    """A download: its file name, media type and content."""

    name: str
    kind: str
    content: Path | bytes


def download(
    run: Run, file: Path, name: str, handovers: Handovers, handover: Handover | None = None
) -> Download | None:
    """Look a download up by name; None if the job does not have it.

    ``handovers`` is the ledger of the user, ``handover`` what a data protection page says about the release.
    """
    if name not in _KINDS:
        return None
    stem = file.name.partition(".")[0]
    page = name.partition(".")[0]
    if page in PAGES and run.kind == "release":
        chosen = replace(handover or Handover(), internal=page == "internal-page")
        content: Path | bytes | None = _protection_page(run, name, chosen)
    else:
        content = _content(run, file, name, handovers)
    if content is None or (isinstance(content, Path) and not content.is_file()):
        return None
    saved = {
        "data.csv": released_name(file),
        "data.parquet": f"{stem}-released.parquet",
        "report.html": f"{stem}-report.html",
        "report.pdf": f"{stem}-report.pdf",
        "front.svg": f"{stem}-front.svg",
        HAND_OVER: f"{stem}-to-hand-over.zip",
        KEEP: f"{stem}-to-keep-private.zip",
    }
    return Download(saved.get(name, f"{stem}-{name}" if page in PAGES else name), _KINDS[name], content)


def _protection_page(run: Run, name: str, handover: Handover) -> Path:
    """Write a data protection page, which was made when the release was evaluated."""
    if not (run.folder / PAGES_FILE).is_file():
        raise UsageError("The data protection page is made once risk and utility are measured; try again in a moment.")
    with (run.folder / PAGES_FILE).open("rb") as stream:
        pages = pickle.load(stream)  # written by a worker of this studio, in a folder only its user can write
    page: ProtectionPage = pages[handover.internal]
    return page.handed_to(handover.purpose, handover.recipient).write(run.folder / name)


def _content(run: Run, file: Path, name: str, handovers: Handovers) -> Path | bytes | None:
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
    if name == HAND_OVER:
        return _archive(run, name, _found(run, file, _TO_HAND_OVER, handovers))
    if name == KEEP:
        return _archive(run, name, {**_found(run, file, _TO_KEEP, handovers), **_secrets(run, handovers)}, private=True)
    return folder / name


def _data(folder: Path, file: Path) -> Path:
    output = released_name(file)
    safe = folder / "safe" / output
    return safe if safe.is_file() else folder / output


def _front_picture(folder: Path) -> bytes:
    result = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    return str(result["svg"]).encode()


def _printed(folder: Path) -> Path:
    """Print the report to PDF with a local browser."""
    from discreet.report.formats.pdf import print_page

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
    used = {*job["quasi_identifiers"], *job.get("sensitive", ())}
    return script(
        job,
        {column: tree for column, tree in trees.items() if column in used},
        point,
        list(run.task.get("axes", [])),
        for_spreadsheets=(run.folder / "safe").is_dir(),
    )


def _found(run: Run, file: Path, names: Sequence[str], handovers: Handovers) -> dict[str, Path | bytes]:
    """The downloads among ``names`` that exist, by their name in an archive."""
    found = {}
    for name in names:
        item = download(run, file, name, handovers)
        if item is not None:
            found[name if name == "report.html" else item.name] = item.content
    return found


def _secrets(run: Run, handovers: Handovers) -> dict[str, Path | bytes]:
    """Private files that are only in the archive to keep: hierarchies, the key and the ledger."""
    trees: dict[str, Path | bytes] = {name: run.folder / name for name in hierarchy_files(run.settings).values()}
    return {**trees, KEY_FILE: run.folder / KEY_FILE, LEDGER_FILE: handovers.ledger_of(run.folder)}


def _archive(run: Run, name: str, parts: Mapping[str, Path | bytes], *, private: bool = False) -> Path:
    """Write a zip archive; members of a ``private`` one unpack with mode 0600."""
    target = run.folder / name
    with replacing(target, private=private) as unfinished, zipfile.ZipFile(unfinished, "w") as archive:
        for member, content in parts.items():
            info = zipfile.ZipInfo(member, datetime.now(UTC).timetuple()[:6])
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = (stat.S_IFREG | (0o600 if private else 0o644)) << 16
            with archive.open(info, "w", force_zip64=True) as stream:
                if isinstance(content, bytes):
                    stream.write(content)
                else:
                    with content.open("rb") as source:
                        shutil.copyfileobj(source, stream)
    return target
