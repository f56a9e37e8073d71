"""A chat made of a public set, and how it is told to a memory: the protocol is that of the fork test."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from attrs import frozen

from tests.fork.runner import Memory, Message

SMALL_TALK = (
    ("Let me fetch a coffee.", "Take your time."),
    ("So, where were we?", "We were just talking."),
    ("Right. One moment.", "Of course."),
)
"""Three turns that say nothing. They fill what a frontend still sends of the chat."""


@frozen
class Turn:
    """The player's words and the reply. ``report`` has the lines of the reply's state block."""

    words: str
    reply: str
    report: tuple[str, ...] = ()
    swiped: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Replies that stood here before, each with its report."""


@frozen
class Question:
    """A question, and what a context should tell and should not."""

    after: int
    """How many turns have been played before it."""
    text: str
    wanted: tuple[str, ...]
    unwanted: tuple[str, ...] = ()
    about: str = ""
    group: str = ""


@frozen
class Chat:
    """A chat and its questions, in their order."""

    id: str
    system: str
    turns: tuple[Turn, ...]
    questions: tuple[Question, ...]


Make = Callable[[Chat], Memory]


def asked(chat: Chat, memory: Memory) -> Iterator[tuple[Question, str]]:
    """Play a chat to a memory; yields each question with the context that the memory gives for it."""
    said: list[Message] = [{"id": "system", "role": "system", "content": chat.system}]
    waiting = list(chat.questions)
    for at, turn in enumerate(chat.turns, 1):
        said.append({"id": f"{at}w", "role": "user", "content": turn.words})
        replies = [*turn.swiped, (turn.reply, turn.report)]
        for number, (text, report) in enumerate(replies):
            row = {"id": f"{at}r{number}", "role": "assistant", "content": text, "report": report}
            memory.add([*said, row])
        said.append(row)
        while waiting and waiting[0].after == at:
            question = waiting.pop(0)
            yield question, memory.context(question.text)
    if waiting:
        raise ValueError(f"{chat.id}: {len(waiting)} questions come after the last turn")


def header(chat: Chat) -> Mapping[str, Any]:
    """What the memories of the fork test are made with."""
    return {"id": chat.id, "language": "en", "player": "", "system": chat.system}


def told(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Messages as a frontend sends them."""
    return [{"role": message["role"], "content": message["content"]} for message in messages]
