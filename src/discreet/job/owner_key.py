"""The owner's key: a random secret in a private file, with which digests of the input are keyed.

Whoever holds most of a table could test guesses about the rest against a plain digest. A keyed one (HMAC-SHA256) says
nothing without the key, and lets its owner check which table a release was made from.
"""

from __future__ import annotations

import hmac
import os
import re
import secrets
from contextlib import suppress
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path

from discreet.errors import DataError, OutputError
from discreet.runtime.atomic_write import not_written
from discreet.runtime.locations import as_path

__all__ = ["KEY_FILE", "Key", "KeyFile", "draw_seed", "key_file"]

KEY_FILE = "discreet.key"
_HEAD = "# Private key of discreet: with it, guesses about the tables you certified can be tested. Never hand it over."
_FORM = re.compile(rb"(?:#[^\n]*\n)*([0-9a-f]{64})\n?")
_MOST_BYTES = 4096
"""No key file is larger."""


@dataclass(frozen=True)
class Key:
    """A secret of 256 bits, and the file it is kept in."""

    path: Path
    secret: bytes = field(repr=False)

    def sign(self, purpose: str, *parts: str) -> str:
        """Return the HMAC-SHA256 of some texts, different for each purpose."""
        message = b"".join(
            len(text).to_bytes(8, "big") + text for text in (part.encode() for part in (purpose, *parts))
        )
        return hmac.new(self.secret, message, "sha256").hexdigest()

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError("A key is never pickled; name its file instead.")


@dataclass(frozen=True)
class KeyFile:
    """The file of a key, which is made when it is first needed."""

    path: Path
    explicit: bool
    """Whether the user named it. Then it is an error if it cannot be made; otherwise the job goes on without a key."""

    def make(self) -> Key | None:
        """Return the key, making the file if needed; None if it cannot be written and was not named by the user."""
        try:
            if not self.path.exists():
                _make(self.path, folders=not self.explicit)
            return self.load()
        except OSError as error:
            if not self.explicit:
                return None
            raise not_written(f"The key '{self.path.name}'", error) from None

    def load(self) -> Key:
        """Return the key from a file that must exist, be well formed, and be readable by its owner alone."""
        name = self.path.name
        try:
            with self.path.open("rb") as stream:
                mode = os.fstat(stream.fileno()).st_mode
                content = stream.read(_MOST_BYTES)
        except FileNotFoundError:
            raise DataError(f"There is no key '{self.path}'.", topic="key") from None
        except IsADirectoryError:
            raise DataError(f"'{self.path}' is a folder; name the file of the key.", topic="key") from None
        except PermissionError:
            if not self.explicit:
                raise
            raise DataError(f"The key '{name}' cannot be read; it belongs to somebody else.", topic="key") from None
        if os.name == "posix" and mode & 0o077:
            raise DataError(
                f"The key '{name}' is open to other users of this machine; close it with chmod 600, or name another.",
                topic="key",
            )
        found = _FORM.fullmatch(content)
        if found is None:
            raise DataError(
                f"'{name}' is not a key of discreet, or it was damaged; name another, or a new file to make one.",
                topic="key",
            )
        return Key(self.path, bytes.fromhex(found[1].decode()))


def key_file(given: str | PathLike[str] | None = None) -> KeyFile | None:
    """Return the key file that was named, or else the user's own; None where there is no home folder."""
    if given is not None:
        path = as_path(given, "The key")
        if not path.absolute().parent.is_dir():
            raise OutputError(f"There is no folder '{path.parent}' for the key; make it first.", topic="output-folder")
        return KeyFile(path, explicit=True)
    state = os.environ.get("XDG_STATE_HOME", "")
    with suppress(RuntimeError):
        folder = Path(state) if Path(state).is_absolute() else Path.home() / ".local" / "state"
        return KeyFile(folder / "discreet" / KEY_FILE, explicit=False)
    return None


def draw_seed() -> int:
    """Draw a seed of 64 bits from the operating system's secure source."""
    return secrets.randbits(64)


def _make(path: Path, folders: bool) -> None:
    """Write a new key under a hidden name, then give it its own unless another process was faster."""
    if folders:
        path.parent.parent.mkdir(parents=True, exist_ok=True)
        path.parent.mkdir(mode=0o700, exist_ok=True)
    hidden = path.with_name(f".{path.name}.{secrets.token_hex(6)}.part")
    content = f"{_HEAD}\n{secrets.token_hex(32)}\n".encode()
    try:
        with os.fdopen(os.open(hidden, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        try:
            os.link(hidden, path)
        except FileExistsError:
            return
        except OSError:  # a file system without hard links: creating the file exclusively is atomic as well
            with (
                suppress(FileExistsError),
                os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as stream,
            ):
                stream.write(content)
    finally:
        hidden.unlink(missing_ok=True)
