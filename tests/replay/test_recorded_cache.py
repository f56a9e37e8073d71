"""Recorded requests of a real client, through the server to strict providers with caching rules: what is read again.

The recordings lie beside the checkout, not in it; without them the test is skipped. A chat of our own, which floats in
the same ways, is in ``tests/wire/test_caching.py`` and always runs. The recorded card is tiny: rules of a usual size
stand before it here.
"""

from __future__ import annotations

from typing import Any

import pytest

from saga_core.model.tree import TurnKind
from tests.fake_providers.steps import says
from tests.replay.test_recorded_client import EXPECTED, RECORDINGS, recorded
from tests.wire.caching import Witness
from tests.wire.test_caching import MODELS, RULES, priced


def sent(body: dict[str, Any]) -> list[dict[str, Any]]:
    """The recorded messages, with a card of a usual size."""
    first, *rest = body["messages"]
    if first["role"] != "system":
        return [first, *rest]
    return [{**first, "content": f"{RULES}\n{first['content']}"}, *rest]


@pytest.mark.skipif(not RECORDINGS.is_dir(), reason=f"the recordings of a real client are not at {RECORDINGS}")
@pytest.mark.parametrize("case", ["anthropic", "openai"])
async def test_a_recorded_client_is_read_from_the_cache(case: str) -> None:
    async with priced(case) as (client, upstream, till):
        witness, asked = Witness(), list[tuple[str, str, list[dict[str, Any]], TurnKind, int]]()
        for record in recorded():
            chats = [each for each in record["requests"] if (each["body"] or {}).get("messages")]
            for request, (_, kind) in zip(chats, EXPECTED.get(record["case"], []), strict=True):
                body = request["body"]
                for text in request["reply_text"] if case == "anthropic" else request["reply_text"][:1]:
                    upstream.then(says(text))
                messages = sent(body)
                fields = {**body, "messages": messages, "model": MODELS[case]}
                first = len(till.prompts)  # two replies may be two calls
                reply = await client.chat(**fields)
                assert reply.status == 200, (record["case"], reply.raw)
                asked.append((reply.session, reply.turn, messages, kind, first))
        assert upstream.refusals == []
        assert len(asked) > 40
        bills = {}
        for session in {each for each, *_ in asked}:
            rows = (await client.get(f"/api/sessions/{session}/cost?turns=1")).json["turns"]
            bills.update({row["turn"]: row for row in rows})
        for session, turn, messages, kind, first in asked:
            if kind is not TurnKind.SIDE:
                witness.see(session, messages, till.prompts[first], bills[turn])
        assert till.reuse() > 0.9
