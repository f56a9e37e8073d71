"""What gateways put into a stream besides a reply: signs of life, errors of any shape, ends of any name."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from time import process_time
from typing import Any

import pytest
from attrs import frozen

from saga_backends.chat.anthropic import MessagePieces
from saga_backends.chat.dialect import Pieces
from saga_backends.chat.event_lines import EventLines
from saga_backends.chat.finish_reason import BROKEN, finish_reason
from saga_backends.chat.gemini import GeminiPieces
from saga_backends.chat.openai import ChatPieces
from saga_backends.chat.reply import ModelReply
from saga_backends.chat.text_completion import TextPieces
from saga_backends.provider_error import Blame
from saga_core.errors import UpstreamError
from saga_core.ports import ChatPart, ExtraPart, FinishPart, TextPart

BLAME = Blame("p", "host", 1.0)


@frozen
class Spoken:
    """How one dialect says a piece of text and an end."""

    pieces: Callable[[], Pieces]
    text: Callable[[str], dict[str, Any]]
    end: Callable[[str], dict[str, Any]]
    last: str = ""
    """What is sent behind the end."""


def _chat(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def _candidate(finish: str | None = None, *parts: dict[str, Any]) -> dict[str, Any]:
    return {"candidates": [{"content": {"parts": list(parts)}, **({"finishReason": finish} if finish else {})}]}


DIALECTS = {
    "openai": Spoken(ChatPieces, lambda text: _chat({"content": text}), lambda end: _chat({}, end), "[DONE]"),
    "anthropic": Spoken(
        MessagePieces,
        lambda text: {"type": "content_block_delta", "delta": {"type": "text_delta", "text": text}},
        lambda end: {"type": "message_delta", "delta": {"stop_reason": end}},
        '{"type": "message_stop"}',
    ),
    "gemini": Spoken(GeminiPieces, lambda text: _candidate(None, {"text": text}), _candidate),
    "text": Spoken(
        lambda: TextPieces("openai"),
        lambda text: {"choices": [{"index": 0, "text": text}]},
        lambda end: {"choices": [{"index": 0, "text": "", "finish_reason": end}]},
        "[DONE]",
    ),
    "kobold": Spoken(
        lambda: TextPieces("kobold"),
        lambda text: {"token": text, "finish_reason": None},
        lambda end: {"token": "", "finish_reason": end},
    ),
}


@pytest.fixture(params=DIALECTS)
def spoken(request: pytest.FixtureRequest) -> Spoken:
    return DIALECTS[request.param]


def read(reply: ModelReply, *events: str | dict[str, Any]) -> list[ChatPart]:
    """Feed the events as bytes. A text is taken as it is; a dict is the data of an event."""
    lines, found = EventLines(), list[ChatPart]()
    for event in events:
        sent = event if isinstance(event, str) else f"data: {json.dumps(event)}\n\n"
        for data in lines.feed(sent.encode()):
            found += reply.event(data)
    for data in lines.finish():
        found += reply.event(data)
    return [*found, *reply.end()]


def said(spoken: Spoken, *between: str | dict[str, Any], end: str = "stop") -> list[ChatPart]:
    last = [f"data: {spoken.last}\n\n"] if spoken.last else []
    return read(
        ModelReply(BLAME, spoken.pieces()),
        spoken.text("The rain "),
        *between,
        spoken.text("stops."),
        spoken.end(end),
        *last,
    )


def text(found: list[ChatPart]) -> str:
    return "".join(part.text for part in found if isinstance(part, TextPart))


@pytest.mark.parametrize(
    "sign",
    [
        "data:\n\n",
        "data:    \n\n",
        'data: ""\n\n',
        "data: {}\n\n",
        "data: null\n\n",
        "data: []\n\n",
        "data: 1\n\n",
        "data: ping\n\n",
        "event: ping\ndata:\n\n",
        'event: ping\ndata: {"type": "ping"}\n\n',
        "event: error\ndata:\n\n",
        ": OPENROUTER PROCESSING\n\n",
        "retry: 3000\nid: 7\n\n",
        'data: {"code": 0, "message": "success"}\n\n',
        'data: {"type": "keepalive", "message": "still here"}\n\n',
    ],
)
def test_a_sign_of_life_is_nothing(spoken: Spoken, sign: str) -> None:
    for between in ((sign,), (sign, sign)):
        found = said(spoken, *between)
        assert text(found) == "The rain stops."
        assert [part for part in found if isinstance(part, FinishPart)] == [FinishPart("stop")]
    reply = ModelReply(BLAME, spoken.pieces())
    assert text(read(reply, sign, spoken.text("a"), sign, spoken.end("stop"), sign)) == "a"


@pytest.mark.parametrize(
    ("error", "status", "words", "passing", "wait"),
    [
        ({"error": {"message": "Overloaded", "type": "overloaded_error"}}, 503, "Overloaded", True, None),
        ({"type": "error", "error": {"type": "rate_limit_error", "message": "slower"}}, 429, "slower", True, None),
        ({"error": "out of memory"}, 502, "out of memory", True, None),
        ({"error": "no key", "code": 401}, 401, "no key", False, None),
        ({"error": {"message": "slow down", "code": "429", "retry_after": 7}}, 429, "slow down", True, 7.0),
        ({"error": {"message": "busy", "status": "UNAVAILABLE", "code": 503}}, 503, "busy", True, None),
        ({"code": 503, "message": "no worker is free"}, 503, "no worker is free", True, None),
        ({"code": 1302, "msg": "too fast"}, 502, "too fast", True, None),
        ({"object": "error", "message": "the prompt is bad", "type": "BadRequestError"}, 400, "is bad", False, None),
        ({"detail": "Not Found", "status": 404}, 404, "Not Found", False, None),
        ({"success": False, "message": "the account is closed"}, 502, "account is closed", True, None),
        ({"error": {"message": "none left", "type": "insufficient_quota"}}, 429, "none left", False, None),
        (
            {"error": {"message": "Provider returned error", "code": 502, "metadata": {"raw": "CUDA is gone"}}},
            502,
            "CUDA is gone",
            True,
            None,
        ),
        ("event: error\ndata: the worker died\n\n", 502, "the worker died", True, None),
        ('event: error\ndata: {"message": "the worker died", "code": 500}\n\n', 502, "worker died", True, None),
    ],
)
def test_an_error_keeps_its_words_its_status_and_its_retry(
    spoken: Spoken, error: Any, status: int, words: str, passing: bool, wait: float | None
) -> None:
    with pytest.raises(UpstreamError, match=words) as caught:
        said(spoken, error)
    assert (caught.value.status, caught.value.passing, caught.value.retry_after) == (status, passing, wait)


def test_an_error_on_a_choice_is_one() -> None:
    broken = {"message": "Upstream idle timeout", "code": 504}
    event = {"choices": [{"index": 0, "delta": {"content": ""}, "finish_reason": "error", "error": broken}]}
    for pieces in (ChatPieces(), TextPieces("openai")):
        with pytest.raises(UpstreamError, match="Upstream idle timeout") as caught:
            read(ModelReply(BLAME, pieces), event)
        assert caught.value.status == 504


def test_a_damaged_event_is_no_sign_of_life(spoken: Spoken) -> None:
    with pytest.raises(UpstreamError, match="an event that is not JSON"):
        said(spoken, 'data: {"choi\n\n')


def test_the_last_words_of_a_stream_without_an_end_are_told(spoken: Spoken) -> None:
    with pytest.raises(UpstreamError, match="in the middle; the last that it sent is 'the server is going down'"):
        read(ModelReply(BLAME, spoken.pieces()), spoken.text("The rain "), "data: the server is going down\n\n")


@pytest.mark.parametrize(
    ("meaning", "reasons"),
    [
        ("stop", "stop STOP eos eos_token end_turn stop_sequence stop_str done complete pause_turn something_new"),
        ("length", "length max_tokens MAX_TOKENS max_output_tokens model_context_window_exceeded limit truncated"),
        ("content_filter", "content_filter SAFETY sensitive refusal RECITATION PROHIBITED_CONTENT LANGUAGE blocked"),
        ("tool_calls", "tool_calls tool_use tool-calls"),
        (BROKEN, "error network_error abort aborted cancelled insufficient_system_resource timeout server-error ABORT"),
    ],
)
def test_a_reason_has_one_of_few_meanings(
    spoken: Spoken, meaning: str, reasons: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    for reason in reasons.split():
        assert finish_reason(reason, "host") == meaning
        if meaning == BROKEN:
            with pytest.raises(UpstreamError, match=reason) as caught:
                said(spoken, end=reason)
            assert caught.value.passing
        else:
            assert FinishPart(meaning) in said(spoken, end=reason)
    assert ("something_new" in caplog.text) == (meaning == "stop"), "what nobody knows is logged, and nothing else"


def test_a_refusal_is_told_as_one() -> None:
    refused = _chat({"refusal": "I cannot write that."}), _chat({}, "stop"), "data: [DONE]\n\n"
    found = read(ModelReply(BLAME, ChatPieces()), *refused)
    assert [part for part in found if isinstance(part, FinishPart)] == [FinishPart("content_filter")]
    assert ExtraPart({"refusal": "I cannot write that."}) in found
    found = read(ModelReply(BLAME, ChatPieces()), _chat({"content": "She nods."}), *refused)
    assert FinishPart("stop") in found, "a reply that has words is none"


def test_thoughts_in_parts_of_the_content_are_no_story() -> None:
    """As Mistral sends them."""
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}
    delta = {"content": [thought, {"type": "text", "text": "She nods."}]}
    found = read(ModelReply(BLAME, ChatPieces()), _chat(delta), _chat({}, "stop"))
    assert (text(found), found[0]) == ("She nods.", ExtraPart({"reasoning_content": "Hm."}))


@pytest.mark.parametrize("kind", ["signature", "thinking"])
def test_a_signature_in_thousands_of_pieces_is_not_copied_for_each(kind: str) -> None:
    reader, piece = MessagePieces(), {"type": f"{kind}_delta", kind: "s" * 1_000}
    block = {"type": "thinking", "thinking": "s" * 2_000_000, "signature": "s" * 2_000_000}
    list(reader.read({"type": "content_block_start", "content_block": block}, whole=False))
    began = process_time()
    for _ in range(2_000):
        list(reader.read({"type": "content_block_delta", "delta": piece}, whole=False))
    assert process_time() - began < 0.2
    (part,) = reader.read({"type": "content_block_stop"}, whole=False)
    assert isinstance(part, ExtraPart)
    assert len(part.fields["reasoning_details"][0]["text" if kind == "thinking" else kind]) == 4_000_000


def test_a_call_without_a_name_is_not_given_one() -> None:
    block = {"type": "tool_use", "id": "t1", "name": None, "input": {}}
    (part,) = MessagePieces().read({"type": "content_block_start", "content_block": block}, whole=False)
    assert isinstance(part, ExtraPart)
    assert part.fields["tool_calls"][0]["function"]["name"] == ""
