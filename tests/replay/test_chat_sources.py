"""SillyTavern's Chat Completion through the real server, in the shapes of its sources, RisuAI's and Ollama's chats.

The requests are written here in the shapes that were recorded; the recordings themselves are replayed in
``tests/wire``. ``custom`` is any server that speaks OpenAI's API.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import pytest
from attrs import define, field, frozen

from tests.fake_providers.server import ProtocolServer
from tests.fake_providers.steps import hangs, says
from tests.replay.risuai import RisuAI
from tests.replay.sillytavern import Line, Messages, SillyTavern
from tests.server.client import BLOCK, Client, Reply
from tests.wire.dialects import DIALECTS, provider_server, settings_for
from tests.wire.door_clients import DOORS, Door


def as_they_are(messages: Messages) -> dict[str, Any]:
    return {"messages": messages}


def risuai(messages: Messages) -> dict[str, Any]:
    """To a reverse proxy, with the settings that it always sends."""
    sampling = {"temperature": 0.8, "max_tokens": 500, "presence_penalty": 0.7, "frequency_penalty": 0.7}
    return {"messages": messages, **sampling, "logit_bias": {}}


def claude(messages: Messages) -> dict[str, Any]:
    """The card in the first message of the user; who speaks twice in a row has blocks in one message."""
    found: list[dict[str, Any]] = []
    for message in messages:
        role, block = _spoken(message), {"type": "text", "text": message["content"]}
        if found and found[-1]["role"] == role:
            found[-1]["content"].append(block)
        else:
            found.append({"role": role, "content": [block]})
    return {"messages": found, "max_tokens": 900, "stop_sequences": [], "temperature": 1}


def gemini(messages: Messages) -> dict[str, Any]:
    """The same with one text for each."""
    found: list[dict[str, Any]] = []
    for message in messages:
        role = {"assistant": "model"}.get(_spoken(message), "user")
        if found and found[-1]["role"] == role:
            found[-1]["parts"][0]["text"] += f"\n\n{message['content']}"
        else:
            found.append({"role": role, "parts": [{"text": message["content"]}]})
    config = {"candidateCount": 1, "maxOutputTokens": 900, "thinkingConfig": {"includeThoughts": True}}
    return {"contents": found, "generationConfig": config, "safetySettings": []}


def _spoken(message: dict[str, Any]) -> str:
    return "assistant" if message["role"] == "assistant" else "user"


silly_tavern = partial(SillyTavern, mode="none")


@frozen
class Source:
    """A source of the client, the door that it comes to, and a provider of the same wire."""

    door: Door
    provider: str
    shaped: Callable[[Messages], dict[str, Any]]
    chat: Callable[..., SillyTavern | RisuAI] = silly_tavern


SOURCES = {
    "custom": Source(DOORS["chat"], "local", as_they_are),
    "claude": Source(DOORS["messages"], "anthropic", claude),
    "makersuite": Source(DOORS["gemini"], "google", gemini),
    "ollama chat": Source(DOORS["ollama"], "local", as_they_are),
    "responses": Source(DOORS["responses"], "openai", lambda messages: {"input": messages}),
    "risuai": Source(DOORS["chat"], "openrouter", risuai, RisuAI),
    "risuai, no system role": Source(DOORS["chat"], "local", risuai, partial(RisuAI, marked=True)),
}
OPERATIONS = ("turn", "swipe", "continue", "edit", "group", "stop", "quiet", "impersonate")
"""What is played with each source; docs/http.md has a table of it."""


@define
class Stage:
    """SAGA between a source of the client and a provider."""

    source: Source
    model: str
    saga: Client
    upstream: ProtocolServer
    chat: SillyTavern | RisuAI = field(init=False)
    played: set[str] = field(factory=set, init=False)
    """The operations that were played."""

    def __attrs_post_init__(self) -> None:
        self.chat = self.source.chat(
            char="Ysolde",
            user="Alex",
            system="Write Ysolde's next reply in a fictional chat between Ysolde and Alex.\nShe keeps the salt gate.",
            lines=[Line("Ysolde", '*The gate lamp hisses.* "State your name, Alex."')],
        )

    def request(self, messages: Messages, stream: bool) -> tuple[str, dict[str, Any]]:
        door = self.source.door
        path = ((door.stream_path if stream else "") or door.path).format(self.model)
        body = self.source.shaped(messages)
        named = {} if "contents" in body else {"model": self.model, "stream": stream}
        return path, {**body, **named}

    async def ask(self, messages: Messages, reply: str, op: str = "turn", *, stream: bool = False) -> Reply:
        """One request, to which the model says ``reply`` and a state block; the client must not see the block."""
        self.played.add(op)
        self.upstream.then(says(reply[:7], reply[7:], "\n\n", BLOCK))
        path, body = self.request(messages, stream)
        answer = await self.saga.post(path, json=body)
        assert answer.status == 200, answer.raw
        assert self.source.door.text(answer).strip() == reply.strip()
        assert self.upstream.refusals == []
        return answer

    async def stop(self, messages: Messages, begun: str) -> None:
        """Stop a stream when ``begun`` was sent."""
        self.played.add("stop")
        self.upstream.then(hangs(begun))
        path, body = self.request(messages, True)
        async with self.saga.request("POST", path, json=body) as response:
            while begun.rstrip().encode() not in await response.content.readany():
                continue
        async with asyncio.timeout(5):
            await self.upstream.gone.wait()


@asynccontextmanager
async def staged(name: str) -> AsyncIterator[Stage]:
    source = SOURCES[name]
    dialect, model = DIALECTS[source.provider]
    async with (
        provider_server(dialect) as upstream,
        Client.of({"providers": {"up": settings_for(dialect, upstream)}}, {}) as saga,
    ):
        yield Stage(source, model, saga, upstream)


@pytest.mark.parametrize("name", list(SOURCES))
async def test_a_source_plays(name: str) -> None:
    """Turn, turn, swipe, continue, edit, impersonate, quiet, stream, stop, turn after the stop."""
    async with staged(name) as stage:
        chat, saga = stage.chat, stage.saga

        def says_alex(words: str) -> None:
            chat.lines.append(Line("Alex", words, player=True))

        def says_ysolde(words: str) -> None:
            chat.lines.append(Line("Ysolde", words))

        says_alex("I am Alex. I came by the river road.")
        turn = await stage.ask(chat.turn(), "Ysolde lifts the lamp and looks at you for a long while.")
        says_ysolde("Ysolde lifts the lamp and looks at you for a long while.")
        says_alex("I show you the brass key.")
        second = await stage.ask(chat.turn(), "She takes the key and turns it over in her hand, twice.", stream=True)
        assert second.headers["X-SAGA-Parent"] == turn.turn
        swipe = await stage.ask(chat.turn(), "The key gleams once, and the gate behind her answers it.", "swipe")
        assert swipe.headers["X-SAGA-Parent"] == turn.turn
        says_ysolde("The key gleams once, and the gate behind her answers it.")
        rest = "Then it is still, and only the rain goes on."
        went_on = await stage.ask(chat.go_on(), rest, "continue", stream=True)
        assert went_on.headers["X-SAGA-Parent"] == swipe.turn, "the rest of that reply"
        grown = f"{chat.lines[-1].text} {rest}"
        assert (await saga.turns(turn.session))[-1]["reply"] == grown
        chat.lines[-1].text = grown
        chat.lines[2].text = 'The warden bows. "Welcome, Alex."'
        says_alex("I bow back.")
        edited = await stage.ask(chat.turn(), "She smiles for the first time tonight, and steps aside.", "edit")
        assert edited.session == turn.session
        says_ysolde("She smiles for the first time tonight, and steps aside.")
        await stage.ask(chat.impersonate(), "I walk through the gate without a word.", "impersonate")
        assert "[SAGA: what is true now]" not in stage.upstream.requests[-1].text, "a side request is sent as it came"
        quiet = chat.quiet("Describe the room in five words.")
        await stage.ask(quiet, "Rain, lamp, gate, salt, dark.", "quiet", stream=True)
        says_alex("I knock twice.")
        streamed = await stage.ask(chat.turn(), "Somebody inside knocks back, three times and slowly.", stream=True)
        assert streamed.headers["X-SAGA-Parent"] == edited.turn, "neither of them moved the story"
        says_ysolde("Somebody inside knocks back, three times and slowly.")
        says_alex("Tell me everything about the archive.")
        begun = "The archive was built by the first wardens of the gate, "
        await stage.stop(chat.turn(), begun)
        says_ysolde(begun.rstrip())
        says_alex("Go on, shorter.")
        last = await stage.ask(chat.turn(), "It burned, and nobody built it again after that night.", stream=True)
        path = await saga.turns(turn.session)
        words = [each["user"].split("\nsystem: ")[0] for each in path]  # a note that is merged with them stays there
        assert words == [line.text for line in chat.lines if line.player]
        assert path[-1]["turn_id"] == last.turn
        assert path[-2]["reply"].rstrip() == begun.rstrip()
        state = (await saga.get(f"/api/sessions/{turn.session}/state")).json
        assert state["location"] == "어둠의 숲", "the blocks were read"
        assert stage.played == set(OPERATIONS) - {"group"}


@pytest.mark.parametrize("name", list(SOURCES))
async def test_a_group_plays(name: str) -> None:
    """Names in front of replies, and a nudge that says who is next."""
    async with staged(name) as stage:
        chat = stage.chat
        chat.group = True
        chat.lines.append(Line("Alex", "Two of us, and it is cold.", player=True))
        first = await stage.ask(chat.turn("Ysolde"), "She counts you twice before she answers at all.", "group")
        chat.lines.append(Line("Ysolde", "She counts you twice before she answers at all."))
        second = await stage.ask(
            chat.turn("Bram"), "Bram laughs, and holds the lamp a little higher.", "group", stream=True
        )
        assert second.headers["X-SAGA-Parent"] == first.turn
        chat.lines.append(Line("Bram", "Bram laughs, and holds the lamp a little higher."))
        chat.lines.append(Line("Alex", "We would like to come in.", player=True))
        third = await stage.ask(chat.turn("Ysolde"), "The bar is lifted, and the gate swings open at last.", "group")
        assert third.headers["X-SAGA-Parent"] == second.turn
        path = await stage.saga.turns(first.session)
        assert [each["turn_id"] for each in path] == [first.turn, second.turn, third.turn]
        assert stage.played == {"group"}
