"""World files in English."""

from __future__ import annotations

from saga_core.language.world import WorldWords

WORLD = WorldWords(
    keys={
        "character.player": ("player",),
        "character.hp": ("hp",),
        "character.max_hp": ("max_hp",),
        "character.location": ("location",),
        "character.traits": ("traits", "personality"),
        "character.mood": ("mood",),
        "character.occupation": ("occupation", "job"),
        "character.background": ("background",),
        "character.status": ("status",),
        "character.aliases": ("aliases", "alias"),
        "character.items": ("items", "inventory"),
        "character.relations": ("relations", "relationships"),
        "lore.type": ("type",),
        "lore.layer": ("layer",),
        "lore.tags": ("tags", "tag"),
        "lore.aliases": ("aliases", "alias"),
        "lore.constant": ("constant",),
        "lore.neighbours": ("neighbours", "neighbors"),
        "lore.related": ("related",),
        "lore.places": ("places",),
        "lore.items": ("items",),
        "lore.known_by": ("known_by",),
        "lore.secret": ("secret",),
        "front.title": ("title",),
        "front.language": ("language",),
        "front.aliases": ("aliases",),
        "front.match": ("match",),
        "front.greeting": ("greeting",),
        "front.start_events": ("start_events",),
    },
    types={
        "location": "location",
        "item": "item",
        "character": "character",
        "faction": "faction",
        "event": "event",
        "concept": "concept",
    },
    flags={
        "true": True,
        "yes": True,
        "false": False,
        "no": False,
    },
    equipped="equipped",
)
