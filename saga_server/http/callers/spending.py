"""Count what a call used towards the quotas of its key: as the provider billed it, or estimated without a bill.

Without the estimate, a client that hangs up before the bill arrives would play for free.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

from saga_core import Saga
from saga_core.billing import price
from saga_core.errors import OwnedElsewhere, QuotaExceeded
from saga_core.messages import flatten
from saga_core.play import PendingTurn
from saga_core.ports import ChatPart, ExtraPart, Usage
from saga_core.upstream import facts_of
from saga_server.providers import Route
from saga_server.tenancy import Tenancy, tenancy_of

T = TypeVar("T")

_LETTERS = 4
"""Characters per token, roughly."""
_CALLS = ("tool_calls", "function_call")
_SIGNS = frozenset({"id", "type", "signature", "data", "format"})
"""Fields of reasoning and tool calls that the model has not written."""


def estimated(begun: PendingTurn, unseen: int, *, hung_up: bool) -> Usage | None:
    """Return the estimated use of a call that was not billed. ``unseen`` is the sum of ``unseen_characters``.

    None if nothing arrived, and the client did not hang up (``hung_up``).
    """
    written = sum(len(reply.raw) for reply in begun.replies) + unseen
    if not written and not hung_up:
        return None
    read = sum(len(block.lead) + len(flatten(block.content)) for block in begun.plan.blocks)
    return Usage(input=read // _LETTERS, output=-(-written // _LETTERS))


def unseen_characters(part: ChatPart) -> int:
    """Return how many characters of reasoning and tool calls a part of a reply has."""
    if not isinstance(part, ExtraPart):
        return 0
    calls = sum(_letters(part.fields.get(name)) for name in _CALLS)
    # Providers send one thought in several fields.
    return calls + max((_letters(value) for name, value in part.fields.items() if name not in _CALLS), default=0)


def _letters(value: Any) -> int:
    if isinstance(value, str):
        return len(value)
    if isinstance(value, Mapping):
        return sum(_letters(each) for name, each in value.items() if name not in _SIGNS)
    return sum(map(_letters, value)) if isinstance(value, list | tuple) else 0


async def admit(tenancy: Tenancy, key_id: str, turns: int, reading: Callable[[], Awaitable[T]]) -> T:
    """Return the result of ``reading`` if the quotas of the key allow it. Raises ``QuotaExceeded`` otherwise."""
    taken = await tenancy.admit(key_id, turns)
    try:
        return await reading()
    except (OwnedElsewhere, QuotaExceeded):  # the server that owns the session counts the turn, or no model is called
        if tenancy.access is not None:
            await tenancy.access.give_back(taken)
        raise


async def charge(saga: Saga, key_id: str, used: Usage | None, route: Route) -> None:
    """Charge what a call used to its key, if the key has a record."""
    access = tenancy_of(saga).access
    if key_id and used is not None and access is not None:
        facts = facts_of(route.model, route.provider.dialect, saga.config.models.facts)
        await access.spent(key_id, used.input + used.output, price(used, facts))
