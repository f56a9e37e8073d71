"""Small StateKVs that come with the suite, one correct and some wrong. An intact runner tells them apart.

They run in the same process as the harness, between its checks. If a harness tampers with the runner so that
everything passes, the wrong canaries pass too and reveal it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from conformance.harness import Harness
from saga_core.errors import Closed, Conflict
from saga_core.stores import Batch, Health, Key, StoreInfo, check_batch, check_keys, check_scan


class Canary:
    """A StateKV on a dict. ``wrong`` names the method that misbehaves, and is empty for the correct store."""

    def __init__(self, wrong: str) -> None:
        self.info = StoreInfo(kind="state", name="canary")
        self._wrong = wrong
        self._values: dict[Key, bytes] | None = {}

    def _open(self) -> dict[Key, bytes]:
        if self._values is None:
            raise Closed("the canary is closed")
        return self._values

    async def get(self, keys: Sequence[Key]) -> dict[Key, bytes]:
        """See ``StateKV.get``."""
        values = self._open()
        check_keys(keys, self.info.limits)
        found = {key: values[key] for key in keys if key in values}
        return {} if self._wrong == "get" else found

    async def scan(self, prefix: Key, *, after: Key | None = None, limit: int = 1_000) -> list[tuple[Key, bytes]]:
        """See ``StateKV.scan``."""
        values = self._open()
        check_scan(prefix, after, limit, self.info.limits)
        keys = sorted(key for key in values if key[: len(prefix)] == prefix and (after is None or key > after))
        return [(key, values[key]) for key in (keys[::-1] if self._wrong == "scan" else keys)[:limit]]

    async def commit(self, batch: Batch, *, expected: Mapping[Key, bytes | None] | None = None) -> None:
        """See ``StateKV.commit``."""
        values = self._open()
        check_batch(batch, expected, self.info.limits)
        for key, wanted in (expected or {}).items():
            if values.get(key) != wanted and self._wrong != "commit":
                raise Conflict(key)
        for key in batch.deletes:
            values.pop(key, None)
        values.update(batch.puts)

    async def check(self, *, thorough: bool = False) -> Health:
        """Report the store as healthy."""
        return Health(ok=True, detail=f"{len(self._open())} entries")

    async def aclose(self) -> None:
        """Discard all entries and close the store."""
        self._values = None


async def _opened(wrong: str, path: Path) -> Any:
    return Canary(wrong)


def _canary(wrong: str) -> Harness:
    return Harness("canary", "state", partial(_opened, wrong))


CANARIES: Mapping[str, tuple[Harness, str, bool]] = {
    "right get": (_canary(""), "state.get_gives_those_that_exist", True),
    "right scan": (_canary(""), "state.scan_in_order", True),
    "wrong get": (_canary("get"), "state.get_gives_those_that_exist", False),
    "wrong scan": (_canary("scan"), "state.scan_in_order", False),
    "wrong commit": (_canary("commit"), "state.expectations_decide", False),
}
"""For each name, the harness, the id of the check to run on it, and whether the check must pass."""
