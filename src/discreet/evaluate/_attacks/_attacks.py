"""``attacks``: what an attacker who knows the people gets out of a release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from discreet.engines import MissingSensitive, open_source
from discreet.evaluate._asked import Asked
from discreet.evaluate._attacks._homogeneity import homogeneity
from discreet.evaluate._attacks._linkage import link
from discreet.evaluate._attacks._minimality import Minimality, NotModelled, minimality
from discreet.evaluate._attacks._report import AttackReport
from discreet.evaluate._attacks._secrets import match_secrets
from discreet.evaluate._cells import read_cells
from discreet.evaluate._covering import find_candidates
from discreet.evaluate._released_as import with_mapping
from discreet.problem import PRIVACY, PrivacyModel

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
    missing_sensitive: MissingSensitive | None = None,
    seed: int = 0,
) -> AttackReport:
    """Run the attacks a release must withstand, with the original table as what the attackers know and the truth.

    - *Linkage*: for each person of the original table, the released rows all of whose cells cover the person's values
      are found. One of these rows is taken at random for theirs, and the most frequent sensitive value among them for
      their value. The naive guess is any row, and the most frequent value of the whole release.
    - *Homogeneity*: from the release alone, how sure the classes make somebody of a sensitive value.
    - *Minimality*: whether knowing that the algorithm would have released less coarse values if it could have tells
    more
      than the release itself (Wong et al. 2007). It is run for global recoding by levels of hierarchies without
      suppression, with the privacy models of the release; what exactly is modelled, the source of ``minimality`` tells.

    Parameters
    ----------
    original, released
        Both tables: paths or frames; for ``released`` also a :class:`discreet.Release`, which knows all that follows.
    quasi_identifiers
        The columns the attackers know, as a list or as a mapping to the hierarchies of the release.
    mapping
        The mapping of the release, which says what released values stand for instead.
    sensitive
        The columns they want to learn.
    privacy
        What the release promises, for the minimality attack.
    types
        The types of columns of the original table that are not what they look like.
    unknown
        What stands for a suppressed sensitive value, as in ``"*"``.
    missing_sensitive
        Whether a missing sensitive value is ``unknown`` or one more ``value``; as the release was asked for if it knows
        that, else ``unknown``.
    seed
        The same seed draws the same numbers.

    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [21, 24, 27, 52], "ill": ["flu", "flu", "cold", "hiv"]})
    >>> shown = people.with_columns(age=pl.Series(["[21, 24]", "[21, 24]", "[27, 52]", "[27, 52]"]))
    >>> report = attacks(people, shown, quasi_identifiers=["age"], sensitive=["ill"])
    >>> report.linkage.success, report.linkage.values, report.homogeneity["ill"].certain
    (0.5, {'ill': 0.75}, 0.5)

    """
    asked = Asked.make(released, with_mapping(quasi_identifiers, mapping), sensitive, types)
    before = read_cells(open_source(original), asked.names, asked.secrets)
    after = read_cells(open_source(asked.table), asked.names, asked.secrets)
    candidates = find_candidates(before, after, asked.hierarchies, asked.types)
    missing = asked.missing_sensitive(missing_sensitive)
    secrets = [match_secrets(before, after, column, unknown, missing) for column in asked.secrets]
    promises = asked.job.get("privacy", ()) if privacy is None else privacy
    chosen = [promises] if isinstance(promises, str | PrivacyModel) else list(promises)
    models = [PRIVACY.make(model).resolve(asked.secrets) for model in chosen]
    learnt: dict[str, tuple[Minimality, ...]] = {}
    notes = []
    for column, tree in asked.sensitive.items():
        if not any(model.looks_at_sensitive for model in models):
            notes.append(f"Minimality was not tried on '{column}': no promise about it was named.")
            continue
        try:
            if asked.job.get("suppression", "none") != "none":
                raise NotModelled("rows or values may be suppressed, which the modelled attacker cannot use")
            if missing == "unknown" and before.texts(column).null_count():
                raise NotModelled("some sensitive values are missing, which the modelled attacker cannot use")
            found = minimality(before, after, candidates, column, models, tree, asked.types, seed)
            learnt[column] = tuple(found)
        except NotModelled as reason:
            notes.append(f"Minimality was not tried on '{column}': {reason}.")
    return AttackReport(
        linkage=link(before, after, candidates, secrets, seed),
        homogeneity={secret.column: homogeneity(after, secret) for secret in secrets},
        minimality=learnt,
        notes=tuple(notes),
    )
