"""The thoughts that some models and servers leave in a reply. They are no part of the story."""

from __future__ import annotations

import re

from attrs import define, field

from saga_core.language import Unrepeated
from saga_core.state_block.fences import THINK_END, THINK_REACH, THINK_TAG, ends_mark, marks, may_begin_mark
from saga_core.state_block.prose import CHANNEL, end_of_tokens

_LAST_TOKEN = re.compile(r"<\|?[^\W\d][\w ]{0,40}\|>\Z")
_LONGEST_TOKEN = 44


def without_thoughts(text: str) -> str:
    """A reply without its closed sections of thinking, and without tokens of a template at its end.

    A first mark that closes a section which no mark in the reply began has only thoughts before it: the prompt began
    it. So has a later one on a line of its own, because the model thought again; unless no story follows. Any other is
    written for nothing, and stays. An unclosed section stays, because the beginning of the story in it is unknown.
    """
    if not ends_mark(text) and not text.startswith(CHANNEL):
        return text
    if (end := end_of_tokens(text)) and THINK_TAG.match(text.lstrip()) is None:
        text = text[end:]
    text = _without_last_tokens(text)
    kept: list[str] = []
    start, thought, found = 0, -1, False
    last = len(text.rstrip())
    for tag in marks(text):
        if not tag["end"]:
            thought = tag.start() if thought < 0 else thought
            continue
        if thought >= 0:
            kept.append(text[start:thought])
        elif not found or (text[tag.start() - 1] in "\r\n" and tag.end() < last):
            kept.clear()
        elif tag.end() < last:
            continue
        else:
            kept.append(text[start : tag.start()])
        start, thought, found = tag.end(), -1, True
    return "".join((*kept, text[start:])).strip() if found else text


def thinks_only(text: str) -> bool:
    """Whether a text begins with an unclosed section of thinking, so that a stopped reply contains no story yet."""
    start = len(text) - len(text.lstrip())
    opened = THINK_TAG.match(text, start)
    return opened is not None and not opened["end"] and THINK_END.search(text, start) is None


def _without_last_tokens(text: str) -> str:
    whole = end = len(text.rstrip())
    while found := _LAST_TOKEN.search(text, max(0, end - _LONGEST_TOKEN), end):
        end = found.start()
        while end and text[end - 1].isspace():
            end -= 1
    return text[:end] if end < whole else text


@define
class BehindThoughts:
    """Passes on the sections of thinking with which a reply begins, and gives what follows to ``story``."""

    story: Unrepeated
    _held: str = field(default="", init=False)
    """Text in which a mark may begin."""
    _inside: bool = field(default=False, init=False)
    _tail: str = field(default="", init=False)
    """The last of an open section, in which its end may begin."""
    _begun: bool = field(default=False, init=False)

    @property
    def over(self) -> bool:
        """Whether everything is passed on from now on."""
        return self.story.over

    def feed(self, text: str) -> str:
        """Add a piece of text and return the text that can be passed on."""
        text, self._held, thoughts = self._held + text, "", ""
        while not self._begun:
            start = len(text) - len(text.lstrip())
            if self._inside:
                end = THINK_END.search(seen := self._tail + text)
                if end is None:
                    self._tail = seen[-THINK_REACH:]
                    return thoughts + text
                at = end.end() - len(self._tail)
                self._inside, self._tail = False, ""
            elif (tag := THINK_TAG.match(text, start)) and not tag["end"]:
                self._inside, at = True, tag.end()
            elif start == len(text) or (may_begin_mark(text[start]) and len(text) - start <= THINK_REACH):
                self._held = text
                return thoughts
            else:
                self._begun = True
                break
            thoughts, text = thoughts + text[:at], text[at:]
        return thoughts + self.story.feed(text)

    def finish(self) -> str:
        """Return the text that was held back."""
        self._begun = True
        return self.feed("") + self.story.finish()
