"""Wrong StateKVs: each breaks one clause."""

from __future__ import annotations

import asyncio
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from saga_backends.memory import MemoryState
from saga_core.errors import BadInput, Conflict, SagaError
from saga_core.stores.state_kv import Batch, Key
from saga_core.stores.validate import SEGMENT_END_BYTES
from tests.mutants.stores_registry import breaks

Expected = Mapping[Key, bytes | None] | None


def changed(batch: Batch, key: Any = lambda key: key, value: Any = lambda value: value) -> Batch:
    """The batch with its keys and values changed."""
    try:
        puts = {key(name): value(part) for name, part in batch.puts.items()}
        return Batch(puts, frozenset(key(name) for name in batch.deletes) - puts.keys())
    except (TypeError, AttributeError):
        return batch


@breaks("S-1")
class GivesAbsentKeysAsEmpty(MemoryState):
    async def get(self, keys: Sequence[Key]) -> dict[Key, bytes]:
        found = await super().get(keys)
        return {key: found.get(key, b"") for key in keys}


@breaks("S-1")
class ForgetsTheSecondOfTwoKeys(MemoryState):
    async def get(self, keys: Sequence[Key]) -> dict[Key, bytes]:
        return dict(list((await super().get(keys)).items())[:1])


@breaks("S-2")
class StripsNulFromValues(MemoryState):
    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        await super().commit(changed(batch, value=lambda value: value.rstrip(b"\0")), expected=expected)


@breaks("S-2")
class TakesEmptyForAbsent(MemoryState):
    async def get(self, keys: Sequence[Key]) -> dict[Key, bytes]:
        return {key: value for key, value in (await super().get(keys)).items() if value}


@breaks("S-3")
class ComposesKeys(MemoryState):
    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        def composed(key: Key) -> Key:
            return tuple(unicodedata.normalize("NFC", part) for part in key)

        await super().commit(changed(batch, composed), expected=expected)


@breaks("S-3")
class CutsKeysAtNul(MemoryState):
    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        def cut(key: Key) -> Key:
            return tuple(part.split("\0")[0] or part for part in key)

        await super().commit(changed(batch, cut), expected=expected)


class Sorted(MemoryState):
    """Scans everything, in an order of its own."""

    def order(self, key: Key) -> Any:
        return key

    def begins(self, key: Key, prefix: Key) -> bool:
        return key[: len(prefix)] == prefix

    async def scan(self, prefix: Key, *, after: Key | None = None, limit: int = 1_000) -> list[tuple[Key, bytes]]:
        await super().scan(prefix, after=after, limit=limit)
        found = [(key, value) for key, value in self._values.items() if self.begins(key, prefix)]
        found = [entry for entry in found if after is None or self.order(entry[0]) > self.order(after)]
        return sorted(found, key=lambda entry: self.order(entry[0]))[:limit]


@breaks("S-4")
class OrdersByJoinedText(Sorted):
    def order(self, key: Key) -> Any:
        return "/".join(key)


@breaks("S-4")
class OrdersByUtf16(Sorted):
    def order(self, key: Key) -> Any:
        return [part.encode("utf-16-be") for part in key]


@breaks("S-5")
class MatchesPartsOfSegments(Sorted):
    def begins(self, key: Key, prefix: Key) -> bool:
        return "/".join(key).startswith("/".join(prefix))


@breaks("S-5")
class LeavesOutTheKeyItself(Sorted):
    def begins(self, key: Key, prefix: Key) -> bool:
        return super().begins(key, prefix) and (key != prefix)


@breaks("S-6")
class GivesTheKeyAfterAgain(MemoryState):
    async def scan(self, prefix: Key, *, after: Key | None = None, limit: int = 1_000) -> list[tuple[Key, bytes]]:
        found = await super().scan(prefix, after=after, limit=limit)
        if after in self._values and after[: len(prefix)] == prefix:
            found = [(after, self._values[after]), *found][:limit]
        return found


@breaks("S-6")
class StartsAnewBehindAnUnknownKey(MemoryState):
    async def scan(self, prefix: Key, *, after: Key | None = None, limit: int = 1_000) -> list[tuple[Key, bytes]]:
        given: Any = after
        known = given is None or not isinstance(given, tuple) or given in self._values or "" in given or not given
        return await super().scan(prefix, after=after if known else None, limit=limit)


@breaks("S-7")
class IgnoresTheLimit(MemoryState):
    async def scan(self, prefix: Key, *, after: Key | None = None, limit: int = 1_000) -> list[tuple[Key, bytes]]:
        await super().scan(prefix, after=after, limit=limit)
        return await super().scan(prefix, after=after, limit=10**9)


@breaks("S-8")
class LosesADelete(MemoryState):
    """A key that others begin with stays."""

    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        stays = {key for key in batch.deletes for other in self._values if other != key and other[: len(key)] == key}
        await super().commit(Batch(batch.puts, batch.deletes - stays), expected=expected)


@breaks("S-8")
class AppendsInsteadOfReplacing(MemoryState):
    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        old = dict(self._values)
        await super().commit(batch, expected=expected)
        for key, value in batch.puts.items():
            self._values[key] = old.get(key, b"") + value


@breaks("S-9")
class TearsABatch(MemoryState):
    """What stands before the fault is written."""

    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        try:
            await super().commit(batch, expected=expected)
        except SagaError:
            first = dict(list(batch.puts.items())[:1])
            await super().commit(Batch({key: value for key, value in first.items() if all(key)}))
            raise


@breaks("S-10")
class IgnoresExpectations(MemoryState):
    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        try:
            await super().commit(batch, expected=expected)
        except Conflict:
            await super().commit(batch)


@breaks("S-10")
class TakesAbsentForEmpty(MemoryState):
    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        eased: dict[Key, bytes | None] | None = None if expected is None else dict(expected)
        for key, wanted in (expected or {}).items():
            if wanted == b"" and key not in self._values and eased is not None:
                eased[key] = None
        await super().commit(batch, expected=eased)


@breaks("S-11")
class NamesTheLastConflict(MemoryState):
    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        turned = dict(reversed(list(expected.items()))) if expected else expected
        await super().commit(batch, expected=turned)


@breaks("S-12")
class LooksAndThenWrites(MemoryState):
    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        await super().commit(Batch(), expected=expected)
        await asyncio.sleep(0)
        await super().commit(batch)


@breaks("S-13")
class WritesKeyByKey(MemoryState):
    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        await super().commit(Batch(), expected=expected)
        for key, value in batch.puts.items():
            await super().commit(Batch({key: value}))
            await asyncio.sleep(0)
        await super().commit(Batch(deletes=batch.deletes))


@breaks("S-14")
class SkipsMalformedKeys(MemoryState):
    async def get(self, keys: Sequence[Key]) -> dict[Key, bytes]:
        try:
            return await super().get(keys)
        except BadInput:
            return {}


@breaks("S-14")
class ReplacesSurrogates(MemoryState):
    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        def clean(key: Key) -> Key:
            return tuple(part.encode("utf-8", "replace").decode() for part in key)

        await super().commit(changed(batch, clean), expected=expected)


@breaks("S-15")
class TakesAnyBuffer(MemoryState):
    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        def plain(value: Any) -> Any:
            return bytes(value) if isinstance(value, bytearray | memoryview) else value

        await super().commit(changed(batch, value=plain), expected=expected)


@breaks("S-15")
class LetsTheDeleteWin(MemoryState):
    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        puts = {key: value for key, value in batch.puts.items() if key not in batch.deletes}
        await super().commit(Batch(puts, batch.deletes), expected=expected)


@breaks("S-16")
class SplitsABatch(MemoryState):
    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        puts = list(batch.puts.items())
        most = self.info.limits.batch
        for start in range(0, max(len(puts), 1), most):
            deletes = frozenset() if start else batch.deletes
            await super().commit(Batch(dict(puts[start : start + most]), deletes), expected=expected)


@breaks("S-16")
class CutsLongKeys(MemoryState):
    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        most = self.info.limits.key_bytes - SEGMENT_END_BYTES
        await super().commit(changed(batch, lambda key: (key[0][:most], *key[1:]) if key else key), expected=expected)


@breaks("S-17")
class GivesNothingForALimitOfZero(MemoryState):
    async def scan(self, prefix: Key, *, after: Key | None = None, limit: int = 1_000) -> list[tuple[Key, bytes]]:
        if limit == 0:
            return []
        return await super().scan(prefix, after=after, limit=limit)


@breaks("S-18")
class KeepsTheCallersDict(MemoryState):
    """What was put last is looked up in the mapping that the caller gave."""

    last: Mapping[Key, bytes] = {}

    async def get(self, keys: Sequence[Key]) -> dict[Key, bytes]:
        found = await super().get(keys)
        return found | {key: self.last[key] for key in keys if key in self.last}

    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        await super().commit(batch, expected=expected)
        self.last = batch.puts
