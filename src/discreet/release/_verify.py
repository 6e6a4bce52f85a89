"""Check a released file against its certificate: every field is measured again, or compared with the owner's key."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from discreet._places import as_path, is_url
from discreet.engines import files_of
from discreet.errors import DataError, DiscreetError, MissingColumnError, UsageError
from discreet.problem import PRIVACY
from discreet.release._audit import Audit, audit, scan
from discreet.release._audit._files import open_files
from discreet.release._audit._values import comparable
from discreet.release._certificate import keyed_job
from discreet.release._certificate_form import own_digest, read_certificate, sealed_text
from discreet.release._checksums import digest
from discreet.release._key import Key, KeyPlace
from discreet.release._unchanged import with_uniqueness
from discreet.schema import parts_of

if TYPE_CHECKING:
    from discreet.job import Job
    from discreet.problem import PrivacyModel

__all__ = ["Verification", "verify"]

_NO_KEY = "not checked (needs the key)"
_NOT_GIVEN = "not given"


@dataclass(frozen=True)
class Verification:
    """The verdict on a file and its certificate."""

    files: tuple[tuple[str, bool | None], ...]
    """What was compared, and whether it is the same; None where it was not checked."""
    audit: Audit
    """The fresh audit."""
    differs: tuple[str, ...]
    """What was measured to be something else than the certificate says: promises by their models, other fields by
    their names."""
    unchecked: Mapping[str, str] = field(default_factory=dict)
    """Why something was not checked."""

    @property
    def passed(self) -> bool:
        """Whether everything that was checked is what the certificate says, and every promise is kept."""
        return self.audit.passed and not self.differs and all(same is not False for _, same in self.files)

    def summary(self) -> str:
        """Return the verdict as text for people."""
        marks = {True: "ok", False: "CHANGED"}
        lines = [f"Certificate {'holds' if self.passed else 'does NOT hold'}."]
        for what, same in self.files:
            mark = self.unchecked.get(what, _NOT_GIVEN) if same is None else marks[same]
            lines.append(f"  {mark:<9}  {what}")
        lines += [
            f"  DIFFERS    {what}: the certificate says something else than was measured" for what in self.differs
        ]
        return "\n".join([*lines, self.audit.summary()])

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict as plain data, ready for JSON."""
        return {
            "passed": self.passed,
            "files": dict(self.files),
            "unchecked": dict(self.unchecked),
            "differs": list(self.differs),
            "audit": self.audit.to_dict(),
        }


def verify(
    released: str | PathLike[str],
    certificate: str | PathLike[str],
    *,
    key: str | PathLike[str] | None = None,
    original: str | PathLike[str] | None = None,
    population: Any = None,
    job: str | PathLike[str] | None = None,
    hierarchies: Mapping[str, Any] | None = None,
) -> Verification:
    """Check a released file against its certificate: whether it is that file, and keeps every promise.

    With the owner's ``key`` file the seal of the certificate is checked, and the ``original`` table, the ``population``
    and the ``job`` file are compared with what the release was made from. The original is also needed where a promise
    compares with it (t-closeness), the job file where a promise names values of the data, which a certificate does not
    hold, and ``hierarchies`` of sensitive columns for hierarchical t-closeness without a job file. The ``population``
    is needed where a promise counts its people in a table; then the job file or ``hierarchies`` say what the released
    values of columns stand for.
    """
    path = as_path(certificate, "The certificate")
    told = read_certificate(path)
    secret = None if key is None else KeyPlace(as_path(key, "The key"), explicit=True).load()
    known = None if job is None else _load(job)
    output = _digest_of(released, "The released table")
    files: dict[str, bool | None] = {
        "the certificate itself": own_digest(told) == told["sha256"],
        "the released file": output == told["output"],
    }
    unchecked: dict[str, str] = {}
    for what, same in _with_key(told, secret, output, original, population, known):
        files[what] = same if isinstance(same, bool) else None
        if isinstance(same, str):
            unchecked[what] = same
    try:
        fresh, promised = _audit(told, released, original, population, known, dict(hierarchies or {}))
    except DiscreetError:
        raise
    except (ArithmeticError, TypeError, ValueError, RecursionError):  # a promise that no release could have made
        raise DataError(
            f"'{path.name}' is no certificate of a release, or it was damaged: what it promises makes no sense.",
            topic="certificate",
        ) from None
    differs = tuple(_differences(told, released, fresh, promised))
    return Verification(tuple(files.items()), fresh, differs, unchecked)


def _with_key(
    told: Mapping[str, Any], key: Key | None, output: str, original: Any, population: Any, job: Job | None
) -> Iterator[tuple[str, bool | str]]:
    """Yield what the owner of the key can check, and whether it is the same or why that was not checked."""
    seal = None if key is None else key.sign("certificate", sealed_text(told))
    sealed = {"seal": told["seal"], "input": told["input"], "population": told["population"], "job": told["job"]}
    if any(value is not None for value in sealed.values()):
        yield "the owner's seal", _NO_KEY if seal is None else seal == told["seal"]
    elif key is not None:
        yield "the owner's seal", False
    for role, what, place in (("input", "the original file", original), ("population", "the population", population)):
        if told[role] is None:
            continue
        if key is None:
            yield what, _NO_KEY
        elif place is None:
            yield what, _NOT_GIVEN
        else:
            is_file = isinstance(place, str | PathLike) and not is_url(place)
            yield what, is_file and key.sign(role, told["output"], _digest_of(place, what.capitalize())) == told[role]
    if told["job"] is not None:
        if key is None:
            yield "the job", _NO_KEY
        else:
            yield "the job", _NOT_GIVEN if job is None else keyed_job(key, job.told(), told["output"]) == told["job"]


def _audit(
    told: Mapping[str, Any], released: Any, original: Any, population: Any, job: Job | None, trees: dict[str, Any]
) -> tuple[Audit, list[PrivacyModel]]:
    """Measure every promise of a certificate afresh."""
    models, reading = _promised(told, job), told["reading"]
    if job is not None:
        arguments = job.arguments()
        trees = {**arguments["sensitive"], **arguments["quasi_identifiers"], **trees}
    comparing = next((model for model in models if model.compares), None)
    if original is None and comparing is not None:
        raise UsageError(
            f"'{comparing.shown}' compares with the original table; name that too, as in --input people.csv.",
            topic="certificate",
        )
    forms = reading.get("hierarchies", {})
    fresh = audit(
        released,
        quasi_identifiers={column: trees.get(column) or forms.get(column) for column in told["quasi_identifiers"]},
        privacy=models,
        sensitive={column: trees.get(column) for column in told["sensitive"]},
        types=reading.get("types"),
        reference=None if original is None else _original(original, told),
        unknown=told["unknown"],
        missing_sensitive=reading.get("missing_sensitive", "unknown"),
        rows=told["rows"],
        weights=reading.get("weights"),
        population=population,
    )
    return fresh, models


def _promised(told: Mapping[str, Any], job: Job | None) -> list[PrivacyModel]:
    """Return the models that were promised; those of the job where it is known, which has them in full."""
    texts = [promise["model"] for promise in told["promises"]] if job is None else job.privacy
    models = []
    for text in texts:
        try:
            models.append(PRIVACY.make(text).resolve(told["sensitive"]))
        except UsageError:
            raise UsageError(
                f"The promise '{text[:80]}' names values of the data, which a certificate does not hold, or is not one "
                "that discreet knows; name the job file too, as in --job job.yaml."
            ) from None
    return models


def _differences(told: Mapping[str, Any], released: Any, fresh: Audit, models: list[PrivacyModel]) -> Iterator[str]:
    """Yield what the certificate says that is not so."""
    promises = told["promises"]
    if [promise["model"] for promise in promises] != [model.shown for model in models]:
        yield "promises"
    for promise, check, model in zip(promises, fresh.checks, models, strict=False):
        same = promise["reached"] is None if model.compares else _close(promise["reached"], check.reached)
        if promise["model"] == check.model and not same:
            yield check.model
    if told["rows"] != fresh.rows:
        yield "number of rows"
    if (told["classes"], told["smallest_class"]) != (fresh.classes, fresh.smallest_class):
        yield "classes"
    columns = open_files(released).columns
    kept = [column["name"] for column in told["unchanged"]]
    if not _columns_are(told, kept, columns):
        yield "columns"
    elif with_uniqueness(sorted(files_of(released)), kept) != told["unchanged"]:
        yield "columns released as they are"


def _columns_are(told: Mapping[str, Any], kept: list[str], columns: list[str]) -> bool:
    """Whether a certificate says of each column of the released file, once and in its order, what it is."""
    quasi = told["quasi_identifiers"]
    try:
        parts = {part for name in told["sensitive"] for part in parts_of(name, columns)}
    except DiscreetError:
        return False
    if quasi != [column for column in columns if column in quasi] or not parts <= {*columns} - {*quasi}:
        return False
    return kept == [column for column in columns if column not in {*quasi, *parts}]


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


def _original(path: str | PathLike[str], told: Mapping[str, Any]) -> Any:
    """Return the table promises compare with, without the rows that were left out for missing values."""
    if told["reading"].get("missing") != "suppress":
        return path
    frame = scan(path)
    schema = frame.collect_schema()
    for column in told["quasi_identifiers"]:
        if column not in schema:
            raise MissingColumnError(column, schema.names())
    return frame.filter(
        pl.all_horizontal(comparable(column, schema[column]).is_not_null() for column in told["quasi_identifiers"])
    )


def _close(told: float | None, measured: float) -> bool:
    if told is None:
        return not math.isfinite(measured)
    return math.isclose(told, measured, rel_tol=1e-9, abs_tol=1e-12)
