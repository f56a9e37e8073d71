"""The fence of a session's views: the lease, for stores that can check it in the transaction of a write."""

from __future__ import annotations

from collections.abc import Callable

from saga_core.errors import LeaseLost, OwnedElsewhere
from saga_core.journal import keys
from saga_core.ownership.leases import Leases
from saga_core.ownership.records import Held
from saga_core.stores import Fence, FenceOf


async def held_to_write(leases: Leases, session: str) -> Held:
    """Return the lease of a session, and take it if it is free.

    Raises ``LeaseLost`` if another server has it, or has written the session in the meantime.
    """
    held = leases.held(session)
    if held is not None:
        return held
    try:
        stale = await leases.own(session)
    except OwnedElsewhere as error:
        raise LeaseLost(f"nothing was written: {error}") from error
    if stale:
        raise LeaseLost(f"session {session} was written by another server meanwhile; nothing was written here")
    held = leases.held(session)
    if held is None:
        raise LeaseLost(f"session {session} was taken by another server; nothing was written")
    return held


def fence_of_views(leases: Leases, session_of: Callable[[str], str | None]) -> FenceOf:
    """Return the fences of a store. ``session_of`` returns the session of a scope; None: the scope has no fence."""

    async def fence_of(scope: str) -> Fence | None:
        session = session_of(scope)
        if session is None:
            return None
        return Fence(keys.lease(session), (await held_to_write(leases, session)).raw)

    return fence_of
