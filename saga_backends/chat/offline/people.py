"""People: those here who can be spoken to."""

from __future__ import annotations

from saga_backends.chat.offline.scene import resolve
from saga_backends.chat.offline.telling import Telling
from saga_core.language import mentions


def find(telling: Telling, person: str) -> str:
    """The person meant, who is here; "" after saying that they are not, or that they are dead.

    Somebody of whom the prompt has nothing is a stranger, and strangers may turn up. So may anybody at a place that
    was reached in this very reply: the prompt tells of the one before.
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
