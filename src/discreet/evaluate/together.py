"""Several releases of the same people: whether they keep the promises together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from discreet.engines import open_source
from discreet.errors import UsageError
from discreet.evaluate.candidates import find_candidates
from discreet.evaluate.classes import CountedClasses, read_classes
from discreet.evaluate.inputs import EvaluationInput
from discreet.evaluate.sensitive import SensitiveColumn, sensitive_groups
from discreet.problem import PRIVACY, PrivacyModel
from discreet.runtime.integer_codes import numbered
from discreet.runtime.plurals import amount

__all__ = ["JointCheck", "Together", "together"]


@dataclass(frozen=True)
class JointCheck:
    """A promise, what the releases reach together, and whether that keeps it."""

    model: str
    reached: float
    passed: bool


@dataclass(frozen=True)
class Together:
    """What several releases of the same people keep together."""

    releases: int
    people: int
    """The people of the original table who are in all releases, as far as can be told."""
    classes: int
    """The intersections of classes."""
    smallest: int
    checks: tuple[JointCheck, ...]

    @property
    def passed(self) -> bool:
        """Whether the releases keep every promise together."""
        return all(check.passed for check in self.checks)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return {**asdict(self), "passed": self.passed}

    def summary(self) -> str:
        """Return the checks as a block of text."""
        lines = [
            f"Together with {amount(self.releases - 1, 'other release')}: {self.classes:,} intersections of classes, "
            f"the smallest of {amount(self.smallest, 'person', 'people')}"
        ]
        lines += [
            f"{check.model:<24} {'kept' if check.passed else 'BROKEN'}, reached {check.reached:g}"
            for check in self.checks
        ]
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.summary()


def together(
    original: Any,
    releases: Sequence[Any],
    *,
    quasi_identifiers: str | Sequence[str] | Mapping[str, Any],
    privacy: str | PrivacyModel | Sequence[str | PrivacyModel],
    sensitive: str | Sequence[str] | Mapping[str, Any] = (),
    types: Mapping[str, Any] | None = None,
) -> Together:
    """Measure which promises several releases of the same people keep together.

    Whoever has all of them can tell the class of a person in each. So people are as safe as in one release whose
    classes are the intersections. All releases must be global recodings of ``original``, with columns of the same names
    and hierarchies.

    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [21, 24, 51, 52], "town": ["a", "b", "a", "b"]})
    >>> by_age = people.with_columns(age=pl.Series(["[20, 30)"] * 2 + ["[50, 60)"] * 2), town=pl.lit("*"))
    >>> by_town = people.with_columns(age=pl.lit("*"))
    >>> columns = {"age": "intervals(10)", "town": None}
    >>> together(people, [by_age, by_town], quasi_identifiers=columns, privacy="k(2)").smallest
    1
    """
    given = EvaluationInput.make(releases[0], quasi_identifiers, sensitive, types)
    before = read_classes(open_source(original), given.names, given.secrets)
    numbers = []
    for table in releases:
        after = read_classes(open_source(getattr(table, "frame", table)), given.names)
        candidates = find_candidates(before, after, given.hierarchies, given.types)
        if any(match.single is None for match in candidates.matches):
            raise UsageError(
                "Several releases can only be checked together if equal values were recoded alike in each; one of them "
                "is a local recoding."
            )
        found = np.full(before.sizes.size, -1, dtype=np.int64)
        for some, index, released in candidates.found():
            found[some[index]] = released
        numbers.append(found)
    inside = np.logical_and.reduce([number >= 0 for number in numbers])
    joint, count = numbered(int(inside.sum()), [(number[inside], int(number.max()) + 2) for number in numbers])
    classes = _joined(before, inside, joint, count)
    chosen = [privacy] if isinstance(privacy, str | PrivacyModel) else list(privacy)
    models = [PRIVACY.make(model).resolve(given.secrets) for model in chosen]
    checks = tuple(_check(model, classes, given, original) for model in models)
    smallest = int(classes.sizes.min()) if classes.sizes.size else 0
    return Together(len(releases), classes.rows, int(classes.sizes.size), smallest, checks)


def _joined(before: CountedClasses, inside: Any, joint: Any, count: int) -> CountedClasses:
    """Return the people who are in all releases, by the intersection of their classes."""
    number = np.full(before.sizes.size, -1, dtype=np.int64)
    number[inside] = joint
    kept = number[before.group] >= 0
    order = np.argsort(number[before.group[kept]], kind="stable")
    sizes = np.rint(np.bincount(joint, weights=before.sizes[inside], minlength=count)).astype(np.int64)
    return replace(
        before,
        columns=(),
        codes=[],
        sizes=sizes,
        group=number[before.group[kept]][order],
        count=before.count[kept][order],
        secret={name: values[kept][order] for name, values in before.secret.items()},
    )


def _check(model: PrivacyModel, classes: CountedClasses, given: EvaluationInput, original: Any) -> JointCheck:
    """Measure one promise on the intersections of classes."""
    column = getattr(model, "attribute", None) if model.looks_at_sensitive else None
    name = column if column is not None else next(iter(given.secrets), None)
    if name is None:
        groups = _sizes_only(classes)
    else:
        own = SensitiveColumn(name, given.sensitive.get(name), given.types.get(name))
        groups = sensitive_groups(classes, own, original)
    reached = float(model.reached(groups))
    return JointCheck(model.text, reached, bool(model.satisfied_by(reached)))


def _sizes_only(classes: CountedClasses) -> Any:
    from discreet.problem import Groups

    none = np.zeros(0, dtype=np.int64)
    return Groups(sizes=classes.sizes, group=none, value=none, count=none, whole=none)
