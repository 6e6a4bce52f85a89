"""Locations given by users: the path of a file or folder, a glob pattern, or the URL of a database table.

Tables are not opened here, so that the command line can handle locations without importing what reads them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from os import PathLike, fspath
from pathlib import Path
from typing import Literal
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from discreet.errors import DataError, UsageError
from discreet.runtime.unreadable_files import no_such_file

__all__ = [
    "DATABASES",
    "TableLocation",
    "TableName",
    "TableUrl",
    "as_path",
    "is_url",
    "read_text",
    "rebase_location",
    "resolve_location",
    "without_password",
]

TableLocation = str | PathLike[str]
Database = Literal["duckdb", "sqlite", "postgresql", "spark"]

DATABASES: Mapping[str, Database] = {
    "duckdb": "duckdb",
    "sqlite": "sqlite",
    "postgresql": "postgresql",
    "postgres": "postgresql",
    "spark": "spark",
}
_EXAMPLES = {
    "duckdb": "duckdb:///people.duckdb?table=people",
    "sqlite": "sqlite:///people.db?table=people",
    "postgresql": "postgresql://host/database?table=people",
    "spark": "spark:///?table=people",
}
_SECRETS = ("password", "sslpassword")


def as_path(given: object, what: str) -> Path:
    """Return a path; refuse anything else, with ``what`` as its name.

    >>> as_path("reports/june.html", "The report").name
    'june.html'
    """
    if isinstance(given, str | PathLike):
        return Path(given)
    raise UsageError(f"{what} is given as the path of a file, not as {type(given).__name__}.", topic="parameter")


def read_text(path: Path, what: str) -> str:
    """Read a small text file, called ``what`` in errors; decoding errors are left to the caller."""
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise no_such_file(path, what) from None
    except IsADirectoryError:
        raise DataError(f"'{path}' is a folder; name a file in it.", topic="no-such-file") from None
    except OSError as error:
        raise DataError(f"The {what} '{path}' cannot be read ({error.strerror}).") from None


@dataclass(frozen=True)
class TableName:
    """The name of a table and, if given, of its schema."""

    name: str
    schema: str | None = None

    @classmethod
    def parse(cls, text: str) -> TableName:
        """Read ``people``, ``hospital.people`` or ``"a.b"."c.d"``.

        >>> TableName.parse('hospital."ward.1"')
        TableName(name='ward.1', schema='hospital')
        """
        part = r'(?:"((?:[^"]|"")+)"|([^".]+))'
        found = re.fullmatch(rf"(?:{part}\.)?{part}", text)
        if found is None:
            raise UsageError(f"'{text}' names no table; write table=people or table=schema.people.")
        first, second = found[1] or found[2], found[3] or found[4]
        return cls(second.replace('""', '"'), None if first is None else first.replace('""', '"'))

    def __str__(self) -> str:
        return ".".join(_quoted(part) for part in (self.schema, self.name) if part is not None)


@dataclass(frozen=True)
class TableUrl:
    """The URL of a database table; its text never shows the password.

    >>> url = TableUrl.parse("postgresql://ann:secret@db.example:5433/clinic?table=people")
    >>> str(url), url.password
    ('postgresql://ann@db.example:5433/clinic?table=people', 'secret')
    >>> TableUrl.parse("sqlite:///clinic.db?table=people").path
    PosixPath('clinic.db')
    """

    database: Database
    table: TableName
    path: Path | None = None
    """The file of the database, if it is one."""
    host: str = ""
    port: int | None = None
    user: str = ""
    password: str = field(default="", repr=False)
    name: str = ""
    """The name of the database on its server."""
    options: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    """Other settings of the connection, such as sslmode."""

    @classmethod
    def parse(cls, text: str) -> TableUrl:
        """Parse a URL; a relative path of a file follows three slashes, an absolute one four."""
        scheme = text.partition("://")[0].lower()
        if scheme not in DATABASES:
            raise UsageError(
                f"There is no way to open '{scheme}://…'; a table of a database is written "
                f"{', '.join(_EXAMPLES.values())}.",
                topic="database-url",
            )
        database = DATABASES[scheme]
        try:
            parts = urlsplit(text)
            port = parts.port
        except ValueError:
            raise UsageError(
                f"The URL of the database is not well formed; write {_EXAMPLES[database]}.", topic="database-url"
            ) from None
        options = dict(parse_qsl(parts.query, keep_blank_values=True))
        table = options.pop("table", "")
        if not table:
            raise UsageError(
                f"The URL does not say which table is meant; end it in ?table=NAME: {_EXAMPLES[database]}.",
                topic="database-url",
            )
        if database == "spark":
            return cls._spark(TableName.parse(table), parts.hostname or "", port, parts.path, options)
        if database != "postgresql":
            return cls._file(database, TableName.parse(table), parts.netloc, parts.path, options)
        return cls(
            database=database,
            table=TableName.parse(table),
            host=unquote(parts.hostname or options.pop("host", "")),
            port=port,
            user=unquote(parts.username or options.pop("user", "")),
            password=unquote(parts.password or "") or options.pop("password", ""),
            name=unquote(parts.path.removeprefix("/")),
            options=tuple(options.items()),
        )

    @classmethod
    def _spark(cls, table: TableName, host: str, port: int | None, path: str, options: Mapping[str, str]) -> TableUrl:
        if path.strip("/") or options:
            raise UsageError(
                f"The URL of a table of Spark names nothing but the table, and its cluster if it has one; write "
                f"{_EXAMPLES['spark']} or spark://host:7077/?table=people."
            )
        return cls("spark", table, host=unquote(host), port=port)

    @classmethod
    def _file(
        cls, database: Database, table: TableName, netloc: str, path: str, options: Mapping[str, str]
    ) -> TableUrl:
        if netloc or len(path) < 2:
            raise UsageError(
                f"The URL of the database names no file; write {_EXAMPLES[database]}, with four slashes if the path "
                "is absolute.",
                topic="database-url",
            )
        if options:
            raise UsageError(
                f"The URL of a {database} file takes nothing but table, and not '{next(iter(options))}'.",
                topic="database-url",
            )
        return cls(database, table, Path(unquote(path[1:])))

    def __str__(self) -> str:
        socket = [("host", self.host)] if self.host.startswith("/") else []
        options = [(key, value) for key, value in self.options if key not in _SECRETS]
        query = urlencode([*socket, *options, ("table", str(self.table))], quote_via=quote, safe='."/')
        if self.path is not None:
            return f"{self.database}:///{quote(self.path.as_posix())}?{query}"
        user = f"{quote(self.user, safe='')}@" if self.user else ""
        host = "" if socket else f"[{self.host}]" if ":" in self.host else quote(self.host, safe="")
        port = "" if self.port is None else f":{self.port}"
        return f"{self.database}://{user}{host}{port}/{quote(self.name)}?{query}"

    @property
    def where(self) -> str:
        """The database, for messages."""
        if self.database == "spark":
            return "Spark"
        if self.path is not None:
            return f"'{self.path.name}'"
        return f"the database '{self.name}'" if self.name else "the database"

    def same_database(self, other: TableUrl) -> bool:
        """Whether two tables are in the same database, so that one connection reaches both."""
        if self.path is not None and other.path is not None:
            return self.database == other.database and self.same_file(other)
        return replace(self, table=other.table) == other

    def same_file(self, other: TableUrl) -> bool:
        """Whether two tables are in one file."""
        return self.path is not None and other.path is not None and _same_file(self.path, other.path)

    def moved_to(self, path: Path) -> TableUrl:
        """Return the same table in another file."""
        return replace(self, path=path)


def is_url(location: object) -> bool:
    """Whether a location is a URL.

    >>> is_url("sqlite:///clinic.db?table=people"), is_url("people.csv")
    (True, False)
    """
    return isinstance(location, str) and re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", location) is not None


def without_password(location: TableLocation) -> str:
    """Return a location as it may be shown and stored: without a password.

    >>> without_password("postgresql://ann:secret@db.example/clinic?table=people")
    'postgresql://ann@db.example/clinic?table=people'
    """
    if not isinstance(location, str) or not is_url(location):
        return fspath(location)
    try:
        return str(TableUrl.parse(location))
    except UsageError:
        return f"{location.partition('://')[0]}://…"


def resolve_location(location: str, folder: Path) -> TableLocation:
    """Return a location that was given relative to a folder."""
    if is_url(location):
        url = TableUrl.parse(location)
        return location if url.path is None else str(url.moved_to(folder / url.path))
    if location.endswith("/"):
        return f"{folder / location}/"
    return folder / location


def rebase_location(location: str, old: Path, new: Path) -> str:
    """Return a location relative to one folder relative to another, without a password."""
    if is_url(location):
        url = TableUrl.parse(location)
        return str(url if url.path is None else url.moved_to(Path(_rebased(url.path, old, new))))
    return _rebased(Path(location), old, new) + ("/" if location.endswith("/") else "")


def _rebased(path: Path, old: Path, new: Path) -> str:
    return str(path) if path.is_absolute() else Path(os.path.relpath(old / path, new)).as_posix()


def _quoted(part: str) -> str:
    plain = re.fullmatch(r'[^".]+', part)
    return part if plain else '"' + part.replace('"', '""') + '"'


def _same_file(first: Path, second: Path) -> bool:
    if first.resolve() == second.resolve():
        return True
    return first.exists() and second.exists() and first.samefile(second)
