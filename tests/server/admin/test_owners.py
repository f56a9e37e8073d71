"""What a player sees is hers alone: every row of the table is asked with another player's key and ids.

A new endpoint says whose its answer is (``reach``), and how a new parameter is filled stands in ``FILLED``.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from itertools import product
from typing import Any

import pytest
from attrs import define, frozen

from saga_core.state_block import BlockFields, ItemAmount
from saga_server.admin.endpoint import Endpoint
from saga_server.admin.endpoints import ENDPOINTS
from saga_server.admin.read_params import Param, params_of
from saga_server.http import Doors
from tests.blocks import render_block
from tests.server.client import CHAT, Client, Reply, words
from tests.server.conftest import Serve
from tests.server.upstream import Upstream, says

ADMIN = "admin-key-1"
SECRET = ("Quillfeather", "Zanzibor", "Mirrorglass", "Obsidianhold")
"""Words of the first player's story. The second never says them."""
COMMON = "lantern"
"""A word of both stories."""


@define
class Story:
    """A player, her session, and what is in it."""

    client: Client
    owner: str
    session: str = ""
    label: str = ""
    turn: str = ""
    entity: str = ""
    change: str = ""
    timeline: str = "evening"


async def player(admin: Client, name: str) -> Story:
    made = await admin.post("/api/keys", json={"name": name})
    assert made.status == 201, made.raw
    return Story(Client(admin.server, admin.http, made.json["secret"]), made.json["owner"])


async def tell(story: Story, upstream: Upstream, label: str, names: tuple[str, str, str, str]) -> Story:
    """Two turns, a named timeline and a correction."""
    who, place, thing, where = names
    block = render_block(BlockFields(location=place, npc_met=(who,), items_gained=(ItemAmount(thing),)))
    upstream.then(says(f"{who} lights a {COMMON} and shows you {thing} in {place}.\n\n", block))
    upstream.then(says(f"The {COMMON} goes out, and {who} leads you to {where}."))
    named = {"X-SAGA-Session": label, "X-SAGA-Chat": "c1"}
    first = await story.client.chat(words(f"I greet {who}."), headers=named)
    said = f"{who} lights a {COMMON} and shows you {thing} in {place}."
    second = await story.client.chat(words(f"I greet {who}.", said, "I follow."), headers=named)
    assert (first.status, second.status) == (200, 200), (first.raw, second.raw)
    story.session, story.turn, story.label = second.session, second.turn, label
    here = f"/api/sessions/{story.session}"
    forked = await story.client.post(f"{here}/fork", json={"name": story.timeline})
    changed = await story.client.post(f"{here}/changes", json={"kind": "note", "text": f"{who} knows {where}."})
    assert (forked.status, changed.status) == (201, 201), (forked.raw, changed.raw)
    story.change = changed.json["change"]
    known = (await story.client.get(f"{here}/entities")).json["entities"]
    story.entity = next(each["id"] for each in known if each["name"] == who)
    return story


@frozen
class Two:
    """An administrator and two players."""

    admin: Client
    one: Story
    other: Story
    upstream: Upstream


@pytest.fixture
async def two(serve: Serve, upstream: Upstream) -> AsyncIterator[Two]:
    providers = {"openai": {"base_url": upstream.url, "api_key": "sk-up", "max_retries": 0}}
    async with serve(server={"api_keys": [ADMIN]}, providers=providers) as found:
        admin = Client(found.server, found.http, ADMIN)
        one = await tell(await player(admin, "one"), upstream, "first tale", SECRET)
        other = await tell(await player(admin, "other"), upstream, "second tale", ("Bram", "Mill", "Rope", "River"))
        assert (await admin.post("/api/drain")).json["settled"]
        yield Two(admin, one, other, upstream)


FILLED: Mapping[str, str] = {
    "text": COMMON, "q": COMMON, "cypher": "MATCH (n) RETURN n", "one": "TURN", "other": "TURN", "turn": "TURN",
    "name": "TIMELINE", "entity": "ENTITY", "change": "CHANGE", "world": "harrow", "key": "KEY", "file": "WORLD.md",
    "label": "renamed", "kind": "note", "verdict": "refuse", "rule": "r0", "module": "map", "chat": "c1",
    "deleted": "s1", "dice": "2d6", "first": "1", "last": "1",
}  # fmt: skip
"""Parameters that a request has to give. What stands in capitals is taken from the story that is asked about."""


def filled(param: Param, about: Story) -> str:
    inner = {"TURN": about.turn, "TIMELINE": about.timeline, "ENTITY": about.entity, "CHANGE": about.change}
    found = FILLED.get(param.name, "")
    assert found, f"{param.name}: a required parameter without a value for this test; add it to FILLED"
    return inner.get(found, about.owner if found == "KEY" else found)


ONE_OF: Mapping[str, Mapping[str, str]] = {"/api/sessions/{id}/knowledge": {"about": "1"}}
"""Parameters of which a request has to give one."""


async def ask(client: Client, endpoint: Endpoint, session: str, about: Story) -> Reply:
    """A row's request, about ``session``, with the ids of ``about``'s story in it. Of a stream, its first piece."""
    path, query, body = endpoint.path, dict(ONE_OF.get(endpoint.path, {})), dict[str, str]()
    for param in params_of(endpoint.handler):
        if param.key == "session":
            path = path.replace("{id}", session)
            if param.spec.place == "query":
                query["session"] = session
        elif param.spec.place == "path":
            path = path.replace(f"{{{param.name}}}", filled(param, about))
        elif param.spec.place in ("query", "body") and (param.needed or param.name == "turn"):
            (query if param.spec.place == "query" else body)[param.name] = filled(param, about)
    given = {"json": body} if body else {}
    if endpoint.media != "text/event-stream":
        return await client.send(endpoint.method, path, params=query, **given)
    async with client.request("GET", path, params=query) as response:
        return Reply(response.status, response.headers, await response.content.readuntil(b"\n\n"))


def secrets_in(reply: Reply) -> list[str]:
    told = reply.raw.decode("utf-8", "replace") + str(dict(reply.headers))
    return [word for word in SECRET if word in told]


def of_one_session(endpoint: Endpoint) -> bool:
    return any(param.key == "session" for param in params_of(endpoint.handler))


async def everything(two: Two, story: Story) -> bytes:
    """All of a session, without the lines that say when it was written and what it adds up to."""
    lines = (await two.admin.get(f"/api/sessions/{story.session}/export")).raw.splitlines()
    return b"\n".join(lines[1:-1])


async def test_no_row_gives_a_player_what_is_anothers(two: Two) -> None:
    before = await everything(two, two.one)
    assert all(word.encode() in before for word in SECRET)
    for endpoint in ENDPOINTS:
        for session in (two.one.session, two.one.label):
            found = await ask(two.other.client, endpoint, session, two.one)
            assert not secrets_in(found), (endpoint.request, secrets_in(found))
            if endpoint.reach == "admin":
                assert found.status == 403, endpoint.request
            elif endpoint.reach == "own" and of_one_session(endpoint):
                assert found.status == 404, (endpoint.request, found.status, found.raw)
                assert "there is no session" in found.error["message"], endpoint.request
    assert await everything(two, two.one) == before, "nothing of it was changed either"


async def test_ids_of_another_story_lead_nowhere_in_ones_own(two: Two) -> None:
    """A turn, an entity, a change of hers, asked for in the session of the one who asks."""
    for endpoint in ENDPOINTS:
        if endpoint.reach == "own" and endpoint.method == "GET":
            found = await ask(two.other.client, endpoint, two.other.session, two.one)
            assert not secrets_in(found), (endpoint.request, secrets_in(found))
    before = await everything(two, two.one)
    for endpoint in ENDPOINTS:
        if endpoint.reach == "own" and endpoint.method != "GET" and not endpoint.path.endswith(("{id}", "/reset")):
            await ask(two.other.client, endpoint, two.other.session, two.one)
    assert await everything(two, two.one) == before


async def test_each_sees_her_own(two: Two) -> None:
    """What the tests above look for is there for whoever may see it: they would find it."""
    hers: set[str] = set()
    for endpoint in ENDPOINTS:
        if endpoint.reach == "own" and endpoint.method == "GET":
            mine = await ask(two.one.client, endpoint, two.one.session, two.one)
            all_ = await ask(two.admin, endpoint, two.one.session, two.one)
            none = (404,) if endpoint.path.endswith("/portrait") else ()  # its world has no picture
            assert mine.status in (200, 501, *none), (endpoint.request, mine.raw)
            assert bool(secrets_in(mine)) == bool(secrets_in(all_)), endpoint.request
            if secrets_in(mine):
                hers.add(endpoint.path.rpartition("/")[2])
    assert hers >= {
        "state", "lines", "graph", "turns", "{turn}", "entities", "{entity}", "changes", "context",
        "cache", "export", "search",
    }  # fmt: skip


async def test_lists_and_names_are_of_her_own_sessions(two: Two) -> None:
    for story in (two.one, two.other):
        listed = (await story.client.get("/api/sessions?fleeting=all")).json["sessions"]
        assert [each["id"] for each in listed] == [story.session]
        assert {each["owner"] for each in listed} == {story.owner}
    assert len((await two.admin.get("/api/sessions?fleeting=all")).json["sessions"]) == 2
    made = await two.other.client.post("/api/sessions", json={"label": two.one.label})
    assert made.status == 201, made.raw
    found = await two.other.client.get(f"/api/sessions/{two.one.label}")
    assert (found.status, found.json["id"]) == (200, made.json["id"])
    assert (await two.one.client.get(f"/api/sessions/{two.one.label}")).json["id"] == two.one.session


async def test_work_that_waits_is_listed_to_whom_it_concerns(two: Two) -> None:
    for story in (two.one, two.other):
        await two.admin.server.saga.parts.journal.add_jobs(story.session, [story.turn])
    for story in (two.one, two.other):
        jobs = (await story.client.get("/api/jobs")).json["jobs"]
        assert {each["session"] for each in jobs} == {story.session}
        assert (await story.client.post("/api/jobs/retry")).status == 400, "it would be that of all"
    assert {each["session"] for each in (await two.admin.get("/api/jobs")).json["jobs"]} == {
        two.one.session, two.other.session,
    }  # fmt: skip


async def test_what_happens_to_others_is_not_told(two: Two) -> None:
    async with two.other.client.request("GET", "/api/events") as response:
        await response.content.readuntil(b"\n\n")
        two.upstream.then(says("Zanzibor falls silent."), says("The mill stands still."))
        mine = {"X-SAGA-Session": two.one.label}
        assert (await two.one.client.chat(words("I wait."), headers=mine)).status == 200
        saga = two.admin.server.saga
        saga.counters.degrade("test", "Quillfeather broke a store")
        saga.parts.live.forget(two.one.session)  # whose it is has to be looked up
        saga.counters.emit("recorded", session=two.one.session, turn=two.one.turn)
        theirs = {"X-SAGA-Session": two.other.label}
        assert (await two.other.client.chat(words("I wait."), headers=theirs)).status == 200
        async with asyncio.timeout(20):
            told = (await response.content.readuntil(b"\n\n")).decode()
    assert f'"session": "{two.other.session}"' in told
    assert two.one.session not in told and "degraded" not in told and "dropped" not in told


async def test_listening_ends_with_the_key(two: Two) -> None:
    async with two.other.client.request("GET", "/api/events") as response:
        await response.content.readuntil(b"\n\n")
        key = next(each for each in (await two.admin.get("/api/keys")).json["keys"] if each["owner"] == two.other.owner)
        assert (await two.admin.send("DELETE", f"/api/keys/{key['id']}")).status == 200
        two.admin.server.saga.counters.emit("recorded", session=two.other.session, turn=two.other.turn)
        async with asyncio.timeout(20):
            assert two.other.turn.encode() not in await response.read(), "it ends, and tells nothing more"
    assert (await two.other.client.get("/api/sessions")).status == 401


WAYS = {
    "header": lambda name: (CHAT, {"X-SAGA-Session": name}, ""),
    "base URL": lambda name: (f"/s/{name}/v1/chat/completions", {}, ""),
    "marker": lambda name: (CHAT, {}, f"[[saga:session={name}]] "),
    "timeline": lambda name: (CHAT, {"X-SAGA-Session": f"{name}@evening"}, ""),
}


async def test_naming_anothers_session_plays_nothing_of_it(two: Two) -> None:
    before = await everything(two, two.one)
    for way, (by, name) in product(WAYS, {"id": two.one.session, "label": two.one.label}.items()):
        asked = len(two.upstream.requests)
        path, headers, mark = WAYS[way](name)
        reply = await two.other.client.chat(words(f"{mark}I look at the {COMMON}."), path=path, headers=headers)
        assert not secrets_in(reply), (way, by)
        for request in two.upstream.requests[asked:]:
            assert not [word for word in SECRET if word in request.text], (way, by)
    key = f"{two.other.client.key}#{two.one.session}"
    unknown = f"{two.other.client.key}#s01m8gzn6ma7zr0dyyjjz"
    for each in (key, unknown):  # a stranger does not learn which of them is a session
        reply = await Client(two.admin.server, two.admin.http, each).chat(words("I wait."))
        assert reply.status == 200 and reply.session != two.one.session and not secrets_in(reply), each
    assert await everything(two, two.one) == before


async def test_a_file_is_taken_in_for_whom_the_administrator_says(two: Two) -> None:
    """Whatever its author wrote into it: a session among hers tells her other sessions what it learned."""
    file = (await two.one.client.get(f"/api/sessions/{two.one.session}/export")).raw
    assert two.one.owner.encode() in file
    taken = await two.admin.post(f"/api/import?owner={two.other.owner}", data=file)
    assert (taken.status, taken.json["owner"]) == (201, two.other.owner), taken.raw
    assert len((await two.one.client.get("/api/sessions?fleeting=all")).json["sessions"]) == 1
    mine = (await two.other.client.get("/api/sessions?fleeting=all")).json["sessions"]
    assert taken.json["id"] in {each["id"] for each in mine}
    again = await two.admin.post("/api/import", data=file)
    assert again.json["owner"] == two.one.owner, "without a word it goes back to where it was"


async def test_no_door_tells_a_player_of_another(two: Two) -> None:
    body = {"model": "narrator-1", "messages": words(f"Where is the {COMMON}?"), "prompt": COMMON, "input": COMMON,
            "content": COMMON, "max_tokens": 50}  # fmt: skip
    for path, methods in Doors.load().paths.items():
        for method in methods:
            given: dict[str, Any] = {} if method == "GET" else {"json": body}
            found = await two.other.client.send(method, path, **given)
            assert not secrets_in(found), path
    for request in two.upstream.requests[4:]:
        assert not [word for word in SECRET if word in json.dumps(request.body)], request.path


async def test_strangers_and_those_who_chat_only_look_into_nothing(two: Two) -> None:
    closed = [endpoint for endpoint in ENDPOINTS if endpoint.reach != "open"]
    # Without a key all of them; with a wrong one a few: beyond fifty refusals an address waits for each.
    for key, asked in ((None, ENDPOINTS), ("saga_" + "A" * 43, closed[::20]), (two.one.owner, closed[5::20])):
        nobody = Client(two.admin.server, two.admin.http, key)
        for endpoint in asked:
            found = await ask(nobody, endpoint, two.one.session, two.one)
            assert not secrets_in(found), endpoint.request
            assert found.status == (401 if endpoint.reach != "open" else found.status), endpoint.request
    made = (await two.admin.post("/api/keys", json={"name": "third", "role": "chat"})).json
    chatter = Client(two.admin.server, two.admin.http, made["secret"])
    assert (await chatter.chat(words("I wait."))).status == 200
    for endpoint in ENDPOINTS:
        if endpoint.reach != "open":
            assert (await ask(chatter, endpoint, two.one.session, two.one)).status == 403, endpoint.request
