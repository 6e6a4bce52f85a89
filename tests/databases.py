"""Databases for tests: DuckDB and SQLite files, and a temporary PostgreSQL server on this machine."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from discreet.engines import replacing_table
from discreet.engines.sql.connect import connect
from discreet.runtime.locations import TableUrl

DATABASES = ("duckdb", "sqlite", "postgresql")
PASSWORD = "correct-horse-battery"
QUASI: dict[str, Any] = {
    "age": "intervals(10, 20, 40)",
    "zip": "mask(digits=3)",
    "sex": "flat()",
    "dose": "intervals(1, 4)",
}
GLOBAL: dict[str, Any] = {"quasi_identifiers": QUASI, "sensitive": "disease", "class_attribute": "income"}
BUDGET: dict[str, Any] = {**GLOBAL, "privacy": ["k(4)", "distinct-l(2, disease)"], "suppression": "budget(0.3)"}


@dataclass(frozen=True)
class Server:
    """A running PostgreSQL server; ``user`` has a password and a database of the same name."""

    host: str
    port: int
    user: str = "ann"
    password: str = PASSWORD

    def url(self, table: str, *, password: str | None = None, user: str | None = None, database: str = "ann") -> str:
        known = self.password if password is None else password
        who = f"{user or self.user}:{known}" if known else (user or self.user)
        return f"postgresql://{who}@{self.host}:{self.port}/{database}?table={table}"

    def run(self, statement: str, database: str = "ann") -> list[tuple[object, ...]]:
        """Execute a statement as the administrator."""
        import psycopg

        with psycopg.connect(
            host=self.host, port=self.port, user="postgres", password=PASSWORD, dbname=database, autocommit=True
        ) as connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []


_PORTS = 5
"""Ports that are tried: another process may take a free one before the server does."""


@contextmanager
def postgres_server() -> Iterator[Server]:
    """Start an empty server on a free port; skip the test if PostgreSQL is not installed."""
    pytest.importorskip("psycopg", reason="psycopg is not here; it comes with the extra postgres")
    programs = _programs()
    folder = Path(tempfile.mkdtemp(prefix="discreet-postgres-"))
    try:
        prefix = _as_other_user(folder)
        data, log = folder / "data", folder / "log"
        (folder / "password").write_text(PASSWORD)
        (folder / "password").chmod(0o644)
        made = subprocess.run(
            [
                *prefix,
                programs / "initdb",
                *("-D", data, "-U", "postgres", "-A", "scram-sha-256", "--no-sync", "-E", "UTF8", "--locale=C"),
                f"--pwfile={folder / 'password'}",
            ],
            capture_output=True,
            text=True,
            check=False,
            cwd="/",
        )
        if made.returncode:
            pytest.skip(f"PostgreSQL cannot be set up here: {made.stderr.strip().splitlines()[-1]}")
        control = [*prefix, programs / "pg_ctl", "-D", data, "-w", "-t", "600"]
        for _ in range(_PORTS):
            port = _free_port()
            flags = f"-k {folder} -p {port} -c listen_addresses=127.0.0.1 -c fsync=off -c max_connections=30"
            started = subprocess.run(
                [*control, "-o", flags, "-l", log, "start"], capture_output=True, text=True, check=False, cwd="/"
            )
            if not started.returncode:
                break
        else:
            pytest.skip("PostgreSQL cannot be started here")
        with _cleared_up([*control, "-m", "immediate", "stop"], folder):
            server = Server("127.0.0.1", port)
            server.run(f"CREATE ROLE ann LOGIN PASSWORD '{PASSWORD}'", "postgres")
            server.run("CREATE DATABASE ann OWNER ann", "postgres")
            yield server
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _cleared_up(stop: Sequence[str | Path], folder: Path) -> Iterator[None]:
    """Stop the server and delete its folder at the end; a waiting shell does so even if this process is killed."""
    waiting = ["sh", "-c", 'read -r line; "$@"; rm -rf "$0"', folder, *stop]
    quiet = subprocess.DEVNULL
    with subprocess.Popen(waiting, stdin=subprocess.PIPE, stdout=quiet, stderr=quiet, cwd="/", start_new_session=True):
        yield


def _programs() -> Path:
    """Folder of the server's programs, which Debian does not put on the PATH."""
    found = shutil.which("initdb")
    folders = [Path(found).parent] if found else sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    for folder in folders:
        if (folder / "initdb").exists() and (folder / "pg_ctl").exists():
            return folder
    pytest.skip("the PostgreSQL server is not here; on Debian it comes with the package postgresql")


def _as_other_user(folder: Path) -> list[str]:
    """Command prefix that runs a program as another user, since the server refuses to run as root."""
    if os.geteuid() != 0:
        return []
    try:
        pwd.getpwnam("postgres")
    except KeyError:
        pytest.skip("PostgreSQL does not run as root, and there is no user postgres")
    if shutil.which("runuser") is None:
        pytest.skip("PostgreSQL does not run as root, and there is no runuser")
    shutil.chown(folder, "postgres")
    return ["runuser", "-u", "postgres", "--"]


def _free_port() -> int:
    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def fill(url: str, table: pl.DataFrame) -> str:
    """Write a table to a database, and return its URL."""
    with replacing_table(TableUrl.parse(url)) as staged:
        staged.write(table, shuffle=None)
    return url


def people(n: int = 90) -> pl.DataFrame:
    """Return a table with missing values, empty texts, negative zeros and text that must be quoted."""
    rng = np.random.default_rng(5)

    def pick(values: list[Any], shares: list[float]) -> list[Any]:
        return [values[place] for place in rng.choice(len(values), n, p=shares)]

    return pl.DataFrame(
        {
            "name": pick(["Ann", "Bob", "Cy", None], [0.3, 0.3, 0.3, 0.1]),
            "age": pick([21, 24, 33, 57, None], [0.3, 0.3, 0.2, 0.1, 0.1]),
            "disease": pick(["flu", "hiv", "", None], [0.45, 0.25, 0.2, 0.1]),
            "zip": pick(["011", "012", "020"], [0.4, 0.4, 0.2]),
            "sex": pick(["m", "f", None], [0.5, 0.4, 0.1]),
            "dose": pick([0.0, -0.0, 1.5, None, float("nan")], [0.3, 0.2, 0.4, 0.05, 0.05]),
            "income": pick(["low", "high"], [0.6, 0.4]),
            "note": pick(["x", 'say "y"', "two\nlines", "", None], [0.3, 0.3, 0.1, 0.1, 0.2]),
        },
        schema_overrides={"dose": pl.Float64},
    )


def tables(url: str) -> list[str]:
    """Return the names of the tables of a database."""
    with connect(TableUrl.parse(url)) as session:
        return sorted(session.tables())
