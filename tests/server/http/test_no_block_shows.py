"""The state block shows in no answer: of any shape, streamed however it is cut, or in one piece."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from attrs import define, field

from saga_core.play import Reply
from saga_core.ports import ChatPart, ExtraPart, FinishPart, TextPart, Usage
from saga_core.state_block import hide
from saga_core.state_block.fields import FIELDS
from saga_server.doors.chat import ChatFormat
from saga_server.doors.gemini import GeminiFormat
from saga_server.doors.messages import MessagesFormat
from saga_server.doors.ollama import OllamaFormat
from saga_server.doors.responses import ResponsesFormat
from saga_server.doors.text import CompletionFormat, KoboldFormat, LlamaFormat
from saga_server.http.answers import Answer, StreamedAnswer, WholeAnswer
from saga_server.http.reply_format import ReplyFormat
from tests.server.client import BLOCK

SHAPES: dict[str, Callable[[str], ReplyFormat]] = {
    "chat": ChatFormat,
    "messages": MessagesFormat,
    "responses": ResponsesFormat,
    "gemini": GeminiFormat,
    "gemini, one list": partial(GeminiFormat, listed=True),
    "ollama chat": OllamaFormat,
    "ollama text": partial(OllamaFormat, chat=False),
    "completions": CompletionFormat,
    "kobold": KoboldFormat,
    "llama.cpp": LlamaFormat,
}
PROSE = 'She lifts the lamp. "Who is it?" 비가 온다.'
LOOSE = [
    each["text"]
    for each in yaml.load(
        (Path(__file__).parents[2] / "core" / "state_block" / "loose.yaml").read_text("utf-8"), yaml.CSafeLoader
    )
    if each["reads"]
]
TEXT = f"{PROSE}\n\n{BLOCK}\n"
CALL = {"tool_calls": [{"index": 0, "id": "call_1", "function": {"name": "roll", "arguments": "{}"}}]}


@define
class Outlet:
    """Keeps what is sent."""

    usage: Usage | None = field(factory=lambda: Usage(10, 5))
    has_followers: bool = True
    is_operator: bool = True
    mask: Callable[[str], str] = str
    notices: list[str] = field(factory=list)
    sent: bytes = b""

    def begin(self, headers: Mapping[str, str], content_type: str) -> None:
        pass

    def send(self, data: bytes) -> None:
        self.sent += data

    async def commit(self, begun: Any, finish: str = "") -> str | None:
        return None


_SHOWN = frozenset("content text response token delta message parts candidates choices results".split())


def texts(value: Any) -> str:
    """Every text in an answer's JSON that is shown, joined in its order."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return "".join(texts(each) for name, each in value.items() if name in _SHOWN)
    return "".join(texts(each) for each in value) if isinstance(value, list) else ""


def shown(raw: bytes) -> str:
    """What an answer shows. Of OpenAI's responses the deltas."""
    told = raw.decode()
    if told.startswith("["):
        return texts(json.loads(told))
    lines = [line.removeprefix("data: ") for line in re.split(r"\r?\n", told) if not line.startswith("event:")]
    events = [json.loads(line) for line in lines if line and line != "[DONE]"]
    return "".join(texts(each) for each in events if each.get("type") in (None, *_DELTAS))


_OPENS = re.compile(r"`+(?:s|st|sta|stat|state)?\[?\Z|\[\Z")
"""What may yet become a block's opener or a marker, and did not."""
_DELTAS = ("content_block_delta", "response.output_text.delta")


async def answered(kind: type[Answer], shape: Callable[[str], ReplyFormat], *parts: ChatPart) -> bytes:
    begun: Any = SimpleNamespace(
        replies=(Reply("t1"),), bill=None, notices=(), degraded={}, session=SimpleNamespace(id=""), id="t1",
        cut_short="", parent=SimpleNamespace(id=""), timings={"total": 0.0}, context=SimpleNamespace(late=()), silent=0,
        is_lost=False,
    )  # fmt: skip
    outlet = Outlet()
    made = kind(outlet, begun, shape("model"), True)
    for part in parts:
        made.take(part)
    made.take(FinishPart("stop"))
    await made.finished()
    return outlet.sent


@pytest.mark.parametrize("name", list(SHAPES))
async def test_no_stream_shows_it_wherever_it_is_cut(name: str) -> None:
    shape = SHAPES[name]
    for at in range(1, len(TEXT)):
        raw = await answered(StreamedAnswer, shape, TextPart(TEXT[:at]), TextPart(TEXT[at:]))
        assert shown(raw).rstrip() == PROSE, at
        assert b"hp_change" not in raw
    letters = await answered(StreamedAnswer, shape, *map(TextPart, TEXT))
    assert shown(letters).rstrip() == PROSE


@pytest.mark.parametrize("name", list(SHAPES))
async def test_no_whole_answer_shows_it(name: str) -> None:
    raw = await answered(WholeAnswer, SHAPES[name], TextPart(TEXT))
    assert b"hp_change" not in raw
    assert b"She lifts the lamp." in raw


@pytest.mark.parametrize("name", list(SHAPES))
async def test_no_report_without_a_fence_of_its_own_shows(name: str) -> None:
    """Every loose report of the corpus, letter by letter, in pieces of three, and whole: what is shown is the prose."""
    for text in LOOSE:
        prose = hide(text).visible.rstrip()
        assert not any(f"{field.name}:" in prose for field in FIELDS), text
        pieces = [TextPart(text[at : at + 3]) for at in range(0, len(text), 3)]
        for parts in (list(map(TextPart, text)), pieces, [TextPart(text)]):
            raw = await answered(StreamedAnswer, SHAPES[name], *parts)
            assert shown(raw).rstrip() == prose, text
        assert b"hp_change" not in await answered(WholeAnswer, SHAPES[name], TextPart(text))


@pytest.mark.parametrize("name", ["chat", "messages", "responses", "gemini", "ollama chat"])
async def test_nor_does_it_show_before_a_call(name: str) -> None:
    """Whatever was held back of the text is shown before the call, and nothing of a block."""
    for at in range(1, len(TEXT)):
        parts = (TextPart(TEXT[:at]), ExtraPart(CALL), TextPart(" And on."))
        raw = await answered(StreamedAnswer, SHAPES[name], *parts)
        told = _OPENS.sub("", shown(raw).removesuffix(" And on."))
        assert told.rstrip() == PROSE[:at].rstrip(), at
        assert b"call_1" in raw
    whole = await answered(WholeAnswer, SHAPES[name], TextPart(TEXT), ExtraPart(CALL))
    assert (b"hp_change" not in whole, b"call_1" in whole) == (True, True)
