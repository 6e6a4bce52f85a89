"""A job: the arguments of :func:`discreet.anonymize` as data, which can be written to a file and run again.

Paths in a job file are relative to the file, so that a folder with data, hierarchies and job can be moved. Passwords
in URLs are never written to a job file.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PrivateAttr, ValidationError
from pydantic_core import ErrorDetails

from discreet.errors import DiscreetError, UsageError, did_you_mean
from discreet.job.job_file import read_fields, write_fields
from discreet.job.owner_key import KEY_FILE, draw_seed
from discreet.job.parameters import NOT_OF_FRONTS, TARGETS
from discreet.runtime.locations import TableLocation, as_path, is_url, rebase_location, resolve_location

if TYPE_CHECKING:
    from discreet.pipeline.plan import JobPlan
    from discreet.pipeline.release import Release
    from discreet.solve import Budget, ProgressCallback

__all__ = ["Job"]

_PATHS = ("input", "output", "population", "report", "certificate", "mapping", "key")
_ROLES = ("quasi_identifiers", "sensitive")
_OPTIONAL = ("seed", "threads", "weights", "population", "key", "keep")
"""Keys a release only shows where they were used."""

HierarchyForm = Any
"""Text such as ``intervals(5, 10)``, a CSV file, nested groups, or None for an automatic hierarchy."""


def _one_or_many(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


def _columns(value: Any) -> Any:
    """Accept a column or a list of columns instead of a mapping from column to hierarchy."""
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


Texts = Annotated[list[str], BeforeValidator(_one_or_many)]
Roles = Annotated[dict[str, HierarchyForm], BeforeValidator(_columns)]


class Job(BaseModel):
    """One job. Its fields are the arguments of :func:`discreet.anonymize`, and the files to write.

    >>> job = Job(input="people.csv", quasi_identifiers={"zip": "mask(digits=5)"}, privacy="k(5)")
    >>> job.privacy
    ['k(5)']
    """

    model_config = ConfigDict(extra="forbid", strict=True)

    input: str
    output: str | None = None
    identifiers: Texts = Field(default_factory=list)
    quasi_identifiers: Roles = Field(min_length=1)
    sensitive: Roles = Field(default_factory=dict)
    class_attribute: str | None = None
    weights: str | None = None
    population: str | None = None
    keep: Texts = Field(default_factory=list)
    types: dict[str, str] = Field(default_factory=dict)
    privacy: Texts = Field(min_length=1)
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
    threads: int | None = Field(default=None, ge=1)
    seed: int | None = Field(default=None, ge=0)
    engine: str = "auto"
    memory_limit: str | None = None
    spark: str | None = None
    report: Texts = Field(default_factory=list)
    certificate: str | None = None
    mapping: str | None = None
    key: str | None = None

    _folder: Path = PrivateAttr(default_factory=Path)

    def __init__(self, **fields: Any) -> None:
        try:
            super().__init__(**fields)
        except ValidationError as error:
            # A key that seems to be missing may only be misspelt, so unknown keys are reported first.
            first = min(error.errors(), key=lambda found: found["type"] != "extra_forbidden")
            raise UsageError(_explain(first), topic="job-file") from None

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a job file: JSON if its name ends in ``.json``, YAML otherwise."""
        path = as_path(path, "The job")
        try:
            job = cls(**read_fields(path))
        except UsageError as error:
            if str(path) in error.message:
                raise
            raise UsageError(f"In '{path}': ", *error.text, topic=error.topic) from None
        job._folder = path.parent
        return job

    def save(self, path: str | Path) -> Path:
        """Write the job to a file that repeats it when it is run; defaults are left out."""
        path = as_path(path, "The job")
        fields = self._moved_to(path.parent).model_dump(exclude_defaults=True)
        for role in _ROLES:
            if all(form is None for form in fields.get(role, {}).values()):
                fields[role] = list(fields.get(role, ()))
        write_fields(path, {key: value for key, value in fields.items() if value != []}, private=self.private)
        return path

    def run(self, progress: ProgressCallback | None = None, budget: Budget | None = None) -> Release:
        """Anonymize the input, write and audit the output, and write the reports."""
        release: Release = _pipeline("run_job").run_job(self, progress, budget)
        return release

    def plan(self) -> JobPlan:
        """Check files, columns, hierarchies and whether all parts fit, without searching or writing."""
        plan: JobPlan = _pipeline("plan").make_plan(self)
        return plan

    def check_targets(self, save_as: str | Path | None = None) -> None:
        """Refuse files that could not be written in the end, or would overwrite what is read, before any work."""
        _pipeline("run_job").check_targets(self, save_as)

    @property
    def private(self) -> bool:
        """Whether the job is for the owner of the data alone: it has a seed, or names values of the data."""
        forms = [*self.quasi_identifiers.values(), *self.sensitive.values()]
        parts = [*self.privacy, self.cost or ""]
        return self.seed is not None or any(map(_names_values, forms)) or any("{" in part for part in parts)

    def with_seed(self) -> Job:
        """Return the job with a seed, drawn if it has none: every run of it makes the same release."""
        return self if self.seed is not None else self.model_copy(update={"seed": draw_seed()})

    def key_file(self) -> Path | None:
        """Return the owner's key file: the one named, or else one beside the mapping; None for the user's own.

        It is never beside the released file unless the job says so: that folder may be handed over as a whole.
        """
        if self.key is not None:
            return self._folder / self.key
        if self.mapping is None:
            return None
        folder = (self._folder / self.mapping).resolve().parent
        output = self.locate(self.output)
        if output is not None and not is_url(output) and Path(output).resolve().parent == folder:
            return None
        return folder / KEY_FILE

    def to_dict(self) -> dict[str, Any]:
        """Return the job as a release shows it: with all defaults, and paths relative to the current folder."""
        from discreet.job.settings import is_best
        from discreet.problem import make_schemes

        unused = {key for key in _OPTIONAL if getattr(self, key) in (None, [])}
        if is_best(self.scheme):
            return self._moved_to(Path()).model_dump(exclude=unused)
        schemes = make_schemes(self.scheme)
        text = {name: each.text for name, each in schemes.items()} if isinstance(schemes, Mapping) else schemes.text
        return {**self._moved_to(Path()).model_dump(exclude=unused), "scheme": text}

    def arguments(self) -> dict[str, Any]:
        """Return the job as arguments of :func:`discreet.anonymize`: hierarchies made, paths found."""
        names = [name for name in type(self).model_fields if name not in (*TARGETS, *_ROLES, "input", "population")]
        return {
            "data": resolve_location(self.input, self._folder),
            "population": self.locate(self.population),
            **{role: self._hierarchies(getattr(self, role)) for role in _ROLES},
            **{name: getattr(self, name) for name in names},
        }

    def front_arguments(self) -> dict[str, Any]:
        """Return the job as arguments of :func:`discreet.pareto`, without its axes."""
        return {name: value for name, value in self.arguments().items() if name not in NOT_OF_FRONTS}

    def target(self, path: str) -> Path:
        """Return the path of a report, certificate or mapping."""
        return self._folder / path

    def locate(self, location: str | None) -> TableLocation | None:
        """Return the location of a table that the job names."""
        return None if location is None else resolve_location(location, self._folder)

    def located_input(self) -> TableLocation:
        """Return the location of the input, equal for two jobs about the same file."""
        location = resolve_location(self.input, self._folder)
        return location if is_url(location) else Path(location).resolve()

    def files_read(self) -> list[Path]:
        """Return the files of the input, of the population and of hierarchies."""
        from discreet.job.files import files_at

        forms = [*self.quasi_identifiers.values(), *self.sensitive.values()]
        trees = [self._folder / str(form) for form in forms if form is not None and _is_path(form)]
        tables = [self.input, *([] if self.population is None else [self.population])]
        return [*(path for location in tables for path in files_at(resolve_location(location, self._folder))), *trees]

    def _hierarchies(self, forms: Mapping[str, HierarchyForm]) -> dict[str, Any]:
        from discreet.schema import as_hierarchy

        return {name: None if form is None else as_hierarchy(form, self._folder) for name, form in forms.items()}

    def _moved_to(self, folder: Path) -> Job:
        """Return the same job with paths relative to another folder."""

        def follow(location: Any) -> Any:
            if isinstance(location, list):
                return [follow(each) for each in location]
            return None if location is None else rebase_location(location, self._folder, folder)

        other = self.model_copy(
            update={
                **{name: follow(getattr(self, name)) for name in _PATHS},
                **{
                    role: {name: follow(form) if _is_path(form) else form for name, form in getattr(self, role).items()}
                    for role in _ROLES
                },
            }
        )
        other._folder = folder
        return other


def _pipeline(module: str) -> Any:
    """Load what carries jobs out. A job is data and does not depend on it; only its convenience methods do."""
    return import_module(f"discreet.pipeline.{module}")


def _names_values(form: HierarchyForm) -> bool:
    """Whether a hierarchy lists values of the data."""
    from discreet.schema import hierarchy_for_reports

    try:
        return form is not None and hierarchy_for_reports(form) != form
    except DiscreetError:  # running the job will say what is wrong
        return True


def _is_path(form: HierarchyForm) -> bool:
    """Whether a hierarchy is given by the path of its file: text that names no builder."""
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

_OTHER_NAMES = {
    "qi": "quasi_identifiers: [age, sex]",
    "k": "privacy: k(5)",
    "l": "privacy: 'distinct-l(3, disease)'",
    "hierarchy": "quasi_identifiers: {zip: zip.csv}",
    "hierarchies": "quasi_identifiers: {zip: zip.csv}",
    "source": "input: people.csv",
    "file": "input: people.csv",
}
"""Options of the command line, and other words people try as keys, with what to write instead."""


def _explain(error: ErrorDetails) -> str:
    """Turn an error of pydantic into a sentence that names the key."""
    kind, path = error["type"], [str(part) for part in error["loc"]]
    if not path:
        return "A job is a mapping with keys such as input and privacy."
    key = path[0]
    if kind == "extra_forbidden":
        known = list(Job.model_fields)
        instead = _OTHER_NAMES.get(key.strip("-").lower())
        hint = f"write {instead}." if instead else did_you_mean(key, known) or f"the keys are {', '.join(known)}."
        return f"There is no key '{key}'; {hint}"
    if kind == "missing":
        return f"The key '{key}' is missing."
    if kind == "value_error":
        return f"The key '{key}' {error['ctx']['error']}."
    if key == "scheme":
        return "The key 'scheme' must be text, or a mapping from column to text."
    entry = f", entry '{path[1]}'," if len(path) > 1 else ""
    return f"The key '{key}'{entry} {_WANTED.get(kind, 'has a value of the wrong kind')}."
