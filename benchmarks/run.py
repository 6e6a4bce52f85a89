"""Run the benchmarks: ``python benchmarks/run.py [--quick] [--only NAME ...] [--json FILE]``."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
import traceback
from dataclasses import asdict
from importlib import import_module
from pathlib import Path

from harness import Row, Settings, print_rows
from harness.machine import describe, fingerprint

NAMES = (
    "search",
    "job",
    "start",
    "command",
    "million",
    "packages",
    "reached",
    "growth",
    "shapes",
    "anytime",
    "local",
    "cells",
    "partitions",
    "audits",
    "microaggregation",
)


def main() -> int:
    options = _options()
    machine = describe()
    for name, value in machine.items():
        print(f"{name:<10}{value}")
    rows: list[Row] = []
    failed = []
    with tempfile.TemporaryDirectory(prefix="discreet-bench-") as scratch:
        settings = Settings(quick=options.quick, scratch=Path(scratch))
        for name in options.only or NAMES:
            found = _measure(name, settings)
            if found is None:
                failed.append(name)
            else:
                rows += found
    record = {**machine, "quick": options.quick, "failed": failed, "rows": [asdict(row) for row in rows]}
    text = json.dumps(record, ensure_ascii=False, allow_nan=False, default=float)
    with (settings.kept / "history.jsonl").open("a", encoding="utf-8") as history:
        history.write(f"{text}\n")
    if options.json:
        options.json.write_text(f"{text}\n", encoding="utf-8")
    if failed:
        print(f"not measured, see above: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


def _measure(name: str, settings: Settings) -> list[Row] | None:
    """Run one benchmark and print its tables; None if that did not work."""
    began, before = time.monotonic(), fingerprint()
    try:
        rows: list[Row] = import_module(f"suite.{name}").run(settings)
    except Exception:
        traceback.print_exc()
        return None
    if fingerprint() != before:
        print(f"\nthe sources changed while {name} was measured; run it again", file=sys.stderr)
        return None
    print_rows(rows)
    print(f"\n({name} took {time.monotonic() - began:.0f} s)", flush=True)
    return rows


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure the speed of discreet, as ratios.")
    parser.add_argument("--quick", action="store_true", help="fewer cases, fewer repetitions, shorter limits")
    parser.add_argument("--only", nargs="+", choices=NAMES, metavar="NAME", help=f"some of {', '.join(NAMES)}")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write this run to a file")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
