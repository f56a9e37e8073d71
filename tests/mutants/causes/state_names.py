"""Wrong StateKVs: keys that are taken for one another, and answers that are older than they may be."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from saga_backends.memory import MemoryState
from saga_core.errors import BadInput
from saga_core.stores import Batch, Key
from saga_core.stores.validate import check_batch, check_keys, check_scan
from tests.mutants.stores_registry import breaks

Expected = Mapping[Key, bytes | None] | None
Entries = list[tuple[Key, bytes]]
INVISIBLE = re.compile("[\u200b-\u200f\u2060\ufeff]")


class Renamed(MemoryState):
    """Keeps the last key of each class that ``name`` makes, under the key that came first."""

    in_get = in_put = in_delete = in_expected = in_scan = True

    def name(self, key: Key) -> Any:
        return key

    def known(self, key: Key) -> Key:
        same = self.name(key)
        return next((other for other in self._order if self.name(other) == same), key)

    async def get(self, keys: Sequence[Key]) -> dict[Key, bytes]:
        check_keys(keys, self.info.limits)
        if not self.in_get:
            return await super().get(keys)
        found = await super().get([self.known(key) for key in keys])
        return {key: found[self.known(key)] for key in keys if self.known(key) in found}

    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        self._alive()
        check_batch(batch, expected, self.info.limits)
        puts = {self.known(key) if self.in_put else key: value for key, value in batch.puts.items()}
        deletes = {self.known(key) if self.in_delete else key for key in batch.deletes}
        wanted = {self.known(key) if self.in_expected else key: value for key, value in (expected or {}).items()}
        await super().commit(Batch(puts, frozenset(deletes - puts.keys())), expected=wanted)


def joined(separator: str) -> Callable[[Any, Key], str]:
    """A name that joins the segments."""
    return lambda _self, key: separator.join(key)


for title, separator in {
    "Slashes": "/",
    "Colons": ":",
    "Nul": "\0",
    "UnitSeparators": "\x1f",
    "RecordSeparators": "\x1e",
    "Bars": "|",
    "Tabs": "\t",
    "Dots": ".",
    "Commas": ",",
    "Nothing": "",
    "MaxBytes": "\xff",
}.items():
    breaks("S-3")(type(f"JoinsKeysBy{title}", (Renamed,), {"name": joined(separator)}))


@breaks("S-3")
class EscapesHalf(Renamed):
    """A slash in a segment becomes a tilde and a one, and a tilde stays what it was."""

    def name(self, key: Key) -> Any:
        return "/".join(part.replace("/", "~1") for part in key)


@breaks("S-3")
class TakesNumbersForNumbers(Renamed):
    def name(self, key: Key) -> Any:
        return tuple(str(int(part)) if part.isdecimal() and part.isascii() else part for part in key)


@breaks("S-3")
class TakesDigitsOfAnyScript(Renamed):
    """Digits of other scripts are those of this one."""

    def name(self, key: Key) -> Any:
        return tuple("".join(str(unicodedata.decimal(c, c)) for c in part) for part in key)


@breaks("S-3")
class DoesNotSeeZeroWidth(Renamed):
    def name(self, key: Key) -> Any:
        return tuple(INVISIBLE.sub("", part) for part in key)


@breaks("S-3")
class ResolvesCompatibility(Renamed):
    """Ligatures and wide letters are taken apart."""

    in_delete = False

    def name(self, key: Key) -> Any:
        return tuple(unicodedata.normalize("NFKC", part) for part in key)


@breaks("S-3")
class FoldsCaseInGet(Renamed):
    in_put = in_delete = in_expected = False

    def known(self, key: Key) -> Key:
        return key if key in self._values else super().known(key)

    def name(self, key: Key) -> Any:
        return tuple(part.casefold() for part in key)


@breaks("S-3")
class FoldsCaseInDeletes(FoldsCaseInGet):
    in_get, in_delete = False, True


@breaks("S-3")
class FoldsCaseInExpectations(FoldsCaseInGet):
    in_get, in_expected = False, True


@breaks("S-3")
class ComposesInDeletes(FoldsCaseInDeletes):
    def name(self, key: Key) -> Any:
        return tuple(unicodedata.normalize("NFC", part) for part in key)


@breaks("S-3")
class TrimsInGet(FoldsCaseInGet):
    def name(self, key: Key) -> Any:
        return tuple(part.strip() for part in key)


class Prefixed(MemoryState):
    """Scans everything, and takes what ``begins``."""

    def begins(self, key: Key, prefix: Key) -> bool:
        return key[: len(prefix)] == prefix

    async def scan(self, prefix: Key, *, after: Key | None = None, limit: int = 1_000) -> Entries:
        self._alive()
        check_scan(prefix, after, limit, self.info.limits)
        found = [key for key in self._order if self.begins(key, prefix) and (after is None or key > after)]
        return [(key, self._values[key]) for key in found[:limit]]


@breaks("S-5")
class FoldsCaseInScans(Prefixed):
    def begins(self, key: Key, prefix: Key) -> bool:
        return [part.lower() for part in key[: len(prefix)]] == [part.lower() for part in prefix]


@breaks("S-5")
class ScansWithLike(Prefixed):
    """``%`` and ``_`` in a prefix stand for something else."""

    def begins(self, key: Key, prefix: Key) -> bool:
        return len(key) >= len(prefix) and all(like(wanted, part) for wanted, part in zip(prefix, key, strict=False))


def like(pattern: str, text: str) -> bool:
    """SQL's LIKE, which has no case for ASCII."""
    parts = {"%": ".*", "_": "."}
    return re.fullmatch("".join(parts.get(c, re.escape(c)) for c in pattern), text, re.DOTALL) is not None


@breaks("S-5")
class ScansWithGlob(Prefixed):
    def begins(self, key: Key, prefix: Key) -> bool:
        parts = {"*": ".*", "?": "."}

        def matches(pattern: str, text: str) -> bool:
            made = "".join(parts.get(c, re.escape(c)) for c in pattern)
            return re.fullmatch(made, text, re.DOTALL) is not None

        return len(key) >= len(prefix) and all(matches(p, k) for p, k in zip(prefix, key, strict=False))


@breaks("S-5")
class ScansARange(Prefixed):
    """The end of a prefix is the prefix with its last character made one larger: what begins with it counts too."""

    def begins(self, key: Key, prefix: Key) -> bool:
        if not prefix:
            return True
        return (
            key[: len(prefix) - 1] == prefix[:-1]
            and key[len(prefix) - 1 : len(prefix)] > ()
            and (key[len(prefix) - 1] == prefix[-1] or key[len(prefix) - 1].startswith(prefix[-1] + "\x01"))
        )


@breaks("S-5")
class EndsAPrefixAtTheLargestCharacter(Prefixed):
    """Keys whose next segment begins beyond U+FFFF are behind the end of the range."""

    def begins(self, key: Key, prefix: Key) -> bool:
        return super().begins(key, prefix) and (len(key) == len(prefix) or key[len(prefix)] < "\uffff" or not prefix)


@breaks("S-8")
class SkipsWhatItHasSeen(MemoryState):
    """A commit that was made before is not made again: a change, its opposite, and the change leave the opposite."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: set[Any] = set()

    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        check_batch(batch, expected, self.info.limits)
        await super().commit(Batch(), expected=expected)
        name = (tuple(sorted(batch.puts.items())), batch.deletes)
        if name not in self.seen:
            await super().commit(batch)
        self.seen.add(name)


@breaks("S-8")
class SkipsTheLastCommitAgain(MemoryState):
    """A commit equal to the last but one is taken for a retry that came late."""

    def __init__(self) -> None:
        super().__init__()
        self.last: list[Batch] = []

    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        check_batch(batch, expected, self.info.limits)
        if batch in self.last and batch != self.last[-1]:
            batch = Batch()
        await super().commit(batch, expected=expected)
        self.last = [*self.last, Batch(dict(batch.puts), batch.deletes)][-2:]


class Remembering(MemoryState):
    """Answers that were given before are given again until ``stale`` lets go of them."""

    def __init__(self) -> None:
        super().__init__()
        self.answers: dict[Any, Any] = {}

    def stale(self, batch: Batch) -> None:
        self.answers.clear()

    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        await super().commit(batch, expected=expected)
        self.stale(batch)

    async def scan(self, prefix: Key, *, after: Key | None = None, limit: int = 1_000) -> Entries:
        found = await super().scan(prefix, after=after, limit=limit)
        return list(self.answers.setdefault(("scan", prefix, after, limit), found))


@breaks("S-8")
class DeletesLeaveTheScanCache(Remembering):
    def stale(self, batch: Batch) -> None:
        if batch.puts:
            self.answers.clear()


@breaks("S-8")
class OverwritingLeavesTheScanCache(Remembering):
    """Only a key that is new makes a scan stale."""

    def stale(self, batch: Batch) -> None:
        if batch.deletes or any(key not in self.before for key in batch.puts):
            self.answers.clear()

    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        self.before = set(self._values)
        await super().commit(batch, expected=expected)


@breaks("S-8")
class ForgetsOnlyTheScansOfTheFirstSegment(Remembering):
    """A scan of the whole store stays as it was."""

    def stale(self, batch: Batch) -> None:
        for name in list(self.answers):
            if name[1] and any(key[0] == name[1][0] for key in (*batch.puts, *batch.deletes)):
                del self.answers[name]


@breaks("S-8")
class RemembersAbsence(MemoryState):
    """A key that was asked for and absent stays absent until it is put alone."""

    def __init__(self) -> None:
        super().__init__()
        self.absent: set[Key] = set()

    async def get(self, keys: Sequence[Key]) -> dict[Key, bytes]:
        found = {key: value for key, value in (await super().get(keys)).items() if key not in self.absent}
        self.absent |= {key for key in keys if key not in self._values}
        return found

    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        await super().commit(batch, expected=expected)
        if len(batch.puts) == 1:
            self.absent.clear()


@breaks("S-1")
class GetsWhatWasDeletedByAnother(MemoryState):
    """The cache of ``get`` lets go of what is put, and of a single delete, not of several."""

    def __init__(self) -> None:
        super().__init__()
        self.warm: dict[Key, bytes] = {}

    async def get(self, keys: Sequence[Key]) -> dict[Key, bytes]:
        found = await super().get(keys)
        self.warm |= found
        return {key: self.warm[key] for key in keys if key in self.warm}

    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        await super().commit(batch, expected=expected)
        self.warm |= {key: value for key, value in batch.puts.items() if key in self.warm}
        if len(batch.deletes) == 1:
            for key in batch.deletes:
                self.warm.pop(key, None)


@breaks("L-7")
class TakesNothingForAnEmptyBatch(MemoryState):
    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        await super().commit(batch or Batch(), expected=expected)


@breaks("L-7")
class LetsAnAttributeErrorOut(MemoryState):
    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        self._alive()
        if len(batch.puts) > 10**9:
            raise BadInput("batch")
        await super().commit(batch, expected=expected)
