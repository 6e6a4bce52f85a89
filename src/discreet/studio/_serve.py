"""Start a studio, and stop it so that nothing is left behind."""

from __future__ import annotations

import ipaddress
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from discreet.errors import UsageError

if TYPE_CHECKING:
    from uvicorn import Config

    from discreet.studio._security import Access

__all__ = ["Protection", "serve"]

_LOCAL_NAMES = ("localhost", "127.0.0.1", "::1")
_SHORTEST_PASSWORD = 12


@dataclass(frozen=True)
class Protection:
    """Password and encryption of a studio that others can reach."""

    password_file: str | Path | None = None
    """A file whose first line is the password."""
    tls_cert: str | Path | None = None
    tls_key: str | Path | None = None
    unprotected: bool = False
    """Serve others without password or TLS, because something else protects the studio."""

    @property
    def tls(self) -> bool:
        """Whether connections are encrypted."""
        return self.tls_cert is not None

    def checked_password(self, host: str) -> str | None:
        """Check that the protection suffices for ``host``, and return the password if there is one."""
        password = None if self.password_file is None else _password(Path(self.password_file))
        if (self.tls_cert is None) != (self.tls_key is None):
            raise UsageError("A certificate and its key go together: --tls-cert and --tls-key.")
        if not _is_local(host) and not self.unprotected and (password is None or not self.tls):
            raise UsageError(
                f"On '{host}' others can reach the studio, so it needs a password (--password-file) and encryption "
                "(--tls-cert and --tls-key). If something else provides both, pass --unprotected."
            )
        if self.tls_cert is not None and self.tls_key is not None:
            _check_certificate(self.tls_cert, self.tls_key)
        return password


def serve(
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    names: tuple[str, ...] = (),
    protection: Protection | None = None,
    open_browser: bool = True,
    max_upload: int | None = None,
    say: Callable[[str], None] = print,
) -> None:
    """Serve the studio until it is stopped.

    By default it is only reachable from this machine, by a link with a random token. ``host`` may be another address of
    the machine, which then needs ``protection``; ``names`` are the host names it is reached by. ``port`` 0 takes a free
    one. ``say`` prints the link.
    """
    protection = protection or Protection()
    password = protection.checked_password(host)
    _check_installed()

    import uvicorn

    from discreet.studio._app import make_app
    from discreet.studio._opening import open_browser as show
    from discreet.studio._security import host_of
    from discreet.studio._studio import Studio
    from discreet.studio._upload import Limits
    from discreet.studio._workspace import Workspace

    listener = _listen(host, port)
    bound_port = listener.getsockname()[1]
    access = _access(host, bound_port, names, protection, password)
    limits = Limits() if max_upload is None else Limits(upload=max_upload, decompressed=4 * max_upload)
    address = f"{access.scheme}://{host_of(_reachable_name(host), bound_port)}/"
    with _exit_on_signals():
        studio = Studio(Workspace.make(), limits)
        try:
            config = _server_config(make_app(studio, access), protection)
            link = address if access.token is None else f"{address}?token={access.token}"
            say(f"The studio is at {link}")
            say("Anyone with this link can use it." if access.token else "It asks for the password.")
            say("Stop it with Ctrl-C; everything in it is then erased.")
            if open_browser:
                show(studio.workspace, access, address)
            uvicorn.Server(config).run(sockets=[listener])
        except (KeyboardInterrupt, _Terminated):
            pass
        finally:
            studio.close()
            listener.close()


def _access(host: str, port: int, names: tuple[str, ...], protection: Protection, password: str | None) -> Access:
    """Access rules for a studio on ``host`` and ``port``."""
    from discreet.studio._security import Access, host_of

    local = _is_local(host)
    known = [*_LOCAL_NAMES] if local else [host, socket.gethostname(), socket.getfqdn(), *_LOCAL_NAMES]
    hosts = {host_of(name, port).lower() for name in (*known, *names)} | {name.lower() for name in names}
    if port == (443 if protection.tls else 80):
        hosts |= {name.lower() for name in known}
    access = Access(
        hosts=frozenset(hosts),
        scheme="https" if protection.tls else "http",
        password=password,
        addresses_on=None if local else port,
        cookie=f"discreet-studio-{port}",  # browsers send a cookie to every port of a host
    )
    if password is not None:
        access.token = None
    return access


def _server_config(app: Any, protection: Protection) -> Config:
    import uvicorn

    return uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,  # a log would contain the token
        server_header=False,
        ssl_certfile=protection.tls_cert,
        ssl_keyfile=protection.tls_key,
        timeout_graceful_shutdown=2,
        lifespan="off",
        ws="none",
        proxy_headers=False,
        loop="asyncio",
        http="h11",
    )


class _Terminated(SystemExit):
    """SIGTERM or SIGHUP was received. The event loop lets no other exception out of a callback that was interrupted."""


@contextmanager
def _exit_on_signals() -> Iterator[None]:
    """Turn termination signals into an exception, so that the workspace is erased on the way out."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, frame: FrameType | None) -> None:
        raise _Terminated

    signals = [number for number in (signal.SIGTERM, getattr(signal, "SIGHUP", None)) if number is not None]
    before: dict[Any, Any] = {number: signal.signal(number, end) for number in signals}
    try:
        yield
    except _Terminated:
        pass
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _listen(host: str, port: int) -> socket.socket:
    try:
        kind = socket.AF_INET6 if ":" in host else socket.AF_INET
        listener = socket.socket(kind, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(128)
    except OSError as error:
        raise UsageError(
            f"The studio cannot listen on {host}, port {port} ({error.strerror}); choose another with --port, or 0 for "
            "a free one."
        ) from None
    return listener


def _is_local(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _reachable_name(host: str) -> str:
    """Name by which a listening address is reached."""
    return socket.gethostname() if host in ("0.0.0.0", "::") else host


def _password(path: Path) -> str:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        raise UsageError(f"The password file '{path}' cannot be read.") from None
    password = lines[0].strip() if lines else ""
    if len(password) < _SHORTEST_PASSWORD:
        raise UsageError(
            f"The password, the first line of '{path.name}', needs at least {_SHORTEST_PASSWORD} characters."
        )
    return password


def _check_certificate(certificate: str | Path, key: str | Path) -> None:
    import ssl

    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key, password=lambda: "")
    except (OSError, ValueError):  # errors of OpenSSL are OSErrors too
        raise UsageError(
            "The certificate and its key cannot be used; name two files in PEM format that belong together, the key "
            "without a password."
        ) from None


def _check_installed() -> None:
    from importlib.util import find_spec

    for package in ("starlette", "uvicorn", "python_multipart"):
        if find_spec(package) is None:
            raise UsageError("The studio needs extra packages: pip install 'discreet[studio]'.")
