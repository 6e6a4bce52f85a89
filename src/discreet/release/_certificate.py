"""Certificates: what was promised about a file, in a form that can be checked again later, by anybody.

Every field is measured again from the released file by :func:`discreet.verify`, or can be checked by whoever has the
owner's key. What cannot be checked is not in a certificate: the report tells the cost and the proof.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet._replacing import check_target, replacing
from discreet.engines import UNKNOWN, open_table
from discreet.errors import UsageError
from discreet.problem import PRIVACY, SUPPRESSION
from discreet.release._certificate_form import FORMAT, KIND, own_digest, sealed_text
from discreet.release._checksums import FileStamp, job_text
from discreet.release._describe import is_counted, plain_data
from discreet.release._left_out import comparing
from discreet.release._output import FolderOutput, Output, Target
from discreet.release._unchanged import with_uniqueness
from discreet.schema import parts_of, shown_hierarchy

if TYPE_CHECKING:
    from discreet.release._audit import Check
    from discreet.release._key import Key
    from discreet.release._release import Release

__all__ = ["builder_form", "check_certificate", "keyed_input", "keyed_job", "make_certificate", "write_certificate"]


def make_certificate(release: Release, key: Key | None) -> dict[str, Any]:
    """Return the certificate of a release that was written to a file.

    Without a ``key`` nothing is said about the input, the population and the job.
    """
    if release.wrote is None:
        raise UsageError(
            "A certificate speaks of a file; say where the release goes, as in output='safe.csv'.", topic="certificate"
        )
    job, audit, output = release.job, release.audit, release.wrote.digest()
    files = [path for path, *_ in release.wrote.files]
    columns = list(open_table(files[0]).columns)
    quasi, secrets = set(audit.quasi_identifiers), list(job.get("sensitive") or ())
    parts = {part for name in secrets for part in parts_of(name, columns)}
    compared = comparing(job)
    certificate = {
        "kind": KIND,
        "format": FORMAT,
        "output": output,
        "quasi_identifiers": [column for column in columns if column in quasi],
        "sensitive": secrets,
        "unchanged": with_uniqueness(files, [column for column in columns if column not in quasi | parts]),
        "unknown": UNKNOWN if SUPPRESSION.make(job["suppression"]).hides_values else None,
        "promises": [
            {"model": check.model, "reached": _reached(check, check.model in compared)}
            for check in audit.checks[: len(job["privacy"])]
        ],
        "rows": audit.rows,
        "classes": audit.classes,
        "smallest_class": audit.smallest_class,
        "reading": _reading(release),
        "input": keyed_input(key, release.read, output),
        "population": keyed_input(key, release.drawn_from, output, "population"),
        "job": None if key is None or release.unpickled else keyed_job(key, job, output),
    }
    certificate["seal"] = None if key is None else key.sign("certificate", sealed_text(certificate))
    return {**certificate, "sha256": own_digest(certificate)}


def _reached(check: Check, compared: bool) -> float | None:
    """Return what a promise has reached; not of one that compares with people of whom some may have been left out."""
    return float(check.reached) if math.isfinite(check.reached) and not compared else None


def keyed_input(key: Key | None, stamp: FileStamp | None, output: str, role: str = "input") -> str | None:
    """Return the HMAC of the files a release was made from, bound to the digest of what was written."""
    return None if key is None or stamp is None else key.sign(role, output, stamp.digest())


def keyed_job(key: Key, job: dict[str, Any], output: str) -> str:
    """Return the HMAC of what was asked for, bound to what was written; the seed is no part of it."""
    return key.sign("job", output, job_text(job, without=["seed"]))


def _reading(release: Release) -> dict[str, Any]:
    """Return what else it takes to measure the promises again, where they need more than the released file."""
    job = release.job
    models = [PRIVACY.make(model) for model in job["privacy"] if not is_counted(model)]
    about_people = any(model.looks_at_population for model in models)
    needed = [*(job.get("sensitive") or ()), *(release.audit.quasi_identifiers if about_people else ())]
    compares = any(model.compares for model in models)
    types = {column: str(kind) for column, kind in (job.get("types") or {}).items() if column in needed}
    forms = {column: builder_form(form) for column, form in job["quasi_identifiers"].items()} if about_people else {}
    found = {
        "types": types if compares or about_people else {},
        "hierarchies": {column: form for column, form in forms.items() if form is not None},
        "weights": job.get("weights") if about_people else None,
        "missing": job.get("missing") if compares and job.get("missing") == "suppress" else None,
        "missing_sensitive": "value" if needed and job.get("missing_sensitive") == "value" else None,
    }
    return {name: plain_data(value) for name, value in found.items() if value}


def builder_form(form: Any) -> str | None:
    """Return the text of a hierarchy if it is a builder that names no value of the data."""
    from discreet.schema.builders import BUILDERS

    if not isinstance(form, str) or form.partition("(")[0].strip() not in BUILDERS or is_counted(form):
        return None
    return form if shown_hierarchy(form) == form else None


def write_certificate(release: Release, path: Path, key: Key | None) -> Path:
    """Write the certificate of a release as JSON."""
    target = _check(path)
    text = json.dumps(make_certificate(release, key), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    with replacing(target) as unfinished:
        unfinished.write_text(text, encoding="utf-8")
    return target


def check_certificate(path: Path, output: Target | None) -> Path:
    """Refuse a certificate that could not be written in the end, and return where it goes."""
    if not isinstance(output, Output | FolderOutput):
        raise UsageError(
            "A certificate speaks of a file; let the release go to one, with -o or as output.", topic="certificate"
        )
    return _check(path)


def _check(path: Path) -> Path:
    if path.suffix.lower() != ".json":
        raise UsageError(f"A certificate is written as JSON; end the name '{path.name}' in .json.")
    return check_target(path)
