"""Parses a request for the narrator into the player's words, the scene, and whether a state block is wanted."""

from __future__ import annotations

import re
from hashlib import blake2b

from attrs import frozen

from saga_backends.chat.offline.scene import Scene, read_scene, without_block
from saga_core.language import nfc
from saga_core.looked_through import looked_through
from saga_core.messages import PromptPlan, flatten

_INSTRUCTION = re.compile(r"(?:`{3}|~{3})[ \t]{0,8}(?:state|상태)\b", re.IGNORECASE)
_HEARD = 2_000
"""How many characters of the player's words are read. The rest is ignored."""


@frozen
class Heard:
    """A parsed request."""

    words: str
    """The player's words, empty if the dialogue does not end with a user message."""
    scene: Scene
    wants_block: bool
    """Whether a state block is wanted. If so and there are no words, the story continues by itself.

    A side request wants no block.
    """
    digest: bytes
    """A hash of the dialogue without SAGA's additions, so that it is the same for a swipe."""


def hear_request(plan: PromptPlan) -> Heard:
    """Parse a plan from the messages that a provider would get."""
    dialogue: list[tuple[str, str]] = []
    asked = False
    told: list[str] = []
    for block in plan.blocks:
        text = looked_through(nfc("\n\n".join(part for part in (block.lead, flatten(block.content)) if part)))
        told.append(text)
        if block.role != "assistant":
            asked = asked or bool(_INSTRUCTION.search(text))
        if block.role in ("user", "assistant"):
            dialogue.append((block.role, without_block(text)))
    digest = blake2b("\0".join(f"{role}\1{text}" for role, text in dialogue).encode(), digest_size=16)
    speaking = bool(dialogue) and dialogue[-1][0] == "user"
    said = tuple(text for _, text in (dialogue[:-1] if speaking else dialogue))
    words = dialogue[-1][1][:_HEARD] if speaking else ""
    return Heard(words, read_scene("\n\n".join(told), said), asked, digest.digest())
