"""Check a released file against its certificate: every field is measured again, or compared by the owner's key."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from discreet.engines import files_of
from discreet.errors import DataError, DiscreetError, MissingColumnError, UsageError
from discreet.job import Job
from discreet.job.files import digest
from discreet.job.owner_key import Key, KeyFile
from discreet.job.settings import is_best
from discreet.pipeline.audit import Audit, audit, scan
from discreet.pipeline.audit.files import open_files
from discreet.pipeline.audit.values import comparable
from discreet.pipeline.best_scheme import CANDIDATES
from discreet.problem import PRIVACY
from discreet.report.certificate import keyed_job
from discreet.report.certificate_format import own_digest, read_certificate, sealed_text
from discreet.report.uniqueness import with_uniqueness
from discreet.runtime.locations import as_path, is_url
from discreet.runtime.unreadable_files import no_such_file
from discreet.schema import parts_of

if TYPE_CHECKING:
    from discreet.problem import PrivacyModel

__all__ = ["Verification", "verify"]

_NO_KEY = "not checked (needs the key)"
_NOT_GIVEN = "not given"
_PROMISES = "the promises, which count people"
_NO_PERSON = "checked by rows alone (the file does not say whose rows they are)"


@dataclass(frozen=True)
class Verification:
    """The verdict on a released file and its certificate."""

    files: tuple[tuple[str, bool | None], ...]
    """What was compared, and whether it is the same; None if it was not checked."""
    audit: Audit
    """The fresh audit."""
    differs: tuple[str, ...]
    """What differs from the certificate: promises by their models, other fields by their names."""
    unchecked: Mapping[str, str] = field(default_factory=dict)
    """Why something was not checked."""

    @property
    def passed(self) -> bool:
        """Whether everything that was checked agrees with the certificate, and every promise is kept."""
        return self.audit.passed and not self.differs and all(same is not False for _, same in self.files)

    def summary(self) -> str:
        """Return the verdict as text for people."""
        marks = {True: "ok", False: "CHANGED"}
        lines = [f"Certificate {'holds' if self.passed else 'does NOT hold'}."]
        for what, same in self.files:
            mark = self.unchecked.get(what, _NOT_GIVEN) if same is None else marks[same]
            lines.append(f"  {mark:<9}  {what}")
        lines += [f"  DIFFERS    {what}: the certificate differs from what was measured" for what in self.differs]
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
    and the ``job`` file are compared with those the release was made from. The original is also needed if a promise
    compares with it (t-closeness); the job file if a promise names values of the data, which a certificate does not
    hold; ``hierarchies`` of sensitive columns for hierarchical t-closeness without a job file. The ``population`` is
    needed if a promise counts people in it; the job file or ``hierarchies`` then define the released values.
    """
    path = as_path(certificate, "The certificate")
    fields = read_certificate(path)
    secret = None if key is None else KeyFile(as_path(key, "The key"), explicit=True).load()
    known = None if job is None else Job.load(Path(job))
    output = _digest_of(released, "The released table")
    files: dict[str, bool | None] = {
        "the certificate itself": own_digest(fields) == fields["sha256"],
        "the released file": output == fields["output"],
    }
    unchecked: dict[str, str] = {}
    for what, same in _with_key(fields, secret, output, original, population, known):
        files[what] = same if isinstance(same, bool) else None
        if isinstance(same, str):
            unchecked[what] = same
    if _unseen_people(fields):
        files[_PROMISES] = None
        unchecked[_PROMISES] = _NO_PERSON
    try:
        fresh, promised = _audit(fields, released, original, population, known, dict(hierarchies or {}))
    except DiscreetError:
        raise
    except (ArithmeticError, TypeError, ValueError, RecursionError):  # a promise that no release could have made
        raise DataError(
            f"'{path.name}' is no certificate of a release, or it was damaged: what it promises makes no sense.",
            topic="certificate",
        ) from None
    differs = tuple(_differences(fields, released, fresh, promised))
    return Verification(tuple(files.items()), fresh, differs, unchecked)


def _with_key(
    fields: Mapping[str, Any], key: Key | None, output: str, original: Any, population: Any, job: Job | None
) -> Iterator[tuple[str, bool | str]]:
    """Yield what the owner's key can check, and whether it is the same or why it was not checked."""
    seal = None if key is None else key.sign("certificate", sealed_text(fields))
    sealed = {
        "seal": fields["seal"],
        "input": fields["input"],
        "population": fields["population"],
        "job": fields["job"],
    }
    if any(value is not None for value in sealed.values()):
        yield "the owner's seal", _NO_KEY if seal is None else seal == fields["seal"]
    elif key is not None:
        yield "the owner's seal", False
    for role, what, given in (("input", "the original file", original), ("population", "the population", population)):
        if fields[role] is None:
            continue
        if key is None:
            yield what, _NO_KEY
        elif given is None:
            yield what, _NOT_GIVEN
        else:
            is_file = isinstance(given, str | PathLike) and not is_url(given)
            yield (
                what,
                is_file and key.sign(role, fields["output"], _digest_of(given, what.capitalize())) == fields[role],
            )
    if fields["job"] is not None:
        if key is None:
            yield "the job", _NO_KEY
        else:
            yield (
                "the job",
                _NOT_GIVEN
                if job is None
                else any(keyed_job(key, each, fields["output"]) == fields["job"] for each in _jobs_taken(job)),
            )


def _jobs_taken(job: Job) -> list[dict[str, Any]]:
    """Return the job as a release describes it: with the scheme that was taken, if any was to be tried."""
    known = job.to_dict()
    return [{**known, "scheme": scheme} for scheme in CANDIDATES] if is_best(job.scheme) else [known]


def _audit(
    fields: Mapping[str, Any], released: Any, original: Any, population: Any, job: Job | None, trees: dict[str, Any]
) -> tuple[Audit, list[PrivacyModel]]:
    """Measure every promise of a certificate again."""
    models, reading = _promised(fields, job), fields["reading"]
    unseen = _unseen_people(fields)
    if job is not None:
        arguments = job.arguments()
        trees = {**arguments["sensitive"], **arguments["quasi_identifiers"], **trees}
    comparing = next((model for model in models if model.compares), None)
    if original is None and comparing is not None and not unseen:
        raise UsageError(
            f"'{comparing.shown}' compares with the original table; name that too, as in --input people.csv.",
            topic="certificate",
        )
    forms = reading.get("hierarchies", {})
    fresh = audit(
        released,
        quasi_identifiers={column: trees.get(column) or forms.get(column) for column in fields["quasi_identifiers"]},
        privacy=([model for model in models if _holds_for_rows(model)] or ["k(1)"]) if unseen else models,
        sensitive={column: trees.get(column) for column in fields["sensitive"]},
        types=reading.get("types"),
        reference=None if original is None else _original(original, fields),
        unknown=fields["unknown"],
        missing_sensitive=reading.get("missing_sensitive", "unknown"),
        rows=fields["rows"],
        person=None if unseen else reading.get("pseudonyms", [None])[-1],
        weights=reading.get("weights"),
        population=population,
    )
    return fresh, models


def _unseen_people(fields: Mapping[str, Any]) -> bool:
    """Whether promises count people and the released file does not say whose rows they are."""
    return "unit" in fields["reading"] and "pseudonyms" not in fields["reading"]


def _holds_for_rows(model: PrivacyModel) -> bool:
    """Whether what holds for the people of a class holds for its rows, of which there are at least as many."""
    of_more = model.of_table or model.of_sampling or model.looks_at_population or model.counts_profiles
    return model.superset_closed and not of_more


def _promised(fields: Mapping[str, Any], job: Job | None) -> list[PrivacyModel]:
    """Return the promised models: those of the job if it is given, which has them in full."""
    texts = [promise["model"] for promise in fields["promises"]] if job is None else job.privacy
    models = []
    for text in texts:
        try:
            models.append(PRIVACY.make(text).resolve(fields["sensitive"]))
        except UsageError:
            raise UsageError(
                f"The promise '{text[:80]}' names values of the data, which a certificate does not hold, or is not one "
                "that discreet knows; name the job file too, as in --job job.yaml."
            ) from None
    return models


def _differences(fields: Mapping[str, Any], released: Any, fresh: Audit, models: list[PrivacyModel]) -> Iterator[str]:
    """Yield what differs from the certificate."""
    promises = fields["promises"]
    if [promise["model"] for promise in promises] != [model.shown for model in models]:
        yield "promises"
    unseen = _unseen_people(fields)
    checked = [each for each in zip(promises, models, strict=False) if not unseen or _holds_for_rows(each[1])]
    for (promise, model), check in zip(checked, fresh.checks, strict=False):
        if unseen:
            same = _at_most(promise["reached"], check.reached) and _at_most(check.promised, promise["reached"])
        else:
            same = promise["reached"] is None if model.compares else _close(promise["reached"], check.reached)
        if promise["model"] == check.model and not same:
            yield check.model
    if fields["rows"] != fresh.rows:
        yield "number of rows"
    smallest = fields["smallest_class"]
    same = smallest <= fresh.smallest_class if unseen else smallest == fresh.smallest_class
    if fields["classes"] != fresh.classes or not same:
        yield "classes"
    columns = open_files(released).columns
    kept = [column["name"] for column in fields["unchanged"]]
    if not _columns_are(fields, kept, columns):
        yield "columns"
    elif with_uniqueness(sorted(files_of(released)), kept) != fields["unchanged"]:
        yield "columns released as they are"


def _columns_are(fields: Mapping[str, Any], kept: list[str], columns: list[str]) -> bool:
    """Whether the certificate gives each column of the released file exactly one role, in its order."""
    quasi = fields["quasi_identifiers"]
    owners = fields["reading"].get("pseudonyms", [])
    try:
        parts = {part for name in fields["sensitive"] for part in parts_of(name, columns)}
    except DiscreetError:
        return False
    if quasi != [column for column in columns if column in quasi] or not parts <= {*columns} - {*quasi}:
        return False
    return kept == [column for column in columns if column not in {*quasi, *parts, *owners}]


def _digest_of(path: Any, what: str) -> str:
    """Return the SHA-256 of a file; ``what`` it is, for messages."""
    try:
        return digest(as_path(path, what))
    except FileNotFoundError:
        raise no_such_file(Path(path)) from None
    except OSError as error:
        raise DataError(f"'{Path(path).name}' cannot be read: {error.strerror}.") from None


def _original(path: str | PathLike[str], fields: Mapping[str, Any]) -> Any:
    """Return the table that promises compare with, without the rows that were left out for missing values."""
    if fields["reading"].get("missing") != "suppress":
        return path
    frame = scan(path)
    schema = frame.collect_schema()
    for column in fields["quasi_identifiers"]:
        if column not in schema:
            raise MissingColumnError(column, schema.names())
    return frame.filter(
        pl.all_horizontal(comparable(column, schema[column]).is_not_null() for column in fields["quasi_identifiers"])
    )


def _at_most(less: float | None, more: float | None) -> bool:
    """Whether a number is no larger than another; None is infinite, as in a release without rows."""
    less, more = (math.inf if each is None else each for each in (less, more))
    return less <= more * (1 + 1e-9)


def _close(certified: float | None, measured: float) -> bool:
    if certified is None:
        return not math.isfinite(measured)
    return math.isclose(certified, measured, rel_tol=1e-9, abs_tol=1e-12)
