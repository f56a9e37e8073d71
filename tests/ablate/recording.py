"""What was read in the plays: each reply with the state before it, and what was made of it.

Most rules only decide how a reply is read. A play in which every reply is read as before without a rule goes as before,
so it need not be played again.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from attrs import frozen

_SPLIT = re.compile(r"[,，、;；:：()（）\[\]{}「」『』\"“”|<>=]")


@frozen
class Reading:
    """One reply that was read."""

    text: str
    """All that the model sent."""
    finish: str
    given: Mapping[str, Any]
    """What the delta was made from, besides the reply."""
    visible: str
    delta: Any

    def is_the_same_now(self) -> bool:
        """Whether the modules that are imported now read the reply as it was read then."""
        from saga_core.extraction import read_delta
        from saga_core.state_block import BlockFilter, read_ended
        from saga_core.state_block.filter import Hidden

        reading = BlockFilter()
        visible = reading.feed(self.text) + reading.finish()
        hidden = Hidden(visible, reading.raw_blocks)
        found = read_ended(hidden, whole=self.finish == "stop", own=self.given["state"].trackers)
        return visible == self.visible and read_delta(found, **self.given) == self.delta


@contextmanager
def noted_readings() -> Iterator[list[Reading]]:
    """While this is open, replies that are read are noted in the list."""
    from saga_core.play import pending_turn, recording

    found: list[Reading] = []
    latest: dict[str, Any] = {}
    read, made = pending_turn.Reply.reading, recording.read_delta

    @functools.wraps(read)
    def reading(reply: Any, finish: str, *counted: Any) -> Any:
        answer = read(reply, finish, *counted)
        latest.update(text=reply.raw, finish=finish, visible=reply.text)
        return answer

    @functools.wraps(made)
    def read_delta(said: Any, state: Any, /, **given: Any) -> Any:
        delta = made(said, state, **given)
        found.append(Reading(**latest, given={"state": state, **given}, delta=delta))
        return delta

    setters: list[Callable[[], None]] = [
        lambda: setattr(pending_turn.Reply, "reading", read),
        lambda: setattr(recording, "read_delta", made),
    ]
    pending_turn.Reply.reading, recording.read_delta = reading, read_delta  # type: ignore[method-assign]
    try:
        yield found
    finally:
        for undo in setters:
            undo()


def searchable(text: str) -> str:
    """The texts of a play in all forms in which a table's words are compared with them."""
    from saga_core.language import match_text, normalized

    plain = normalized("NFKC", text)
    lines = [line.strip() for each in (text, plain, match_text(plain)) for line in each.splitlines()]
    parts = [part.strip() for line in lines for part in _SPLIT.split(line)]
    ends = [part.rstrip(".。!?！？") for part in parts]
    squashed = ["".join(filter(str.isalnum, part)) for part in parts]
    return "\n".join(dict.fromkeys((*lines, *parts, *ends, *squashed)))


def matches(words: str, text: str) -> bool:
    """Whether a table's pattern or one of its words may match in ``searchable`` text."""
    if re.search(r"[\\|()\[\]?*+]", words) is None:
        return any(word in text for word in (*words.casefold().split(), *words.split(",")) if word)
    try:
        return re.search(words.replace(r"\Z", "$"), text, re.I | re.M) is not None
    except re.error:
        return True
