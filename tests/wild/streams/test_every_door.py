"""What a provider's stream means is told at every door: the text, how it ended, and the words of an error."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.server.client import Client
from tests.server.upstream import Upstream, raw

SAID = "The rain stops at the ferry."
CHAT = [{"role": "user", "content": "I wait."}]
DOORS: dict[str, tuple[str, dict[str, Any], dict[str, str]]] = {
    "chat": (
        "/v1/chat/completions",
        {"messages": CHAT, "stream": True},
        {"stop": '"finish_reason": ?"stop"', "length": '"finish_reason": ?"length"', "refused": "content_filter"},
    ),
    "messages": (
        "/v1/messages",
        {"messages": CHAT, "stream": True, "max_tokens": 900},
        {"stop": "end_turn", "length": "max_tokens", "refused": "refusal"},
    ),
    "responses": (
        "/v1/responses",
        {"input": "I wait.", "stream": True},
        {"stop": "response.completed", "length": "max_output_tokens", "refused": "content_filter"},
    ),
    "gemini": (
        "/v1beta/models/narrator-1:streamGenerateContent?alt=sse",
        {"contents": [{"role": "user", "parts": [{"text": "I wait."}]}]},
        {"stop": "STOP", "length": "MAX_TOKENS", "refused": "SAFETY"},
    ),
    "ollama": (
        "/api/chat",
        {"messages": CHAT, "stream": True},
        {"stop": '"done_reason": ?"stop"', "length": '"done_reason": ?"length"', "refused": "content_filter"},
    ),
    "text": (
        "/v1/completions",
        {"prompt": "A tale.\nAlex: I wait.\nRuda:", "stream": True},
        {"stop": '"finish_reason": ?"stop"', "length": '"finish_reason": ?"length"', "refused": "content_filter"},
    ),
}
ENDS = {
    "stop": (None, "eos", "end_turn", "STOP", "something_new"),
    "length": ("model_length", "MAX_TOKENS", "model_context_window_exceeded"),
    "refused": ("sensitive", "SAFETY", "refusal"),
}
ERRORS = (
    {
        "error": {"message": "the ferry sank", "code": 502},
        "choices": [{"index": 0, "delta": {}, "finish_reason": "error"}],
    },
    {"error": "the ferry sank", "error_type": "generation"},
    {
        "choices": [
            {"index": 0, "delta": {}, "error": {"message": "the ferry sank", "code": 502}, "finish_reason": "error"}
        ]
    },
    {"code": 502, "message": "the ferry sank"},
)
SIGNS = "data:\n\n: hold on\n\ndata: ping\n\nevent: ping\ndata: {}\n\n"


def event(value: Any) -> str:
    return f"data: {json.dumps(value)}\n\n"


def chunk(text: str, finish: str | None = None) -> str:
    return event({"choices": [{"index": 0, "delta": {"content": text} if text else {}, "finish_reason": finish}]})


@pytest.mark.parametrize("door", DOORS)
async def test_an_end_and_an_error_are_told(door: str) -> None:
    path, body, told = DOORS[door]
    named = {} if "contents" in body else {"model": "narrator-1"}
    async with Upstream() as upstream:
        settings: dict[str, Any] = {"base_url": upstream.url, "api_key": "sk-up", "max_retries": 0}
        if door == "text":
            settings["dialect"] = "openai"  # a provider without text completion
        async with Client.of({"providers": {"openai": settings}}, {}) as client:

            async def answered(sent: str) -> str:
                upstream.then(raw(sent.encode()))
                return (await client.post(path, json={**named, **body})).raw.decode()

            for end, reasons in ENDS.items():
                for reason in reasons:
                    got = await answered(f"{SIGNS}{chunk(SAID)}{SIGNS}{chunk('', reason)}{SIGNS}data: [DONE]\n\n")
                    assert SAID.split()[-1] in got
                    assert re.search(told[end], got), (reason, got[-900:])
            for error in ERRORS:
                got = await answered(f"{SIGNS}{chunk(SAID)}{SIGNS}{event(error)}")
                assert "the ferry sank" in got and "error" in got
                assert not re.search(told["stop"], got), got[-900:]
