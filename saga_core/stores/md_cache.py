"""MdCache: the four human-readable pages of a timeline, replaced together as one generation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from attrs import field, frozen

from saga_core.errors import BadInput
from saga_core.stores.lifecycle import Store
from saga_core.values import PAGE_NAMES as PAGE_NAMES


def _all_four(_instance: object, _attribute: object, files: Mapping[str, str]) -> None:
    if tuple(sorted(files)) != tuple(sorted(PAGE_NAMES)):
        raise BadInput(f"pages: got {sorted(files)}; a generation has exactly {', '.join(PAGE_NAMES)}")


@frozen
class Pages:
    """One generation: the texts of all four pages, and the turn that they show."""

    files: Mapping[str, str] = field(validator=_all_four)
    watermark: str = ""


class MdCache(Store, Protocol):
    """Pages per scope. A reader sees either the old generation or the new one, never a mixture."""

    async def read(self, scope: str) -> Pages | None:
        """Return the current generation, or None if there is none. A damaged one raises ``StoreCorrupt``.

        A page that was edited by hand where ``locate`` points is not damaged. It is returned as it is, with the
        watermark of the last ``write``, until the next ``write`` replaces it.
        """
        ...

    async def write(self, scope: str, pages: Pages) -> None:
        """Replace the generation as a whole. It is durable when this returns."""
        ...

    async def scopes(self) -> list[str]:
        """Return the scopes that have pages, in order."""
        ...

    async def drop(self, scope: str) -> None:
        """Remove the scope's pages. An unknown scope is not an error."""
        ...

    def locate(self, scope: str) -> str | None:
        """Return the folder where a person finds the pages, or None if they are not files."""
        ...
