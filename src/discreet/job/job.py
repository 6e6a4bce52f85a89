"""A job: the arguments of :func:`discreet.anonymize` as data, which can be written to a file and run again.

Paths in a job file are relative to the file, so that a folder with data, hierarchies and job can be moved. Passwords
in URLs are never written to a job file.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PrivateAttr, ValidationError

from discreet.errors import DiscreetError, UsageError
from discreet.job.file_fields import HierarchyForm, Roles, Texts, explain_fields
from discreet.job.owner_key import KEY_FILE, draw_seed
from discreet.job.parameters import NOT_OF_FRONTS, TARGETS
from discreet.runtime.locations import TableLocation, TableUrl, as_path, is_url, rebase_location, resolve_location
from discreet.runtime.table_path import split_sheet

if TYPE_CHECKING:
    from discreet.pipeline.plan import JobPlan
    from discreet.pipeline.release import Release
    from discreet.solve import Budget, ProgressCallback

__all__ = ["Job"]

_PATHS = (
    *(
        "input",
        "tables",
        "output",
        "population",
        "against",
        "report",
        "protection_page",
        "internal_page",
        "certificate",
        "mapping",
        "key",
    ),
)
_ROLES = ("quasi_identifiers", "sensitive")
_OPTIONAL: dict[str, Any] = {
    "tables": {},
    "seed": None,
    "threads": None,
    "person": None,
    "household": None,
    "pseudonyms": False,
    "weights": None,
    "population": None,
    "against": [],
    "key": None,
    "keep": [],
    "protection_page": [],
    "internal_page": [],
    "purpose": None,
    "recipient": None,
    "overwrite": True,
    "derive": {},
    "na": [],
    "decimal": ".",
    "encoding": None,
    "date_format": None,
    "sheet": None,
    "missing_codes": "keep",
}
"""Keys a release only shows where they differ from this."""


def _named_suppression(text: str) -> str:
    """Write a share such as ``5%`` as the budget that it stands for."""
    from discreet.problem import SUPPRESSION

    return SUPPRESSION.with_name(text)


class Job(BaseModel):
    """One job. Its fields are the arguments of :func:`discreet.anonymize`, and the files to write.

    >>> job = Job(input="people.csv", quasi_identifiers={"zip": "mask(digits=5)"}, privacy="k(5)")
    >>> job.privacy
    ['k(5)']
    """

    model_config = ConfigDict(extra="forbid", strict=True)

    input: str
    tables: dict[str, str] = Field(default_factory=dict)
    output: str | None = None
    identifiers: Texts = Field(default_factory=list)
    quasi_identifiers: Roles = Field(min_length=1)
    sensitive: Roles = Field(default_factory=dict)
    class_attribute: str | None = None
    person: str | None = None
    household: str | None = None
    pseudonyms: bool = False
    weights: str | None = None
    population: str | None = None
    against: Texts = Field(default_factory=list)
    keep: Texts = Field(default_factory=list)
    types: dict[str, str] = Field(default_factory=dict)
    derive: dict[str, str] = Field(default_factory=dict)
    privacy: Texts = Field(min_length=1)
    cost: str | None = None
    suppression: Annotated[str, AfterValidator(_named_suppression)] = "none"
    scheme: str | dict[str, str] = "full-domain"
    solver: str = "auto"
    priorities: dict[str, int] = Field(default_factory=dict)
    keep_at_least: dict[str, int] = Field(default_factory=dict)
    min_levels: dict[str, int] = Field(default_factory=dict)
    max_levels: dict[str, int] = Field(default_factory=dict)
    na: Texts = Field(default_factory=list)
    decimal: str = "."
    encoding: str | None = None
    date_format: str | None = None
    sheet: str | None = None
    missing_codes: str = "keep"
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
    protection_page: Texts = Field(default_factory=list)
    internal_page: Texts = Field(default_factory=list)
    purpose: str | None = None
    recipient: str | None = None
    certificate: str | None = None
    mapping: str | None = None
    overwrite: bool = True
    key: str | None = None

    _folder: Path = PrivateAttr(default_factory=Path)

    def __init__(self, **fields: Any) -> None:
        try:
            super().__init__(**_with_all_tables(fields))
        except ValidationError as error:
            raise UsageError(
                explain_fields(error, "job", list(type(self).model_fields), _OTHER_NAMES), topic="job-file"
            ) from None

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a job file: JSON if its name ends in ``.json``, YAML otherwise."""
        from discreet.job.job_file import read_fields

        path = as_path(path, "The job")
        try:
            job = cls(**read_fields(path))
        except UsageError as error:
            if str(path) in error.message:
                raise
            raise UsageError(f"In '{path}': ", *error.text, topic=error.topic) from None
        job._folder = path.parent
        return job

    def save(self, path: str | Path, *, for_editors: bool = True) -> Path:
        """Write the job to a file that repeats it when it is run; defaults are left out.

        ``for_editors`` writes the JSON Schema of jobs beside a YAML file and names it in the first line, so that
        editors complete and check the keys.
        """
        from discreet.job.job_file import write_fields
        from discreet.job.json_schema import SCHEMA_FILE, write_beside

        path = as_path(path, "The job")
        fields = self._moved_to(path.parent).model_dump(exclude_defaults=True)
        for role in _ROLES:
            if all(form is None for form in fields.get(role, {}).values()):
                fields[role] = list(fields.get(role, ()))
        if self.tables:
            del fields["input"]  # the first table
        fields = {key: value for key, value in fields.items() if value != []}
        for_editors = for_editors and path.suffix.lower() != ".json"
        write_fields(path, fields, private=self.private, schema=SCHEMA_FILE if for_editors else None)
        if for_editors:
            write_beside(path)
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

        unused = {key for key, default in _OPTIONAL.items() if getattr(self, key) == default}
        if is_best(self.scheme):
            return self._moved_to(Path()).model_dump(exclude=unused)
        schemes = make_schemes(self.scheme)
        text = {name: each.text for name, each in schemes.items()} if isinstance(schemes, Mapping) else schemes.text
        return {**self._moved_to(Path()).model_dump(exclude=unused), "scheme": text}

    def arguments(self) -> dict[str, Any]:
        """Return the job as arguments of :func:`discreet.anonymize`: hierarchies made, paths found."""
        names = [
            name
            for name in type(self).model_fields
            if name not in (*TARGETS, *_ROLES, "input", "tables", "population", "against")
        ]
        return {
            "data": self.located_tables() or resolve_location(self.input, self._folder),
            "population": self.locate(self.population),
            "against": [resolve_location(each, self._folder) for each in self.against],
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

    def located_tables(self) -> dict[str, TableLocation]:
        """Return the location of each table, if the job is about several."""
        return {name: resolve_location(location, self._folder) for name, location in self.tables.items()}

    def located_input(self) -> TableLocation:
        """Return the location of the input, equal for two jobs about the same file."""
        location = resolve_location(self.input, self._folder)
        return location if is_url(location) else Path(location).resolve()

    def files_read(self) -> list[Path]:
        """Return the files of the input, of the population, of earlier releases and of hierarchies."""
        from discreet.job.files import files_at

        forms = [*self.quasi_identifiers.values(), *self.sensitive.values()]
        trees = [split_sheet(self._folder / str(form))[0] for form in forms if form is not None and _is_path(form)]
        tables = [
            *(self.tables.values() or [self.input]),
            *([] if self.population is None else [self.population]),
            *self.against,
        ]
        return [*(path for location in tables for path in files_at(resolve_location(location, self._folder))), *trees]

    def _hierarchies(self, forms: Mapping[str, HierarchyForm]) -> dict[str, Any]:
        from discreet.schema import as_hierarchy

        return {name: None if form is None else as_hierarchy(form, self._folder) for name, form in forms.items()}

    def _moved_to(self, folder: Path) -> Job:
        """Return the same job with paths relative to another folder."""

        def follow(location: Any) -> Any:
            if isinstance(location, list):
                return [follow(each) for each in location]
            if isinstance(location, dict):
                return {name: follow(each) for name, each in location.items()}
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


def _with_all_tables(fields: dict[str, Any]) -> dict[str, Any]:
    """Return fields in which ``tables`` has all tables if there are several, and ``input`` is the first of them."""
    tables, read = fields.get("tables", {}), fields.get("input")
    if not isinstance(tables, dict) or (not tables and "tables" in fields and read is None):
        raise UsageError(
            "The key 'tables' names a file for each table, that of people first, as in {patients: patients.csv, "
            "visits: visits.csv}.",
            topic="several-tables",
        )
    if not tables:
        return fields
    for name, location in tables.items():
        if not isinstance(name, str) or not name.strip() or not isinstance(location, str):
            raise UsageError(
                f"The key 'tables', entry '{name}', must be a name with the path of a file, as in visits: visits.csv.",
                topic="several-tables",
            )
    if isinstance(read, str) and read != next(iter(tables.values())):
        name = TableUrl.parse(read).table.name if is_url(read) else Path(read).name.partition(".")[0]
        if name in tables:
            raise UsageError(
                f"Two tables would be called '{name}', which is the name of the input; give the other another name.",
                topic="several-tables",
            )
        tables = {name: read, **tables}
    if len(tables) == 1:
        raise UsageError(
            f"'{next(iter(tables))}' is a single table; name it as the input alone, or add the other tables about the "
            "same people.",
            topic="several-tables",
        )
    return {**fields, "tables": tables, "input": next(iter(tables.values()))}


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
    from discreet.schema import builder_name

    return isinstance(form, str) and builder_name(form) is None


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
