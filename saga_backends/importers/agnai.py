"""Memory books and chats of Agnai."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from saga_backends.importers.lore import (
    ANY,
    PLACE,
    entries_of,
    first_entry_has,
    item_of,
    key_texts,
    keys_of,
    order_of,
    percent_of,
)
from saga_core.imports import (
    FILE_DATE,
    KEPT,
    OWN_EDITOR,
    OWN_TOOL,
    Chat,
    ChatMessage,
    Fields,
    Fit,
    ForeignFile,
    Lorebook,
    Record,
    fates,
    mapped,
    read_time,
    stem,
)
from saga_core.world import LoreRule

ENTRY = fates(
    (KEPT, "name entry keywords priority enabled constant secondaryKeys selective probability"),
    (mapped("read as the order"), "weight"),
    (OWN_EDITOR, "id"),
    (mapped("a note"), "comment"),
    (PLACE, "position"),
)
CHAT = fates(
    (KEPT, "name messages"),
)
MESSAGE = fates(
    (KEPT, "msg createdAt"),
    (mapped("it tells the player's messages from others"), "userId characterId"),
    (mapped("the speaker"), "handle"),
    (mapped("the speaker, where there is no handle"), "name"),
    (FILE_DATE, "updatedAt"),
    (OWN_TOOL, "_id kind"),
)


class Agnai:
    """Reads what Agnai exports."""

    kinds: Mapping[str, str] = {"agnai_book": "a memory book of Agnai", "agnai_chat": "a chat of Agnai"}

    def fits(self, file: ForeignFile) -> Fit:
        """See ``Importer.fits``."""
        return Fit.LIKELY if first_entry_has(file.fields, "keywords", "entry") or _is_chat(file) else Fit.NONE

    def read(self, file: ForeignFile) -> Iterable[tuple[str, Record]]:
        """See ``Importer.read``."""
        return [("agnai_chat", _chat(file)) if _is_chat(file) else ("agnai_book", _book(file))]


def _is_chat(file: ForeignFile) -> bool:
    rows = file.fields.get("messages")
    return isinstance(rows, list) and bool(rows) and isinstance(rows[0], dict) and "msg" in rows[0]


def _book(file: ForeignFile) -> Lorebook:
    losses, items = file.losses, []
    book = Fields(file.fields, losses)
    for entry in entries_of(file.fields, losses):
        entry.account(ENTRY)
        rule = LoreRule(
            keys=keys_of(key_texts(entry, "keywords")),
            second_keys=keys_of(entry.texts("secondaryKeys")) if entry.flag("selective") else (),
            enabled=entry.flag("enabled") is not False,
            order=order_of(entry.whole("weight", least=ANY)),
            priority=entry.whole("priority", least=ANY),
            probability=percent_of(entry.whole("probability")),
        )
        items.append(item_of(entry, entry.text("name"), entry.text("entry"), bool(entry.flag("constant")), rule))
    return Lorebook(name=book.text("name"), description=book.text("description"), items=tuple(items))


def _chat(file: ForeignFile) -> Chat:
    whole = Fields(file.fields, file.losses)
    whole.account(CHAT)
    messages = []
    for message in whole.objects("messages", "message", prefix="messages."):
        message.account(MESSAGE)
        if text := message.said("msg"):
            messages.append(
                ChatMessage(
                    role="user" if message.text("userId") and not message.text("characterId") else "assistant",
                    text=text,
                    speaker=message.text("handle", "name"),
                    at=read_time(message.plain.get("createdAt")),
                )
            )
    return Chat.of(whole.text("name") or stem(file.name), messages)


IMPORTER = Agnai()
