"""Anonymization as a step of a pipeline, in the manner of scikit-learn, which need not be installed."""

from __future__ import annotations

import inspect
from copy import deepcopy
from typing import Any, Self

import numpy as np

from discreet.engines import open_source
from discreet.errors import UsageError
from discreet.release._anonymize import anonymize
from discreet.release._applied import Applied
from discreet.release._apply import apply_mapping, recode_rows
from discreet.release._containers import Container, as_container, check_container, configured_container
from discreet.release._pickling import whole
from discreet.release._release import Release

__all__ = ["Anonymizer"]

_LEARNED = ("release_", "mapping_", "applied_")
"""What fitting leaves, with values of the table in it."""
_OWN = {"unknown": "error", "broken": "error"}
_TOLD = [
    name
    for name in inspect.signature(anonymize).parameters
    if name not in ("data", "output", "key", "progress", "budget")
]


class Anonymizer:
    """Learns a recoding from one table and carries it out on others.

    It takes the arguments of :func:`discreet.anonymize`, and ``unknown`` and ``broken`` as
    :func:`discreet.apply_mapping` does. After ``fit`` it has ``release_`` and, where equal values became equal ones,
    ``mapping_``. Rows that are left out are missing from what ``transform`` returns, so that a pipeline with labels
    should ask for no suppression. What ``transform`` returns is audited, and a few rows by themselves rarely keep the
    promises. With ``broken="keep"`` every row is recoded and nothing is audited: such rows are no release, but what a
    model that was learnt from the release is tested on, as in cross-validation and searches for parameters.

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
        """Return the arguments it was given."""
        return dict(self._params)

    def set_params(self, **params: Any) -> Self:
        """Change arguments; what was learned stays until it is fitted again."""
        for name in params:
            if name not in _TOLD and name not in _OWN:
                raise UsageError(f"An Anonymizer has no argument '{name}'; it takes those of anonymize.")
        self._params.update(params)
        return self

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: N803
        """Find the best recoding of a table."""
        told = {name: value for name, value in self._params.items() if name not in _OWN}
        self.release_ = anonymize(X, **told)
        recipe = self.release_.recipe
        whole = recipe is not None and recipe.recoding.parts is None and not recipe.recoding.everything
        self.mapping_ = self.release_.to_mapping() if whole else None
        self.feature_names_in_ = list(open_source(X).columns)
        self.n_features_in_ = len(self.feature_names_in_)
        return self

    def transform(self, X: Any) -> Any:  # noqa: N803
        """Recode a table as that was to which it was fitted; it is audited."""
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
        """Find the best recoding of a table and return its release."""
        return self._as_output(self.fit(X, y).release_.frame)

    def set_output(self, *, transform: Container | None = None) -> Self:
        """Choose what ``transform`` and ``fit_transform`` return, in the manner of scikit-learn.

        ``pandas`` or ``polars`` is a frame of that library; ``default`` is the kind of frame that came in. None leaves
        the choice as it is. Without a choice the setting ``transform_output`` of scikit-learn counts.
        """
        if transform is not None:
            self._sklearn_output_config = {"transform": check_container(transform)}  # what clone() takes along
        return self

    def _as_output(self, frame: Any) -> Any:
        chosen: dict[str, Container] = getattr(self, "_sklearn_output_config", {})
        return as_container(frame, chosen.get("transform") or configured_container())

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the names of the columns that come out, as scikit-learn does: an array of texts.

        ``input_features`` has to be the columns the Anonymizer was fitted to, if it is given.
        """
        if not self.__sklearn_is_fitted__():
            raise UsageError("The Anonymizer knows no table yet; call fit first.")
        if input_features is not None and list(input_features) != self.feature_names_in_:
            raise UsageError("The input features are not the columns the Anonymizer was fitted to.")
        dropped = {str(name) for name in self.release_.job.get("identifiers", ())}
        return np.asarray([name for name in self.feature_names_in_ if name not in dropped], dtype=object)

    def __getstate__(self) -> dict[str, Any]:
        if whole():
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
        told = ", ".join(f"{name}={value!r}" for name, value in self._params.items())
        return f"Anonymizer({told})"
