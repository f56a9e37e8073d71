"""SAGA's fixed instructions to the narrator: how to use the memory, and how to report changes."""

from __future__ import annotations

from saga_core.language import language_of
from saga_core.state_block import instruction


def static_rules(language: str, *, tools: bool = False) -> str:
    """Return the rules and the state-block instruction in ``language``, as stable bytes for the prompt's prefix.
    ``tools`` means that the narrator may call tools.
    """
    spoken = language_of(language)
    return f"{spoken.texts.rules}\n\n{instruction(spoken.tag, tools=tools)}"
