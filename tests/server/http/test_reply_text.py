"""What the player sees of a reply: no report, no more than the limit, nothing behind a stop; streamed and whole."""

from __future__ import annotations

import pytest

from tests.server.client import Client, words
from tests.server.upstream import Upstream, says

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
