"""The ``<think>`` sections that some model servers leave in a reply. They are no part of the story."""

from __future__ import annotations

from saga_core.state_block.syntax import THINK_END, THINK_TAG


def without_thoughts(text: str) -> str:
    """A reply without its closed ``<think>`` sections.

    If the prompt already opened the section, the first tag in the reply closes it, and all text before it is removed.
    An unclosed section stays, because the beginning of the story in it is unknown.
    """
    if "</" not in text:
        return text
    kept: list[str] = []
    start, thought = 0, -1
    for number, tag in enumerate(THINK_TAG.finditer(text)):
        if not tag[1]:
            thought = tag.start() if thought < 0 else thought
        elif thought >= 0 or number == 0:
            kept.append(text[start : max(thought, start)])
            start, thought = tag.end(), -1
    return "".join((*kept, text[start:])).lstrip() if kept else text


def thinks_only(text: str) -> bool:
    """Whether a text begins with an unclosed ``<think>`` section, so that a stopped reply contains no story yet."""
    start = len(text) - len(text.lstrip())
    opened = THINK_TAG.match(text, start)
    return opened is not None and not opened[1] and THINK_END.search(text, start) is None
