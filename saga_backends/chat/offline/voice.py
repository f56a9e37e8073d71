"""Voices, which contain the texts, the grammar and the parser of one language."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b

from attrs import frozen

from saga_backends.chat.offline import prose_en, prose_ko, speech_en, speech_ko
from saga_backends.chat.offline.intent import Amount, Intent
from saga_backends.chat.offline.scene import Scene
from saga_core.language import has_final, is_hangul, josa


class _Korean(str):
    """A word whose format spec is a pair of particle forms, or a single form."""

    __slots__ = ()

    def __format__(self, spec: str) -> str:
        if not spec:
            return str(self)
        if spec == "이다/다":
            return f"{self}{'이다' if has_final(self) else '다'}"
        return josa(str(self), spec) if "/" in spec else f"{self}{spec}"


class _English(str):
    """A word whose format spec ``a`` (or ``A``) adds an article, unless the word is a name or a plural."""

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
    """The format of an item with its quantity, with ``{name}`` and ``{quantity}``."""
    word: type[str]

    def say(self, key: str, variant: int, **words: str) -> str:
        """Return the line ``key``. The wording depends on the variant, and on ``words`` so that two places differ."""
        choices = self.lines[key]
        return choices[(_spread(*words.values()) + variant) % len(choices)].format(**self._spoken(words))

    def phrase(self, key: str, **words: str) -> str:
        """Return a short phrase for the state block."""
        return self.words[key].format(**self._spoken(words))

    def saying(self, person: str, place: str, variant: int) -> str:
        """Return what ``person`` says at ``place``. It is always the same, except that each swipe changes it."""
        return self.sayings[(_spread(person, place) + variant) % len(self.sayings)]

    def amount(self, amount: Amount) -> str:
        """Return an item and its quantity in words."""
        if amount.quantity == 1:
            return amount.name
        return self.count.format(name=amount.name, quantity=amount.quantity)

    def listed(self, names: Sequence[str]) -> str:
        """Return the names as a list in one text."""
        return self.words["and"].join(names)

    def _spoken(self, words: Mapping[str, str]) -> dict[str, str]:
        return {name: self.word(value) for name, value in words.items()}


def _spread(*texts: str) -> int:
    """Return a number that depends only on the texts."""
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
    """Return the Korean voice if the words contain Hangul, otherwise the English one."""
    return KOREAN if any(map(is_hangul, words)) else ENGLISH
