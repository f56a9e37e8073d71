"""Wrong stores that hold everything until they are opened again: what is read then ends at some number."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.mutants.causes.durable_wrong import FiledCache, FiledGraph, FiledVector, LogState
from tests.mutants.stores_registry import breaks


@breaks("L-11")
class ReplaysAThousandRecords(LogState):
    """The reader of the log has a buffer for a thousand."""

    read_so_far = 0

    def again(self, record: Any) -> None:
        self.read_so_far += 1
        if self.read_so_far <= 1_000:
            super().again(record)


@breaks("L-11")
class ForgetsTheRecordAtWhichItCompacts(LogState):
    """At each thousandth record a reader makes an image of what it has, and goes on behind that record."""

    read_so_far = 0

    def again(self, record: Any) -> None:
        self.read_so_far += 1
        if self.read_so_far % 1_000:
            super().again(record)


@breaks("L-11")
class OpensTenThousandEntries(LogState):
    def read(self) -> None:
        super().read()
        self._order = sorted(self._values)[:10_000]
        self._values = {key: self._values[key] for key in self._order}


@breaks("L-11")
class OpensEightThousandNodes(FiledGraph):  # type: ignore[misc, valid-type]
    """Each scope is read by one query with a limit."""

    def begin(self, path: Path) -> None:
        super().begin(path)
        for held in self._scopes.values():
            for name in sorted(held.nodes)[8_000:]:
                del held.nodes[name]


@breaks("L-11")
class OpensTheFirstScopes(FiledGraph):  # type: ignore[misc, valid-type]
    """The list of scopes has a page of 256."""

    def begin(self, path: Path) -> None:
        super().begin(path)
        self._scopes = dict(sorted(self._scopes.items())[:256])


@breaks("L-11")
class OpensTenThousandItems(FiledVector):  # type: ignore[misc, valid-type]
    def begin(self, path: Path) -> None:
        super().begin(path)
        for held in self._scopes.values():
            for name in sorted(held.items)[10_000:]:
                del held.items[name]


@breaks("L-11")
class OpensTheLastCalls(FiledVector):  # type: ignore[misc, valid-type]
    """Its log keeps the last 250 calls."""

    def again(self) -> None:
        super().again()
        self._scopes.clear()
        self.replaying = True
        for made in self.calls[-250:]:
            if made[0] == "create" or made[1][0] in self._scopes:
                self.replay(made)
        self.replaying = False


@breaks("L-11")
class OpensTwoHundredFolders(FiledCache):  # type: ignore[misc, valid-type]
    def begin(self, path: Path) -> None:
        super().begin(path)
        self._scopes = dict(list(self._scopes.items())[-200:])
