"""A model that says nothing: the player sees an empty reply, is told so, and swipes. Nothing of it is recorded."""

from __future__ import annotations

import pytest

from saga_core.state_block import filter as block_filter
from tests.server.client import BLOCK, Client, words
from tests.server.upstream import Upstream, says

TOLD = "the model said nothing"
SAID = "The rain stops over the hills, and the road is long."


@pytest.mark.parametrize("reply", ["", "  \n"], ids=["nothing", "blanks"])
@pytest.mark.parametrize("streaming", [False, True])
async def test_it_is_told_and_a_swipe_asks_anew(
    client: Client, upstream: Upstream, reply: str, streaming: bool
) -> None:
    upstream.then(says(SAID), says(reply), says("We reach the mill at dusk."))
    first = await client.chat(words("I go."))
    assert "X-SAGA-Notice" not in first.headers
    asked = words("I go.", SAID, "And on.")
    empty = await client.chat(asked, stream=streaming)
    assert empty.status == 200
    assert (empty.streamed() if streaming else empty.text).strip() == ""
    assert TOLD in (empty.raw.decode() if streaming else empty.headers["X-SAGA-Notice"])
    swiped = await client.chat(asked)
    assert (swiped.text, swiped.session) == ("We reach the mill at dusk.", first.session)
    assert swiped.headers["X-SAGA-Parent"] == first.turn
    tree = (await client.get(f"/api/sessions/{first.session}/tree")).json
    assert [node["id"] for node in tree["nodes"] if node["parent"]] == [first.turn, swiped.turn]


async def test_a_call_of_a_tool_says_something(client: Client, upstream: Upstream) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "roll", "arguments": "{}"}}
    upstream.then(says("", extra={"tool_calls": [call]}, finish="tool_calls"))
    reply = await client.chat(words("I roll."))
    assert reply.json["choices"][0]["message"]["tool_calls"]
    assert "X-SAGA-Notice" not in reply.headers


@pytest.mark.parametrize("streaming", [False, True])
async def test_tokens_of_a_template_are_no_story(client: Client, upstream: Upstream, streaming: bool) -> None:
    upstream.then(says("<|im_start|>" * 20))
    told = await client.chat(words("I go."), stream=streaming)
    notice = told.raw.decode() if streaming else told.headers["X-SAGA-Notice"]
    assert "no story, but thoughts or tokens of its template, and this turn is not recorded" in notice


@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize("reply", ["<state>hp: 3</state>\n", "```state\nhp: 3\n```\n", "<|im_start|>"])
async def test_what_was_searched_while_it_came_is_not_searched_again(
    client: Client, upstream: Upstream, streaming: bool, reply: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    searched: list[int] = []

    def watched(text: str, unfenced: bool) -> block_filter.Hidden:
        searched.append(len(text))
        return hide(text, unfenced)

    hide = block_filter._hide
    monkeypatch.setattr(block_filter, "_hide", watched)
    upstream.then(says(reply * 500), says(reply * 500))
    told = await client.chat(words("I go."), stream=streaming)
    notice = told.raw.decode() if streaming else told.headers["X-SAGA-Notice"]
    assert "this turn is not recorded" in notice
    assert max(searched, default=0) < len(reply) * 500


ECHO = "[SAGA: what is true now]\nPresent: Mara\n[/SAGA]\n"


@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize("reply", [BLOCK, ECHO, ECHO + BLOCK], ids=["a block", "an echo", "both"])
async def test_a_report_alone_is_asked_again_without_the_form(
    client: Client, upstream: Upstream, reply: str, streaming: bool
) -> None:
    upstream.then(says(reply), says(SAID))
    told = await client.chat(words("I go."), stream=streaming)
    assert (told.streamed() if streaming else told.text).strip() == SAID
    first, again = upstream.requests
    assert "```state" in first.text
    assert "```state" not in again.text
    assert again.messages[-1] == first.messages[-1], "all but the rules stays"
    if not streaming:
        assert "asked again for the story" in told.headers["X-SAGA-Notice"]
    turn = (await client.get(f"/api/sessions/{told.session}/turns/{told.turn}")).json
    assert turn["reply"] == SAID
    assert (turn["status"] == "ok") is (BLOCK in reply), "the report counts where the story has none of its own"
    assert await client.metric("saga_narrations_asked_again_total") == 1


async def test_it_is_asked_again_once(client: Client, upstream: Upstream) -> None:
    upstream.then(says(BLOCK), says(BLOCK), says(SAID))
    told = await client.chat(words("I go."))
    assert told.text == ""
    assert "all that the model wrote was a report" in told.headers["X-SAGA-Notice"]
    assert "not recorded" in told.headers["X-SAGA-Notice"]
    assert len(upstream.requests) == 2
