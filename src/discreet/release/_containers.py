"""Frames turned into another kind, as ``set_output`` of scikit-learn asks for it."""

from __future__ import annotations

from typing import Any, Literal, get_args

import polars as pl

from discreet.engines import to_lazy
from discreet.errors import UsageError, did_you_mean

__all__ = ["Container", "as_container", "check_container", "configured_container"]

Container = Literal["default", "pandas", "polars"]


def check_container(choice: Any) -> Container:
    """Return the choice, if it is one."""
    known = get_args(Container)
    if choice not in known:
        hint = did_you_mean(str(choice), known) or f"it is one of {', '.join(known)}."
        raise UsageError(f"There is no output '{choice}'; {hint}", topic="unknown-name")
    return choice  # type: ignore[no-any-return]


def configured_container() -> Container:
    """Return what scikit-learn is set to for all its steps, where it was loaded."""
    import sys

    sklearn = sys.modules.get("sklearn")
    return check_container(sklearn.get_config()["transform_output"]) if sklearn is not None else "default"


def as_container(frame: Any, container: Container) -> Any:
    """Return a frame as the kind that is wanted; an index of pandas stays where it is wanted as pandas."""
    if container == "default":
        return frame
    package = type(frame).__module__.partition(".")[0]
    if package == container:
        return frame.collect() if isinstance(frame, pl.LazyFrame) else frame
    table = to_lazy(frame).collect()
    return table if container == "polars" else table.to_pandas()
