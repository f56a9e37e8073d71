"""Measure SAGA and other proxies side by side, before the same instant provider.

Others are installed and started by whoever measures, since none of them is a dependency. The provider's address must be
known to them first, so it has a fixed port.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from aiohttp import ClientConnectionError, ClientSession, ClientTimeout, TCPConnector
from attrs import define, field, frozen

from tests.bench.meters import percentile
from tests.bench.processes import cpu_milliseconds, end_process, resident_bytes, start_server
from tests.bench.proxy import WORDS, chat_of, provider

_SETTLE = 3.0
"""Seconds in which work behind the replies ends, before its CPU is counted."""
_WARM = 10


@frozen
class Rounds:
    """The options of the benchmark."""

    rounds: int = 7
    replies: int = 15
    """Whole replies, and as many streams, of each proxy in a round."""
    history: int = 40
    """Messages of each request."""
    at_once: int = 16
    streams: int = 240
    """Streams in all when several run at once."""
    patience: float = 120.0
    """Seconds to wait for the other proxies to answer."""


@define
class Side:
    """One way to the provider, and what was measured of it."""

    name: str
    url: str
    pid: int | None = None
    """The proxy's process; None for the way without one."""
    whole: list[float] = field(factory=list)
    """Milliseconds of each whole reply."""
    first: list[float] = field(factory=list)
    """Milliseconds until the first word of each stream."""
    chat: list[dict[str, str]] = field(factory=list)
    """The chat that goes on from request to request."""
    cpu_ms: float | None = None
    """CPU of a request, with the work behind it."""
    streams_per_second: float = 0.0
    rss: int | None = None


def run_proxies(
    peers: Sequence[tuple[str, str, int | None]], port: int, ask: Rounds, folder: Path, say: Callable[[str], None]
) -> list[Side]:
    """Measure the way without a proxy, SAGA, and ``peers``: their name, base URL and process."""
    with provider(port) as direct:
        say(f"The provider is {direct}, its model tick.")
        config = folder / "saga.yaml"
        config.write_text(
            f"providers:\n  tick:\n    base_url: {direct}\nstorage:\n  path: {folder / 'data'}\n"
            "extraction:\n  automatic: never\n",  # its replies have no state blocks
            encoding="utf-8",
        )
        process, proxied, _ = start_server(config)
        sides = [Side("directly", direct), Side("SAGA", proxied, process.pid), *(Side(*each) for each in peers)]
        try:
            asyncio.run(_measure(sides, ask, say))
        finally:
            end_process(process)
    return sides


async def _measure(sides: Sequence[Side], ask: Rounds, say: Callable[[str], None]) -> None:
    async with ClientSession(timeout=ClientTimeout(total=120), connector=TCPConnector(limit=0)) as http:
        for side in sides:
            await _answers(http, side, ask)
        for number in range(ask.rounds):
            say(f"round {number + 1} of {ask.rounds}")
            for side in sides[number % len(sides) :] + sides[: number % len(sides)]:
                await asyncio.sleep(_SETTLE)
                before = _cpu(side)
                whole, first = [], []
                for _ in range(ask.replies):
                    whole.append(await _whole(http, side.url, side.chat, ask))
                    first.append(await _first(http, side.url, side.chat, ask))
                await asyncio.sleep(_SETTLE)
                side.whole.append(percentile(whole, 50))
                side.first.append(percentile(first, 50))
                if before is not None and (after := _cpu(side)) is not None:
                    taken = (after - before) / (2 * ask.replies)
                    side.cpu_ms = taken if side.cpu_ms is None else min(side.cpu_ms, taken)
        for side in sides:
            say(f"{ask.at_once} streams at once: {side.name}")
            began = time.perf_counter()
            await asyncio.gather(*(_row(http, side, ask, number) for number in range(ask.at_once)))
            side.streams_per_second = ask.streams / (time.perf_counter() - began)
            side.rss = sum(filter(None, map(resident_bytes, _tree(side.pid)))) if side.pid else None


async def _answers(http: ClientSession, side: Side, ask: Rounds) -> None:
    side.chat = _begun(side.name, ask)
    until = time.monotonic() + ask.patience
    while True:
        try:
            for _ in range(_WARM):
                await _whole(http, side.url, side.chat, ask)
                await _first(http, side.url, side.chat, ask)
            return
        except ClientConnectionError:
            if time.monotonic() > until:
                raise
            await asyncio.sleep(0.5)


async def _row(http: ClientSession, side: Side, ask: Rounds, number: int) -> None:
    chat = _begun(f"{side.name} {number}", ask)
    for _ in range(ask.streams // ask.at_once):
        await _first(http, side.url, chat, ask)


def _begun(name: str, ask: Rounds) -> list[dict[str, str]]:
    """A chat that no other side has, with its history."""
    system, *said = chat_of(ask.history)
    return [system, *({**each, "content": f"{name}, {each['content']}"} for each in said)]


def _body(chat: list[dict[str, str]], ask: Rounds, stream: bool) -> dict[str, Any]:
    """The next request of a chat, with as much of the history as a frontend has room for."""
    chat.append({"role": "user", "content": f"{len(chat)}. {WORDS}"})
    return {"model": "tick", "stream": stream, "messages": [chat[0], *chat[1:][1 - ask.history :]]}


async def _whole(http: ClientSession, url: str, chat: list[dict[str, str]], ask: Rounds) -> float:
    body = _body(chat, ask, stream=False)
    began = time.perf_counter()
    async with http.post(f"{url}/chat/completions", json=body) as answer:
        answer.raise_for_status()
        said = (await answer.json())["choices"][0]["message"]["content"]
    taken = (time.perf_counter() - began) * 1_000
    chat.append({"role": "assistant", "content": said})
    return taken


async def _first(http: ClientSession, url: str, chat: list[dict[str, str]], ask: Rounds) -> float:
    body = _body(chat, ask, stream=True)
    began, first, said = time.perf_counter(), 0.0, ""
    async with http.post(f"{url}/chat/completions", json=body) as answer:
        answer.raise_for_status()
        async for line in answer.content:
            if line.startswith(b"data: {"):
                said += "".join(choice["delta"].get("content") or "" for choice in json.loads(line[6:])["choices"])
                first = first or (time.perf_counter() - began) * 1_000 if said else 0.0
    assert said, "the stream had no words"
    chat.append({"role": "assistant", "content": said})
    return first


def _cpu(side: Side) -> float | None:
    return sum(filter(None, map(cpu_milliseconds, _tree(side.pid)))) if side.pid else None


def _tree(pid: int | None) -> list[int]:
    """A process and its descendants."""
    if pid is None:
        return []
    found = [pid]
    for thread in Path(f"/proc/{pid}/task").glob("*/children"):
        found += [each for child in thread.read_text(encoding="ascii").split() for each in _tree(int(child))]
    return found


def rows(sides: Sequence[Side]) -> list[tuple[str, ...]]:
    """The rows of the table: proxy, added to a whole reply and to the first word, CPU, streams a second, memory."""
    alone = sides[0]
    return [
        (
            side.name,
            *(
                f"{percentile(mine, 50):.1f}" if side is alone else f"+{_added(mine, theirs):.1f}"
                for mine, theirs in ((side.whole, alone.whole), (side.first, alone.first))
            ),
            "" if side.cpu_ms is None else f"{side.cpu_ms:.1f}",
            f"{side.streams_per_second:.0f}",
            "" if side.rss is None else f"{side.rss / 2**20:.0f}",
        )
        for side in sides
    ]


def _added(mine: Sequence[float], alone: Sequence[float]) -> float:
    return percentile([after - before for after, before in zip(mine, alone, strict=True)], 50)
