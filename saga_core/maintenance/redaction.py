"""Takes a name out of records: out of their texts, and never out of what the program itself gave a meaning."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from functools import lru_cache
from typing import Any, TypeVar, cast

from attrs import evolve, fields, has

from saga_core.language import alike, normalized
from saga_core.model import BLANK

T = TypeVar("T")

_SHORT = 5
"""Letters from which on a name is hardly ever in another word by chance."""

_KEPT = frozenset(
    "id parent session turn turns finish kind how level verdict language profile namespace strategy rule module model "
    "provider call pin pinned scope share owner user_key reply_key curator".split()
)
"""The fields that hold ids, and words of the program. Other ids stay for being words of their own."""

_OF_WORLDS = frozenset("type layer mode logic position role".split())
"""The fields of a world for which it has a few words each."""


def without(value: T, name: str) -> T:
    """Return a record, a text or a collection with ``BLANK`` in place of every ``name``, or the very same without one.

    Case, full width and characters that show nothing make no difference. A name is found within words, too, unless it
    has fewer than five letters of a script with capitals: "Ed" is not in "edge", though it may have an s behind it.
    """
    if isinstance(value, Enum):
        return cast(T, value)
    if isinstance(value, str):
        return cast(T, _cut(value, name))
    if has(type(value)):
        held = {
            each.alias: new
            for each in fields(cast(Any, type(value)))
            if each.init and each.name not in _KEPT
            if (new := without(old := getattr(value, each.name), name)) is not old
        }
        return cast(T, evolve(cast(Any, value), **held)) if held else value
    if isinstance(value, tuple | list | frozenset):
        parts = [without(each, name) for each in value]
        same = all(new is old for new, old in zip(parts, value, strict=True))
        return value if same else cast(T, type(value)(parts))
    if isinstance(value, Mapping):
        pairs = {without(key, name): without(each, name) for key, each in value.items()}
        same = len(pairs) == len(value) and all(key in value and value[key] is each for key, each in pairs.items())
        return value if same else cast(T, pairs)
    return value


def holds(value: Any, name: str) -> bool:
    """Whether the name is in a text of a record, a world or a collection."""
    return any(_cut(text, name) is not text for text in _texts(value))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        if not isinstance(value, Enum):
            yield value
    elif has(type(value)):
        for each in fields(type(value)):
            if each.name not in _KEPT and each.name not in _OF_WORLDS:
                yield from _texts(getattr(value, each.name))
    elif isinstance(value, Mapping):
        yield from _texts([*value, *value.values()])
    elif isinstance(value, tuple | list | frozenset):
        for each in value:
            yield from _texts(each)


def _cut(text: str, name: str) -> str:
    plain, folded = normalized("NFC", text), _folded(name)
    if folded not in alike(plain.casefold()):
        return text
    found, at, cut = list[str](), 0, False
    while at < len(plain):
        end = _match(plain, at, folded)
        cut = cut or bool(end)
        found.append(BLANK if end else plain[at])
        at = end or at + 1
    return "".join(found) if cut else text


@lru_cache(maxsize=8)
def _folded(name: str) -> str:
    return alike(name.casefold())


def _match(text: str, at: int, folded: str) -> int:
    """The end of an occurrence of ``folded`` that begins at ``at``; 0 if none does. Case folding may change lengths."""
    seen, short = "", len(folded) < _SHORT
    if short and at and _joins(text[at - 1], text[at]):
        return 0
    for end in range(at, len(text)):
        seen += alike(text[end].casefold())
        if not folded.startswith(seen):
            return 0
        if seen == folded:
            rest = text[end + 1 : end + 3]
            plural = rest[:1] in ("s", "S") and not _joins(rest[0], rest[1:])
            return end + 1 if not short or plural or not _joins(text[end], rest[:1]) else 0
    return 0


def _joins(one: str, other: str) -> bool:
    """Whether two characters belong to one word of a script with capital letters, or to one number."""
    return all(each != "" and (each.isdecimal() or each.upper() != each.lower()) for each in (one, other))
