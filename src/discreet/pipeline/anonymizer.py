"""Anonymization as a scikit-learn transformer; scikit-learn need not be installed."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any, Literal, Self, get_args

import numpy as np
import polars as pl

from discreet.engines import open_source, to_lazy
from discreet.errors import DataError, UsageError, did_you_mean
from discreet.pipeline.anonymize import anonymize
from discreet.pipeline.applied import Applied
from discreet.pipeline.apply import apply_mapping, recode_rows
from discreet.pipeline.pickling import with_originals_wanted
from discreet.pipeline.release import Release
from discreet.report.job_text import owner_columns, pseudonym_columns

__all__ = ["Anonymizer"]

Container = Literal["default", "pandas", "polars"]
_LEARNED = ("release_", "mapping_", "applied_")
"""Attributes set by fitting; they hold values of the table."""
_OWN = {"unknown": "error", "broken": "error"}
_OF_ANONYMIZE = {
    name: parameter
    for name, parameter in inspect.signature(anonymize).parameters.items()
    if name not in ("data", "output", "overwrite", "key", "progress", "budget")
}


class NotFittedError(UsageError, ValueError, AttributeError):
    """Something was asked of an Anonymizer that was not fitted; scikit-learn expects an error of these kinds."""


class ArrayError(DataError, ValueError):
    """An array cannot be used as a table; scikit-learn expects an error of this kind."""


def _signature() -> inspect.Signature:
    """Return the arguments by name, for editors and for scikit-learn."""
    every = inspect.Parameter("quasi_identifiers", inspect.Parameter.KEYWORD_ONLY, default=None)
    own = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=value) for name, value in _OWN.items()]
    return inspect.Signature([*{**_OF_ANONYMIZE, every.name: every}.values(), *own])


class Anonymizer:
    """Learns a recoding from one table and applies it to others.

    It takes the arguments of :func:`discreet.anonymize`, and ``unknown`` and ``broken`` of
    :func:`discreet.apply_mapping`. Without ``quasi_identifiers``, every column that has no other role is one. An array
    is a table with the columns ``x0``, ``x1`` and so on, and an array comes out. After ``fit`` it has ``release_`` and,
    for a global recoding, ``mapping_``. Suppressed rows are missing from the result of ``transform``, so a pipeline
    with labels should not allow suppression. The result is audited, and a few rows by themselves rarely keep the
    promises. With ``broken="keep"`` every row is recoded and nothing is audited: such rows are no release, but the
    input of a model that was trained on the release, as in cross-validation and parameter searches.

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

    __signature__ = _signature()

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
        table = _as_table(X)
        columns = list(open_source(table).columns)
        arguments = {name: value for name, value in self._params.items() if name not in _OWN}
        if arguments.get("quasi_identifiers") is None:
            arguments["quasi_identifiers"] = _without_role(columns, arguments)
        self.release_ = anonymize(table, **arguments)
        recipe = None if self.release_.provenance is None else self.release_.provenance.recipe
        has_mapping = recipe is not None and recipe.recoding.parts is None and not recipe.recoding.everything
        self.mapping_ = self.release_.to_mapping() if has_mapping else None
        self._fitted_to = columns
        self.n_features_in_ = len(columns)
        if table is X:
            self.feature_names_in_ = np.asarray(columns, dtype=object)
        elif hasattr(self, "feature_names_in_"):  # of an earlier table, whose columns had names
            del self.feature_names_in_
        return self

    def transform(self, X: Any) -> Any:  # noqa: N803
        """Recode a table as the fitted one was, and audit the result."""
        if not self.__sklearn_is_fitted__():
            raise NotFittedError(
                "A pickled Anonymizer leaves behind what it learned, which lists values of the table; fit it again, or "
                "save release_.mapping('mapping.json') before and use that with apply_mapping."
                if self._unpickled
                else "The Anonymizer knows no table yet; call fit first."
            )
        if self.mapping_ is None:
            self.release_.to_mapping()  # says why there is none
        own = {name: self._params.get(name, default) for name, default in _OWN.items()}
        table = _as_table(X)
        if table is not X:
            self._check_width(table)
        if own["broken"] == "keep":
            if own["unknown"] == "suppress":
                raise UsageError("With broken='keep' every row stays; choose error or top for unknown.")
            return self._as_output(recode_rows(self.mapping_ or {}, table, own["unknown"]), array=table is not X)
        self.applied_ = apply_mapping(self.mapping_ or {}, table, **own)
        return self._as_output(self.applied_.frame, array=table is not X)

    def _check_width(self, table: pl.DataFrame) -> None:
        """Refuse an array of another width, in the words of scikit-learn."""
        if table.width != self.n_features_in_:
            raise ArrayError(
                f"X has {table.width} features, but Anonymizer is expecting {self.n_features_in_} features as input."
            )

    def fit_transform(self, X: Any, y: Any = None) -> Any:  # noqa: N803
        """Find the best recoding of a table and return the released table."""
        return self._as_output(self.fit(X, y).release_.frame, array=_as_table(X) is not X)

    def set_output(self, *, transform: Container | None = None) -> Self:
        """Choose the kind of frame that ``transform`` and ``fit_transform`` return, as in scikit-learn.

        ``default`` is the kind of frame that came in. None leaves the choice as it is. Without a choice the setting
        ``transform_output`` of scikit-learn applies.
        """
        if transform is not None:
            self._sklearn_output_config = {"transform": _check_container(transform)}  # an attribute clone() copies
        return self

    def _as_output(self, frame: Any, *, array: bool) -> Any:
        chosen: dict[str, Container] = getattr(self, "_sklearn_output_config", {})
        container = chosen.get("transform") or _configured_container()
        return frame.to_numpy() if array and container == "default" else _as_container(frame, container)

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the names of the output columns as an array, as in scikit-learn.

        ``input_features``, if given, must be the columns the Anonymizer was fitted to. If that was an array, they name
        its columns.
        """
        if not self.__sklearn_is_fitted__():
            raise NotFittedError("The Anonymizer knows no table yet; call fit first.")
        names = self._fitted_to if input_features is None else [str(name) for name in input_features]
        if len(names) != self.n_features_in_:
            raise ArrayError(
                f"input_features should have length equal to number of features ({self.n_features_in_}), "
                f"got {len(names)}."
            )
        if hasattr(self, "feature_names_in_") and names != self._fitted_to:
            raise ArrayError(
                "input_features is not equal to feature_names_in_, the columns that the Anonymizer was fitted to."
            )
        job = self.release_.job
        dropped = {*job.get("identifiers", ()), *owner_columns(job)} - {*pseudonym_columns(job)}
        pairs = zip(names, self._fitted_to, strict=True)
        return np.asarray([name for name, fitted in pairs if fitted not in dropped], dtype=object)

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


def _as_table(data: Any) -> Any:
    """Return an array as a table whose columns have the names scikit-learn would give them; anything else as it is."""
    if hasattr(data, "tocsr"):
        raise ArrayError("Sparse input is not supported; turn it into a dense array or a frame.")
    if not isinstance(data, list | tuple) and (not hasattr(data, "__array__") or hasattr(data, "columns")):
        return data
    array = np.asarray(data)
    if np.iscomplexobj(array):
        raise ArrayError("Complex data not supported; give real numbers or text.")
    if array.ndim != 2:
        raise ArrayError(f"Expected 2D array, got {array.ndim}D array instead. Reshape your data: a row is a person.")
    if 0 in array.shape:
        what = "sample" if array.shape[0] == 0 else "feature"
        raise ArrayError(f"Found array with 0 {what}(s) (shape={array.shape}) while a minimum of 1 is required.")
    columns = {f"x{number}": pl.Series(array[:, number].tolist(), strict=False) for number in range(array.shape[1])}
    return pl.DataFrame(columns)


def _without_role(columns: Sequence[str], arguments: Mapping[str, Any]) -> list[str]:
    """Return the columns that the arguments name in no role."""
    named: set[str] = set()
    for role in ("identifiers", "sensitive", "keep", "class_attribute", "weights", "person", "household"):
        given = arguments.get(role) or ()
        named |= {given} if isinstance(given, str) else set(given)
    return [column for column in columns if column not in named]


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
