"""Count what a call used towards the quotas of its key: as the provider billed it, or estimated without a bill.

Without the estimate, a client that hangs up before the bill arrives would play for free.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from attrs import frozen

from saga_core import Saga
from saga_core.access import Access
from saga_core.billing import price
from saga_core.config import Config
from saga_core.errors import OwnedElsewhere
from saga_core.messages import flatten
from saga_core.play import PendingTurn
from saga_core.ports import Usage
from saga_core.upstream import facts_of
from saga_server.http.call import Call
from saga_server.providers import Route

T = TypeVar("T")

_LETTERS = 4
"""Characters per token, roughly."""


@frozen
class Spent:
    """What a call used. ``dollars`` is None if the price is not known."""

    tokens: int
    dollars: float | None


def spent_on(begun: PendingTurn, usage: Usage | None, route: Route, config: Config, *, hung_up: bool) -> Spent | None:
    """Return what a call used; estimated if ``usage`` is None.

    None if nothing was billed, no text arrived, and the client did not hang up (``hung_up``).
    """
    if usage is None:
        said = sum(len(reply.raw) for reply in begun.replies)
        if not said and not hung_up:
            return None
        asked = sum(len(block.lead) + len(flatten(block.content)) for block in begun.plan.blocks)
        usage = Usage(input=asked // _LETTERS, output=-(-said // _LETTERS))
    facts = facts_of(route.model, route.provider.dialect, config.models.facts)
    return Spent(usage.input + usage.output, price(usage, facts))


async def let_in(access: Access, call: Call, reading: Callable[[], Awaitable[T]]) -> T:
    """Return the result of ``reading`` if the quotas of the key allow the call. Raises ``QuotaExceeded`` otherwise."""
    taken = await access.admit(call.key_id, call.choices)
    try:
        return await reading()
    except OwnedElsewhere:
        await access.give_back(taken)  # the server that owns the session counts the turn
        raise


async def count(
    saga: Saga, key_id: str, begun: PendingTurn, usage: Usage | None, route: Route, *, hung_up: bool
) -> None:
    """Charge what a call used to its key, if the key has a record."""
    spent = spent_on(begun, usage, route, saga.config, hung_up=hung_up) if key_id else None
    if spent is not None:
        await saga.access.spent(key_id, spent.tokens, spent.dollars)
