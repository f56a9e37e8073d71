"""Who is asked about replies without a block when ``models.extraction`` names nobody."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from aiohttp import web

from saga_backends.http_client import is_local
from saga_core.config import load_config
from saga_core.errors import UpstreamError
from saga_server.providers.automatic import AutomaticExtraction
from saga_server.providers.narrators import Narrators
from saga_server.providers.route import Route
from saga_server.server import Server
from tests.server.client import Client, words
from tests.server.conftest import Serve
from tests.server.upstream import Received, Upstream, fails, says

FIRST = ("나는 싸운다.", "고블린이 팔을 문다. 피가 흐른다.")
SECOND = ("나는 달아난다.", "골목은 어둡다. 아무도 없다.")
TOLD = "```state\nhp_change: -30\n```"


@pytest.mark.parametrize(
    ("address", "local"),
    [
        ("http://127.0.0.1:11434/v1", True),
        ("http://localhost:5001/v1", True),
        ("http://[::1]:8080/v1", True),
        ("http://10.0.0.7/v1", True),
        ("http://172.16.3.4/v1", True),
        ("http://172.32.3.4/v1", False),
        ("http://192.168.1.9:1234/v1", True),
        ("http://100.101.102.103/v1", True),
        ("http://169.254.1.1/v1", True),
        ("http://[fe80::1%25eth0]:80/v1", True),
        ("http://[fd12:3456::1]/v1", True),
        ("http://gpu-box.local:8080/v1", True),
        ("http://GPU-BOX.LOCAL./v1", True),
        ("http://host.docker.internal:11434/v1", True),
        ("http://ollama:11434/v1", True),
        ("https://api.openai.com/v1", False),
        ("https://local.example.com/v1", False),
        ("https://mylocal.io/v1", False),
        ("http://8.8.8.8/v1", False),
        ("", False),
    ],
)
def test_what_is_near(address: str, local: bool) -> None:
    assert is_local(address) is local


def automatic(mode: str = "local", **sections: Any) -> AutomaticExtraction | None:
    config = load_config({"extraction": {"automatic": mode}, **sections}, environ={})
    return AutomaticExtraction.of(Narrators.from_config(config, {}), config)


NEAR = {"base_url": "http://127.0.0.1:9/v1"}
FAR = {"base_url": "https://models.example.com/v1", "api_key": "sk-1"}


def test_nobody_is_asked_unless_somebody_may_be() -> None:
    assert automatic() is None, "the built-in narrator is no model"
    assert automatic("always") is None
    assert automatic(providers={"far": FAR}) is None
    assert automatic(providers={"near": NEAR}) is not None
    assert automatic("never", providers={"near": NEAR}) is None
    assert automatic("always", providers={"far": FAR}) is not None
    assert automatic(providers={"near": NEAR}, models={"extraction": "near/tiny"}) is None
    relay = {"near": {**NEAR, "dialect": "openai"}}
    assert automatic(providers=relay) is None, "who speaks for a company passes requests on to it"
    keyless = {"far": {"base_url": FAR["base_url"], "passthrough_key": True}}
    assert automatic("always", providers=keyless) is None, "no client is there whose key could be sent"


def test_the_one_near_is_asked_and_not_the_one_far_that_narrates() -> None:
    found = automatic(providers={"far": FAR, "near": NEAR}, models={"narration": "far/tale"})
    assert found is not None and found.name == "a model of the provider near"
    everybody = automatic("always", providers={"far": FAR, "near": NEAR}, models={"narration": "far/tale"})
    assert everybody is not None and everybody.name == "tale"


async def test_who_narrated_last_is_asked_under_the_same_name() -> None:
    found = automatic(providers={"near": NEAR})
    assert found is not None
    found.narrators.narrated = Route(found.narrators.providers["near"], "qwen3:14b")
    assert await found.models() == ["qwen3:14b"]


async def test_a_server_near_that_passes_requests_on_is_not_asked() -> None:
    found = automatic(providers={"near": NEAR})
    assert found is not None and found.name == "a model of the provider near"
    found.narrators.narrated = Route(found.narrators.providers["near"], "claude-opus-5")
    assert found.name == ""
    with pytest.raises(UpstreamError, match=r"models\.extraction"):
        await found.models()


async def test_the_first_model_that_talks_is_taken_where_nobody_narrated(upstream: Upstream) -> None:
    upstream.models = ["nomic-embed-text", "gpt-oss:20b", "qwen3:14b"]
    found = automatic(providers={"near": {"base_url": upstream.url, "api_key": "k", "max_retries": 0}})
    assert found is not None
    assert await found.models() == ["gpt-oss:20b"]
    assert await found.models() == ["gpt-oss:20b"]
    assert len(upstream.requests) == 1, "the list is read once"
    await found.narrators.aclose()


async def test_a_narrator_without_a_name_is_asked_under_the_one_that_its_server_lists(upstream: Upstream) -> None:
    upstream.models = ["gpt-oss:20b"]
    found = automatic(providers={"near": {"base_url": upstream.url, "api_key": "k", "max_retries": 0}})
    assert found is not None
    found.narrators.narrated = Route(found.narrators.providers["near"], "")
    assert await found.models() == ["gpt-oss:20b"], "text completion names no model"
    await found.narrators.aclose()


async def test_one_that_lists_what_is_sold_is_a_relay(upstream: Upstream) -> None:
    upstream.models = ["house-model", "claude-opus-5"]
    found = automatic(providers={"near": {"base_url": upstream.url, "api_key": "k", "max_retries": 0}})
    assert found is not None
    with pytest.raises(UpstreamError, match=r"models\.extraction"):
        await found.models()
    await found.narrators.aclose()


def near(upstream: Upstream) -> dict[str, Any]:
    return {
        "providers": {"openai": {"base_url": upstream.url, "api_key": "sk-up", "max_retries": 0}},
        "extraction": {},
    }


async def test_no_answer_tells_where_a_model_is(upstream: Upstream, serve: Serve) -> None:
    address = upstream.url.replace("//", "//gpu-user:HuNtEr2PassWord@")
    sections = {**near(upstream), "server": {"api_keys": ["admin-key-1"]}}
    sections["providers"]["openai"]["base_url"] = address
    async with serve(**sections) as admin:
        admin.key = "admin-key-1"
        secret = (await admin.post("/api/keys", json={"name": "Mina"})).json["secret"]
        player = Client(admin.server, admin.http, secret)
        session = (await player.post("/api/sessions", json={})).json["id"]
        told = [(await player.send(way, f"/api/sessions/{session}/backfill")) for way in ("GET", "POST")]
        assert [each.json["model"] for each in told] == ["a model of the provider openai"] * 2
        status = await admin.get("/api/status")
        assert status.json["extraction"]["reader"] == "a model of the provider openai"
        for each in (*told, status):
            assert b"HuNtEr2" not in each.raw and b"gpu-user" not in each.raw


async def read(client: Client, count: int) -> None:
    """Wait until so many replies were read."""
    async with asyncio.timeout(10):
        while client.server.saga.background.extraction.done < count:  # noqa: ASYNC110 - nobody tells when it is
            await asyncio.sleep(0.01)


async def test_a_local_narrator_that_writes_no_block_reports_in_the_background(
    upstream: Upstream, serve: Serve
) -> None:
    async with serve(**near(upstream)) as client:
        upstream.then(says(f"{FIRST[1]} HP -30."), says(TOLD))
        first = await client.chat(words(FIRST[0]))
        await read(client, 1)
        assert [request.body["model"] for request in upstream.requests] == ["narrator-1"] * 2
        form = upstream.requests[1].body["response_format"]
        assert form["type"] == "json_schema" and "hp" in form["json_schema"]["schema"]["properties"]
        state = (await client.get(f"/api/sessions/{first.session}/state")).json
        assert state["hp"] == 70, "before the player says another word"
        upstream.then(says(SECOND[1] + "\n\n" + TOLD))
        await client.chat(words(*FIRST, SECOND[0]))
        assert (await client.post("/api/drain")).json["settled"]
        assert len(upstream.requests) == 3, "a reply with a block is not asked about"
        status = (await client.get("/api/status")).json
        assert (status["extraction"]["reader"], status["extraction"]["calls"]) == ("narrator-1", 1)
        cost = (await client.get(f"/api/sessions/{first.session}/cost")).json
        assert cost["extraction"]["calls"] == 1


async def test_a_server_that_refuses_the_schema_is_asked_without_it_and_that_is_remembered(
    upstream: Upstream, serve: Serve
) -> None:
    async def refusing(request: web.Request, received: Received) -> web.StreamResponse:
        if "response_format" in received.body:
            return await fails(400, "response_format is not supported", "invalid_request_error")(request, received)
        asks = "money_left" in received.text and not received.body.get("stream") and "max_tokens" in received.body
        return await says(TOLD if asks else "비가 온다. 땅이 젖는다.")(request, received)

    upstream.otherwise = refusing
    async with serve(**near(upstream)) as client:
        await client.chat(words(FIRST[0]))
        await read(client, 1)
        refused = [request for request in upstream.requests if "response_format" in request.body]
        assert 1 <= len(refused) <= 2
        await client.chat(words(FIRST[0], "비가 온다. 땅이 젖는다.", SECOND[0]))
        await read(client, 2)
        again = [request for request in upstream.requests if "response_format" in request.body]
        assert len(again) == len(refused), "a schema is not sent again"


async def test_a_narration_comes_before_what_is_being_read(upstream: Upstream, serve: Serve) -> None:
    async with serve(**near(upstream)) as client:
        gate, arrived = asyncio.Event(), asyncio.Event()

        async def slow(request: web.Request, received: Received) -> web.StreamResponse:
            arrived.set()
            return await says(TOLD, gate=gate)(request, received)

        upstream.then(says(FIRST[1]), slow, says(SECOND[1] + "\n\n" + TOLD), says(TOLD))
        await client.chat(words(FIRST[0]))
        await arrived.wait()
        await client.chat(words(*FIRST, SECOND[0]))
        assert upstream.gone.is_set(), "the call that was under way ended for the narration"
        gate.set()
        await read(client, 1)
        assert len(upstream.requests) == 4, "and was made again after it"


async def test_by_setting_nobody_is_asked(upstream: Upstream, serve: Serve) -> None:
    async with serve(**{**near(upstream), "extraction": {"automatic": "never"}}) as client:
        for turn in range(4):
            said = [text for at in range(turn) for text in (f"{at}번 길로 간다.", f"{at}번째 길이 강가로 이어진다.")]
            upstream.then(says(f"{turn}번째 길이 강가로 이어진다."))
            reply = await client.chat(words(*said, f"{turn}번 길로 간다."))
        assert (await client.post("/api/drain")).json["settled"]
        assert len(upstream.requests) == 4
        assert reply.headers["X-SAGA-Silent"] == "3"
        assert "models.extraction" in reply.headers["X-SAGA-Notice"]
        status = (await client.get("/api/status")).json
        assert status["silent"][0]["replies"] == 4 and "report" in status["degraded"]
        assert status["extraction"]["reader"] is None


async def test_settings_that_are_read_again_bring_a_reader_with_the_next_start(serve: Serve) -> None:
    configs = [
        {"providers": {"far": FAR}, "storage": {"profile": "memory"}, "server": {"port": 0}},
        {"providers": {"far": FAR, "near": NEAR}, "storage": {"profile": "memory"}, "server": {"port": 0}},
    ]
    loaded = [load_config(tree, environ={}) for tree in configs]
    async with Server(loaded[0], {}, read_again=lambda: loaded[1]) as server:
        found = await server.reload()
        assert "extraction.automatic" in found.restart


@pytest.mark.parametrize("patient", [True, False])
async def test_a_player_who_never_pauses_waits_for_the_reading_after_the_second_that_gave_way(
    upstream: Upstream, serve: Serve, patient: bool
) -> None:
    """Calls that are broken off are no failures of the turn, and no degraded mode."""
    async with serve(**near(upstream)) as client:
        said: list[str] = []
        for number in range(3):
            arrived, gate = asyncio.Event(), asyncio.Event()

            async def slow(
                request: web.Request,
                received: Received,
                arrived: asyncio.Event = arrived,
                gate: asyncio.Event = gate,
            ) -> Any:
                arrived.set()
                return await says(TOLD, gate=gate)(request, received)

            said.append(f"{number}번 길로 간다.")
            upstream.then(says(f"{number}번째 길이 강가로 이어진다. HP -30."), slow)
            said.append((await client.chat(words(*said))).text)
            await arrived.wait()
            upstream.script.clear()
        upstream.otherwise = says(TOLD)
        asked = len(upstream.requests)
        waiting = (await client.get("/api/status")).json["work"]["waiting"]
        assert {each["reason"] for each in waiting} == {"narrations stopped 2 readings"}
        # A narration that reports itself. It waits until the third reply is read.
        upstream.then(says("문이 열린다. 안은 어둡다.\n\n" + TOLD))
        last = asyncio.create_task(client.chat(words(*said, "들어간다.")))
        await asyncio.sleep(0.2)
        assert len(upstream.requests) == asked and not last.done()
        if not patient:  # the player stops the message and sends it again
            last.cancel()
            await asyncio.gather(last, return_exceptions=True)
            async with asyncio.timeout(10):
                await client.chat(words(*said, "들어간다."))
            assert "70/100" not in upstream.requests[asked].text
            return
        gate.set()
        await last
        assert "70/100" in upstream.requests[asked].text
        await read(client, 3)
        status = (await client.get("/api/status")).json
        assert status["work"]["failed"] == [] and "extraction" not in status["degraded"]
        assert status["counters"]["extraction.gave_way"] in (2, 3), "perhaps an older one, after the wait"
