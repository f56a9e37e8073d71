"""The languages that SAGA knows, and which of them a text is written in.

Each is a folder beside this file, with two tables and a grammar.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from functools import cache, lru_cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

from saga_core.language import tables
from saga_core.language.tables import Table

if TYPE_CHECKING:
    from saga_core.language.grammar import Grammar

DEFAULT = "en"
"""The language used for a text in no known language."""
UNSAID = "ko"
"""The language of a ``World`` that code makes without one. World files that state none have that of their script."""

_FRAGMENT = re.compile("«([^«»]+)»")


class _Words:
    """The sections of ``words.toml``. Those that a language leaves out are empty."""

    block: tables.BlockWords
    values: tables.ValueWords
    counted: tables.CountedWords
    amounts: tables.AmountWords
    statuses: tables.StatusWords
    names: tables.NameWords
    persona: tables.PersonaWords
    requests: tables.RequestWords
    story: tables.StoryWords
    past: tables.PastWords
    clock: tables.ClockWords
    genres: tables.GenreWords
    world: tables.WorldWords


class _Texts:
    """The sections of ``texts.toml``."""

    request: tables.BlockRequest
    profiles: tables.ProfileTexts
    labels: tables.Labels
    texts: tables.Texts
    questions: tables.Questions


def _tables_of(sections: type) -> Mapping[str, type[Table]]:
    return {name: vars(tables)[kind.removeprefix("tables.")] for name, kind in sections.__annotations__.items()}


WORDS, TEXTS = _tables_of(_Words), _tables_of(_Texts)
"""The tables of both files, by section."""


class Language(_Words, _Texts):
    """One language. ``tag`` is its primary subtag by BCP 47 and the name of its folder.

    A file is read when one of its sections is used for the first time.
    Raises ``ValueError`` with the file, the section and the row if a table is wrong.
    """

    grammar: Grammar
    """How words become index terms, and what only code can say of the language."""

    def __init__(self, tag: str) -> None:
        self.tag = tag
        self._read: dict[str, Any] = {}

    def __repr__(self) -> str:
        return f"Language({self.tag!r})"

    def __getattr__(self, name: str) -> Any:
        """A part that is used for the first time."""
        if name == "grammar":
            found = import_module(f"{__package__}.{self.tag}.grammar").GRAMMAR
        elif name in WORDS or name in TEXTS:
            found = self._section(name)
        else:
            raise AttributeError(f"a language has no {name!r}")
        setattr(self, name, found)
        return found

    def _section(self, name: str) -> Table:
        file, known = ("words.toml", WORDS) if name in WORDS else ("texts.toml", TEXTS)
        if name not in self._read:
            read = self._file(file)
            unknown = read.keys() - known.keys()
            if unknown:
                raise ValueError(
                    f"{self.tag}/{file} has a section {min(unknown)!r}, which is none of {', '.join(known)}"
                )
            self._read.update({section: read.get(section, {}) for section in known})
        return known[name](self._read.pop(name), f"{self.tag}/{file}: [{name}]")

    def _file(self, name: str) -> dict[str, Any]:
        folder = import_module(f"{__package__}.{self.tag}")
        text = (Path(folder.__path__[0]) / name).read_text(encoding="utf-8")
        try:
            found = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise ValueError(f"{self.tag}/{name}: {error}; keys in other than Latin letters stand in quotes") from error
        own = found.pop("fragments", {})
        if "«" not in text:
            return found
        fragments = {**tables.FRAGMENTS, **self.grammar.fragments, **own}
        return {section: _whole(rows, fragments, f"{self.tag}/{name}: [{section}]") for section, rows in found.items()}


def _whole(value: Any, fragments: Mapping[str, str], where: str) -> Any:
    """A value with the fragments in its patterns."""
    if isinstance(value, dict):
        return {key: _whole(each, fragments, f"{where}: {key}") for key, each in value.items()}
    if isinstance(value, list):
        return [_whole(each, fragments, where) for each in value]
    if not isinstance(value, str) or "«" not in value:
        return value
    unknown = set(_FRAGMENT.findall(value)) - fragments.keys()
    if unknown:
        raise ValueError(
            f"{where} has «{min(unknown)}», which is no fragment; there are {', '.join(sorted(fragments))}"
        )
    return _FRAGMENT.sub(lambda found: fragments[found[1]], value)


@cache
def known() -> tuple[str, ...]:
    """The tags of the known languages, in order."""
    import saga_core.language as room

    return tuple(sorted(found.name for found in iter_modules(room.__path__) if found.ispkg))


@cache
def every() -> tuple[Language, ...]:
    """The known languages, in the order of their tags."""
    return tuple(map(Language, known()))


def primary(tag: str) -> str:
    """The primary subtag of a tag by BCP 47, in lower case: ``ko`` of "ko-KR" and of "ko_KR"."""
    return tag.replace("_", "-").partition("-")[0].casefold()


def language_of(tag: str) -> Language:
    """The language of a tag, by its primary subtag; English for an unknown tag."""
    found = _by_tag().get(tag)
    return found if found is not None else _by_tag().get(primary(tag), _by_tag()[DEFAULT])


def any_of(rows: Callable[[Language], str]) -> str:
    """A pattern that matches what the pattern of any language matches."""
    return "|".join(dict.fromkeys(pattern for each in every() if (pattern := rows(each))))


def all_of(rows: Callable[[Language], Iterable[str]]) -> frozenset[str]:
    """The words of all languages."""
    return frozenset(word for each in every() for word in rows(each))


@cache
def _by_tag() -> dict[str, Language]:
    return {each.tag: each for each in every()}


# -- the language of a text ------------------------------------------------------------------------------------

_TOLD_BY = 16_000
"""The number of characters of a text that are examined."""
_HANGUL = re.compile("[가-힣]+")
_KANA = re.compile("[\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\uff66-\uff9d]+")
_HAN = re.compile("[\u3005\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+")
_UNSPACED = re.compile("[\u3005\u3041-\u30ff\u3400-\u9fff]+")
_ALL_KANA = re.compile("[\u3041-\u30ff]+")
_KATAKANA = re.compile("[\u30a1-\u30fa\uff66-\uff9d]")
_LATIN = re.compile("[A-Za-z]+")
_KEY = re.compile(r"^[ \t]*(?:[-*+][ \t]+)?[A-Za-z_ -]{1,24}:", re.M)
"""Matches a key of a world file at the beginning of a line."""
_KANA_SHARE = 10
"""A Japanese text has at least one kana per this many kana and Han characters. A Chinese text may have a stray one."""


def detect(text: str, default: str = "en") -> str:
    """The tag of the main language of a text, detected by its script.

    Hangul is Korean, kana are Japanese, and Han characters without kana are Chinese, or Japanese if ``default`` is
    "ja". Latin letters are English, or ``default`` if that is written in Latin letters. A character of the other
    scripts counts as two Latin letters. A text without letters of these scripts gives ``default``.
    """
    text = text[:_TOLD_BY]
    if text.isascii():
        return default if default == DEFAULT or _LATIN.search(text) is None else _latin(default)
    return _detected(text, default)


@lru_cache(maxsize=32)
def _detected(text: str, default: str) -> str:
    """Cached, because a card is the same in every turn, and a long one takes 0.1 ms."""
    hangul, latin = _count(_HANGUL, text), _count(_LATIN, text)
    kana, han = _count(_KANA, text), _count(_HAN, text)
    if max(hangul, kana + han) * 2 <= latin:
        return _latin(default) if latin else default
    if hangul >= kana + han:
        return "ko"
    if kana * _KANA_SHARE >= kana + han:
        return "ja"
    return default if default == "ja" and not kana else "zh"


@lru_cache
def _latin(default: str) -> str:
    """The tag of ``default`` if it is written in Latin letters, otherwise that of English."""
    found = language_of(default)
    return found.tag if found.grammar.is_latin else DEFAULT


def _count(letters: re.Pattern[str], text: str) -> int:
    """The number of characters that match ``letters``."""
    return sum(map(len, letters.findall(text)))


def language_of_files(text: str) -> str:
    """The language of an author's files. English keys are ignored, because files in any language may contain them. An
    English text with any Hangul counts as Korean."""
    found = detect(_KEY.sub("", text))
    return "ko" if found == "en" and _HANGUL.search(text) else found


def is_unspaced(text: str) -> bool:
    """Whether a text consists only of kana and Han characters, scripts without spaces between words."""
    return _UNSPACED.fullmatch(text) is not None


def is_kana(text: str) -> bool:
    """Whether a text consists only of kana."""
    return _ALL_KANA.fullmatch(text) is not None


def has_katakana(text: str) -> bool:
    """Whether a text contains katakana, of full or half width."""
    return _KATAKANA.search(text) is not None
