"""Pages that are written from the sources when the site is built, so that they cannot go stale."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click

ROOT = Path(__file__).parents[2]
FIRST = ("anonymize", "pareto", "audit", "Release", "Front", "Audit")
"""What is described before everything else."""
OPTIONAL = {"studio.md", "trust.md"}
"""Pages of the navigation that may not be there yet."""


def errors() -> str:
    """Every error and the ways out: the page that ``discreet explain`` reads."""
    from discreet.explain import errors_page

    return errors_page()


def command_line() -> str:
    """All commands, from the program itself."""
    from discreet.cli import program

    lines = [
        "# The command line",
        "",
        "Written from the program itself; `discreet COMMAND --help` shows the same. Every error ends with a topic,",
        "which `discreet explain TOPIC` [explains](errors.md). With `--json`, results and errors are JSON.",
        "",
        "| exit code | meaning |",
        "|---|---|",
    ]
    codes = re.search(r"Exit codes: (.+?)\.$", " ".join((program.epilog or "").split()))
    for code in (codes.group(1) if codes else "").split(", "):
        number, _, meaning = code.partition(" ")
        lines.append(f"| {number} | {meaning} |")
    for path, command in commands(program):
        lines += [
            "",
            f"{'##' if len(path) == 1 else '###'} discreet {' '.join(path)}",
            "",
            *help_text(path, command),
        ]
    return "\n".join(lines) + "\n"


def commands(group: click.Group, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Yield every command with its path."""
    for name, command in group.commands.items():
        yield (*path, name), command
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))


def help_text(path: tuple[str, ...], command: click.Command) -> Iterator[str]:
    """Yield what a command does, takes and shows."""
    from discreet.cli import program

    context = click.Context(command, info_name=f"discreet {' '.join(path)}", **program.context_settings)
    yield re.sub(r"\b([A-Z]{2,})\b", r"`\1`", " ".join((command.help or "").split()))
    yield ""
    yield "```text"
    yield " ".join([f"discreet {' '.join(path)}", *command.collect_usage_pieces(context)])
    yield "```"
    options = [item for item in command.params if isinstance(item, click.Option) and not item.hidden]
    if options:
        yield ""
        yield "| option | meaning |"
        yield "|---|---|"
        for option in options:
            record = option.get_help_record(context)
            if record is not None:
                names, meaning = (cell.replace("|", "\\|").replace("*", "\\*") for cell in record)
                yield f"| `{names}` | {meaning} |"
    for block in (command.epilog or "").split("\b\n")[1:]:
        yield ""
        yield from ["```text", block.strip(), "```"] if block.startswith("Examples") else [" ".join(block.split())]


def described(title: str, intro: str, names: tuple[str, ...], module: str = "discreet") -> str:
    """Some names with their docstrings."""
    import importlib

    lines = [title, "", intro, ""]
    for name in names:
        found = getattr(importlib.import_module(module), name)
        place = getattr(found, "__module__", module)
        lines += [f"::: {place}.{name}", ""]
    return "\n".join(lines)


def python() -> str:
    """Functions, results and errors of the public face."""
    import discreet as dc
    from discreet import schema

    known = {member.__name__ for family in families().values() for member in family.members().values()}
    known |= {*schema.BUILDERS.members(), *schema.__all__, "evaluate"}
    names = [name for name in public() if name not in known]
    names.sort(key=lambda name: (name not in FIRST, FIRST.index(name) if name in FIRST else 0))
    classes = [name for name in names if isinstance(getattr(dc, name), type)]
    failures = tuple(name for name in classes if issubclass(getattr(dc, name), Exception))
    functions = (*(name for name in names if name not in classes), "parse_block")
    results = tuple(name for name in classes if name not in failures)
    return "\n".join(
        [
            "# Functions and results\n\nEverything here is in `import discreet as dc`.\n",
            described("## Functions", "What one does.", functions),
            described("## Results", "What one gets, and what a job is.", results),
            described("## Errors", "See [errors](errors.md) for what each means and the ways out.", failures),
        ]
    )


def hierarchies() -> str:
    """The builders, and what they build."""
    import discreet.schema as schema

    known = {*schema.BUILDERS.members(), *schema.__all__} - {"parse_block"}
    names = [name for name in public() if name in known]
    return described("# Hierarchies", "See [hierarchies](../hierarchies.md) for how to choose.", tuple(sorted(names)))


def families() -> dict[str, Any]:
    """The families whose members are public names."""
    from discreet.problem import COSTS, PRIVACY, SUPPRESSION

    return {"Privacy models": PRIVACY, "Costs": COSTS, "Suppression": SUPPRESSION}


def parts() -> str:
    """Privacy models, costs and suppression kinds, by family."""
    lines = [
        "# Privacy models, costs and suppression",
        "",
        "Each may be given as an object or by its text form; [the vocabulary](../vocabulary.md) compares them.",
        "",
    ]
    for title, family in families().items():
        lines += [f"## {title}", ""]
        for member in sorted(family.members().values(), key=lambda member: member.__name__):
            lines += [f"::: {member.__module__}.{member.__name__}", "    options: {members: false}", ""]
    return "\n".join(lines)


def evaluation() -> str:
    """What is in ``discreet.evaluate``."""
    import discreet.evaluate as evaluate

    intro = "In `dc.evaluate`. See [risk](../risk.md) and [utility](../utility.md)."
    return described("# Evaluation", intro, tuple(evaluate.__all__), "discreet.evaluate")


def extension() -> str:
    """The protocols of the families, and the contracts."""
    return "\n".join(
        [
            "# Extension kit\n\nSee [write a part of your own](../how-to/extend.md).\n",
            "## Contracts\n\nIn `discreet.testing`; subclass one in a test file.\n",
            *(f"::: discreet.testing._{module}.{name}\n" for module, name in CONTRACTS),
            "## What parts inherit from\n\nIn `discreet.problem`, `discreet.schema` and `discreet.solve`.\n",
            *(f"::: {name}\n" for name in BASES),
        ]
    )


CONTRACTS = (
    ("privacy", "PrivacyModelContract"),
    ("costs", "CostContract"),
    ("suppression", "SuppressionContract"),
    ("schemes", "SchemeContract"),
    ("solvers", "SolverContract"),
    ("axes", "AxisContract"),
    ("builders", "BuilderContract"),
)
BASES = (
    "discreet.problem.privacy._base.PrivacyModel",
    "discreet.problem.privacy._base.Groups",
    "discreet.problem.costs._base.Cost",
    "discreet.problem.suppression._base.Suppression",
    "discreet.problem.schemes._base.Scheme",
    "discreet.problem.axes._base.Axis",
    "discreet.schema.builders._base.LevelBuilder",
    "discreet.solve._base.Solver",
    "discreet.solve._base.Solution",
    "discreet.solve._recoding.Recoder",
    "discreet.solve._class_arrays.Released",
    "discreet.problem.classes.Classes",
    "discreet.counts.CountTable",
)


def public() -> list[str]:
    """The names of the public face."""
    import discreet as dc

    return [name for name in dc.__all__ if not name.startswith("_")]


def copied(name: str, depth: str) -> Callable[[], str]:
    """A page of the project's root, with its links as seen from the site."""

    def page() -> str:
        text = (ROOT / name).read_text(encoding="utf-8")
        text = re.sub(r"\]\(docs/", f"]({depth}", text)
        return relinked(text, depth)

    return page


def relinked(text: str, depth: str) -> str:
    """Let links to files of the project's root lead to their pages."""
    for file, page in ROOT_PAGES.items():
        text = re.sub(rf"\]\((?:\.\./)*{re.escape(file)}(#[^)]*)?\)", rf"]({depth}{page}\1)", text)
    text = re.sub(r"\]\((?:\.\./)*examples/notebooks/", f"]({depth}gallery/", text)
    return re.sub(r"\]\((?:\.\./)*src/discreet/explain/errors\.md", f"]({depth}reference/errors.md", text)


ROOT_PAGES = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "explanation/contributing.md",
    "SECURITY.md": "explanation/security.md",
    "CHANGELOG.md": "reference/changes.md",
}
GENERATED: dict[str, Callable[[], str]] = {
    "reference/errors.md": errors,
    "reference/command-line.md": command_line,
    "reference/python.md": python,
    "reference/hierarchies.md": hierarchies,
    "reference/parts.md": parts,
    "reference/evaluate.md": evaluation,
    "reference/extension.md": extension,
    "reference/changes.md": copied("CHANGELOG.md", "../"),
    "explanation/security.md": copied("SECURITY.md", "../"),
    "explanation/contributing.md": copied("CONTRIBUTING.md", "../"),
}


def on_config(config: Any) -> Any:
    """Leave pages out of the navigation that are not there yet, and put those that nobody placed among the how-tos."""
    missing = {page for page in OPTIONAL if not (ROOT / "docs" / page).exists()}
    config.nav = without(config.nav, missing)
    written = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    for item in config.nav:
        item.get("How to", []).extend(sorted(written - set(named(config.nav))))
    return config


def named(nav: Any) -> Iterator[str]:
    """Yield the pages of the navigation."""
    for item in nav if isinstance(nav, list) else nav.values() if isinstance(nav, dict) else []:
        if isinstance(item, str):
            yield item
        else:
            yield from named(item)


def without(nav: Any, missing: set[str]) -> Any:
    """Return the navigation without some pages."""
    if isinstance(nav, list):
        return [item for item in (without(each, missing) for each in nav) if item not in (None, {}, [])]
    if isinstance(nav, dict):
        return {title: found for title, each in nav.items() if (found := without(each, missing)) is not None}
    return None if nav in missing else nav


def on_files(files: Any, config: Any) -> Any:
    """Add the generated pages, and the notebooks of the gallery."""
    from mkdocs.structure.files import File

    for place, write in GENERATED.items():
        files.append(File.generated(config, place, content=write()))
    for notebook in sorted((ROOT / "examples" / "notebooks").glob("*.ipynb")):
        files.append(File.generated(config, f"gallery/{notebook.name}", abs_src_path=str(notebook)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Mend what is written for readers of the repository: links to its root, and code blocks of the shell."""
    depth = "../" * page.file.src_uri.count("/")
    return relinked(markdown, depth)


SHIM = re.compile(r"https://[^\s\"']+/iframe-worker/shim")


def on_post_page(output: str, page: Any, **_: Any) -> str:
    """Let the search of pages opened from the disk do without the network."""
    return SHIM.sub(f"{'../' * page.file.dest_uri.count('/')}site/worker.js", output)


def on_post_template(output: str, **_: Any) -> str:
    """Let the page for what is not found do so too."""
    return SHIM.sub("site/worker.js", output)
