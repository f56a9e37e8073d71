"""What a model thought before it spoke, where its server leaves that in the text: no part of the story."""

from __future__ import annotations

from saga_core.state_block.syntax import THINK_END, THINK_TAG


def without_thoughts(text: str) -> str:
    """A reply without its closed ``<think>`` sections.

    Behind a prompt that opens the section itself, the first tag is the closing one, and all before it was thought.
    What is never closed stays: nobody knows where the story begins in it.
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
    """Whether a text begins with a thought that is never closed: of a reply that was stopped, nothing was told yet."""
    start = len(text) - len(text.lstrip())
    opened = THINK_TAG.match(text, start)
    return opened is not None and not opened[1] and THINK_END.search(text, start) is None
