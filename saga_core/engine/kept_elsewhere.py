"""Kept elsewhere: what a curator holds of a session outside the process goes when the session goes.

It is noted in the journal before anything is removed, so that a server that is away or a crash costs time and no
trace. What cannot be removed is tried again at each drain and each start, and listed as a job until it is gone.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

from attrs import define, field, frozen

from saga_core.capabilities import Capability
from saga_core.engine.counters import Counters
from saga_core.engine.lanes import Waiting
from saga_core.errors import SagaError
from saga_core.journal import keys
from saga_core.stores.curator import Curator
from saga_core.stores.state_kv import Batch, Key, StateKV

log = logging.getLogger("saga.curation")

PATIENCE = 10.0
"""Seconds that removing a session waits for one curator."""
_DEGRADED = "curation.forget"
_MOST = 10_000


@frozen
class Leaving:
    """A session that a curator is still to forget."""

    curator: str
    session: str
    tries: int = 0
    reason: str = ""


@define(eq=False)
class KeptElsewhere:
    """The sessions that are to be forgotten by curators which declare ``REMEMBERS``."""

    curators: Sequence[Curator]
    kv: StateKV
    counters: Counters
    patience: float = PATIENCE
    _failed: dict[Key, tuple[int, str]] = field(factory=dict)

    @property
    def _remembering(self) -> dict[str, Curator]:
        found = [each for each in self.curators if Capability.REMEMBERS in each.info.capabilities]
        return {each.info.name: each for each in found}

    async def note(self, session: str) -> None:
        """Note that a session is to be forgotten. Durable when this returns. Raises ``StoreError``."""
        wanted = {keys.leaving(name, session): b"" for name in self._remembering}
        if wanted:
            await self.kv.commit(Batch(wanted))

    async def leaving(self) -> list[Leaving]:
        """What is still to be forgotten. Raises ``StoreError``."""
        rows = await self.kv.scan(keys.LEAVING, limit=_MOST)
        return [Leaving(key[1], key[2], *self._failed.get(key, (0, ""))) for key, _ in rows]

    async def forget(self, session: str | None = None) -> int:
        """Do what is noted, for one session or all; how much of it is done. What fails stays noted.

        Raises ``StoreError``.
        """
        done = 0
        for each in await self.leaving():
            if session in (None, each.session):
                done += await self._forget(each)
        rest = await self.leaving()
        if rest:
            reason = next((each.reason for each in rest if each.reason), "not tried yet")
            self.counters.degrade(_DEGRADED, f"{len(rest)} sessions are still to be forgotten elsewhere: {reason}")
        else:
            self.counters.recover(_DEGRADED)
        return done

    async def _forget(self, each: Leaving) -> bool:
        key = keys.leaving(each.curator, each.session)
        curator = self._remembering.get(each.curator)
        try:
            if curator is None:
                raise SagaError(f"curator.backend is not {each.curator!r} any more; set it up again to forget there")
            async with asyncio.timeout(self.patience):
                await curator.forget(each.session)  # type: ignore[attr-defined]
        except (SagaError, TimeoutError) as error:
            reason = str(error) or f"no answer within {self.patience:g} s"
            self._failed[key] = (each.tries + 1, reason)
            self.counters.add("curation.forget.failures")
            log.warning("session %s: the %s curator could not forget it: %s", each.session, each.curator, reason)
            return False
        await self.kv.commit(Batch(deletes=frozenset({key})))
        self._failed.pop(key, None)
        self.counters.add("curation.forgotten")
        return True

    def waiting(self) -> tuple[Waiting, ...]:
        """What failed, as work that waits."""
        return tuple(Waiting(key[2], "", "forget", reason) for key, (_, reason) in self._failed.items())
