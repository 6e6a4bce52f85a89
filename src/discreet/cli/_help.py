"""The help of commands: options in groups, and text that is never broken within a word or a text form."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar, get_args

import click

from discreet.cli._completion import completing
from discreet.job.parameters import OptionGroup

__all__ = ["Command", "HelpFormatter", "Option", "dressed", "option"]

_TITLES = {group: group.capitalize() for group in get_args(OptionGroup)}
_OTHER = "Help"
_HYPHEN, _SPACE = "\u2011", "\u00a0"
"""Stand for a hyphen and a space where no line may end, until the text is printed."""
_TOGETHER = re.compile(r"'[^']*'|\w[\w+-]*\([^()]*\)")


F = TypeVar("F", bound=Callable[..., Any])


class Option(click.Option):
    """An option that belongs to a group of the help."""

    def __init__(self, *args: Any, group: OptionGroup | None = None, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.group = group


def option(*names: str, group: OptionGroup | None = None, **settings: Any) -> Callable[[F], F]:
    """Add an option of a group to a command."""
    return click.option(*names, cls=Option, group=group, **settings)


class Command(click.Command):
    """A command whose help shows its options in groups."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, those of each group under its title; without groups, all in one list."""
        found: dict[str, list[tuple[str, str]]] = {title: [] for title in (*_TITLES.values(), _OTHER)}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx) if isinstance(parameter, click.Option) else None
            if record is not None:
                found[_TITLES.get(getattr(parameter, "group", None) or "", _OTHER)].append(record)
        used = [(title, records) for title, records in found.items() if records]
        if [title for title, _ in used] in ([_OTHER], ["Output", _OTHER]):
            used = [("Options", [record for _, records in used for record in records])]
        for title, records in used:
            with formatter.section(title):
                formatter.write_dl(records)


class HelpFormatter(click.HelpFormatter):
    """Writes help in lines that end between words only; text forms such as ``t(0.2, disease)`` stay whole."""

    def write_heading(self, heading: str) -> None:
        """Write the title of a section in bold."""
        self.write(f"{'':>{self.current_indent}}{click.style(f'{heading}:', bold=True)}\n")

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        """Write a list of terms and their descriptions."""
        super().write_dl([(term, _protected(text)) for term, text in rows], col_max, col_spacing)

    def write_text(self, text: str) -> None:
        """Write paragraphs; lines of examples that are too long are continued like commands of a shell."""
        width = self.width - self.current_indent
        paragraphs = []
        for paragraph in text.split("\n\n"):
            lines = paragraph.split("\n")
            if lines[0].strip() == "\b":
                fitting = [piece for line in _joined(lines[1:]) for piece in _fitted(line, width)]
                paragraphs.append("\n".join(["\b", *fitting]))
            else:
                paragraphs.append(_protected(paragraph))
        super().write_text("\n\n".join(paragraphs))

    def getvalue(self) -> str:
        """Return the text, with ordinary hyphens and spaces."""
        return super().getvalue().replace(_HYPHEN, "-").replace(_SPACE, " ")


def _protected(text: str) -> str:
    """Mark the hyphens of a text, and the spaces within text forms, so that no line ends there."""
    whole = _TOGETHER.sub(lambda form: form[0].replace(" ", _SPACE) if len(form[0]) < 40 else form[0], text)
    return whole.replace("-", _HYPHEN)


def _joined(lines: Sequence[str]) -> list[str]:
    """Put commands that are continued with a backslash on one line."""
    joined: list[str] = []
    for line in lines:
        if joined and joined[-1].endswith("\\"):
            joined[-1] = f"{joined[-1][:-1].rstrip()} {line.strip()}"
        else:
            joined.append(line)
    return joined


def _fitted(line: str, width: int) -> list[str]:
    """Return a line of an example as lines that fit; a command is continued with a backslash."""
    if len(line) <= width:
        return [line]
    indent = len(line) - len(line.lstrip())
    if line.lstrip().startswith("discreet ") and "  " not in line.strip():
        first, *options = re.split(r" (?=-)", line)  # an option and its value stay together
        lines = [first]
        for each in options:
            if len(lines[-1]) + len(each) + 3 > width:
                lines[-1] += " \\"
                lines.append(" " * (indent + 4) + each)
            else:
                lines[-1] += f" {each}"
        return lines
    gap = re.search(r"\S {2,}(?=\S)", line)
    hanging = gap.end() if gap else indent
    return textwrap.wrap(line, width, subsequent_indent=" " * hanging, break_long_words=False, break_on_hyphens=False)


class Context(click.Context):
    """The context of a command, with our help."""

    formatter_class = HelpFormatter


def dressed(command: click.Command) -> click.Command:
    """Let a command, and those in it if it is a group, write its help and be completed like the others."""
    command.context_class = Context
    for parameter in command.params:
        completing(parameter)
    for inner in command.commands.values() if isinstance(command, click.Group) else ():
        dressed(inner)
    return command
