"""Lists of messages with ``role`` and ``content``, as requests to chat APIs have them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from saga_core.imports import (
    KEPT,
    Chat,
    ChatMessage,
    Fields,
    Fit,
    ForeignFile,
    Record,
    check_amount,
    fates,
    mapped,
    stem,
    tidy,
)

MESSAGE = fates(
    (KEPT, "role content"),
    (mapped("the speaker"), "name"),
)


class OpenAiMessages:
    """Reads a list of messages, or the body of a request with one."""

    kinds: Mapping[str, str] = {"openai_messages": "a list of messages"}

    def fits(self, file: ForeignFile) -> Fit:
        """See ``Importer.fits``."""
        if isinstance(file.json, list):
            rows = [each for each in file.json if isinstance(each, dict)]
            return Fit.SHAPED if rows and all("role" in each and "content" in each for each in rows) else Fit.NONE
        return Fit.LOOSE if isinstance(file.fields.get("messages"), list) else Fit.NONE

    def read(self, file: ForeignFile) -> Iterable[tuple[str, Record]]:
        """See ``Importer.read``."""
        for name in file.fields:
            if name != "messages":
                file.losses.add(str(name)[:40], "dropped", "settings of a request")
        return [("openai_messages", _chat(file.fields.get("messages", file.json), file))]


def _chat(rows: Sequence[Any], file: ForeignFile) -> Chat:
    check_amount(len(rows), 0)
    losses, messages = file.losses, []
    for at, row in enumerate(rows):
        where = f"message {at}"
        if isinstance(row, dict):
            Fields(row, losses, where).account(MESSAGE)
        role, content = (row.get("role"), row.get("content")) if isinstance(row, dict) else (None, None)
        if isinstance(content, list):
            texts = [part.get("text") for part in content if isinstance(part, dict)]
            if len([each for each in texts if isinstance(each, str)]) < len(content):
                losses.add("content", "dropped", "pictures and other parts that are no text", where)
            content = "\n".join(each for each in texts if isinstance(each, str))
        if role not in ("user", "assistant") or not isinstance(content, str):
            losses.add("role", "dropped", "system messages and tools are no turns of the story", where)
        elif content.strip():
            name = row.get("name")
            speaker = tidy(name) if isinstance(name, str) else ""
            messages.append(ChatMessage(role=role, text=tidy(content), speaker=speaker))
    return Chat.of(stem(file.name), messages)


IMPORTER = OpenAiMessages()
