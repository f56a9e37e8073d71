"""Episodes: the texts that recall keeps of turns, stored once with each turn."""

from __future__ import annotations

from datetime import date

from saga_core.language import language_of, looked_through
from saga_core.model import Delta, TurnNode, WorldState, deltas
from saga_core.state_block import prose_of


def render_episode(delta: Delta, after: WorldState, user: str, reply: str, language: str) -> str:
    """Return the episode of the turn that led to ``after``: a line of facts, then the shortened texts."""
    texts = language_of(language).texts
    words = texts.episode
    facts = [f"{words['turn']} {after.depth}"]
    if after.location:
        facts.append(f"{words['place']}: {after.name(after.location)}")
    groups: dict[str, list[str]] = {"met": [], "gained": [], "lost": [], "event": []}

    def note(group: str, id_: str) -> None:
        now = after.merged.get(id_, id_)
        if now in after.entities and now != after.player:
            groups[group].append(after.name(now))

    for event in delta.events:
        if isinstance(event, deltas.Met):
            note("met", event.who)
        elif isinstance(event, deltas.ItemGained):
            note("gained", event.item)
        elif isinstance(event, deltas.ItemLost):
            note("lost", event.item)
        elif isinstance(event, deltas.EventTriggered):
            groups["event"].append(event.name)
    facts += [f"{words[name]}: {', '.join(dict.fromkeys(found))}" for name, found in groups.items() if found]
    lines = [" | ".join(facts)]
    if user:
        lines.append("> " + _cut(user, texts.sizes.words))
    if reply:
        lines.append(_cut(prose_of(reply), texts.sizes.reply))
    return "\n".join(lines)


def witnesses(above: TurnNode, before: WorldState, after: WorldState) -> tuple[str, ...]:
    """Return the ids of the characters who were with the player at the beginning or end of the turn below ``above``.

    If nobody reported that one and the player is elsewhere now, those from before it were left on the way.
    """
    began = () if above.unreported and before.location != after.location else before.present
    return tuple(dict.fromkeys((*began, *after.present)))


def spoken_day(day: date, language: str) -> str:
    """Return a date as people say it, with the month in letters: ``8 May 2023``, ``2023년 5월 8일``."""
    return language_of(language).texts.day(day)


def _cut(text: str, limit: int) -> str:
    """Return ``text`` on one line. Beyond ``limit`` characters its middle is omitted, as both ends matter most."""
    line = " ".join(looked_through(text).split())
    if len(line) <= limit:
        return line
    half = limit // 2 - 2
    return f"{line[:half].rstrip()} … {line[-half:].lstrip()}"
