"""Builds the plan of a prompt: the client's blocks as sent, and those of SAGA, in the order of their origins.

Text that changes from turn to turn never comes before the player's last words. The context goes into that message, in
front of its text. System messages within the history stay where the client put them, and none is added there.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from itertools import chain, repeat
from typing import Any

from saga_core.language import language_of
from saga_core.messages import SYSTEM_ROLES, Block, Frame, Origin, PromptPlan
from saga_core.state_block import SCANNED, hide, instruction, unscanned
from saga_core.trackers import NO_TRACKERS, Trackers

_PLACES = (
    {Origin.CLIENT},
    {Origin.RULES, Origin.WORLD},
    {Origin.PAGES},
    {Origin.HISTORY},
    {Origin.CONTEXT},
    {Origin.WORDS},
    {Origin.TAIL},
)
"""The origins that may change places with each other, in the order that a prompt needs."""


def ranks(order: Sequence[Origin]) -> Mapping[Origin, int]:
    """Return the rank of each origin in ``order``. Raises ``ValueError`` for an order that no prompt can have."""
    at = 0
    for may in _PLACES:
        for origin in order[at : at + len(may)]:
            if origin not in may:
                told = "; ".join(", ".join(each for each in order if each in place) for place in _PLACES)
                raise ValueError(
                    f"saga_core.messages.Origin: {origin} cannot stand at place {order.index(origin) + 1} of a prompt; "
                    f"blocks move only between two semicolons: {told}"
                )
        at += len(may)
    return {origin: rank for rank, origin in enumerate(order)}


ORDER = tuple(Origin)
"""The order of a prompt. To move a block, move its origin. The client's blocks keep their order within an origin."""
_RANK = ranks(ORDER)
_RELOCATED, _RELOCATED_END = "[System prompt, for this reply]", "[/System prompt]"


def client_blocks(messages: Sequence[Mapping[str, Any]]) -> tuple[Block, ...]:
    """Return a request's messages as blocks with their origins."""
    lead = next((i for i, message in enumerate(messages) if message.get("role") not in SYSTEM_ROLES), len(messages))
    words = max((i for i, message in enumerate(messages) if message.get("role") == "user"), default=len(messages))

    before = chain(repeat(Origin.CLIENT, lead), repeat(Origin.HISTORY, words - lead))
    return tuple(map(_block, messages, chain(before, (Origin.WORDS,), repeat(Origin.TAIL))))


async def read_client_blocks(messages: Sequence[Mapping[str, Any]]) -> tuple[Block, ...]:
    """As ``client_blocks``, in a thread if much text has to be scanned for state blocks: results are cached, but not
    for longer than a minute, and not without limit."""
    contents = [message.get("content") for message in messages if message.get("role") == "assistant"]
    texts = [content for content in contents if type(content) is str]
    if len(texts) < len(contents):
        for content in contents:
            if isinstance(content, list):
                texts += (part["text"] for part in content if part.get("type") == "text")
    if sum(map(len, unscanned(texts))) < SCANNED:
        return client_blocks(messages)
    return await asyncio.to_thread(client_blocks, messages)


def build_plan(
    client: Sequence[Block],
    *,
    rules: str = "",
    world: str = "",
    pages: str = "",
    context: str = "",
    relocated: str = "",
) -> PromptPlan:
    """Return the plan for a request. With only the ``client``'s blocks, it is the client's prompt.

    ``relocated`` is text of the client's own system messages, which is put in front of the context.
    """
    if relocated:
        frame = f"{_RELOCATED}\n{relocated}\n{_RELOCATED_END}"
        context = f"{frame}\n\n{context}" if context else frame
    own = {Origin.RULES: rules, Origin.WORLD: world, Origin.PAGES: pages}
    blocks = [Block("system", text, origin) for origin, text in own.items() if text]
    blocks += [_led(block, context) if block.origin is Origin.WORDS and context else block for block in client]
    blocks.sort(key=lambda block: _RANK[block.origin])
    if context and not any(block.origin is Origin.WORDS for block in client):
        # The client sends the whole chat in other roles. An unfinished reply stays the last message.
        end = len(blocks) - (blocks[-1].role == "assistant")
        blocks.insert(end, Block("system", context, Origin.CONTEXT))
    return PromptPlan(tuple(blocks))


def _led(block: Block, context: str) -> Block:
    extra = {key: value for key, value in block.extra.items() if key != "content"}
    return Block(block.role, block.content, block.origin, extra, context, block.breakpoint, block.frame)


def _block(message: Mapping[str, Any], origin: Origin) -> Block:
    content, role = message.get("content"), str(message["role"])
    if len(message) == 2 and type(content) is str:  # nearly all messages of a history
        return Block(role, _clean(content) if role == "assistant" else content, origin, {})
    extra = {key: value for key, value in message.items() if key not in ("role", "content")}
    if isinstance(extra.get("frame"), Frame):  # JSON cannot contain a ``Frame``, so a client's own field is kept
        frame = extra.pop("frame")
        return Block(role, _clean(str(content)) if role == "assistant" else str(content), origin, extra, frame=frame)
    if content is None:
        # A tool call's message has no text. The field is kept as the client sent it.
        return Block(role, "", origin, {**extra, "content": None})
    if isinstance(content, str):
        return Block(role, _clean(content) if role == "assistant" else content, origin, extra)
    parts = tuple(
        {**part, "text": _clean(part["text"])} if role == "assistant" and part.get("type") == "text" else part
        for part in content
    )
    return Block(role, parts, origin, extra)


def _clean(text: str) -> str:
    """Return an earlier reply without any state block that the client kept, so that it is not read as current."""
    return hide(text).visible if "`" in text or "~" in text or "_" in text or "<" in text else text


def static_rules(
    language: str,
    *,
    tools: bool = False,
    block: bool = True,
    call: bool = False,
    note: bool = False,
    counted: Trackers = NO_TRACKERS,
) -> str:
    """Return the rules and the state-block instruction in ``language``, as stable bytes for the prompt's prefix.
    ``tools`` means that the narrator may call tools. ``block=False`` asks for no state block: a small model that is
    asked for one stops telling the story. ``call`` then asks for a call of the report tool instead. ``note`` means that
    the memory is a note and not a block. ``counted`` are the story's trackers.
    """
    spoken = language_of(language)
    head, told, rest = spoken.texts.rules.split("\n", 2)
    if not counted.asks("status_changes"):  # the rest begins with the dead
        alive = re.split(r"[,、，]\s*", rest, maxsplit=1)[1]
        rest = alive[0].upper() + alive[1:]
    rules = "\n".join((spoken.texts.note, rest) if note else (head, told, rest))
    if not block:
        return f"{rules}\n\n{spoken.request.call}" if call else rules
    return f"{rules}\n\n{instruction(spoken.tag, tools=tools, counted=counted)}"
