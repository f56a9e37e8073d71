"""The words of the context block in English."""

from __future__ import annotations

from saga_core.language.labels import Labels

LABELS = Labels(
    opening="[SAGA: what is true now]",
    closing="[/SAGA]",
    place="Place",
    hp="HP",
    inventory="Inventory",
    mood="Mood",
    player="Player",
    present="Present",
    nearby="Nearby",
    ways="Ways",
    dead="Dead",
    changed="Changed",
    nothing="none",
    since_turn="{name} (since turn {depth})",
    turn="(turn {depth})",
    secret="(secret, known only to {names})",
    secret_of_none="(secret, known to nobody)",
    is_dead="(dead now)",
    renamed="{old} is now called {name}",
    same_as="{old} and {name} are the same",
    alive_again="{name} is alive",
    gone="{name}: no relation",
    unnoted='not true: "{text}"',
    more="{count} more",
    not_there="({names} not there)",
    formerly="(before: {text})",
    wish="The player's wish",
    limit="The player's limit, not to be told",
    edges={
        "LOCATED_AT": "is at",
        "OWNS": "has",
        "ADJACENT": "leads to",
        "INVOLVED_IN": "took part",
        "CAUSED": "caused",
        "KNOWS": "knows",
        "RELATED": "related",
        "HAS_LORE": "lore",
        "ITEM_LORE": "lore",
    },
)
