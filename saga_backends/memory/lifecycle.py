"""The base class of all stores in memory, with a description, a health check and ``aclose``."""

from __future__ import annotations

from saga_core.capabilities import Capability
from saga_core.errors import Closed
from saga_core.stores import Health, Limits, StoreInfo


class MemoryStore:
    """A store without files and threads."""

    def __init__(self, kind: str, limits: Limits) -> None:
        self._info = StoreInfo(kind=kind, name="memory", capabilities=frozenset({Capability.RESIDENT}), limits=limits)
        self._closed = False

    @property
    def info(self) -> StoreInfo:
        """Kind, name and limits."""
        return self._info

    async def check(self, *, thorough: bool = False) -> Health:
        """Report good health while the store is open."""
        self._alive()
        return Health(ok=True, detail="in memory")

    async def aclose(self) -> None:
        """Close the store. All other calls raise ``Closed`` from then on."""
        self._closed = True

    def _alive(self) -> None:
        if self._closed:
            raise Closed(f"the {self._info.kind} store in memory is closed")
