"""``check``: does a table keep to a policy? A gate for files that are about to be shared or committed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from os import PathLike
from pathlib import Path
from typing import Any

from discreet.engines import SUFFIXES, open_source
from discreet.errors import DiscreetError, UsageError, did_you_mean
from discreet.job.policy import Policy, Rules
from discreet.pipeline.audit import Audit
from discreet.pipeline.audit import audit as audit_table
from discreet.pipeline.audit.classes import described
from discreet.problem import PRIVACY
from discreet.report.check_result import CheckedRule, CheckResult, Level, joined
from discreet.report.numbers import number_text
from discreet.runtime.locations import is_url, without_password
from discreet.runtime.plurals import amount
from discreet.schema import ColumnFacts, Finding, Leak, detect_all, numbers_people

__all__ = ["check", "check_all", "tables_at"]


def check(
    data: Any,
    policy: str | PathLike[str] | Mapping[str, Any] | Policy | None = None,
    *,
    reference: Any = None,
    **rules: Any,
) -> CheckResult:
    """Check whether a table keeps to a policy, whatever tool made it.

    Parameters
    ----------
    data
        A path, the URL of a database table or a frame of any kind. The tables of a folder are checked one by one; to
        check its files as one table, write a pattern such as ``folder/*.parquet``.
    policy
        A policy file, a mapping with its keys or a :class:`discreet.Policy`. Without one, the only rule is that no
        column may name people or single them out.
    reference
        The original table, for promises that compare with it, such as t-closeness; by default the table itself.
    rules
        Further keys of the policy, such as ``privacy="k(5)"``; they replace those of the file.

    >>> import polars as pl
    >>> table = pl.DataFrame({"age": ["[20, 40)"] * 3 + ["[40, 60)"], "email": [f"p{i}@example.org" for i in range(4)]})
    >>> print(check(table, quasi_identifiers=["age"], privacy="k(2)"))
    Check FAILED: 1 table, 2 errors, 0 warnings, 0 rules kept.
      error    k(2) does not hold: 1 was reached.
      error    'email' could identify people: It holds e-mail addresses.

    """
    if not isinstance(data, str | PathLike):
        return _checked("frame", data, _policy(policy, rules), reference)
    return check_all([data], policy, reference=reference, **rules)


def check_all(
    locations: Sequence[str | PathLike[str]],
    policy: str | PathLike[str] | Mapping[str, Any] | Policy | None = None,
    *,
    reference: Any = None,
    **rules: Any,
) -> CheckResult:
    """Check the tables at several locations by one policy; see :func:`check`."""
    whole = _policy(policy, rules)
    found = [tables_at(location) for location in locations]
    tables = [table for each, _ in found for table in each]
    alone = len(locations) == len(tables) == 1 and Path(tables[0]).parent != Path(locations[0])
    run = _checked if alone else _readable
    results = [run(without_password(table), table, whole.of_table(str(table)), reference) for table in tables]
    return joined(results, sum(others for _, others in found))


def tables_at(location: str | PathLike[str]) -> tuple[list[Any], int]:
    """Return the tables at a location, and how many other files there are: those of a folder, or the location itself.

    Hidden files, and folders that are links, are not looked into and count among the others.
    """
    if (isinstance(location, str) and is_url(location)) or not Path(location).is_dir():
        return [location], 0
    root = Path(location)
    paths = [path for path in sorted(root.rglob("*")) if ".git" not in path.relative_to(root).parts]
    files = [path for path in paths if path.is_file()]
    found = [path for path in files if _is_table(path) and not _is_hidden(path.relative_to(root))]
    if not found:
        raise UsageError(f"The folder '{root}' has no table; tables end in {', '.join(SUFFIXES)}.")
    links = [path for path in paths if path.is_symlink() and path.is_dir()]  # their content is not looked at
    return found, len(files) - len(found) + len(links)


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def _is_table(path: Path) -> bool:
    """Whether a file is a table by its name."""
    suffix = Path(path.stem).suffix if path.suffix in (".gz", ".zst", ".bz2") else path.suffix
    return suffix.lower() in SUFFIXES


def _policy(policy: Any, rules: Mapping[str, Any]) -> Policy:
    if policy is None:
        return Policy(**rules)
    if isinstance(policy, Mapping):
        return Policy(**{**policy, **rules})
    given = policy if isinstance(policy, Policy) else Policy.load(policy)
    return Policy(**{**given.model_dump(exclude_defaults=True), **rules}) if rules else given


def _readable(name: str, table: Any, policy: Policy, reference: Any) -> CheckResult:
    """Check one of several tables; one that cannot be checked is a finding, and the others are checked all the same."""
    try:
        return _checked(name, table, policy, reference)
    except DiscreetError as error:
        return CheckResult((CheckedRule(name, "unreadable", name, "error", error.message),), (name,))


def _checked(name: str, data: Any, policy: Policy, reference: Any) -> CheckResult:
    return CheckResult(tuple(_TableCheck(name, data, policy, reference).rules()), (name,))


@dataclass(frozen=True)
class _TableCheck:
    """One table and the policy it is checked by."""

    name: str
    data: Any
    policy: Policy
    reference: Any = None

    def rules(self) -> Iterator[CheckedRule]:
        """Check every rule; cheap ones first."""
        source = open_source(self.data)
        columns = list(source.columns)
        levels: list[tuple[Level, Rules]] = [("error", self.policy), ("warning", self.policy.warn)]
        for level, rules in levels:
            yield from self._columns(columns, rules, level)
        owner = [] if self.policy.person is None else [self.policy.person]
        needed = [*self.policy.quasi_identifiers, *self._sensitive_columns(), *owner]
        absent = [column for column in dict.fromkeys(needed) if column not in columns]
        for column in absent:
            hint = did_you_mean(column, columns) or "it is named as a quasi-identifier, sensitive column or person."
            yield self._rule("missing-column", column, "error", f"There is no column '{column}'; {hint}")
        if not absent:
            yield from self._promises(levels, columns)
        yield from self._people(source, columns)

    def _rule(
        self,
        rule: str,
        subject: str,
        level: Level,
        message: str,
        required: float | None = None,
        reached: float | None = None,
    ) -> CheckedRule:
        return CheckedRule(self.name, rule, subject, level, message, required, reached)

    def _sensitive_columns(self) -> list[str]:
        return [part for name in self.policy.sensitive for part in name.split("+")]

    def _columns(self, columns: list[str], rules: Rules, level: Level) -> Iterator[CheckedRule]:
        """Check which columns are there."""
        for pattern in rules.forbid:
            found = [column for column in columns if fnmatch(column.strip().lower(), pattern.strip().lower())]
            for column in found:
                yield self._rule("forbidden-column", column, level, f"The column '{column}' must not be there.")
            if not found:
                yield self._rule("forbidden-column", pattern, "ok", f"No column is called '{pattern}'.")
        for column in rules.require:
            missing = column not in columns
            message = f"There is no column '{column}'." if missing else f"The column '{column}' is there."
            yield self._rule("missing-column", column, level if missing else "ok", message)

    def _promises(self, levels: list[tuple[Level, Rules]], columns: list[str]) -> Iterator[CheckedRule]:
        """Check privacy models, risk and rows by one audit."""
        promised = [(level, PRIVACY.make(text)) for level, rules in levels for text in rules.privacy]
        limits = [(level, rules.risk) for level, rules in levels if rules.risk.model_fields_set]
        rows = [(level, rules.rows) for level, rules in levels if rules.rows is not None]
        if not promised and not limits and not rows:
            return
        quasi: Any = self.policy.quasi_identifiers
        if not quasi and (promised or limits):
            raise UsageError(
                "The policy has promises and no quasi-identifiers; name the columns others may know.",
                topic="no-quasi-identifier",
            )
        audit = audit_table(
            self.data,
            quasi_identifiers=quasi or columns[:1],
            privacy=[*(model for _, model in promised), PRIVACY.make("k(1)")],
            sensitive=self.policy.sensitive,
            types=self.policy.types,
            reference=self.reference,
            unknown=self.policy.unknown,
            missing_sensitive=self.policy.missing_sensitive,
            person=self.policy.person,
        )
        for (level, _), found in zip(promised, audit.checks, strict=False):
            reached = number_text(found.reached)
            where = f" ({about})" if (about := described(found.key_sets)) else ""
            message = (
                f"{found.model} holds."
                if found.passed
                else f"{found.model} does not hold: {reached} was reached{where}."
            )
            broken: Level = "ok" if found.passed else level
            yield self._rule("privacy", found.model, broken, message, found.promised, found.reached)
        if audit.rows == 0 and not rows:
            yield self._rule("rows", "0", "warning", "The table has no rows: promises hold for nobody.")
        for level, limit in limits:
            yield from self._risks(audit, limit.model_dump(exclude_none=True), level)
        for level, least in rows:
            message = f"The table has {amount(audit.rows, 'row')}, and {least:,} is the least."
            yield self._rule("rows", str(least), level if audit.rows < least else "ok", message, least, audit.rows)

    def _risks(self, audit: Audit, limits: Mapping[str, float], level: Level) -> Iterator[CheckedRule]:
        """Check the risks of an attacker who knows who is in the table."""
        reached = {
            "highest": 1 / audit.smallest_class if audit.classes else 0.0,
            "average": audit.sizes.average_risk,
        }
        for name, limit in limits.items():
            message = f"The {name} risk of being found is {reached[name]:.3g}, and {limit:g} is the limit."
            broken: Level = level if reached[name] > limit + 1e-12 else "ok"
            yield self._rule("risk", name, broken, message, limit, reached[name])

    def _people(self, source: Any, columns: list[str]) -> Iterator[CheckedRule]:
        """Check whether columns that are no quasi-identifiers name people, number them or single them out."""
        policy = self.policy
        others = [column for column in columns if column not in policy.quasi_identifiers and column not in policy.allow]
        limits = [
            (level, r.unique) for level, r in (("error", policy), ("warning", policy.warn)) if r.unique is not None
        ]
        if not others or (policy.identifying == "off" and not limits):
            return
        profile = source.profile(others)
        found, leaks = detect_all(profile.facts, profile.sample)
        usual: Level = "error" if policy.identifying == "error" else "warning"
        for name in others:
            facts = profile.facts.get(name)
            if facts is None:
                closed = f"'{name}' holds lists, records, bytes or objects, which cannot be inspected."
                yield self._rule("identifying-column", name, usual, closed)
                continue
            if policy.identifying != "off":
                reason = self._identifies(found[name], leaks.get(name), by_counts=not limits)
                doubt = _may_name(found[name], facts) if reason is None else None
                level: Level = usual if reason is not None else "ok" if doubt is None else "warning"
                message = reason or doubt or f"'{name}' does not seem to name people."
                yield self._rule("identifying-column", name, level, message, reached=facts.unique_share)
            yield from self._unique(facts, limits)

    def _identifies(self, found: Finding, leak: Leak | None, *, by_counts: bool) -> str | None:
        """Say why a column could identify people, or return None. Sensitive columns may have many values."""
        if leak is not None:
            return f"'{found.column}' holds values of '{leak.identifier}', which identifies people."
        singles_out = by_counts and found.stops and found.column not in self._sensitive_columns()
        if found.names_people or singles_out:
            return f"'{found.column}' could identify people: {' '.join(found.reasons)}"
        return None

    def _unique(self, facts: ColumnFacts, limits: list[tuple[Any, float]]) -> Iterator[CheckedRule]:
        for level, limit in limits:
            share = facts.unique_share
            broken: Level = level if share > limit else "ok"
            message = f"'{facts.name}' singles out {share:.1%} of the rows, and {limit:.1%} is the limit."
            yield self._rule("unique-column", facts.name, broken, message, limit, share)


def _may_name(found: Finding, facts: ColumnFacts) -> str | None:
    """Say that a column names or numbers people by its name alone, with too few values to be sure; None if not."""
    direct = [sighting.what for sighting in found.kinds if sighting.direct]
    if not direct and not numbers_people(facts):
        return None
    what = direct[0] if direct else "numbers of people"
    return f"'{found.column}' may identify people: its name or values say that it holds {what}."
