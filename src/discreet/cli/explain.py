"""``discreet explain``: what an error means and what to do about it, without a browser."""

from __future__ import annotations

import sys

import click

__all__ = ["explain"]


@click.command(
    epilog="""\b
Examples:
  discreet explain                   all topics
  discreet explain unknown-column    one of them

Every error of the command line ends with the topic that explains it.""",
)
@click.argument("topic", required=False, metavar="[TOPIC]")
def explain(topic: str | None) -> None:
    """Say more about an error: what it means, why, and the ways out."""
    from discreet.explain import explain as look_up
    from discreet.explain import topics

    if topic is None:
        width = max(map(len, topics()))
        for name, found in topics().items():
            click.echo(f"{name.ljust(width)}  {found.title}")
        return
    found = look_up(topic)
    if sys.stdout.isatty():
        from rich.console import Console
        from rich.markdown import Markdown

        Console().print(Markdown(f"# {found.title}\n\n{found.text}"))
    else:
        click.echo(f"{found.title}\n\n{found.text}")
