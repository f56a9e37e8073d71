"""Evidence for a name in texts: a title beside a name, and what a card says of somebody."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache, cached_property, lru_cache

from attrs import define

from saga_core.language import caseless, every, fold_name, is_hangul, particle_stems
from saga_core.naming.titled import may_be_called

_LINE = re.compile(
    r"^[ \t>*#•·\-–—\[【]{0,12}(?P<name>[^\s:：\-–—][^:：\n]{0,30}?)[ \t*\]】]{0,4}(?:[:：]|[ \t][-–—][ \t])"
    r"[ \t]*(?P<about>[^\n]{1,400})",
    re.M,
)
_CLAUSE = re.compile(r"[.。!?！？;；]")
_WORD = re.compile(r"[\w’'-]+")
_SEARCHED = 60_000
"""Characters of a text, at most."""


@define(slots=False)
class Evidence:
    """Texts in which names stand: what was ``told``, the player's words and the reply, and the ``card``."""

    told: str = ""
    card: str = ""

    def __attrs_post_init__(self) -> None:
        self.told, self.card = self.told[:_SEARCHED], self.card[:_SEARCHED]

    def is_beside(self, one: str, other: str) -> bool:
        """Whether a title and a name stand side by side somewhere, as one person's: ``대사형 조일청``, ``苏晚晴师姐``.

        English has no such signs: there every word stands beside a name at some time.
        """
        if one.isascii() or other.isascii() or one in other or other in one:
            return False
        return any(pair in text for text in (self.told, self.card) for pair in _pairs(one, other))

    def is_nickname(self, name: str, known: str) -> bool:
        """Whether a text says that ``name`` is what ``known`` is called besides: ``石磊，外号小石头``."""
        return any(
            _says_nickname(text, name, known) for text in (self.told, self.card) if name in text and known in text
        )

    def described_as(self, title: str) -> str:
        """Of whom the card says that he or she is ``title``: the name, if it is one person's; else ""."""
        wanted = fold_name(title)
        found = {name for name, words in self._described if wanted in words}
        if not found:
            found = {name for name, _ in self._described if caseless(title) and may_be_called(title, name)}
        return found.pop() if len(found) == 1 else ""

    @cached_property
    def _described(self) -> tuple[tuple[str, frozenset[str]], ...]:
        return _descriptions(self.card)


def _says_nickname(text: str, name: str, known: str) -> bool:
    """Whether a line has ``known``, and behind it, with no other clause between but those of a nickname, ``name``."""
    between = rf"[^\n。.]{{0,24}}?(?:{_nicknames()})[\s:：“\"'「『‘]{{0,3}}"
    return re.search(f"{re.escape(known)}{between}{re.escape(name)}", text) is not None


@cache
def _nicknames() -> str:
    return "|".join(re.escape(word) for each in every() for word in each.names.nicknames)


def _pairs(one: str, other: str) -> Iterator[str]:
    yield from (f"{one} {other}", f"{other} {one}")
    if not _spaced(one):
        yield from (f"{one}{other}", f"{other}{one}")


def _spaced(text: str) -> bool:
    """Whether a name is written in a script that puts spaces between words."""
    return any(map(is_hangul, text))


@lru_cache(maxsize=8)
def _descriptions(text: str) -> tuple[tuple[str, frozenset[str]], ...]:
    """The names that a text describes line by line, with the words of the first clause about each."""
    found: dict[str, set[str]] = {}
    for line in _LINE.finditer(text):
        words = found.setdefault(line["name"].strip(), set())
        words.update(_words(_CLAUSE.split(line["about"], maxsplit=1)[0]))
    return tuple((name, frozenset(words)) for name, words in found.items())


def _words(text: str) -> Iterable[str]:
    for word in _WORD.findall(text):
        yield from (fold_name(stem) for stem in particle_stems(word))
