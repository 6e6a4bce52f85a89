"""The three steps of a nightly job, for any scheduler: anonymize, check, publish.

The folder of the job has two files and three folders:

    mapping.json    the recoding, made once: discreet anonymize first.parquet … --mapping mapping.json
    policy.yaml     what every published table must keep: release.policy().save("policy.yaml")
    incoming/       each day's new people, 2026-11-18.parquet: nobody is in two files
    staged/         recoded and audited, not yet checked by the policy
    published/      what readers see: only tables that kept the policy

The mapping recodes every day alike. Values it does not know and groups that are too small today are left out. Steps
pass the day and paths, never rows. Without a scheduler: ``python discreet_nightly.py /srv/people 2026-11-18``.
"""

from __future__ import annotations

import sys
from pathlib import Path

import discreet as dc

__all__ = ["anonymize", "check", "publish"]


def anonymize(folder: str, day: str) -> str:
    """Recode the people of a day; an error if their groups cannot keep the promises of the mapping."""
    root = Path(folder)
    staged = root / "staged" / f"{day}.parquet"
    staged.parent.mkdir(exist_ok=True, mode=0o700)
    dc.apply_mapping(
        root / "mapping.json",
        root / "incoming" / f"{day}.parquet",
        unknown="suppress",
        broken="suppress",
        output=staged,
    )
    return str(staged)


def check(folder: str, day: str) -> dc.CheckResult:
    """Check the staged table by the policy; the result names columns and figures, never values."""
    root = Path(folder)
    return dc.check(root / "staged" / f"{day}.parquet", root / "policy.yaml")


def publish(folder: str, day: str) -> str:
    """Check the staged table once more, and move it to where readers see it, in one step."""
    check(folder, day).raise_if_failed()
    root = Path(folder)
    published = root / "published" / f"{day}.parquet"
    published.parent.mkdir(exist_ok=True)
    (root / "staged" / f"{day}.parquet").replace(published)
    return str(published)


if __name__ == "__main__":
    where, when = sys.argv[1:]
    anonymize(where, when)
    publish(where, when)
