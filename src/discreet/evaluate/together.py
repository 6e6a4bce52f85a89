"""Several releases of the same people: whether they keep the promises together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.engines import open_source
from discreet.errors import UnsupportedCombinationError
from discreet.evaluate.classes import CountedClasses, read_classes
from discreet.evaluate.inputs import EvaluationInput
from discreet.evaluate.memberships import (
    JointGroups,
    Membership,
    ReadRelease,
    join,
    made_from,
    membership,
    of_unchanged_classes,
    read_release,
    values_that_fit,
)
from discreet.evaluate.sensitive import SensitiveColumn, sensitive_groups
from discreet.problem import PRIVACY, Groups, PrivacyModel
from discreet.runtime.plurals import amount

__all__ = ["JointCheck", "Together", "check_groups", "keeps_promises", "require_classes", "rows_that_fit", "together"]

EVERYBODY = "knows everybody's quasi-identifiers and can tell which rows of two releases are about the same person"
ONE_PERSON = "knows the quasi-identifiers of the person, and that the person is in all releases"


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
    """The people of the groups that the releases distinguish together."""
    classes: int
    """The groups: intersections of classes, and people of a class who are in one release only."""
    smallest: int
    checks: tuple[JointCheck, ...]
    broken: tuple[str, ...] = ()
    """What breaks promises: groups of people in several releases, of people who joined, or of people who left."""
    attacker: str = EVERYBODY
    """What the attacker knows whom the promises are kept against."""

    @property
    def passed(self) -> bool:
        """Whether the releases keep every promise together."""
        return not self.broken and all(check.passed for check in self.checks)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return {**asdict(self), "passed": self.passed}

    def summary(self) -> str:
        """Return the checks as a block of text."""
        groups = "intersections of classes" if self.attacker == EVERYBODY else "kinds of people"
        lines = [
            f"Together with {amount(self.releases - 1, 'other release')}: {self.classes:,} {groups}, "
            f"the smallest of {amount(self.smallest, 'person', 'people')}",
            f"for an attacker who {self.attacker}",
        ]
        lines += [
            f"{check.model:<24} {'kept' if check.passed else 'BROKEN'}, reached {check.reached:g}"
            for check in self.checks
        ]
        return "\n".join([*lines, *self.broken])

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
    """Measure which promises several releases keep together. The first one was made from ``original``.

    Whoever has all of them can tell the class of a person in each. So people are as safe as in one release whose
    classes are the intersections. The other releases may be of the same people or of overlapping ones: people who
    joined since then, or left, are groups of their own. Columns have the same names and hierarchies in all releases.

    If one is a local recoding, nobody can tell from the tables who is in which of its overlapping classes. Then the
    rows are counted that a person may have in every release: with each sensitive value, as many as in the release that
    has fewest.

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
    chosen = [privacy] if isinstance(privacy, str | PrivacyModel) else list(privacy)
    models = [PRIVACY.make(model).resolve(given.secrets) for model in chosen]
    require_classes(models, given.names, "A comparison with other releases")
    read = [read_release(before, table, given.hierarchies, given.types) for table in releases]
    if any(release.overlapping for release in read):
        return rows_that_fit(before, read, models, given, original)
    members = [made_from(before, read[0]), *(membership(before, release) for release in read[1:])]
    return check_groups(before, members, models, given, original)


def require_classes(models: Sequence[PrivacyModel], columns: Sequence[str], option: str) -> None:
    """Raise an error for models that are not about classes of all quasi-identifiers, which releases divide together."""
    for model in models:
        if model.key_sets(columns) or model.counts_matches or model.counts_profiles:
            raise UnsupportedCombinationError(
                option,
                f"the promise {model.shown}",
                "promise k on all quasi-identifiers, which holds for each key set, too"
                if model.key_sets(columns)
                else "promise k without unknown= and profile=",
            )


def check_groups(
    before: CountedClasses,
    members: Sequence[Membership],
    models: Sequence[PrivacyModel],
    given: EvaluationInput,
    original: Any,
) -> Together:
    """Check promises for the groups that releases distinguish together; the first release was made from the table.

    If people joined or left, the first release is compared with each of the others by itself, and with several of them
    for the people in classes of these that nobody joined or left. If rows are missing from its own classes, that is
    known of it alone: no promise can then be shown to hold with a release that changed too.
    """
    same = all(each.same_people for each in members)
    groups = [join(before, members)] if same else [join(before, [members[0], each]) for each in members[1:]]
    if members[0].same_people:
        for some, others in of_unchanged_classes(members[1:]):
            groups.append(join(before, [members[0].of_some(some), *others]))
    measured = [[_check(model, each.classes, given, original) for each in groups] for model in models]
    checks = tuple(next((check for check in each if not check.passed), each[-1]) for each in measured)
    return Together(
        releases=len(members),
        people=max(each.classes.rows for each in groups),
        classes=max(int(each.classes.sizes.size) for each in groups),
        smallest=min(int(each.classes.sizes.min(initial=each.classes.rows)) for each in groups),
        checks=checks,
        broken=tuple(
            sentence
            for number, each in enumerate(groups, 1)
            for sentence in _broken(each, number, models, given, original)
        ),
    )


def keeps_promises(
    before: CountedClasses,
    members: Sequence[Membership],
    models: Sequence[PrivacyModel],
    given: EvaluationInput,
    original: Any,
) -> bool:
    """Return whether the people of the first release keep the promises, as releases distinguish them together."""
    groups = join(before, members)
    some = _some(groups.classes, groups.labels[:, 0] >= 0)
    return all(_check(model, some, given, original).passed for model in models)


def _broken(
    groups: JointGroups, number: int, models: Sequence[PrivacyModel], given: EvaluationInput, original: Any
) -> Iterator[str]:
    """Yield what breaks promises."""
    earlier = "the other releases" if groups.labels.shape[1] > 2 else f"other release {number}"
    if groups.changing == 0:
        if groups.divided:
            yield (
                f"Rows are missing from {amount(groups.divided, 'class', 'classes')} of the release, whose people are "
                f"in several classes of {earlier}: nobody can tell whose, so that no promise can be shown to hold for "
                "them."
            )
        if groups.changed_too:
            yield (
                f"Rows are missing from classes of the release, and people joined or left classes of {earlier}: nobody "
                "can tell who is in both, so that no promise can be shown to hold."
            )
    elif groups.divided:
        yield (
            f"People joined or left {amount(groups.divided, 'class', 'classes')} of {earlier} that the release "
            "divides: nobody can tell into which parts, so that no promise can be shown to hold for them."
        )
    here, there = groups.labels[:, 0] >= 0, (groups.labels[:, 1:] >= 0).all(axis=1)
    kinds = {
        f"people who are in the release and in {earlier}": here & there,
        f"people who are in the release and not in {earlier}": here & ~there,
        f"people who are in {earlier} and not in the release": ~here,
    }
    for kind, mask in kinds.items():
        if not mask.any():
            continue
        some = _some(groups.classes, mask)
        for model in models:
            check = _check(model, some, given, original)
            if not check.passed:
                yield f"{model.shown} is broken for {kind}: reached {check.reached:g}."


def _some(classes: CountedClasses, mask: NDArray[np.bool_]) -> CountedClasses:
    """Return some of the groups."""
    kept = mask[classes.group]
    number = np.cumsum(mask) - 1
    return replace(
        classes,
        sizes=classes.sizes[mask],
        group=number[classes.group[kept]],
        count=classes.count[kept],
        secret={name: codes[kept] for name, codes in classes.secret.items()},
    )


def rows_that_fit(
    before: CountedClasses,
    read: Sequence[ReadRelease],
    models: Sequence[PrivacyModel],
    given: EvaluationInput,
    original: Any,
) -> Together:
    """Check promises for the rows that a person may have in every release, where one is a local recoding.

    Rows of two releases are about the same person only if they have the same sensitive values. A hidden value may be
    any; rows that could only be the same because one hides its value are not counted, which is on the safe side.
    Models of how frequent values are cannot be checked so: the fewest rows may be even where those of one are not.
    """
    for model in models:
        if not model.superset_closed:
            raise UnsupportedCombinationError(
                "A comparison with a local recoding",
                f"the privacy model {model.name}",
                "only k and distinct-l can be shown to hold together with it",
            )
    people = before.sizes.size
    covering = [_covering_rows(release, people) for release in read]
    fewest = np.min(covering, axis=0)
    seen = fewest > 0
    counts: dict[str, NDArray[np.int64]] = {}
    for name in given.secrets:
        showing = [number for number, release in enumerate(read) if name in release.classes.secret]
        fitting = [values_that_fit(before, read[number], name) for number in showing]
        hidden = [covering[number] - known.sum(axis=1) for number, known in zip(showing, fitting, strict=True)]
        counts[name] = np.min(fitting, axis=0)
        if len(showing) > 1:
            fewest = np.minimum(fewest, counts[name].sum(axis=1) + np.min(hidden, axis=0))
            possible = [known + some[:, np.newaxis] for known, some in zip(fitting, hidden, strict=True)]
            seen &= (np.min(possible, axis=0) > 0).any(axis=1) | (np.min(hidden, axis=0) > 0)
    checks = []
    for model in models:
        column = getattr(model, "attribute", None) if model.looks_at_sensitive else None
        people_seen = _fitting(before, fewest[seen], column, None if column is None else counts[column][seen])
        checks.append(_check(model, people_seen, given, original))
    return Together(
        releases=len(read),
        people=int(before.sizes[seen].sum()),
        classes=int(seen.sum()),
        smallest=int(fewest[seen].min(initial=before.rows)),
        checks=tuple(checks),
        attacker=ONE_PERSON,
    )


def _covering_rows(release: ReadRelease, people: int) -> NDArray[np.int64]:
    """Return how many rows of a release cover the people of each class of a table."""
    rows = np.zeros(people, dtype=np.int64)
    for some, index, released in release.candidates.found():
        np.add.at(rows, some[index], release.classes.sizes[released])
    return rows


def _fitting(
    before: CountedClasses, sizes: NDArray[np.int64], column: str | None, counts: NDArray[np.int64] | None
) -> CountedClasses:
    """Return the rows that fit each kind of person as a class."""
    none = np.zeros(0, dtype=np.int64)
    if column is None or counts is None:
        return replace(before, columns=(), codes=[], sizes=sizes, group=none, count=none, secret={})
    group, value = np.nonzero(counts)
    return replace(
        before,
        columns=(),
        codes=[],
        sizes=counts.sum(axis=1),
        group=group.astype(np.int64),
        count=counts[group, value],
        secret={column: value},
    )


def _check(model: PrivacyModel, classes: CountedClasses, given: EvaluationInput, original: Any) -> JointCheck:
    """Measure one promise on groups of people."""
    column = getattr(model, "attribute", None) if model.looks_at_sensitive else None
    name = column if column is not None else next(iter(classes.secret), None)
    if name is None:
        none = np.zeros(0, dtype=np.int64)
        groups = Groups(sizes=classes.sizes, group=none, value=none, count=none, whole=none)
    else:
        own = SensitiveColumn(name, given.sensitive.get(name), given.types.get(name))
        groups = sensitive_groups(classes, own, original)
    reached = float(model.reached(groups))
    return JointCheck(model.shown, reached, bool(model.satisfied_by(reached)))
