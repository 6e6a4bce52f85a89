"""A problem: one choice of scheme, privacy models, cost and suppression over a count table, checked when built."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from discreet.counts import CountTable, IntArray
from discreet.errors import InfeasibleError, UnsupportedCombinationError, UsageError
from discreet.problem._checks import levels_by_column
from discreet.problem._classes import Classes
from discreet.problem.costs import COSTS, Cost
from discreet.problem.costs.certainty import Certainty
from discreet.problem.costs.loss import Loss
from discreet.problem.privacy import PRIVACY, PrivacyModel
from discreet.problem.schemes import Scheme, scheme_of_each
from discreet.problem.suppression import SUPPRESSION, Suppression

__all__ = ["Problem"]

Levels = Mapping[str, int]


@dataclass(frozen=True, eq=False)
class Problem:
    """What is to be solved. Build it with :meth:`build`, which checks that the parts go together.

    ``lowest`` and ``highest`` give, attribute by attribute, the levels a full-domain recoding may use. Where the
    suppression leaves records out before the search, ``table`` is what stays and ``kept`` says which tuples of the
    ``whole`` table those are.
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
    ) -> Self:
        """Resolve text forms, check every part against the table and the parts against each other."""
        chosen = [privacy] if isinstance(privacy, str | PrivacyModel) else list(privacy)
        if not chosen:
            raise UsageError("No privacy model was given; ask for one, as in k(5).", topic="no-privacy-model")
        models = tuple(PRIVACY.make(model).resolve(list(table.sensitive)) for model in chosen)
        schemes = tuple(scheme_of_each(table.names, scheme).values())
        resolved = COSTS.make(cost).resolve(table, models)
        resolved.check(table, schemes)
        if resolved.needs_hierarchy:
            for attribute, choice in zip(table.attributes, schemes, strict=True):
                if choice.name != "full-domain":
                    raise UnsupportedCombinationError(
                        f"The cost {resolved.name}",
                        f"the scheme {choice.name} of '{attribute.name}'",
                        "it is only defined for full-domain levels",
                    )
        kind = SUPPRESSION.make(suppression)
        kind.check(models)
        _check_of_table(models, kind, schemes)
        _check_population(models, kind, schemes)
        _check_parts(table, resolved, kind, models)
        lowest, highest = _level_limits(table, min_levels or {}, max_levels or {})
        if not all(choice.is_global for choice in schemes):
            _check_local(resolved, [*(min_levels or ()), *(max_levels or ())])
        for model in models:
            if kind.hides_values and model.looks_at_sensitive:
                model.fits(table)
            else:
                model.check(table)
        isolated = kind.before(table)
        if isolated is not None:
            _check_before(kind, resolved, schemes)
        if isolated is None or not isolated.any():
            return cls(table, models, resolved, kind, schemes, lowest, highest, table)
        kept = np.flatnonzero(~isolated)
        if not kept.size:
            raise InfeasibleError(f"The suppression {kind.text} leaves no record; choose a smaller k or higher levels.")
        return cls(table.some(kept), models, resolved, kind, schemes, lowest, highest, table, kept)

    @cached_property
    def limit(self) -> int:
        """The most records that may be suppressed."""
        return self.suppression.budget(self.table.n)

    @cached_property
    def divided(self) -> str | None:
        """The sensitive attribute by whose values classes may lose a part; None if they are published as a whole."""
        return self.suppression.divided(self.privacy)

    @cached_property
    def smallest_class(self) -> int:
        """No class with fewer rows than this can be ok."""
        return max(model.smallest(self.whole) for model in self.privacy)

    @property
    def looks_at_population(self) -> bool:
        """Whether a model asks how many people of the population are in a class."""
        return any(model.looks_at_population for model in self.privacy)

    @property
    def union_closed(self) -> bool:
        """Whether the union of two ok classes is always ok."""
        return all(model.union_closed for model in self.privacy)

    @property
    def superset_closed(self) -> bool:
        """Whether an ok class always stays ok when rows are added."""
        return all(model.superset_closed for model in self.privacy)

    def ok(self, classes: Classes) -> NDArray[np.bool_]:
        """Return for each class whether it satisfies all models."""
        mask = np.ones(len(classes), dtype=np.bool_)
        for model in self.privacy:
            mask &= model.ok(classes)
        return mask

    def holds(self, sizes: IntArray) -> bool:
        """Return whether a released table with classes of these sizes keeps the conditions on the whole table."""
        return all(model.holds(sizes) for model in self.privacy if model.of_table)

    def fewest_removed(self, classes: Classes) -> NDArray[np.int64]:
        """Return a lower bound on the rows of each class that no union of ok parts of it can hold."""
        removed = np.zeros(len(classes), dtype=np.int64)
        for model in self.privacy:
            np.maximum(removed, model.fewest_removed(classes), out=removed)
        too_small = classes.sizes - removed < self.smallest_class
        return np.where(too_small, classes.sizes, removed).astype(np.int64)


def _check_of_table(models: Sequence[PrivacyModel], kind: Suppression, schemes: Sequence[Scheme]) -> None:
    """Refuse a condition on the whole table where it is not looked at, or where parts of classes go."""
    model = next((model for model in models if model.of_table), None)
    if model is None:
        return
    for scheme in schemes:
        if scheme.name != "full-domain":
            raise UnsupportedCombinationError(
                f"The privacy model {model.name}", f"the scheme {scheme.name}", "choose full-domain"
            )
    if not kind.whole_classes or kind.hides_values:
        raise UnsupportedCombinationError(
            f"The privacy model {model.name}", f"the suppression {kind.name}", "choose none, a budget or class-records"
        )


def _check_population(models: Sequence[PrivacyModel], kind: Suppression, schemes: Sequence[Scheme]) -> None:
    """Refuse to count people where the same released values, or whole classes, are not what is published."""
    model = next((model for model in models if model.looks_at_population), None)
    if model is None:
        return
    if not all(scheme.is_global for scheme in schemes):
        raise UnsupportedCombinationError(
            f"The privacy model {model.shown}", "the scheme local", "choose full-domain, or subtree by annealing"
        )
    if not kind.whole_classes or kind.hides_values:
        raise UnsupportedCombinationError(
            f"The privacy model {model.shown}", f"the suppression {kind.name}", "choose none, a budget or class-records"
        )


def _check_before(kind: Suppression, cost: Cost, schemes: Sequence[Scheme]) -> None:
    """Refuse what is not defined where records go before the search."""
    if not cost.counts_values:
        raise UnsupportedCombinationError(
            f"The suppression {kind.name}", f"the cost {cost.name}", "choose the cost score, or the suppression budget"
        )
    for scheme in schemes:
        if scheme.name not in ("full-domain", "local"):
            raise UnsupportedCombinationError(
                f"The suppression {kind.name}", f"the scheme {scheme.name}", "choose full-domain or local"
            )


def _check_local(cost: Cost, limited: Sequence[str]) -> None:
    """Refuse what is not defined where each class shows its values in its own way, be it without effect."""
    if not cost.local or not (cost.counts_values or type(cost) in (Certainty, Loss)):
        raise UnsupportedCombinationError(
            f"The cost {cost.name}", "the scheme local", "choose NCP or LM, which say what each value loses"
        )
    if limited and not cost.counts_values:
        raise UnsupportedCombinationError(
            f"A limit on the levels of '{limited[0]}'",
            "the scheme local",
            "leave the limit out or choose the scheme subtree",
        )


def _check_parts(table: CountTable, cost: Cost, kind: Suppression, models: Sequence[PrivacyModel]) -> None:
    """Refuse a cost that does not say what a class costs that loses a part."""
    attribute = kind.divided(models)
    if attribute is None:
        return
    reason = None
    if kind.hides_values:
        if cost.value_penalty(table) is None:
            reason = "it does not say what a value made unknown costs; choose LM or the suppression class-records"
    elif not cost.divisible:
        reason = "it depends on which rows of a class go; choose LM, DM or CM, or the suppression class-records"
    if reason is not None:
        raise UnsupportedCombinationError(f"The cost {cost.name}", f"the suppression {kind.name}", reason)
    if not kind.hides_values and "joint" in cost.needs and attribute not in table.joint:
        raise UsageError(
            f"The cost {cost.name} with the suppression {kind.name} needs to know how often each value of "
            f"'{attribute}' occurs with each class label; count them together or choose class-records.",
            column=attribute,
        )


def _level_limits(table: CountTable, lowest: Levels, highest: Levels) -> tuple[tuple[int, ...], tuple[int, ...]]:
    levels_by_column(lowest)
    for column in {**lowest, **highest}:
        if column not in table.names:
            raise UsageError(
                f"A level limit is given for '{column}', which is not a quasi-identifier.",
                column=column,
                topic="not-a-quasi-identifier",
            )
    bottom, top = [], []
    for attribute in table.attributes:
        low = lowest.get(attribute.name, 0)
        high = highest.get(attribute.name, attribute.height)
        if isinstance(low, bool) or isinstance(high, bool) or not isinstance(low, int) or not isinstance(high, int):
            raise UsageError(
                f"A level of '{attribute.name}' must be a whole number.", column=attribute.name, topic="level-limits"
            )
        if not 0 <= low <= high <= attribute.height:
            raise UsageError(
                f"The levels {low} to {high} asked for '{attribute.name}' do not fit; "
                f"its hierarchy has levels 0 to {attribute.height}.",
                column=attribute.name,
                topic="level-limits",
            )
        bottom.append(low)
        top.append(high)
    return tuple(bottom), tuple(top)
