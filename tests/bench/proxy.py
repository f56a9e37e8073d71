"""Measure what SAGA adds to a streamed reply, by making each request both directly and through SAGA.

There are three processes: a provider whose replies carry timestamps, ``saga serve``, and this one, the client.
"""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from aiohttp import ClientSession, ClientTimeout, TCPConnector
from attrs import asdict, define, field, frozen

from tests.bench.meters import calibrate, percentile
from tests.bench.processes import cpu_milliseconds, end_process, start_server
from tests.bench.ticking import TICK

_STAMP = re.compile(rf"{TICK}(\d+){TICK}")
WORDS = "나는 강을 따라 걷다가 낡은 다리 앞에서 걸음을 멈추고 건너편의 불빛을 바라본다. "
_WARM = 5
"""Pairs at the start that do not count."""


@frozen
class Ask:
    """The options of the benchmark."""

    pairs: int = 100
    """Requests that are made both directly and through SAGA."""
    ticks: int = 40
    """Pieces of a reply."""
    interval_ms: float = 5.0
    history: int = 40
    """Messages before the first request."""
    streams: int = 100
    """Replies that stream at the same time."""
    stream_ticks: int = 60
    stream_interval_ms: float = 100.0


@define
class Heard:
    """One reply, as the client saw it."""

    first_ms: float = 0.0
    """From sending the request to the first word."""
    late_ms: list[float] = field(factory=list)
    """From the sending of a piece to its arrival, for each piece."""
    text: str = ""
    reading_ms: float = 0.0
    """The time for reading the context, as SAGA reports it."""


async def listen(http: ClientSession, url: str, body: dict[str, Any]) -> Heard:
    """Make one request and read its stream."""
    heard = Heard()
    began = time.perf_counter_ns()
    async with http.post(f"{url}/chat/completions", json=body) as answer:
        answer.raise_for_status()
        heard.reading_ms = float(answer.headers.get("X-SAGA-Context-Ms", "0"))
        async for line in answer.content:
            now = time.perf_counter_ns()
            if not line.startswith(b"data: {"):
                continue
            chunk = json.loads(line[6:])
            said = "".join(choice["delta"].get("content") or "" for choice in chunk["choices"])
            if said and not heard.text:
                heard.first_ms = (now - began) / 1e6
            heard.text += said
            heard.late_ms += [(now - int(stamp)) / 1e6 for stamp in _STAMP.findall(said)]
    return heard


def chat_of(messages: int) -> list[dict[str, str]]:
    """A system prompt of about 1,500 tokens and ``messages`` messages, rounded up to odd. The last is a reply."""
    system = {"role": "system", "content": "You are the narrator of a long tale by the river. " * 150}
    roles = ("assistant", "user")
    said = [{"role": roles[at % 2], "content": f"{at}. {WORDS * 4}"} for at in range(messages + 1 - messages % 2)]
    return [system, *said]


async def measure_pairs(direct: str, proxied: str, ask: Ask) -> tuple[list[Heard], list[Heard]]:
    """The replies of all pairs, directly and through SAGA. The order alternates from pair to pair."""
    chat = chat_of(ask.history)
    found: tuple[list[Heard], list[Heard]] = ([], [])
    async with ClientSession(timeout=ClientTimeout(total=120), connector=TCPConnector(limit=0)) as http:
        for number in range(ask.pairs + _WARM):
            chat.append({"role": "user", "content": f"{number}. {WORDS}"})
            body = {
                "model": "tick", "messages": chat, "stream": True, "ticks": ask.ticks, "interval_ms": ask.interval_ms,
            }  # fmt: skip
            heard: dict[int, Heard] = {}
            for way in (0, 1) if number % 2 else (1, 0):
                heard[way] = await listen(http, (direct, proxied)[way], body)
            chat.append({"role": "assistant", "content": heard[1].text})
            if number >= _WARM:
                for way in (0, 1):
                    found[way].append(heard[way])
            async with http.post(f"{proxied.removesuffix('/v1')}/api/drain?timeout=30") as answer:
                answer.raise_for_status()  # background work ends while the player reads
    return found


async def measure_crowd(url: str, ask: Ask) -> list[Heard]:
    """Stream many replies at the same time, each in a chat of its own."""

    async def one(http: ClientSession, number: int) -> Heard:
        chat = chat_of(10)
        chat.append({"role": "user", "content": f"{number} {WORDS}"})
        chat[1] = {"role": "assistant", "content": f"이야기 {number}. {WORDS * 4}"}
        body = {
            "model": "tick", "messages": chat, "stream": True, "ticks": ask.stream_ticks,
            "interval_ms": ask.stream_interval_ms,
        }  # fmt: skip
        return await listen(http, url, body)

    async with ClientSession(timeout=ClientTimeout(total=300), connector=TCPConnector(limit=0)) as http:
        return list(await asyncio.gather(*(one(http, number) for number in range(ask.streams))))


@contextmanager
def provider(port: int = 0) -> Iterator[str]:
    """Run the ticking provider, and yield its base URL. ``port`` 0 takes any that is free."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.bench.ticking", str(port)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        end_process(process)


def run_proxy(ask: Ask, folder: Path, say: Callable[[str], None]) -> dict[str, Any]:
    """Measure everything, with SAGA's data in ``folder``. ``say`` receives the progress."""
    fixed = calibrate()
    with provider() as direct:
        config = folder / "saga.yaml"
        config.write_text(
            f"providers:\n  tick:\n    base_url: {direct}\nstorage:\n  path: {folder / 'data'}\n"
            "extraction:\n  automatic: never\n",  # its replies have no state blocks
            encoding="utf-8",
        )
        process, proxied, _ = start_server(config)
        try:
            say(f"{ask.pairs} pairs of {ask.ticks} pieces")
            alone, through = asyncio.run(measure_pairs(direct, proxied, ask))
            say(f"{ask.streams} streams at the same time")
            crowd_alone = asyncio.run(measure_crowd(direct, ask))
            before = cpu_milliseconds(process.pid)
            crowd = asyncio.run(measure_crowd(proxied, ask))
            after = cpu_milliseconds(process.pid)
        finally:
            end_process(process)
    pieces = ask.streams * ask.stream_ticks
    return {
        "ask": asdict(ask),
        "reading_p50": percentile([each.reading_ms for each in through], 50),
        "first": paired([each.first_ms for each in alone], [each.first_ms for each in through]),
        "piece": paired(
            [late for each in alone for late in each.late_ms], [late for each in through for late in each.late_ms]
        ),
        "crowd": {
            "direct": spread([late for each in crowd_alone for late in each.late_ms[1:]]),
            "proxied": spread([late for each in crowd for late in each.late_ms[1:]]),
            "whole": sum(len(each.late_ms) == ask.stream_ticks for each in crowd),
            "worst_stream_ms": max(percentile(each.late_ms[1:], 50) for each in crowd),
            "cpu_ms_a_piece": None if before is None or after is None else (after - before) / pieces,
        },
        "fixed_loop_ms": fixed,
    }


def paired(alone: Sequence[float], through: Sequence[float]) -> dict[str, float]:
    """The medians of both ways, and the 10th, 50th and 90th percentile of the differences, pair by pair."""
    added = [after - before for before, after in zip(alone, through, strict=True)]
    return {
        "direct_p50": percentile(alone, 50),
        "proxied_p50": percentile(through, 50),
        "added_p10": percentile(added, 10),
        "added_p50": percentile(added, 50),
        "added_p90": percentile(added, 90),
    }


def spread(late: Sequence[float]) -> dict[str, float]:
    """The median, the 99th percentile and the maximum."""
    return {"p50": percentile(late, 50), "p99": percentile(late, 99), "most": max(late)}


def rows(found: dict[str, Any]) -> list[tuple[str, str, str, str]]:
    """The rows of the table in docs/performance.md: figure, goal, directly, and through SAGA or added by it."""
    first, piece, crowd = found["first"], found["piece"], found["crowd"]
    cpu = crowd["cpu_ms_a_piece"]
    return [
        ("first word, median", "≤ 10 more", f"{first['direct_p50']:.1f}", f"{first['added_p50']:+.1f}"),
        ("first word, 10 % and 90 %", "", "", f"{first['added_p10']:+.1f} {first['added_p90']:+.1f}"),
        ("… of it reading the turn, median", "", "", f"{found['reading_p50']:.1f}"),
        ("a piece, median", "≤ 1 more", f"{piece['direct_p50']:.2f}", f"{piece['added_p50']:+.2f}"),
        ("a piece, 10 % and 90 %", "", "", f"{piece['added_p10']:+.2f} {piece['added_p90']:+.2f}"),
        (
            f"{found['ask']['streams']} streams: a piece, median", "",
            f"{crowd['direct']['p50']:.1f}", f"{crowd['proxied']['p50']:.1f}",
        ),
        ("… 99 %", "", f"{crowd['direct']['p99']:.1f}", f"{crowd['proxied']['p99']:.1f}"),
        ("… the latest of all", "", f"{crowd['direct']['most']:.1f}", f"{crowd['proxied']['most']:.1f}"),
        ("… median of the slowest stream", "", "", f"{crowd['worst_stream_ms']:.1f}"),
        ("… CPU of SAGA a piece", "", "", "" if cpu is None else f"{cpu:.2f}"),
    ]  # fmt: skip
