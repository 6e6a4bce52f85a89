"""Certificates: what was promised about a file, in a form that can be checked again later, by anybody."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from discreet._places import as_path, is_url
from discreet._reading import read_text
from discreet._replacing import check_target, replacing
from discreet.engines import UNKNOWN, normalized, to_lazy
from discreet.errors import DataError, UsageError
from discreet.problem import PRIVACY, SUPPRESSION
from discreet.release._audit import Audit, audit
from discreet.release._checksums import digest, job_digest
from discreet.release._describe import plain_data, shown_job
from discreet.release._output import FolderOutput, Output, Target

if TYPE_CHECKING:
    from discreet.job import Job
    from discreet.problem import PrivacyModel
    from discreet.release._release import Release

__all__ = ["Verification", "check_certificate", "make_certificate", "verify", "write_certificate"]

_KIND = "discreet release certificate"
_FORMAT = 1


def make_certificate(release: Release) -> dict[str, Any]:
    """Return the certificate of a release that was written to a file."""
    if release.wrote is None:
        raise UsageError(
            "A certificate speaks of a file; say where the release goes, as in output='safe.csv'.", topic="certificate"
        )
    job = release.job
    secrets = list(job.get("sensitive") or ())
    certificate = {
        "kind": _KIND,
        "format": _FORMAT,
        "made": release.made,
        "input": None if release.read is None else release.read.facts(),
        **({} if release.drawn_from is None else {"population": release.drawn_from.facts()}),
        "output": release.wrote.facts(),
        "job": {"sha256": job_digest(job), "text": plain_data(shown_job(job))},
        "quasi_identifiers": list(release.audit.quasi_identifiers),
        "sensitive": secrets,
        "kept": [column.name for column in release.kept],
        "unknown": UNKNOWN if SUPPRESSION.make(job["suppression"]).hides_values else None,
        "promises": release.audit.to_dict()["checks"],
        "rows": release.n,
        "released": release.audit.rows,
        "suppressed": release.suppressed,
        "suppressed_values": release.suppressed_values,
        "classes": release.classes,
        "smallest_class": release.audit.smallest_class,
        "status": release.status,
        "cost": release.cost,
        "lower_bound": plain_data(release.lower_bound),
        "gap": release.gap,
        "versions": dict(release.versions),
    }
    return {**certificate, "sha256": _own_digest(certificate)}


def write_certificate(release: Release, path: Path) -> Path:
    """Write the certificate of a release as JSON."""
    target = _check(path)
    text = json.dumps(make_certificate(release), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
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


@dataclass(frozen=True)
class Verification:
    """The verdict on a file and its certificate."""

    files: tuple[tuple[str, bool | None], ...]
    """What was compared, and whether it is the same; None where it was not given."""
    audit: Audit
    """The fresh audit."""
    differs: tuple[str, ...]
    """Promises for which the fresh audit measured something else than the certificate says."""

    @property
    def passed(self) -> bool:
        """Whether everything that was given is what the certificate says, and every promise is kept."""
        return self.audit.passed and not self.differs and all(same is not False for _, same in self.files)

    def summary(self) -> str:
        """Return the verdict as text for people."""
        marks = {True: "ok       ", False: "CHANGED  ", None: "not given"}
        lines = [f"Certificate {'holds' if self.passed else 'does NOT hold'}."]
        lines += [f"  {marks[same]}  {what}" for what, same in self.files]
        lines += [
            f"  DIFFERS  {model}: the certificate says something else than was measured" for model in self.differs
        ]
        return "\n".join([*lines, self.audit.summary()])

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict as plain data, ready for JSON."""
        return {
            "passed": self.passed,
            "files": dict(self.files),
            "differs": list(self.differs),
            "audit": self.audit.to_dict(),
        }


def verify(
    released: str | PathLike[str],
    certificate: str | PathLike[str],
    *,
    original: str | PathLike[str] | None = None,
    population: Any = None,
    job: str | PathLike[str] | None = None,
    hierarchies: Mapping[str, Any] | None = None,
) -> Verification:
    """Check a released file against its certificate: whether it is that file, and keeps every promise.

    With the ``original`` table and the ``job`` file these are compared too. The original is needed where a promise
    compares with it (t-closeness), the job file where a promise names values of the data, which a certificate does not
    hold, and ``hierarchies`` of sensitive columns for hierarchical t-closeness without a job file. The ``population``
    is needed where a promise counts its people in a table; then the job file or ``hierarchies`` say what the released
    values of columns stand for.
    """
    told = _read(as_path(certificate, "The certificate"))
    known = None if job is None else _load(job)
    files: list[tuple[str, bool | None]] = [
        ("the certificate itself", _own_digest({k: v for k, v in told.items() if k != "sha256"}) == told.get("sha256")),
        ("the released file", _digest_of(released, "The released table") == told["output"]["sha256"]),
    ]
    if told.get("input") is not None:
        same = None if original is None else _digest_of(original, "The original table") == told["input"]["sha256"]
        files.append(("the original file", same))
    if told.get("population") is not None:
        same = None
        if population is not None:
            is_file = isinstance(population, str | PathLike) and not is_url(population)
            same = is_file and _digest_of(population, "The population") == told["population"]["sha256"]
        files.append(("the population", same))
    files.append(("the job", None if known is None else job_digest(known.told()) == told["job"]["sha256"]))
    models = _promised(told, known)
    trees = dict(hierarchies or {})
    if known is not None:
        arguments = known.arguments()
        trees = {**arguments["sensitive"], **arguments["quasi_identifiers"], **trees}
    if original is None and any(model.compares for model in models):
        model = next(model for model in models if model.compares)
        raise UsageError(
            f"'{model.shown}' compares with the original table; name that too, as in --input people.csv.",
            topic="certificate",
        )
    fresh = audit(
        released,
        quasi_identifiers={column: _released_by(told, column, trees) for column in told["quasi_identifiers"]},
        privacy=models,
        sensitive={column: trees.get(column) for column in told["sensitive"]},
        types=told["job"]["text"].get("types"),
        reference=None if original is None else _original(original, told),
        unknown=told["unknown"],
        rows=told["released"],
        weights=told["job"]["text"].get("weights"),
        population=population,
    )
    return Verification(tuple(files), fresh, tuple(_differences(told, fresh)))


def _released_by(told: Mapping[str, Any], column: str, trees: Mapping[str, Any]) -> Any:
    """Return the hierarchy of a column: that given, or else the builder a certificate can tell."""
    from discreet.schema.builders import BUILDERS

    form = told["job"]["text"]["quasi_identifiers"].get(column)
    builder = isinstance(form, str) and form.partition("(")[0].strip() in BUILDERS and "values" not in form
    return trees.get(column) or (form if builder else None)


def _read(path: Path) -> dict[str, Any]:
    try:
        told = json.loads(read_text(path, "certificate"))
    except ValueError:
        told = None
    if not isinstance(told, dict) or told.get("kind") != _KIND:
        raise DataError(f"'{path.name}' is no certificate of a release.", topic="certificate")
    if told.get("format") != _FORMAT:
        raise DataError(
            f"'{path.name}' was made by a newer version of discreet; use that to check it.", topic="certificate"
        )
    return told


def _load(job: str | PathLike[str]) -> Job:
    from discreet.job import Job

    return Job.load(Path(job))


def _digest_of(path: Any, what: str) -> str:
    """Return the SHA-256 of what is at a path; ``what`` it is."""
    try:
        return digest(as_path(path, what))
    except FileNotFoundError:
        raise DataError(f"There is no file '{path}'.", topic="no-such-file") from None
    except OSError as error:
        raise DataError(f"'{Path(path).name}' cannot be read: {error.strerror}.") from None


def _own_digest(certificate: Mapping[str, Any]) -> str:
    text = json.dumps(certificate, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _promised(told: Mapping[str, Any], job: Job | None) -> list[PrivacyModel]:
    """Return the models that were promised; those of the job where it is known, which has them in full."""
    texts = told["job"]["text"]["privacy"] if job is None else job.privacy
    models = []
    for text in texts:
        try:
            models.append(PRIVACY.make(text).resolve(told["sensitive"]))
        except UsageError:
            raise UsageError(
                f"The promise '{text}' names values of the data, which a certificate does not hold; name the job file "
                "too, as in --job job.yaml."
            ) from None
    return models


def _original(path: str | PathLike[str], told: Mapping[str, Any]) -> pl.LazyFrame:
    """Return the table promises compare with, without the rows that were left out for missing values."""
    frame = to_lazy(path)
    if told["job"]["text"].get("missing") != "suppress":
        return frame
    schema = frame.collect_schema()
    return frame.filter(
        pl.all_horizontal(normalized(column, schema[column]).is_not_null() for column in told["quasi_identifiers"])
    )


def _differences(told: Mapping[str, Any], fresh: Audit) -> list[str]:
    """Return the promises for which the two audits do not agree."""
    before = {check["model"]: check["reached"] for check in told["promises"]}
    return [check.model for check in fresh.checks if not _close(before.get(check.model, math.nan), check.reached)]


def _close(told: float | None, measured: float) -> bool:
    if told is None:
        return not math.isfinite(measured)
    return math.isclose(told, measured, rel_tol=1e-9, abs_tol=1e-12)
