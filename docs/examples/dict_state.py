"""A StateKV over a dict: the smallest backend that keeps its contract. docs/write-a-backend.md explains it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from saga_core import Backend, Closed, Conflict, OpenOptions
from saga_core.stores import Batch, Health, Key, StateKV, StoreInfo
from saga_core.stores.validate import check_batch, check_keys, check_scan


class DictState:
    """Awaits nothing, so each call is atomic and commits cannot overlap."""

    def __init__(self) -> None:
        self.info = StoreInfo(kind="state", name="dict")
        self._values: dict[Key, bytes] | None = {}

    async def get(self, keys: Sequence[Key]) -> dict[Key, bytes]:
        values = self._open()
        check_keys(keys, self.info.limits)
        return {key: values[key] for key in keys if key in values}

    async def scan(self, prefix: Key, *, after: Key | None = None, limit: int = 1_000) -> list[tuple[Key, bytes]]:
        values = self._open()
        check_scan(prefix, after, limit, self.info.limits)
        found = (key for key in sorted(values) if key[: len(prefix)] == prefix and (after is None or key > after))
        return [(key, values[key]) for key, _ in zip(found, range(limit), strict=False)]

    async def commit(self, batch: Batch, *, expected: Mapping[Key, bytes | None] | None = None) -> None:
        values = self._open()
        check_batch(batch, expected, self.info.limits)
        for key, wanted in (expected or {}).items():
            if values.get(key) != wanted:
                raise Conflict(key)
        for key in batch.deletes:
            values.pop(key, None)
        values.update(batch.puts)

    async def check(self, *, thorough: bool = False) -> Health:
        return Health(ok=True, detail=f"{len(self._open())} entries")

    async def aclose(self) -> None:
        self._values = None

    def _open(self) -> dict[Key, bytes]:
        if self._values is None:
            raise Closed("the dict state store is closed")
        return self._values


async def _open(options: OpenOptions) -> StateKV:
    options.take()  # takes no options: refuses whatever is given, by name
    return DictState()


BACKEND = Backend("state", "dict", _open, "a dict; nothing survives the process")


async def main() -> None:
    """Open the store as SAGA does, and show that of two conflicting writers only one succeeds."""
    store: StateKV = await BACKEND.open(OpenOptions())
    await store.commit(Batch({("turn", "s1", "t1"): b"one", ("turn", "s1", "t2"): b"two", ("turns",): b"other"}))
    print(await store.scan(("turn",)))
    await store.commit(Batch({("lock",): b"mine"}), expected={("lock",): None})
    try:
        await store.commit(Batch({("lock",): b"yours"}), expected={("lock",): None})
    except Conflict as conflict:
        print(conflict)
    await store.aclose()


if __name__ == "__main__":
    asyncio.run(main())
