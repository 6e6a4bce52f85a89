"""A policy: what a table must keep to before it may be shared, as data that can be written to a file.

Rules at the top are errors; the same rules under ``warn`` are warnings. ``tables`` has other rules for some tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatch
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, WithJsonSchema

from discreet.errors import UsageError
from discreet.job.file_fields import Roles, Texts, explain_fields
from discreet.runtime.locations import as_path
from discreet.runtime.notebook_html import card, table
from discreet.schema import as_type

__all__ = ["Policy", "Rules"]


def _share(value: Any) -> Any:
    """Accept 5% for 0.05."""
    if isinstance(value, str) and value.strip().endswith("%"):
        try:
            return float(value.strip()[:-1]) / 100
        except ValueError:
            raise ValueError("must be a share such as 5% or 0.05") from None
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


Share = Annotated[
    float,
    BeforeValidator(_share),
    Field(ge=0, le=1),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "number", "minimum": 0, "maximum": 1},
                {"type": "string", "pattern": r"^\s*[0-9.]+\s*%\s*$"},
            ]
        }
    ),
]


class RiskLimits(BaseModel):
    """The highest risks of being found that are accepted, by an attacker who knows who is in the table."""

    model_config = ConfigDict(extra="forbid", strict=True)

    highest: Share | None = Field(default=None, description="Of a person in the smallest class: 1 over its size.")
    average: Share | None = Field(default=None, description="On average over all people.")


class Rules(BaseModel):
    """Rules that can be errors or warnings."""

    model_config = ConfigDict(extra="forbid", strict=True)

    privacy: Texts = Field(default_factory=list, description="Privacy models, such as k(5).")
    risk: RiskLimits = Field(default_factory=RiskLimits, description="The highest risks accepted.")
    unique: Share | None = Field(
        default=None, description="The largest share of rows that a column may single out, quasi-identifiers excepted."
    )
    forbid: Texts = Field(default_factory=list, description="Columns that must not be there; *_id is a pattern.")
    require: Texts = Field(default_factory=list, description="Columns that must be there.")
    rows: int | None = Field(default=None, ge=0, description="The least number of rows.")


class Policy(Rules):
    """Requirements on a table before it may be shared.

    >>> policy = Policy(quasi_identifiers=["age", "zip"], privacy="k(5)", forbid="*_id", warn={"privacy": "k(10)"})
    >>> policy.privacy, policy.warn.privacy
    (['k(5)'], ['k(10)'])
    """

    quasi_identifiers: Roles = Field(default_factory=dict, description="Columns others may know about a person.")
    sensitive: Roles = Field(default_factory=dict, description="Columns nobody may learn about a person.")
    person: str | None = Field(
        default=None,
        description="The column that says whose row it is, or whose household's; promises count its values.",
    )
    allow: Texts = Field(
        default_factory=list, description="Columns that may be there although they could identify people."
    )
    identifying: Literal["error", "warn", "off"] = Field(
        default="error", description="What a column is whose values name or number people."
    )
    unknown: str | None = Field(default=None, description="The mark of a suppressed sensitive value, as in '*'.")
    missing_sensitive: Literal["unknown", "value"] = Field(
        default="unknown", description="Whether a missing sensitive value is unknown or one more value."
    )
    types: dict[str, str] = Field(default_factory=dict, description="text, ordered, integer, decimal or date.")
    warn: Rules = Field(default_factory=Rules, description="The same rules as warnings.")
    tables: dict[str, Policy] = Field(
        default_factory=dict, description="Policies for tables by name, such as visits*.csv; the first that fits."
    )

    def __init__(self, **fields: Any) -> None:
        try:
            super().__init__(**fields)
        except ValidationError as error:
            raise UsageError(explain_fields(error, "policy", list(type(self).model_fields)), topic="policy") from None
        self._check()

    def _check(self) -> None:
        """Refuse what would silently not be checked."""
        for pattern, policy in self.tables.items():
            if policy.tables:
                raise UsageError(
                    f"The policy of '{pattern}' has tables of its own, which would not be checked; leave them out.",
                    topic="policy",
                )
        for name in self.types.values():
            as_type(name)
        both = [name for name in self.quasi_identifiers if name in self.sensitive]
        if both:
            raise UsageError(
                f"'{both[0]}' is both a quasi-identifier and sensitive; choose one.", column=both[0], topic="policy"
            )

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a policy: JSON if the name of the file ends in ``.json``, YAML otherwise."""
        from discreet.job.job_file import read_fields

        path = as_path(path, "The policy")
        fields = read_fields(path, "policy", "quasi_identifiers and privacy")
        try:
            return cls(**fields)
        except UsageError as error:
            raise UsageError(f"In '{path}': ", *error.text, topic=error.topic) from None

    def save(self, path: str | Path) -> Path:
        """Write the policy to a file; defaults are left out."""
        from discreet.job.job_file import write_fields

        path = as_path(path, "The policy")
        write_fields(path, self.to_dict())
        return path

    def to_dict(self) -> dict[str, Any]:
        """Return the policy as plain data, without defaults."""
        fields = self.model_dump(exclude_defaults=True)
        for role in ("quasi_identifiers", "sensitive"):
            if all(form is None for form in fields.get(role, {"": ""}).values()):
                fields[role] = list(fields[role])
        return fields

    def of_table(self, name: str) -> Policy:
        """Return the policy for a table, by the first pattern of ``tables`` that its path or name fits.

        >>> Policy(tables={"visits*": {"privacy": "k(3)"}}).of_table("data/visits-2026.csv").privacy
        ['k(3)']
        """
        for pattern, policy in self.tables.items():
            if fnmatch(name, pattern) or fnmatch(Path(name).name, pattern):
                return policy
        return self

    def _repr_html_(self) -> str:
        fields = self.to_dict()
        warn, tables = fields.pop("warn", {}), fields.pop("tables", {})
        body = [_rules_table("", fields)] if fields else []
        if warn:
            body.append(_rules_table("Warnings", warn))
        body += [_rules_table(f"Tables named {pattern}", rules) for pattern, rules in tables.items()]
        return card("What a table must keep to", *body or ["<p>No rule.</p>"])


def _rules_table(title: str, rules: Mapping[str, Any]) -> str:
    """Return rules and what they ask for, as a table for notebooks."""
    return table(title, ["rule", "asks for"], [[name, _rule_text(value)] for name, value in rules.items()], text=(1,))


def _rule_text(value: Any) -> str:
    """Return what a rule asks for as text.

    >>> _rule_text({"highest": 0.2, "average": 0.05}), _rule_text(["k(5)", "t(0.2)"])
    ('highest: 0.2, average: 0.05', 'k(5), t(0.2)')
    """
    if isinstance(value, Mapping):
        return ", ".join(name if each is None else f"{name}: {_rule_text(each)}" for name, each in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
