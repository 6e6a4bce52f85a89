"""Where a table is, told as text: a file, a folder, a pattern of file names, or a table of a database.

Nothing is opened here, so that the command line can talk about places without loading what reads them.
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

from discreet.errors import UsageError

__all__ = ["DATABASES", "Place", "TableName", "TableUrl", "as_path", "is_url", "located", "moved", "shown"]

Place = str | PathLike[str]
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
    """Return a path that was given for something; anything else is refused by what it is.

    >>> as_path("reports/june.html", "The report").name
    'june.html'
    """
    if isinstance(given, str | PathLike):
        return Path(given)
    raise UsageError(f"{what} is given as the path of a file, not as {type(given).__name__}.", topic="parameter")


@dataclass(frozen=True)
class TableName:
    """The name of a table and, where it is told, of the schema it is in."""

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
    """A table of a database; its text never holds the password.

    >>> url = TableUrl.parse("postgresql://ann:secret@db.example:5433/clinic?table=people")
    >>> str(url), url.password
    ('postgresql://ann@db.example:5433/clinic?table=people', 'secret')
    >>> TableUrl.parse("sqlite:///clinic.db?table=people").path
    PosixPath('clinic.db')
    """

    database: Database
    table: TableName
    path: Path | None = None
    """The file of the database, where it is one."""
    host: str = ""
    port: int | None = None
    user: str = ""
    password: str = field(default="", repr=False)
    name: str = ""
    """The name of the database on its server."""
    options: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    """What else the server is told, such as sslmode."""

    @classmethod
    def parse(cls, text: str) -> TableUrl:
        """Read a URL; a file has three slashes in front if its path is relative and four if it is absolute."""
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
        told = dict(parse_qsl(parts.query, keep_blank_values=True))
        table = told.pop("table", "")
        if not table:
            raise UsageError(
                f"The URL does not say which table is meant; end it in ?table=NAME: {_EXAMPLES[database]}.",
                topic="database-url",
            )
        if database == "spark":
            return cls._spark(TableName.parse(table), parts.hostname or "", port, parts.path, told)
        if database != "postgresql":
            return cls._file(database, TableName.parse(table), parts.netloc, parts.path, told)
        return cls(
            database=database,
            table=TableName.parse(table),
            host=unquote(parts.hostname or told.pop("host", "")),
            port=port,
            user=unquote(parts.username or told.pop("user", "")),
            password=unquote(parts.password or "") or told.pop("password", ""),
            name=unquote(parts.path.removeprefix("/")),
            options=tuple(told.items()),
        )

    @classmethod
    def _spark(cls, table: TableName, host: str, port: int | None, path: str, told: Mapping[str, str]) -> TableUrl:
        if path.strip("/") or told:
            raise UsageError(
                f"The URL of a table of Spark names nothing but the table, and its cluster if it has one; write "
                f"{_EXAMPLES['spark']} or spark://host:7077/?table=people."
            )
        return cls("spark", table, host=unquote(host), port=port)

    @classmethod
    def _file(cls, database: Database, table: TableName, netloc: str, path: str, told: Mapping[str, str]) -> TableUrl:
        if netloc or len(path) < 2:
            raise UsageError(
                f"The URL of the database names no file; write {_EXAMPLES[database]}, with four slashes if the path "
                "is absolute.",
                topic="database-url",
            )
        if told:
            raise UsageError(
                f"The URL of a {database} file takes nothing but table, and not '{next(iter(told))}'.",
                topic="database-url",
            )
        return cls(database, table, Path(unquote(path[1:])))

    def __str__(self) -> str:
        socket = [("host", self.host)] if self.host.startswith("/") else []
        told = [(key, value) for key, value in self.options if key not in _SECRETS]
        query = urlencode([*socket, *told, ("table", str(self.table))], quote_via=quote, safe='."/')
        if self.path is not None:
            return f"{self.database}:///{quote(self.path.as_posix())}?{query}"
        user = f"{quote(self.user, safe='')}@" if self.user else ""
        host = "" if socket else f"[{self.host}]" if ":" in self.host else quote(self.host, safe="")
        port = "" if self.port is None else f":{self.port}"
        return f"{self.database}://{user}{host}{port}/{quote(self.name)}?{query}"

    @property
    def where(self) -> str:
        """What the database is called in messages."""
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
        """Return the same table of another file."""
        return replace(self, path=path)


def is_url(place: object) -> bool:
    """Whether a place is told by a URL.

    >>> is_url("sqlite:///clinic.db?table=people"), is_url("people.csv")
    (True, False)
    """
    return isinstance(place, str) and re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", place) is not None


def shown(place: Place) -> str:
    """Return a place as it may be shown and stored: without a password.

    >>> shown("postgresql://ann:secret@db.example/clinic?table=people")
    'postgresql://ann@db.example/clinic?table=people'
    """
    if not isinstance(place, str) or not is_url(place):
        return fspath(place)
    try:
        return str(TableUrl.parse(place))
    except UsageError:
        return f"{place.partition('://')[0]}://…"


def located(place: str, folder: Path) -> Place:
    """Return a place as it is found from here, where it was named from a folder."""
    if is_url(place):
        url = TableUrl.parse(place)
        return place if url.path is None else str(url.moved_to(folder / url.path))
    if place.endswith("/"):
        return f"{folder / place}/"
    return folder / place


def moved(place: str, old: Path, new: Path) -> str:
    """Return a place named from one folder as it is named from another, without a password."""
    if is_url(place):
        url = TableUrl.parse(place)
        return str(url if url.path is None else url.moved_to(Path(_followed(url.path, old, new))))
    return _followed(Path(place), old, new) + ("/" if place.endswith("/") else "")


def _followed(path: Path, old: Path, new: Path) -> str:
    return str(path) if path.is_absolute() else Path(os.path.relpath(old / path, new)).as_posix()


def _quoted(part: str) -> str:
    plain = re.fullmatch(r'[^".]+', part)
    return part if plain else '"' + part.replace('"', '""') + '"'


def _same_file(one: Path, other: Path) -> bool:
    if one.resolve() == other.resolve():
        return True
    return one.exists() and other.exists() and one.samefile(other)
