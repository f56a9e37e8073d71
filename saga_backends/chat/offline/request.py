"""A request as a narrator sees it: the player's words, the scene, and whether a state block is wanted."""

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
"""Characters of the player's words that are listened to: it understands sentences, not books."""


@frozen
class Heard:
    """One request, parsed."""

    words: str
    """What the player said; empty when the dialogue ends with somebody else's words."""
    scene: Scene
    wants_block: bool
    """Without words too: then the story is to go on by itself. A side request wants none."""
    digest: bytes
    """Of the dialogue alone: the same for a swipe, whatever SAGA put around it."""


def hear_request(plan: PromptPlan) -> Heard:
    """Read a plan as a narrator sees it: as the messages that its provider would get."""
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
