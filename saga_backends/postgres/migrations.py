"""Versions and migrations of the schema. Each store has its own part, which the first server to open it migrates.

The row of a part holds its ``version`` and ``least``, which is the oldest version of SAGA's code for the part that may
still work with the data. A server whose code is older than ``version`` changes nothing, and a server whose code is
older than ``least`` refuses to open. So old and new servers can run side by side while a cluster is upgraded.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from attrs import frozen
from psycopg import AsyncConnection

from saga_core.errors import BadInput, NewerSchema

_NAME = re.compile(r"[a-z_][a-z0-9_]{0,62}")
_LOCK = "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))"


@frozen
class Migration:
    """SQL that upgrades a part from the previous version. ``{schema}`` stands for the name of the schema."""

    sql: str
    least: int = 0
    """The oldest code version that may use the part afterwards. 0 means only code that knows this version."""


@frozen
class Part:
    """The part of the schema that belongs to one store."""

    name: str
    migrations: Sequence[Migration]

    @property
    def version(self) -> int:
        """The newest version that this code knows."""
        return len(self.migrations)


IDENTITY = Part(
    "identity",
    (
        Migration(
            "CREATE TABLE {schema}.identity (id uuid PRIMARY KEY);"
            "INSERT INTO {schema}.identity SELECT gen_random_uuid();"
        ),
    ),
)
"""An id of the data. It stays the same if the database is reached at another address, and is part of a dump."""


async def identity_of(connection: AsyncConnection, schema: str) -> str:
    """Return the id of the data in the schema. Requires that the part ``IDENTITY`` exists."""
    found = await connection.execute(f"SELECT id::text FROM {schema}.identity".encode())
    row = await found.fetchone()
    return str(row[0]) if row is not None else ""


def check_schema(name: str) -> str:
    """Return ``name`` if it needs no quotes in SQL. Raises ``BadInput`` otherwise."""
    if not _NAME.fullmatch(name) or name.startswith("pg_"):
        raise BadInput(f"options.schema: {name!r}; give small letters, digits and _, at most 63, and no pg_ in front")
    return name


async def migrate(connection: AsyncConnection, schema: str, part: Part, where: str) -> None:
    """Migrate ``part``. Raises ``NewerSchema``, without changing anything, if it is too new for this code."""
    if await _fits(connection, schema, part, where):
        return
    async with connection.transaction():
        await connection.execute(_LOCK, [f"saga.{schema}"])
        if await _fits(connection, schema, part, where):
            return  # another server has migrated it meanwhile
        await _prepare(connection, schema)
        row = await _row(connection, schema, part)
        done = row[0] if row is not None else 0
        for number, migration in enumerate(part.migrations[done:], done + 1):
            await connection.execute(migration.sql.replace("{schema}", schema).encode())
            await connection.execute(
                f"INSERT INTO {schema}.parts (part, version, least) VALUES (%s, %s, %s) ON CONFLICT (part) "
                "DO UPDATE SET version = excluded.version, least = excluded.least".encode(),
                [part.name, number, migration.least or number],
            )


async def _prepare(connection: AsyncConnection, schema: str) -> None:
    found = await connection.execute("SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = %s", [schema])
    if await found.fetchone() is None:  # CREATE SCHEMA needs a privilege that the user may lack
        await connection.execute(f"CREATE SCHEMA {schema}".encode())
    await connection.execute(
        f"CREATE TABLE IF NOT EXISTS {schema}.parts "
        "(part text PRIMARY KEY, version integer NOT NULL, least integer NOT NULL)".encode()
    )


async def _fits(connection: AsyncConnection, schema: str, part: Part, where: str) -> bool:
    """Return whether the part needs no migration. Raises ``NewerSchema``."""
    found = await connection.execute("SELECT to_regclass(%s)", [f"{schema}.parts"])
    row = await found.fetchone()
    if row is None or row[0] is None:
        return False
    held = await _row(connection, schema, part)
    if held is None:
        return False
    version, least = held
    if part.version < least:
        raise NewerSchema(
            f"{where}: its part {part.name!r} has version {version}, which needs code of version {least} or newer; "
            f"this SAGA knows {part.version}: install a newer SAGA; nothing was changed"
        )
    return version >= part.version


async def _row(connection: AsyncConnection, schema: str, part: Part) -> tuple[int, int] | None:
    found = await connection.execute(f"SELECT version, least FROM {schema}.parts WHERE part = %s".encode(), [part.name])
    row: tuple[int, int] | None = await found.fetchone()
    return row
