"""``attacks``: what an attacker who knows people's quasi-identifiers learns from a release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from discreet.engines import MissingSensitive, open_source
from discreet.evaluate.attacks._base import ATTACKS, Attack, AttackResult, NotModelled
from discreet.evaluate.attacks._people import attack_people, unit_of
from discreet.evaluate.attacks._report import AttackReport
from discreet.evaluate.attacks._target import AttackTarget
from discreet.evaluate.attacks.homogeneity import homogeneity
from discreet.evaluate.attacks.linkage import link
from discreet.evaluate.attacks.minimality import Minimality, try_minimality
from discreet.evaluate.candidates import find_candidates
from discreet.evaluate.classes import CountedClasses, read_classes
from discreet.evaluate.inputs import EvaluationInput, Hiding, join_given, marks_assumed
from discreet.evaluate.released_as import with_mapping
from discreet.evaluate.sensitive import SensitiveColumn, match_values, sensitive_groups
from discreet.problem import PrivacyModel, Suppression
from discreet.problem.hidden_values import HidingClasses
from discreet.runtime.plurals import units

__all__ = ["attacks"]

_BY_ROW = (
    "It is not known whose the released rows are, so that attacks are tried on rows, of which a person may have "
    "several: each is attacked by itself, and only the row itself counts as found. Attack the release itself, or one "
    "with pseudonyms, to aim at people."
)
_BY_PERSON = (
    "Everybody is attacked once, by what is known of one of their rows, which is drawn at random. Who is found is a "
    "{}, among all {} who may have the released rows."
)


def attacks(
    original: Any,
    released: Any,
    *,
    quasi_identifiers: str | Sequence[str] | Mapping[str, Any] | None = None,
    mapping: Any = None,
    sensitive: str | Sequence[str] | Mapping[str, Any] | None = None,
    privacy: str | PrivacyModel | Sequence[str | PrivacyModel] | None = None,
    types: Mapping[str, Any] | None = None,
    unknown: str | None = None,
    suppression: str | Suppression | None = None,
    missing_sensitive: MissingSensitive | None = None,
    control: Any = None,
    population: Any = None,
    earlier: Any = (),
    person: str | None = None,
    only: str | Attack | Sequence[str | Attack] | None = None,
    seed: int = 0,
) -> AttackReport:
    """Run the attacks that a release must withstand; the original table is both their knowledge and the truth.

    Every attack has a success, the success of a naive guess, a 95 % confidence interval and, where that makes sense,
    the success for a control group of people who are not in the release. An attack that cannot be run has the reason
    instead. ``discreet parts attacks`` lists all.

    Parameters
    ----------
    original, released
        Both tables: paths or frames; ``released`` may be a :class:`discreet.Release`, which knows all that follows. Or
        several tables each that are linked by ``person``, as in ``{"people": people, "visits": visits}``.
    quasi_identifiers
        The columns the attackers know, as a list or as a mapping to the hierarchies of the release.
    mapping
        The mapping of the release, which defines the released values; an alternative to hierarchies.
    sensitive
        The columns the attackers want to learn.
    privacy
        What the release promises, for the minimality attack and for what suppressed values can be.
    types
        The types of columns of the original table that would be inferred wrongly.
    unknown
        What marks a suppressed sensitive value, by default ``"*"`` where a sensitive column has it. With ``""`` nothing
        does.
    suppression
        How rows or values were suppressed, as in ``"violating-values"``.
    missing_sensitive
        Whether a missing sensitive value is ``unknown`` or a ``value`` of its own; by default as in the release, else
        ``unknown``.
    control
        People who are not in the release, with the columns of the original table: what an attack achieves for them is
        not due to the release holding their rows.
    population
        The people the original table was drawn from, with its quasi-identifiers, for ``membership``.
    earlier
        Other releases of the same or overlapping people, for ``composition``: one, or a list.
    person
        The column that says whose row it is, if people may have several; a release knows its own. Everybody is then
        attacked once, by what is known of one of their rows, and success is finding the person. For that it must be
        known whose the released rows are: from a release, from pseudonyms, or from the classes where each original row
        has one. Otherwise attacks are tried on rows, which the report then says.
    only
        The attacks to run, by name; by default all that come with discreet.
    seed
        The same seed draws the same numbers.

    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [21, 24, 27, 52], "ill": ["flu", "flu", "cold", "hiv"]})
    >>> shown = people.with_columns(age=pl.Series(["[21, 24]", "[21, 24]", "[27, 52]", "[27, 52]"]))
    >>> report = attacks(people, shown, quasi_identifiers=["age"], sensitive=["ill"])
    >>> report.linkage.success, report.linkage.values, report.homogeneity["ill"].certain
    (0.5, {'ill': 0.75}, 0.5)
    >>> report["refinement"].success, report["refinement"].naive
    (0.5, 0.5)

    """
    chosen = _chosen(only)
    tables = (original, released, control)
    (original, released, control), quasi_identifiers = join_given(tables, quasi_identifiers, person)
    quasi = _known_values(released) if quasi_identifiers is None and mapping is None else quasi_identifiers
    given = EvaluationInput.make(released, with_mapping(quasi, mapping), sensitive, types)
    whose = unit_of(given.job, person, original)
    people = None if whose is None else attack_people(original, released, given, whose, seed)
    if people is None:
        before = read_classes(open_source(original), given.names, given.secrets)
        after = read_classes(open_source(given.table), given.names, given.secrets)
    else:
        before, after = people.before, people.after
    hiding = given.hiding(privacy, suppression)
    columns = given.sensitive_columns(after, unknown, missing_sensitive, hiding)
    target = AttackTarget(
        original=original,
        released=released,
        given=given,
        before=before,
        after=after,
        candidates=find_candidates(before, after, given.hierarchies, given.types)
        if people is None
        else people.candidates,
        columns=columns,
        values={name: match_values(before, after, column) for name, column in columns.items()},
        hiding=hiding,
        seed=seed,
        control_table=control,
        population_table=population,
        earlier=tuple(earlier) if isinstance(earlier, list | tuple) else (earlier,),
        people=people,
        whose=None if whose is None else whose[0],
    )
    found, notes = _minimality(target)
    about = [_BY_ROW] if people is None else [_BY_PERSON.format(people.unit, units(people.unit))]
    values = list(target.values.values())
    return AttackReport(
        linkage=link(before, after, target.candidates, values, seed),
        homogeneity={
            matched.column: homogeneity(
                after, matched, _hiding_classes(after, columns[matched.column], original, hiding)
            )
            for matched in values
        },
        minimality=found,
        notes=(
            *notes,
            *([] if unknown is not None else marks_assumed(after, columns, hiding)),
            *([] if whose is None else about),
        ),
        unit=people.unit if people is not None else "person" if whose is None else "row",
        counted="row" if people is None else people.unit,
        results={attack.name: _run(attack, target) for attack in chosen},
        attackers=_attackers(target),
    )


def _chosen(only: str | Attack | Sequence[str | Attack] | None) -> list[Attack]:
    """Return the attacks to run, in the order of lists."""
    if only is None:
        return [member() for member in ATTACKS.members().values()]
    return [ATTACKS.make(each) for each in ([only] if isinstance(only, str | Attack) else only)]


def _run(attack: Attack, target: AttackTarget) -> tuple[AttackResult, ...]:
    """Run an attack; if it cannot be run, the only result says why."""
    try:
        return tuple(attack.run(target))
    except NotModelled as reason:
        return (attack.not_run(str(reason)),)


def _attackers(target: AttackTarget) -> dict[str, float | None]:
    """Return the risk that the row of a person is picked, by attacker."""
    sizes, journalist = target.after.sizes, None
    if target.population is not None:
        people = np.zeros(sizes.size)
        for some, index, released in target.population.candidates.found():
            people += np.bincount(released, target.population.classes.sizes[some[index]], minlength=sizes.size)
        journalist = float(1 / np.maximum(people, sizes).min())
    return {
        "prosecutor": float(1 / sizes.min()),
        "journalist": journalist,
        "marketer": float((target.after.weights / sizes).sum() / target.after.total),
    }


def _known_values(released: Any) -> Any:
    """Return what the released values of a release cover, if it still knows; None otherwise."""
    known = getattr(released, "original", None) if getattr(released, "job", None) else None
    return None if known is None else dict(known.released_as)


def _minimality(target: AttackTarget) -> tuple[dict[str, tuple[Minimality, ...]], list[str]]:
    """Return the figures of the minimality attack for each sensitive column, and why others have none."""
    found, notes = {}, []
    for name in target.columns:
        try:
            found[name] = tuple(try_minimality(target, name))
        except NotModelled as reason:
            notes.append(f"Minimality was not tried on '{name}': {reason}.")
    return found, notes


def _hiding_classes(
    released: CountedClasses, column: SensitiveColumn, original: Any, hiding: Hiding
) -> HidingClasses | None:
    """Return the released classes that hide values; None if none can."""
    if column.unknown is None:
        return None
    return hiding.classes(sensitive_groups(released, column, original), column.name)
