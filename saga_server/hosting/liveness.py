"""The other servers that share a journal: their liveness, from their heartbeats and this server's monotonic clock."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from attrs import define, field, frozen

from saga_core import codec
from saga_core.counters import Counters
from saga_core.errors import Conflict, NotSupported
from saga_core.ids import digest
from saga_core.stores import Batch, StateKV
from saga_server.hosting import layout


@frozen
class Beat:
    """A server's heartbeat, with a growing ``count``."""

    count: int
    address: str = ""
    """The address for other servers; empty if there is none."""
    seconds: float = 0.0
    """How long the server may be silent, by its own settings."""


class Siblings(Protocol):
    """Tells which processes are alive. A server is identified by its name and the token of its process."""

    def announce(self, server: str) -> None:
        """Announce this process as ``server``, until it ends."""
        ...

    def is_gone(self, server: str) -> bool:
        """Whether the process of ``server`` has ended for any reason, so that it no longer writes.

        False for a process that hangs or is stopped. Its parent process ends it.
        """
        ...


MODE_TWINS = "leases.name"
_FORGOTTEN = 50
"""The number of lease lengths after which the row of a server that is gone is removed."""
_PAGE = 1_000


@define(eq=False)
class _Seen:
    """The last beat of another server, and when it was first seen."""

    raw: bytes
    since: float
    address: str
    seconds: float
    """How long the server may be silent."""


@define(eq=False, kw_only=True)
class Others:
    """What one server knows about the others. Call ``look`` after each of its own heartbeats."""

    kv: StateKV
    name: str
    """This server's name. Other processes with this name count as gone."""
    server: str
    seconds: float
    counters: Counters
    siblings: Siblings | None = None
    _seen: dict[str, _Seen] = field(factory=dict)
    _twins: dict[str, bytes] = field(factory=dict)
    """The last heartbeats of other processes with this server's name."""
    _asking: float | None = None
    """Since when the store has not accepted this server's heartbeat; None if it did."""

    def is_gone(self, server: str) -> bool:
        """Whether a server has written no heartbeat for long enough, as of the last look.

        While the store is unavailable, no server counts as gone, because none can write a heartbeat.
        """
        seen = self._seen.get(server)
        return self.judge(server, seen.raw if seen is not None else None)

    def judge(self, server: str, beat: bytes | None) -> bool:
        """Whether a server is gone, given its ``beat`` that was just read."""
        if self._is_of_my_name(server):
            return True
        seen = self._seen.get(server)
        if beat is not None and (seen is None or seen.raw != beat):
            seen = self._seen[server] = self._see(beat)
        if self.siblings is not None:
            return self.siblings.is_gone(server)
        if self._is_blind():
            return False
        return beat is None or seen is None or _now() - seen.since > seen.seconds

    def _see(self, raw: bytes) -> _Seen:
        found = codec.decode(raw, Beat)
        return _Seen(raw, _now(), found.address, max(self.seconds, found.seconds))

    def _is_of_my_name(self, server: str) -> bool:
        return server.rpartition("#")[0] == self.name

    async def knows(self, server: str) -> bool:
        """Whether a server shares this journal, alive or not. Raises ``StoreError``."""
        return server in self._seen or bool(await self.kv.get([layout.beat(server)]))

    def address_of(self, server: str) -> str:
        """Return the address of a server; empty if it is unknown."""
        seen = self._seen.get(server)
        return seen.address if seen is not None else ""

    def asks(self) -> None:
        """Record that this server is about to write a heartbeat."""
        if self._asking is None:
            self._asking = _now()

    async def look(self) -> None:
        """Read the rows of all servers, after this server's heartbeat was written. Raises ``StoreError``."""
        rows = await self.kv.scan(layout.SERVERS, limit=_PAGE)
        if self._is_blind():
            for seen in self._seen.values():  # the others may have lost the store as well
                seen.since = _now()
        self._asking = None
        present = {key[-1]: raw for key, raw in rows if key[-1] != self.server}
        for server in self._seen.keys() - present.keys():
            del self._seen[server]
        for server, raw in present.items():
            if self.judge(server, raw):
                await self._clear(server, raw)
        self._look_for_twins(present)

    def _is_blind(self) -> bool:
        """Whether the store is unavailable, so that the silence of other servers means nothing."""
        return self._asking is not None and _now() - self._asking > self.seconds / 6

    def _look_for_twins(self, present: Mapping[str, bytes]) -> None:
        """Report another live process with this server's name, because the two take each other's sessions."""
        mine = {server: raw for server, raw in present.items() if self._is_of_my_name(server)}
        if any(self._twins.get(server, raw) != raw for server, raw in mine.items()):
            self.counters.degrade(
                MODE_TWINS, f"two servers have the name {self.name}, and take each other's sessions; give each a name "
                "of its own in server.name, or leave that out",
            )  # fmt: skip
        self._twins.update(mine)

    async def _clear(self, server: str, raw: bytes) -> None:
        """Remove the row of a server that has been gone for a long time. Its sessions are free in any case."""
        seen = self._seen.get(server)
        if self.siblings is None and seen is not None and _now() - seen.since < _FORGOTTEN * self.seconds:
            return
        try:
            await self.kv.commit(Batch(deletes=frozenset({layout.beat(server)})), expected={layout.beat(server): raw})
        except Conflict:
            return  # the server is alive, or another one removed the row

    def status(self) -> list[dict[str, Any]]:
        """Return the other servers. JSON-able."""
        now = _now()
        return [
            {
                "server": server,
                "address": seen.address,
                "alive": not self.judge(server, seen.raw),
                "quiet_seconds": round(now - seen.since, 1),
            }
            for server, seen in sorted(self._seen.items())
        ]


def _now() -> float:
    return asyncio.get_running_loop().time()


# -- which processes of this machine are alive: each holds a lock on a file until it ends ---------------------------

_FOLDER = ".workers"
_MOMENT = 0.005
"""Seconds between two tries to get a lock that another process holds for a moment to check it."""


class LivenessFiles:
    """A file for each server name below the data directory, which names its process and is locked by that process.

    It implements ``Siblings``. The kernel releases the lock when the process ends, so no clock is involved.
    """

    def __init__(self, data: Path) -> None:
        self._folder = data / _FOLDER
        self._held: int | None = None

    def announce(self, server: str) -> None:
        """Register this process, until it ends, as ``server``: a name with the process's token. Raises ``OSError``."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(self._file(server), os.O_RDWR | os.O_CREAT, 0o600)
        while not _lock(descriptor, alone=True):
            time.sleep(_MOMENT)  # another process is checking, or the last process of this name is just ending
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, server.encode(), 0)
        self._held = descriptor

    def is_gone(self, server: str) -> bool:
        """Whether the process of ``server`` has ended."""
        try:
            descriptor = os.open(self._file(server), os.O_RDONLY)
        except FileNotFoundError:
            return True
        try:
            if _lock(descriptor, alone=False):
                return True
            now = os.pread(descriptor, 1_024, 0).decode("utf-8", "replace")
            # A process writes its name right after it gets the lock. Until then the file is empty or has the last name.
            return now not in ("", server)
        finally:
            os.close(descriptor)

    def _file(self, server: str) -> Path:
        return self._folder / digest(server.rpartition("#")[0], size=8)


if sys.platform == "win32":

    def _lock(descriptor: int, *, alone: bool) -> bool:
        raise NotSupported("server.workers: several processes need Linux, macOS or another Unix")

else:
    import fcntl

    def _lock(descriptor: int, *, alone: bool) -> bool:
        """Try to lock the file until its descriptor is closed. Returns whether that worked."""
        try:
            fcntl.flock(descriptor, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
