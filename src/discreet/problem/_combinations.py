"""Whether parts fit each other and the table; an error names the two parts and a way out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from discreet.counts import CountTable
from discreet.errors import UnsupportedCombinationError, UsageError
from discreet.problem.costs import Cost
from discreet.problem.privacy import PrivacyModel
from discreet.problem.privacy.k_anonymity import KAnonymity
from discreet.problem.schemes import Scheme
from discreet.problem.schemes.local import Local
from discreet.problem.suppression import Suppression
from discreet.runtime.arguments import levels_by_column

__all__ = ["check_combination", "check_suppressed_before", "level_limits"]

Levels = Mapping[str, int]


def check_combination(
    table: CountTable,
    models: Sequence[PrivacyModel],
    cost: Cost,
    kind: Suppression,
    schemes: Sequence[Scheme],
    limited: Sequence[str],
) -> None:
    """Raise an error if parts do not fit each other; ``limited`` are columns whose levels are limited."""
    cost.check(table, schemes)
    _check_hierarchy(table, cost, schemes)
    kind.check(models)
    _check_people(table, models, cost, kind, schemes)
    _check_models(models, kind, schemes)
    _check_matches(table, models, cost, kind, schemes, limited)
    _check_key_sets(table, models, kind)
    _check_partial(table, cost, kind, models, schemes)
    local = next((scheme for scheme in schemes if not scheme.is_global), None)
    if local is not None:
        _check_local(table, cost, limited, local)


def _check_people(
    table: CountTable, models: Sequence[PrivacyModel], cost: Cost, kind: Suppression, schemes: Sequence[Scheme]
) -> None:
    """Refuse what is not defined, or not known, if promises count people."""
    people = table.people
    if people is None:
        return
    if not kind.whole_classes or kind.hides_values or not (kind.is_budget or kind.name in ("none", "class-records")):
        raise UnsupportedCombinationError(
            f"The suppression {kind.name}",
            "promises that count people",
            f"{_why_no_people(kind)}; choose none, a budget or class-records",
        )
    _check_local_people(kind, schemes)
    profile = next((model for model in models if isinstance(model, KAnonymity) and model.profile), None)
    if profile is not None and kind.name != "none" and not kind.of_people:
        raise UnsupportedCombinationError(
            f"The privacy model {profile.text}",
            f"the suppression {kind.text}",
            "leaving out some rows of a person changes the profile; choose none or a budget of people as in budget(5%)",
        )
    other = next((scheme.name for scheme in schemes if scheme.name not in ("full-domain", "subtree")), None)
    if profile is not None and other is not None:
        raise UnsupportedCombinationError(
            f"The privacy model {profile.text}", f"the scheme {other}", "choose full-domain or subtree"
        )
    if "labels" in cost.needs and kind.of_people and (profile is not None or not people.constant):
        raise UnsupportedCombinationError(
            f"The cost {cost.name}",
            "a budget of people",
            "the class labels of the rows of each person are not counted; choose another cost, class-records, or a "
            "budget of rows as in budget(5%, of=rows)",
        )
    drawn = next((model for model in models if model.sampling < 1), None)
    if drawn is not None:
        raise UnsupportedCombinationError(
            f"The privacy model {drawn.shown}",
            "promises that count people",
            "rows are drawn one by one, so that it holds for each row and not for all rows of a person; choose k",
        )
    for model in models:
        if model.looks_at_population and (not people.constant or (table.population and table.population.estimated)):
            raise UnsupportedCombinationError(
                f"The privacy model {model.shown}",
                "people with several rows",
                "it is not known how many people of the population have all of them; choose k",
            )


def _why_no_people(kind: Suppression) -> str:
    """Return why a suppression kind does not go with people who may have several rows."""
    if kind.hides_values:
        return "a value that is hidden in one row of a person may be shown in another"
    if not kind.whole_classes:
        return "which rows are the fewest is not known where people have several rows and values"
    return "it counts rows, and a person may have several"


def _check_local_people(kind: Suppression, schemes: Sequence[Scheme]) -> None:
    """Refuse a budget of people if their rows may be in several groups, and of rows if they are in one."""
    local = next((scheme for scheme in schemes if isinstance(scheme, Local)), None)
    if local is None or not kind.is_budget:
        return
    if local.parts_people and kind.of_people:
        raise UnsupportedCombinationError(
            f"The suppression {kind.text}",
            "local recoding that puts the rows of a person into several groups",
            f"choose a budget of rows as in {kind.text.removesuffix(')')}, of=rows)",
        )
    if not local.parts_people and not kind.of_people:
        raise UnsupportedCombinationError(
            f"The suppression {kind.text}",
            "local recoding that keeps all rows of a person together",
            "choose a budget of people as in budget(5%), or local(people=apart)",
        )


def _check_hierarchy(table: CountTable, cost: Cost, schemes: Sequence[Scheme]) -> None:
    """Refuse a cost of levels under schemes that have none."""
    if not cost.needs_hierarchy:
        return
    for attribute, scheme in zip(table.attributes, schemes, strict=True):
        if scheme.name not in ("full-domain", "subtree") and scheme.is_global:
            raise UnsupportedCombinationError(
                f"The cost {cost.name}",
                f"the scheme {scheme.name} of '{attribute.name}'",
                "its blocks are no nodes of a hierarchy and have no level; choose full-domain or subtree",
            )


def _check_models(models: Sequence[PrivacyModel], kind: Suppression, schemes: Sequence[Scheme]) -> None:
    """Refuse models of the whole table or of the population where these are not known."""
    for model in models:
        if not (model.of_table or model.looks_at_population):
            continue
        name = model.name if model.of_table else model.shown
        scheme = next((scheme.name for scheme in schemes if not scheme.is_global), None)
        if model.of_table:
            reason = (
                "it depends on all classes together, and local searches decide group by group; choose a global scheme, "
                "such as subtree"
            )
        else:
            reason = (
                "what groups show may overlap, so that nobody of the population belongs to one group alone; choose "
                "full-domain, or subtree by annealing"
            )
        if scheme is not None:
            raise UnsupportedCombinationError(f"The privacy model {name}", f"the scheme {scheme}", reason)
        if not kind.whole_classes or kind.hides_values:
            raise UnsupportedCombinationError(
                f"The privacy model {name}",
                f"the suppression {kind.name}",
                "it counts rows or people, which suppressing values does not change; choose none, a budget or "
                "class-records",
            )


def _check_matches(
    table: CountTable,
    models: Sequence[PrivacyModel],
    cost: Cost,
    kind: Suppression,
    schemes: Sequence[Scheme],
    limited: Sequence[str],
) -> None:
    """Refuse what is not defined, or not searched, where a hidden cell is equal to every value."""
    model = next((model for model in models if model.counts_matches), None)
    most = {scheme.most_hidden for scheme in schemes}
    if model is None:
        if most != {None}:
            raise UnsupportedCombinationError(
                "A limit on the hidden cells of a row",
                f"the privacy model {models[0].shown}",
                "classes hide what their rows differ in; leave most out, or choose unknown=matches",
            )
        return
    scheme = next((scheme for scheme in schemes if not scheme.flat), None)
    other = next((other for other in models if not other.counts_matches), None)
    misfits = [
        (any(each.missing_matches for each in models), "a search", "it is for audits; choose unknown=matches"),
        (
            scheme is not None,
            f"the scheme {'' if scheme is None else scheme.name}",
            "it is about rows with hidden cells; choose the scheme cells",
        ),
        (
            other is not None,
            f"the privacy model {'' if other is None else other.shown}",
            "rows that match form no classes for it to look at; leave one of the two out, or unknown=matches",
        ),
        (cost.name != "LM", f"the cost {cost.name}", "only hidden cells are counted; choose LM"),
        (kind.hides_values, f"the suppression {kind.name}", "no sensitive value need be hidden; choose none"),
        (len(most) > 1, "different limits on the hidden cells of a row", "choose one limit for all columns"),
        (
            most != {None} and kind.name != "none",
            f"the suppression {kind.name} and a limit on the hidden cells of a row",
            "records are not left out then; choose none, or leave most out of the scheme cells",
        ),
        (bool(limited), "limits on levels", "give a column that matters a large weight in LM instead"),
        (table.people is not None, "promises that count people", "leave person and household out"),
    ]
    for misfit, what, way_out in misfits:
        if misfit:
            raise UnsupportedCombinationError(f"The privacy model {model.shown}", what, way_out)


def _check_key_sets(table: CountTable, models: Sequence[PrivacyModel], kind: Suppression) -> None:
    """Refuse key sets where only some rows of a class go."""
    keyed = next((model for model in models if model.key_sets(table.names)), None)
    if keyed is None:
        return
    if kind.divided(models) is not None and not kind.hides_values:
        raise UnsupportedCombinationError(
            f"The suppression {kind.name}",
            f"the key sets of {keyed.shown}",
            "which rows of a class go would decide about other classes too; choose class-records or a budget",
        )


def check_suppressed_before(kind: Suppression, cost: Cost, schemes: Sequence[Scheme]) -> None:
    """Refuse costs and schemes that are not defined if records are suppressed before the search."""
    if not cost.counts_values:
        raise UnsupportedCombinationError(
            f"The suppression {kind.name}",
            f"the cost {cost.name}",
            "only a score, which counts released values, is defined if records are suppressed before the search; "
            "choose the cost score, or the suppression budget",
        )
    for scheme in schemes:
        if scheme.name not in ("full-domain", "local"):
            raise UnsupportedCombinationError(
                f"The suppression {kind.name}",
                f"the scheme {scheme.name}",
                "it belongs to a mechanism that recodes by levels; choose full-domain or local",
            )


def _check_local(table: CountTable, cost: Cost, limited: Sequence[str], scheme: Scheme) -> None:
    """Refuse costs and limits that local recoding does not define, even if they had no effect."""
    _check_local_cost(table, cost, limited, scheme.name)
    if limited and scheme.shows != "cover":
        raise UnsupportedCombinationError(
            f"A limit on the levels of '{limited[0]}'",
            f"the scheme {scheme.text}",
            "a single value has no level; leave the limit out, or show ranges and nodes",
        )


def _check_local_cost(table: CountTable, cost: Cost, limited: Sequence[str], scheme: str) -> None:
    """Refuse costs and limits on levels that groups do not define."""
    if not cost.local:
        raise UnsupportedCombinationError(
            f"The cost {cost.name}", f"the scheme {scheme}", "choose NCP or LM, which say what each value loses"
        )
    for attribute in table.attributes:
        rooted = attribute.tree and attribute.block_leaves[-1].size == 1
        if cost.needs_hierarchy and not rooted:
            raise UnsupportedCombinationError(
                f"The cost {cost.name}",
                f"the scheme {scheme} for '{attribute.name}'",
                "a range or set has no level; give the column a hierarchy with a root, or choose LM",
            )
        if attribute.name in limited and not attribute.tree and not cost.counts_values:
            raise UnsupportedCombinationError(
                f"A limit on the levels of '{attribute.name}'",
                f"the scheme {scheme}",
                "give the column a hierarchy, leave the limit out or choose the scheme subtree",
            )
    if "labels" in cost.needs and table.labels is not None and (np.diff(table.labels.offsets) > 1).any():
        raise UsageError(
            f"The cost {cost.name} under the scheme {scheme} needs to know the class label of each tuple; count rows "
            "of different labels as different tuples."
        )


def _check_partial(
    table: CountTable, cost: Cost, kind: Suppression, models: Sequence[PrivacyModel], schemes: Sequence[Scheme]
) -> None:
    """Refuse a cost that does not define what a partly suppressed class costs."""
    attribute = kind.divided(models)
    if attribute is None:
        return
    if not kind.hides_values and not any(scheme.is_global for scheme in schemes):
        return  # groups are made of the rows that stay
    reason = None
    if kind.hides_values:
        if cost.value_penalty(table) is None:
            reason = "it does not say what a suppressed value costs; choose LM, DM, HDM, CM or NCP, or class-records"
    elif not cost.divisible:
        reason = "it depends on which rows of a class are suppressed; choose another cost or class-records"
    if reason is not None:
        raise UnsupportedCombinationError(f"The cost {cost.name}", f"the suppression {kind.name}", reason)
    if not kind.hides_values and "joint" in cost.needs and attribute not in table.joint:
        raise UsageError(
            f"The cost {cost.name} with the suppression {kind.name} needs to know how often each value of "
            f"'{attribute}' occurs with each class label; count them together or choose class-records.",
            column=attribute,
        )


def level_limits(table: CountTable, lowest: Levels, highest: Levels) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the lowest and the highest level of each attribute; raise a UsageError if its hierarchy lacks them."""
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
                f"The levels {low} to {high} of '{attribute.name}' do not fit; "
                f"its hierarchy has levels 0 to {attribute.height}.",
                column=attribute.name,
                topic="level-limits",
            )
        bottom.append(low)
        top.append(high)
    return tuple(bottom), tuple(top)
