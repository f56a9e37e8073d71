"""The transcript of a request: its messages, read as a dialogue, with an identity for each utterance."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import define, field, frozen

from saga_core.errors import BadInput
from saga_core.prompt.plan import flatten
from saga_core.state_block import hide
from saga_core.text.normal import nfc

ROLES = ("system", "developer", "user", "assistant", "tool", "function")
_DIALOGUE = ("user", "assistant")
_IGNORED = re.compile(r"[\s*_\"“”„«»]+")
_SPEAKER = re.compile(r"\s*[^\W\d_][^\n:：.!?\"“*。]{0,39}[:：]\s+")
LADDER = (192, 48, 12)
"""Lengths of the beginnings by which a grown or cut reply is found, longest first."""


@frozen
class Utterance:
    """One user or assistant message."""

    role: str
    text: str
    """NFC, state blocks taken out."""
    index: int
    """Its place in the request's messages."""
    speaker: str = ""
    """The ``name`` field, if the client sent one."""
    images: tuple[str, ...] = ()
    """Fingerprints of its pictures and other parts that are no text."""

    @property
    def key(self) -> str:
        """The identity: equal for texts that differ in decoration only."""
        return identity_key(self.text, self.images)


@frozen
class Transcript:
    """A request's messages as far as they tell the story."""

    messages: tuple[Mapping[str, Any], ...]
    utterances: tuple[Utterance, ...]

    @property
    def greeting(self) -> tuple[Utterance, ...]:
        """The assistant's messages before the player's first words."""
        count = next((i for i, u in enumerate(self.utterances) if u.role == "user"), len(self.utterances))
        return self.utterances[:count]

    @property
    def words(self) -> tuple[Utterance, ...]:
        """The player's words that this request answers: the user messages after the last reply."""
        count = len(self.utterances)
        while count and self.utterances[count - 1].role == "user":
            count -= 1
        return self.utterances[count:]

    @property
    def past(self) -> tuple[Utterance, ...]:
        """Everything before ``words``."""
        return self.utterances[: len(self.utterances) - len(self.words)]

    @property
    def player_words(self) -> str:
        """The text of ``words``."""
        return "\n".join(utterance.text for utterance in self.words)

    @property
    def system_text(self) -> str:
        """All system messages, for the choice of a world. Never part of identity."""
        parts = (flatten(m.get("content") or "") for m in self.messages if m.get("role") in ("system", "developer"))
        return nfc("\n".join(parts))

    @property
    def trailing_system(self) -> str:
        """The system messages after the last utterance: nudges, quiet prompts, post-history notes."""
        last = self.utterances[-1].index if self.utterances else -1
        tail = (m for m in self.messages[last + 1 :] if m.get("role") in ("system", "developer"))
        return "\n".join(flatten(m.get("content") or "") for m in tail)

    @property
    def prefilled(self) -> bool:
        """Whether the very last message is an unfinished reply of the assistant."""
        return bool(self.messages) and self.messages[-1].get("role") == "assistant"


def read_transcript(messages: Sequence[Mapping[str, Any]]) -> Transcript:
    """Check a request's messages and read them. Raises ``BadInput`` naming the message at fault."""
    if not messages:
        raise BadInput("messages: the list is empty; send at least one message")
    utterances = []
    for index, message in enumerate(messages):
        if not isinstance(message, Mapping):
            raise BadInput(f"messages[{index}]: {type(message).__name__} given; a message is an object")
        role = message.get("role")
        if role not in ROLES:
            raise BadInput(f"messages[{index}].role: {role!r} is not known; use one of {', '.join(ROLES)}")
        content = message.get("content")
        _check_content(content, index)
        if role in _DIALOGUE:
            text, images = _read_content(content)
            utterances.append(Utterance(role, text, index, nfc(str(message.get("name") or "")), images))
    return Transcript(tuple(messages), tuple(utterances))


def _check_content(content: Any, index: int) -> None:
    if content is None or isinstance(content, str):
        return
    if not isinstance(content, list):
        raise BadInput(f"messages[{index}].content: {type(content).__name__} given; send text or a list of parts")
    for number, part in enumerate(content):
        where = f"messages[{index}].content[{number}]"
        if not isinstance(part, Mapping) or not isinstance(part.get("type"), str):
            raise BadInput(f'{where}: a part is an object with a "type"')
        if part["type"] == "text" and not isinstance(part.get("text"), str):
            raise BadInput(f'{where}.text: a part of type "text" needs a text')


def _read_content(content: Any) -> tuple[str, tuple[str, ...]]:
    text = nfc(flatten(content or ""))
    if "`" in text or "~" in text:
        text = hide(text).visible
    if content is None or isinstance(content, str):
        return text, ()
    others = (repr(part) for part in content if part.get("type") != "text")
    return text, tuple(hashlib.blake2b(other.encode(), digest_size=8).hexdigest() for other in others)


def identity(text: str) -> str:
    """What counts of a text when it is compared: NFKC, without white space, emphasis, quotes and ``Name:`` in front."""
    speaker = _SPEAKER.match(text)
    if speaker and speaker.end() < len(text):
        text = text[speaker.end() :]
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    return _IGNORED.sub("", text)


@define
class _KeyCache:
    """Identity keys by the hash of the text, so that a long history is normalised once, not at every turn."""

    limit: int = 65_536
    known: dict[tuple[int, int], str] = field(factory=dict)

    def key(self, text: str) -> str:
        handle = (hash(text), len(text))
        found = self.known.get(handle)
        if found is None:
            found = fingerprint(identity(text))
            if len(self.known) >= self.limit:
                self.known.clear()
            self.known[handle] = found
        return found


def fingerprint(text: str) -> str:
    """A short hash of an identity text."""
    return hashlib.blake2b(text.encode(), digest_size=12).hexdigest()


_KEYS = _KeyCache()


def identity_key(text: str, images: tuple[str, ...] = ()) -> str:
    """The fingerprint of a text's identity, pictures included."""
    key = _KEYS.key(text)
    return fingerprint("\0".join((key, *images))) if images else key


def prefix_keys(text: str) -> list[str]:
    """The fingerprints of the beginnings of an identity text, for each length of ``LADDER`` that it reaches."""
    return [f"{length}:{fingerprint(text[:length])}" for length in LADDER if len(text) >= length]
