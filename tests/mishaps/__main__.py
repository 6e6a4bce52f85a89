"""Try every mishap, or those named on the command line."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from pathlib import Path

from mishaps import MISHAPS, Skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("which", nargs="*", help="which mishaps; all by default")
    options = parser.parse_args()
    os.environ["XDG_STATE_HOME"] = tempfile.mkdtemp(prefix="discreet-state-")  # not that of whoever runs this
    ends = {"ok": 0, "failed": 0, "skipped": 0}
    for name, function in MISHAPS.items():
        if options.which and name not in options.which:
            continue
        begun = time.monotonic()
        end = "ok"
        with tempfile.TemporaryDirectory(prefix="mishap") as folder:
            try:
                function(Path(folder))
            except Skip as why:
                end = f"skipped: {why}"
            except AssertionError as wrong:
                end = f"failed: {wrong}"
        ends[end.split(":")[0]] += 1
        print(f"{name:36} {end} ({time.monotonic() - begun:.0f} s)", flush=True)
    print(json.dumps(ends))
    return 1 if ends["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
