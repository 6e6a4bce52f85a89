"""The result of a check by a policy: for people, programs, test runners (JUnit) and code scanners (SARIF)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from xml.etree import ElementTree

from discreet.errors import AuditError
from discreet.runtime.notebook_html import card, findings
from discreet.runtime.plurals import amount, either

if TYPE_CHECKING:
    import polars as pl

__all__ = ["RULES", "CheckResult", "CheckedRule", "Level", "joined"]

Level = Literal["ok", "warning", "error"]

RULES = {
    "privacy": "A privacy model must hold.",
    "risk": "The risk of being found must not exceed a limit.",
    "forbidden-column": "A column must not be there.",
    "missing-column": "A column must be there.",
    "unique-column": "A column must not single people out.",
    "identifying-column": "A column must not name or number people.",
    "rows": "A table must have enough rows.",
    "unreadable": "A table must be readable.",
}
"""Every rule, with what it asks for."""
_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


@dataclass(frozen=True)
class CheckedRule:
    """One rule of a policy, checked on one table. It holds no value of the data."""

    table: str
    rule: str
    """One of :data:`RULES`."""
    subject: str
    """What the rule is about: a privacy model, a column or a pattern."""
    level: Level
    """``ok`` if the rule is kept; otherwise what the policy says about breaking it."""
    message: str
    required: float | None = None
    reached: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the rule as plain data."""
        return {
            "table": self.table,
            "rule": self.rule,
            "subject": self.subject,
            "level": self.level,
            "message": self.message,
            "required": self.required,
            "reached": self.reached,
        }


@dataclass(frozen=True)
class CheckResult:
    """Whether tables keep to a policy."""

    rules: tuple[CheckedRule, ...]
    tables: tuple[str, ...]
    unchecked: int = 0
    """Files in folders that were not checked: hidden ones, links to folders, and those that are no tables by name."""

    @property
    def level(self) -> Level:
        """The worst level of all rules."""
        found = {rule.level for rule in self.rules}
        return "error" if "error" in found else "warning" if "warning" in found else "ok"

    @property
    def passed(self) -> bool:
        """Whether no rule ends in an error; warnings pass."""
        return self.level != "error"

    @property
    def findings(self) -> tuple[CheckedRule, ...]:
        """The rules that are broken, errors first."""
        broken = [rule for rule in self.rules if rule.level != "ok"]
        return tuple(sorted(broken, key=lambda rule: rule.level != "error"))

    def strict(self) -> CheckResult:
        """Return the same result with warnings as errors."""
        rules = (replace(rule, level="error") if rule.level == "warning" else rule for rule in self.rules)
        return replace(self, rules=tuple(rules))

    def raise_if_failed(self, *, strict: bool = False) -> CheckResult:
        """Raise an :class:`discreet.AuditError` that lists the errors; with ``strict``, warnings too."""
        broken = [rule for rule in (self.strict() if strict else self).findings if rule.level == "error"]
        if broken:
            raise AuditError(
                "The table breaks its policy: " + " ".join(rule.message for rule in broken), topic="policy"
            )
        return self

    def summary(self) -> str:
        """Return the result as text."""
        kept = sum(rule.level == "ok" for rule in self.rules)
        errors = sum(rule.level == "error" for rule in self.rules)
        warnings = len(self.rules) - kept - errors
        verdict = {"ok": "passed", "warning": "passed with warnings", "error": "FAILED"}[self.level]
        counts = [
            amount(errors, "error"),
            amount(warnings, "warning"),
            f"{amount(kept, 'rule')} kept",
        ]
        lines = [f"Check {verdict}: {amount(len(self.tables), 'table')}, {', '.join(counts)}."]
        for table in self.tables:
            broken = [rule for rule in self.findings if rule.table == table]
            if len(self.tables) > 1 and broken:
                lines.append(table)
            lines += [f"  {rule.level:<7}  {rule.message}" for rule in broken]
        if self.unchecked:
            verb = either(self.unchecked, "was", "were")
            lines.append(f"{amount(self.unchecked, 'other file')} {verb} not checked: hidden, or no table by name.")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain data, ready for JSON. ``format`` changes when its keys do."""
        return {
            "format": 1,
            "passed": self.passed,
            "level": self.level,
            "tables": list(self.tables),
            "unchecked": self.unchecked,
            "rules": [rule.to_dict() for rule in self.rules],
        }

    def to_frame(self) -> pl.DataFrame:
        """Return a row for each rule."""
        import polars as pl

        schema = {"required": pl.Float64, "reached": pl.Float64}
        return pl.DataFrame([rule.to_dict() for rule in self.rules], schema_overrides=schema)

    def to_junit(self) -> str:
        """Return the result as JUnit XML: a suite for each table, a case for each rule."""
        suites = ElementTree.Element("testsuites", name="discreet check")
        for table in self.tables:
            rules = [rule for rule in self.rules if rule.table == table]
            failures = sum(rule.level == "error" for rule in rules)
            suite = ElementTree.SubElement(
                suites, "testsuite", name=table, tests=str(len(rules)), failures=str(failures), errors="0"
            )
            for rule in rules:
                case = ElementTree.SubElement(suite, "testcase", classname=table, name=f"{rule.rule} {rule.subject}")
                if rule.level == "error":
                    ElementTree.SubElement(case, "failure", message=rule.message, type=rule.rule)
                elif rule.level == "warning":
                    ElementTree.SubElement(case, "system-out").text = f"warning: {rule.message}"
        ElementTree.indent(suites)
        return ElementTree.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"

    def to_sarif(self) -> dict[str, Any]:
        """Return the findings as SARIF 2.1.0, which code hosts and editors show beside the file."""
        import discreet

        driver = {
            "name": "discreet",
            "version": discreet.__version__,
            "rules": [_sarif_rule(name, text) for name, text in RULES.items()],
        }
        results = [
            {
                "ruleId": rule.rule,
                "level": rule.level,
                "message": {"text": rule.message},
                "locations": [
                    {"physicalLocation": {"artifactLocation": {"uri": _uri(rule.table)}, "region": {"startLine": 1}}}
                ],
            }
            for rule in self.findings
        ]
        return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": results}]}

    def _repr_html_(self) -> str:
        levels = {"ok": "ok", "warning": "caution", "error": "danger"}
        several = len(self.tables) > 1
        found = [(levels[r.level], f"{r.table}: {r.message}" if several else r.message) for r in self.findings]
        return card(self.summary().splitlines()[0], findings(found), level=levels[self.level])

    def __str__(self) -> str:
        return self.summary()


def _sarif_rule(name: str, text: str) -> dict[str, Any]:
    """Return a rule with the texts that code hosts require; GitHub refuses rules without descriptions and help."""
    help_text = (
        f"{text} What the policy asks for is in the policy file; 'discreet explain policy' says what its keys mean."
    )
    return {
        "id": name,
        "shortDescription": {"text": text},
        "fullDescription": {"text": text},
        "help": {"text": help_text},
    }


def _uri(table: str) -> str:
    """Return the path of a table as a URI reference; a database URL stays as it is."""
    from urllib.parse import quote

    return table if "://" in table else quote(Path(table).as_posix())


def joined(results: Sequence[CheckResult], unchecked: int = 0) -> CheckResult:
    """Return the results of several tables as one."""
    return CheckResult(
        tuple(rule for result in results for rule in result.rules),
        tuple(table for result in results for table in result.tables),
        unchecked,
    )
