"""Streams in any pieces, with signs of life anywhere and an end anywhere: a reply is whole, or an error says that it is
not."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saga_backends.chat.event_lines import EventLines
from saga_backends.chat.reply import ModelReply
from saga_core.errors import UpstreamError
from saga_core.ports import ChatPart, FinishPart, TextPart
from tests.backends.test_chat_streams import BLAME, DIALECTS, Spoken

SIGNS = (
    *("data:\n\n", 'data: ""\n\n', "data: null\n\n", "data: {}\n\n", "data: ping\n\n", ": keep-alive\n\n", "\n\n"),
    *("event: ping\ndata:\n\n", "retry: 3000\n\n", "id: 4\n\n", "event: heartbeat\n\n", 'data: {"type": "ping"}\n\n'),
)
TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=12)
PIECES = st.lists(st.tuples(TEXTS, st.lists(st.sampled_from(SIGNS), max_size=2)), min_size=1, max_size=6)
ENDS = st.sampled_from(["stop", "length", "eos", "STOP", "max_tokens", "content_filter", "something_new"])


def stream(spoken: Spoken, pieces: list[tuple[str, list[str]]], end: str, line_end: str, ascii_only: bool) -> bytes:
    def event(value: object) -> str:
        return f"data: {json.dumps(value, ensure_ascii=ascii_only)}\n\n"

    parts = [part for text, signs in pieces for part in (*signs, event(spoken.text(text)))]
    last = f"data: {spoken.last}\n\n" if spoken.last else ""
    return "".join((*parts, event(spoken.end(end)), last)).replace("\n", line_end).encode()


def read(spoken: Spoken, sent: bytes, cuts: list[int]) -> list[ChatPart]:
    lines, reply, found = EventLines(), ModelReply(BLAME, spoken.pieces()), list[ChatPart]()
    at = sorted({0, len(sent), *(cut % (len(sent) + 1) for cut in cuts)})
    for begin, end in pairwise(at):
        for data in lines.feed(sent[begin:end]):
            found += reply.event(data)
    for data in lines.finish():
        found += reply.event(data)
    return [*found, *reply.end()]


def text(parts: list[ChatPart]) -> str:
    return "".join(part.text for part in parts if isinstance(part, TextPart))


@pytest.mark.parametrize("name", DIALECTS)
@given(
    pieces=PIECES,
    end=ENDS,
    cuts=st.lists(st.integers(0, 5_000), max_size=8),
    line_end=st.sampled_from(["\n", "\r\n"]),
    ascii_only=st.booleans(),
)
def test_a_reply_is_the_same_in_any_pieces(
    name: str, pieces: list[tuple[str, list[str]]], end: str, cuts: list[int], line_end: str, ascii_only: bool
) -> None:
    spoken = DIALECTS[name]
    found = read(spoken, stream(spoken, pieces, end, line_end, ascii_only), cuts)
    assert text(found) == "".join(piece for piece, _ in pieces)
    assert len([part for part in found if isinstance(part, FinishPart)]) == 1


@pytest.mark.parametrize("name", DIALECTS)
@given(pieces=PIECES, share=st.floats(0, 1), cuts=st.lists(st.integers(0, 5_000), max_size=4))
def test_a_stream_that_breaks_off_is_told_or_whole(
    name: str, pieces: list[tuple[str, list[str]]], share: float, cuts: list[int]
) -> None:
    spoken = DIALECTS[name]
    sent = stream(spoken, pieces, "stop", "\n", True)
    try:
        found = read(spoken, sent[: int(share * len(sent))], cuts)
    except UpstreamError:
        return
    assert text(found) == "".join(piece for piece, _ in pieces), "nothing says that the rest is missing"
