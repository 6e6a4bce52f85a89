"""List every package an installation of discreet brings, with version and licence, and ask for known weaknesses.

The advisories come from a public database by pip-audit, which needs a connection. Without one this says so, and the
list is all there is: it is not a clean bill of health. The exit code is 1 if a weakness is known, or a licence is one
that asks for more than attribution.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[1]
ASKS_FOR_MORE = re.compile(r"\b(A?GPL|SSPL|Commons Clause|Proprietary)\b")
"""Licences that would ask something of those who install discreet (the LGPL does not, for what is only imported)."""


def main() -> None:
    """Print the list, then what is known against it."""
    found = installed("discreet")
    if found.pop("discreet", None) is None:
        sys.exit("discreet is not installed here; make audit-dependencies installs it.")
    width = max(map(len, found))
    print(f"An installation brings {len(found)} packages:\n")
    doubtful = []
    for name, package in sorted(found.items()):
        licence = licence_of(package)
        print(f"  {name.ljust(width)}  {package.version.ljust(12)}  {licence}")
        if ASKS_FOR_MORE.search(licence.replace("LGPL", "")):
            doubtful.append(name)
    print()
    weak = ask(found)
    for name in doubtful:
        print(f"The licence of {name} asks for more than attribution; look at it.")
    sys.exit(1 if weak or doubtful else 0)


def installed(name: str, seen: dict[str, Distribution] | None = None) -> dict[str, Distribution]:
    """Return a package and everything it needs, without extras, as far as it is installed."""
    seen = {} if seen is None else seen
    key = re.sub(r"[-_.]+", "-", name).lower()
    if key in seen:
        return seen
    try:
        seen[key] = package = distribution(name)
    except PackageNotFoundError:
        print(f"  {name} is not installed here and left out", file=sys.stderr)
        return seen
    for text in package.requires or []:
        needed = Requirement(text)
        if needed.marker is None or needed.marker.evaluate({"extra": ""}):
            installed(needed.name, seen)
    return seen


def licence_of(package: Distribution) -> str:
    """Return the licence a package declares, in one of the three places where packages do."""
    about = package.metadata
    if about.get("License-Expression"):
        return str(about["License-Expression"])
    listed = [line.split(" :: ")[-1] for line in about.get_all("Classifier") or [] if line.startswith("License ::")]
    if listed:
        return ", ".join(listed)
    return (about.get("License") or "not declared").strip().splitlines()[0][:60]


def ask(found: dict[str, Distribution]) -> int:
    """Ask pip-audit what is known against the packages, and return how many are concerned."""
    listed = "".join(f"{name}=={package.version}\n" for name, package in sorted(found.items()))
    command = [sys.executable, "-m", "pip_audit", "--no-deps", "--disable-pip", "--format", "json", "-r", "/dev/stdin"]
    try:
        done = subprocess.run(command, input=listed, capture_output=True, text=True, timeout=120, check=False)
        report = json.loads(done.stdout)
    except (subprocess.TimeoutExpired, json.JSONDecodeError):
        report = {"dependencies": []}
    weak, said = verdict(report["dependencies"], len(found))
    print(said)
    return weak


def verdict(answers: list[dict[str, Any]], asked: int) -> tuple[int, str]:
    """Return how many packages have known weaknesses, and what to say; those nothing could be learnt of are counted.

    >>> verdict([{"name": "a", "skip_reason": "not found"}], 1)[1]
    'Nothing could be learnt about 1 of 1 versions: the database of advisories does not answer for them.'
    """
    answered = [item for item in answers if "skip_reason" not in item]
    weak = [item for item in answered if item.get("vulns")]
    said = [
        f"{item['name']} {item['version']} has known weaknesses: {', '.join(each['id'] for each in item['vulns'])}"
        for item in weak
    ]
    if answered and not weak:
        said.append(f"No weaknesses are known of {len(answered)} versions.")
    if len(answered) < asked:
        silent = f"{asked - len(answered)} of {asked} versions"
        said.append(f"Nothing could be learnt about {silent}: the database of advisories does not answer for them.")
    return len(weak), "\n".join(said)


if __name__ == "__main__":
    main()
