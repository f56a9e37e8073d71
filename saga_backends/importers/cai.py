"""Chats that CAI Tools saved."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from saga_core.imports import (
    KEPT,
    OWN_TOOL,
    Chat,
    ChatMessage,
    Fields,
    Fit,
    ForeignFile,
    Record,
    fates,
    mapped,
    stem,
    with_messages,
)

HISTORY = fates(
    (KEPT, "histories"),
    (OWN_TOOL, "info"),
)
MESSAGE = fates(
    (mapped("who speaks, and whether it is the player"), "src"),
    (KEPT, "text"),
)


class CaiTools:
    """Reads the histories of one character."""

    kinds: Mapping[str, str] = {"cai_chat": "a chat of CAI Tools"}

    def fits(self, file: ForeignFile) -> Fit:
        """See ``Importer.fits``."""
        return Fit.LIKELY if "histories" in file.fields else Fit.NONE

    def read(self, file: ForeignFile) -> Iterable[tuple[str, Record]]:
        """See ``Importer.read``."""
        whole = Fields(file.fields, file.losses)
        whole.account(HISTORY)
        histories = whole.inner("histories").rows("histories")
        found = []
        for number, each in enumerate(histories):
            history = Fields(each if isinstance(each, dict) else {}, file.losses, f"history {number}")
            messages = []
            for message in history.objects("msgs", f"history {number}, message", prefix="msgs."):
                message.account(MESSAGE)
                source = message.inner("src")
                if text := message.said("text"):
                    messages.append(
                        ChatMessage(
                            role="user" if source.flag("is_human") else "assistant",
                            text=text,
                            speaker=source.text("name"),
                        )
                    )
            name = stem(file.name) if len(histories) == 1 else f"{stem(file.name)} {number + 1}"
            found.append(Chat.of(name, messages))
        return [("cai_chat", each) for each in with_messages(found, file.losses)]


IMPORTER = CaiTools()
