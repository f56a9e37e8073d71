"""MdCache in PostgreSQL, with one row per scope that contains the four pages."""

from __future__ import annotations

from psycopg import AsyncConnection

from saga_backends.postgres.database import Database, Migration, Part, place_of
from saga_core.capabilities import Capability
from saga_core.errors import BadInput, StoreCorrupt
from saga_core.registry import OpenOptions
from saga_core.stores import FenceOf, Health, MdCache, Pages, StoreInfo
from saga_core.stores.validate import check_pages, check_scope
from saga_core.values import PAGE_NAMES

_TABLE = """
CREATE TABLE {schema}.pages (
  scope text COLLATE "C" PRIMARY KEY,
  watermark text NOT NULL,
  names text[] NOT NULL,
  texts bytea[] NOT NULL
);
COMMENT ON COLUMN {schema}.pages.texts IS 'UTF-8: text columns hold no NUL, and a page may';
"""
PART = Part("pages", (Migration(_TABLE),))


class PostgresPages:
    """The page cache, created by ``open_pages``."""

    def __init__(self, database: Database) -> None:
        self._database = database
        pages = f"{database.schema}.pages"
        self._read = f"SELECT watermark, names, texts FROM {pages} WHERE scope = %s".encode()
        self._write = (
            f"INSERT INTO {pages} (scope, watermark, names, texts) VALUES (%s, %s, %s::text[], %b::bytea[]) "
            "ON CONFLICT (scope) DO UPDATE SET watermark = excluded.watermark, names = excluded.names, "
            "texts = excluded.texts".encode()
        )
        self._drop = f"DELETE FROM {pages} WHERE scope = %s".encode()
        self._scopes = f"SELECT scope FROM {pages} ORDER BY scope".encode()
        self._everything = f"SELECT count(texts::text) FROM {pages}".encode()
        self._one = f"SELECT 1 FROM {pages} LIMIT 1".encode()
        self._info = StoreInfo(
            kind="cache",
            name="postgres",
            version=database.version,
            capabilities=frozenset({Capability.DURABLE, Capability.SHARED}),
            location=database.place.shown,
            identity=database.identity,
        )

    @property
    def info(self) -> StoreInfo:
        """The version of the server, the limits, and the location of the schema."""
        return self._info

    async def read(self, scope: str) -> Pages | None:
        """See ``MdCache.read``."""
        self._check_scope(scope)

        async def look(connection: AsyncConnection) -> tuple[str, list[str], list[bytes]] | None:
            return await (await connection.execute(self._read, [scope], binary=True)).fetchone()

        row = await self._database.read(look)
        if row is None:
            return None
        watermark, names, texts = row
        try:
            pages = Pages({name: text.decode() for name, text in zip(names, texts, strict=True)}, watermark)
            check_pages(pages, self._info.limits)
        except (ValueError, TypeError, AttributeError, BadInput) as error:
            raise StoreCorrupt(f"the pages of {scope} cannot be read: {error!r}") from error
        return pages

    async def write(self, scope: str, pages: Pages) -> None:
        """See ``MdCache.write``."""
        self._check_scope(scope)
        check_pages(pages, self._info.limits)
        texts = [pages.files[name].encode() for name in PAGE_NAMES]
        await self._change(self._write, scope, [scope, pages.watermark, list(PAGE_NAMES), texts])

    def fence(self, fence_of: FenceOf) -> None:
        """See ``Fenced``."""
        self._database.fence(fence_of)

    async def scopes(self) -> list[str]:
        """See ``MdCache.scopes``."""
        self._database.alive()

        async def look(connection: AsyncConnection) -> list[str]:
            return [row[0] for row in await (await connection.execute(self._scopes)).fetchall()]

        return await self._database.read(look)

    async def drop(self, scope: str) -> None:
        """See ``MdCache.drop``."""
        self._check_scope(scope)
        await self._change(self._drop, scope, [scope])

    async def _change(self, statement: bytes, scope: str, values: list[object]) -> None:
        async def change(connection: AsyncConnection) -> None:
            await connection.execute(statement, values)

        await self._database.change(scope, change)

    def locate(self, scope: str) -> str | None:
        """Return None, because the pages are not files."""
        self._check_scope(scope)
        return None

    async def check(self, *, thorough: bool = False) -> Health:
        """Read from the table and measure its size. If ``thorough``, read every page."""
        self._database.alive()

        async def look(connection: AsyncConnection) -> None:
            await connection.execute(self._everything if thorough else self._one)

        return await self._database.health(look, ("pages",), thorough)

    async def aclose(self) -> None:
        """Wait for the calls in progress and release the connections."""
        await self._database.aclose()

    def _check_scope(self, scope: str) -> None:
        self._database.alive()
        check_scope(scope, self._info.limits)


async def open_pages(options: OpenOptions) -> MdCache:
    """Connect to the database of ``options.url``. Raises ``StoreError`` and ``BadInput``."""
    place, _ = place_of(options, "cache")
    database = Database(place, "cache")
    await database.open(PART)
    return PostgresPages(database)
