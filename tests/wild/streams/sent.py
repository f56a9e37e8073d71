"""Reads what a provider sends as the client does, without a connection."""

from __future__ import annotations

from collections.abc import Iterator

from saga_backends.chat.client import _instead
from saga_backends.chat.event_lines import EventLines
from saga_backends.chat.reply import ModelReply
from saga_core.errors import UpstreamError
from saga_core.ports import ChatPart
from tests.backends.test_chat_streams import BLAME, DIALECTS


def received(dialect: str, sent: bytes, size: int) -> tuple[list[ChatPart], UpstreamError | None]:
    """The parts of a reply that arrives in pieces of ``size`` bytes, and the error that ended it."""
    found: list[ChatPart] = []
    try:
        for part in _parts(dialect, sent, size):
            found.append(part)
    except UpstreamError as error:
        return found, error
    return found, None


def _parts(dialect: str, sent: bytes, size: int) -> Iterator[ChatPart]:
    lines, reply = EventLines(), ModelReply(BLAME, DIALECTS[dialect].pieces())
    for at in range(0, len(sent), size):
        for data in lines.feed(sent[at : at + size]):
            yield from reply.event(data)
    for data in lines.finish():
        yield from reply.event(data)
    if lines.loose and not reply.begun:
        yield from _instead(reply, bytes(lines.loose))
    yield from reply.end()
