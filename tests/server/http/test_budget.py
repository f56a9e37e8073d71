"""What one request may cost, told with both numbers before anything is spent; and texts that no record holds."""

from __future__ import annotations

import asyncio
import json
import re
import time
from io import BytesIO
from typing import Any

import pytest

from saga_core import Saga
from saga_core.journal.records import LONGEST_TEXT, cut
from saga_server.http.cpu_shares import LimitedWork
from saga_server.http.errors import RequestError
from saga_server.http.json_body import MAX_NODES, MAX_PARTS, check_density
from tests.core.frontend import memory_config
from tests.server.client import CHAT, Client, Reply, words
from tests.server.conftest import Serve
from tests.server.upstream import Upstream

MB = 1 << 20


async def ask(client: Client, messages: list[dict[str, Any]]) -> Reply:
    return await client.post(CHAT, data=BytesIO(json.dumps({"model": "m", "messages": messages}).encode()))


@pytest.mark.parametrize("text", ["x" * (MB + 1), "한" * (MB // 3 + 1)])
async def test_too_much_text_is_told_before_anything_is_spent(serve: Serve, upstream: Upstream, text: str) -> None:
    providers = {"openai": {"base_url": upstream.url, "api_key": "sk-up", "max_retries": 0}}
    async with serve(server={"max_text_mb": 1}, providers=providers) as client:
        for content in (text, [{"type": "text", "text": text}]):
            reply = await ask(client, [{"role": "user", "content": content}])
            assert (reply.status, reply.error["param"]) == (413, "messages")
            given, _, most = reply.error["message"].partition(" at most ")
            assert f"{len(text.encode()):,}" in given and "1,048,576" in most
        assert upstream.requests == []
        assert (await client.chat(words("I go on."))).status == 200


async def test_a_picture_is_no_text(client: Client) -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * (5 * MB)}}
    reply = await ask(client, [{"role": "user", "content": [picture, {"type": "text", "text": "Look."}]}])
    assert reply.status == 200


async def test_what_holds_too_many_values(offline: Client) -> None:
    parts = [{"type": "text", "text": ""}] * (MAX_PARTS + 1)
    reply = await ask(offline, [{"role": "user", "content": parts}])
    assert reply.status == 413 and f"{MAX_PARTS:,}" in reply.error["message"]
    for body in (b"[" + b"1," * (MAX_NODES + 9) + b"1]", b'{"a":' + b"[]," * (MAX_NODES + 9) + b"1}"):
        reply = await offline.post(CHAT, data=BytesIO(body))
        assert reply.status == 413 and f"{MAX_NODES:,}" in reply.error["message"]


def test_commas_of_a_text_are_no_values() -> None:
    check_density(json.dumps({"text": 'a, "b", [c] \\ ' * 200_000}).encode())
    with pytest.raises(RequestError):
        check_density(b'"' + b'\\"' * 10 + b'"' + b"," * (MAX_NODES + 1))


@pytest.mark.parametrize(
    "text", ["x" * (LONGEST_TEXT + 10), "\x01" * LONGEST_TEXT, '"' * LONGEST_TEXT, "한" * LONGEST_TEXT]
)
def test_a_text_that_is_cut_fits_and_tells_of_the_whole(text: str) -> None:
    found = cut(text)
    assert len(json.dumps(found, ensure_ascii=False).encode()) <= LONGEST_TEXT + 20
    assert "characters are not recorded; sha256 " in found
    assert cut("short") == "short"


async def test_the_story_goes_on_behind_texts_that_no_record_holds() -> None:
    """Until now such a turn was not recorded, and every later request of its chat failed."""
    huge = "I walk into the woods. " * 800_000
    told = "The rain goes on, and so does the road. " * 500_000
    async with Saga.open(memory_config()) as saga:
        history: list[dict[str, Any]] = [{"role": "user", "content": huge}]
        one = await saga.begin(history)
        one.replies[0].feed(told)
        (turn,) = await one.commit()
        history += [{"role": "assistant", "content": told}, {"role": "user", "content": "I look back."}]
        two = await saga.begin(history)
        two.replies[0].feed("Nobody is there.")
        assert (two.session.id, two.parent.id) == (one.session.id, turn.id)
        await two.commit()
        stored = (await saga.parts.journal.turns(one.session.id, [turn.id]))[0]
        assert stored.user.startswith("I walk") and "sha256" in stored.user and "sha256" in stored.reply
        assert len(await saga.parts.journal.tree(one.session.id)) == 3
        await saga.drain(20)
        assert not (await saga.maintenance.verify()).findings


async def test_work_that_takes_too_much_of_the_processor_is_refused(serve: Serve, upstream: Upstream) -> None:
    """Nobody else notices, no model is asked, and what was begun is no half of anything."""
    providers = {"openai": {"base_url": upstream.url, "api_key": "sk-up", "max_retries": 0}}
    told = "The road goes on, for the {}. time, and it is a long one."
    history = words(*[text for at in range(1_500) for text in (f"{at}. I walk on.", told.format(at))], "And on.")
    async with serve(server={"max_cpu_seconds": 0.05}, providers=providers) as client:
        reply, other = await asyncio.gather(ask(client, history), client.chat(words("I go on.")))
        assert (reply.status, reply.error["param"], other.status) == (413, "messages", 200)
        assert re.search(r"took \d+\.\d s of the processor, and may take 0\.05 s", reply.error["message"])
        assert len(upstream.requests) == 1
        assert (await client.chat(words("I go on."))).status == 200
        assert (await client.get("/api/verify")).json["equal"]


async def test_what_others_do_meanwhile_is_not_counted() -> None:
    async def idle() -> str:
        for _ in range(20):
            await asyncio.sleep(0)
        return "done"

    async def busy() -> None:
        for _ in range(20):
            sum(range(200_000))
            await asyncio.sleep(0)

    counted = LimitedWork(idle(), 0.02)

    async def wait() -> str:
        return str(await counted)

    found, _ = await asyncio.gather(wait(), busy())
    assert found == "done" and counted.spent < 0.02


async def test_a_request_that_is_cancelled_is_cancelled_inside() -> None:
    ended: list[str] = []

    async def waits() -> None:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise

    async def run() -> None:
        await LimitedWork(waits(), 5.0)

    task = asyncio.create_task(run())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended == ["cancelled"]


async def test_others_have_the_loop_between_two_long_steps() -> None:
    """Without a pause, they would have one turn between two steps. A cancellation during a pause reaches the work."""
    rounds = [0]

    async def busy() -> list[int]:
        try:
            while len(rounds) < 6:
                ends = time.thread_time() + 0.02
                while time.thread_time() < ends:
                    pass
                rounds.append(0)
                await asyncio.sleep(0)
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            return list(rounds)
        raise AssertionError("it was not cancelled")

    async def others(steps: int, task: asyncio.Task[list[int]]) -> None:
        while len(rounds) < steps or rounds[-1] < 5:
            rounds[-1] += 1
            await asyncio.sleep(0)
        task.cancel()

    async def run() -> list[int]:
        return list(await LimitedWork(busy(), 5.0))

    async with asyncio.timeout(30):
        for steps in (6, 2):  # while it waits, and while it pauses
            rounds[:] = [0]
            task = asyncio.create_task(run())
            await others(steps, task)
            found = await task
            assert len(found) == steps and min(found[1:]) >= 5
