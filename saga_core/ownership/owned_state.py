"""The journal's store behind the fence: a session's commit succeeds only while this server owns the session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from typing import cast

from saga_core.capabilities import Capability
from saga_core.errors import BadInput, Conflict, LeaseLost
from saga_core.journal import TOLD, keys, session_of
from saga_core.ownership.leases import Leases, order_after
from saga_core.ownership.records import Held
from saga_core.ownership.view_fence import held_to_write
from saga_core.stores import Batch, Compacting, Health, Key, StateKV, StoreInfo


class OwnedState:
    """A ``StateKV`` whose commits expect the lease of each session that they touch, in the same transaction.

    A new session gets its lease in the commit that creates it. Commits of records that make up a session in memory are
    numbered, and each number is used once.
    """

    def __init__(self, inner: StateKV, leases: Leases) -> None:
        self.inner = inner
        self.leases = leases

    @property
    def info(self) -> StoreInfo:
        """The description of the inner store."""
        return self.inner.info

    async def get(self, keys: Sequence[Key]) -> dict[Key, bytes]:
        """See ``StateKV.get``."""
        return await self.inner.get(keys)

    async def scan(self, prefix: Key, *, after: Key | None = None, limit: int = 1_000) -> list[tuple[Key, bytes]]:
        """See ``StateKV.scan``."""
        return await self.inner.scan(prefix, after=after, limit=limit)

    async def commit(self, batch: Batch, *, expected: Mapping[Key, bytes | None] | None = None) -> None:
        """See ``StateKV.commit``. Raises ``LeaseLost`` if another server has one of the written sessions."""
        touched = sorted({session for key in (*batch.puts, *batch.deletes) if (session := session_of(key))})
        if not touched:
            await self.inner.commit(batch, expected=expected)
            return
        async with AsyncExitStack() as stack:
            fence: dict[Key, bytes | None] = {}
            puts, deletes = dict(batch.puts), set(batch.deletes)
            numbered: dict[str, tuple[Held, int]] = {}
            begun: dict[str, Held] = {}
            for session in touched:
                held = await self._held(session, expected or {}, fence, puts, begun)
                held.busy += 1
                stack.callback(_rest, held)
                if any(key[0] in TOLD and session_of(key) == session for key in (*batch.puts, *batch.deletes)):
                    await stack.enter_async_context(held.writing)
                    fence[keys.order(session)], puts[keys.order(session)] = order_after(held.order)
                    numbered[session] = held, held.order + 1
                if keys.session(session) in deletes:
                    self._end(session, puts, deletes)
            await self._commit(Batch(puts, frozenset(deletes)), {**fence, **(expected or {})}, touched)
            for session, (held, number) in numbered.items():
                self.leases.written(session, held, number)
            for session, held in begun.items():
                self.leases.created(session, held)
            for session in touched:
                if keys.lease(session) in deletes:
                    self.leases.ended(session)

    async def _held(
        self,
        session: str,
        expected: Mapping[Key, bytes | None],
        fence: dict[Key, bytes | None],
        puts: dict[Key, bytes],
        begun: dict[str, Held],
    ) -> Held:
        """Return the lease of a session, and add what the commit expects of it to ``fence`` and ``puts``."""
        held = self.leases.held(session)
        if held is None and expected.get(keys.session(session), b"") is None:
            held, puts[keys.lease(session)] = self.leases.begun(session)
            fence[keys.lease(session)] = None
            begun[session] = held
            return held
        if held is None:
            held = await held_to_write(self.leases, session)
        fence[keys.lease(session)] = held.raw
        return held

    def _end(self, session: str, puts: dict[Key, bytes], deletes: set[Key]) -> None:
        """Delete the lease together with the session."""
        puts.pop(keys.order(session), None)
        deletes |= {keys.lease(session), keys.order(session)}

    async def _commit(self, batch: Batch, expected: Mapping[Key, bytes | None], touched: Sequence[str]) -> None:
        ours = {key: session for session in touched for key in (keys.lease(session), keys.order(session))}
        try:
            await self.inner.commit(batch, expected=expected)
        except Conflict as error:
            if error.key not in ours:
                raise
            session = ours[error.key]
            self.leases.lost(session)
            raise LeaseLost(
                f"session {session} was taken over by another server, which did not hear from this one; "
                "nothing was written"
            ) from error
        except BadInput:
            raise  # refused without writing
        except BaseException:
            # Whether the commit happened is unknown, so the sessions are read from the journal again.
            for session in touched:
                self.leases.lost(session)
            raise

    async def compact(self) -> None:
        """Rewrite the files without deleted data, if the store supports it."""
        if Capability.COMPACTS in self.inner.info.capabilities:
            await cast(Compacting, self.inner).compact()

    async def check(self, *, thorough: bool = False) -> Health:
        """See ``Store.check``."""
        return await self.inner.check(thorough=thorough)

    async def aclose(self) -> None:
        """Return the leases and close the store."""
        await self.leases.aclose()
        await self.inner.aclose()


def _rest(held: Held) -> None:
    held.busy -= 1
