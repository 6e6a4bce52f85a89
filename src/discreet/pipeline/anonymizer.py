"""Anonymization as a scikit-learn transformer; scikit-learn need not be installed."""

from __future__ import annotations

import inspect
import sys
from copy import deepcopy
from typing import Any, Literal, Self, get_args

import numpy as np
import polars as pl

from discreet.engines import open_source, to_lazy
from discreet.errors import UsageError, did_you_mean
from discreet.pipeline.anonymize import anonymize
from discreet.pipeline.applied import Applied
from discreet.pipeline.apply import apply_mapping, recode_rows
from discreet.pipeline.pickling import with_originals_wanted
from discreet.pipeline.release import Release

__all__ = ["Anonymizer"]

Container = Literal["default", "pandas", "polars"]
_LEARNED = ("release_", "mapping_", "applied_")
"""Attributes set by fitting; they hold values of the table."""
_OWN = {"unknown": "error", "broken": "error"}
_OF_ANONYMIZE = [
    name
    for name in inspect.signature(anonymize).parameters
    if name not in ("data", "output", "overwrite", "key", "progress", "budget")
]


class Anonymizer:
    """Learns a recoding from one table and applies it to others.

    It takes the arguments of :func:`discreet.anonymize`, and ``unknown`` and ``broken`` of
    :func:`discreet.apply_mapping`. After ``fit`` it has ``release_`` and, for a global recoding, ``mapping_``.
    Suppressed rows are missing from the result of ``transform``, so a pipeline with labels should not allow
    suppression. The result is audited, and a few rows by themselves rarely keep the promises. With ``broken="keep"``
    every row is recoded and nothing is audited: such rows are no release, but the input of a model that was trained on
    the release, as in cross-validation and parameter searches.

    >>> from discreet import sample
    >>> people = sample(400, seed=1).select("sex", "education", "diagnosis")
    >>> step = Anonymizer(quasi_identifiers=["sex", "education"], privacy="k(5)")
    >>> step.fit_transform(people).equals(step.transform(people))
    True
    >>> step.get_params()["privacy"]
    'k(5)'
    """

    release_: Release
    """The release of the table it was fitted to."""
    mapping_: dict[str, Any] | None
    """What each value became; it lists values of the data."""
    applied_: Applied
    """The last table that was transformed, with its audit."""

    def __init__(self, **params: Any) -> None:
        self._params: dict[str, Any] = {}
        self._unpickled = False
        self.set_params(**params)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the arguments."""
        return dict(self._params)

    def set_params(self, **params: Any) -> Self:
        """Change arguments; what was learned stays until the next fit."""
        for name in params:
            if name not in _OF_ANONYMIZE and name not in _OWN:
                raise UsageError(f"An Anonymizer has no argument '{name}'; it takes those of anonymize.")
        self._params.update(params)
        return self

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: N803
        """Find the best recoding of a table."""
        self.release_ = anonymize(X, **{name: value for name, value in self._params.items() if name not in _OWN})
        recipe = None if self.release_.provenance is None else self.release_.provenance.recipe
        has_mapping = recipe is not None and recipe.recoding.parts is None and not recipe.recoding.everything
        has_mapping &= recipe is None or recipe.schema.unit is None  # a mapping does not know people
        self.mapping_ = self.release_.to_mapping() if has_mapping else None
        self.feature_names_in_ = list(open_source(X).columns)
        self.n_features_in_ = len(self.feature_names_in_)
        return self

    def transform(self, X: Any) -> Any:  # noqa: N803
        """Recode a table as the fitted one was, and audit the result."""
        if not self.__sklearn_is_fitted__():
            raise UsageError(
                "A pickled Anonymizer leaves behind what it learned, which lists values of the table; fit it again, or "
                "save release_.mapping('mapping.json') before and use that with apply_mapping."
                if self._unpickled
                else "The Anonymizer knows no table yet; call fit first."
            )
        if self.mapping_ is None:
            self.release_.to_mapping()  # says why there is none
        own = {name: self._params.get(name, default) for name, default in _OWN.items()}
        if own["broken"] == "keep":
            if own["unknown"] == "suppress":
                raise UsageError("With broken='keep' every row stays; choose error or top for unknown.")
            return self._as_output(recode_rows(self.mapping_ or {}, X, own["unknown"]))
        self.applied_ = apply_mapping(self.mapping_ or {}, X, **own)
        return self._as_output(self.applied_.frame)

    def fit_transform(self, X: Any, y: Any = None) -> Any:  # noqa: N803
        """Find the best recoding of a table and return the released table."""
        return self._as_output(self.fit(X, y).release_.frame)

    def set_output(self, *, transform: Container | None = None) -> Self:
        """Choose the kind of frame that ``transform`` and ``fit_transform`` return, as in scikit-learn.

        ``default`` is the kind of frame that came in. None leaves the choice as it is. Without a choice the setting
        ``transform_output`` of scikit-learn applies.
        """
        if transform is not None:
            self._sklearn_output_config = {"transform": _check_container(transform)}  # an attribute clone() copies
        return self

    def _as_output(self, frame: Any) -> Any:
        chosen: dict[str, Container] = getattr(self, "_sklearn_output_config", {})
        return _as_container(frame, chosen.get("transform") or _configured_container())

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the names of the output columns as an array, as in scikit-learn.

        ``input_features``, if given, must be the columns the Anonymizer was fitted to.
        """
        if not self.__sklearn_is_fitted__():
            raise UsageError("The Anonymizer knows no table yet; call fit first.")
        if input_features is not None and list(input_features) != self.feature_names_in_:
            raise UsageError("The input features are not the columns the Anonymizer was fitted to.")
        dropped = {str(name) for name in self.release_.job.get("identifiers", ())}
        return np.asarray([name for name in self.feature_names_in_ if name not in dropped], dtype=object)

    def __getstate__(self) -> dict[str, Any]:
        if with_originals_wanted():
            return dict(vars(self))
        state = {name: value for name, value in vars(self).items() if name not in _LEARNED}
        return {**state, "_unpickled": self._unpickled or self.__sklearn_is_fitted__()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def __copy__(self) -> Self:
        other = type(self)()
        other.__dict__.update(vars(self))
        return other

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        other = type(self)()
        other.__dict__.update({name: deepcopy(value, memo) for name, value in vars(self).items()})
        return other

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "release_")

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags, TransformerTags

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=False),
            transformer_tags=TransformerTags(preserves_dtype=[]),
            input_tags=InputTags(string=True, categorical=True, allow_nan=True),
        )

    def __repr__(self) -> str:
        arguments = ", ".join(f"{name}={value!r}" for name, value in self._params.items())
        return f"Anonymizer({arguments})"


def _check_container(choice: Any) -> Container:
    """Raise a UsageError for an unknown container."""
    known = get_args(Container)
    if choice not in known:
        hint = did_you_mean(str(choice), known) or f"it is one of {', '.join(known)}."
        raise UsageError(f"There is no output '{choice}'; {hint}", topic="unknown-name")
    return choice  # type: ignore[no-any-return]


def _configured_container() -> Container:
    """Return the ``transform_output`` of scikit-learn, if it was imported."""
    sklearn = sys.modules.get("sklearn")
    return _check_container(sklearn.get_config()["transform_output"]) if sklearn is not None else "default"


def _as_container(frame: Any, container: Container) -> Any:
    """Convert a frame; a pandas frame that stays one keeps its index."""
    if container == "default":
        return frame
    package = type(frame).__module__.partition(".")[0]
    if package == container:
        return frame.collect() if isinstance(frame, pl.LazyFrame) else frame
    table = to_lazy(frame).collect()
    return table if container == "polars" else table.to_pandas()
