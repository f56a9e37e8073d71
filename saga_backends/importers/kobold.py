"""Stories of Kobold Lite."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Literal

from saga_core.imports import (
    KEPT,
    OWN_TOOL,
    SENT_AGAIN,
    Chat,
    ChatMessage,
    Fields,
    Fit,
    ForeignFile,
    Record,
    fates,
    stem,
)

STORY = fates(
    (KEPT, "prompt actions"),
    (SENT_AGAIN, "memory authorsnote worldinfo"),
    (OWN_TOOL, "savedsettings gamestarted"),
)
Role = Literal["user", "assistant"]
_ADVENTURE, _CHAT, _INSTRUCT = 2, 3, 4
"""Values of ``savedsettings.opmode``."""
_BETWEEN_NAMES = "||$||"
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
        text = "".join(pieces)
        saved = story.inner("savedsettings")
        is_marked = _MARKS.search(text) is not None
        messages = _marked(text, file) if is_marked else _in_mode(text, saved)
        if not is_marked and not any(each.role == "user" for each in messages):
            why = "a story without marks: each piece is a reply without words before it"
            file.losses.add("actions", "mapped", why)
            messages = [ChatMessage(role="assistant", text=piece.strip()) for piece in pieces if piece.strip()]
        name = saved.text("chatname") if saved.whole("opmode") == _CHAT else ""
        return [("kobold_chat", Chat.of(stem(file.name), messages, user=name))]


def _in_mode(text: str, saved: Fields) -> list[ChatMessage]:
    """The messages of a story without marks, by the mode in which it was played. None in story mode."""
    mode = saved.whole("opmode")
    if mode == _CHAT and (name := saved.text("chatname")):
        others = [each.strip() for each in saved.text("chatopponent").split(_BETWEEN_NAMES) if each.strip()]
        names = "|".join(map(re.escape, sorted([name, *others], key=len, reverse=True)))
        pieces = re.split(rf"^({names}): ?", text, flags=re.MULTILINE)
        return _alternating(pieces, lambda speaker: ("user" if speaker == name else "assistant", speaker))
    if mode == _ADVENTURE:
        pieces = re.split(r"^>[ \t]*(.+)$", text, flags=re.MULTILINE)
        found = [ChatMessage(role="assistant", text=pieces[0].strip())] if pieces[0].strip() else []
        for action, told in zip(pieces[1::2], pieces[2::2], strict=True):
            found.append(ChatMessage(role="user", text=action.strip()))
            found += [ChatMessage(role="assistant", text=told.strip())] if told.strip() else []
        return found
    tags = [saved.text(each).replace("\\n", "\n") for each in ("instruct_starttag", "instruct_endtag")]
    if mode == _INSTRUCT and all(each.strip() for each in tags):
        pieces = re.split("(" + "|".join(map(re.escape, tags)) + ")", text)
        return _alternating(pieces, lambda tag: ("user" if tag == tags[0] else "assistant", ""))
    return []


def _alternating(pieces: list[str], who: Callable[[str], tuple[Role, str]]) -> list[ChatMessage]:
    """The messages of a text that was split at marks: what precedes the first mark, and each mark with its text."""
    found = [ChatMessage(role="assistant", text=pieces[0].strip())] if pieces[0].strip() else []
    for mark, said in zip(pieces[1::2], pieces[2::2], strict=True):
        role, speaker = who(mark)
        if said.strip():
            found.append(ChatMessage(role=role, text=said.strip(), speaker=speaker))
    return found


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
