"""The lifecycle of curators that hold no resources."""

from __future__ import annotations

from importlib.metadata import version

from saga_core.capabilities import Capability
from saga_core.errors import Closed
from saga_core.stores import Health, StoreInfo

_VERSION = version("saga-rp")


class CuratorLifecycle:
    """The methods that every curator has besides ``review``."""

    def __init__(self, name: str, capabilities: frozenset[Capability] = frozenset()) -> None:
        self._info = StoreInfo("curator", name, _VERSION, capabilities)
        self._closed = False

    @property
    def info(self) -> StoreInfo:
        """The description of the curator, which never changes."""
        return self._info

    async def check(self, *, thorough: bool = False) -> Health:
        """Report good health, because there is nothing that could be damaged."""
        self._alive()
        return Health(True)

    async def aclose(self) -> None:
        """Close the curator. There are no resources to release."""
        self._closed = True

    def _alive(self) -> None:
        if self._closed:
            raise Closed(f"the {self._info.name} curator is closed")
