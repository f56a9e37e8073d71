"""Backyard's archives (``.byaf``): a character, and scenarios with their messages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from attrs import evolve

from saga_backends.importers.lore import entries_of, item_of, keys_of
from saga_core.imports import (
    FILE_DATE,
    KEPT,
    OWN_TOOL,
    SENT_AGAIN,
    Archive,
    Card,
    Chat,
    ChatMessage,
    Fields,
    Fit,
    ForeignFile,
    Lorebook,
    Losses,
    Record,
    Unreadable,
    decode,
    fates,
    mapped,
    plain_files,
    read_json,
    read_time,
)
from saga_core.world import LoreRule

CHARACTER = fates(
    (KEPT, "displayName loreItems"),
    (mapped("the character's name where there is no displayName"), "name"),
    (mapped("the card's description"), "persona"),
    (mapped("files beside the world; nobody opens them"), "images"),
    (OWN_TOOL, "id schemaVersion"),
    (FILE_DATE, "createdAt updatedAt"),
)
SCENARIO = fates(
    (KEPT, "title messages"),
    (mapped("the card's scenario, if it is the first"), "narrative"),
    (mapped("the world's greetings"), "firstMessages"),
    (mapped("the card's example dialogue, if it is the first"), "exampleMessages"),
    (SENT_AGAIN, "formattingInstructions"),
    (OWN_TOOL, "schemaVersion"),
)
MESSAGE = fates(
    (KEPT, "type text createdAt"),
    (mapped("the last is the reply; the others stand beside it"), "outputs"),
    (FILE_DATE, "updatedAt"),
)


class Backyard:
    """Reads ``.byaf`` files. The first character of an archive becomes the card, each scenario with messages a chat."""

    kinds: Mapping[str, str] = {"backyard_chat": "a chat of Backyard"}

    def fits(self, file: ForeignFile) -> Fit:
        """See ``Importer.fits``."""
        names = file.archive.names if file.archive is not None else ()
        is_byaf = "manifest.json" in names and any(each.startswith("characters/") for each in names)
        return Fit.DECLARED if is_byaf else Fit.NONE

    def read(self, file: ForeignFile) -> Iterable[tuple[str, Record]]:
        """See ``Importer.read``."""
        assert file.archive is not None
        card, chats = _read(file.archive, file.losses)
        cards: list[tuple[str, Record]] = [("card", card)] if card is not None else []
        return [*cards, *(("backyard_chat", each) for each in chats)]


def _read(archive: Archive, losses: Losses) -> tuple[Card | None, list[Chat]]:
    characters = [each for each in archive.names if each.startswith("characters/") and each.endswith("character.json")]
    card = _card(_member(archive, characters[0], losses)) if characters else None
    for other in characters[1:]:
        losses.add("characters", "dropped", "an archive's first character is the card; export the others", other)
    chats, greetings, scenario, example = [], [], "", ""
    for path in sorted(each for each in archive.names if each.startswith("scenarios/") and each.endswith(".json")):
        told = _member(archive, path, losses)
        told.account(SCENARIO)
        greetings += [each for row in told.rows("firstMessages") if isinstance(row, dict) and (each := _text(row))]
        scenario = scenario or told.text("narrative")
        example = example or "\n".join(_text(row) for row in told.rows("exampleMessages") if isinstance(row, dict))
        chat = _chat(told, card.name if card is not None else "", path)
        chats += [chat] if chat.messages else []
    if card is None:
        return None, chats
    files = [each for each in archive.names if each.startswith("characters/") and not each.endswith(".json")]
    first, others = (greetings[0], tuple(greetings[1:])) if greetings else ("", ())
    return (
        evolve(
            card,
            first_mes=first,
            alternate_greetings=others,
            scenario=scenario,
            mes_example=example,
            assets=plain_files((path, archive.read(path)) for path in files),
        ),
        chats,
    )


def _member(archive: Archive, path: str, losses: Losses) -> Fields:
    plain: Any = read_json(decode(archive.read(path), losses))
    if not isinstance(plain, dict):
        raise Unreadable(f"{path}: is no JSON object")
    return Fields(plain, losses, path)


def _card(told: Fields) -> Card:
    told.account(CHARACTER)
    return Card(
        version="byaf",
        name=told.text("displayName", "name"),
        description=told.text("persona"),
        book=_lorebook(told.rows("loreItems"), told.losses) if told.rows("loreItems") else None,
    )


def _lorebook(rows: list[Any], losses: Losses) -> Lorebook:
    items = []
    for entry in entries_of({"entries": rows}, losses):
        rule = LoreRule(keys=keys_of(entry.texts("key", split=True)))
        items.append(item_of(entry, "", entry.text("value"), False, rule))
    return Lorebook(items=tuple(items))


def _text(row: dict[str, Any]) -> str:
    value = row.get("text")
    return value if isinstance(value, str) else ""


def _chat(told: Fields, character: str, path: str) -> Chat:
    messages: list[ChatMessage] = []
    for row in told.objects("messages", f"{path}, message", prefix="messages."):
        row.account(MESSAGE)
        at = read_time(row.plain.get("createdAt"))
        if row.text("type") == "human":
            messages.append(ChatMessage(role="user", text=row.text("text"), at=at))
            continue
        outputs = [Fields(each, told.losses, row.where) for each in row.rows("outputs") if isinstance(each, dict)]
        texts = [each.text("text") for each in outputs if each.text("text").strip()]
        if texts:
            at = read_time(outputs[-1].plain.get("createdAt"))
            swipes = tuple(texts[:-1])
            messages.append(ChatMessage(role="assistant", text=texts[-1], speaker=character, at=at, swipes=swipes))
    return Chat(name=told.text("title") or path, character=character, messages=tuple(messages))


IMPORTER = Backyard()
