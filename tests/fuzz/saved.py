"""Random jobs with their results, saved as data, so that a redesign can be checked against the code before it.

``python -m fuzz.saved record`` draws jobs and writes them with their results, ``python -m fuzz.saved`` runs the saved
jobs and compares: status, cost, lower bound, suppressed rows and the rows themselves must be the same, and so must the
bytes of the file that is written. How jobs are drawn today does not matter to those that were saved.
"""

from __future__ import annotations

import argparse
import datetime
import hashlib
import json
import os
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

from discreet.errors import DiscreetError
from fuzz.jobs import Case, Part, make_case
from fuzz.outcome import digest, run
from fuzz.tables import Column

SAVED = Path(__file__).parent / "saved.json"
PATIENCE = 3600
"""Time limit of a job, which is to decide nothing: the saved ones end by themselves within seconds."""


def to_data(case: Case) -> dict[str, Any]:
    """Everything of a case that :func:`run` needs, as plain data."""
    return {
        "seed": case.seed,
        "quasi": {name: _column_data(column) for name, column in case.quasi.items()},
        "sensitive": {name: _column_data(column) for name, column in case.sensitive.items()},
        "label": case.label,
        "privacy": [part.text for part in case.privacy],
        "cost": case.cost and case.cost.text,
        "suppression": case.suppression.text,
        "schemes": {name: part.text for name, part in case.schemes.items()},
        "solver": case.solver and case.solver.text,
        "options": case.options,
        "frame": case.frame,
        "weights": case.weights,
        "owners": case.owners,
        "unit": case.unit,
    }


def from_data(data: dict[str, Any]) -> Case:
    """The case of saved data; what its hierarchies mean and the arguments of its parts are not known."""
    columns = {role: {name: _column(each) for name, each in data[role].items()} for role in ("quasi", "sensitive")}
    schemes = {name: _part(text) for name, text in data["schemes"].items()}
    parts = {name: _part(data[name]) for name in ("cost", "suppression", "solver")}
    return Case(**{**data, **columns, **parts, "privacy": list(map(_part, data["privacy"])), "schemes": schemes})


def _part(text: str | None) -> Part | None:
    return None if text is None else Part(text.partition("(")[0], {}, text)


def _column_data(column: Column) -> dict[str, Any]:
    found = {"kind": column.kind, "given": column.given, "file": column.file}
    people = None if column.people is None else list(map(_plain, column.people))
    return {**found, "values": list(map(_plain, column.values)), "people": people}


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime.date) else value


def _column(data: dict[str, Any]) -> Column:
    if data["kind"] == "date":
        day = datetime.date.fromisoformat
        for role in ("values", "people"):
            data = {**data, role: data[role] and [text and day(text) for text in data[role]]}
    return Column(**data)


def result(case: Case) -> dict[str, str]:
    """The outcome of a case: what came out, and the rows of the file, in their order and sorted."""
    ran = run(case, time_limit=PATIENCE)
    if ran.rows is not None:
        ran.rows.sort(key=lambda row: row["rid"])  # DuckDB does not always keep the order
    found = {"result": digest(ran)}
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


def released(jobs: int) -> list[dict[str, Any]]:
    """The first jobs that end in a release or are proven infeasible, and their results."""
    found: list[dict[str, Any]] = []
    seed = 0
    while len(found) < jobs:
        case = make_case(seed)
        one = result(case)
        if not one["result"].startswith(("refused", "stopped")):
            found.append({"job": to_data(case), **one})
        seed += 1
    return found


def lines(found: list[dict[str, Any]]) -> str:
    """Saved jobs as JSON, one in a line."""
    each = (json.dumps(one, ensure_ascii=False, separators=(",", ":")) for one in found)
    return "[\n" + ",\n".join(each) + "\n]\n"


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
        options.file.write_text(lines(released(options.jobs)), encoding="utf-8")
        return 0
    same, differ = 0, []
    for saved in json.loads(options.file.read_text(encoding="utf-8")):
        job = saved.pop("job")
        found = result(from_data(job))
        if options.rows_in_any_order:
            found, saved = ({**one, "file": ""} for one in (found, saved))
        if found == saved:
            same += 1
        else:
            differ.append(job["seed"])
            print(f"seed {job['seed']}: {saved} became {found}", file=sys.stderr)
    print(f"{same} the same, {len(differ)} different")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
