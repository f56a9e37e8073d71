"""MdCache in PostgreSQL, with one row per scope that contains the four pages."""

from __future__ import annotations

from saga_backends.postgres.database import Database, Migration, Part, connected
from saga_backends.postgres.store import PostgresView
from saga_core.errors import BadInput, StoreCorrupt
from saga_core.registry import OpenOptions
from saga_core.stores import MdCache, Pages
from saga_core.stores.validate import check_pages
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


class PostgresPages(PostgresView):
    """The page cache, created by ``open_``."""

    kind = "cache"
    tables = ("pages",)
    everything = "SELECT count(texts::text) FROM {pages}"

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        pages = self._named["pages"]
        self._read = f"SELECT watermark, names, texts FROM {pages} WHERE scope = %s".encode()
        self._write = (
            f"INSERT INTO {pages} (scope, watermark, names, texts) VALUES (%s, %s, %s::text[], %b::bytea[]) "
            "ON CONFLICT (scope) DO UPDATE SET watermark = excluded.watermark, names = excluded.names, "
            "texts = excluded.texts".encode()
        )

    async def read(self, scope: str) -> Pages | None:
        """See ``MdCache.read``."""
        self._check_scope(scope)

        rows = await self._rows(self._read, [scope], binary=True)
        if not rows:
            return None
        watermark, names, texts = rows[0]
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
        await self._change(scope, self._write, [scope, pages.watermark, list(PAGE_NAMES), texts])

    def locate(self, scope: str) -> str | None:
        """Return None, because the pages are not files."""
        self._check_scope(scope)
        return None


async def open_(options: OpenOptions) -> MdCache:
    """Connect to the database of ``options.url``. Raises ``StoreError`` and ``BadInput``."""
    return PostgresPages(await connected(options, "cache", PART))
