"""MdCache in memory, as a dict of pages by scope."""

from __future__ import annotations

from attrs import evolve

from saga_backends.memory.lifecycle import MemoryStore
from saga_core.registry import Backend, OpenOptions
from saga_core.stores import Limits, MdCache, Pages
from saga_core.stores.validate import check_pages, check_scope


class MemoryCache(MemoryStore):
    """A page cache in memory. It never awaits, so a write replaces all pages atomically."""

    def __init__(self, limits: Limits = Limits()) -> None:  # noqa: B008 - a frozen value
        super().__init__("cache", limits)
        self._scopes: dict[str, Pages] = {}

    async def read(self, scope: str) -> Pages | None:
        """See ``MdCache.read``."""
        self._checked(scope)
        pages = self._scopes.get(scope)
        return _own(pages) if pages else None

    async def write(self, scope: str, pages: Pages) -> None:
        """See ``MdCache.write``."""
        self._checked(scope)
        check_pages(pages, self.info.limits)
        self._scopes[scope] = _own(pages)

    async def scopes(self) -> list[str]:
        """See ``MdCache.scopes``."""
        self._alive()
        return sorted(self._scopes)

    async def drop(self, scope: str) -> None:
        """See ``MdCache.drop``."""
        self._checked(scope)
        self._scopes.pop(scope, None)

    def locate(self, scope: str) -> str | None:
        """Return None, because there are no files."""
        self._checked(scope)
        return None

    def _checked(self, scope: str) -> None:
        self._alive()
        check_scope(scope, self.info.limits)


def _own(pages: Pages) -> Pages:
    """Return a copy that does not share its dict of files."""
    return evolve(pages, files=dict(pages.files))


async def _open(options: OpenOptions) -> MdCache:
    options.take()
    return MemoryCache()


CACHE = Backend("cache", "memory", _open, "a dict of pages; nothing survives the process")
