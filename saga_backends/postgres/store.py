"""What the stores in PostgreSQL share: their description, their health, and the reads and changes of one statement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from psycopg import AsyncConnection

from saga_backends.checked import CheckedStore
from saga_backends.postgres.database import Database
from saga_core.capabilities import Capability
from saga_core.stores import FenceOf, Health, StoreInfo

MOST_ROWS = 2**62
"""A limit that PostgreSQL accepts and that no store reaches."""

Values = Sequence[object] | Mapping[str, object]


class PostgresStore:
    """A store in the tables ``tables`` of a database. ``everything`` selects from all of their rows, for ``check``."""

    kind: ClassVar[str]
    name: ClassVar[str] = "postgres"
    tables: ClassVar[tuple[str, ...]]
    everything: ClassVar[str]
    more: ClassVar[frozenset[Capability]] = frozenset()

    def __init__(self, database: Database, version: str = "") -> None:
        self._database = database
        self._named = {table: f"{database.schema}.{table}" for table in self.tables}
        self._info = StoreInfo(
            kind=self.kind,
            name=self.name,
            version=version or database.version,
            capabilities=frozenset({Capability.DURABLE, Capability.SHARED}) | self.more,
            location=database.place.shown,
            identity=database.identity,
        )

    @property
    def info(self) -> StoreInfo:
        """The version of the server, the limits, and the location of the schema."""
        return self._info

    async def check(self, *, thorough: bool = False) -> Health:
        """Read from the tables and measure their size. If ``thorough``, read all rows."""
        self._database.alive()
        statement = self.everything if thorough else f"SELECT 1 FROM {{{self.tables[0]}}} LIMIT 1"
        return await self._database.health(statement.format(**self._named), list(self._named.values()), thorough)

    async def aclose(self) -> None:
        """Wait for the calls in progress and release the connections."""
        await self._database.aclose()

    async def _rows(self, statement: bytes, values: Values = (), *, binary: bool = False) -> list[tuple[Any, ...]]:
        async def look(connection: AsyncConnection) -> list[tuple[Any, ...]]:
            return await (await connection.execute(statement, values, binary=binary)).fetchall()

        return await self._database.read(look)


class PostgresView(PostgresStore, CheckedStore):
    """A store of scopes, which are the rows of its first table. Dropping such a row drops the contents of the scope."""

    def fence(self, fence_of: FenceOf) -> None:
        """See ``Fenced``."""
        self._database.fence(fence_of)

    async def _scopes(self) -> list[str]:
        rows = await self._rows(f"SELECT scope FROM {self._named[self.tables[0]]} ORDER BY scope".encode())
        return [row[0] for row in rows]

    async def _drop(self, scope: str) -> None:
        await self._change(scope, f"DELETE FROM {self._named[self.tables[0]]} WHERE scope = %s".encode(), [scope])

    async def _change(self, scope: str, statement: bytes, values: Values) -> int:
        """Run a statement as one transaction, and return how many rows it changed."""

        async def write(connection: AsyncConnection) -> int:
            return (await connection.execute(statement, values)).rowcount

        return await self._database.change(scope, write)

    def _alive(self) -> None:
        self._database.alive()
