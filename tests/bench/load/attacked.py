"""Measure how long players wait for their turns during each attack on the server, and before and after it.

There are three processes: ``saga serve`` with offline narration, this one, which plays, and the attacker. The attacker
has its own process because its large requests would delay the players. It has at most one open request, and a key of
its own, as each player has. It sends the attacks of ``docs/threat-model.md``. Then it sends as many requests at the
same pace to a fourth process, which only discards them. The extra wait of the players in that phase comes from the
machine's cores, and no server can avoid it.
"""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import json
import os
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random
from typing import Any

from aiohttp import BytesPayload, ClientError, ClientSession, ClientTimeout, TCPConnector
from attrs import frozen

from saga_server.process import READY_AT
from tests.bench.meters import percentile

KEY, CHAT = "bench-key-of-an-administrator", "/v1/chat/completions"
_SPAWN = get_context("spawn")
_ALLOWED = 2.0
"""The most that the 99th percentile during an attack may be, as a multiple of the quiet one."""
_SHOWN = 20
"""Messages of the chat in a request, as from a frontend with a full context."""
_PAUSE = 1.0
"""Seconds between a reply and the player's next words, on average. They vary by half: players who always took the same
time would meet again every second once something had made them meet."""


@frozen(kw_only=True)
class Row:
    """The effect of one attack on the players. Times are in milliseconds."""

    name: str
    turns: int
    quiet_p50: float
    quiet_p99: float
    """This and ``quiet_p50`` are means of the phases before and after the attack."""
    p50: float
    p99: float
    attacks: int
    longest_block: float
    """The longest round of the server's event loop until the end of the attack."""
    elsewhere_p99: float
    """The 99th percentile during as many requests to another process on this machine."""

    @property
    def times(self) -> float:
        """The 99th percentile as a multiple of the quiet one."""
        return self.p99 / self.quiet_p99

    @property
    def times_elsewhere(self) -> float:
        """The 99th percentile as a multiple of ``elsewhere_p99``."""
        return self.p99 / self.elsewhere_p99


def _chat(text: str) -> bytes:
    return json.dumps({"model": "m", "messages": [{"role": "user", "content": text}]}).encode()


def _circle() -> bytes:
    lines = [json.dumps({"saga": "session", "version": 1, "journal": 1}).encode()]
    lines.append(b'{"turn":' + b"[" * 50_000 + b"]" * 50_000 + b"}")
    body = b"".join(line + b"\n" for line in lines)
    return body + json.dumps({"end": len(lines), "sha256": hashlib.sha256(body).hexdigest()}).encode() + b"\n"


@frozen
class Attack:
    """A request that the attacker sends repeatedly."""

    body: Callable[[], bytes]
    path: str = CHAT
    headers: Mapping[str, str] = {}
    key: bool = True
    anew: bool = False
    """Whether each request gets a new body, because the server would answer a repeated one only once."""


ATTACKS: dict[str, Attack] = {
    "a page of empty lines": Attack(lambda: _chat("x" + "\n" * 8_000 + os.urandom(4).hex()), anew=True),
    "blanks, 200 KB": Attack(lambda: _chat("\r\n " * 66_000 + os.urandom(4).hex()), anew=True),
    "markers": Attack(lambda: _chat("[[saga:session=x@y]] [[saga:world=z]] " * 500 + os.urandom(4).hex()), anew=True),
    "a session's file, 50,000 deep": Attack(_circle, "/api/import"),
    "packed, without a key": Attack(
        lambda: gzip.compress(b" " * (50 << 20), 1), headers={"Content-Encoding": "gzip"}, key=False
    ),
    "packed, with one": Attack(lambda: gzip.compress(b" " * (50 << 20), 1), headers={"Content-Encoding": "gzip"}),
    "40 MB of text": Attack(lambda: _chat("word " * (8 << 20))),
    "1 MB of text": Attack(lambda: _chat(os.urandom(4).hex() + "a word " * (1 << 17)), anew=True),
    "a million values": Attack(lambda: b"[" + b"1," * 1_000_000 + b"1]"),
}


def _client(base: str) -> ClientSession:
    """A client without kept connections. If the server closed an idle one, the next request on it would fail."""
    connector = TCPConnector(limit=0, force_close=True)
    return ClientSession(base, timeout=ClientTimeout(total=120), connector=connector)


async def run_attacked(folder: Path, players: int, seconds: float, say: Callable[[str], None]) -> list[Row]:
    """Measure each attack on a server of its own, in four phases of ``seconds`` each.

    The phases are: quiet, the attack, an attack on another process, and quiet again. The chats continue through all
    phases, and reach their full length before the first. If the journal grows or the machine slows down meanwhile, the
    mean of the two quiet phases has that too. Raises ``OSError`` or ``RuntimeError`` if the server does not start.
    """
    rows = []
    for name in ATTACKS:
        (folder / name.replace(" ", "-")).mkdir()
        async with _serving(folder / name.replace(" ", "-"), players) as base, _client(base) as http:
            say(f"{name} …")
            rows.append(await _measured(http, base, name, players, seconds))
    return rows


def lines(rows: list[Row]) -> Iterator[str]:
    """The lines of a Markdown table."""
    heads = (
        *("beside", "turns", "median: quiet, beside, ms", "99th percentile: quiet, beside, ms"),
        *("beside as many elsewhere, ms", "times quiet, elsewhere", "attacks"),
    )
    yield f"| {' | '.join(heads)} | block |"
    yield f"| {'--- | ' * len(heads)}--- |"
    for row in rows:
        medians, worst = f"{row.quiet_p50:.0f}, {row.p50:.0f}", f"{row.quiet_p99:.0f}, {row.p99:.0f}"
        times = f"{row.elsewhere_p99:.0f} | {row.times:.1f}, {row.times_elsewhere:.1f}"
        measured = f"{medians} | {worst} | {times} | {row.attacks} | {row.longest_block:.0f}"
        yield f"| {row.name} | {row.turns} | {measured} |"


def too_slow(rows: list[Row]) -> list[str]:
    """The attacks that make players wait over twice as long, both than in quiet and than with an attack elsewhere."""
    slow = (row for row in rows if min(row.times, row.times_elsewhere) > _ALLOWED)
    return [f"{row.name}: {row.times:.1f} times, and {row.times_elsewhere:.1f} of as many elsewhere" for row in slow]


async def _measured(http: ClientSession, base: str, name: str, players: int, seconds: float) -> Row:
    """Run all phases of one attack."""
    chats: list[list[dict[str, str]]] = [
        [{"role": "system", "content": f"You narrate the story of player {number}."}] for number in range(players)
    ]
    await _played(http, chats, _SHOWN // 2, 0.0)
    before = await _played(http, chats, 0, seconds)
    beside, sent = await _beside(http, chats, seconds, _attacker, base, name, seconds, 0.0)
    async with http.get("/api/status", headers=_bearer(KEY)) as answer:
        loop = (await answer.json())["loop"]
    async with _sinking() as sink:
        elsewhere, _ = await _beside(http, chats, seconds, _attacker, sink, name, seconds, seconds / sent)
    after = await _played(http, chats, 0, seconds)
    quiet = [(percentile(before, share) + percentile(after, share)) / 2 for share in (50, 99)]
    return Row(
        name=name,
        turns=len(beside),
        quiet_p50=quiet[0],
        quiet_p99=quiet[1],
        p50=percentile(beside, 50),
        p99=percentile(beside, 99),
        attacks=sent,
        longest_block=loop["longest_ms"],
        elsewhere_p99=percentile(elsewhere, 99),
    )


async def _beside(
    http: ClientSession, chats: list[list[dict[str, str]]], seconds: float, attacker: Callable[..., None], *given: Any
) -> tuple[list[float], int]:
    """The milliseconds of the turns while ``attacker`` ran in a process of its own, and the number of its requests."""
    told, telling = _SPAWN.Pipe(duplex=False)
    process = _SPAWN.Process(target=attacker, args=(*given, telling), daemon=True)
    process.start()
    await asyncio.to_thread(told.recv)
    taken = await _played(http, chats, 0, seconds)
    sent: int = await asyncio.to_thread(told.recv)
    await asyncio.to_thread(process.join)
    return taken, sent


@asynccontextmanager
async def _sinking() -> AsyncIterator[str]:
    """Run ``_sink`` in a process of its own, and yield its address."""
    told, telling = _SPAWN.Pipe(duplex=False)
    process = _SPAWN.Process(target=_sink, args=(telling,), daemon=True)
    process.start()
    try:
        yield f"http://127.0.0.1:{await asyncio.to_thread(told.recv)}"
    finally:
        process.kill()
        await asyncio.to_thread(process.join)


def _sink(telling: Connection) -> None:
    """Send a port to ``telling``, then read each request on it to its end, and discard it."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        left = int(head.partition(b"content-length:")[2].partition(b"\r\n")[0])
        while left > 0 and (piece := await reader.read(1 << 18)):
            left -= len(piece)
        writer.write(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
        writer.close()

    async def serve() -> None:
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        telling.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(serve())


async def _played(http: ClientSession, chats: list[list[dict[str, str]]], turns: int, seconds: float) -> list[float]:
    """Play for ``seconds``, and at least ``turns`` turns of each player. Return the milliseconds of each turn."""
    taken: list[float] = []
    ends = time.perf_counter() + seconds

    async def play(number: int) -> None:
        chat, played, chance = chats[number], 0, Random(number)
        await asyncio.sleep(_PAUSE * number / len(chats))
        while played < turns or time.perf_counter() < ends:
            chat.append({"role": "user", "content": f"I walk to the mill, {number}, for the {len(chat)}. time."})
            began = time.perf_counter()
            shown = [chat[0], *chat[1:][-_SHOWN:]]
            async with http.post(
                CHAT, json={"model": "m", "messages": shown}, headers=_bearer(_player(number))
            ) as answer:
                found = await answer.json()
            taken.append((time.perf_counter() - began) * 1_000)
            chat.append({"role": "assistant", "content": found["choices"][0]["message"]["content"]})
            played += 1
            await asyncio.sleep(_PAUSE * chance.uniform(0.5, 1.5))

    await asyncio.gather(*map(play, range(len(chats))))
    return taken


def _attacker(base: str, name: str, seconds: float, every: float, telling: Connection) -> None:
    """Run the attack ``name``. Send 0 to ``telling`` when it begins, and the number of its requests when it ends.

    ``every`` is the least time between the starts of two requests, in seconds.
    """

    async def attack() -> int:
        async with _client(base) as client:
            return await _attack(client, ATTACKS[name], seconds, every, lambda: telling.send(0))

    telling.send(asyncio.run(attack()))


async def _attack(
    attacker: ClientSession, attack: Attack, seconds: float, every: float, begin: Callable[[], None]
) -> int:
    """Send the attack's request repeatedly, one at a time. Return the number of requests."""
    body, sent = attack.body(), 0
    begin()
    began = time.perf_counter()
    while time.perf_counter() < began + seconds:
        await asyncio.sleep(max(0.0, began + every * sent - time.perf_counter()))
        payload = BytesPayload(attack.body() if attack.anew else body)
        try:
            async with attacker.post(
                attack.path, data=payload, headers={**attack.headers, **(_bearer(KEY) if attack.key else {})}
            ) as answer:
                await answer.read()
        except (ClientError, ConnectionError):
            await asyncio.sleep(0.01)  # a refusal closes the connection, maybe before the whole body is sent
        sent += 1
    return sent


def _bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


def _player(number: int) -> str:
    return f"bench-key-of-player-{number}"


@asynccontextmanager
async def _serving(folder: Path, players: int) -> AsyncIterator[str]:
    """Run a server, and yield its address. Its later output is read too, so that it never blocks on a full pipe."""
    file = folder / "saga.yaml"
    keys = {"api_keys": [KEY], "chat_keys": list(map(_player, range(players)))}
    settings: dict[str, Any] = {"storage": {"path": str(folder / "data")}, "server": keys}
    file.write_text(json.dumps(settings), encoding="utf-8")  # JSON is YAML
    given = ("serve", "--config", str(file), "--host", "127.0.0.1", "--port", "0", "--log-level", "error")
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "saga_server", *given), stdout=asyncio.subprocess.PIPE
    )
    reading: asyncio.Task[bytes] | None = None
    try:
        assert process.stdout is not None
        while not (line := (await process.stdout.readline()).decode()).startswith(READY_AT):
            if not line:
                raise RuntimeError(f"the server ended with code {await process.wait()}")
        base = line.removeprefix(READY_AT).strip().removesuffix("/v1")
        reading = asyncio.create_task(process.stdout.read())
        yield base
    finally:
        if process.returncode is None:
            process.terminate()
            await process.wait()
        if reading is not None:
            await reading
