"""The choice of what a missing sensitive value is."""

from __future__ import annotations

from typing import Any, get_args

from discreet._choices import MissingSensitive
from discreet.errors import UsageError

__all__ = ["check_missing_sensitive"]


def check_missing_sensitive(choice: Any) -> None:
    """Refuse what is no such choice.

    >>> check_missing_sensitive("unknown")
    """
    if choice not in get_args(MissingSensitive):
        raise UsageError(
            f"missing_sensitive is one of {', '.join(get_args(MissingSensitive))}, not {choice!r}.", topic="parameter"
        )
