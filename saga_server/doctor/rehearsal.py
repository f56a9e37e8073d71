"""Rehearsals: plays eight turns with a narrator to see how well it reports.

The stories are in ``rehearsals``, a file for each language. They are played with the configured provider, and with the
same prompt as a chat. Everything is in memory and is dropped at the end. No journal on disk is opened.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from functools import cache
from importlib.resources import files
from time import perf_counter
from typing import Any, cast

import yaml
from attrs import evolve, frozen
from cattrs import Converter

from saga_core import Saga
from saga_core.config import Config, Reporting, StorageConfig
from saga_core.model import HABITS, Kind, WorldState
from saga_core.play import PendingTurn
from saga_core.ports import ChatModel, ChatRequest, ExtraPart, FinishPart, TextPart, UsagePart
from saga_core.state_block import FIELDS, BlockStatus
from saga_server.providers import OFFLINE, Narrators, Route, is_own

_REPLY = 600
"""Most tokens of a reply, without its block."""
_PATIENCE = 300.0
"""Seconds that a model has to say what happened in a reply."""
_STORY = 25
"""Letters of the shortest reply that tells a story."""
_LETTERS = re.compile(r"[^\W\d_]")
_FIELDS = "|".join(field.name for field in FIELDS)
_OWN_TEXT = re.compile(
    rf"\[/?SAGA|```state|^[^\w\n]{{0,8}}(?:{_FIELDS})[^\w\n]{{0,8}}[:：|]", re.MULTILINE | re.IGNORECASE
)


@frozen(kw_only=True)
class RehearsalLine:
    """What the player says, and what is true afterwards. None means that it is not checked."""

    say: str
    place: tuple[str, ...] | None = None
    """The name of the place contains one of these words."""
    moved: bool = False
    """Whether the player moved there with this line."""
    here: tuple[str, ...] | None = None
    """The names of exactly the characters who are with the player."""
    carries: tuple[str, ...] | None = None
    """The name of a thing that the player has contains one of these words."""
    gave: tuple[str, ...] | None = None
    """No name of a thing that the player has contains one of these words."""
    hurt: bool = False
    """Whether the player was hurt with this line."""


@frozen(kw_only=True)
class Script:
    """A rehearsal in one language."""

    language: str
    player: str
    card: str
    greeting: str
    lines: tuple[RehearsalLine, ...]


@cache
def scripts() -> Mapping[str, Script]:
    """The rehearsals by language tag."""
    converter = Converter(forbid_extra_keys=True)
    folder = files("saga_server.doctor") / "rehearsals"
    read = [
        converter.structure(yaml.safe_load(file.read_text(encoding="utf-8")), Script)
        for file in folder.iterdir()
        if file.name.endswith(".yaml")
    ]
    return {script.language: script for script in sorted(read, key=lambda script: script.language)}


@frozen(kw_only=True)
class RehearsalScene:
    """One turn of a rehearsal, and the state after it."""

    line: RehearsalLine
    status: BlockStatus
    problems: tuple[str, ...]
    cut: bool
    """Whether the reply was cut at its length limit."""
    said: bool
    """Whether the reply had any text of the story."""
    tells: bool
    """Whether it had enough of it to be called a story."""
    shows: bool
    """Whether the player sees something of SAGA's own text in it."""
    seconds: float
    """The time that the player waited for the whole reply."""
    place: str
    here: tuple[str, ...]
    people: tuple[str, ...]
    """All known characters except the player."""
    carries: tuple[str, ...]
    hurt: bool
    habits: tuple[str, ...]
    """What SAGA learned of how the model reports gains (``saga_core.model.HABITS``)."""
    input: int
    """Tokens of the prompt, as the provider counts them."""
    output: int
    block: int
    """Tokens of the reply that are hidden from the player, as SAGA counts them."""
    dollars: float | None
    """None if the model's prices are not known."""


async def rehearse(
    config: Config, environ: Mapping[str, str], model: str, script: Script, way: Reporting = "block"
) -> tuple[Route, list[RehearsalScene]]:
    """Play ``script`` with ``model``, named as in a request. ``offline`` is the built-in narrator. ``way`` is how it
    reports; ``after`` means that the same model is asked after each reply what happened in it.

    Raises ``BadInput`` when no provider has the model, and ``UpstreamError`` when the provider cannot be reached.
    """
    if model == OFFLINE:
        config = evolve(config, models=evolve(config.models, narration=OFFLINE))
    narrators = Narrators.from_config(config, environ)
    route = narrators.route_of(model)
    try:
        narrator = await narrators.narrator(route.provider)
        config = evolve(_apart(config), extraction=evolve(config.extraction, reporting=way))
        reader = None
        if way == "after":
            reader = narrator
            asked = evolve(config.extraction, automatic="local" if is_own(route) else "always")
            config = evolve(config, models=evolve(config.models, extraction=route.model), extraction=asked)
        async with Saga.open(config, resume=False, automatic=reader) as saga:
            return route, await _play(saga, narrator, route, script)
    finally:
        await narrators.aclose()


def _harmed(before: WorldState, after: WorldState) -> bool:
    """Whether the player has fewer hit points, or another status."""
    old, new = before.entities[before.player], after.entities[after.player]
    return any(old.get(name) != new.get(name) for name in ("hp", "status"))


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


async def _play(saga: Saga, narrator: ChatModel, route: Route, script: Script) -> list[RehearsalScene]:
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": script.card},
        {"role": "assistant", "content": script.greeting},
    ]
    scenes = []
    for line in script.lines:
        messages.append({"role": "user", "content": line.say})
        pending = await saga.begin(messages, model=route.model, provider=route.provider.dialect, player=script.player)
        began = perf_counter()
        await _tell(pending, narrator, route)
        (reply,) = pending.replies
        await pending.commit(model=route.model)
        waited = perf_counter() - began
        await saga.drain(_PATIENCE)
        scenes.append(await _seen(saga, pending, line, waited))
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
            elif isinstance(part, ExtraPart) and part.index == 0:
                reply.extra(part.fields)
            elif isinstance(part, FinishPart) and part.index == 0:
                reply.end(part.reason)
            elif isinstance(part, UsagePart):
                pending.billed(part.usage, model=route.model, provider=route.provider.dialect)
    reply.finish()


async def _seen(saga: Saga, pending: PendingTurn, line: RehearsalLine, seconds: float) -> RehearsalScene:
    (reply,) = pending.replies
    reading = reply.reading(reply.finish_reason)
    live = await saga.parts.live.get(pending.session.id)
    recorded = pending.id in live.tree
    state = await live.state(pending.id if recorded else live.head)
    read = recorded and live.extracted(pending.id)
    before = await live.state(live.tree.get(pending.id).parent or pending.id) if recorded else state
    said, count, usage = reading.fields, saga.stores.counter.count, pending.usage
    return RehearsalScene(
        line=line,
        status=BlockStatus.OK if read else reading.status,
        problems=() if read else reading.problems,
        cut=reply.finish_reason == "length",
        said=bool(reply.story_text.strip()),
        tells=len(_LETTERS.findall(reply.story_text)) >= _STORY,
        shows=_OWN_TEXT.search(reply.text) is not None,
        seconds=seconds,
        place=state.name(state.location) if state.location else "",
        here=tuple(state.name(who) for who in state.present),
        people=tuple(each.name for each in state.of_kind(Kind.CHARACTER) if each.id != state.player),
        carries=tuple(state.name(item) for item in state.belongings.get(state.player, {})),
        hurt=bool(said.hp_change or said.hp is not None or said.status_changes) or (read and _harmed(before, state)),
        habits=tuple(habit for habit in HABITS if state.entities[state.player].get(habit)),
        input=usage.input if usage is not None else 0,
        output=usage.output if usage is not None else 0,
        block=max(0, count(reply.raw) - count(reply.text)),
        dollars=pending.bill.dollars if pending.bill is not None else None,
    )
