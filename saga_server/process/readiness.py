"""Checks whether the server could take a turn now, by writing to the journal and reading from it."""

from __future__ import annotations

import asyncio

from attrs import define, field, frozen

from saga_core import Saga
from saga_core.errors import StoreError
from saga_core.journal import PROBE_KEY
from saga_core.storage import health_of
from saga_core.stores import Batch, Key, Store
from saga_server.process.settings import Current

SECONDS = 5.0
"""Time limit for the journal to take the probe."""
_LATE = "the journal did not answer within {:g} s"
_PROVEN_SECONDS = 1.0
"""How long a successful probe of the journal counts, so that frequent checks cause little load."""
_WRITTEN = b"." * 131_072
"""The probe is larger than what a turn writes, so that there is room for a turn."""


@frozen
class Ready:
    """The result of a check."""

    status: str
    """``ready``, ``not ready`` or ``stopping``."""
    reason: str = ""
    """Why the server is not ready, in words."""
    stores: dict[str, str] = field(factory=dict)
    """For each store ``ok``, or what is wrong with it."""
    degraded: tuple[str, ...] = ()
    """The degraded modes in force. The server takes turns nevertheless."""


@define(eq=False)
class Readiness:
    """Checks the readiness of one server."""

    saga: Saga
    current: Current
    _key: Key = field(init=False)
    """Key of the probe. Each of several servers on one journal has its own."""
    _proven: float = field(default=float("-inf"), init=False)
    """When a probe of the journal last succeeded, on the loop's clock."""
    _probing: asyncio.Task[str] | None = field(default=None, init=False)

    def __attrs_post_init__(self) -> None:
        rights = self.saga.parts.rights
        self._key = PROBE_KEY if rights is None else (*PROBE_KEY, rights.server)

    async def look(self) -> Ready:
        """Check the stores and the journal."""
        if self.current.stopping:
            return Ready("stopping", "the server is shutting down")
        stores = self.saga.stores.all()
        found = dict(zip(stores, await asyncio.gather(*map(_check, stores.values())), strict=True))
        reason = found["state"] if found["state"] != "ok" else await self._journal()
        found["state"] = reason or "ok"
        degraded = tuple(sorted(self.saga.counters.degraded))
        return Ready("not ready" if reason else "ready", reason, found, degraded)

    async def _journal(self) -> str:
        """Return why the journal cannot take a turn, or an empty text when it can."""
        failing = not {"journal.write", "journal.read"}.isdisjoint(self.saga.counters.degraded)
        if not failing and asyncio.get_running_loop().time() - self._proven < _PROVEN_SECONDS:
            return ""
        if self._probing is None or self._probing.done():  # one probe at a time, shared by all callers
            self._probing = asyncio.create_task(self._probe(), name="saga-probe")
        await asyncio.wait({self._probing}, timeout=SECONDS)
        return self._probing.result() if self._probing.done() else _LATE.format(SECONDS)

    async def _probe(self) -> str:
        state, counters = self.saga.stores.state, self.saga.counters
        try:
            async with asyncio.timeout(SECONDS):  # the next probe finds out whether the journal is well again
                await state.commit(Batch({self._key: _WRITTEN}))
                found = (await state.get([self._key])).get(self._key)
                await state.commit(Batch(deletes=frozenset({self._key})))
            reason = "" if found == _WRITTEN else "the journal lost an entry that it had taken"
        except TimeoutError:
            reason = _LATE.format(SECONDS)
        except StoreError as error:
            reason = str(error)
        if reason:
            counters.degrade("journal.write", reason)
        else:
            self._proven = asyncio.get_running_loop().time()
            counters.recover("journal.write")
            counters.recover("journal.read")
        return reason

    async def aclose(self) -> None:
        """Cancel a running probe."""
        if self._probing is not None:
            self._probing.cancel()
            await asyncio.gather(self._probing, return_exceptions=True)


async def _check(store: Store) -> str:
    health = await health_of(store)
    return "ok" if health.ok else health.detail or "not ok"
