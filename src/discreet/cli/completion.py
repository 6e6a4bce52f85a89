"""``discreet completion``: the completion of commands, options, files and columns in a shell."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

__all__ = ["completion"]

_VARIABLE = "_DISCREET_COMPLETE"


@click.command(
    epilog="""\b
Examples:
  discreet completion bash    print the script for bash
  discreet completion zsh
  discreet completion fish

\b
To have it in every new shell, add a line to the file the shell reads at its start:
  ~/.bashrc                     eval "$(discreet completion bash)"
  ~/.zshrc                      eval "$(discreet completion zsh)"
  ~/.config/fish/config.fish    discreet completion fish | source

Then the Tab key completes commands, options, files, the columns of the table a command works on, and the names
of privacy models, costs, schemes, suppression kinds, solvers and risk profiles.""",
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print a script that lets a shell complete discreet's commands."""
    found = get_completion_class(shell)
    assert found is not None
    program = click.get_current_context().find_root().command
    script = found(program, {}, "discreet", _VARIABLE).source()
    # Only the first comma ends the kind of a completion; column lists have more of them.
    click.echo(script.replace('string split ","', 'string split --max 1 ","'))
