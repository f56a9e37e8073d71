"""The forgetting job: when a session is removed, it also removes what a curator stores of it on another server.

The removal is noted in the journal before anything is deleted. An unreachable server or a crash therefore delays it,
but leaves no trace behind. A failed removal is retried, and listed as a job until it succeeds.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress

from attrs import define, field, frozen

from saga_core import codec
from saga_core.background import Job, Step, Waiting
from saga_core.capabilities import Capability
from saga_core.counters import Counters
from saga_core.errors import Conflict, SagaError
from saga_core.foreign import foreign
from saga_core.journal import keys
from saga_core.registry import why
from saga_core.stores import Batch, Curator, Key, StateKV

log = logging.getLogger("saga.curation")

PATIENCE = 10.0
"""Seconds that removing a session waits for one curator."""
AGAIN = 600.0
"""Seconds after which a curator that failed is asked again."""
_DEGRADED = "curation.forget"
_MOST = 10_000
_EARLIER = "it failed before; `saga jobs --retry` tells why"
"""The reason of a failure in another process."""


@frozen
class PendingForget:
    """A session that a curator has yet to forget."""

    curator: str
    session: str
    tries: int = 0
    reason: str = ""
    noted: int = 0
    """The tries that the journal knows of."""


@define(eq=False, slots=False)
class ForgettingJob(Job):
    """Makes curators that declare ``REMEMBERS`` forget sessions."""

    kind = "forget"
    counter = _DEGRADED
    mode = "curation.forgetting"
    keeps_loaded = False

    curators: Sequence[Curator]
    kv: StateKV
    counters: Counters
    request_patience: float = PATIENCE
    _failed: dict[Key, tuple[int, str]] = field(factory=dict)

    @property
    def _remembering(self) -> dict[str, Curator]:
        found = [each for each in self.curators if Capability.REMEMBERS in each.info.capabilities]
        return {each.info.name: each for each in found}

    async def note(self, session: str) -> None:
        """Note that a session is to be forgotten. Durable when this returns. Raises ``StoreError``."""
        wanted = {keys.pending_forget(name, session): b"" for name in self._remembering}
        if wanted:
            await self.kv.commit(Batch(wanted))

    async def pending(self) -> list[PendingForget]:
        """The sessions that are still to be forgotten. Raises ``StoreError``."""
        rows = await self.kv.scan(keys.PENDING_FORGET, limit=_MOST)
        found = []
        for key, raw in rows:
            if len(key) == 3:
                noted = codec.loads(raw) if raw else 0
                tries, reason = self._failed.get(key, (noted, _EARLIER if noted else ""))
                found.append(PendingForget(key[1], key[2], tries, reason, noted))
        return found

    async def resume(self) -> None:
        """Start the work that is noted. Raises ``StoreError``."""
        for session in {each.session for each in await self.pending()}:
            self.wake(session)

    async def before_drain(self) -> None:
        """Try everything that is noted now."""
        await self.resume()

    async def step(self, session: str) -> Step:
        """Do what is noted for a session."""
        done = await self._forget_noted(session)
        left = any(each.session == session for each in await self.pending())
        return Step(done=done, again_in=AGAIN if left else None)

    async def forget_now(self, session: str) -> int:
        """Do what is noted for a session, and return how much succeeded. What fails stays noted, and is retried.

        Raises ``StoreError``.
        """
        done = await self._forget_noted(session)
        if any(each.session == session for each in await self.pending()):
            self.wake(session, after=AGAIN)
        return done

    async def left(self) -> tuple[str, ...]:
        """What is still noted, each with the reason and the remedy. Raises ``StoreError``."""
        return tuple(
            f"{each.curator} (curator.backend): it could not forget session {each.session} "
            f"({each.reason or 'not tried yet'}); forget the same again once it can, or `saga jobs --retry`"
            for each in await self.pending()
        )

    async def try_all(self) -> None:
        """Do everything that is noted. Raises ``StoreError``."""
        for session in sorted({each.session for each in await self.pending()}):
            await self.forget_now(session)

    async def _forget_noted(self, session: str) -> int:
        done = 0
        for each in await self.pending():
            if each.session == session:
                done += await self._forget(each)
        rest = await self.pending()
        if rest:
            reason = next((each.reason for each in rest if each.reason), "not tried yet")
            self.counters.degrade(_DEGRADED, f"{len(rest)} sessions are still to be forgotten elsewhere: {reason}")
        else:
            self.counters.recover(_DEGRADED)
        return done

    async def _forget(self, each: PendingForget) -> bool:
        key = keys.pending_forget(each.curator, each.session)
        curator = self._remembering.get(each.curator)
        try:
            if curator is None:
                raise SagaError(f"curator.backend is not {each.curator!r} any more; set it up again to forget there")
            async with asyncio.timeout(self.request_patience):
                with foreign:
                    await curator.forget(each.session)  # type: ignore[attr-defined]
        except Exception as error:  # noqa: BLE001 - of any author's code; the session is gone all the same
            late = f"no answer within {self.request_patience:g} s" if isinstance(error, TimeoutError) else ""
            reason = str(error) if isinstance(error, SagaError) else late or why(error)
            self._failed[key] = (each.tries + 1, reason)
            self.counters.add("curation.forget.failures")
            log.warning("session %s: the %s curator could not forget it: %s", each.session, each.curator, reason)
            # The number alone is kept for other processes: an error may quote what is to be forgotten.
            with suppress(Conflict):  # another server made it forget meanwhile, or noted its own failure
                before = codec.dumps(each.noted) if each.noted else b""
                await self.kv.commit(Batch({key: codec.dumps(each.tries + 1)}), expected={key: before})
            return False
        await self.kv.commit(Batch(deletes=frozenset({key})))
        self._failed.pop(key, None)
        self.counters.add("curation.forgotten")
        return True

    def waiting(self, reasons: Mapping[str, str]) -> Iterable[Waiting]:
        """The failed removals, as pending work."""
        return [Waiting(key[2], "", self.kind, reason) for key, (_, reason) in self._failed.items()]
