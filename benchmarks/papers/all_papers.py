"""Repeat the experiments of all five papers, one after the other, and write one page with everything that was seen.

``python benchmarks/papers/all_papers.py [--quick] [--page-only] [--output FOLDER]``

The page is ``index.html`` in the folder, ``.bench/papers`` if none is named: how many statements of each paper hold,
each statement with what was seen, all charts and all figures. It needs nothing else and no network. A study that fails,
or whose data is not at hand, is named there, and the others go on.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from page import PAPERS, Outcome, written

HERE = Path(__file__).parent
OUTPUT = HERE.parents[1] / ".bench" / "papers"


def repeat(name: str, folder: Path, *, quick: bool) -> Outcome:
    """Run one study as a process of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "results.json").unlink(missing_ok=True)
    print(f"\n{PAPERS[name].title}\n{'=' * len(PAPERS[name].title)}", flush=True)
    began = time.monotonic()
    command = [sys.executable, str(HERE / f"{name}.py"), "--output", str(folder), *(["--quick"] if quick else [])]
    code = subprocess.run(command, check=False).returncode
    return Outcome(time.monotonic() - began, code)


def main() -> int:
    options = _options()
    record = options.output / "runs.json"
    outcomes: dict[str, Outcome] = {}
    if options.page_only and record.is_file():
        outcomes = {name: Outcome(**each) for name, each in json.loads(record.read_text(encoding="utf-8")).items()}
    for name in () if options.page_only else PAPERS:
        outcomes[name] = repeat(name, options.output / name, quick=options.quick)
        record.write_text(json.dumps({each: vars(found) for each, found in outcomes.items()}), encoding="utf-8")
    page = written(options.output, outcomes)
    print(f"\nEverything is in {page}.")
    return 1 if any(each.code for each in outcomes.values()) else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Repeat the experiments of all five papers.")
    parser.add_argument("--quick", action="store_true", help="a small part of each, in about ten minutes")
    parser.add_argument("--page-only", action="store_true", help="write the page again from what the last run found")
    parser.add_argument("--output", type=Path, default=OUTPUT, metavar="FOLDER", help="where everything goes")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
