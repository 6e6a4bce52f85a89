"""Membership: whether a person of the population is in the release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.counts import FloatArray
from discreet.evaluate.attacks._base import ATTACKS, Attack, AttackResult, NotModelled
from discreet.evaluate.attacks._target import AttackTarget, Outsiders
from discreet.evaluate.candidates import Candidates
from discreet.runtime.integer_codes import add_up

__all__ = ["MembershipAttack"]


@ATTACKS.register
@dataclass(frozen=True)
class MembershipAttack(Attack):
    """Guesses that a person is in the release if it has many rows that fit, compared with the people who do.

    The attacker knows the population: a person is taken for a member if the released rows that fit make up a larger
    share of the people who fit than on average. Without a population but with a control group, everybody with a row
    that fits is taken for a member. Success is the average of the shares of members and of others who are recognized,
    so that a naive guess is right in half of the cases.
    """

    name: ClassVar[str] = "membership"
    examples: ClassVar[tuple[str, ...]] = ("membership",)
    title: ClassVar[str] = "Is she in it at all?"
    summary: ClassVar[str] = "Being in a table of patients is a secret too."
    term: ClassVar[str] = "membership inference, presence disclosure"
    rank: ClassVar[int] = 100
    goal: ClassVar[str] = "tell members from others"
    no_control: ClassVar[str] = "Half of the attempts are about people who are not in the release."
    needs: ClassVar[str] = "a table of the population, or a control group"

    def run(self, target: AttackTarget) -> Sequence[AttackResult]:
        """Guess for members and for others."""
        outsiders = target.population or target.control
        if outsiders is None:
            raise NotModelled("neither a population nor a control group was given")
        target.check_covers_people()
        rows = [_rows_that_fit(target, each) for each in (target.candidates, outsiders.candidates)]
        sizes = [target.before.sizes.astype(np.float64), outsiders.classes.sizes.astype(np.float64)]
        if target.population is None:
            guess = [fitting > 0 for fitting in rows]
            others = sizes[1]
        else:
            guess, others = _by_density(target, outsiders)
        attempts = round(min(sizes[0].sum(), others.sum()))
        if not attempts:
            raise NotModelled("everybody in the population is in the original table")
        recognized = float(sizes[0][guess[0]].sum() / sizes[0].sum())
        taken = float(others[guess[1]].sum() / others.sum())
        unfit = float(others[rows[1] == 0].sum() / others.sum())
        remark = f"{unfit:.1%} of the people who are not in it match no released row, and are surely not in it."
        return [self.result("membership", (recognized + 1 - taken) / 2, 0.5, 2 * attempts, remark=remark)]


def _rows_that_fit(target: AttackTarget, candidates: Candidates) -> FloatArray:
    """Return the released rows that cover each class of a table."""
    found = np.zeros(candidates.length.size)
    for some, index, released in candidates.found():
        found[some] = add_up(index, target.after.sizes[released], some.size)
    return found


def _by_density(target: AttackTarget, population: Outsiders) -> tuple[list[NDArray[np.bool_]], FloatArray]:
    """Return the guess for members and for people of the population, and how many of the latter are no members."""
    classes = target.after.sizes.size
    covered = np.zeros(classes)
    for some, index, released in population.candidates.found():
        covered += np.bincount(released, weights=population.classes.sizes[some[index]], minlength=classes)
    dense = target.after.sizes / np.maximum(covered, 1) > target.after.total / population.classes.rows
    guess = []
    for candidates in (target.candidates, population.candidates):
        yes, every = np.zeros(candidates.length.size), np.zeros(candidates.length.size)
        for some, index, released in candidates.found():
            weight = target.after.sizes[released]
            yes[some] = np.bincount(index, weights=weight * dense[released], minlength=some.size)
            every[some] = np.bincount(index, weights=weight, minlength=some.size)
        guess.append(2 * yes > every)
    return guess, _not_members(target, population)


def _not_members(target: AttackTarget, population: Outsiders) -> FloatArray:
    """Return how many people of each class of the population are not in the original table."""
    texts = [
        {text: code for code, text in enumerate(population.classes.texts(name).to_list())}
        for name in target.given.names
    ]
    mine = [target.before.texts(name).to_list() for name in target.given.names]
    codes = np.stack(population.classes.codes, axis=1)
    index = {tuple(row): number for number, row in enumerate(codes.tolist())}
    left = population.classes.sizes.astype(np.float64)
    for row, size in zip(np.stack(target.before.codes, axis=1).tolist(), target.before.sizes.tolist(), strict=True):
        key = tuple(known.get(own[code], -1) for known, own, code in zip(texts, mine, row, strict=True))
        if key in index:
            left[index[key]] = max(left[index[key]] - size, 0)
    return left
