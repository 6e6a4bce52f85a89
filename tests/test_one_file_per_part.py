"""A part is one file: those of CONTRIBUTING.md, put into a copy of the package, are found everywhere.

Nothing else is changed in the copy. What is looked at: Python, the command line, job files, ``discreet parts``, the
generated vocabulary page and stub, the choices of the studio, and the contract tests.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

import discreet
from discreet.pipeline.sample_file import write_sample

ROOT = Path(__file__).parents[1]
FILE = re.compile(r"```python\n# ((?:src|tests)/\S+\.py)\n(.*?)```", re.DOTALL)
NEW = {
    "privacy": ("k-e", "KEAnonymity"),
    "costs": ("generalized", "GeneralizedValues"),
    "schemes": ("all-or-nothing", "AllOrNothing"),
    "suppression": ("per-mille", "PerMille"),
    "solvers": ("climb", "ClimbSolver"),
    "axes": ("unique-share", "UniqueShare"),
    "builders": ("split", "split"),
    "attacks": ("largest-class", "LargestClass"),
}
PUBLIC = ("KEAnonymity", "GeneralizedValues", "PerMille", "split")
CODE = """
import discreet as dc
people = dc.sample(600, seed=1).select("sex", "education", "diagnosis", "income")
assert {names} <= set(dir(dc)) & set(dc.__all__)
keep = dict(keep=["income"], sensitive=["income"], quasi_identifiers={{"sex": dc.split(), "education": "split(-)"}})
keep["quasi_identifiers"]["diagnosis"] = None
release = dc.anonymize(people, privacy=[dc.KEAnonymity(3, 1000, "income")], cost=dc.GeneralizedValues(),
    suppression=dc.PerMille(200), solver="climb", **keep)
assert release.audit.passed and release.job["solver"] == "climb", release
text = dc.anonymize(people, privacy="k-e(3, 1000)", cost="generalized", suppression="per-mille(200)",
    solver="climb", **keep)
assert text.cost == release.cost
best = dc.anonymize(people, privacy="k-e(3, 1000)", cost="generalized", suppression="per-mille(200)", **keep)
assert best.audit.passed and best.cost <= release.cost
blocks = dc.anonymize(people, privacy="k(5)", scheme="all-or-nothing", **keep)
assert blocks.audit.passed
front = dc.pareto(people, privacy=["unique-share"], cost="LM", **{{k: v for k, v in keep.items() if k != "keep"}})
assert front.points
"""
JOB = """
input: people.csv
output: safe.csv
identifiers: [person_id, name, birth_date, zip]
quasi_identifiers: {sex: split, education: {split: [" "]}, marital_status: null}
sensitive: [income, diagnosis]
keep: [income, diagnosis]
privacy: ["k-e(3, 1000, income)"]
cost: generalized
suppression: per-mille(200)
solver: climb
"""


@dataclass(frozen=True)
class Copy:
    """A copy of the package with a new part in each family, and its tests."""

    folder: Path

    def python(self, *arguments: str) -> str:
        """Run Python with the copy in place of the package, and return what it writes."""
        paths = [str(self.folder / "src"), str(ROOT / "tests")]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PYTHONDONTWRITEBYTECODE": ""}
        command = [sys.executable, *arguments]
        result = subprocess.run(command, env=environment, cwd=self.folder, capture_output=True, text=True, check=False)
        assert result.returncode == 0, result.stdout[-3000:] + result.stderr[-3000:]
        return result.stdout


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    folder = tmp_path_factory.mktemp("one-file")
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(discreet.__file__).parent, folder / "src" / "discreet", ignore=ignored)
    files = FILE.findall((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    assert len([name for name, _ in files if name.startswith("src/")]) == len(NEW)
    for name, text in files:
        path = folder / name
        assert not (ROOT / name).exists(), f"{name} is no example of something new"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    write_sample(folder / "people.csv", 600, seed=1)
    return Copy(folder)


def test_python(copy: Copy) -> None:
    copy.python("-c", CODE.format(names=set(PUBLIC)))


def test_command_line_and_job_file(copy: Copy) -> None:
    roles = "--identifiers person_id,name,birth_date,zip --sensitive income --keep income,diagnosis"
    forms = "--cost generalized --suppression per-mille(200) --solver climb --hierarchy education=split"
    command = f"-m discreet anonymize people.csv --qi sex,education {roles} {forms} -o out.csv --privacy".split()
    copy.python(*command, "k-e(3, 1000, income)")
    (copy.folder / "job.yaml").write_text(JOB, encoding="utf-8")
    copy.python("-m", "discreet", "run", "job.yaml")
    assert (copy.folder / "out.csv").exists()
    assert (copy.folder / "safe.csv").exists()


def test_parts(copy: Copy) -> None:
    listed = json.loads(copy.python("-m", "discreet", "parts", "--json"))
    for family, (name, _) in NEW.items():
        found = {part["name"]: part for part in listed[family]}
        assert found[name]["about"], name


def test_studio(copy: Copy) -> None:
    pytest.importorskip("starlette", reason="the studio comes with the extra studio")
    ask = "import json; from discreet.studio._vocabulary import vocabulary; print(json.dumps(vocabulary()))"
    offered = json.loads(copy.python("-c", ask))
    for family, (name, _) in NEW.items():
        entry = next(entry for entry in offered[family] if entry["name"] == name)
        assert entry["title"] != name
        assert entry["text"].endswith(".")
    model = next(entry for entry in offered["privacy"] if entry["name"] == "k-e")
    assert [parameter["name"] for parameter in model["parameters"]] == ["k", "e", "attribute"]
    kind = next(entry for entry in offered["suppression"] if entry["name"] == "per-mille")
    assert "refused" not in kind, "a budget goes with every scheme"


def test_generated_files(copy: Copy) -> None:
    (copy.folder / "tools").mkdir()
    shutil.copy(ROOT / "tools" / "generate.py", copy.folder / "tools")
    shutil.copytree(ROOT / "docs", copy.folder / "docs")
    copy.python("tools/generate.py")
    stub = (copy.folder / "src/discreet/__init__.pyi").read_text(encoding="utf-8")
    vocabulary = (copy.folder / "docs/vocabulary.md").read_text(encoding="utf-8")
    for name in PUBLIC:
        assert f"import {name} as {name}" in stub
    for name, python in NEW.values():
        assert re.search(rf"^\| `{re.escape(name)}\b.*\| `{python}` \| .+\.", vocabulary, re.MULTILINE), name


@pytest.mark.deep
@pytest.mark.parametrize(
    ("tests", "names"),
    [
        ("tests/problem/test_contracts.py", ("k-e", "generalized", "all-or-nothing", "per-mille", "unique-share")),
        ("tests/solve/test_contracts.py", ("climb",)),
        ("tests/schema/test_contracts.py", ("split",)),
        ("tests/evaluate/test_attack_family.py", ("largest-class",)),
    ],
)
def test_contracts(tests: str, names: tuple[str, ...], copy: Copy) -> None:
    plain = ["-m", "pytest", "-p", "no:cacheprovider", "-n0", f"--rootdir={ROOT}", str(ROOT / tests)]
    done = copy.python(*plain, "-v", "-k", " or ".join(names))
    for name in names:
        assert len(re.findall(rf"\[{re.escape(name)}\b.*PASSED", done)) >= 2, f"no contract was run for {name}"


def test_their_own_tests(copy: Copy) -> None:
    examples = ["src/discreet/problem/privacy/k_e_anonymity.py", "src/discreet/schema/builders/split.py"]
    copy.python("-m", "pytest", "-q", "-p", "no:cacheprovider", "-n0", "--doctest-modules", "tests", *examples)
