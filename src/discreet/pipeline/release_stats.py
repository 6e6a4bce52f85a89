"""The statistics of a release: how long each stage took, and what the solver and the cost report."""

from __future__ import annotations

from typing import Any, Required

from discreet.solve import SearchStats

__all__ = ["ReleaseStats"]


class ReleaseStats(SearchStats, total=False):
    """Statistics of a release, in :attr:`discreet.Release.stats`.

    Only ``seconds`` is always present; the other keys depend on the solver and the cost. A solver may add keys of its
    own, such as ``first_cost``, which ``release.to_dict(exact=True)`` includes.
    """

    seconds: Required[dict[str, float]]
    """The seconds of each stage."""
    seconds_to_proof: float | None
    """When the incumbent was proven optimal."""
    population: str
    """The size of the population that the table was drawn from, as text."""
    score: float
    """The score of the release, if the cost is a score lost ..."""
    score_before: float
    """... that of the original table ..."""
    score_at_most: float | None
    """... and an upper bound of the score of any release."""
    global_score: float
    """The score before classes were refined one by one."""
    schemes: list[dict[str, Any]]
    """What each scheme that was tried for ``best`` loses, or why it has no release."""
    hidden_cells: int
    """Under the scheme cells, the number of cells of released rows that are hidden."""
    covered: dict[str, float]
    """For local recodings that show single values, the mean share of each domain that the covers of the rows span."""
    squared_error: float
    """For local recodings that show means, the squared error as a share of the variance of all numbers."""
    sse_percent: float
    """If the cost is SSE, the squared error as a percentage of the total sum of squares ..."""
    sse_percent_at_least: float
    """... and its lower bound."""
