"""Macros in the texts of cards and lore: ``{{char}}``, ``{{user}}`` and those that are resolved at each turn."""

from __future__ import annotations

import hashlib
import re

_MACRO = re.compile(r"\{\{([^{}]{1,2000})\}\}|<(USER|BOT|CHAR)>", re.IGNORECASE)
_DICE = re.compile(r"([0-9]{0,3})d([0-9]{1,6})(?:([+-])([0-9]{1,6}))?", re.IGNORECASE)
_GONE = ("trim", "noop")
USER = "{{user}}"


def name_character(text: str, character: str) -> str:
    """Replace ``{{char}}`` by the character's name, and every form of the player's macro by ``{{user}}``."""
    if "{{" not in text and "<" not in text:
        return text

    def put(found: re.Match[str]) -> str:
        word = (found[1] or found[2]).strip().lower()
        if word in ("char", "bot") or (found[2] and word == "char"):
            return character
        return USER if word == "user" else found[0]

    return _MACRO.sub(put, text)


def fill_macros(text: str, *, user: str, seed: str) -> str:
    """Resolve the macros: fill in the player's name, and make random choices that depend only on ``seed``.

    Unknown macros stay as they are.
    """
    if "{{" not in text:
        return text
    count = 0

    def put(found: re.Match[str]) -> str:
        nonlocal count
        count += 1
        inner = (found[1] or found[2]).strip()
        name, _, rest = inner.partition(":")
        word = name.strip().lower()
        if word == "user":
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

    return _MACRO.sub(put, text)


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
