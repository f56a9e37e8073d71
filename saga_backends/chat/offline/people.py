"""Finds the character that the player addresses."""

from __future__ import annotations

from saga_backends.chat.offline.scene import resolve
from saga_backends.chat.offline.telling import Telling
from saga_core.language import mentions


def find(telling: Telling, person: str) -> str:
    """Return the name of the character if they are present. If they are absent or dead, say so and return "".

    A character that the prompt does not mention is a stranger, who may turn up anywhere. If the player has moved in
    this reply, anybody may turn up, because the prompt only describes the previous place.
    """
    scene = telling.scene
    here = resolve(person, scene.around)
    if here:
        return here
    dead = resolve(person, scene.dead) or (person if telling.fell(person) else "")
    if dead:
        telling.line("dead", person=dead)
        return ""
    known = resolve(person, [*(name for name, _ in (*scene.lore, *scene.inventory)), scene.place])
    elsewhere = known or any(mentions(text, person) for text in (*scene.related, *scene.earlier))
    if scene.told and elsewhere and not telling.moved:
        telling.line("absent", person=person)
        return ""
    return person
