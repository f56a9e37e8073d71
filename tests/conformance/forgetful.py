"""Stores that are wrong in one plain way, with their harnesses."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any

from attrs import evolve

from conformance import Capability, Harness
from saga_backends.memory import MemoryCache, MemoryState
from saga_core.stores import Pages
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


class Deflated(MemoryCache):
    """Also writes each scope's pages to a compressed file of its own, which goes with them."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._info = evolve(self._info, capabilities=DEFLATES)
        self.path = path

    async def write(self, scope: str, pages: Pages) -> None:
        await super().write(scope, pages)
        self.file(scope).write_bytes(zlib.compress(repr(pages).encode()))

    async def drop(self, scope: str) -> None:
        await super().drop(scope)
        self.file(scope).unlink(missing_ok=True)

    async def compact(self) -> None:
        self._alive()

    def file(self, scope: str) -> Path:
        return self.path / scope.encode().hex()


class KeepsDeflated(Deflated):
    """What is dropped stays, compressed, in another file."""

    async def drop(self, scope: str) -> None:
        if self.file(scope).exists():
            (self.path / "old").write_bytes(self.file(scope).read_bytes())
        await super().drop(scope)


class KeepsClear(Deflated):
    """What was written stays in clear text, where the harness decodes nothing of it."""

    async def write(self, scope: str, pages: Pages) -> None:
        await super().write(scope, pages)
        with (self.path / "log").open("ab") as log:
            log.write(repr(pages).encode())


DEFLATES = frozenset({Capability.RESIDENT, Capability.COMPACTS})


def inflated(file: Path) -> bytes:
    return b"" if file.name == "log" else zlib.decompress(file.read_bytes())


async def deflated(store: type[Deflated], path: Path) -> Any:
    return store(path)
