"""The schema's versions. Each store has a part of its own, and a part is brought up to date by whoever comes first.

A part's row says its ``version``, and ``least``: the oldest version of SAGA's code for it that may still work with
what is there. A server whose code is older than ``version`` changes nothing, and one that is older than ``least``
refuses to open. So old and new servers run side by side while a cluster is upgraded.
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
    """SQL that brings a part from the version before to this one. ``{schema}`` stands for the schema's name."""

    sql: str
    least: int = 0
    """The oldest code that may work with the part afterwards; 0: only code that knows this version."""


@frozen
class Part:
    """What one store keeps in the schema."""

    name: str
    migrations: Sequence[Migration]

    @property
    def version(self) -> int:
        """The newest that this code knows."""
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
"""A name of the data that stays when the database is reached by another address, and goes with a dump."""


async def identity_of(connection: AsyncConnection, schema: str) -> str:
    """The name of the schema's data, once ``IDENTITY`` is there."""
    found = await connection.execute(f"SELECT id::text FROM {schema}.identity".encode())
    row = await found.fetchone()
    return str(row[0]) if row is not None else ""


def check_schema(name: str) -> str:
    """``name``, when it needs no quotes."""
    if not _NAME.fullmatch(name) or name.startswith("pg_"):
        raise BadInput(f"options.schema: {name!r}; give small letters, digits and _, at most 63, and no pg_ in front")
    return name


async def migrate(connection: AsyncConnection, schema: str, part: Part, where: str) -> None:
    """Bring ``part`` up to date. Raises ``NewerSchema`` when it is too new for this code; then nothing was changed."""
    if await _fits(connection, schema, part, where):
        return
    async with connection.transaction():
        await connection.execute(_LOCK, [f"saga.{schema}"])
        if await _fits(connection, schema, part, where):
            return  # another server was first
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
    if await found.fetchone() is None:  # the statement asks for a right that whoever finds the schema may lack
        await connection.execute(f"CREATE SCHEMA {schema}".encode())
    await connection.execute(
        f"CREATE TABLE IF NOT EXISTS {schema}.parts "
        "(part text PRIMARY KEY, version integer NOT NULL, least integer NOT NULL)".encode()
    )


async def _fits(connection: AsyncConnection, schema: str, part: Part, where: str) -> bool:
    """Whether nothing is to be done."""
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
