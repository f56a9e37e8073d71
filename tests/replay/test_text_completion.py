"""SillyTavern's Text Completion through the real server, in front of servers that complete text.

The prompts are written here in the shapes that were recorded; the recordings themselves are replayed where they lie
beside the checkout.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from attrs import define, field, frozen

from saga_core.text_prompt import read_prompt
from tests.core.text_prompt.templates import TEMPLATES, Line, named
from tests.fake_providers.steps import hangs, says
from tests.server.client import BLOCK, Client, Reply
from tests.wire.text_server import Kind, TextServer

RECORDINGS = Path(__file__).resolve().parents[3] / "shared" / "fixtures" / "textcompletion"
LIMITS = {"max_tokens", "max_new_tokens", "n_predict", "num_predict", "max_length"}


@frozen
class Source:
    """One of the client's sources: where it completes text, and what stands behind SAGA."""

    name: str
    server: Kind
    path: str
    streamed: str = ""
    """Where it streams, if that is another path."""
    lenient: bool = True

    def body(self, prompt: str, stops: list[str], stream: bool) -> dict[str, Any]:
        if self.server == "ollama":
            options = {"num_predict": 350, "num_ctx": 16_384, "stop": stops, "temperature": 1, "min_p": 0.01}
            own = {"model": "mock:7b", "keep_alive": -1, "raw": True, "options": options}
            return {"prompt": prompt, "stream": stream, **own}
        if self.path.startswith("/api/"):
            return {"prompt": prompt, "max_length": 350, "rep_pen": 1.1, "stop_sequence": stops}
        settings: dict[str, Any] = {"prompt": prompt, "max_tokens": 350, "temperature": 1, "stop": stops[:4]}
        if self.lenient:
            settings |= {"n_predict": 350, "max_new_tokens": 350, "min_p": 0.01, "rep_pen": 1.1, "stop": stops}
        return {**settings, "stream": True} if stream else settings


SOURCES = {
    source.name: source
    for source in (
        Source("generic", "generic", "/v1/completions", lenient=False),
        Source("ooba", "generic", "/v1/completions"),
        Source("koboldcpp", "koboldcpp", "/v1/completions"),
        Source("kobold_classic", "koboldcpp", "/api/v1/generate", "/api/extra/generate/stream"),
        Source("llamacpp", "llamacpp", "/completion"),
        Source("ollama", "ollama", "/api/generate"),
    )
}
OPERATIONS = ("turn", "swipe", "continue", "edit", "group", "stop", "quiet", "impersonate")
"""What is played with each source; docs/http.md has a table of it."""
STORY = "Write Ysolde's next reply.\nYsolde keeps the salt gate of Harrowmere. Night. Rain."
EXAMPLES: list[Line] = [("user", "Alex: Is the road open?"), ("assistant", '"Open is a large word," she says.')]
GREETING: Line = ("assistant", '*The gate lamp hisses.* "State your name, Alex."')


def told(raw: bytes) -> str:
    """The text of an answer, streamed or not, as the client reads it."""
    if not raw.lstrip().startswith((b"data:", b"event:", b":")):
        return "".join(_text(json.loads(line)) for line in raw.splitlines())
    found = ""
    for line in raw.decode().split("\n"):
        if line.startswith("data: ") and line != "data: [DONE]":
            found += _text(json.loads(line.removeprefix("data: ")))
    return found


def _text(value: dict[str, Any]) -> str:
    if "results" in value:
        return str(value["results"][0]["text"])
    if "choices" in value:
        return "".join(choice["text"] for choice in value["choices"] if choice["index"] == 0)
    return str(next(value[name] for name in ("token", "content", "response") if name in value))


@define
class Chat:
    """The client's chat and its prompts."""

    template: str
    lines: list[Line] = field(factory=lambda: [GREETING])

    def prompt(self, opened: str = "assistant", quiet: str = "") -> str:
        lines: list[Line] = [*EXAMPLES, *self.lines]
        if quiet:
            lines.append(("system", quiet))
        text = TEMPLATES[self.template](STORY, lines, opened)
        return text if opened else text[: text.rindex(lines[-1][1]) + len(lines[-1][1])]


@define
class Stage:
    """SAGA between a source of the client and a server."""

    source: Source
    saga: Client
    upstream: TextServer
    chat: Chat
    played: set[str] = field(factory=set)
    """The operations that were played."""

    async def ask(
        self, prompt: str, reply: str, op: str = "turn", *, names: tuple[str, ...] = ("Alex",), stream: bool = False
    ) -> Reply:
        """One request, to which the server says ``reply`` and a state block; the client must not see the block."""
        self.played.add(op)
        self.upstream.then(says(*_pieces(f"{reply}\n\n{BLOCK}")))
        stops = [*(f"\n{name}:" for name in names), *_stops(self.chat.template)]
        path = (self.source.streamed if stream else "") or self.source.path
        body = self.source.body(prompt, stops, stream)
        answer = await self.saga.post(path, json=body)
        assert answer.status == 200, answer.raw
        assert told(answer.raw).rstrip() == reply, "without the block"
        assert self.upstream.refusals == []
        sent = self.upstream.requests[-1]
        assert sent.path == path, "to the same kind of server"
        options = ({**each["options"], "num_predict": 0} for each in (body, sent.body) if "options" in each)
        assert len({json.dumps(each, sort_keys=True) for each in options}) < 2
        untouched = set(body) - LIMITS - {"prompt", "options"}
        assert set(sent.body) == set(body)
        assert {name: sent.body[name] for name in untouched} == {name: body[name] for name in untouched}
        return answer

    @property
    def sent(self) -> str:
        """The prompt that the server got last."""
        return str(self.upstream.requests[-1].body["prompt"])


def _pieces(text: str) -> list[str]:
    return [text[at : at + 7] for at in range(0, len(text), 7)]


def _stops(template: str) -> list[str]:
    marks = {
        "ChatML": ["\n<|im_end|>", "\n<|im_start|>user", "\n<|im_start|>assistant", "\n<|im_start|>system"],
        "Alpaca": ["\n### Instruction:", "\n### Response:", "\n### Input:"],
        "Llama 3": ["<|eot_id|>", "<|start_header_id|>user<|end_header_id|>"],
        "Gemma": ["<end_of_turn>", "<start_of_turn>user", "<start_of_turn>model"],
        "Mistral V7": ["</s>", "[INST] ", "[SYSTEM_PROMPT] "],
    }
    return marks[template]


@asynccontextmanager
async def staged(source: Source, template: str) -> AsyncIterator[Stage]:
    async with TextServer(kind=source.server, lenient=source.lenient) as upstream:
        settings = {"local": {"base_url": upstream.url, "max_retries": 0}}
        async with Client.of({"providers": settings}, {}) as saga:
            yield Stage(source, saga, upstream, Chat(template))


CASES = [(name, "ChatML") for name in SOURCES] + [
    ("generic", name) for name in ("Llama 3", "Mistral V7", "Alpaca", "Gemma")
]


@pytest.mark.parametrize(("name", "template"), CASES)
async def test_a_source_plays(name: str, template: str) -> None:
    """Turn, turn, swipe, continue, edit, impersonate, quiet, stream, stop, turn after the stop."""
    async with staged(SOURCES[name], template) as stage:
        chat, saga = stage.chat, stage.saga
        chat.lines.append(("user", "I am Alex. I came by the river road."))
        turn = await stage.ask(chat.prompt(), "Ysolde lifts the lamp and looks at you for a long while.")
        told_apart = read_prompt(stage.sent, ["\nAlex:"])
        assert told_apart.messages[0]["content"].startswith(f"{STORY}\n\n"), "the rules stand in the system part"
        assert "```" in told_apart.messages[0]["content"]
        assert told_apart.messages[-1]["content"].endswith("I am Alex. I came by the river road.")
        chat.lines.append(("assistant", "Ysolde lifts the lamp and looks at you for a long while."))
        chat.lines.append(("user", "I show you the brass key."))
        second = await stage.ask(chat.prompt(), "She takes the key and turns it over in her hand, twice.")
        assert second.headers["X-SAGA-Parent"] == turn.turn
        swipe = await stage.ask(chat.prompt(), "The key gleams once, and the gate behind her answers it.", "swipe")
        assert swipe.headers["X-SAGA-Parent"] == turn.turn
        chat.lines.append(("assistant", "The key gleams once, and the gate behind her answers it."))
        went_on = await stage.ask(chat.prompt(""), " Then it is still, and only the rain goes on.", "continue")
        assert went_on.headers["X-SAGA-Parent"] == swipe.turn, "the rest of that reply"
        grown = f"{chat.lines[-1][1]} Then it is still, and only the rain goes on."
        assert (await saga.turns(turn.session))[-1]["reply"] == grown
        chat.lines[-1] = ("assistant", grown)
        chat.lines[2] = ("assistant", 'The warden bows. "Welcome, Alex."')
        chat.lines.append(("user", "I bow back."))
        edited = await stage.ask(chat.prompt(), "She smiles for the first time tonight, and steps aside.", "edit")
        assert edited.session == turn.session
        chat.lines.append(("assistant", "She smiles for the first time tonight, and steps aside."))
        head = (await saga.turns(turn.session))[-1]["turn_id"]
        assert head == edited.turn
        asked_for = "I walk through the gate without a word."
        await stage.ask(chat.prompt("user"), asked_for, "impersonate", names=("Ysolde", "Alex"))
        assert stage.sent == chat.prompt("user"), "a side request is sent as it came"
        quiet = chat.prompt("assistant", "Describe the room in five words.")
        await stage.ask(quiet, "Rain, lamp, gate, salt, dark.", "quiet")
        if template in ("ChatML", "Llama 3"):
            assert stage.sent == quiet
            assert (await saga.turns(turn.session))[-1]["turn_id"] == head, "they move nothing"
        chat.lines.append(("user", "I knock twice."))
        streamed = await stage.ask(chat.prompt(), "Somebody inside knocks back, three times and slowly.", stream=True)
        assert streamed.headers["X-SAGA-Parent"] == edited.turn
        chat.lines.append(("assistant", "Somebody inside knocks back, three times and slowly."))
        chat.lines.append(("user", "Tell me everything about the archive."))
        stopped = await stop(stage, chat.prompt(), "The archive was built by the first wardens of the gate, ")
        chat.lines.append(("assistant", stopped))
        chat.lines.append(("user", "Go on, shorter."))
        last = await stage.ask(chat.prompt(), "It burned, and nobody built it again after that night.", stream=True)
        path = await saga.turns(turn.session)
        assert [each["user"] for each in path] == [
            "I am Alex. I came by the river road.",
            "I show you the brass key.",
            "I bow back.",
            "I knock twice.",
            "Tell me everything about the archive.",
            "Go on, shorter.",
        ]
        assert path[-1]["turn_id"] == last.turn
        assert path[-2]["reply"].rstrip() == stopped
        state = (await saga.get(f"/api/sessions/{turn.session}/state")).json
        assert state["location"] == "어둠의 숲", "the blocks were read"
        assert stage.played == set(OPERATIONS) - {"group"}


async def stop(stage: Stage, prompt: str, begun: str) -> str:
    """Stop a stream when ``begun`` was shown; what was shown."""
    stage.played.add("stop")
    gate = asyncio.Event()
    stage.upstream.then(says(begun, "and nobody sees this.", gate=gate))
    body = stage.source.body(prompt, ["\nAlex:", *_stops(stage.chat.template)], True)
    async with stage.saga.request("POST", stage.source.streamed or stage.source.path, json=body) as response:
        raw = b""
        while not _shows(raw, begun.rstrip()):
            raw += await response.content.readany()
    async with asyncio.timeout(5):
        await stage.upstream.gone.wait()
    return begun.rstrip()


@pytest.mark.parametrize("name", list(SOURCES))
async def test_a_group_plays(name: str) -> None:
    """Names in every line; the next member's name behind the header, and the others' among the stop sequences."""
    async with staged(SOURCES[name], "ChatML") as stage:
        lines: list[Line] = [("assistant", "Ysolde: Who is there?"), ("user", "Alex: Two of us, and it is cold.")]
        names = ("Alex", "Bram")

        def prompt(speaker: str) -> str:
            return TEMPLATES["ChatML"](STORY, lines, "assistant") + f"{speaker}:"

        first = await stage.ask(
            prompt("Ysolde"), "She counts you twice before she answers at all.", "group", names=names
        )
        assert read_prompt(stage.sent, ["\nAlex:"]).opening == "<|im_start|>assistant\nYsolde:"
        lines.append(("assistant", "Ysolde: She counts you twice before she answers at all."))
        second = await stage.ask(
            prompt("Bram"), "Bram laughs, and holds the lamp a little higher.", "group", names=names
        )
        assert second.headers["X-SAGA-Parent"] == first.turn
        lines.append(("assistant", "Bram: Bram laughs, and holds the lamp a little higher."))
        lines.append(("user", "Alex: We would like to come in."))
        third = await stage.ask(
            prompt("Ysolde"), "The bar is lifted, and the gate swings open at last.", "group", names=names
        )
        assert third.headers["X-SAGA-Parent"] == second.turn
        path = await stage.saga.turns(first.session)
        assert [each["turn_id"] for each in path] == [first.turn, second.turn, third.turn]
        assert stage.played == {"group"}


async def test_a_chat_of_names_plays() -> None:
    """Without an instruct template."""
    async with staged(SOURCES["koboldcpp"], "ChatML") as stage:
        lines: list[Line] = [GREETING, ("user", "I came by the river road, alone.")]
        first = await stage.ask(
            named(STORY, lines, ("Alex", "Ysolde"), "assistant"), "She lifts the lamp to your face."
        )
        assert stage.sent.endswith("\nAlex: I came by the river road, alone.\nYsolde:")
        lines += [("assistant", "She lifts the lamp to your face."), ("user", "I show the key.")]
        second = await stage.ask(named(STORY, lines, ("Alex", "Ysolde"), "assistant"), "The key gleams in her hand.")
        assert second.headers["X-SAGA-Parent"] == first.turn
        theirs = named(STORY, lines[:3], ("Alex", "Ysolde"), "user")
        await stage.ask(theirs, "I wait for her to speak.", names=("Ysolde", "Alex"))
        assert stage.sent == theirs


async def test_a_text_without_marks_is_played_as_one() -> None:
    async with staged(SOURCES["koboldcpp"], "ChatML") as stage:
        stage.upstream.then(says("The rain stopped, and the gate stood open."))
        text = "It was night at the salt gate. The warden had not slept for days, and the rain"
        answer = await stage.saga.post("/v1/completions", json={"prompt": text, "max_tokens": 50})
        assert answer.json["choices"][0]["text"] == "The rain stopped, and the gate stood open."
        assert stage.sent.endswith(text)
        assert "could not be told apart" in answer.headers["X-SAGA-Notice"]
        counters = (await stage.saga.get("/api/status")).json["counters"]
        assert counters["text_prompts.untold"] == 1


# -- recordings ------------------------------------------------------------------------------------------------

WORDS = [
    "I am Alex. I came by the river road.",
    "I show you the brass key.",
    "I bow back.",
    "I knock twice.",
    "Tell me everything about the archive.",
    "Go on, shorter.",
]


@pytest.mark.skipif(not RECORDINGS.is_dir(), reason=f"the recordings of a real client are not at {RECORDINGS}")
@pytest.mark.parametrize("name", [name for name in SOURCES if name != "ollama"])
async def test_a_recorded_source_plays(name: str) -> None:
    """Every recorded request, with the replies that later requests show."""
    source = SOURCES[name]
    operations = json.loads((RECORDINGS / f"{name}.json").read_text("utf-8"))["operations"]
    asked = {
        operation["op"]: request
        for operation in operations
        for request in operation["requests"]
        if "prompt" in (request["body"] or {}) and "tokencount" not in request["path"]
    }
    said = {op: [each["content"] for each in _messages(request["body"])] for op, request in asked.items()}
    replies = {
        "turn": said["turn2"][-2],
        "swipe": said["continue"][-1],
        "continue": said["edit"][-2].removeprefix(said["continue"][-1]),
        "edit": said["impersonate"][-1],
        "stream": said["stop"][-2],
    }
    async with TextServer(kind=source.server, lenient=source.lenient) as upstream:
        settings = {"local": {"base_url": upstream.url, "max_retries": 0}}
        async with Client.of({"providers": settings}, {}) as saga:
            turns: dict[str, Reply] = {}
            for op, request in asked.items():
                body, path = request["body"], request["path"]
                if op == "stop":
                    upstream.then(hangs(said["turn_after_stop"][-2]))
                    async with saga.request("POST", path, json=body) as response:
                        raw = b""
                        while not _shows(raw, said["turn_after_stop"][-2]):
                            raw += await response.content.readany()
                    async with asyncio.timeout(5):
                        await upstream.gone.wait()
                    continue
                reply = replies.get(op, "Nothing that anybody would say twice, and nobody does.")
                upstream.then(says(*_pieces(f"{reply}\n\n{BLOCK}")))
                answer = turns[op] = await saga.post(path, json=body)
                assert (answer.status, told(answer.raw).rstrip()) == (200, reply)
                assert upstream.refusals == []
                sent = upstream.requests[-1]
                assert (sent.path, set(sent.body)) == (path, set(body))
                assert (sent.body["prompt"] == body["prompt"]) == (op in ("impersonate", "quiet"))
            parents = {op: answer.headers["X-SAGA-Parent"] for op, answer in turns.items()}
            assert parents["turn2"] == parents["swipe"] == turns["turn"].turn
            assert parents["continue"] == turns["swipe"].turn
            assert parents["stream"] == turns["edit"].turn
            assert len({answer.session for answer in turns.values()}) == 1
            path = await saga.turns(turns["turn"].session)
            assert [each["user"] for each in path] == WORDS
            assert path[-1]["turn_id"] == turns["turn_after_stop"].turn


def _messages(body: dict[str, Any]) -> list[Any]:
    return list(read_prompt(body["prompt"], body.get("stop") or body["stop_sequence"]).messages)


def _shows(raw: bytes, text: str) -> bool:
    """Whether ``text`` came in the events that are whole."""
    lines = raw.startswith(b"{")
    events = raw[: raw.rfind(b"\n") + 1] if lines else raw[: raw.rfind(b"\n\n") + 2]
    return bool(events) and told(events) == text
