"""Run every attack in turn until enough releases were attacked or the time is over, and print tried / held.

An attack that succeeds is printed with the seed that repeats it: ``--only NAME --first SEED --rounds 1``.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path

from attack.base import attacks


def main() -> int:
    parser = argparse.ArgumentParser(prog="attack", description=__doc__)
    parser.add_argument("--releases", type=int, default=2_000, help="stop once this many releases were attacked")
    parser.add_argument("--rounds", type=int, default=1_000_000, help="stop after this many rounds of all attacks")
    parser.add_argument("--seconds", type=float, default=1e9, help="stop after this many seconds")
    parser.add_argument("--first", type=int, default=0, help="seed of the first round")
    parser.add_argument("--only", action="append", help="run this attack alone (repeatable)")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    chosen = {name: run for name, run in attacks().items() if not given.only or name in given.only}
    tried: Counter[tuple[str, str]] = Counter()
    held: Counter[tuple[str, str]] = Counter()
    begun = time.monotonic()
    seed = given.first
    while tried.total() < given.releases and seed < given.first + given.rounds:
        for name, run in chosen.items():
            if time.monotonic() - begun > given.seconds:
                break
            with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as home:
                os.environ["XDG_STATE_HOME"] = home  # not the key and the ledger of whoever runs this
                for outcome in run(seed, Path(folder)):
                    key = (outcome.attack, outcome.target)
                    tried[key] += 1
                    held[key] += outcome.held
                    if not outcome.held:
                        print(f"BROKEN {name} on {outcome.target}: {outcome.detail} (--first {seed})", flush=True)
        else:
            seed += 1
            continue
        break
    print(f"{'attack':24} {'on':36} {'tried':>7} {'held':>7}")
    for attack, target in sorted(tried):
        print(f"{attack:24} {target:36} {tried[attack, target]:7,} {held[attack, target]:7,}")
    print(f"{'all':61} {tried.total():7,} {held.total():7,}  ({time.monotonic() - begun:.0f} s)")
    return 0 if tried == held and tried else 1


if __name__ == "__main__":
    sys.exit(main())
