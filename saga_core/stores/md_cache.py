"""MdCache: the four human-readable pages of a timeline, one generation at a time."""

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
    """One generation: the text of all four pages, and the turn that they show."""

    files: Mapping[str, str] = field(validator=_all_four)
    watermark: str = ""


class MdCache(Store, Protocol):
    """Pages per scope. A reader sees the old generation or the new one, never a mixture."""

    async def read(self, scope: str) -> Pages | None:
        """The current generation, or None when nothing was written. A damaged one raises ``StoreCorrupt``.

        A page that a person edited where ``locate`` leads is no damage: it is given as it stands, beside the
        watermark of the last ``write``, until the next one replaces it.
        """
        ...

    async def write(self, scope: str, pages: Pages) -> None:
        """Replace the generation as a set; durable when it returns."""
        ...

    async def scopes(self) -> list[str]:
        """The scopes that have pages, in order."""
        ...

    async def drop(self, scope: str) -> None:
        """Remove the scope's pages. An unknown scope is no error."""
        ...

    def locate(self, scope: str) -> str | None:
        """Where a person finds the pages (a folder), or None when they are not files."""
        ...
