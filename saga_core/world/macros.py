"""Macros in the texts of cards and lore: ``{{char}}``, ``{{user}}`` and those that are resolved at each turn."""

from __future__ import annotations

import hashlib
import re

from attrs import define

from saga_core.errors import BadInput

_MACRO = re.compile(r"\{\{([^{}]{1,2000})\}\}|<(USER|BOT|CHAR)>", re.IGNORECASE)
_DICE = re.compile(r"([0-9]{0,3})d([0-9]{1,6})(?:([+-])([0-9]{1,6}))?", re.IGNORECASE)
_GONE = ("trim", "noop")
USER = "{{user}}"
MOST_FILLED = 32_000_000
"""Most characters that names may take in place of macros in one import. Larger than any file of a world."""


class TooManyMacros(BadInput):
    """Names in place of macros would take too much. The message says how many macros, and how long the name is."""


@define
class MacroRoom:
    """The characters that names may still take in place of macros, for all texts that share this object."""

    left: int = MOST_FILLED
    where: str = "a text"
    """The field whose text is being filled, for the error."""

    def taken(self, count: int, name: str) -> None:
        """Take the room of ``count`` names."""
        self.left -= count * len(name)

    def holds(self, count: int, name: str) -> bool:
        """Whether there is room for ``count`` names."""
        return count * len(name) <= self.left

    def refusal(self, macro: str, count: int, name: str) -> TooManyMacros:
        """The error for a text with ``count`` macros."""
        return TooManyMacros(
            f"{self.where}: {macro} stands {count:,} times in it, for a name of {len(name):,} characters: "
            f"{count * len(name):,} characters, where {max(0, self.left):,} are left of {MOST_FILLED:,}; "
            "shorten the name, or remove macros"
        )


def name_character(text: str, character: str, room: MacroRoom) -> str:
    """Replace ``{{char}}`` by the character's name, and every form of the player's macro by ``{{user}}``.

    Raises ``TooManyMacros``, before the text grows, if ``room`` does not hold the names.
    """
    if "{{" not in text and "<" not in text:
        return text
    count = 0

    def put(found: re.Match[str]) -> str:
        nonlocal count
        word = (found[1] or found[2]).strip().lower()
        if word in ("char", "bot"):
            count += 1
            if not room.holds(count, character):
                raise room.refusal("{{char}}", _times(text, ("char", "bot")), character)
            return character
        return USER if word == "user" else found[0]

    named = _MACRO.sub(put, text)  # until it returns, the names are references to one text
    room.taken(count, character)
    return named


def fill_macros(text: str, *, user: str, seed: str, room: MacroRoom) -> str:
    """Resolve the macros: fill in the player's name, and make random choices that depend only on ``seed``.

    Unknown macros stay as they are. Raises ``TooManyMacros``, before the text grows, if ``room`` does not hold the
    names.
    """
    if "{{" not in text:
        return text
    count = users = 0

    def put(found: re.Match[str]) -> str:
        nonlocal count, users
        count += 1
        inner = (found[1] or found[2]).strip()
        name, _, rest = inner.partition(":")
        word = name.strip().lower()
        if word == "user":
            users += 1
            if not room.holds(users, user):
                raise room.refusal("{{user}}", _times(text, ("user",)), user)
            return user
        if word in ("random", "pick"):
            choices = _choices(rest)
            return choices[draw(seed, f"{count}", len(choices))] if choices else ""
        if word in ("roll", "dice"):
            return _rolled(rest.strip() or "d6", seed, count) or found[0]
        if word == "newline":
            return "\n"
        if inner.startswith("//") or word in ("comment", *_GONE):
            return ""
        return found[0]

    filled = _MACRO.sub(put, text)
    room.taken(users, user)
    return filled


def _times(text: str, words: tuple[str, ...]) -> int:
    """How many macros of a text have one of these names."""
    return sum((found[1] or found[2]).strip().lower() in words for found in _MACRO.finditer(text))


def draw(seed: str, what: str, sides: int) -> int:
    """A number below ``sides`` that depends only on the two texts."""
    raw = hashlib.blake2b(f"{seed}\0{what}".encode(), digest_size=8).digest()
    return int.from_bytes(raw, "big") % sides


def _choices(rest: str) -> list[str]:
    parts = rest.lstrip(":").split("::") if "::" in rest else rest.split(",")
    return [part.strip() for part in parts if part.strip()]


def _rolled(dice: str, seed: str, count: int) -> str:
    found = _DICE.fullmatch(f"d{dice}" if dice.isdecimal() else dice)
    if found is None or not int(found[2]):
        return ""
    many = min(int(found[1] or 1), 100)
    total = sum(1 + draw(seed, f"{count}.{each}", int(found[2])) for each in range(many))
    extra = int(found[4] or 0)
    return str(total - extra if found[3] == "-" else total + extra)
