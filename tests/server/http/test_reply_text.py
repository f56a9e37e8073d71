"""What the player sees of a reply: no report, no more than the limit, nothing behind a stop; streamed and whole."""

from __future__ import annotations

from typing import Any

import pytest

from tests.server.client import Client, Reply, words
from tests.server.conftest import Serve
from tests.server.upstream import USAGE, Upstream, says

HELLO = words("나는 문을 연다.")
LOOSE = [
    "<state>\nlocation: 숲\nhp_change: -5\n</state>",
    "[state]\nlocation: 숲\nhp_change: -5",
    "**상태**\n- location: 숲\n- hp_change: -5",
    '```json\n{"state": {"location": "숲", "hp_change": -5}}\n```',
    "state:\n  location: 숲\n  hp_change: -5",
]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("report", LOOSE)
async def test_a_report_in_any_shape_is_read_and_never_seen(
    client: Client, upstream: Upstream, report: str, stream: bool
) -> None:
    text = f"문이 열린다.\n\n{report}"
    upstream.then(says(*text))
    reply = await client.chat(HELLO, stream=stream)
    assert (reply.streamed() if stream else reply.text) == "문이 열린다."
    (turn,) = await client.turns(reply.session)
    assert turn["reply"] == "문이 열린다."
    state = (await client.get(f"/api/sessions/{reply.session}/state")).json
    assert (state["location"], state["hp"]) == ("숲", 95)


LONG = " ".join(f"word{at}" for at in range(150))
STORY_BLOCK = "```state\nlocation: 숲\nhp_change: -5\n```"


@pytest.mark.parametrize("usage", [USAGE, None])
@pytest.mark.parametrize("stream", [False, True])
async def test_the_visible_text_keeps_to_the_clients_limit(
    client: Client, upstream: Upstream, stream: bool, usage: dict[str, Any] | None
) -> None:
    pieces = [LONG[at : at + 5] for at in range(0, len(LONG), 5)]
    upstream.then(says(*pieces, "\n\n", STORY_BLOCK, usage=usage))
    reply = await client.chat(HELLO, stream=stream, max_tokens=12)
    assert upstream.requests[0].body["max_tokens"] == 212, "the room is the block's"
    shown = reply.streamed() if stream else reply.text
    assert LONG.startswith(shown) and 3 <= len(shown.split()) <= 12
    assert _finish(reply, stream=stream) == "length"
    if not stream:
        assert "ends at 12 tokens, counted by " in reply.headers["X-SAGA-Notice"]
    (turn,) = await client.turns(reply.session)
    assert turn["reply"] == shown
    state = (await client.get(f"/api/sessions/{reply.session}/state")).json
    assert state["location"] == "숲", "the block behind the limit is read"
    assert (await client.get("/api/status")).json["counters"]["reply.ended.length"] == 1


@pytest.mark.parametrize("stream", [False, True])
async def test_a_reply_within_the_limit_ends_as_the_model_says(
    client: Client, upstream: Upstream, stream: bool
) -> None:
    upstream.then(says("The door opens.\n\n", STORY_BLOCK))
    reply = await client.chat(HELLO, stream=stream, max_tokens=60)
    assert (reply.streamed() if stream else reply.text) == "The door opens."
    assert _finish(reply, stream=stream) == "stop"
    assert "X-SAGA-Notice" not in reply.headers


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("stop", "sent", "shown"),
    [
        ("\n", None, "The door opens."),
        (["\n\n"], None, "The door opens.\nIt creaks."),
        (["```", "\nYou:"], ["\nYou:"], "The door opens.\nIt creaks.\n\nA ``mark``: "),
        (["\nYou:"], ["\nYou:"], "The door opens.\nIt creaks.\n\nA ``mark``: ```x``` and on."),
    ],
)
async def test_stops_that_cut_every_block_off_are_served_on_the_visible_text(
    client: Client, upstream: Upstream, stop: Any, sent: Any, shown: str, stream: bool
) -> None:
    upstream.then(says(*f"The door opens.\nIt creaks.\n\nA ``mark``: ```x``` and on.\n\n{STORY_BLOCK}"))
    reply = await client.chat(HELLO, stream=stream, stop=stop)
    assert upstream.requests[0].body.get("stop") == sent
    assert (reply.streamed() if stream else reply.text) == shown
    assert _finish(reply, stream=stream) == "stop"
    assert ("would cut every state block off" in reply.headers.get("X-SAGA-Notice", "")) is (sent != stop)
    state = (await client.get(f"/api/sessions/{reply.session}/state")).json
    assert state["location"] == "숲"


async def test_where_no_block_is_asked_for_every_stop_is_the_models(client: Client, upstream: Upstream) -> None:
    await client.chat(HELLO, stop=["\n"], response_format={"type": "json_object"}, max_tokens=12)
    assert (upstream.requests[0].body["stop"], upstream.requests[0].body["max_tokens"]) == (["\n"], 12)


def _finish(reply: Reply, *, stream: bool) -> str:
    if not stream:
        return str(reply.json["choices"][0]["finish_reason"])
    return str(reply.events[-2]["choices"][0]["finish_reason"])


CUT = "```state\nlocation: 숲\nhp_change: -5\nitems_gained:\n- 밧줄\n- 은빛 단"
REST = "```state\nlocation: 광장\nhp_change: -5\nitems_gained: [밧줄, 은빛 단검]\nnpc_met: [미라]\n```"


@pytest.mark.parametrize("stream", [False, True])
async def test_the_rest_of_a_cut_block_is_asked_for(upstream: Upstream, serve: Serve, stream: bool) -> None:
    async with Upstream() as small:
        providers = {
            "openai": {"base_url": upstream.url, "api_key": "sk-up", "max_retries": 0},
            "cheap": {"base_url": small.url, "api_key": "sk-small", "max_retries": 0},
        }
        async with serve(providers=providers, models={"extraction": "cheap/reader-1"}) as client:
            upstream.then(says(*f"문이 열린다.\n\n{CUT}", finish="length"))
            small.then(says(REST))
            reply = await client.chat(HELLO, stream=stream, max_tokens=100)
            assert (reply.streamed() if stream else reply.text) == "문이 열린다."
            (turn,) = await client.turns(reply.session)
            assert len(small.requests) == 1
            state = (await client.get(f"/api/sessions/{reply.session}/state")).json
            assert (state["location"], state["hp"]) == ("숲", 95)
            things = {each["name"]: each["quantity"] for each in state["inventory"]}
            assert (things["밧줄"], things["은빛 단검"]) == (1, 1)
            assert state["npcs_met"] == ["미라"]
            assert turn["turn_id"] == reply.turn


async def test_without_an_extraction_model_the_loss_of_the_rest_is_seen(client: Client, upstream: Upstream) -> None:
    upstream.then(says(f"문이 열린다.\n\n{CUT}", finish="length"))
    reply = await client.chat(HELLO)
    await client.turns(reply.session)
    state = (await client.get(f"/api/sessions/{reply.session}/state")).json
    names = [each["name"] for each in state["inventory"]]
    assert (state["location"], "밧줄" in names, any("은빛" in name for name in names)) == ("숲", True, False)
    status = (await client.get("/api/status")).json
    assert "no extraction model" in status["degraded"]["block.cut"]
    assert await client.metric('saga_blocks_total{status="cut"}') == 1
