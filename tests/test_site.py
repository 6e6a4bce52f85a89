"""The documentation site: what is generated is complete, and every page has its place."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest
import yaml

import discreet as dc
from discreet.cli import program
from discreet.job import Job

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def pages() -> ModuleType:
    """The hook that writes pages when the site is built."""
    spec = importlib.util.spec_from_file_location("site_pages", ROOT / "docs" / "site" / "pages.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def navigation(pages: ModuleType) -> list[str]:
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    return list(pages.named(yaml.safe_load(text)["nav"]))


def test_the_navigation_leads_somewhere(pages: ModuleType, navigation: list[str]) -> None:
    written = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    assert set(navigation) - written - set(pages.GENERATED) <= pages.OPTIONAL
    assert len(set(navigation)) == len(navigation), "a page is named twice"
    assert set(pages.GENERATED) <= set(navigation)


def test_every_public_name_is_in_the_reference(pages: ModuleType) -> None:
    text = "".join(
        pages.GENERATED[f"reference/{name}.md"]()
        for name in ("python", "hierarchies", "parts", "evaluate", "extension")
    )
    described = {place.rsplit(".", 1)[-1] for place in re.findall(r"^::: (\S+)$", text, re.MULTILINE)}
    assert set(pages.public()) - described - {"evaluate"} == set()
    assert set(dc.evaluate.__all__) <= described


def test_every_command_and_option_is_in_the_reference(pages: ModuleType) -> None:
    text = pages.GENERATED["reference/command-line.md"]()
    for path, command in pages.commands(program):
        assert f"# discreet {' '.join(path)}\n" in text
        for parameter in command.params:
            if parameter.param_type_name == "option":
                assert parameter.opts[-1] in text, parameter.name
    assert "| 130 | interrupted |" in text


def test_every_key_of_a_job_is_explained() -> None:
    text = (ROOT / "docs" / "jobs.md").read_text(encoding="utf-8")
    explained = {
        key for row in re.findall(r"^\| (`.+?`) \|", text, re.MULTILINE) for key in re.findall(r"`(\w+)`", row)
    }
    assert set(Job.model_fields) - explained == set()


def test_pages_of_the_root_link_to_pages(pages: ModuleType, navigation: list[str]) -> None:
    for place, write in pages.GENERATED.items():
        if place.startswith("explanation/") or place == "reference/changes.md":
            for target in re.findall(r"\]\(([^)#:]+)", write()):
                found = (Path(place).parent / target).as_posix()
                known = {re.sub(r"[^/]+/\.\./", "", found)}
                assert known & (set(pages.GENERATED) | set(navigation) | {"LICENSE"}), f"{place} links to {target}"


def test_no_page_asks_the_network() -> None:
    for file in (ROOT / "docs" / "site").iterdir():
        if file.suffix in (".css", ".js"):
            assert "://" not in file.read_text(encoding="utf-8"), file.name


def test_assistants_get_an_index_and_the_whole_reference(pages: ModuleType) -> None:
    spec = importlib.util.spec_from_file_location("site_assistants", ROOT / "docs" / "site" / "assistants.py")
    assert spec is not None
    assert spec.loader is not None
    assistants = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(assistants)
    nav = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]
    index, whole = assistants.index(nav), assistants.whole(nav)
    for page in pages.named(nav):
        assert f"({page.removesuffix('.md')}.html)" in index
        assert f"<!-- {page} -->" in whole
    assert "\n:::" not in whole
    for name in ("anonymize", "pareto", "audit", "KAnonymity"):
        assert f"### {name}\n" in whole
