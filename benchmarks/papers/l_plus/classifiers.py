"""How well a classifier learns from a release: Fig. 5(d) and 6(d), with a decision tree of scikit-learn."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec

import polars as pl

import discreet as dc
from harness import Chart, Finding, Part, Row
from l_plus.runs import Study
from l_plus.tables import SPLIT, Subject

__all__ = ["classification"]

_CLAIM = "with violating-records the classification error stays within 1 % of that on the original data"
_WITHOUT = "without suppression, Incognito and the optimum are similar, and the error is higher for a larger l"
_AS_PAPER = "A tree that learns from quasi-identifiers and the sensitive column; suppressed rows are not tested."
_ON_ORIGINAL = "What is learnt from released training rows, tested on all original test rows: none is left out."


def classification(study: Study) -> Part:
    """Release with the cost CM, learn from the training rows that are left and test on the others.

    Twice: on the released test rows, as the paper does, and on the original ones.
    """
    part = Part()
    if find_spec("sklearn") is None:
        part.findings.append(Finding("Fig. 5(d)", _CLAIM, None, "scikit-learn is not installed."))
        return part
    ways = {"Incognito": ("none", "full-domain", "incognito", "")}
    ways |= {kind: (kind, "subtree", "cuts", "") for kind in ("none", "class-records", "violating-records")}
    ways["none, by frequency"] = ("none", "subtree", "cuts", ", by=frequency")
    frames = {way: [_release(study.base, l, *choice) for l in study.ls] for way, choice in ways.items()}
    base, errors = _errors(part, study, frames, "Fig. 5(d): classification error, %", _error, _AS_PAPER)
    without = errors["none"]
    similar = max(abs(a - b) for a, b in zip(without, errors["Incognito"], strict=True)) < 2
    shown = f"optimum {_list(without)} %, Incognito {_list(errors['Incognito'])} % for l = {_list(study.ls, 0)}"
    flattered = "the suppressed records, which CM chooses, are not tested, and that flatters"
    part.findings += [
        _fine(_CLAIM, base, errors, " (the paper: 17.1 %)", f"; {flattered}"),
        Finding("Fig. 5(d)", _WITHOUT, without[-1] > without[0] and similar, shown),
    ]
    base, errors = _errors(
        part, study, frames, "Fig. 5(d), on original rows: classification error, %", _error_on_original, _ON_ORIGINAL
    )
    part.findings.append(_fine(f"{_CLAIM}, where all original test rows are tested", base, errors))
    return part


def _errors(
    part: Part,
    study: Study,
    frames: dict[str, list[pl.DataFrame]],
    title: str,
    error: Callable[[Subject, pl.DataFrame], float],
    note: str,
) -> tuple[float, dict[str, list[float]]]:
    """Return the error learnt from the original table and those learnt from releases, and put them into the part."""
    base = error(study.base, study.base.frame)
    errors = {way: [error(study.base, frame) for frame in each] for way, each in frames.items()}
    for place, l in enumerate(study.ls):
        part.rows.append(Row(title, f"l={l}", {"original": base, **{way: each[place] for way, each in errors.items()}}))
    part.rows.append(Row(title, "", note=note))
    part.charts.append(
        Chart(title.removesuffix(", %"), "l", "error, %", {way: (study.ls, each) for way, each in errors.items()})
    )
    return base, errors


def _fine(claim: str, base: float, errors: dict[str, list[float]], paper: str = "", more: str = "") -> Finding:
    fine = errors["violating-records"]
    seen = (
        f"{base:.1f} % learnt from the original data{paper}, {min(fine):.1f} to {max(fine):.1f} % from releases{more}"
    )
    return Finding("Fig. 5(d)", claim, max(fine) - base <= 1, seen)


def _release(subject: Subject, l: int, kind: str, scheme: str, solver: str, by: str) -> pl.DataFrame:
    release = dc.anonymize(
        subject.frame,
        quasi_identifiers=subject.hierarchies,
        sensitive=[subject.sensitive],
        class_attribute=subject.label,
        privacy=f"l+({1 / l!r}, {subject.sensitive}{by})",
        cost="CM",
        suppression=kind,
        scheme=scheme,
        solver=solver,
    )
    frame: pl.DataFrame = release.frame
    return frame


def _error(subject: Subject, frame: pl.DataFrame) -> float:
    """The error of a tree on the released test rows, in percent."""
    from sklearn.tree import DecisionTreeClassifier

    features = frame.select(*subject.hierarchies, subject.sensitive).to_dummies().to_numpy()
    label, train = frame[subject.label].to_numpy(), (frame[SPLIT] == "train").to_numpy()
    tree = DecisionTreeClassifier(criterion="entropy", min_samples_leaf=25, random_state=0)
    tree.fit(features[train], label[train])
    return float(100 * (tree.predict(features[~train]) != label[~train]).mean())


def _error_on_original(subject: Subject, frame: pl.DataFrame) -> float:
    """The error of what a tree learns from released training rows on all original test rows, in percent."""
    train = pl.col(SPLIT) == "train"
    report = dc.evaluate.utility(
        subject.frame.filter(train),
        frame.filter(train),
        quasi_identifiers=subject.hierarchies,
        sensitive=subject.sensitive,
        class_attribute=subject.label,
        costs=[],
        queries=0,
        models="tree",
        held_out=subject.frame.filter(~train),
    )
    assert report.classifiers is not None
    return 100 * (1 - float(report.classifiers["accuracy"].item()))


def _list(numbers: tuple[int, ...] | list[float], digits: int = 1) -> str:
    return ", ".join(f"{number:.{digits}f}" for number in numbers)
