"""What a chat really costs over the wire: the official SDKs, the providers' caching rules, a prompt that floats."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tests.bench.cache.rules import AutomaticCache, MarkedCache
from tests.fake_providers.anthropic import AnthropicMessages
from tests.fake_providers.openai import OpenAIChatServer
from tests.fake_providers.server import ProtocolServer
from tests.fake_providers.steps import says
from tests.server.client import BLOCK, Client
from tests.wire.caching import Till, Witness
from tests.wire.dialects import KEY

RULES = "\n".join(
    f"Rule {n}: the narrator keeps to what was said before, and says it well and briefly." for n in range(90)
)
LORE = "[Lore of the brass key: it opens what was shut, and it is never where it was left. " + "It is old. " * 20 + "]"
TURNS = 22
MODELS = {"anthropic": "claude-sonnet-5-5", "openai": "gpt-5.6-sol", "automatic": "gpt-5.1"}


@asynccontextmanager
async def priced(case: str, **sections: Any) -> AsyncIterator[tuple[Client, ProtocolServer, Till]]:
    """SAGA before a strict provider that bills by its caching rules."""
    till: Till
    upstream: ProtocolServer
    if case == "anthropic":
        till = Till(MarkedCache(512), "anthropic")
        upstream = AnthropicMessages(key=KEY, account=till)
    else:
        till = Till(MarkedCache(1_024, 1, replies=False) if case == "openai" else AutomaticCache(1_024), "openai")
        upstream = OpenAIChatServer(key=KEY, account=till, dialect="openai")
    async with upstream:
        settings = {"base_url": upstream.url, "api_key": KEY, "dialect": till.dialect, "max_retries": 0}
        async with Client.of({"providers": {"up": settings}, **sections}, {}) as client:
            yield client, upstream, till


def request(said: list[tuple[str, str]], words: str, number: int) -> list[dict[str, Any]]:
    """What a frontend sends: a clock in its system prompt, lore that comes and goes, a note near the end."""
    system = [f"{RULES}\nThe clock shows 12:{number:02d}.\nNever speak for the player."]
    system += [LORE] if number % 6 in (2, 3) else []
    talk = [{"role": role, "content": text} for role, text in [*said, ("user", words)]]
    talk.insert(max(0, len(talk) - 2), {"role": "system", "content": f"[Note: scene {number // 3}]"})
    instruction = {"role": "system", "content": "Write one paragraph."}
    return [*({"role": "system", "content": text} for text in system), *talk, instruction]


@pytest.mark.parametrize("case", list(MODELS))
async def test_a_chat_is_read_from_the_cache(case: str) -> None:
    async with priced(case) as (client, upstream, till):
        said, witness = list[tuple[str, str]](), Witness()
        asked: dict[str, list[dict[str, Any]]] = {}
        for number in range(TURNS):
            words = f"나는 {number}번째 골목으로 간다. I look around."
            for attempt in range(2 if number % 3 == 2 else 1):
                told = f"{number}번째 골목은 길고 어둡다 ({attempt}). The lamps burn low, and nobody is there. " * 4
                upstream.then(says(told, "\n\n" + BLOCK))
                messages = request(said, words, number)
                stream = number % 2 == 0
                reply = await client.chat(messages, model=MODELS[case], stream=stream)
                assert reply.status == 200, reply.raw
                text = reply.streamed() if stream else reply.text
                asked[reply.turn] = messages
            said += [("user", words), ("assistant", text)]
        assert upstream.refusals == []
        bills = (await client.get(f"/api/sessions/{reply.session}/cost?turns=1")).json
        assert [bill["turn"] for bill in bills["turns"]] == list(asked)
        for bill, charge, prompt in zip(bills["turns"], till.charges, till.prompts, strict=True):
            assert (bill["input"], bill["read"]) == (charge.total, charge.read)
            witness.see(reply.session, asked[bill["turn"]], prompt, bill)
        assert till.reuse() > 0.95
        assert len(witness.changed) <= 6, witness.changed
        assert bills["comparison"]["with_saga"] < bills["comparison"]["without_saga"]
        if case != "automatic":
            assert all(any(piece.mark for piece in prompt) for prompt in till.prompts)
