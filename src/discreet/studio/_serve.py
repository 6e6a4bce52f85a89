"""Start a studio, and end it so that nothing is left."""

from __future__ import annotations

import ipaddress
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from discreet.errors import UsageError

__all__ = ["serve"]

_NAMES = ("localhost", "127.0.0.1", "::1")
_SHORTEST = 12
"""The characters a password has at least."""


def serve(
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    open_browser: bool = True,
    password_file: str | Path | None = None,
    tls_cert: str | Path | None = None,
    tls_key: str | Path | None = None,
    unprotected: bool = False,
    names: tuple[str, ...] = (),
    max_upload: int | None = None,
    say: Callable[[str], None] = print,
) -> None:
    """Serve the studio until it is stopped.

    It is reached from this machine only, by a link that holds a random token. ``host`` may be another address of the
    machine; then a password and TLS are demanded, unless ``unprotected`` says that something else protects it.
    ``names`` are the names by which it is reached there. ``port`` 0 takes one that is free.
    """
    local = _is_local(host)
    password = None if password_file is None else _password(Path(password_file))
    tls = tls_cert is not None or tls_key is not None
    if tls and (tls_cert is None or tls_key is None):
        raise UsageError("A certificate and its key go together: --tls-cert and --tls-key.")
    if not local and not unprotected and (password is None or not tls):
        raise UsageError(
            f"On '{host}' others can reach the studio, so it needs a password (--password-file) and encryption "
            "(--tls-cert and --tls-key); where something else sees to both, say --unprotected."
        )
    if tls_cert is not None and tls_key is not None:
        _check_certificate(tls_cert, tls_key)
    _check_installed()

    import uvicorn

    from discreet.studio._app import make_app
    from discreet.studio._opening import open_browser as show
    from discreet.studio._security import Access, host_of
    from discreet.studio._studio import Studio
    from discreet.studio._upload import Limits
    from discreet.studio._workspace import Workspace

    listening = _listen(host, port)
    taken = listening.getsockname()[1]
    known = [*_NAMES] if local else [host, socket.gethostname(), socket.getfqdn(), *_NAMES]
    scheme = "https" if tls else "http"
    hosts = {host_of(name, taken).lower() for name in known} | {name.lower() for name in names}
    hosts |= {host_of(name, taken).lower() for name in names}
    if taken == (443 if tls else 80):
        hosts |= {name.lower() for name in known}
    access = Access(
        hosts=frozenset(hosts),
        scheme=scheme,
        password=password,
        addresses_on=None if local else taken,
        cookie=f"discreet-studio-{taken}",  # browsers send a cookie to every port of a host
    )
    if password is not None:
        access.token = None
    limits = Limits() if max_upload is None else Limits(upload=max_upload, unfolded=4 * max_upload)
    address = f"{scheme}://{host_of(_reached(host), taken)}/"
    config = uvicorn.Config(
        make_app,
        log_level="warning",
        access_log=False,  # a log would hold the token
        server_header=False,
        ssl_certfile=tls_cert,
        ssl_keyfile=tls_key,
        timeout_graceful_shutdown=2,
        lifespan="off",
        ws="none",
        proxy_headers=False,
        loop="asyncio",
        http="h11",
    )
    with _ending_orderly():
        studio = Studio(Workspace.make(), limits)
        try:
            config.app = make_app(studio, access)
            link = address if access.token is None else f"{address}?token={access.token}"
            say(f"The studio is at {link}")
            say("Whoever has this link can use it." if access.token else "It asks for the password.")
            say("Stop it with Ctrl-C; then everything in it is erased.")
            if open_browser:
                show(studio.workspace, access, address)
            uvicorn.Server(config).run(sockets=[listening])
        except (KeyboardInterrupt, _Ended):
            pass
        finally:
            studio.close()
            listening.close()


class _Ended(BaseException):
    """The operating system asked the studio to end."""


@contextmanager
def _ending_orderly() -> Iterator[None]:
    """End by an exception when told to, so that the work is erased on the way out."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, frame: FrameType | None) -> None:
        raise _Ended

    asked = [number for number in (signal.SIGTERM, getattr(signal, "SIGHUP", None)) if number is not None]
    before: dict[Any, Any] = {number: signal.signal(number, end) for number in asked}
    try:
        yield
    except _Ended:
        pass
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _listen(host: str, port: int) -> socket.socket:
    try:
        kind = socket.AF_INET6 if ":" in host else socket.AF_INET
        listening = socket.socket(kind, socket.SOCK_STREAM)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(128)
    except OSError as error:
        raise UsageError(
            f"The studio cannot listen on {host}, port {port} ({error.strerror}); choose another with --port, or 0 for "
            "one that is free."
        ) from None
    return listening


def _is_local(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _reached(host: str) -> str:
    """Return the name under which a listening address is reached."""
    return socket.gethostname() if host in ("0.0.0.0", "::") else host


def _password(path: Path) -> str:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        raise UsageError(f"The password file '{path}' cannot be read.") from None
    password = lines[0].strip() if lines else ""
    if len(password) < _SHORTEST:
        raise UsageError(f"The password, the first line of '{path.name}', needs at least {_SHORTEST} characters.")
    return password


def _check_certificate(certificate: str | Path, key: str | Path) -> None:
    import ssl

    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key, password=lambda: "")
    except (OSError, ValueError):  # what goes wrong in OpenSSL is an OSError too
        raise UsageError(
            "The certificate and its key cannot be used; name two files in PEM format that belong together, the key "
            "without a password."
        ) from None


def _check_installed() -> None:
    from importlib.util import find_spec

    for package in ("starlette", "uvicorn", "python_multipart"):
        if find_spec(package) is None:
            raise UsageError("The studio needs more: pip install 'discreet[studio]'.")
