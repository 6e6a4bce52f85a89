"""Parts of other packages: the worked example, as if it were installed, and packages that are broken."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

import discreet
from discreet.cli import program
from discreet.errors import UsageError
from discreet.pipeline.sample_file import write_sample
from discreet.problem import AXES, COSTS, PRIVACY, SCHEMES, SUPPRESSION
from discreet.solve import SOLVERS

EXAMPLE = Path(__file__).parents[1] / "examples" / "extension"
FAMILIES = (PRIVACY, COSTS, SUPPRESSION, SCHEMES, SOLVERS, AXES)

Install = Callable[[str, dict[str, dict[str, str]], dict[str, str]], None]


def dist_info(folder: Path, name: str, groups: dict[str, dict[str, str]]) -> None:
    """Write what pip would write about an installed package."""
    info = folder / f"{name.replace('-', '_')}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", encoding="utf-8")
    lines = [f"[{group}]\n" + "".join(f"{k} = {v}\n" for k, v in each.items()) for group, each in groups.items()]
    (info / "entry_points.txt").write_text("\n".join(lines), encoding="utf-8")


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Install packages of a few modules for one test."""
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.syspath_prepend(str(site))
    for family in FAMILIES:
        monkeypatch.setattr(family, "_loaded_others", {})
    before = set(sys.modules)

    def put(name: str, groups: dict[str, dict[str, str]], modules: dict[str, str]) -> None:
        dist_info(site, name, groups)
        for module, text in modules.items():
            (site / f"{module}.py").write_text(text, encoding="utf-8")

    yield put
    for module in set(sys.modules) - before:
        if str(getattr(sys.modules[module], "__file__", "")).startswith(str(site)):
            del sys.modules[module]


def test_the_example_keeps_its_contracts(tmp_path: Path) -> None:
    groups = tomllib.loads((EXAMPLE / "pyproject.toml").read_text(encoding="utf-8"))["project"]["entry-points"]
    dist_info(tmp_path, "discreet-neighbourly", groups)
    paths = [str(Path(discreet.__file__).parents[1]), str(EXAMPLE / "src"), str(tmp_path)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n0", str(EXAMPLE / "tests")]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert result.returncode == 0, result.stdout
    listed = subprocess.run(
        [sys.executable, "-m", "discreet", "parts", "--json"], env=environment, capture_output=True, check=True
    )
    parts = json.loads(listed.stdout)
    found = {part["name"]: part["package"] for each in parts.values() for part in each if "package" in part}
    assert found == dict.fromkeys(["p-sensitive", "crowding", "descent"], "discreet-neighbourly 1.0")
    combined = subprocess.run(
        [sys.executable, "-m", "discreet", "parts", "--matrix", "--json"],
        env=environment,
        capture_output=True,
        check=True,
    )
    for pair in json.loads(combined.stdout):
        found.pop(pair["first"] if pair["search"] else "", None)
    assert not found, "a part of another package goes with nothing"


PLAIN = """
from dataclasses import dataclass
from discreet.problem.privacy.k_anonymity import KAnonymity

@dataclass(frozen=True)
class Mine(KAnonymity):
    '''As k.'''
    name = "mine"
    aliases = ("my-own",)
"""


def test_nothing_is_imported_before_it_is_named(install: Install) -> None:
    install("other", {"discreet.privacy": {"mine": "other_models:Mine"}}, {"other_models": PLAIN})
    PRIVACY.make("k(5)")
    PRIVACY.members()
    with pytest.raises(UsageError, match="There is no privacy model 'minne'; did you mean 'mine'"):
        PRIVACY.make("minne(5)")
    assert "other_models" not in sys.modules
    model = PRIVACY.make("Mine(5)")
    assert model.text == "mine(5)"
    assert type(PRIVACY.make("mine(3)")) is type(model)
    assert "mine" not in PRIVACY.members()  # so that nothing changes where it is not named


def test_a_part_of_another_package_on_the_command_line(
    install: Install, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install("other", {"discreet.privacy": {"my-own": "other_models:Mine"}}, {"other_models": PLAIN})
    monkeypatch.chdir(tmp_path)
    write_sample(tmp_path / "people.csv", 200, seed=1)
    command = "anonymize people.csv --qi sex --privacy my-own(5) -o safe.csv --identifiers person_id,name,birth_date"
    result = CliRunner().invoke(program, command.split())
    assert result.exit_code == 0, result.output
    assert "mine(5)" in result.stdout


def test_what_comes_with_discreet_is_never_replaced(install: Install) -> None:
    install("other", {"discreet.privacy": {"k": "no_such_module:K"}, "discreet.costs": {"lm": "none:X"}}, {})
    assert PRIVACY.make("k(5)").text == "k(5)"
    assert COSTS.make("LM").text == "LM"
    assert PRIVACY.others() == COSTS.others() == {}


NO_OK = """
from dataclasses import dataclass
from discreet.problem import PrivacyModel

@dataclass(frozen=True)
class Half(PrivacyModel):
    name = "half"
"""
CLASH = PLAIN.replace('("my-own",)', '("k",)')
BROKEN = {
    "no such module": ("no_such_module:X", "", "cannot be loaded (ModuleNotFoundError)"),
    "no such class": ("bad:X", "", "cannot be loaded (AttributeError)"),
    "an error inside": ("bad:X", "raise ValueError('SECRET')", "cannot be loaded (ValueError)"),
    "not a class": ("bad:X", "X = 5", "is not a class that inherits from PrivacyModel"),
    "another family": ("bad:X", "class X: pass", "is not a class that inherits from PrivacyModel"),
    "half of it": ("bad:Half", NO_OK, "does not define ok and reached and satisfied_by"),
    "no dataclass": ("bad:Half", NO_OK.replace("@dataclass(frozen=True)", ""), "is not a dataclass"),
    "another name": ("bad:Mine", PLAIN, "has another name in its class"),
    "a name that is taken": ("bad:Mine", CLASH.replace('"mine"', '"bad"'), "has the name 'k', which another"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_package_gets_one_clear_sentence(case: str, install: Install) -> None:
    place, text, sentence = BROKEN[case]
    install("other", {"discreet.privacy": {"bad": place}}, {"bad": text})
    with pytest.raises(UsageError) as caught:
        PRIVACY.make("bad(5)")
    assert caught.value.message.startswith("The privacy model 'bad' of the package other 1.0 ")
    assert sentence in caught.value.message
    assert caught.value.message.endswith("; upgrade or remove the package.")
    assert caught.value.topic == "plug-in"
    assert "SECRET" not in caught.value.message
    listed = CliRunner().invoke(program, ["parts", "privacy"])
    assert listed.exit_code == 0
    assert sentence in listed.stdout
    assert PRIVACY.make("k(5)").text == "k(5)"
