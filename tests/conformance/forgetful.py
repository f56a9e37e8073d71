"""Stores that are wrong in one plain way, with their harnesses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from attrs import evolve

from conformance import Capability, Harness
from saga_backends.memory import MemoryState
from tests.conformance.harnesses import HARNESSES


class Forgetful(MemoryState):
    """Answers nothing."""

    async def get(self, keys: Any) -> Any:
        await super().get(keys)
        return {}


async def forgetful(path: Path) -> Forgetful:
    return Forgetful()


FORGETFUL = Harness("forgetful", "state", forgetful, {Capability.RESIDENT})


class LateDrop:
    """A vector store over sqlite whose ``drop`` is remembered in memory, and done when the store is closed."""

    def __init__(self, store: Any) -> None:
        self._store, self._late = store, set[str]()

    async def drop(self, scope: str) -> None:
        self._late.add(scope)

    async def aclose(self) -> None:
        for scope in self._late:
            await self._store.drop(scope)
        await self._store.aclose()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


async def late(path: Path) -> Any:
    return LateDrop(await HARNESSES["vector-sqlite"].open(path))


LATE_DROP = evolve(HARNESSES["vector-sqlite"], name="late-drop", open=late)
