"""``against``: a release that keeps its promises together with earlier releases of the same or overlapping people.

The search gets a second promise for each of its own: the parts into which earlier releases divide a class have to keep
it as well. So the result is the best recoding that is safe together with the earlier releases, with the same proof.
What was written is compared with them once more, by code that reads both tables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.counts import CountTable, Histogram, IntArray
from discreet.engines import exactly, open_source
from discreet.errors import Argument, AuditError, InfeasibleError, UnsupportedCombinationError, UsageError
from discreet.evaluate.classes import CountedClasses, read_classes
from discreet.evaluate.inputs import EvaluationInput
from discreet.evaluate.memberships import (
    Membership,
    ReadRelease,
    ReleasedRows,
    made_from,
    membership,
    of_unchanged_classes,
    read_release,
)
from discreet.evaluate.together import Together, check_groups, keeps_promises, require_classes, rows_that_fit
from discreet.pipeline.against_local import divide
from discreet.pipeline.audit import open_table
from discreet.problem import PrivacyModel, Problem, Suppression
from discreet.problem.joint_promise import JointParts, JointPromise
from discreet.report.notes import Private
from discreet.runtime.integer_codes import add_up, numbered
from discreet.runtime.plurals import amount

if TYPE_CHECKING:
    from discreet.pipeline.prepare import Prepared
    from discreet.schema import Schema
    from discreet.solve import Budget, Solution

__all__ = ["EarlierReleases", "is_local", "read_earlier_releases"]

_WAY_OUT = (
    "promise no more than the earlier releases do, wait until more people joined or left, or apply the mapping of the "
    "earlier release to those who joined"
)


@dataclass(frozen=True, eq=False)
class EarlierReleases:
    """The earlier releases of a job: who of its table is in which of their classes."""

    people: CountedClasses
    """The table, by its original values."""
    members: tuple[Membership, ...]
    read: tuple[ReadRelease, ...]
    local: bool
    """Whether one of them is a local recoding: groups are then at least as large as counted."""
    given: EvaluationInput
    data: Any

    def require(self, problem: Problem, prepared: Prepared) -> Problem:
        """Return the problem with joint promises; raise an error if it cannot have any.

        Local recoding keeps them by the parts of the table that its groups stay inside (:meth:`solve_local`).
        """
        self._check_parts(problem)
        self._check_feasible(problem)
        if is_local(problem):
            return problem
        tuples = _tuples(self.people, prepared)
        joint: list[JointPromise] = []
        histograms: dict[str, Histogram] = {}
        everybody = np.ones(self.people.sizes.size, dtype=np.bool_)
        compared = [(everybody, each) for each in self._compared()]
        for some, members in [*compared, *of_unchanged_classes(self.members)]:
            known = np.where(some, tuples, -1)
            for model in problem.privacy:
                name = f"{model.text} with earlier releases {len(histograms) + 1}"
                parts, histograms[name] = self._parts(members, model, prepared, known, name)
                joint.append(JointPromise(model, parts, name))
        table = replace(problem.table, sensitive={**problem.table.sensitive, **histograms})
        return replace(problem, table=table, whole=table, privacy=(*problem.privacy, *joint))

    def _check_feasible(self, problem: Problem) -> None:
        """Raise an InfeasibleError if not even all people in one class keep the promises.

        Those who are in no earlier release may be left out, if so many may be.
        """
        everybody = np.zeros(self.people.sizes.size, dtype=np.int64)
        broken = self.check([self._of_one_class(everybody), *self.members], problem.privacy).broken
        if broken and problem.limit:
            absent = np.logical_and.reduce([each.label < 0 for each in self.members])
            some = self.people.sizes[absent].sum() <= problem.limit or not problem.superset_closed
            fewer = self._of_one_class(np.where(absent, -1, everybody))
            if some and absent.any() and not absent.all():
                broken = self.check([fewer, *self.members], problem.privacy).broken
        if broken:
            raise self._infeasible(broken)

    def solve_local(
        self, problem: Problem, prepared: Prepared, solve: Callable[[Problem], Solution], budget: Budget
    ) -> Solution:
        """Return a local recoding whose groups keep the promises together with the earlier releases."""
        from discreet.solve.local.divided import TablePart, solve_divided

        self.require(problem, prepared)
        of_tuples, of_classes, points = _points(self.people, prepared)
        absent = np.logical_and.reduce([each.label < 0 for each in self.members])
        found = divide(
            self.people,
            of_classes,
            self.members,
            lambda part: self._broken_parts(part, of_classes >= 0, problem.privacy),
            may_go=int(self.people.sizes[absent & (of_classes >= 0)].sum()) <= problem.limit,
        )
        part_of_point = np.full(points, -1, dtype=np.int64)
        part_of_point[of_classes[of_classes >= 0]] = found.part[of_classes >= 0]
        part = part_of_point[of_tuples]
        parts = []
        for number in range(found.whole.size):
            tuples, outside = np.flatnonzero(part == number), number == found.outside
            if outside and found.too_few:
                parts.append(TablePart(tuples, "suppressed"))
            elif tuples.size:
                parts.append(TablePart(tuples, "one group" if found.whole[number] else "groups", may_go=outside))
        return solve_divided(problem, parts, solve, budget, additive=len(self._compared()) == 1)

    def _broken_parts(
        self, part: IntArray, released: NDArray[np.bool_], models: Sequence[PrivacyModel]
    ) -> NDArray[np.bool_]:
        """Return which parts of the table break a promise, given those of its classes that may be released."""
        broken = np.zeros(int(part.max()) + 1, dtype=np.bool_)
        part = np.where(released, part, -1)
        if self.check([self._of_one_class(part), *self.members], models).passed:
            return broken
        for number in range(broken.size):
            alone = self._of_one_class(np.where(part == number, number, -1))
            for members in self._compared():
                broken[number] |= not keeps_promises(self.people, [alone, *members], models, self.given, self.data)
        return broken

    def holds(self, problem: Problem, solution: Solution, prepared: Prepared) -> bool:
        """Return whether a solution keeps the promises for people whom it suppresses, too."""
        table = problem.table
        widths = [int(blocks.max(initial=0)) + 1 for blocks in solution.blocks]
        each = zip(solution.blocks, table.codes, widths, strict=True)
        label = numbered(table.tuples, [(blocks[codes], width) for blocks, codes, width in each])[0]
        if solution.suppressed.size:
            label = np.where(solution.suppressed, -1, label)
        tuples = _tuples(self.people, prepared)
        new = self._of_one_class(np.where(tuples < 0, -1, label[tuples]))
        return self.check([new, *self.members], problem.privacy).passed

    def check(self, members: Sequence[Membership], models: Sequence[PrivacyModel]) -> Together:
        """Check promises for the groups that releases distinguish together; the first release is the new one."""
        return check_groups(self.people, members, models, self.given, self.data)

    def checker(self, problem: Problem, hierarchies: Callable[[], Mapping[str, Any]]) -> Callable[[Any], Together]:
        """Return a function that compares what was written with the earlier releases, and raises an AuditError."""
        models, local = problem.privacy, is_local(problem)

        def compare(written: Any) -> Together:
            columns = [*self.people.columns, *(self.given.secrets if local else ())]
            names = {f"c{i}": name for i, name in enumerate(columns)}
            shown = open_table(written, wanted=columns).groups(names).rename(names)
            if local:  # how many rows show something matters too
                shown = shown[np.repeat(np.arange(shown.height), shown["rows"].to_numpy())]
            read = read_release(self.people, shown.drop("rows"), hierarchies(), self.given.types)
            if read.overlapping:
                found = self._check_overlapping(read, models)
            else:
                own = made_from(self.people, read) if local else membership(self.people, read, of_table=True)
                found = self.check([own, *self.members], models)
            if not found.passed:
                kept = [f"{check.model} reached {check.reached:g}." for check in found.checks if not check.passed]
                raise AuditError(
                    f"Together with the earlier releases, promises are broken. {' '.join(found.broken or kept)} "
                    "Nothing was released; please report this."
                )
            return found

        return compare

    def _check_overlapping(self, read: ReadRelease, models: Sequence[PrivacyModel]) -> Together:
        """Check a local recoding by the rows that fit each person in it and in what it is compared with at once."""
        same = all(each.same_people for each in self.members)
        compared = [self.read] if same else [(each,) for each in self.read]
        found = [rows_that_fit(self.people, [read, *each], models, self.given, self.data) for each in compared]
        return next((each for each in found if not each.passed), found[0])

    def notes(self, problem: Problem, suppression: Suppression) -> Iterator[str]:
        """Yield what was promised, and whether the suppression was given up, for the release."""
        count = amount(len(self.members), "earlier release")
        same = all(each.same_people for each in self.members)
        who = "of the same people" if same else "of overlapping people, where those who joined or left are groups too"
        if not same and len(self.members) > 1:
            who += " (with each by itself, and with several at once for people in classes that nobody joined or left)"
        bound = (
            "" if not self.local else " One is a local recoding, in which only people who certainly fit are counted."
        )
        yield (
            f"The promises also hold together with {count} {who}, against an attacker who knows everybody's "
            "quasi-identifiers and can tell which rows of two releases are about the same person, if nobody who joined "
            f"replaced somebody with the same values.{bound}"
        )
        if problem.suppression.name != suppression.name:
            yield Private(
                f"Nobody was suppressed, although {suppression.text} allows it: the people in question would have been "
                "too few in an earlier release that has their rows."
            )

    def _compared(self) -> list[tuple[Membership, ...]]:
        """Return which earlier releases the new one is compared with at once."""
        if all(each.same_people for each in self.members):
            return [self.members]
        return [(each,) for each in self.members]

    def _of_one_class(self, label: IntArray) -> Membership:
        none = ReleasedRows(np.zeros(0, dtype=np.int64), {}, np.zeros(0, dtype=np.int64))
        stays = np.where(label[self.people.group] >= 0, self.people.count, 0)
        return Membership(label, stays, np.zeros(int(label.max(initial=0)) + 1, dtype=np.bool_), none)

    def _check_parts(self, problem: Problem) -> None:
        """Refuse schemes, suppression and models for which it is not known what releases tell together."""
        local = is_local(problem)
        if local:
            _check_local(problem)
        kind = problem.suppression
        if not kind.whole_classes or kind.hides_values or problem.kept is not None:
            raise UnsupportedCombinationError(
                "The option against", f"the suppression {kind.name}", "choose none, a budget or class-records"
            )
        require_classes(problem.privacy, self.given.names, "The option against")
        for model in problem.privacy:
            if model.of_table or model.of_sampling or model.looks_at_population:
                raise UnsupportedCombinationError(
                    "The option against", f"the privacy model {model.name}", "choose one that looks at classes alone"
                )
            if (local or self.local) and not model.superset_closed:
                raise UnsupportedCombinationError(
                    "The option against with a local recoding",
                    f"the privacy model {model.name}",
                    "only k and distinct-l can be shown to hold together with it",
                )

    def _infeasible(self, broken: Sequence[str]) -> InfeasibleError:
        sentences = " ".join(sentence.replace("other release", "earlier release") for sentence in broken)
        return InfeasibleError(
            f"No recoding keeps the promises together with the earlier releases. {sentences} To go on, {_WAY_OUT}.",
            topic="against",
        )

    def _parts(
        self, members: Sequence[Membership], model: PrivacyModel, prepared: Prepared, tuples: IntArray, name: str
    ) -> tuple[JointParts, Histogram]:
        """Return the parts that earlier releases divide classes into, and how many rows of each tuple are in them.

        ``tuples`` is the tuple of each class of the table, -1 for people who are not compared.
        """
        people, first = self.people, members[0]
        labels = np.stack([each.label for each in members], axis=1)[people.group]
        outside = labels.copy()
        outside[:, 0] = -1  # those who joined since then; nobody, if several releases are compared
        stays = people.count if first.same_people else first.stays
        keys = np.concatenate([labels, outside])
        rows = np.concatenate([stays, people.count - stays])
        value = np.tile(_value_codes(people, model, prepared), 2)
        own = np.tile(labels[:, 0], 2)
        changed = np.where(own >= 0, np.append(first.changed, False)[own], False)
        which, count = numbered(own.size, [(np.where(changed, own, -1) + 1, int(own.max(initial=0)) + 2)])
        part, _ = numbered(
            rows.size, [(keys[:, i] + 1, int(keys[:, i].max(initial=0)) + 2) for i in range(keys.shape[1])]
        )
        tuple_of = np.tile(tuples[people.group], 2)
        used = (rows > 0) & (tuple_of >= 0)
        columns = [(part, int(part.max(initial=0)) + 1), (value + 1, int(value.max(initial=0)) + 2), (which, count)]
        code, codes = numbered(int(used.sum()), [(column[used], width) for column, width in columns])
        example = np.zeros(codes, dtype=np.int64)
        example[code] = np.flatnonzero(used)
        in_changed = np.where(changed[example], which[example], -1)
        totals = add_up(which[used], rows[used], count)
        table = prepared.counted.table
        return (
            JointParts(part[example], value[example], in_changed, totals if changed.any() else np.zeros(0, np.int64)),
            _histogram(name, table, tuple_of[used], code, rows[used], codes),
        )


def is_local(problem: Problem) -> bool:
    """Return whether equal values may be recoded differently."""
    return not all(scheme.is_global for scheme in problem.schemes)


def _check_local(problem: Problem) -> None:
    """Refuse local recodings that cannot be searched part by part."""
    from discreet.solve.local.general import is_compiled

    option = "The option against with the scheme local"
    if any(scheme.shows != "cover" for scheme in problem.schemes):
        raise UnsupportedCombinationError(option, "one value shown for a group", "leave show out")
    if not is_compiled(problem):
        raise UnsupportedCombinationError(
            option, f"the cost {problem.cost.name}", "choose LM, NCP or precision, without limits on levels"
        )


def read_earlier_releases(prepared: Prepared) -> EarlierReleases | None:
    """Read the earlier releases of a job; None if there are none."""
    settings, schema = prepared.settings, prepared.schema
    if not settings.against:
        return None
    sensitive = {name: prepared.trees.get(name) for name in schema.sensitive}
    given = EvaluationInput(
        settings.data,
        schema.quasi_identifiers,
        sensitive,
        schema.types,
        {"missing_sensitive": settings.missing_sensitive},
    )
    for table in settings.against:
        _check_roles(table, schema)
    people = read_classes(prepared.source, given.names, given.secrets)
    read = [read_release(people, table, given.hierarchies, given.types) for table in settings.against]
    return EarlierReleases(
        people=people,
        members=tuple(membership(people, release) for release in read),
        read=tuple(read),
        local=any(release.overlapping for release in read),
        given=given,
        data=settings.data,
    )


def _check_roles(table: Any, schema: Schema) -> None:
    """Refuse an earlier release by whose columns people can be found, but not in this job."""
    job = getattr(table, "job", None)
    shown = list(job["quasi_identifiers"]) if job else open_source(table).columns
    dropped = [name for name in shown if name not in schema.quasi_identifiers]
    dropped = [name for name in dropped if job or name in schema.identifiers]
    if dropped:
        raise UsageError(
            f"An earlier release has the column '{dropped[0]}', by which others may know people; make it a "
            "quasi-identifier here too. At the top of its hierarchy (",
            Argument("min_levels"),
            ") it shows nothing.",
            column=dropped[0],
            topic="against",
        )


def _points(people: CountedClasses, prepared: Prepared) -> tuple[IntArray, IntArray, int]:
    """Number the quasi-identifiers of the tuples of the count table, and of the classes of the table.

    A class whose rows are left out has the number -1. The last is how many there are.
    """
    table, domains = prepared.counted.table, prepared.counted.domains
    leaves = [
        _codes(people.values[name], domains[name].values, domains[name].codes)[codes]
        for name, codes in zip(people.columns, people.codes, strict=True)
    ]
    known = np.logical_and.reduce([each >= 0 for each in leaves])
    columns = [
        (np.concatenate([own, each[known]]), attribute.leaves)
        for own, each, attribute in zip(table.codes, leaves, table.attributes, strict=True)
    ]
    number, distinct = numbered(table.tuples + int(known.sum()), columns)
    of_classes = np.full(known.size, -1, dtype=np.int64)
    of_classes[known] = number[table.tuples :]
    return number[: table.tuples], of_classes, distinct


def _tuples(people: CountedClasses, prepared: Prepared) -> IntArray:
    """Return the tuple of the count table of each class of the table; -1 if its rows are left out."""
    of_tuples, of_classes, distinct = _points(people, prepared)
    index = np.full(distinct, -1, dtype=np.int64)
    index[of_tuples] = np.arange(of_tuples.size)
    return np.where(of_classes < 0, -1, index[of_classes])


def _value_codes(people: CountedClasses, model: PrivacyModel, prepared: Prepared) -> IntArray:
    """Return the sensitive value of each entry as a code of the count table; -1 if there is none."""
    column = getattr(model, "attribute", None) if model.looks_at_sensitive else None
    if column is None:
        return np.full(people.group.size, -1, dtype=np.int64)
    known = prepared.counted.codes[column]
    return _codes(people.values[column], known["value"], known["code"].to_numpy())[people.secret[column]]


def _codes(values: pl.Series, known: pl.Series, codes: IntArray) -> IntArray:
    """Return the code of each distinct value; -1 for those not known."""
    if values.dtype != known.dtype:
        values, known = values.cast(pl.String), known.cast(pl.String)
    frame = pl.DataFrame({"value": values}).select(
        exactly("value").replace_strict(known, codes, default=-1, return_dtype=pl.Int64)
    )
    return frame.to_series().to_numpy().astype(np.int64)


def _histogram(
    name: str, table: CountTable, tuple_of: IntArray, code: IntArray, rows: IntArray, codes: int
) -> Histogram:
    """Count the rows of each tuple with each code."""
    keys, index = np.unique(tuple_of * codes + code, return_inverse=True)
    offsets = np.searchsorted(keys, np.arange(table.tuples + 1) * codes)
    return Histogram(name, codes, offsets, keys % codes, add_up(index, rows, keys.size), labels=("",) * codes)
