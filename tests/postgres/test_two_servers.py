"""Two servers on one database, in one process: what a player sees who is moved between them."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from attrs import evolve
from click.testing import CliRunner

from saga_core.errors import OwnedElsewhere
from saga_core.journal import Journal
from saga_core.maintenance import importing
from saga_server.admin import EVENTS
from saga_server.cli.saga_command import main
from saga_server.hosting import Leases
from tests.core.imports import samples
from tests.server.client import BLOCK, CHAT, Client
from tests.server.upstream import Upstream, says

LEASE = 1.5
KEY = "admin-key-1"


@pytest.fixture
async def upstream() -> AsyncIterator[Upstream]:
    async with Upstream() as server:
        yield server


@pytest.fixture
async def two(url: str, schema: str, upstream: Upstream, tmp_path: Path) -> AsyncIterator[tuple[Client, Client]]:
    """Two servers, narrated by ``upstream``."""
    async with AsyncExitStack() as stack:
        found = [await stack.enter_async_context(served(url, schema, upstream, tmp_path, name)) for name in "ab"]
        yield found[0], found[1]


def served(url: str, schema: str, upstream: Upstream, folder: Path, name: str, **server: Any) -> Any:
    place = {"options": {"schema": schema, "pool": 4}}
    return Client.of(
        {
            "server": {"name": name, "lease_seconds": LEASE, **server},
            "storage": {
                "profile": "scale",
                "url": url,
                "path": str(folder / name),
                **dict.fromkeys(("state", "graph", "vector", "cache"), place),
            },
            "session": {"default_world": "ersia"},
            "providers": {"openai": {"base_url": upstream.url, "api_key": "sk-up", "max_retries": 0}},
        },
        {},
    )


class Player:
    """A chat, and what the player was told."""

    def __init__(self, name: str) -> None:
        self.history: list[dict[str, Any]] = [{"role": "system", "content": f"You narrate the tale of {name}."}]
        self.name = name
        self.session = ""

    def asks(self, words: str) -> dict[str, Any]:
        said = [*self.history, {"role": "user", "content": words}]
        return {"model": "narrator-1", "messages": said}

    async def says(self, client: Client, words: str) -> Any:
        reply = await client.post(CHAT, json=self.asks(words))
        assert reply.status == 200, reply.raw
        assert "X-SAGA-Notice" not in reply.headers, reply.headers
        self.history += [{"role": "user", "content": words}, {"role": "assistant", "content": reply.text}]
        assert self.session in ("", reply.session)
        self.session = reply.session
        return reply


async def path_of(client: Client, session: str) -> list[str]:
    """The ids of all turns of a session, the root left out."""
    tree = (await client.get(f"/api/sessions/{session}/tree")).json
    return [node["id"] for node in tree["nodes"] if node["parent"]]


async def test_a_player_who_is_moved_between_servers_has_one_story(
    two: tuple[Client, Client], upstream: Upstream
) -> None:
    player, draw = Player("Aria"), random.Random(7)
    turns = []
    for number in range(12):
        upstream.then(
            says(f"In chapter {number} the road bends towards the hills, and the rain stops at last.\n\n", BLOCK)
        )
        reply = await player.says(draw.choice(two), f"I walk on, for the {number}th time, and look about me.")
        turns.append(reply.turn)
    status = [(await each.get("/api/status")).json["servers"] for each in two]
    assert sum(each["sessions"] for each in status) == 1, "one of them has the session"
    assert {each["server"].partition("#")[0] for each in status} == {"a", "b"}
    for each in two:
        assert await path_of(each, player.session) == turns


async def test_a_stream_is_passed_through_from_the_server_that_has_the_session(
    two: tuple[Client, Client], upstream: Upstream
) -> None:
    a, b = two
    player = Player("Aria")
    await player.says(a, "I open the door of the inn and look for a seat.")
    streamed = await b.post(CHAT, json={**player.asks("I sit down and call for ale."), "stream": True})
    assert streamed.streamed() == "The rain stops."
    assert streamed.session == player.session
    assert streamed.events[-1] == "[DONE]"
    assert (await a.get("/api/status")).json["counters"].get("leases.passed_on") is None
    assert (await b.get("/api/status")).json["counters"]["leases.passed_on"] == 1


async def test_a_stream_of_a_server_that_is_gone_is_broken_off(
    two: tuple[Client, Client], upstream: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was shown is no whole reply, and must not look like one."""
    a, b = two
    player = Player("Aria")
    await player.says(a, "I open the door of the inn and look for a seat.")
    ours, gone, plain = b.server.saga.parts.rights, False, Leases.is_gone
    monkeypatch.setattr(Leases, "is_gone", lambda self, server: gone if self is ours else plain(self, server))
    upstream.then(says("The host looks up, ", "and says nothing.", gate=asyncio.Event()))
    asked = {**player.asks("I sit down and call for ale."), "stream": True}
    async with aiohttp.ClientSession() as http, http.post(f"{b.server.url}{CHAT}", json=asked) as answer:
        shown = b""
        while b"The host looks up" not in shown:
            shown += await answer.content.readany()
        gone = True
        with pytest.raises(aiohttp.ClientError):
            await answer.read()


async def test_who_stops_lets_its_reply_end_and_others_play_its_other_sessions_meanwhile(
    two: tuple[Client, Client], upstream: Upstream
) -> None:
    a, b = two
    slow, other = Player("Aria"), Player("Doran")
    await slow.says(b, "I open the door of the inn and look for a seat.")
    await other.says(b, "I wait at the ford for the ferry.")
    gate = asyncio.Event()
    upstream.then(says("The host looks up, ", "and nods.", gate=gate))
    asked = {**slow.asks("I sit down and call for ale."), "stream": True}
    async with aiohttp.ClientSession() as http, http.post(f"{b.server.url}{CHAT}", json=asked) as answer:
        shown = b""
        while b"The host looks up" not in shown:
            shown += await answer.content.readany()
        async with aiohttp.ClientSession() as line:
            async with line.get(f"{b.server.url}/healthz") as alive:
                await alive.read()
            stopping = asyncio.create_task(b.server.stop(30.0))
            await asyncio.sleep(0)
            leases = a.server.saga.parts.rights
            assert leases is not None
            passed = {"X-SAGA-Passed-On": leases.server}
            # Over a line that outlives the port: it is not the player who is to be told that this server stops.
            async with line.post(f"{b.server.url}{CHAT}", json=other.asks("I whistle."), headers=passed) as told:
                assert (told.status, told.headers.get("X-SAGA-Not-Owner")) == (503, "1")
        await other.says(a, "I call across the water.")
        assert not stopping.done(), "its reply is under way still"
        gate.set()
        shown += await answer.read()
    assert b"[DONE]" in shown and b"shutting down" not in shown
    await stopping
    assert len(await path_of(a, slow.session)) == 2, "it is recorded, and told by the other one"


async def test_what_a_server_of_another_database_passes_on_is_not_played(two: tuple[Client, Client]) -> None:
    """A copy of the data is looked into beside the servers that go on: it has their leases and addresses."""
    a, _ = two
    player = Player("Aria")
    await player.says(a, "I open the door of the inn and look for a seat.")
    asked = player.asks("I sit down and call for ale.")
    stranger = await a.post(CHAT, json=asked, headers={"X-SAGA-Passed-On": "copy:8765#0000"})
    assert (stranger.status, stranger.headers["X-SAGA-Not-Owner"]) == (503, "1")
    assert len(await path_of(a, player.session)) == 1


async def test_who_passes_a_request_on_reads_nothing_of_its_session(
    two: tuple[Client, Client], upstream: Upstream
) -> None:
    a, b = two
    player = Player("Aria")
    upstream.then(says("The inn is warm, and full of noise and smoke tonight.\n\n", BLOCK))
    await player.says(a, "I open the door of the inn and look for a seat.")
    for number in range(3):
        upstream.then(says(f"In chapter {number} the road bends towards the hills at last.\n\n", BLOCK))
        await player.says(b, f"I walk on, for the {number}th time, and look about me.")
    counted = (await b.get("/api/status")).json["counters"]
    assert counted["leases.passed_on"] == 3
    assert player.session, "it was found again each time"
    assert "sessions.loaded" not in counted


async def test_a_server_that_was_taken_for_the_owner_says_so_and_the_request_is_played(
    two: tuple[Client, Client], upstream: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = two
    player = Player("Aria")
    upstream.then(says("The inn is warm, and full of noise and smoke tonight.\n\n", BLOCK))
    await player.says(b, "I open the door of the inn and look for a seat.")
    ours, other = b.server.saga.parts.rights, a.server.saga.parts.rights
    assert ours is not None and other is not None
    guessed = 0

    async def wrong(self: Leases, session: str) -> None:
        nonlocal guessed
        if self is ours:
            guessed += 1
            raise OwnedElsewhere(session, other.server, other.address)

    monkeypatch.setattr(Leases, "guess", wrong)
    await player.says(b, "I sit down and call for ale.")
    assert guessed == 1, "the next look is a close one"
    assert len(await path_of(b, player.session)) == 2


async def test_a_session_that_rests_is_taken_by_whoever_is_asked(
    two: tuple[Client, Client], upstream: Upstream
) -> None:
    a, b = two
    player = Player("Aria")
    given_back = asyncio.Event()
    leases = a.server.saga.parts.rights
    assert leases is not None
    free = leases.listener.on_free

    def on_free(session: str) -> None:
        free(session)
        given_back.set()

    leases.listen(evolve(leases.listener, on_free=on_free))
    await player.says(a, "I open the door of the inn and look for a seat.")
    await given_back.wait()
    await player.says(b, "I sit down and call for ale.")
    status = (await b.get("/api/status")).json
    assert status["servers"]["sessions"] == 1
    assert "leases.passed_on" not in status["counters"]
    assert len(await path_of(a, player.session)) == 2, "the other server sees what was played there"


async def test_who_asks_while_a_session_is_read_sees_what_was_recorded_before(
    two: tuple[Client, Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that is asleep in the middle of reading a session wakes, and is asked by somebody else."""
    a, b = two
    player = Player("Aria")
    await player.says(a, "I open the door of the inn and look for a seat.")
    journal, asleep, woken = b.server.saga.parts.journal, asyncio.Event(), asyncio.Event()
    plain = Journal.amendments

    async def amendments(self: Journal, session: str) -> Any:
        if self is journal:
            asleep.set()
            await woken.wait()  # the tree was read already
        return await plain(self, session)

    monkeypatch.setattr(Journal, "amendments", amendments)
    first = asyncio.create_task(path_of(b, player.session))
    await asleep.wait()
    latest = (await player.says(a, "I sit down and call for ale.")).turn
    joined = asyncio.Event()
    live = b.server.saga.parts.live
    shield = asyncio.shield

    def shielded(task: Any) -> Any:
        if task is live._loading.get(player.session):
            joined.set()
        return shield(task)

    monkeypatch.setattr(asyncio, "shield", shielded)
    later = asyncio.create_task(path_of(b, player.session))
    await joined.wait()
    woken.set()
    await first
    assert latest in await later


async def test_what_is_changed_by_hand_at_one_server_is_told_at_the_other(
    two: tuple[Client, Client], upstream: Upstream
) -> None:
    a, b = two
    player = Player("Aria")
    reply = await player.says(a, "I open the door of the inn and look for a seat.")
    forked = await b.post(f"/api/sessions/{player.session}/fork", json={"turn": reply.turn, "name": "evening"})
    assert forked.status in (200, 201), forked.raw
    named = (await a.get(f"/api/sessions/{player.session}/timelines")).json
    assert "evening" in str(named)


@pytest.mark.parametrize("path", ["/api/rebuild", "/api/forget", "/api/verify"])
async def test_who_looks_after_a_session_may_ask_any_server(path: str, two: tuple[Client, Client]) -> None:
    a, b = two
    player = Player("Aria")
    await player.says(a, "I open the door of the inn and look for a seat.")
    answer = await b.request("GET" if path == "/api/verify" else "POST", f"{path}?session={player.session}")
    assert answer.status == 200, answer.raw
    left = (await a.get("/api/sessions")).json["sessions"]
    assert len(left) == (0 if path == "/api/forget" else 1)


async def test_what_the_other_server_may_still_hold_of_an_owner_is_passed_on(
    url: str, schema: str, upstream: Upstream, tmp_path: Path
) -> None:
    async with (
        served(url, schema, upstream, tmp_path, "a", api_keys=[KEY]) as first,
        served(url, schema, upstream, tmp_path, "b", api_keys=[KEY]) as second,
    ):
        a, b = (Client(each.server, each.http, KEY) for each in (first, second))
        owner = (await a.get("/api/me")).json["owner"]
        assert (await b.post("/api/sessions", json={"label": "hers"})).status == 201
        old = tmp_path / "b" / "graph.old"
        old.parent.mkdir(exist_ok=True)
        old.write_bytes(b"of an engine that is used no more")
        forgotten = await a.post(f"/api/forget?owner={owner}")
        assert forgotten.status == 200, forgotten.raw
        assert [each for each in forgotten.json["remains"] if each.startswith(f"{old}: ")]


async def test_an_owner_is_forgotten_at_every_server_whoever_is_asked(
    url: str, schema: str, upstream: Upstream, tmp_path: Path
) -> None:
    """Though none of them is free, and no server has all of them."""
    async with AsyncExitStack() as stack:
        found = [
            await stack.enter_async_context(served(url, schema, upstream, tmp_path, name, api_keys=[KEY]))
            for name in "abc"
        ]
        three = [Client(each.server, each.http, KEY) for each in found]
        owner = (await three[0].get("/api/me")).json["owner"]
        begun = []
        for number, at in enumerate((1, 2, 0, 1, 2, 0)):
            reply = await three[at].post("/api/sessions", json={"label": f"tale {number}"})
            assert reply.status == 201, reply.raw
            begun.append(reply.json["id"])
        gate = asyncio.Event()
        upstream.then(says("The host looks up, ", "and nods.", gate=gate))
        player = Player("Aria")
        playing = asyncio.create_task(three[2].post(CHAT, json=player.asks("I open the door of the inn.")))
        while len((await three[1].get("/api/sessions")).json["sessions"]) < 7:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        held = [(await each.get("/api/status")).json["servers"]["sessions"] for each in three]
        assert held == [2, 2, 3]
        forgotten = await three[0].post(f"/api/forget?owner={owner}")
        assert forgotten.status == 200, forgotten.raw
        assert set(begun) < set(forgotten.json["sessions"]) and len(forgotten.json["sessions"]) == 7
        gate.set()
        await playing
        for each in three:
            assert (await each.get("/api/sessions")).json["sessions"] == []
            assert (await each.get("/api/status")).json["servers"]["sessions"] == 0
        state = three[0].server.saga.parts.stores.state
        assert await state.scan(("world",)) == [], "nobody plays in it any more"


async def test_who_listens_at_one_server_hears_what_the_other_one_records_and_once(two: tuple[Client, Client]) -> None:
    a, b = two
    player = Player("Aria")
    async with aiohttp.ClientSession() as http, http.get(f"{b.server.url}/api/events") as listening:
        runner = a.server._runner
        assert runner is not None
        while not len(runner.app[EVENTS]):  # noqa: ASYNC110 - until b has asked a for its events
            await asyncio.sleep(0.02)
        first = await player.says(a, "I open the door of the inn and look for a seat.")
        then = await player.says(b, "I sit down and call for ale.")
        assert (await b.get("/api/status")).json["counters"]["leases.passed_on"] == 1
        told = b""
        async with asyncio.timeout(30):
            while told.count(b"event: projected") < 2:
                told += await listening.content.readany()
    for turn in (first.turn, then.turn):
        recorded = [each for each in told.split(b"\n\n") if b"event: recorded" in each and turn.encode() in each]
        assert len(recorded) == 1, told.decode()


async def test_a_command_reaches_the_server_that_has_the_session(
    url: str, schema: str, upstream: Upstream, two: tuple[Client, Client], tmp_path: Path
) -> None:
    """It reads the database itself, and may not write what a server has in play."""
    a, _ = two
    player = Player("Aria")
    await player.says(a, "I open the door of the inn and look for a seat.")
    given = ["forget", player.session, "--config", settings_beside(url, schema, tmp_path), "--yes"]
    done = await asyncio.to_thread(CliRunner().invoke, main, given)
    assert done.exit_code == 0, done.output
    assert (await a.get("/api/sessions")).json["sessions"] == []


def settings_beside(url: str, schema: str, folder: Path, **server: Any) -> str:
    """Settings of a command that reads the servers' database itself."""
    config = folder / "saga.json"
    place = {"options": {"schema": schema}}
    stores = dict.fromkeys(("state", "graph", "vector", "cache"), place)
    storage = {"profile": "scale", "url": url, "path": str(folder / "c"), **stores}
    config.write_text(json.dumps({"storage": storage, "server": server}))
    return str(config)


async def test_a_command_forgets_an_owner_at_every_server(
    url: str, schema: str, upstream: Upstream, tmp_path: Path
) -> None:
    async with AsyncExitStack() as stack:
        found = [
            await stack.enter_async_context(served(url, schema, upstream, tmp_path, name, api_keys=[KEY]))
            for name in "ab"
        ]
        two = [Client(each.server, each.http, KEY) for each in found]
        owner, begun = (await two[0].get("/api/me")).json["owner"], []
        for number in range(4):
            begun.append((await two[number % 2].post("/api/sessions", json={"label": f"tale {number}"})).json["id"])
        config = settings_beside(url, schema, tmp_path, api_keys=[KEY])
        given = ["forget", "--owner", owner, "--config", config, "--yes"]
        done = await asyncio.to_thread(CliRunner().invoke, main, given)
        assert done.exit_code == 0, done.output
        assert all(session in done.output for session in begun)
        assert [(await each.get("/api/sessions")).json["sessions"] for each in two] == [[], []]


async def test_one_file_that_two_servers_take_in_at_once_is_one_session(
    two: tuple[Client, Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both have found nothing of it before either writes."""
    searched, both = 0, asyncio.Event()
    find = importing.find_story

    async def found(*given: Any) -> Any:
        nonlocal searched
        place = await find(*given)
        searched += 1
        if searched == 2:
            both.set()
        if searched <= 2:
            await both.wait()
        return place

    monkeypatch.setattr(importing, "find_story", found)
    chat = samples.jsonl(
        samples.HEADER,
        samples.message("Ysolde", "A long road lies ahead of you."),
        samples.message("Alex", "I walk on.", user=True),
        samples.message("Ysolde", "The road bends towards the hills, and the rain stops at last."),
    )
    answers = await asyncio.gather(*(client.post("/api/import?name=one.jsonl", data=chat) for client in two))
    things = [answer.json["things"][0] for answer in answers]
    assert sorted(thing["state"] for thing in things) == ["known", "new"], things
    assert len({thing["session"] for thing in things}) == 1
    assert len((await two[0].get("/api/sessions")).json["sessions"]) == 1
