"""``discreet mcp``: tools for assistants that speak the Model Context Protocol."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from discreet.errors import DiscreetError, UsageError

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

__all__ = ["make_server", "mcp"]

_INSTRUCTIONS = """\
These tools anonymize tables about people. They answer with names of columns, types, counts and verdicts, and never with
rows: do not try to read the tables by other means. Begin with look, agree with the user on the role of every column and
on the promises, try them with plan, then anonymize, and show the verdict before anything else."""


@click.command(
    epilog="""\b
Examples:
  discreet mcp
  discreet mcp --folder exports

\b
An assistant starts it by itself. Tell it how, for example in its configuration file:
  {"mcpServers": {"discreet": {"command": "discreet", "args": ["mcp", "--folder", "exports"]}}}""",
)
@click.option("--folder", default=".", show_default=True, metavar="DIR", help="The only folder that tables may be in.")
def mcp(folder: str) -> None:
    """Serve tools to an assistant over stdin and stdout: they see names, counts and verdicts, and never rows."""
    make_server(folder).run("stdio")


def make_server(folder: str) -> MCPServer[Any]:
    """Return a server whose tools work on the tables of a folder."""
    try:
        from mcp.server.mcpserver import MCPServer
    except ImportError:
        raise UsageError(
            "To serve assistants, install the extra: pip install 'discreet[mcp]'.", topic="missing-extra"
        ) from None
    from discreet import __version__
    from discreet.cli._assistant_tools import AssistantTools

    server: MCPServer[Any] = MCPServer("discreet", instructions=_INSTRUCTIONS, version=__version__, log_level="ERROR")
    for tool in AssistantTools(folder).tools():
        server.tool(structured_output=True)(_with_plain_errors(tool))
    return server


def _with_plain_errors(tool: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
    """Return a tool whose errors are answers: the sentence, and the topic that ``explain`` knows."""

    @functools.wraps(tool)
    def call(*args: Any, **kwargs: Any) -> dict[str, Any]:
        try:
            return tool(*args, **kwargs)
        except DiscreetError as error:
            answer = {"error": error.message, "topic": error.topic, "code": error.exit_code}
            return answer if error.column is None else {**answer, "column": error.column}
        except Exception as error:  # its text may quote the data, so only its kind is shown
            return {"error": f"an unexpected {type(error).__name__}.", "topic": DiscreetError.topic, "code": 1}

    return call
