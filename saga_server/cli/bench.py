"""``saga bench``: what a turn costs on this machine, on the configured stores.

The tables of docs/performance.md come from the larger benchmark in ``tests/bench``, which a checkout has.
"""

from __future__ import annotations

import asyncio
import json
import random
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import click
from attrs import define, evolve, field

from saga_core import Saga
from saga_core.config import Config, StorageConfig
from saga_core.errors import SagaError
from saga_core.world import World
from saga_server.cli.settings import Place, settings
from saga_server.terminal import say, say_json

_WORLD = "harrow"
_SHOWN = 20
"""Turns of the history that a request shows, as frontends do."""
_WARM, _REQUESTS = 3, 20
"""Requests through the proxy: those that do not count, and those that do."""
_SYSTEM = "You are the narrator of a long tale by the sea. " * 150
_WORDS = (
    "I ask {who} about {lore} while we stand at {place}.",
    'I walk slowly towards {place}. "{who}, are you there?"',
    "Do you remember what {who} told me before? Where did I put the {item}?",
    "I rest for a while and look at the {item}.",
)
_REPLIES = (
    "{who} says nothing for a long time, then speaks of {lore}. The bell strikes {number}. Wind crosses {place}. ",
    "The air at {place} is cold. {who} sets down the {item} and smiles, and names the number {number} again. ",
    "Footsteps sound {number} times and stop. Dust settles on the {item}. The shadow of {lore} is long. ",
)


@click.command()
@settings
@click.option("--turns", type=click.IntRange(1, 100_000), default=200, show_default=True, help="Turns to play.")
@click.option("--proxy", is_flag=True, help="Also measure how long a streamed reply waits for SAGA.")
@click.option("--json", "as_json", is_flag=True, help="Print all figures as JSON.")
def bench(place: Place, turns: int, proxy: bool, as_json: bool) -> None:
    """Measure what a turn costs on this machine, on the configured stores.

    Plays a made-up chat without a model, and prints how long it takes to read a turn's context, to record the turn, and
    to bring the stores up to date afterwards. The stores are kept in a temporary folder, and your data stays as it is.
    Only stores that the configuration names by an address are used as they are: the chat is deleted there at the end.
    """
    with tempfile.TemporaryDirectory(prefix="saga-bench-", ignore_cleanup_errors=True) as folder:
        config = _apart(place.config(), Path(folder))
        found = asyncio.run(_measure(config, turns, proxy=proxy))
    if as_json:
        say_json(found)
    else:
        for line in _lines(found):
            say(line)


def _apart(config: Config, folder: Path) -> Config:
    """The configuration with all data in ``folder``, and without models."""
    storage = config.storage
    stores = {kind: evolve(getattr(storage, kind), path=None) for kind in ("state", "graph", "vector", "cache")}
    alone: StorageConfig = evolve(storage, path=str(folder / "data"), **stores)
    return evolve(
        config,
        storage=alone,
        md_cache=evolve(config.md_cache, cache_dir=None),
        graph=evolve(config.graph, db_path=str(folder / "data" / "graph")),
        server=evolve(config.server, host="127.0.0.1", port=0, api_keys=(), chat_keys=(), workers=1),
        models=evolve(config.models, narration="offline", extraction=None, curator=None),
        session=evolve(config.session, default_world=_WORLD),
        memory_strategies={},
        providers={},
    )


@define
class _Figures:
    """Milliseconds of wall time and of CPU (all threads of this process), by step."""

    wall: dict[str, list[float]] = field(factory=dict)
    cpu: dict[str, list[float]] = field(factory=dict)

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        wall, cpu = time.perf_counter(), time.process_time()
        yield
        self.wall.setdefault(name, []).append((time.perf_counter() - wall) * 1_000)
        self.cpu.setdefault(name, []).append((time.process_time() - cpu) * 1_000)

    def json(self) -> dict[str, Any]:
        return {
            name: {
                "wall_median": median(wall),
                "wall_99": sorted(wall)[(len(wall) * 99 - 1) // 100],
                "cpu_median": median(self.cpu[name]),
            }
            for name, wall in self.wall.items()
        }


@define
class _Tale:
    """Words of a player and replies of a narrator, from the names of a world."""

    world: World
    chance: random.Random = field(factory=lambda: random.Random(1))
    number: int = 0

    def next(self) -> tuple[str, str, str]:
        """The player's words, the reply, and the state block below it."""
        self.number += 1
        lore, chance = self.world.lore, self.chance
        names = {
            "who": chance.choice([sheet.name for sheet in self.world.characters if not sheet.player]),
            "place": chance.choice([entry.name for entry in lore if entry.type == "location"]),
            "item": chance.choice([entry.name for entry in lore if entry.type == "item"]),
            "lore": chance.choice([entry.name for entry in lore]),
            "number": str(self.number),
        }
        changed = {
            "location": names["place"],
            "npc_met": [names["who"]],
            "hp_change": chance.randint(-2, 2),
            "mood": chance.choice(("tense", "calm", "uneasy")),
            "notes": f"{names['who']} spoke of {names['lore']}",
        }
        body = "".join(f"{key}: {json.dumps(value, ensure_ascii=False)}\n" for key, value in changed.items())
        reply = chance.choice(_REPLIES).format(**names)
        return chance.choice(_WORDS).format(**names), reply * 3, f"```state\n{body}```"


async def _measure(config: Config, turns: int, *, proxy: bool) -> dict[str, Any]:
    figures = _Figures()
    async with Saga.open(config, resume=False) as saga:
        stores = await saga.status()
        session = await saga.sessions.create(world=_WORLD, label="saga bench")
        try:
            history = await _play(saga, session.id, turns, figures)
        finally:
            await saga.sessions.delete(session.id)
    found = {
        "turns": turns,
        "stores": {kind: store["backend"] for kind, store in stores["stores"].items()},
        "embedder": stores["embedder"],
        "steps": figures.json(),
    }
    return {**found, "proxy": await _through_the_proxy(config, history)} if proxy else found


async def _play(saga: Saga, session: str, turns: int, figures: _Figures) -> list[dict[str, str]]:
    tale = _Tale(saga.worlds.get(_WORLD))
    history: list[dict[str, str]] = []
    for number in range(turns):
        words, reply, block = tale.next()
        history.append({"role": "user", "content": words})
        with figures.step("reading the first turn" if number == 0 else "reading a turn"):
            begun = await saga.begin(_request(history), session=session)
        with figures.step("recording it"):
            begun.replies[0].feed(f"{reply}\n\n{block}")
            begun.replies[0].finish()
            await begun.commit()
        with figures.step("updating the stores, after the reply"):
            report = await saga.drain(60)
        if report.waiting or begun.parent.depth != number:
            raise SagaError(f"turn {number + 1} was not played: {report.waiting or begun.notices}")
        history.append({"role": "assistant", "content": reply.strip()})
    return history


def _request(history: Sequence[Mapping[str, str]]) -> list[Mapping[str, str]]:
    return [{"role": "system", "content": _SYSTEM}, *history[-2 * _SHOWN - 1 :]]


async def _through_the_proxy(config: Config, history: list[dict[str, str]]) -> dict[str, float]:
    """Milliseconds until the first word of a streamed reply, whose narrator answers at once."""
    from aiohttp import ClientSession

    from saga_server.server import Server

    first: list[float] = []
    read: list[float] = []
    async with Server(config) as server, ClientSession(server.url) as http:
        for number in range(_WARM + _REQUESTS):
            messages = _request([*history, {"role": "user", "content": f"{number}. I walk on."}])
            body = {"model": "offline", "messages": messages, "stream": True}
            began = time.perf_counter()
            async with http.post("/v1/chat/completions", json=body) as answer:
                answer.raise_for_status()
                await answer.content.readuntil(b'"content"')
                if number >= _WARM:
                    first.append((time.perf_counter() - began) * 1_000)
                    read.append(float(answer.headers["X-SAGA-Context-Ms"]))
                await answer.read()
        await server.saga.sessions.delete(answer.headers["X-SAGA-Session"])
    return {"first_word": median(first), "reading_of_it": median(read)}


def _lines(found: Mapping[str, Any]) -> Iterator[str]:
    stores = ", ".join(f"{kind}: {name}" for kind, name in found["stores"].items())
    yield f"{found['turns']} turns on {stores}; embedder: {found['embedder']}"
    yield f"{'milliseconds':<36}{'median':>9}{'99 %':>9}{'CPU':>9}"
    for name, step in found["steps"].items():
        yield f"{name:<36}{step['wall_median']:>9.2f}{step['wall_99']:>9.2f}{step['cpu_median']:>9.2f}"
    if proxy := found.get("proxy"):
        yield f"{'first word of a streamed reply':<36}{proxy['first_word']:>9.2f}"
        yield f"{'… of it reading the turn':<36}{proxy['reading_of_it']:>9.2f}"
