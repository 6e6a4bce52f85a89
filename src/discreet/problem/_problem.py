"""A problem: a count table and one choice of schemes, privacy models, cost and suppression, checked when built."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from discreet.counts import CountTable, IntArray, People
from discreet.errors import InfeasibleError, UsageError
from discreet.problem._combinations import check_combination, check_suppressed_before, level_limits
from discreet.problem.classes import Classes
from discreet.problem.costs import COSTS, Cost
from discreet.problem.key_sets import KeySet, key_sets_of
from discreet.problem.privacy import PRIVACY, PrivacyModel
from discreet.problem.privacy.k_anonymity import KAnonymity
from discreet.problem.schemes import Scheme, scheme_of_each
from discreet.problem.suppression import SUPPRESSION, Suppression

__all__ = ["Problem"]

Levels = Mapping[str, int]


@dataclass(frozen=True, eq=False)
class Problem:
    """The input of a solver. Use :meth:`build`, which checks that the parts fit.

    ``lowest`` and ``highest`` are the levels of each attribute that a full-domain recoding may use. If records are
    suppressed before the search, ``table`` holds the rest, and ``kept`` are its tuples in the ``whole`` table. Whoever
    knows an attribute in ``known_with`` also knows the one it names, which then belongs to each of its key sets.
    """

    table: CountTable
    privacy: tuple[PrivacyModel, ...]
    cost: Cost
    suppression: Suppression
    schemes: tuple[Scheme, ...]
    lowest: tuple[int, ...]
    highest: tuple[int, ...]
    whole: CountTable
    kept: IntArray | None = None
    known_with: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def build(
        cls,
        table: CountTable,
        *,
        privacy: str | PrivacyModel | Sequence[str | PrivacyModel],
        cost: str | Cost = "LM",
        suppression: str | Suppression = "none",
        scheme: str | Scheme | Mapping[str, str | Scheme] = "full-domain",
        min_levels: Levels | None = None,
        max_levels: Levels | None = None,
        known_with: Mapping[str, str] | None = None,
    ) -> Self:
        """Resolve text forms; check every part against the table and against the other parts."""
        chosen = [privacy] if isinstance(privacy, str | PrivacyModel) else list(privacy)
        if not chosen:
            raise UsageError("No privacy model was given; ask for one, as in k(5).", topic="no-privacy-model")
        schemes = tuple(scheme_of_each(table.names, scheme).values())
        table = table.flattened([each.flat for each in schemes])
        models = tuple(PRIVACY.make(model).resolve(list(table.sensitive)) for model in chosen)
        for model in models:
            model.check_key_sets(table.names)
        resolved = COSTS.make(cost).resolve(table, models)
        kind = SUPPRESSION.make(suppression)
        check_combination(table, models, resolved, kind, schemes, [*(min_levels or ()), *(max_levels or ())])
        lowest, highest = level_limits(table, min_levels or {}, max_levels or {})
        for model in models:
            if kind.hides_values and model.looks_at_sensitive:
                model.fits(table.units)
            else:
                model.check(table.units)
        isolated = kind.before(table)
        if isolated is not None:
            check_suppressed_before(kind, resolved, schemes)
        if isolated is None or not isolated.any():
            return cls(table, models, resolved, kind, schemes, lowest, highest, table, known_with=known_with or {})
        kept = np.flatnonzero(~isolated)
        if not kept.size:
            raise InfeasibleError(f"The suppression {kind.text} leaves no record; choose a smaller k or higher levels.")
        some = table.some(kept)
        return cls(some, models, resolved, kind, schemes, lowest, highest, table, kept, known_with or {})

    @property
    def people(self) -> People | None:
        """The people whom promises count; None if they count rows."""
        return self.table.people

    @cached_property
    def profile(self) -> int:
        """How many people must have the same rows, taken together; 0 if profiles do not matter."""
        return max((model.k for model in self.privacy if isinstance(model, KAnonymity) and model.profile), default=0)

    @property
    def varying(self) -> bool:
        """Whether people do not add up over classes: some of them vary, or profiles or key sets are promised."""
        return self.people is not None and (not self.people.constant or self.profile > 0 or bool(self.key_sets))

    @property
    def limit_of_people(self) -> bool:
        """Whether :attr:`limit` is one of people, who are suppressed with all their rows."""
        return self.people is not None and self.suppression.of_people

    @property
    def whole_people(self) -> bool:
        """Whether suppressing a class suppresses rows of other classes too: all those of its people."""
        return self.varying and (self.suppression.of_people or self.profile > 0)

    @cached_property
    def limit(self) -> int:
        """The most records, or people, that may be suppressed."""
        return self.suppression.budget(self.table.units.n if self.limit_of_people else self.table.n)

    @cached_property
    def row_limit(self) -> int:
        """The most rows that may be suppressed: those of as many people as may be, if the limit is one of people."""
        if self.people is None or not self.limit_of_people:
            return self.limit
        return int(np.sort(self.people.row_counts)[::-1][: self.limit].sum())

    @cached_property
    def divided(self) -> str | None:
        """The sensitive attribute by whose values parts of classes are suppressed; None if only whole classes are."""
        return self.suppression.divided(self.privacy)

    @cached_property
    def smallest_class(self) -> int:
        """The size below which no class is ok, in rows or people."""
        return max(model.smallest(self.whole.units) for model in self.privacy)

    @cached_property
    def key_sets(self) -> tuple[KeySet, ...]:
        """The key sets to be kept beside what is asked of every class; those that are implied are left out."""
        certain = [m for m in self.privacy if not (self.suppression.hides_values and m.looks_at_sensitive)]
        smallest = max((model.smallest(self.whole.units) for model in certain), default=1)
        return key_sets_of(self.privacy, self.table.names, smallest, self.known_with)

    @property
    def looks_at_population(self) -> bool:
        """Whether a model counts people of the population."""
        return any(model.looks_at_population for model in self.privacy)

    @property
    def union_closed(self) -> bool:
        """Whether the union of two ok classes is ok for every model.

        One person may be in both classes. Then the counts of the union are not sums, and only models hold that do for
        any superset.
        """
        return self.superset_closed if self.varying else all(model.union_closed for model in self.privacy)

    @property
    def superset_closed(self) -> bool:
        """Whether an ok class stays ok for every model when rows are added."""
        return all(model.superset_closed for model in self.privacy)

    def ok(self, classes: Classes) -> NDArray[np.bool_]:
        """Return for each class whether it satisfies all models."""
        mask = np.ones(len(classes), dtype=np.bool_)
        for model in self.privacy:
            mask &= model.ok(classes.judged)
        return mask

    def holds(self, sizes: IntArray) -> bool:
        """Return whether a released table with classes of these sizes satisfies the models of the whole table.

        Sizes are in people if promises count people.
        """
        return all(model.holds(sizes) for model in self.privacy if model.of_table)

    def fewest_removed(self, classes: Classes) -> NDArray[np.int64]:
        """Return a lower bound on the rows, or people, of each class that every ok subset of it leaves out."""
        removed, sizes = np.zeros(len(classes), dtype=np.int64), classes.judged.sizes
        for model in self.privacy:
            np.maximum(removed, self.fewest_removed_by(model, classes), out=removed)
        too_small = sizes - removed < self.smallest_class
        return np.where(too_small, sizes, removed).astype(np.int64)

    def fewest_removed_by(self, model: PrivacyModel, classes: Classes) -> NDArray[np.int64]:
        """Return the same for one model.

        Models reason about parts that have nothing in common, and about rows of one value each. Where people are in
        several parts, or have several values, only models are relied on that hold for any superset.
        """
        if self.people is not None and not model.superset_closed:
            column = str(getattr(model, "attribute", ""))
            overlaps = column in self.table.sensitive and self.table.units.sensitive[column].overlaps
            if self.varying or overlaps:
                return np.zeros(len(classes), dtype=np.int64)
        return model.fewest_removed(classes.judged)
