"""A voice: one language's lines, words and grammar, and the parser of the player's words in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b

from attrs import frozen

from saga_backends.chat.offline import prose_en, prose_ko, speech_en, speech_ko
from saga_backends.chat.offline.intent import Amount, Intent
from saga_backends.chat.offline.scene import Scene
from saga_core.language import has_final, is_hangul, josa


class _Korean(str):
    """A word whose format spec is a pair of particle forms, or one form for both."""

    __slots__ = ()

    def __format__(self, spec: str) -> str:
        if not spec:
            return str(self)
        if spec == "이다/다":
            return f"{self}{'이다' if has_final(self) else '다'}"
        return josa(str(self), spec) if "/" in spec else f"{self}{spec}"


class _English(str):
    """A word whose format spec ``a`` (or ``A``) puts an article before a single thing that is no name."""

    __slots__ = ()

    def __format__(self, spec: str) -> str:
        text = str(self)
        plural = text.endswith("s") and not text.endswith("ss")
        if spec and text[:1].islower() and not plural and not text.startswith(("a ", "an ", "the ", "some ")):
            text = f"{'an' if text[:1] in 'aeiou' else 'a'} {text}"
        return text[:1].upper() + text[1:] if spec == "A" else text


@frozen
class Voice:
    """Speaks and parses one language."""

    lines: Mapping[str, tuple[str, ...]]
    words: Mapping[str, str]
    sayings: tuple[str, ...]
    hear: Callable[[str, Scene], tuple[Intent, ...]]
    consumable: Callable[[str], bool]
    count: str
    """How so many of a thing are written, with ``{name}`` and ``{quantity}``."""
    word: type[str]

    def say(self, key: str, variant: int, **words: str) -> str:
        """The line ``key``: its wording goes by the words in it, so that two places are not reached alike, and by the
        variant."""
        choices = self.lines[key]
        return choices[(_spread(*words.values()) + variant) % len(choices)].format(**self._spoken(words))

    def phrase(self, key: str, **words: str) -> str:
        """A short phrase of the state block."""
        return self.words[key].format(**self._spoken(words))

    def saying(self, person: str, place: str, variant: int) -> str:
        """What ``person`` has to say at ``place``: always the same there, and another thing on each swipe."""
        return self.sayings[(_spread(person, place) + variant) % len(self.sayings)]

    def amount(self, amount: Amount) -> str:
        """An item and how many of it, in words."""
        if amount.quantity == 1:
            return amount.name
        return self.count.format(name=amount.name, quantity=amount.quantity)

    def listed(self, names: Sequence[str]) -> str:
        """Names in a row."""
        return self.words["and"].join(names)

    def _spoken(self, words: Mapping[str, str]) -> dict[str, str]:
        return {name: self.word(value) for name, value in words.items()}


def _spread(*texts: str) -> int:
    """A number that only the texts decide."""
    return int.from_bytes(blake2b("\0".join(texts).encode(), digest_size=4).digest())


KOREAN = Voice(
    prose_ko.LINES,
    prose_ko.WORDS,
    prose_ko.SAYINGS,
    speech_ko.hear,
    speech_ko.consumable,
    "{name} {quantity}개",
    _Korean,
)
ENGLISH = Voice(
    prose_en.LINES,
    prose_en.WORDS,
    prose_en.SAYINGS,
    speech_en.hear,
    speech_en.consumable,
    "{quantity} × {name}",
    _English,
)


def voice_for(words: str) -> Voice:
    """Korean when the words hold Hangul, English otherwise."""
    return KOREAN if any(map(is_hangul, words)) else ENGLISH
