"""Options that several commands share, and how their values are read."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from discreet.cli._help import Option, option
from discreet.errors import Argument, UsageError
from discreet.job.parameters import PARAMETERS, option_of
from discreet.runtime.locations import TableLocation, without_password

__all__ = [
    "check_hierarchies",
    "columns",
    "dry_run_option",
    "job_option",
    "job_options",
    "json_option",
    "keep_order_option",
    "level_pairs",
    "no_quasi_identifiers",
    "once",
    "pairs",
    "privacy_models",
    "privacy_options",
    "quiet_option",
    "save_job_option",
    "spell_as_key",
    "spell_as_option",
    "verbose_option",
]

F = TypeVar("F", bound=Callable[..., Any])
Decorator = Callable[[F], F]

_REPEATABLE = ("columns", "roles", "texts", "texts by column", "levels by column")

keep_order_option = option(
    "--keep-order", group="output", is_flag=True, help="Write rows in their original order, which may identify people."
)
save_job_option = option(
    "--save-job", group="output", metavar="FILE", help="Save all this as a job file for 'discreet run'."
)
dry_run_option = option(
    "--dry-run", group="output", is_flag=True, help="Check everything and say what would be done; release nothing."
)
json_option = option("--json", "as_json", group="output", is_flag=True, help="Print the result as JSON.")
verbose_option = option(
    "--verbose",
    "-v",
    group="output",
    is_flag=True,
    help="Also print exact figures about suppressed rows and the search. Do not hand these over.",
)
quiet_option = option("--quiet", "-q", group="output", is_flag=True, help="Print nothing but errors.")


class OnceOption(Option):
    """An option that may be given once; click alone would silently take the last."""

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        """Let the parser refuse a second value."""
        super().add_to_parser(parser, ctx)
        known = {**parser._short_opt, **parser._long_opt}
        parsed = known[self.opts[0]]
        process, shown = parsed.process, self.opts[0]

        def process_once(value: Any, state: Any) -> None:
            if self.name in state.opts:
                raise UsageError(f"{shown} is given twice; give it once.")
            process(value, state)

        parsed.process = process_once


def job_option(name: str, **changes: Any) -> Decorator[Any]:
    """Return the option of a parameter of a job, with changes for a command that uses it differently."""
    parameter = PARAMETERS[name]
    more = ("--quasi-identifiers",) if name == "quasi_identifiers" else ()
    settings: dict[str, Any] = {"help": parameter.about, "metavar": parameter.metavar, "group": parameter.group}
    if parameter.kind == "flag":
        return option(
            option_of(name), name, help=parameter.about, flag_value=False, default=True, group=parameter.group
        )
    if parameter.kind == "switch":
        return option(option_of(name), name, help=parameter.about, is_flag=True, group=parameter.group)
    if parameter.kind in _REPEATABLE:
        settings["multiple"] = True
    elif parameter.kind == "choice":
        settings["type"] = click.Choice(parameter.choices)
    elif parameter.kind == "seconds":
        settings["type"] = click.FloatRange(min=0, min_open=True)
    elif parameter.kind == "seed":
        settings["type"] = click.IntRange(min=0)
    elif parameter.kind == "count":
        settings["type"] = click.IntRange(min=1)
    if parameter.default is not None:
        settings |= {"default": parameter.default, "show_default": True}
    settings |= changes
    kind = Option if settings.get("multiple") or settings.get("is_flag") else OnceOption
    return click.option(option_of(name), *more, name, cls=kind, **settings)


def job_options(*options: str | Decorator[Any]) -> Decorator[Any]:
    """Add several options to a command, those of a job by name."""

    def decorate(command: F) -> F:
        for each in reversed(options):
            command = (job_option(each) if isinstance(each, str) else each)(command)
        return command

    return decorate


privacy_options = job_options(
    option("-k", "k", group="privacy", metavar="N", help="Short for k(N): no class smaller than N."),
    option("-l", "ell", group="privacy", metavar="N", help="Short for distinct-l(N) on each sensitive column."),
    "privacy",
)
"""The options for promises: ``-k``, ``-l`` and ``--privacy``."""


def spell_as_option(argument: Argument) -> str:
    """Spell a parameter in a message as an option of the command line.

    >>> spell_as_option(Argument("missing", "value")), spell_as_option(Argument("min_levels"))
    ('--missing value', '--min-level')
    >>> spell_as_option(Argument("keep", ["name", "home town"])), spell_as_option(Argument("models", ()))
    ("--keep name --keep 'home town'", '--model none')
    """
    option = "--model" if argument.name == "models" else option_of(argument.name)
    if argument.value is None or argument.value is False:  # a flag such as --no-overwrite has no value
        return option
    values = argument.value if isinstance(argument.value, list | tuple) else [argument.value]
    return " ".join(f"{option} {_quoted(str(value))}" for value in values or ["none"])


def spell_as_key(argument: Argument) -> str:
    """Spell a parameter in a message as a key of a job file.

    >>> spell_as_key(Argument("missing", "value")), spell_as_key(Argument("keep", ["name"]))
    ('missing: value', 'keep: [name]')
    """
    if argument.name not in PARAMETERS:
        return spell_as_option(argument)
    if argument.value is None:
        return argument.name
    if isinstance(argument.value, bool):
        return f"{argument.name}: {str(argument.value).lower()}"
    if isinstance(argument.value, list):
        return f"{argument.name}: [{', '.join(map(_quoted, argument.value))}]"
    return f"{argument.name}: {argument.value}"


def _quoted(text: str) -> str:
    return f"'{text}'" if " " in text else text


def columns(given: Iterable[str]) -> list[str]:
    """Split ``a,b`` and repeated options into one list; quotes protect a comma in a name.

    >>> columns(["age,zip", '"last, first"'])
    ['age', 'zip', 'last, first']
    """
    names = [name for row in csv.reader(given, skipinitialspace=True) for name in row]
    return [name.strip() for name in names if name.strip()]


def once(option: str, names: list[str]) -> list[str]:
    """Return the names; raise a UsageError if one occurs twice."""
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"{option} names the column '{name}' twice.", column=name)
    return names


def pairs(option: str, given: Iterable[str]) -> dict[str, str]:
    """Read repeated ``NAME=VALUE`` options.

    >>> pairs("--type", ["birth=date", "zip=text"])
    {'birth': 'date', 'zip': 'text'}
    """
    found: dict[str, str] = {}
    for item in given:
        name, equals, value = item.partition("=")
        name, value = name.strip(), value.strip()
        if not (equals and name and value):
            raise UsageError(f"{option} is written NAME=VALUE, and '{item}' is not.")
        if name in found:
            raise UsageError(f"{option} is given twice for '{name}'.", column=name)
        found[name] = value
    return found


def level_pairs(option: str, given: Iterable[str]) -> dict[str, int]:
    """Read repeated ``NAME=LEVEL`` options.

    >>> level_pairs("--min-level", ["age=1"])
    {'age': 1}
    """
    levels = {}
    for name, value in pairs(option, given).items():
        if not value.isdecimal():
            raise UsageError(
                f"{option} of '{name}' must be a whole number, 0 or more.", column=name, topic="level-limits"
            )
        levels[name] = int(value)
    return levels


def privacy_models(k: str | None, ell: str | None, privacy: Sequence[str], sensitive: Sequence[str]) -> list[str]:
    """Combine the shorthands ``-k`` and ``-l`` and the models of ``--privacy`` into one list of text forms."""
    from discreet.runtime.text_form import format_text, parse_text

    models = [] if k is None else [f"k({k})"]
    if ell is not None:
        if not sensitive:
            raise UsageError(
                "-l needs to know which column is sensitive; name it with --sensitive.", topic="sensitive-column"
            )
        number = parse_text(f"distinct-l({ell})")[1]
        models += [format_text("distinct-l", [*number, column], {}) for column in sensitive]
    models += privacy
    if not models:
        raise UsageError("What should the release promise? Name a privacy model, as in -k 5.", topic="no-privacy-model")
    return models


def no_quasi_identifiers(file: TableLocation) -> UsageError:
    """Return the error for a command that was given no quasi-identifiers."""
    return UsageError(
        f"Which columns could identify a person? Name them with --qi; 'discreet info {without_password(file)}' helps.",
        topic="no-quasi-identifier",
    )


def several(file: str, others: Sequence[str], option_name: str = "--table") -> Any:
    """Return a table, or several by name where an option names others about the same people."""
    named = pairs(option_name, others)
    return {Path(file).name.partition(".")[0]: file, **named} if named else file


def check_hierarchies(hierarchies: Mapping[str, str], quasi: Sequence[str], sensitive: Sequence[str] | None) -> None:
    """Refuse hierarchies of columns without a role; without ``sensitive`` only quasi-identifiers have hierarchies."""
    for name in hierarchies:
        if name not in (*quasi, *(sensitive or ())):
            where = "not in --qi" if sensitive is None else "neither in --qi nor in --sensitive"
            raise UsageError(
                f"--hierarchy names '{name}', which is {where}.", column=name, topic="not-a-quasi-identifier"
            )
