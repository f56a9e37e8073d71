"""The words of the fork test: a file of words and templates for each language, and how a text is read for them."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from attrs import frozen

_FOLDER = Path(__file__).parent / "languages"
_SLOT = re.compile(r"\{(\w+)(?::([^{}]*))?\}")
_ENDS = re.compile(r"(?<=[.!?…])[\"'”’]?\s+|(?<=[。！？])[」』”’\"]?|[|;；]+|\s—\s")


@frozen
class Language:
    """One language: its tag, its words by kind, and its templates by section and row."""

    tag: str
    spaced: bool
    """Whether words are separated by spaces, so that a form must be a whole word."""
    join: str
    """What stands between two sentences."""
    list: str
    """What stands between the names of a list."""
    words: Mapping[str, Sequence[str]]
    templates: Mapping[str, Mapping[str, Sequence[str]]]
    system: str
    greeting: str

    @property
    def player(self) -> Sequence[str]:
        """The forms that name the player's character, first its name."""
        return self.words["player"]


def languages() -> list[str]:
    """The tags of all languages."""
    return sorted(path.stem for path in _FOLDER.glob("*.toml"))


@cache
def language(tag: str) -> Language:
    """The language ``tag``. Raises ``ValueError`` if there is none."""
    path = _FOLDER / f"{tag}.toml"
    if not path.is_file():
        raise ValueError(f"language {tag!r} is not known: use one of {', '.join(languages())}")
    plain: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    return Language(
        plain["tag"],
        plain["spaced"],
        plain["join"],
        plain["list"],
        plain["words"],
        {name: plain[name] for name in ("say", "tell", "fill", "ask", "read")},
        plain["story"]["system"],
        plain["story"]["greeting"],
    )


def filled(template: str, slots: Mapping[str, str]) -> str:
    """``template`` with its slots filled. ``{who:이/가}`` adds the Korean particle that fits the word."""
    text = _SLOT.sub(lambda slot: slots[slot[1]] + _particle(slots[slot[1]], slot[2]), template)
    return text[:1].upper() + text[1:]


def _particle(word: str, pair: str | None) -> str:
    if not pair:
        return ""
    closed, open_ = pair.split("/")
    final = (ord(word[-1]) - 0xAC00) % 28 if "가" <= word[-1] <= "힣" else 0
    # 으로/로: ㄹ (8) counts as open.
    return open_ if final == 0 or (closed == "으로" and final == 8) else closed


def folded(text: str) -> str:
    """``text`` in the form in which words are compared."""
    return unicodedata.normalize("NFKC", text).casefold()


def passages(text: str, about: str = "") -> list[str]:
    """The sentences and cells of a text in their order, folded; only those that have the word ``about``."""
    sought = folded(about)
    lines = (line for line in text.split("\n") if sought in folded(line))
    parts = (folded(part.strip()) for line in lines for part in _ENDS.split(line))
    return [part for part in parts if part and sought in part]


def names(passage: str, forms: Iterable[str], spaced: bool) -> bool:
    """Whether a folded ``passage`` names one of ``forms``, whatever its capitals; a whole word if ``spaced``."""
    return any(
        form in passage and (not spaced or re.search(rf"(?<!\w){re.escape(form)}(?!\w)", passage) is not None)
        for form in map(_folded, forms)
    )


_folded = cache(folded)
