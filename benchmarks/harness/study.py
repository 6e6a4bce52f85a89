"""What the studies of papers share: timed runs of a solver, and parts that print and keep what they found."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path

from discreet.errors import InterruptedRun
from discreet.problem import Problem
from discreet.solve import Budget, Solution, solve
from harness.charts import Chart
from harness.findings import Finding, print_findings
from harness.machine import describe
from harness.rows import Row, print_rows

__all__ = ["Part", "Run", "conduct", "timed"]


@dataclass(frozen=True, eq=False)
class Run:
    """A solution and the CPU seconds it took, from the coded table on."""

    solution: Solution
    seconds: float

    @property
    def cost(self) -> float:
        """The cost that was reached."""
        return self.solution.cost

    @property
    def optimal(self) -> bool:
        """Whether the cost is proven to be the least."""
        return self.solution.status == "optimal"

    @property
    def examined(self) -> int:
        """The recodings that were looked at."""
        return int(self.solution.stats.get("examined", 0))

    @property
    def gap(self) -> float:
        """The proven gap; 1 where nothing is proven, as no cost is below 0."""
        return min(self.solution.gap, 1.0) if math.isfinite(self.cost) else 1.0

    @property
    def proof(self) -> str:
        """What is proven, in a word."""
        return "optimal" if self.optimal else f"gap {100 * self.gap:.2f} %"


def timed(problem: Problem, solver: str, *, time_limit: float | None = None, seed: int | None = None) -> Run:
    """Solve a problem and take the time; the cost is infinite if nothing was found within the limit."""
    began = time.process_time()
    try:
        solution = solve(problem, solver, Budget(time_limit=time_limit, seed=seed))
    except InterruptedRun:
        solution = Solution("feasible", math.inf, 0.0)
    return Run(solution, time.process_time() - began)


@dataclass
class Part:
    """What one part of a study found."""

    rows: list[Row] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    charts: list[Chart] = field(default_factory=list)

    def add(self, other: Part) -> None:
        """Take in what another part found."""
        self.rows += other.rows
        self.findings += other.findings
        self.charts += other.charts


def conduct(parts: Iterable[Part], output: Path | None, *, quick: bool) -> Part:
    """Print what each part found as it comes, and write all that is known by then to a folder."""
    whole = Part()
    for part in parts:
        print_rows(part.rows)
        print_findings(part.findings)
        whole.add(part)
        if output is not None:
            _write(whole, output, quick=quick)
    if output is not None:
        print(f"\nEverything is in {output}.")
    held = [finding.holds for finding in whole.findings]
    print(f"\n{held.count(True)} findings hold, {held.count(False)} do not, {held.count(None)} were not looked at.")
    return whole


def _write(whole: Part, folder: Path, *, quick: bool) -> None:
    """Write all figures as JSON."""
    folder.mkdir(parents=True, exist_ok=True)
    record = {**describe(), "quick": quick, **asdict(whole)}
    text = json.dumps(record, ensure_ascii=False, indent=1, default=float)
    (folder / "results.json").write_text(f"{text}\n", encoding="utf-8")
