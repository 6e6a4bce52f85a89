"""The program ``discreet``: its commands, and how every error becomes an exit code and one line."""

from __future__ import annotations

import errno
import gc
import json
import os
import sys
import traceback
from collections.abc import Sequence
from functools import partial
from typing import Any

import click

from discreet.cli._answer import FORMAT
from discreet.cli._help import Context, dressed
from discreet.cli._no_scipy import keep_scipy_out_of_numba
from discreet.cli._options import spell_as_key, spell_as_option
from discreet.cli._short_of_memory import ending_in_time
from discreet.cli._terminal import echo, wants_colour
from discreet.cli._watch import Abandoned
from discreet.cli.anonymize import anonymize
from discreet.cli.apply import apply
from discreet.cli.attack import attack
from discreet.cli.audit import audit
from discreet.cli.check import check
from discreet.cli.compare import compare
from discreet.cli.completion import completion
from discreet.cli.explain import explain
from discreet.cli.find import find
from discreet.cli.hierarchy import hierarchy
from discreet.cli.info import info
from discreet.cli.mcp import mcp
from discreet.cli.pareto import pareto
from discreet.cli.parts import parts
from discreet.cli.risk import risk
from discreet.cli.run import run
from discreet.cli.sample import sample
from discreet.cli.schema import schema
from discreet.cli.studio import studio
from discreet.cli.utility import utility
from discreet.cli.warm_up import warm_up
from discreet.errors import DiscreetError, InterruptedRun, OutputError
from discreet.runtime.machine_limits import check_memory, spare_memory

__all__ = ["main", "program"]

_BAD_USAGE = 2
_COMMAND_LINE = "command-line"
_INTERRUPTED = 130
_OBJECTS = 100_000
"""New objects after which to look for garbage: modules make this many that stay, and tables are no Python objects."""
_LIGHT = ("explain", "completion", "--help", "-h", "--version")
"""Commands that read no table, and so need hardly any memory."""
_BY_JOB_FILE = ("run", "compare")
"""Commands whose parameters are keys of job files."""
_NO_MEMORY = ("failed to map segment from shared object", "can't start new thread", "Unable to allocate")
_STDOUT_GONE = (errno.EPIPE, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
"""How printing to a pipe or a file fails; errors of other files never get this far."""


class Program(click.Group):
    """A group of commands that never ends in a traceback."""

    context_class = Context

    def add_command(self, cmd: click.Command, name: str | None = None) -> None:
        """Add a command, whose help is written like that of the others."""
        super().add_command(dressed(cmd), name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands with their whole first sentence."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, each.get_short_help_str(200)) for name, each in sorted(self.commands.items())])

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        """Run a command and exit with its code."""
        arguments = list(sys.argv[1:] if args is None else args)
        report = partial(_report, command=next(iter(arguments), ""), as_json="--json" in arguments)
        hook = sys.unraisablehook
        sys.unraisablehook = lambda lost: None if _out_of_memory(lost.exc_value) else hook(lost)  # reported once
        try:
            if arguments and arguments[0] not in _LIGHT:
                check_memory()
                spare_memory()
            with ending_in_time(report):
                extra.setdefault("color", wants_colour(sys.stdout.isatty()) or None)
                code = super().main(arguments, "discreet", complete_var, standalone_mode=False, **extra)
                sys.stdout.flush()
            ending = code if isinstance(code, int) else 0
        except SystemExit:
            raise
        except BaseException as error:
            if os.environ.get("DISCREET_DEBUG"):
                traceback.print_exc()
            try:
                ending = report(error)
            except OSError as unprinted:
                ending = _report(unprinted, "", as_json=False)
        finally:
            sys.unraisablehook = hook
        sys.exit(ending)


def _report(error: BaseException, command: str, as_json: bool) -> int:
    """Print in one line what went wrong, and return the exit code."""
    if isinstance(error, OSError) and error.errno in _STDOUT_GONE:
        # Nothing more may be written, not even by the interpreter as it closes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if error.errno == errno.EPIPE:  # the reader has seen enough
            return 1
        error = OutputError(f"What was to be printed cannot be written ({error.strerror}).")
    if isinstance(error, click.UsageError) and type(error).__name__ == "NoArgsIsHelpError":
        error.show()  # a group without a command: its help says what is missing
        return _BAD_USAGE
    message, code, topic = _explain(error, command)
    more = "" if topic == _COMMAND_LINE else f" (more: discreet explain {topic})"  # --help is named there already
    echo(f"discreet: {message}{more}", err=True)
    if as_json:
        kind = "UsageError" if code == _BAD_USAGE else type(error).__name__
        fields = {"format": FORMAT, "error": message, "code": code, "kind": kind, "topic": topic}
        if isinstance(error, DiscreetError) and error.column is not None:
            fields["column"] = error.column
        click.echo(json.dumps(fields, ensure_ascii=False))
    return code


def _explain(error: BaseException, command: str) -> tuple[str, int, str]:
    """Return the sentence for an error in the spelling of a command, its exit code, and the topic that explains it."""
    if isinstance(error, DiscreetError):
        spell = spell_as_key if command in _BY_JOB_FILE else spell_as_option
        return error.spelled(spell), error.exit_code, error.topic
    if isinstance(error, click.ClickException):
        context = getattr(error, "ctx", None)
        path = context.command_path if context else "discreet"
        sentence = " ".join(error.format_message().split())
        for words, plain in (("a valid float range", "a number"), ("a valid integer range", "a whole number")):
            sentence = sentence.replace(words, plain)
        return f"{sentence} (try: {path} --help)", _BAD_USAGE, _COMMAND_LINE
    if isinstance(error, click.Abort) and isinstance(error.__cause__, EOFError):
        error = error.__cause__  # click takes every EOFError for the end of typed input
    if isinstance(error, KeyboardInterrupt | click.Abort | Abandoned):
        return "interrupted; nothing was released.", _INTERRUPTED, InterruptedRun.topic
    if _out_of_memory(error):
        return "the memory of this machine does not suffice for this job.", 1, "out-of-memory"
    # The text of a foreign exception may quote the data, so only its kind is shown.
    return (
        f"an unexpected {type(error).__name__}; set DISCREET_DEBUG=1 to see where it came from.",
        1,
        DiscreetError.topic,
    )


def _out_of_memory(error: BaseException | None) -> bool:
    """Whether an error says that memory ran out, in the words of one of the libraries."""
    if isinstance(error, OSError):
        return error.errno == errno.ENOMEM
    text = str(error)
    return isinstance(error, MemoryError) or any(words in text for words in _NO_MEMORY)


def _version(context: click.Context, option: click.Parameter, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        import discreet

        click.echo(f"discreet {discreet.__version__}")
        context.exit()


@click.group(
    cls=Program,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="""\b
Start here:
  discreet studio                            everything below, in the browser
  discreet sample -n 1000 -o people.csv      a table to try things on
  discreet info people.csv                   what is in it, and what could identify people
  discreet anonymize people.csv --identifiers person_id,name,income --qi birth_date,sex,zip -k 5 -o safe.csv \\
      --mapping mapping.json
  discreet pareto people.csv --qi birth_date,sex,zip -o front.html
  discreet audit safe.csv --qi birth_date,sex,zip -k 5
  discreet risk safe.csv --qi birth_date,sex,zip --population 100000
  discreet find safe.csv sex=female zip=15101 --mapping mapping.json --original people.csv
  discreet utility people.csv safe.csv --mapping mapping.json

Exit codes: 0 done, 2 wrong usage, 3 data or hierarchy that cannot be used, 4 no release possible,
5 audit failed, 6 output cannot be written, 7 nothing found and nothing proven, 130 interrupted, 1 anything else.""",
)
@click.option("--version", is_flag=True, expose_value=False, is_eager=True, callback=_version, help="Show the version.")
def program() -> None:
    """Turn a table about people into one that is safe to share, with a proof that nothing better exists."""


_COMMANDS = (
    *(anonymize, pareto, audit, check, apply, risk, attack, find, utility, run, compare, studio),
    *(hierarchy, info, sample, parts, schema, explain, completion, warm_up, mcp),
)
for _command in _COMMANDS:
    program.add_command(_command)


def main() -> None:
    """Run the program: the entry point of ``discreet`` and of ``python -m discreet``."""
    gc.set_threshold(_OBJECTS, 50, 50)
    keep_scipy_out_of_numba()
    program.main()
