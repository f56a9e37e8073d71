"""A large body at every door: its JSON is read, and its tokens are counted, in a thread, and nobody waits for it."""

from __future__ import annotations

import asyncio
import io
import json
import threading
from typing import Any

import pytest

from saga_backends.tokens.estimate import EstimateCounter
from saga_core.transcript import identities
from saga_server.http import HELPER, Doors, cpu_shares, json_body
from tests.server.client import CHAT, Client, Reply

TEXT = "a word " * 20_000
_LONG = 100_000
"""Characters that nobody looks through on the loop."""
SAID = [{"role": "user", "content": TEXT}]
BODY = {
    "model": "m",
    "max_tokens": 5,
    "messages": SAID,
    "contents": [{"role": "user", "parts": [{"text": TEXT}]}],
    **dict.fromkeys(("prompt", "content", "input", "text"), TEXT),
}
"""Of every API something; each door takes what it knows."""
POSTED = sorted(path for path, methods in Doors.load().paths.items() if "POST" in methods)


async def test_there_are_doors() -> None:
    assert len(POSTED) > 20


async def test_no_large_body_is_read_on_the_loop(offline: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    here, held, read = threading.get_ident(), [], 0
    loads, count = json.loads, EstimateCounter.count

    def noted(what: str, text: str) -> None:
        nonlocal read
        if len(text) > _LONG:
            read += 1
            if threading.get_ident() == here:
                held.append(what)

    class Json:
        dumps = staticmethod(json.dumps)

        @staticmethod
        def loads(text: str, **how: Any) -> Any:
            noted(f"{path}: JSON", text)
            return loads(text, **how)

    def counted(self: EstimateCounter, text: str) -> int:
        noted(f"{path}: tokens", text)
        return count(self, text)

    monkeypatch.setattr(cpu_shares, "_PAUSES", 0.0)
    monkeypatch.setattr(json_body, "json", Json)
    monkeypatch.setattr(EstimateCounter, "count", counted)
    for path in POSTED:
        body = json.dumps({**BODY, "mark": path}).encode()
        reply = await offline.post(path, data=io.BytesIO(body), headers={"Content-Type": "application/json"})
        assert reply.status != 500, (path, reply.raw[:200])
    assert read > len(POSTED) // 2, "the attack reaches most of them"
    assert held == []


async def test_a_very_large_body_is_read_in_a_process_of_its_own(
    offline: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Parsing is one step: even in a thread it would keep everybody waiting."""
    monkeypatch.setattr(cpu_shares, "_PAUSES", 0.0)
    runner = offline.server._runner
    assert runner is not None
    helper, here = runner.app[HELPER], [0]
    loads, inner = json.loads, identities._identity

    class Json:
        dumps = staticmethod(json.dumps)

        @staticmethod
        def loads(text: str, **how: Any) -> Any:
            here[0] = max(here[0], len(text))
            return loads(text, **how)

    def identity(text: str) -> str:
        here[0] = max(here[0], len(text))
        return inner(text)

    async def said(words: str, times: int = 1) -> Reply:
        body = json.dumps({"model": "m", "messages": [{"role": "user", "content": words + text}] * times}).encode()
        return await offline.post(CHAT, data=io.BytesIO(body), headers={"Content-Type": "application/json"})

    monkeypatch.setattr(json_body, "json", Json)
    monkeypatch.setattr(identities, "_identity", identity)
    text = "A word is a word. " * 70_000
    assert (await said("One. ")).status == 200
    assert here[0] > _LONG, "until it runs, a thread reads"
    while helper.process is None:  # noqa: ASYNC110 - what a process does sets no event here
        await asyncio.sleep(0.01)
    here[0] = 0
    assert (await said("Two. ```state\nhp: 3\n```")).status == 200
    assert here[0] < _LONG
    told = await said("Three. ", 20)
    assert told.status == 413 and "max_text_mb" in told.error["message"]
    assert here[0] < _LONG
