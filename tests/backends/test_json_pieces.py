"""Large bodies are sent in pieces: the same JSON, with its length, and none of them large."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saga_backends import json_pieces
from saga_backends.chat.openai import BACKEND
from saga_backends.json_pieces import LARGE, written
from saga_core.messages import Block, Origin, PromptPlan
from saga_core.ports import ChatRequest
from saga_core.registry import OpenOptions
from tests.server.upstream import Upstream

TEXT = st.text(st.characters(exclude_categories=("Cs",)) | st.sampled_from('"\\\n한😀'), max_size=40)
LEAF = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT
JSON = st.recursive(LEAF, lambda inner: st.lists(inner, max_size=5) | st.dictionaries(TEXT, inner, max_size=5))


@given(JSON, st.integers(1, 30))
async def test_the_pieces_are_the_same_json(value: Any, size: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_pieces, "_PIECE", size)
        found = b"".join([piece async for piece in written(value)])
    assert found == json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


async def test_no_piece_of_a_large_text_is_large() -> None:
    body = {
        "messages": [{"content": [{"url": "A" * LARGE}, {"url": "한" * LARGE}, *({"n": str(n)} for n in range(9))]}]
    }
    sizes = [len(piece) async for piece in written(body)]
    assert max(sizes) < LARGE and len(sizes) < 50


async def test_a_picture_is_sent_in_pieces_and_with_its_length() -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * LARGE}}
    content = ({"type": "text", "text": "Look 😀."}, picture)
    request = ChatRequest(PromptPlan((Block("user", content, Origin.WORDS),)), "narrator-1", {}, None)
    async with Upstream() as upstream:
        model = await BACKEND.open(OpenOptions(options={"base_url": upstream.url, "max_retries": 0}))
        sent = model.http.build_request
        model.http.build_request = lambda *given, **more: pieces.append(more) or sent(*given, **more)
        pieces: list[dict[str, object]] = []
        assert [part async for part in model.stream(request)]
        await model.aclose()
    (received,) = upstream.requests
    assert received.messages == [{"role": "user", "content": list(content)}]
    assert "json" not in pieces[0] and not isinstance(pieces[0]["content"], bytes)
    assert int(received.headers["Content-Length"]) > LARGE and "Transfer-Encoding" not in received.headers
