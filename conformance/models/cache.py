"""The oracle of MdCache, a list of generations."""

from __future__ import annotations

from conformance.models.refusal import points
from saga_core.stores import Pages


class CacheModel:
    """Keeps the last generation of each scope."""

    def __init__(self) -> None:
        self.held: list[tuple[str, Pages]] = []

    def read(self, scope: str) -> Pages | None:
        """See ``MdCache.read``."""
        for name, pages in self.held:
            if name == scope:
                return pages
        return None

    def write(self, scope: str, pages: Pages) -> None:
        """See ``MdCache.write``."""
        self.drop(scope)
        self.held.append((scope, Pages(dict(pages.files), pages.watermark)))

    def scopes(self) -> list[str]:
        """See ``MdCache.scopes``."""
        return sorted((name for name, _ in self.held), key=points)

    def drop(self, scope: str) -> None:
        """See ``MdCache.drop``."""
        self.held = [(name, pages) for name, pages in self.held if name != scope]

    def snapshot(self) -> object:
        """The whole contents."""
        return dict(self.held)
