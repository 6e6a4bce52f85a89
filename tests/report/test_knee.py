"""The suggestion of a front: half of the detail is lost only where that saves much risk, and three quarters never."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from discreet.pipeline.front import FrontPoint
from discreet.problem.axes.k import K
from discreet.report.front.knee import find_knee


def _choice(k: int, share: float) -> FrontPoint:
    return FrontPoint({"k": k}, 100 * share, share, {}, suppressed=0, classes=1, also=0, proven=True)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_a_knee_that_is_recommended_keeps_a_quarter_of_the_detail(shares: list[float]) -> None:
    points = [_choice(k, share) for k, share in enumerate(sorted(shares), start=2)]
    knee = find_knee([_choice(1, 0.0), *points], K())
    assert knee.recommended is (min(shares) < 0.75)
    assert knee.point.normalized_loss < 0.75 or knee.point is points[0]
    much = knee.recommended and knee.point.normalized_loss >= 0.5
    assert ("than half of the detail" in knee.reason) is much
    if much and min(shares) < 0.5:  # only if no choice below half is nearly as safe
        risk = [1 / point.k for point in points]
        saved = risk[0] - 1 / knee.point.k
        assert all(risk[0] - 1 / each.k < saved / 2 for each in points if each.normalized_loss < 0.5)
    if knee.recommended:
        assert f"{100 * knee.point.normalized_loss:.0f} %" in knee.reason
    assert knee.reason.startswith("Suggested: k = " if knee.recommended else "None is recommended: ")
