"""Stories of Kobold Lite."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from saga_core.imports import (
    KEPT,
    OWN_TOOL,
    SENT_AGAIN,
    Chat,
    ChatMessage,
    Fate,
    Fields,
    Fit,
    ForeignFile,
    Record,
    stem,
)

STORY: dict[str, Fate] = {
    "prompt": KEPT,
    "actions": KEPT,
    "memory": SENT_AGAIN,
    "authorsnote": SENT_AGAIN,
    "worldinfo": SENT_AGAIN,
    "savedsettings": OWN_TOOL,
    "gamestarted": OWN_TOOL,
}
_MARKS = re.compile(r"\{\{\[(INPUT|OUTPUT|SYSTEM)(_END)?\]\}\}")


class KoboldLite:
    """Reads saved stories: pieces of text, with marks where the player speaks and where the model replies."""

    kinds: Mapping[str, str] = {"kobold_chat": "a story of Kobold Lite"}

    def fits(self, file: ForeignFile) -> Fit:
        """See ``Importer.fits``."""
        return Fit.LIKELY if isinstance(file.fields.get("actions"), list) else Fit.NONE

    def read(self, file: ForeignFile) -> Iterable[tuple[str, Record]]:
        """See ``Importer.read``."""
        story = Fields(file.fields, file.losses)
        story.account(STORY)
        pieces = [story.text("prompt"), *story.texts("actions")]
        if any(_MARKS.search(piece) for piece in pieces):
            messages = _marked("".join(pieces), file)
        else:
            why = "a story without marks: each piece is a reply without words before it"
            file.losses.add("actions", "mapped", why)
            messages = [ChatMessage(role="assistant", text=piece.strip()) for piece in pieces if piece.strip()]
        return [("kobold_chat", Chat.of(stem(file.name), messages))]


def _marked(text: str, file: ForeignFile) -> list[ChatMessage]:
    messages: list[ChatMessage] = []
    role, start = "", 0
    for mark in [*_MARKS.finditer(text), None]:
        said = text[start : mark.start() if mark is not None else len(text)].strip()
        if said and role == "SYSTEM":
            file.losses.add("prompt", "dropped", "instructions are the frontend's")
        elif said:
            messages.append(ChatMessage(role="user" if role == "INPUT" else "assistant", text=said))
        if mark is not None:
            start, role = mark.end(), "" if mark[2] else mark[1]
    return messages


IMPORTER = KoboldLite()
