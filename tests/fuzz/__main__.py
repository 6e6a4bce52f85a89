"""Run random jobs up to a number or a time limit, and print how they ended.

A job that fails is made as small as it goes and written down with the seed that repeats it: ``--first SEED --jobs 1``.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
import warnings
from collections import Counter

from fuzz.auditor import CONDITIONS, OF_PEOPLE, OF_TABLE
from fuzz.checks import check
from fuzz.jobs import FAMILIES, Case, cells, known, make_case
from fuzz.kernels import differences
from fuzz.outcome import Broken
from fuzz.process import compare
from fuzz.shrink import shrink


def broken(case: Case) -> Broken | None:
    """The failure of a case; None if it passes."""
    try:
        check(case, deep=True)
    except Broken as found:
        return found
    return None


def report(case: Case, found: Broken) -> None:
    """Print a failing case, shrunk as far as possible."""

    def fails(smaller: Case) -> bool:
        try:
            other = broken(smaller)
        except Exception:  # the smaller case is not valid
            return False
        return other is not None and other.what == found.what

    small = shrink(case, fails)
    again = broken(small) or found
    print(f"\nFAILED {again}\nrepeat with --first {case.seed} --jobs 1\n{small}\n", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__)
    parser.add_argument("--jobs", type=int, default=20_000, help="how many")
    parser.add_argument("--seconds", type=float, default=1e9, help="for how long at most")
    parser.add_argument("--first", type=int, default=0, help="the seed of the first job")
    parser.add_argument("--deep", type=int, default=4, help="every how many jobs what must not matter is looked at")
    parser.add_argument("--tiny", action="store_true", help="no table with more than twelve rows")
    parser.add_argument(
        "--compare", type=int, default=0, help="so many jobs also as plain Python and with bounds checks"
    )
    parser.add_argument(
        "--kernels", type=int, default=0, help="of so many jobs compare each call of a kernel with plain Python"
    )
    parser.add_argument("--most", type=int, default=20, help="stop after so many failures")
    options = parser.parse_args()
    os.environ["XDG_STATE_HOME"] = tempfile.mkdtemp(prefix="discreet-state-")  # not that of the user
    warnings.simplefilter("error")
    for category in (DeprecationWarning, ResourceWarning):
        warnings.filterwarnings("ignore", category=category)
    ends: Counter[str] = Counter()
    met: Counter[str] = Counter()
    failures: Counter[str] = Counter()
    pairs: set[tuple[str, str, str, str]] = set()
    begun, cpu = time.monotonic(), time.process_time()
    for seed in range(options.first, options.first + options.jobs):
        if time.monotonic() - begun > options.seconds or sum(failures.values()) >= options.most:
            break
        case = make_case(seed, large=not options.tiny)
        try:
            end = check(case, deep=seed % options.deep == 0)
        except KeyboardInterrupt:
            break
        except Broken as found:
            failures[found.what] += 1
            ends["failed"] += 1
            print(f"\n{seed} {found}", file=sys.stderr, flush=True)
            if failures[found.what] == 1:
                report(case, found)
            continue
        ends[end] += 1
        if end == "released":
            met.update(members(case))
            pairs |= pairs_of(case)
        if seed % 50 == 0:
            print(f"\r{sum(ends.values()):,} jobs", end="", file=sys.stderr, flush=True)
    print(
        f"\rseeds {options.first} to {options.first + sum(ends.values()) - 1}, {time.process_time() - cpu:.0f} s of CPU"
    )
    print(f"{sum(ends.values()):,} jobs:", ", ".join(f"{count:,} {end}" for end, count in sorted(ends.items())))
    for kind in FAMILIES:
        each = [f"{name} {met[f'{kind} {name}']:,}" for name in known(kind)]
        print(f"  {kind:12}", ", ".join(each))
    print(f"  {'population':12}", ", ".join(f"{name} {met[name]:,}" for name in ("weights", "population")))
    works = {(each.first_family, each.first, each.second_family, each.second) for each in cells() if each.works}
    print(f"  of {len(works):,} pairs that go together {len(works & pairs):,} were released")
    unknown = [name for name in known("privacy") if name not in {*CONDITIONS, *OF_TABLE, *OF_PEOPLE}]
    if unknown:
        print("  not known to the auditor, and checked by discreet's own audit alone:", ", ".join(unknown))
    if options.compare:
        differ = compare(options.first, options.compare)
        failures.update(differ)
    if options.kernels:
        made = differences(range(options.first, options.first + options.kernels))
        print(f"{sum(made.calls.values()):,} calls of {len(made.calls)} kernels, {len(made.wrong)} of them wrong")
        print("\n".join(made.wrong.values()))
        failures.update(made.wrong.keys())
    return 1 if failures else 0


def members(case: Case) -> list[str]:
    """The members of each family in a case."""
    found = [f"privacy {part.name}" for part in case.privacy] + [f"suppression {case.suppression.name}"]
    found += [f"scheme {name}" for name in {part.name for part in case.schemes.values()}]
    found += [f"cost {case.cost.name}"] if case.cost else []
    found += ["weights"] if case.weights is not None else []
    found += ["population"] if case.people() is not None else []
    return found + ([f"solver {case.solver.name}"] if case.solver else [])


def pairs_of(case: Case) -> set[tuple[str, str, str, str]]:
    """The pairs of the matrix that a case holds."""
    found = [("costs", case.cost.name)] if case.cost else []
    found += [("solvers", case.solver.name)] if case.solver else []
    found += [("privacy", part.name) for part in case.privacy] + [("suppression", case.suppression.name)]
    found += [("schemes", name) for name in {part.name for part in case.schemes.values()}]
    return {(*first, *second) for first in found for second in found}


if __name__ == "__main__":
    sys.exit(main())
