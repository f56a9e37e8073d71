"""Reads character cards (V1, V2 and V3) from the JSON in a picture, an archive or a file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from saga_backends.importers.tavern.lorebooks import character_book
from saga_backends.importers.tavern.variables import trackers_in_extensions
from saga_core.imports import (
    FILE_DATE,
    KEPT,
    OWN_TOOL,
    SCRIPT,
    Asset,
    Card,
    Fields,
    Lorebook,
    Losses,
    dropped,
    fates,
    mapped,
)

_FRONTEND = mapped("kept in CHARACTERS.md for the author; the frontend sends it with every request")

CARD = fates(
    (KEPT, "name extensions character_book"),
    (_FRONTEND, "description personality scenario mes_example system_prompt post_history_instructions"),
    (mapped("the world's greeting"), "first_mes"),
    (mapped("kept in CHARACTERS.md"), "creator_notes tags creator character_version source"),
    (mapped("the world's other greetings"), "alternate_greetings group_only_greetings"),
    (mapped("files beside the world; nobody opens them"), "assets"),
    (mapped("the character's other name, and what {{char}} stands for"), "nickname"),
    (dropped("the notes in creator_notes are kept"), "creator_notes_multilingual"),
    (FILE_DATE, "creation_date modification_date"),
    (dropped("the picture itself is kept as a file"), "avatar"),
)
EXTENSIONS = fates(
    (OWN_TOOL, "talkativeness fav"),
    (mapped("the linked lorebook is joined with the card, if it is imported too"), "world"),
    (_FRONTEND, "depth_prompt"),
    (SCRIPT, "regex_scripts risuai"),
)
V1 = CARD | fates(
    (KEPT, "char_name spec spec_version data"),
    (_FRONTEND, "char_persona world_scenario example_dialogue"),
    (mapped("the world's greeting"), "char_greeting"),
    (dropped("the picture itself is kept as a file"), "avatar"),
    (OWN_TOOL, "chat metadata talkativeness fav"),
    (FILE_DATE, "create_date"),
    (dropped("the notes in creator_notes are kept"), "creatorcomment"),
    (dropped("a copy of the card"), "json_data"),
)
_UNSAID: dict[str, Any] = {"talkativeness": "0.5"}
_OLD_NAMES = {
    "char_name": "name",
    "char_persona": "description",
    "char_greeting": "first_mes",
    "world_scenario": "scenario",
    "example_dialogue": "mes_example",
}


def read_card(plain: Mapping[str, Any], losses: Losses, assets: tuple[Asset, ...] = ()) -> Card:
    """Read a card of any version. ``assets`` are the files that came with it."""
    data = plain.get("data")
    if not isinstance(data, dict):
        if data is not None:
            losses.add("data", "dropped", "is no object; the fields beside it were read")
        whole = Fields(plain, losses)
        whole.account(V1, _UNSAID)
        return _card(whole, "1", assets)
    version = "3" if plain.get("spec") == "chara_card_v3" else "2"
    card = Fields({**data, **_beside(plain, data, losses)}, losses)
    card.account(CARD | {name: V1[name] for name in _OLD_NAMES})
    return _card(card, version, assets)


def _beside(plain: Mapping[str, Any], data: Mapping[str, Any], losses: Losses) -> Mapping[str, Any]:
    """The fields beside ``data`` that it lacks. Tools write copies of its fields there; others are noted."""
    taken: dict[str, Any] = {}
    for name, value in plain.items():
        own = data.get(_OLD_NAMES.get(name, name))
        if name in ("spec", "spec_version", "data") or value in ("", None, [], {}) or value == own:
            continue
        if (name in CARD or name in _OLD_NAMES) and own in ("", None, [], {}):
            taken[name] = value
            losses.add(name, "mapped", "it stands beside data, where a card has no such field")
        elif name in CARD and name not in ("extensions", "avatar"):
            losses.add(name, "dropped", "it stands beside data, which has another")
        else:
            Fields({name: value}, losses).account(V1, _UNSAID)
    return taken


def _card(card: Fields, version: str, assets: tuple[Asset, ...]) -> Card:
    own = card.inner("extensions")
    trackers, read = trackers_in_extensions(own.plain, card.losses)
    own.account(EXTENSIONS | dict.fromkeys(read, KEPT), _UNSAID)
    book: Lorebook | None = None
    plain_book = card.plain.get("character_book")
    if isinstance(plain_book, dict):
        names = (card.text("name", "char_name"), card.text("nickname"))
        book = character_book(plain_book, card.losses, names)
    elif plain_book is not None:
        card.losses.add("character_book", "dropped", "is no object")
    for each in card.rows("assets"):
        uri = each.get("uri") if isinstance(each, dict) else None
        if isinstance(uri, str) and uri.startswith(("http:", "https:")):
            card.losses.add("assets", "dropped", "SAGA fetches nothing from the network")
    name = card.text("name", "char_name")
    if not name.strip():
        card.losses.add("name", "mapped", "the card has none; the file's name is taken")
    return Card(
        version=version,
        name=name,
        nickname=card.text("nickname"),
        description=card.text("description", "char_persona"),
        personality=card.text("personality"),
        scenario=card.text("scenario", "world_scenario"),
        first_mes=card.text("first_mes", "char_greeting"),
        alternate_greetings=card.texts("alternate_greetings"),
        group_only_greetings=card.texts("group_only_greetings"),
        mes_example=card.text("mes_example", "example_dialogue"),
        system_prompt=card.text("system_prompt"),
        post_history_instructions=card.text("post_history_instructions"),
        creator_notes=card.text("creator_notes"),
        depth_prompt=own.inner("depth_prompt").text("prompt"),
        creator=card.text("creator"),
        character_version=card.text("character_version"),
        tags=card.texts("tags"),
        source=card.texts("source"),
        world=own.text("world"),
        book=book,
        trackers=trackers,
        assets=assets,
    )
