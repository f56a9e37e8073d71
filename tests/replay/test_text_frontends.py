"""Frontends of every kind play through the real server: the state is that of the chat, whatever form it comes in."""

from __future__ import annotations

from typing import Any

from saga_core.state_block import BlockFields
from tests.blocks import render_block
from tests.core.text_prompt.frontends import FRONTENDS, MODEL, USER, Frontend, kept_whole
from tests.core.text_prompt.templates import Line
from tests.fake_providers.steps import says
from tests.server.client import Client, Reply
from tests.wire.text_server import TextServer


def body_of(frontend: Frontend, prompt: str) -> dict[str, Any]:
    kobold = frontend.path.startswith("/api/")
    limit, stops = ("max_length", "stop_sequence") if kobold else ("max_tokens", "stop")
    return {
        "prompt": prompt,
        limit: 350,
        **({stops: list(frontend.stops)} if frontend.stops else {}),
        **frontend.fields,
    }


async def asked(saga: Client, upstream: TextServer, frontend: Frontend, prompt: str, reply: str, place: str) -> Reply:
    """One turn: what the client gets is the reply, and what the server gets is the prompt and what SAGA adds."""
    upstream.then(says(f"{reply}\n\n{render_block(BlockFields(location=place))}"))
    answer = await saga.post(frontend.path, json=body_of(frontend, prompt))
    assert answer.status == 200, (frontend.name, answer.raw)
    told = answer.json["results"][0]["text"] if "results" in answer.json else answer.json["choices"][0]["text"]
    assert told.rstrip() == reply, frontend.name
    assert "X-SAGA-Notice" not in answer.headers, frontend.name
    assert kept_whole(prompt, upstream.requests[-1].body["prompt"]), frontend.name
    return answer


async def test_every_frontend_plays() -> None:
    """Turn, turn, swipe, turn; each with a key of its own, so that none knows the others' chats."""
    async with TextServer(kind="koboldcpp", lenient=True) as upstream:
        settings = {"local": {"base_url": upstream.url, "max_retries": 0}}
        async with Client.of({"providers": settings}, {}) as saga:
            for number, frontend in enumerate(FRONTENDS):
                saga.key = f"player-{number}"
                await _plays(saga, upstream, frontend)


async def _plays(saga: Client, upstream: TextServer, frontend: Frontend) -> None:
    talk, written = frontend.talk, frontend.written
    lines: list[Line] = [(MODEL, talk.greeting), (USER, talk.words[0])]
    first = await asked(saga, upstream, frontend, written(lines, MODEL), talk.replies[0], "Gate")
    lines += [(MODEL, talk.replies[0]), (USER, talk.words[1])]
    left = await asked(saga, upstream, frontend, written(lines, MODEL), "The rain grows louder than words.", "Road")
    swipe = await asked(saga, upstream, frontend, written(lines, MODEL), talk.replies[1], "Yard")
    assert left.headers["X-SAGA-Parent"] == swipe.headers["X-SAGA-Parent"] == first.turn, frontend.name
    lines += [(MODEL, talk.replies[1]), (USER, talk.words[2])]
    last = await asked(saga, upstream, frontend, written(lines, MODEL), talk.replies[2], "Hall")
    assert last.headers["X-SAGA-Parent"] == swipe.turn, frontend.name
    path = await saga.turns(first.session)
    assert [turn["reply"].strip() for turn in path] == list(talk.replies), frontend.name
    for turn, words in zip(path, talk.words, strict=True):
        assert turn["user"].endswith(words), frontend.name
    state = (await saga.get(f"/api/sessions/{first.session}/state")).json
    assert state["location"] == "Hall", frontend.name
