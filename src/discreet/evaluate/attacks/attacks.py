"""``attacks``: what an attacker who knows people's quasi-identifiers learns from a release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from discreet.engines import MissingSensitive, open_source
from discreet.evaluate.attacks.homogeneity import homogeneity
from discreet.evaluate.attacks.linkage import link
from discreet.evaluate.attacks.minimality import Minimality, NotModelled, minimality
from discreet.evaluate.attacks.report import AttackReport
from discreet.evaluate.candidates import find_candidates
from discreet.evaluate.classes import CountedClasses, read_classes
from discreet.evaluate.inputs import EvaluationInput, Hiding, marks_assumed
from discreet.evaluate.released_as import with_mapping
from discreet.evaluate.sensitive import SensitiveColumn, match_values, sensitive_groups
from discreet.problem import PrivacyModel, Suppression
from discreet.problem.hidden_values import HidingClasses

__all__ = ["attacks"]


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
    seed: int = 0,
) -> AttackReport:
    """Run the attacks that a release must withstand; the original table is both their knowledge and the truth.

    - *Linkage*: for each person of the original table, find the released rows whose values cover those of the person.
      Guess that one of these rows, drawn at random, is theirs, and that the most frequent sensitive value among them is
      their value. The naive guesses are any row, and the most frequent value of the whole release.
    - *Homogeneity*: how sure of a sensitive value the classes make somebody, from the release alone. Of a suppressed
      value, the attacker guesses one that the class does not show.
    - *Minimality*: whether knowing that the algorithm would have released less coarse values if it could have reveals
      more than the release itself (Wong et al. 2007). It is run for global recoding by hierarchy levels without
      suppression, with the privacy models of the release; the source of ``minimality`` explains the model.

    Parameters
    ----------
    original, released
        Both tables: paths or frames; ``released`` may be a :class:`discreet.Release`, which knows all that follows.
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
    seed
        The same seed draws the same numbers.

    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [21, 24, 27, 52], "ill": ["flu", "flu", "cold", "hiv"]})
    >>> shown = people.with_columns(age=pl.Series(["[21, 24]", "[21, 24]", "[27, 52]", "[27, 52]"]))
    >>> report = attacks(people, shown, quasi_identifiers=["age"], sensitive=["ill"])
    >>> report.linkage.success, report.linkage.values, report.homogeneity["ill"].certain
    (0.5, {'ill': 0.75}, 0.5)

    """
    given = EvaluationInput.make(released, with_mapping(quasi_identifiers, mapping), sensitive, types)
    before = read_classes(open_source(original), given.names, given.secrets)
    after = read_classes(open_source(given.table), given.names, given.secrets)
    candidates = find_candidates(before, after, given.hierarchies, given.types)
    hiding = given.hiding(privacy, suppression)
    models = hiding.models
    columns = given.sensitive_columns(after, unknown, missing_sensitive, hiding)
    values = [match_values(before, after, column) for column in columns.values()]
    found: dict[str, tuple[Minimality, ...]] = {}
    notes = []
    for name, column in columns.items():
        if not any(model.looks_at_sensitive for model in models):
            notes.append(f"Minimality was not tried on '{name}': no promise about it was named.")
            continue
        try:
            if hiding.suppression is not None and hiding.suppression.name != "none":
                raise NotModelled("rows or values may be suppressed, which the modelled attacker cannot use")
            if not column.missing_is_value and before.texts(name).null_count():
                raise NotModelled("some sensitive values are missing, which the modelled attacker cannot use")
            found[name] = tuple(minimality(before, after, candidates, column, models, seed))
        except NotModelled as reason:
            notes.append(f"Minimality was not tried on '{name}': {reason}.")
    return AttackReport(
        linkage=link(before, after, candidates, values, seed),
        homogeneity={
            matched.column: homogeneity(
                after, matched, _hiding_classes(after, columns[matched.column], original, hiding)
            )
            for matched in values
        },
        minimality=found,
        notes=(*notes, *([] if unknown is not None else marks_assumed(after, columns, hiding))),
    )


def _hiding_classes(
    released: CountedClasses, column: SensitiveColumn, original: Any, hiding: Hiding
) -> HidingClasses | None:
    """Return the released classes that hide values; None if none can."""
    if column.unknown is None:
        return None
    return hiding.classes(sensitive_groups(released, column, original), column.name)
