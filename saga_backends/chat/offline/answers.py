"""Answers questions about the player, the past and the world. Answers do not change the scene."""

from __future__ import annotations

import re

from saga_backends.chat.offline.intent import Act, Amount, Intent
from saga_backends.chat.offline.people import find
from saga_backends.chat.offline.scene import resolve
from saga_backends.chat.offline.telling import Telling, shortened
from saga_core.language import mentions

_QUOTE = re.compile(r"[\"“”「]([^\"“”「」]+)[\"”“」]")

_SECRET = re.compile(
    r"(?<!\s)\s*\((?:비밀: (?:(?P<ko>[^()]+)만 안다|아무도 모른다)"
    r"|secret: (?:only (?P<en>[^()]+) knows|nobody knows))\)\s*$"
)


def about_oneself(telling: Telling, act: Act) -> bool:
    """Tell what the player carries, where they are, how many hit points they have, or who is with them."""
    scene, voice = telling.scene, telling.voice
    if act is Act.ASK_INVENTORY:
        items = voice.listed([voice.amount(Amount(name, count)) for name, count in scene.inventory])
        return telling.line(
            "inventory" if items else "inventory_empty" if scene.told else "inventory_unknown", items=items
        )
    if act is Act.ASK_PLACE:
        return telling.line("where" if scene.place else "where_unknown", place=scene.place)
    if act is Act.ASK_HP:
        hp = str(scene.hp) + (f"/{scene.max_hp}" if scene.max_hp else "")
        return telling.line("hp" if scene.hp is not None else "hp_unknown", hp=hp)
    return telling.line("company" if scene.present else "company_none", names=voice.listed(scene.present))


def past(telling: Telling, intent: Intent) -> bool:
    """Tell what was said or done, using the line that mentions most of the names asked about.

    The remembered turns in SAGA's block are searched first, then the chat itself.
    """
    wanted = [name for name in (intent.person, intent.topic) if name]
    for lines in (telling.scene.earlier, tuple(reversed(telling.scene.said))):
        best = max(lines, key=lambda line: _closeness(line, wanted), default="")
        if _closeness(best, wanted)[0]:
            quotes = _QUOTE.findall(best)
            return telling.line("past", memory=f'"{quotes[-1].strip()}"' if quotes else shortened(best))
    return telling.line("past_unknown")


def lore(telling: Telling, intent: Intent) -> bool:
    """Tell what the lore in the prompt says, through a character if one was asked.

    A secret is only told by a character who knows it.
    """
    name = resolve(intent.topic, (entry for entry, _ in telling.scene.lore))
    text, knowing = _secret(dict(telling.scene.lore).get(name, ""))
    topic = name or intent.topic
    if not intent.person:
        text = "" if knowing is not None else text
        return telling.line("lore" if text else "lore_unknown", topic=topic, text=text)
    who = find(telling, intent.person)
    if not who:
        return False
    telling.meet(who)
    text = text if knowing is None or resolve(who, knowing) else ""
    return telling.line("lore_told" if text else "lore_untold", person=who, topic=topic, text=text)


def _secret(text: str) -> tuple[str, list[str] | None]:
    """Return the text of a lore entry and the only characters who know it, or None if it is not a secret."""
    found = _SECRET.search(text)
    if found is None:
        return shortened(text), None
    names = found["ko"] or found["en"] or ""
    return shortened(_SECRET.sub("", text)), [name.strip() for name in names.split(",")]


def _closeness(line: str, wanted: list[str]) -> tuple[int, bool]:
    """Return how many of the names and topics a line mentions, and whether it contains quoted speech."""
    return sum(mentions(line, name) or _speaks_of(line, name) for name in wanted), bool(_QUOTE.search(line))


def _speaks_of(line: str, topic: str) -> bool:
    """Return whether the line contains all words of a topic, regardless of their endings."""
    stems = [word.casefold().removesuffix("s") for word in topic.split()]
    return all(len(stem) > 2 and stem in line.casefold() for stem in stems)
