"""Key sets in reports: the k that each of them reached, and the combinations that are not protected."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.errors import UsageError
from discreet.problem import PRIVACY, PrivacyModel
from discreet.problem.key_sets import about_key_sets
from discreet.report.numbers import LEAST_ROWS, number_text, rounded_percent
from discreet.runtime.plurals import amount, listed, units

if TYPE_CHECKING:
    from discreet.pipeline.audit import Audit
    from discreet.pipeline.release import Release

__all__ = ["KEY_SET_HEAD", "key_set_rows", "unprotected"]

KEY_SET_HEAD = ("known together", "classes", "smallest", "promised")
_MOST = 20
"""Key sets shown, those with the smallest classes first."""


def unprotected(release: Release) -> str | None:
    """Return which combinations are protected and which are not, if only key sets are promised; None otherwise."""
    audit = release.audit
    total, who = audit.sizes.rows, units(audit.unit)
    share = audit.sizes.unique / max(total, 1)
    alone = f"{rounded_percent(share, total)} of the {who}" if total >= LEAST_ROWS else f"part of the {who}"
    return about_key_sets(_promised(release), audit.quasi_identifiers, audit.smallest_class, alone, audit.unit)


def _promised(release: Release) -> list[PrivacyModel]:
    """Return the promises of a release, as far as they have a text form."""
    found = []
    for text in release.job["privacy"]:
        try:
            found.append(PRIVACY.make(text).resolve(list(release.job.get("sensitive") or ())))
        except UsageError:  # a model that was passed as an object, or whose values are only counted
            continue
    return found


def key_set_rows(audit: Audit) -> tuple[list[list[str]], str]:
    """Return a row for each key set, those with the smallest classes first, and how many are not shown."""
    measured = [(each, check.promised) for check in audit.checks for each in check.key_sets]
    measured.sort(key=lambda pair: pair[0].reached)
    rows = [
        [
            listed(each.columns),
            f"{each.classes:,}",
            number_text(each.reached),
            "" if promised is None else number_text(promised),
        ]
        for each, promised in measured[:_MOST]
    ]
    more = len(measured) - len(rows)
    return rows, f"{amount(more, 'further key set')} reached as much or more." if more else ""
