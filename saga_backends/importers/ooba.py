"""Chats and characters of text-generation-webui."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping
from typing import Any

import yaml
from attrs import frozen

from saga_core.imports import (
    KEPT,
    Card,
    Chat,
    ChatMessage,
    Fields,
    Fit,
    ForeignFile,
    Record,
    Unreadable,
    dropped,
    fates,
    mapped,
    read_time,
    stem,
    tidy,
)
from saga_core.yaml_text import BoundedLoader

LOG = fates(
    (KEPT, "internal data_visible metadata"),
    (dropped("the texts as they were shown; the prompt has internal"), "visible"),
    (dropped("the texts before they were shown; those in data_visible count"), "data"),
)
CHARACTER = fates(
    (KEPT, "name"),
    (mapped("the card's description; the frontend sends it with every request"), "context"),
    (mapped("the world's greeting"), "greeting"),
    (mapped("the card's examples of dialogue"), "example_dialogue"),
    (dropped("the persona is the frontend's"), "your_name"),
)
_FIRST = re.compile(rf"(?:{'|'.join(CHARACTER)}): ")
"""How a character begins."""
_BEGIN = "<|BEGIN-VISIBLE-CHAT|>"


@frozen
class _About:
    """What later releases note about messages, by role and row: the time, and the versions of a reply."""

    notes: Fields

    def time(self, key: str) -> float:
        return read_time(self.notes.inner(key).plain.get("timestamp"))

    def versions(self, key: str) -> tuple[str, ...]:
        texts = (each.text("content") for each in self.notes.inner(key).objects("versions", key, what="version"))
        return tuple(dict.fromkeys(tidy(text) for text in texts if text.strip()))


def _character(file: ForeignFile) -> Mapping[str, Any]:
    """The fields of a character in YAML; empty if the file is none. Raises ``Unreadable`` for YAML that is broken."""
    if not _FIRST.match(file.start):
        return {}
    try:
        plain = yaml.load(file.text, BoundedLoader)
    except yaml.YAMLError as error:
        raise Unreadable(f"the YAML cannot be read: {' '.join(str(error).split())}") from error
    is_one = isinstance(plain, dict) and "name" in plain and ("context" in plain or "greeting" in plain)
    return plain if is_one else {}


class Ooba:
    """Reads logs: rows of the player's words and the reply, in the new or the old form. And characters in YAML."""

    kinds: Mapping[str, str] = {"ooba_chat": "a chat of text-generation-webui"}

    def fits(self, file: ForeignFile) -> Fit:
        """See ``Importer.fits``."""
        if _character(file):
            return Fit.LIKELY
        is_log = any(isinstance(file.fields.get(name), list) for name in ("data_visible", "internal"))
        return Fit.LIKELY if is_log else Fit.NONE

    def read(self, file: ForeignFile) -> Iterable[tuple[str, Record]]:
        """See ``Importer.read``."""
        if character := _character(file):
            card = Fields(character, file.losses)
            card.account(CHARACTER)
            found = Card(
                version="1",
                name=card.text("name"),
                description=card.text("context"),
                first_mes=card.text("greeting"),
                mes_example=card.text("example_dialogue"),
            )
            return [("card", found)]
        plain, losses = file.fields, file.losses
        shown = next((name for name in ("data_visible", "visible", "data") if plain.get(name)), "data")
        name = "internal" if isinstance(plain.get("internal"), list) else shown
        Fields(plain, losses).account({**LOG, name: KEPT})
        rows = plain.get(name)
        about = _About(Fields(plain, losses).inner("metadata"))
        messages: list[ChatMessage] = []
        for number, row in enumerate(rows if isinstance(rows, list) else []):
            if not isinstance(row, list) or len(row) != 2 or not all(isinstance(each, str) for each in row):
                losses.add("rows", "dropped", "a row is no pair of texts", f"row {number}")
                continue
            words, reply = (tidy(each if name == "internal" else html.unescape(each)) for each in row)
            if words.strip() and words.strip() != _BEGIN:
                messages.append(ChatMessage(role="user", text=words, at=about.time(f"user_{number}")))
            if reply.strip():
                key = f"assistant_{number}"
                swipes = tuple(each for each in about.versions(key) if each != reply)
                messages.append(ChatMessage(role="assistant", text=reply, at=about.time(key), swipes=swipes))
        return [("ooba_chat", Chat.of(stem(file.name), messages))]


IMPORTER = Ooba()
