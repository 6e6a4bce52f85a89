"""The calls that frames offer as methods once ``discreet.polars`` or ``discreet.pandas`` is imported."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

    from discreet.evaluate import FoundPerson, RiskReport
    from discreet.pipeline.audit import Audit
    from discreet.pipeline.front import Front
    from discreet.pipeline.look import Look
    from discreet.pipeline.release import Release
    from discreet.report.check_result import CheckResult

__all__ = ["FrameMethods"]


class FrameMethods:
    """The functions of discreet for one frame; arguments are those of the functions."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def look(self) -> Look:
        """Call :func:`discreet.look`."""
        from discreet.pipeline.look import look

        return look(self._frame)

    def anonymize(self, **arguments: Any) -> Release:
        """Call :func:`discreet.anonymize`."""
        from discreet.pipeline.anonymize import anonymize

        return anonymize(self._frame, **arguments)

    def pareto(self, **arguments: Any) -> Front:
        """Call :func:`discreet.pareto`."""
        from discreet.pipeline.pareto import pareto

        return pareto(self._frame, **arguments)

    def audit(self, **arguments: Any) -> Audit:
        """Call :func:`discreet.audit`."""
        from discreet.pipeline.audit import audit

        return audit(self._frame, **arguments)

    def check(self, policy: Any = None, **rules: Any) -> CheckResult:
        """Call :func:`discreet.check`."""
        from discreet.pipeline.check import check

        return check(self._frame, policy, **rules)

    def risk(self, **arguments: Any) -> RiskReport:
        """Call :func:`discreet.evaluate.risk`."""
        from discreet.evaluate import risk

        return risk(self._frame, **arguments)

    def record_risks(self, **arguments: Any) -> pl.DataFrame:
        """Call :func:`discreet.evaluate.record_risks`."""
        from discreet.evaluate import record_risks

        return record_risks(self._frame, **arguments)

    def find(self, known: Mapping[str, Any], **arguments: Any) -> FoundPerson:
        """Call :func:`discreet.find`."""
        from discreet.evaluate import find

        return find(self._frame, known, **arguments)
