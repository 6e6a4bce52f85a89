"""``discreet studio``: the whole job in a browser."""

from __future__ import annotations

import re
from typing import Any

import click

__all__ = ["studio"]

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)i?B?\s*", re.IGNORECASE)


class Size(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    """A number of bytes, as in 500MB."""

    name = "size"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Read a size."""
        if isinstance(value, int):
            return value
        match = _SIZE.fullmatch(str(value))
        if match is None or not float(match[1]):
            self.fail("a size is a number of bytes, as in 500MB or 2GB", param, ctx)
        return int(float(match[1]) * _UNITS[match[2].upper()])


@click.command(
    epilog="""\b
Examples:
  discreet studio
  discreet studio --port 8765 --no-open
  discreet studio --host 0.0.0.0 --name studio.example.org --password-file secret.txt \\
      --tls-cert cert.pem --tls-key key.pem

Nobody but you can reach it, nothing leaves this machine, and all of it is erased when the studio ends.""",
)
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Which port to listen on. [default: a free one]")
@click.option("--no-open", is_flag=True, help="Do not open a browser; only print the link.")
@click.option("--host", default="127.0.0.1", show_default=True, metavar="ADDRESS", help="Which address to listen on.")
@click.option("--name", "names", multiple=True, metavar="NAME", help="A name by which others reach it. Repeatable.")
@click.option("--password-file", metavar="FILE", help="A file whose first line is the password.")
@click.option("--tls-cert", metavar="FILE", help="A certificate, for encryption.")
@click.option("--tls-key", metavar="FILE", help="The key of that certificate.")
@click.option("--unprotected", is_flag=True, help="Others may reach it without password or TLS. Dangerous.")
@click.option("--max-upload", type=Size(), default="1GB", show_default=True, help="How large a file may be.")
def studio(no_open: bool, **options: Any) -> None:
    """Open the studio: anonymize a table in the browser, step by step."""
    from discreet.studio import Protection, serve

    protection = Protection(*(options.pop(name) for name in ("password_file", "tls_cert", "tls_key", "unprotected")))
    serve(**options, protection=protection, open_browser=not no_open, say=click.echo)
