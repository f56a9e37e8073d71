"""Plays a rehearsal with the configured provider, and with the same prompt as a chat.

Everything is in memory and is dropped at the end. No journal on disk is opened.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any, cast

from attrs import evolve, frozen

from saga_core import Saga
from saga_core.config import Config, StorageConfig
from saga_core.model import Kind
from saga_core.play import PendingTurn
from saga_core.ports import ChatModel, ChatRequest, FinishPart, TextPart, UsagePart
from saga_core.state_block import BlockStatus
from saga_server.providers import OFFLINE, Narrators, Route
from saga_server.rehearsal.script import Script, Truth

_REPLY = 600
"""Most tokens of a reply, without its block."""


@frozen(kw_only=True)
class Scene:
    """One turn of a rehearsal, and the state after it."""

    truth: Truth
    status: BlockStatus
    problems: tuple[str, ...]
    cut: bool
    """Whether the reply was cut at its length limit."""
    said: bool
    """Whether the reply had any text of the story."""
    place: str
    here: tuple[str, ...]
    people: tuple[str, ...]
    """All known characters except the player."""
    carries: tuple[str, ...]
    hurt: bool
    input: int
    """Tokens of the prompt, as the provider counts them."""
    output: int
    block: int
    """Tokens of the reply that are hidden from the player, as SAGA counts them."""
    dollars: float | None
    """None if the model's prices are not known."""


async def rehearse(config: Config, environ: Mapping[str, str], model: str, script: Script) -> tuple[Route, list[Scene]]:
    """Play ``script`` with ``model``, named as in a request. ``offline`` is the built-in narrator.

    Raises ``BadInput`` when no provider has the model, and ``UpstreamError`` when the provider cannot be reached.
    """
    if model == OFFLINE:
        config = evolve(config, models=evolve(config.models, narration=OFFLINE))
    narrators = Narrators.from_config(config, environ)
    route = narrators.route_of(model)
    try:
        narrator = await narrators.narrator(route.provider)
        async with Saga.open(_apart(config), resume=False) as saga:
            return route, await _play(saga, narrator, route, script)
    finally:
        await narrators.aclose()


def _apart(config: Config) -> Config:
    """Return ``config`` with the settings that a prompt depends on, but without data, worlds, pages and curators."""
    plain = Config()
    return evolve(
        config,
        storage=StorageConfig(profile="memory"),
        md_cache=evolve(config.md_cache, enabled=False),
        curator=evolve(config.curator, enabled=False),
        memory_strategies={},
        session=plain.session,
        recall=plain.recall,
    )


async def _play(saga: Saga, narrator: ChatModel, route: Route, script: Script) -> list[Scene]:
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": script.card},
        {"role": "assistant", "content": script.greeting},
    ]
    scenes = []
    for line, truth in script.lines:
        messages.append({"role": "user", "content": line})
        pending = await saga.begin(messages, model=route.model, provider=route.provider.dialect, player=script.player)
        await _tell(pending, narrator, route)
        (reply,) = pending.replies
        await pending.commit(model=route.model)
        scenes.append(await _seen(saga, pending, truth))
        messages.append({"role": "assistant", "content": reply.text or "…"})
    return scenes


async def _tell(pending: PendingTurn, narrator: ChatModel, route: Route) -> None:
    (reply,) = pending.replies
    params = pending.allowing({"max_tokens": _REPLY})
    request = ChatRequest(pending.plan, route.model, params, None, pending.session.id)
    async with aclosing(cast("AsyncGenerator[Any, None]", narrator.stream(request))) as parts:
        async for part in parts:
            if isinstance(part, TextPart) and part.index == 0:
                reply.feed(part.text)
            elif isinstance(part, FinishPart) and part.index == 0:
                reply.finish_reason = part.reason
            elif isinstance(part, UsagePart):
                pending.billed(part.usage, model=route.model, provider=route.provider.dialect)
    reply.finish()


async def _seen(saga: Saga, pending: PendingTurn, truth: Truth) -> Scene:
    (reply,) = pending.replies
    reading = reply.reading(reply.finish_reason)
    live = await saga.parts.live.get(pending.session.id)
    told = pending.id in live.tree
    state = await live.state(pending.id if told else live.head)
    said, count, usage = reading.fields, saga.stores.counter.count, pending.usage
    return Scene(
        truth=truth,
        status=reading.status,
        problems=reading.problems,
        cut=reply.finish_reason == "length",
        said=bool(reply.told.strip()),
        place=state.name(state.location) if state.location else "",
        here=tuple(state.name(who) for who in state.present),
        people=tuple(each.name for each in state.of_kind(Kind.CHARACTER) if each.id != state.player),
        carries=tuple(state.name(item) for item in state.belongings.get(state.player, {})),
        hurt=bool(said.hp_change or said.hp is not None or said.status_changes),
        input=usage.input if usage is not None else 0,
        output=usage.output if usage is not None else 0,
        block=max(0, count(reply.raw) - count(reply.text)),
        dollars=pending.bill.dollars if pending.bill is not None else None,
    )
