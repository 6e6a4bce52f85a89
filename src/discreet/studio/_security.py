"""Access control: every request and every answer passes through the guard of this module.

The printed link contains a random token, which is exchanged for a cookie. Everybody with the link is the same user: two
browsers opened by it see the same projects. A studio that is reachable over the network asks for a password instead;
there each login is a separate user, who cannot see the projects of others.

Pages of other sites can make a browser send requests here. They do not know the token, their requests have another
Origin, and under DNS rebinding another Host: all three are checked.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import ipaddress
import json
import math
import secrets
import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["REPORT_POLICY", "Access", "Guard", "host_of"]

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; frame-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
)
REPORT_POLICY = (
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; base-uri 'none'; "
    "frame-ancestors 'self'"
)
"""For a report in a frame: inline styles are allowed, scripts are not."""
_HEADERS = {
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "x-frame-options": "DENY",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
_SAFE = ("GET", "HEAD")
_PAUSE = 1.0
"""Seconds between two password attempts, whoever makes them."""
_LONGEST_LOGIN = 10_000


def host_of(host: str, port: int) -> str:
    """Value of the Host header for an address.

    >>> host_of("::1", 8765), host_of("localhost", 80)
    ('[::1]:8765', 'localhost:80')
    """
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


@dataclass
class Access:
    """Who may enter: accepted hosts, token or password, and open sessions."""

    hosts: frozenset[str]
    """Accepted values of the Host header."""
    scheme: str = "http"
    token: str | None = field(default_factory=lambda: secrets.token_urlsafe(32))
    """Token in the printed link; None if a password is used."""
    password: str | None = None
    addresses_on: int | None = None
    """Port on which any IP address is accepted as Host: DNS rebinding needs a name."""
    cookie: str = "discreet-studio"
    sessions: dict[str, str] = field(default_factory=dict)
    """Cookie -> user."""
    once: dict[str, threading.Event] = field(default_factory=dict)
    """Digest of a single-use token -> event that is set when it is used."""
    _guessed: float = -math.inf
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def one_visit(self) -> tuple[str, threading.Event]:
        """A single-use token, and the event that is set when it is used."""
        token, used = secrets.token_urlsafe(32), threading.Event()
        self.once[_digest(token)] = used
        return token, used

    def forget(self, token: str) -> None:
        """Revoke a single-use token."""
        self.once.pop(_digest(token), None)

    def admits(self, token: str) -> bool:
        """Whether a token is valid; a single-use token is then used up."""
        digest = _digest(token)
        used = self.once.pop(digest, None)
        if used is not None:
            used.set()
            return True
        return self.token is not None and hmac.compare_digest(digest, _digest(self.token))

    def knows(self, password: str) -> bool | None:
        """Whether the password is right; None if the last wrong attempt is too recent."""
        with self._lock:
            now = time.monotonic()
            if now - self._guessed < _PAUSE:
                return None
            right = self.password is not None and hmac.compare_digest(_digest(password), _digest(self.password))
            if not right:
                self._guessed = now
            return right

    def open_session(self) -> str:
        """Cookie of a new session; all visitors with the token are one user, each login by password is another."""
        session = secrets.token_urlsafe(32)
        self.sessions[_digest(session)] = "link" if self.password is None else secrets.token_hex(8)
        return session

    def user_of(self, session: str) -> str | None:
        """User of a session; None if there is no such session."""
        return self.sessions.get(_digest(session))

    def is_host(self, host: str) -> bool:
        """Whether a Host header names this studio."""
        if host.lower() in self.hosts:
            return True
        name, _, port = host.rpartition(":")
        if self.addresses_on is None or port != str(self.addresses_on):
            return False
        try:
            ipaddress.ip_address(name.removeprefix("[").removesuffix("]"))
        except ValueError:
            return False
        return True


class Guard:
    """ASGI middleware that checks every request and adds security headers to every answer."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self.app = app
        self.access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it with a reason."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":  # there are no web sockets here
            await send({"type": "websocket.close", "code": 1008})
            return
        headers = _headers(scope["headers"])
        refusal = self._refusal(scope, headers)
        if refusal is not None:
            await _answer(send, 403, *_refused(scope, refusal))
            return
        if scope["path"] == "/" and (token := _query(scope).get("token")) is not None:
            await self._enter(send, token)
            return
        if scope["path"] == "/login" and scope["method"] == "POST" and self.access.password is not None:
            await self._log_in(receive, send)
            return
        user = self.access.user_of(_cookie(headers, self.access.cookie))
        if user is None:
            await self._keep_out(scope, send)
            return
        scope["user"] = user
        await self.app(scope, receive, _with_headers(send))

    def _refusal(self, scope: Scope, headers: Mapping[str, str]) -> str | None:
        host = headers.get("host", "")
        if not self.access.is_host(host):
            return "The studio does not answer under this address; open the link that 'discreet studio' printed."
        path = scope["path"]
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin") and path.startswith("/api/"):
            return "This request came from another site; the studio only answers its own page."
        if scope["method"] in _SAFE:
            return None
        if headers.get("origin") != f"{self.access.scheme}://{host}" or headers.get("x-discreet") != "studio":
            return "This request came from another site; the studio only answers its own page."
        return None

    async def _enter(self, send: Send, token: str) -> None:
        if not self.access.admits(token):
            await _answer(send, 403, *_page(_WRONG_LINK))
            return
        # A page that refreshes instead of a redirect: browsers withhold a SameSite=Strict cookie from a navigation that
        # started elsewhere, redirects included. The refresh starts a navigation of the studio's own.
        body, kind, _, policy = _page(_ENTERED)
        await _answer(send, 200, body, kind, {"set-cookie": self._set_cookie(), "refresh": "0; url=/"}, policy)

    async def _log_in(self, receive: Receive, send: Send) -> None:
        body = b""
        while len(body) <= _LONGEST_LOGIN:
            message = await receive()
            body += message.get("body", b"")
            if not message.get("more_body", False):
                break
        try:
            given = str(json.loads(body)["password"])
        except (ValueError, KeyError, TypeError):
            given = ""
        right = self.access.knows(given)
        if right:
            await _answer(send, 204, b"", "text/plain", {"set-cookie": self._set_cookie()})
            return
        reason = "Wait a moment and try again." if right is None else "Wrong password."
        await _answer(send, 429 if right is None else 403, *_error(reason))

    async def _keep_out(self, scope: Scope, send: Send) -> None:
        if scope["path"].startswith("/api/"):
            await _answer(send, 403, *_error("Open the studio with the link that 'discreet studio' printed."))
        elif self.access.password is not None and scope["path"] == "/":
            await _answer(send, 200, _LOGIN.encode(), "text/html; charset=utf-8", {}, _policy_of(_LOGIN))
        else:
            await _answer(send, 403, *_page(_NO_COOKIE if self.access.password is None else _NO_LOGIN))

    def _set_cookie(self) -> str:
        secure = "; Secure" if self.access.scheme == "https" else ""
        return f"{self.access.cookie}={self.access.open_session()}; Path=/; HttpOnly; SameSite=Strict{secure}"


def _with_headers(send: Send) -> Send:
    """Add security headers; an answer may set a content security policy of its own."""

    async def safely(message: Message) -> None:
        if message["type"] == "http.response.start":
            kept = list(message.get("headers", ()))
            given = {name.lower() for name, _ in kept}
            wanted = {**_HEADERS, "content-security-policy": _POLICY}
            if b"content-security-policy" in given:
                del wanted["x-frame-options"]
            kept = [(name, value) for name, value in kept if name.lower() not in (b"etag", b"last-modified")]
            kept += [(name.encode(), text.encode()) for name, text in wanted.items() if name.encode() not in given]
            message = {**message, "headers": kept}
        await send(message)

    return safely


async def _answer(
    send: Send,
    status: int,
    body: bytes,
    kind: str,
    headers: Mapping[str, str] | None = None,
    policy: str = _POLICY,
) -> None:
    fields = {
        **_HEADERS,
        "content-security-policy": policy,
        "content-type": kind,
        "content-length": str(len(body)),
        **(headers or {}),
    }
    pairs = [(name.encode(), text.encode()) for name, text in fields.items()]
    await send({"type": "http.response.start", "status": status, "headers": pairs})
    await send({"type": "http.response.body", "body": body})


def _error(message: str) -> tuple[bytes, str]:
    return json.dumps({"error": {"message": message, "field": None}}).encode(), "application/json"


def _refused(scope: Scope, message: str) -> tuple[bytes, str]:
    return _error(message) if scope["path"].startswith("/api/") else (message.encode(), "text/plain; charset=utf-8")


def _headers(pairs: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """Headers by lower-case name; repeated ones are joined, so that they match no expected value."""
    found: dict[str, str] = {}
    for name, value in pairs:
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        found[key] = f"{found[key]}, {text}" if key in found else text
    return found


def _query(scope: Scope) -> dict[str, str]:
    fields = parse_qs(scope.get("query_string", b"").decode("latin-1"))
    return {name: values[0] for name, values in fields.items()}


def _cookie(headers: Mapping[str, str], name: str) -> str:
    try:
        jar: Any = SimpleCookie(headers.get("cookie", ""))
    except CookieError:
        return ""
    return jar[name].value if name in jar else ""


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def _policy_of(page: str) -> str:
    """Policy that allows the inline style and script of a page of this module, by their hashes."""
    allowed = {"connect-src": "'self'"}
    for tag, name in (("style", "style-src"), ("script", "script-src")):
        inner = page.partition(f"<{tag}>")[2].partition(f"</{tag}>")[0]
        if inner:
            allowed[name] = f"'sha256-{base64.b64encode(hashlib.sha256(inner.encode()).digest()).decode()}'"
    rules = "; ".join(f"{name} {value}" for name, value in allowed.items())
    return f"default-src 'none'; {rules}; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"


def _page(text: str) -> tuple[bytes, str, dict[str, str], str]:
    page = _FRAME.replace("TEXT", text)
    return page.encode(), "text/html; charset=utf-8", {}, _policy_of(page)


_STYLE = (
    "<style>body{font:1.1rem/1.6 system-ui,sans-serif;max-width:34rem;margin:20vh auto;padding:0 1.5rem;"
    "color-scheme:light dark}code{font-size:.95em}input,button{font:inherit;padding:.5rem .8rem}</style>"
)
_FRAME = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    f"<title>discreet studio</title>{_STYLE}</head><body><main>TEXT</main></body></html>"
)
_NO_COOKIE = (
    "<h1>The studio is locked</h1><p>It opens with a secret link. Go to the window where <code>discreet studio</code> "
    "runs and open the link it printed.</p>"
)
_ENTERED = '<p><a href="/">Open the studio</a></p>'
_WRONG_LINK = (
    "<h1>This link is no longer valid</h1><p>Each start of <code>discreet studio</code> prints a new one. Go to the "
    "window where it runs and open the link it printed.</p>"
)
_NO_LOGIN = '<h1>The studio is locked</h1><p><a href="/">Log in</a> first.</p>'
_LOGIN = _FRAME.replace(
    "TEXT",
    "<h1>discreet studio</h1><p><label>Password<br>"
    '<input id="password" type="password" autocomplete="current-password" autofocus></label> '
    '<button id="enter">Log in</button></p><p id="said" role="alert"></p>'
    """<script>
const password = document.getElementById("password"), said = document.getElementById("said");
async function enter() {
  const headers = {"content-type": "application/json", "x-discreet": "studio"};
  const body = JSON.stringify({password: password.value});
  const answer = await fetch("/login", {method: "POST", headers, body});
  if (answer.ok) location.reload(); else said.textContent = (await answer.json()).error.message;
}
document.getElementById("enter").addEventListener("click", enter);
password.addEventListener("keydown", (event) => { if (event.key === "Enter") enter(); });
</script>""",
)
