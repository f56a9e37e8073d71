"""What the memories of others need of a model: facts that are read without mistakes, and vectors of words."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from math import sqrt
from typing import Any

from attrs import frozen

from tests.fork.engine import Key
from tests.fork.language import Language, filled, folded, language, names, passages
from tests.fork.memories import terms
from tests.fork.runner import Message

SLOTS = 384
"""The length of a vector: as many as a small model has dimensions."""
FOUND = 20
"""How many memories are found for a question."""
_VALUES = {"place": "rooms", "wound": "wounds", "plan": "tasks", "knows": "facts"}
_OVER = {"heal": "wound", "done": "plan"}


def vector(text: str) -> list[float]:
    """The normalised counts of the words of a text, each in a slot chosen by its checksum."""
    found = [0.0] * SLOTS
    for term in terms(text):
        found[zlib.crc32(term.encode()) % SLOTS] += 1.0
    length = sqrt(sum(each * each for each in found)) or 1.0
    return [each / length for each in found]


@frozen
class Fact:
    """A sentence that tells an event, as it stands in a reply, folded."""

    text: str
    kind: str
    subjects: Sequence[str]
    """The thing, or the people."""
    value: str
    """What becomes of them; of a wound that is healed and a plan that is done, their kind."""

    @property
    def keys(self) -> set[Key]:
        """What the fact decides."""
        return {(self.kind, each, *([self.value] if self.kind == "knows" else [])) for each in self.subjects}

    def replaces(self, other: Fact) -> bool:
        """Whether ``other`` cannot be true any more: somebody is in one place only. What is known stays known."""
        return self.kind != "knows" and self.value != other.value and bool(self.keys & other.keys)


def facts(text: str, spoken: Language) -> list[Fact]:
    """The sentences of a reply that tell its events, but those that only say where the player goes."""
    return [fact for sentence in passages(text) if (fact := _fact(sentence, spoken)) is not None]


def _fact(sentence: str, spoken: Language) -> Fact | None:
    def named(kind: str) -> list[str]:
        return [each for each in spoken.words[kind] if names(sentence, [each], spoken.spaced)]

    people = named("people")
    for row, kind in _OVER.items():
        for text in spoken.templates["tell"][row]:
            if any(sentence == folded(filled(text, {"who": who})) for who in people):
                return Fact(sentence, kind, people, kind)
    if things := named("things"):
        holders = [*people, *named("rooms"), *(spoken.player[:1] if named("player") else [])]
        return Fact(sentence, "holder", things, holders[0]) if holders else None
    for kind, values in _VALUES.items():
        if people and (told := named(values)):
            return Fact(sentence, kind, people, told[0])
    return None


class Told:
    """The chat of one story, of which a memory is told each new reply once, with the player's words before it."""

    def __init__(self, story: Mapping[str, Any]) -> None:
        self.spoken = language(story["language"])
        self.chat: Sequence[Message] = ()
        self._seen: set[str] = set()

    def gone(self, messages: Sequence[Message]) -> set[str]:
        """The ids of the replies that the chat no longer has. If they come back, they are new."""
        gone = self._seen - {message["id"] for message in messages}
        self._seen -= gone
        return gone

    def new(self, messages: Sequence[Message]) -> Iterator[tuple[str, Message]]:
        """Keep the chat as it is, and give the words and the reply of each new turn."""
        self.chat = messages[1:]
        words = ""
        for message in self.chat:
            if message["role"] == "user":
                words = message["content"]
            elif message["id"] not in self._seen:
                self._seen.add(message["id"])
                yield words, message
