"""Results of 300 random jobs, saved, so that a redesign can be checked against the code before it.

``python -m fuzz.saved record`` writes the results, ``python -m fuzz.saved`` compares with them: status, cost, lower
bound, suppressed rows and the rows themselves must be the same, and so must the bytes of the file that is written. A
job that is drawn otherwise than when it was saved (because a part was added to a family) is counted and not compared.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
import tempfile
import warnings
from pathlib import Path

from discreet.errors import DiscreetError
from fuzz.checks import digest, run
from fuzz.jobs import Case, make_case

SAVED = Path(__file__).parent / "saved.json"


def result(case: Case) -> dict[str, str]:
    """The outcome of a case: the case itself, what came out, and the rows of the file, in their order and sorted."""
    ran = run(case)
    if ran.rows is not None:
        ran.rows.sort(key=lambda row: row["rid"])  # DuckDB does not always keep the order
    found = {"case": _short(str(case)), "result": digest(ran)}
    if ran.release is not None and case.frame in ("polars", "pandas", "pyarrow"):
        with tempfile.TemporaryDirectory(prefix="saved") as folder:
            path = Path(folder) / "safe.csv"
            try:
                ran.release.write(path)
            except DiscreetError as error:
                return found | {"file": type(error).__name__}
            written = path.read_bytes()
            found["file"] = _short(written)
            found["rows"] = _short(b"".join(sorted(written.splitlines(keepends=True))))
    return found


def _short(text: str | bytes) -> str:
    return hashlib.sha256(text.encode() if isinstance(text, str) else text).hexdigest()[:12]


def released(jobs: int) -> dict[str, dict[str, str]]:
    """The results of the first jobs that end in a release or are proven infeasible."""
    found: dict[str, dict[str, str]] = {}
    seed = 0
    while len(found) < jobs:
        one = result(make_case(seed))
        if not one["result"].startswith(("refused", "stopped")):
            found[str(seed)] = one
        seed += 1
    return found


def main() -> int:
    parser = argparse.ArgumentParser(prog="fuzz.saved", description=__doc__)
    parser.add_argument("what", nargs="?", choices=("check", "record"), default="check")
    parser.add_argument("--rows-in-any-order", action="store_true", help="do not compare the order of written rows")
    parser.add_argument("--file", type=Path, default=SAVED, help="where results are saved")
    parser.add_argument("--jobs", type=int, default=300, help="how many to record")
    options = parser.parse_args()
    os.environ["XDG_STATE_HOME"] = tempfile.mkdtemp(prefix="discreet-state-")  # not that of whoever runs this
    warnings.simplefilter("ignore")
    if options.what == "record":
        options.file.write_text(json.dumps(released(options.jobs), indent=0) + "\n")
        return 0
    same, drawn_anew, differ = 0, 0, []
    for seed, saved in json.loads(options.file.read_text()).items():
        found = result(make_case(int(seed)))
        if options.rows_in_any_order:
            found, saved = ({**one, "file": ""} for one in (found, saved))
        if found["case"] != saved["case"]:
            drawn_anew += 1
        elif found == saved:
            same += 1
        else:
            differ.append(seed)
            print(f"seed {seed}: {saved} became {found}", file=sys.stderr)
    print(f"{same} the same, {len(differ)} different, {drawn_anew} drawn anew")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
