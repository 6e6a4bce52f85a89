"""The job itself: the arguments of :func:`discreet.anonymize` as data.

Paths in a job file are relative to the file, so that a folder with data, hierarchies and job can be moved. Passwords
in URLs are never written to one.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PrivateAttr, ValidationError
from pydantic_core import ErrorDetails

from discreet._places import Place, as_path, is_url, located, moved
from discreet.errors import DiscreetError, UsageError, did_you_mean
from discreet.job._files import read_fields, write_fields

if TYPE_CHECKING:
    from discreet.job._plan import Plan
    from discreet.release import Release
    from discreet.solve import Budget, ProgressCallback

__all__ = ["NOT_OF_FRONTS", "Job"]

NOT_OF_FRONTS = ("privacy", "solver", "seed", "order")
"""What a job says that a front takes in another form or not at all."""

Form = Any
"""A hierarchy: text such as ``intervals(5, 10)``, a CSV file, groups, or None for an automatic one."""


def _one_or_many(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


def _columns(value: Any) -> Any:
    """Accept one column or a list of columns where a mapping from column to hierarchy is meant."""
    value = _one_or_many(value)
    if isinstance(value, list):
        if not all(isinstance(name, str) for name in value):
            raise ValueError("must be a list of column names, or a mapping from column to hierarchy")
        for name in value:
            if value.count(name) > 1:
                raise ValueError(f"names the column '{name}' twice")
        return dict.fromkeys(value)
    if isinstance(value, dict):
        for name, form in value.items():
            if not (form is None or isinstance(form, str | list | dict)):
                raise ValueError(f"gives '{name}' no hierarchy; write text, a CSV file, groups or null")
    return value


Names = Annotated[list[str], BeforeValidator(_one_or_many)]
Forms = Annotated[dict[str, Form], BeforeValidator(_columns)]


class Job(BaseModel):
    """One job. The fields have the names and meanings of the arguments of :func:`discreet.anonymize`.

    >>> job = Job(input="people.csv", quasi_identifiers={"zip": "mask(digits=5)"}, privacy="k(5)")
    >>> job.privacy
    ['k(5)']
    """

    model_config = ConfigDict(extra="forbid", strict=True)

    input: str
    output: str | None = None
    identifiers: Names = Field(default_factory=list)
    quasi_identifiers: Forms = Field(min_length=1)
    sensitive: Forms = Field(default_factory=dict)
    class_attribute: str | None = None
    weights: str | None = None
    population: str | None = None
    keep: Names = Field(default_factory=list)
    types: dict[str, str] = Field(default_factory=dict)
    privacy: Names = Field(min_length=1)
    cost: str | None = None
    suppression: str = "none"
    scheme: str | dict[str, str] = "full-domain"
    solver: str = "auto"
    priorities: dict[str, int] = Field(default_factory=dict)
    keep_at_least: dict[str, int] = Field(default_factory=dict)
    min_levels: dict[str, int] = Field(default_factory=dict)
    max_levels: dict[str, int] = Field(default_factory=dict)
    missing: str = "value"
    missing_sensitive: str = "unknown"
    order: str = "random"
    time_limit: float | None = Field(default=None, gt=0)
    seed: int | None = Field(default=None, ge=0)
    engine: str = "auto"
    memory_limit: str | None = None
    spark: str | None = None
    report: Names = Field(default_factory=list)
    certificate: str | None = None
    mapping: str | None = None
    key: str | None = None

    _folder: Path = PrivateAttr(default_factory=Path)

    def __init__(self, **fields: Any) -> None:
        try:
            super().__init__(**fields)
        except ValidationError as error:
            wrong = sorted(error.errors(), key=_unknown_first)
            raise UsageError(_explain(wrong[0]), topic="job-file") from None

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a job file: JSON if its name ends in ``.json``, YAML otherwise."""
        path = as_path(path, "The job")
        try:
            job = cls(**read_fields(path))
        except UsageError as error:
            if str(path) in error.message:
                raise
            raise UsageError(f"In '{path}': {error.message}", topic=error.topic) from None
        job._folder = path.parent
        return job

    def save(self, path: str | Path) -> Path:
        """Write the job so that running the file does the same again; defaults are left out."""
        path = as_path(path, "The job")
        fields = self._moved_to(path.parent).model_dump(exclude_defaults=True)
        for key in ("quasi_identifiers", "sensitive"):
            if all(form is None for form in fields.get(key, {}).values()):
                fields[key] = list(fields.get(key, ()))
        write_fields(path, {key: value for key, value in fields.items() if value != []}, private=self.private)
        return path

    @property
    def private(self) -> bool:
        """Whether the job is for the owner of the data alone: it has a seed, or names values of the data."""
        forms = [*self.quasi_identifiers.values(), *self.sensitive.values()]
        parts = [*self.privacy, self.cost or ""]
        return self.seed is not None or any(map(_names_values, forms)) or any("{" in part for part in parts)

    def with_seed(self) -> Job:
        """Return the job with a seed, drawn if it has none: running it any number of times gives one release."""
        from discreet.release._key import draw_seed

        return self if self.seed is not None else self.model_copy(update={"seed": draw_seed()})

    def run(self, progress: ProgressCallback | None = None, budget: Budget | None = None) -> Release:
        """Do the job: anonymize the input, write and audit the output, and write the reports."""
        from discreet.release import anonymize

        self.check_targets()
        output = self.locate(self.output)
        release = anonymize(**self.arguments(), output=output, key=self.key_file(), progress=progress, budget=budget)
        release = dataclasses.replace(release, job={**self.told(), "seed": release.job["seed"]})
        for report in self.report:
            release.report(self._folder / report)
        if self.certificate is not None:
            release.certificate(self._folder / self.certificate)
        if self.mapping is not None:
            release.mapping(self._folder / self.mapping)
        return release

    def key_file(self) -> Path | None:
        """Return where the owner's key is: as the job says, or else beside the mapping; None for the user's own.

        Beside the released file there is never one unless the job says so: that folder may be handed over as a whole.
        """
        from discreet.release._key import KEY_FILE

        if self.key is not None:
            return self._folder / self.key
        if self.mapping is None:
            return None
        folder = (self._folder / self.mapping).resolve().parent
        output = self.locate(self.output)
        if output is not None and not is_url(output) and Path(output).resolve().parent == folder:
            return None
        return folder / KEY_FILE

    def told(self) -> dict[str, Any]:
        """Return the job as a release tells it: with all defaults, and paths as seen from the current folder."""
        from discreet.problem import make_schemes
        from discreet.release._describe import text_form

        optional = ("seed", "weights", "population", "key", "keep")
        silent = {key for key in optional if getattr(self, key) in (None, [])}
        told = self._moved_to(Path()).model_dump(exclude=silent)
        return {**told, "scheme": text_form(make_schemes(self.scheme))}

    def plan(self) -> Plan:
        """Check files, columns, hierarchies and whether all parts fit, without searching or writing."""
        from discreet.job._plan import make_plan

        return make_plan(self)

    def check_targets(self, save_as: str | Path | None = None) -> None:
        """Refuse what could not be written in the end, or would overwrite what is read, before any work is done."""
        from discreet.problem import make_schemes
        from discreet.release._certificate import check_certificate
        from discreet.release._mapping import check_mapping
        from discreet.release._output import FolderOutput, Output, TableOutput, check_apart, check_output, place_files
        from discreet.release._report import check_report

        output = self.locate(self.output)
        target = None
        if output is not None:
            target = check_output(output, located(self.input, self._folder), self.locate(self.population))
        reports = [self._folder / name for name in self.report]
        for report in reports:
            check_report(report)
        certificate, mapping = (
            None if name is None else self._folder / name for name in (self.certificate, self.mapping)
        )
        if certificate is not None:
            check_certificate(certificate, target)
        if mapping is not None:
            check_mapping(mapping, make_schemes(self.scheme), self.suppression)
        more = [certificate, mapping, None if save_as is None else Path(save_as)]
        released = [Path(output)] if output is not None and isinstance(target, Output | FolderOutput) else []
        kept = place_files(output) if isinstance(target, TableOutput) and output is not None else []
        written = [*reports, *released, *(path for path in more if path is not None)]
        secret = self.key_file()
        check_apart(written, [*self.files_read(), *kept, *([] if secret is None else [secret])])

    def files_read(self) -> list[Path]:
        """Return the files of the table, of the population and of hierarchies."""
        from discreet.release._output import place_files

        forms = [*self.quasi_identifiers.values(), *self.sensitive.values()]
        trees = [self._folder / str(form) for form in forms if form is not None and _is_path(form)]
        tables = [self.input, *([] if self.population is None else [self.population])]
        return [*(path for place in tables for path in place_files(located(place, self._folder))), *trees]

    def arguments(self) -> dict[str, Any]:
        """Return the job as arguments of :func:`discreet.anonymize`: hierarchies made, paths found."""
        return {
            "data": located(self.input, self._folder),
            "identifiers": self.identifiers,
            "quasi_identifiers": self._hierarchies(self.quasi_identifiers),
            "sensitive": self._hierarchies(self.sensitive),
            "class_attribute": self.class_attribute,
            "weights": self.weights,
            "population": self.locate(self.population),
            "keep": self.keep,
            "types": self.types,
            "privacy": self.privacy,
            "cost": self.cost,
            "suppression": self.suppression,
            "scheme": self.scheme,
            "solver": self.solver,
            "priorities": self.priorities,
            "keep_at_least": self.keep_at_least,
            "min_levels": self.min_levels,
            "max_levels": self.max_levels,
            "missing": self.missing,
            "missing_sensitive": self.missing_sensitive,
            "order": self.order,
            "time_limit": self.time_limit,
            "seed": self.seed,
            "engine": self.engine,
            "memory_limit": self.memory_limit,
            "spark": self.spark,
        }

    def front_arguments(self) -> dict[str, Any]:
        """Return what a front takes of the job, as arguments of :func:`discreet.pareto` but for its axes."""
        return {name: value for name, value in self.arguments().items() if name not in NOT_OF_FRONTS}

    def locate(self, place: str | None) -> Place | None:
        """Return where a place named in the job is."""
        return None if place is None else located(place, self._folder)

    def located_input(self) -> Place:
        """Return where the table is, the same for two jobs about one file."""
        place = located(self.input, self._folder)
        return place if is_url(place) else Path(place).resolve()

    def _hierarchies(self, forms: Mapping[str, Form]) -> dict[str, Any]:
        from discreet.schema import as_hierarchy

        return {name: None if form is None else as_hierarchy(form, self._folder) for name, form in forms.items()}

    def _moved_to(self, folder: Path) -> Job:
        def follow(place: str) -> str:
            return moved(place, self._folder, folder)

        def follow_forms(forms: Mapping[str, Form]) -> dict[str, Form]:
            return {name: follow(form) if _is_path(form) else form for name, form in forms.items()}

        other = self.model_copy(
            update={
                "input": follow(self.input),
                "output": None if self.output is None else follow(self.output),
                "population": None if self.population is None else follow(self.population),
                "report": [follow(path) for path in self.report],
                "certificate": None if self.certificate is None else follow(self.certificate),
                "mapping": None if self.mapping is None else follow(self.mapping),
                "key": None if self.key is None else follow(self.key),
                "quasi_identifiers": follow_forms(self.quasi_identifiers),
                "sensitive": follow_forms(self.sensitive),
            }
        )
        other._folder = folder
        return other


def _names_values(form: Form) -> bool:
    """Whether a hierarchy is given by values of the data."""
    from discreet.schema import shown_hierarchy

    try:
        return form is not None and shown_hierarchy(form) != form
    except DiscreetError:  # running the job will say what is wrong
        return True


def _is_path(form: Form) -> bool:
    """Whether a hierarchy is given by the path of its file, that is by text that names no builder."""
    from discreet.schema.builders import BUILDERS

    return isinstance(form, str) and form.partition("(")[0].strip() not in BUILDERS


_WANTED = {
    "string_type": "must be text",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "list_type": "must be text or a list of texts",
    "dict_type": "must be a mapping",
    "too_short": "must not be empty",
    "greater_than": "must be more than 0",
    "greater_than_equal": "must be 0 or more",
    "finite_number": "must be a finite number",
}


def _unknown_first(error: ErrorDetails) -> bool:
    """Order errors: a key that is missing may only be misspelt, so a key that there is not is told before it."""
    return error["type"] != "extra_forbidden"


_OPTIONS = {
    "qi": "quasi_identifiers: [age, sex]",
    "k": "privacy: k(5)",
    "l": "privacy: 'distinct-l(3, disease)'",
    "hierarchy": "quasi_identifiers: {zip: zip.csv}",
    "hierarchies": "quasi_identifiers: {zip: zip.csv}",
    "source": "input: people.csv",
    "file": "input: people.csv",
}
"""How a job says what is an option of the command line, or what else people may call a key."""


def _explain(error: ErrorDetails) -> str:
    """Turn pydantic's account of one error into a sentence that names the key."""
    kind, place = error["type"], [str(part) for part in error["loc"]]
    if not place:
        return "A job is a mapping with keys such as input and privacy."
    key = place[0]
    if kind == "extra_forbidden":
        known = list(Job.model_fields)
        asked = _OPTIONS.get(key.strip("-").lower())
        hint = f"write {asked}." if asked else did_you_mean(key, known) or f"the keys are {', '.join(known)}."
        return f"There is no key '{key}'; {hint}"
    if kind == "missing":
        return f"The key '{key}' is missing."
    if kind == "value_error":
        return f"The key '{key}' {error['ctx']['error']}."
    if key == "scheme":
        return "The key 'scheme' must be text, or a mapping from column to text."
    entry = f", entry '{place[1]}'," if len(place) > 1 else ""
    return f"The key '{key}'{entry} {_WANTED.get(kind, 'has a value of the wrong kind')}."
