"""Certificates: what was promised about a released file, for anybody to check later.

:func:`discreet.verify` measures every field again from the released file, or checks it with the owner's key. What
cannot be checked, such as the cost and its proof, is in the report and not in the certificate.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.engines import UNKNOWN, open_table
from discreet.errors import UsageError
from discreet.problem import PRIVACY, SUPPRESSION
from discreet.report.certificate_format import FORMAT, KIND, own_digest, promise_note, sealed_text
from discreet.report.job_text import is_counted, job_text, plain_data
from discreet.report.small_counts import comparing_promises
from discreet.report.uniqueness import with_uniqueness
from discreet.runtime.atomic_write import check_target, replacing
from discreet.schema import hierarchy_for_reports, parts_of

if TYPE_CHECKING:
    from discreet.job.files import FileStamp
    from discreet.job.owner_key import Key
    from discreet.pipeline.audit import Check
    from discreet.pipeline.release import Release

__all__ = ["builder_form", "check_certificate", "keyed_input", "keyed_job", "make_certificate", "write_certificate"]


def make_certificate(release: Release, key: Key | None) -> dict[str, Any]:
    """Return the certificate of a release that was written to a file.

    The input, the population and the job are only identified with a ``key``.
    """
    if release.wrote is None:
        raise UsageError(
            "A certificate is about a file; say where to write the release, as in output='safe.csv'.",
            topic="certificate",
        )
    job, audit, output = release.job, release.audit, release.wrote.digest()
    files = [path for path, *_ in release.wrote.files]
    columns = list(open_table(files[0]).columns)
    quasi, secrets = set(audit.quasi_identifiers), list(job.get("sensitive") or ())
    owners = [job[role] for role in ("person", "household") if job.get(role)]
    parts = {part for name in secrets for part in parts_of(name, columns)}
    comparing = comparing_promises(job)
    certificate = {
        "kind": KIND,
        "format": FORMAT,
        "output": output,
        "quasi_identifiers": [column for column in columns if column in quasi],
        "sensitive": secrets,
        "unchanged": with_uniqueness(files, [column for column in columns if column not in quasi | parts | {*owners}]),
        "unknown": UNKNOWN if SUPPRESSION.make(job["suppression"]).hides_values else None,
        "promises": [
            {"model": check.model, "reached": _reached(check, check.model in comparing), **promise_note(check.model)}
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


def _reached(check: Check, comparing: bool) -> float | None:
    """Return the measured value of a promise; None if it compares with people who may have been left out."""
    return float(check.reached) if math.isfinite(check.reached) and not comparing else None


def keyed_input(key: Key | None, stamp: FileStamp | None, output: str, role: str = "input") -> str | None:
    """Return the HMAC of the files a release was made from, bound to the digest of the released file."""
    return None if key is None or stamp is None else key.sign(role, output, stamp.digest())


def keyed_job(key: Key, job: dict[str, Any], output: str) -> str:
    """Return the HMAC of the job without its seed, bound to the digest of the released file."""
    return key.sign("job", output, job_text(job, without=["seed"]))


def _reading(release: Release) -> dict[str, Any]:
    """Return the options that are needed to measure the promises again."""
    job = release.job
    owners = [job[role] for role in ("person", "household") if job.get(role)]
    models = [PRIVACY.make(model) for model in job["privacy"] if not is_counted(model)]
    of_population = any(model.looks_at_population for model in models)
    needed = [*(job.get("sensitive") or ()), *(release.audit.quasi_identifiers if of_population else ())]
    compares = any(model.compares for model in models)
    types = {column: str(kind) for column, kind in (job.get("types") or {}).items() if column in needed}
    forms = {column: builder_form(form) for column, form in job["quasi_identifiers"].items()} if of_population else {}
    found = {
        "types": types if compares or of_population else {},
        "hierarchies": {column: form for column, form in forms.items() if form is not None},
        "weights": job.get("weights") if of_population else None,
        "missing": job.get("missing") if compares and job.get("missing") == "suppress" else None,
        "unit": release.audit.unit if release.audit.people is not None else None,
        "pseudonyms": owners if job.get("pseudonyms") else None,
        "missing_sensitive": "value" if needed and job.get("missing_sensitive") == "value" else None,
    }
    return {name: plain_data(value) for name, value in found.items() if value}


def builder_form(form: Any) -> str | None:
    """Return the text form of a hierarchy builder that names no value of the data; None for any other hierarchy."""
    from discreet.schema.builders import BUILDERS

    if not isinstance(form, str) or form.partition("(")[0].strip() not in BUILDERS or is_counted(form):
        return None
    return form if hierarchy_for_reports(form) == form else None


def write_certificate(release: Release, path: Path, key: Key | None) -> Path:
    """Write the certificate of a release as JSON."""
    target = _check(path)
    text = json.dumps(make_certificate(release, key), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    with replacing(target) as unfinished:
        unfinished.write_text(text, encoding="utf-8")
    return target


def check_certificate(path: Path, *, to_file: bool) -> Path:
    """Raise UsageError if a certificate could not be written; ``to_file`` says whether the release goes to a file."""
    if not to_file:
        raise UsageError(
            "A certificate is about a file; write the release to one, with -o or as output.", topic="certificate"
        )
    return _check(path)


def _check(path: Path) -> Path:
    if path.suffix.lower() != ".json":
        raise UsageError(f"A certificate is written as JSON; end the name '{path.name}' in .json.")
    return check_target(path)
