"""Reads Backyard's archives (``.byaf``): a character, and scenarios with their messages."""

from __future__ import annotations

from typing import Any

from attrs import evolve

from saga_core.imports.archives import Archive, plain_files
from saga_core.imports.chat_fates import BYAF_CHARACTER, BYAF_MESSAGE, BYAF_SCENARIO
from saga_core.imports.fields import Fields, read_time
from saga_core.imports.lorebooks import risu_lore
from saga_core.imports.records import Card, Chat, ChatMessage, Losses, Unreadable
from saga_core.imports.texts import decode, read_json


def read_backyard(archive: Archive, losses: Losses) -> tuple[Card | None, list[Chat]]:
    """The first character of an archive as a card, and the chats in its scenarios."""
    characters = [each for each in archive.names if each.startswith("characters/") and each.endswith("character.json")]
    card = _card(_read(archive, characters[0], losses)) if characters else None
    for other in characters[1:]:
        losses.add("characters", "dropped", "an archive's first character is the card; export the others", other)
    chats, greetings, scenario, example = [], [], "", ""
    for path in sorted(each for each in archive.names if each.startswith("scenarios/") and each.endswith(".json")):
        told = _read(archive, path, losses)
        told.account(BYAF_SCENARIO)
        greetings += [each for row in told.rows("firstMessages") if isinstance(row, dict) and (each := _text(row))]
        scenario = scenario or told.text("narrative")
        example = example or "\n".join(_text(row) for row in told.rows("exampleMessages") if isinstance(row, dict))
        chat = _chat(told, card.name if card is not None else "", path)
        chats += [chat] if chat.messages else []
    if card is None:
        return None, chats
    files = [each for each in archive.names if each.startswith("characters/") and not each.endswith(".json")]
    assets = plain_files((path, archive.read(path)) for path in files)
    first, others = (greetings[0], tuple(greetings[1:])) if greetings else ("", ())
    return (
        evolve(
            card,
            first_mes=first,
            alternate_greetings=others,
            scenario=scenario,
            mes_example=example,
            assets=assets,
        ),
        chats,
    )


def _read(archive: Archive, path: str, losses: Losses) -> Fields:
    plain: Any = read_json(decode(archive.read(path), losses))
    if not isinstance(plain, dict):
        raise Unreadable(f"{path}: is no JSON object")
    return Fields(plain, losses, path)


def _card(told: Fields) -> Card:
    told.account(BYAF_CHARACTER)
    lore = [
        {"key": each.get("key", ""), "content": each.get("value", "")}
        for each in told.rows("loreItems")
        if isinstance(each, dict)
    ]
    return Card(
        version="byaf",
        name=told.text("displayName", "name"),
        description=told.text("persona"),
        book=risu_lore(lore, told.losses) if lore else None,
    )


def _text(row: dict[str, Any]) -> str:
    value = row.get("text")
    return value if isinstance(value, str) else ""


def _chat(told: Fields, character: str, path: str) -> Chat:
    messages: list[ChatMessage] = []
    for number, row in enumerate(told.rows("messages")):
        if not isinstance(row, dict):
            told.losses.add("messages", "dropped", "is no message", f"{path}, message {number}")
            continue
        said = Fields(row, told.losses, f"{path}, message {number}", "messages.")
        said.account(BYAF_MESSAGE)
        if said.text("type") == "human":
            messages.append(ChatMessage(role="user", text=said.text("text"), at=read_time(row.get("createdAt"))))
            continue
        outputs = [Fields(each, told.losses, said.where) for each in said.rows("outputs") if isinstance(each, dict)]
        texts = [each.text("text") for each in outputs if each.text("text").strip()]
        if texts:
            at = read_time(outputs[-1].plain.get("createdAt"))
            messages.append(
                ChatMessage(role="assistant", text=texts[-1], speaker=character, at=at, swipes=tuple(texts[:-1]))
            )
    return Chat(name=told.text("title") or path, character=character, messages=tuple(messages))
