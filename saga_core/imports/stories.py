"""Turns chats into stories: trees of turns, with unused swipes as siblings and branches as timelines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from attrs import define, evolve, field, frozen

from saga_core.imports.records import Chat, ChatMessage, Refused
from saga_core.language import clean_name
from saga_core.state_block import without_thoughts
from saga_core.transcript import Transcript, Utterance, identity_key, persona_of, words_key
from saga_core.world import MacroRoom, TooManyMacros, fill_macros, name_character

ROOT = -1
_NAME = 200
_UNANSWERED = "the chat holds no reply to anything that the player said"
_SILENT = Transcript(({"role": "system", "content": ""},), ())


@frozen(kw_only=True)
class StoryTurn:
    """The player's words and a reply. ``parent`` is the index of the previous turn, or ``ROOT``."""

    parent: int
    user: str
    user_key: str
    reply: str
    reply_key: str
    at: float
    player: str = ""
    """The name of the player who said the words; "" if it is unknown."""


@frozen(kw_only=True)
class StoryLine:
    """A chat as a path. It leaves the turns of the chats before it at ``fork``, and ends at ``head``."""

    name: str
    fork: int
    head: int
    at: float
    first: tuple[str, ...] = ()
    """The player's first words."""


@frozen
class StoryPart:
    """A summary of the turns at the depths ``first`` to ``last`` of a path."""

    first: int
    last: int
    text: str


@define(kw_only=True)
class Story:
    """A tree of turns. In ``turns``, parents come before their children."""

    title: str
    character: str
    members: tuple[str, ...]
    greeting: tuple[str, ...]
    turns: list[StoryTurn] = field(factory=list)
    lines: list[StoryLine] = field(factory=list)
    files: list[str] = field(factory=list)
    parts: dict[int, list[StoryPart]] = field(factory=dict)
    """The index of a turn to the summaries that end there."""
    _children: dict[tuple[int, str, str], int] = field(factory=dict)

    @property
    def head(self) -> int:
        """The end of the chat that was played last. If several were, the first of them counts."""
        return max(self.lines, key=lambda line: line.at).head

    @property
    def branches(self) -> list[StoryLine]:
        """All lines except the first."""
        return self.lines[1:]

    @property
    def swipes(self) -> int:
        """The number of turns that have no children and are not the end of a chat."""
        parents, heads = {turn.parent for turn in self.turns}, {line.head for line in self.lines}
        return sum(at not in parents and at not in heads for at in range(len(self.turns)))

    def add(self, turn: StoryTurn) -> int:
        """Add a turn unless the tree has it, and return its index."""
        key = (turn.parent, turn.user_key, turn.reply_key)
        found = self._children.get(key)
        if found is None:
            found = self._children[key] = len(self.turns)
            self.turns.append(turn)
        return found


def plan_stories(chats: Iterable[tuple[str, Chat]]) -> tuple[list[Story], list[Refused]]:
    """Turn chats, each with its file's name, into stories. Also returns the files that cannot be told as a story.

    Chats with the same greeting and first words become one story. A chat also joins the story of the chat that it
    says it branches off from, if the greeting is the same.
    """
    stories: list[Story] = []
    by_name: dict[str, Story] = {}
    by_start: dict[tuple[tuple[str, ...], str], Story] = {}
    refused: list[Refused] = []
    room = MacroRoom()
    for file, chat in _parents_first(list(chats)):
        before = room.left
        try:
            greeting, told, depths = _read(chat, room)
            parts = list(_parts(chat, depths, len(told), room))
        except TooManyMacros as error:
            refused.append(Refused(file, str(error)))
            room.left = before  # its texts are not kept
            continue
        if not told:
            refused.append(Refused(file, _UNANSWERED))
            continue
        keys = tuple(identity_key(text) for text in greeting)
        first = words_key(told[0].words)
        parent = by_name.get(chat.parent) if chat.parent else None
        if parent is not None and tuple(map(identity_key, parent.greeting)) != keys:
            parent = None
        story = parent or by_start.get((keys, first))
        if story is None:
            story = Story(
                title=clean_name(chat.name)[:_NAME], character=chat.character, members=chat.members, greeting=greeting
            )
            stories.append(story)
        by_start.setdefault((keys, first), story)
        by_name.setdefault(chat.name, story)
        _insert(story, chat, told, parts)
        story.files.append(file)
    return stories, refused


def _parents_first(chats: list[tuple[str, Chat]]) -> list[tuple[str, Chat]]:
    """The chats in their order, except that a chat comes after the one that it branches off from."""
    depth: dict[str, int] = {}
    parents = {chat.name: chat.parent for _, chat in chats}
    for name in parents:
        steps, at = 0, name
        while at in parents and parents[at] and steps <= len(parents):
            at, steps = parents[at], steps + 1
        depth[name] = steps
    return sorted(chats, key=lambda each: depth[each[1].name])


@frozen
class _Exchange:
    """The player's words and the reply to them, with what a narrator said before either."""

    words: list[Utterance]
    player: str
    reply: ChatMessage
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    """What a narrator said after the last reply."""


def _read(chat: Chat, room: MacroRoom) -> tuple[tuple[str, ...], list[_Exchange], list[int]]:
    """Return the greeting, the turns, and for each message the depth of its turn. Words without a reply are left out.

    What a narrator says belongs to the next turn, or to the last one. Frontends send it as a system message, so it is
    no part of what a turn is recognised by.
    """
    greeting: list[str] = []
    told: list[_Exchange] = []
    narrated: list[str] = []
    depths: list[int] = []
    words: list[Utterance] = []
    player, begun = chat.user, False
    for at, message in enumerate(chat.messages):
        room.where = f"message {at + 1}"
        message = evolve(
            message,
            text=_said(chat, message, message.text, room),
            swipes=tuple(_said(chat, message, text, room) for text in message.swipes),
        )
        depths.append(len(told) + 1 if begun or message.role == "user" else 0)
        if message.role == "narrator":
            narrated.append(message.text)
            continue
        if message.role == "user":
            player, begun = message.speaker or chat.user, True
            words.append(Utterance("user", message.text, at))
        elif not begun:
            greeting.append(message.text)
        else:
            told.append(_Exchange(words, player, message, before=tuple(narrated)))
            words, narrated = [], []
    if narrated and told:
        told[-1] = evolve(told[-1], after=tuple(narrated))
    return tuple(greeting), told, depths


def _said(chat: Chat, message: ChatMessage, text: str, room: MacroRoom) -> str:
    """The text as the frontend sends it: macros are resolved, and in a group the speaker's name precedes it."""
    character = message.speaker or chat.character
    if "{{" in text or "<" in text:
        text = name_character(text, character, room) if character else text
        text = fill_macros(text, user=chat.user or "{{user}}", seed=chat.name, room=room)
    is_named = text.lstrip().startswith((f"{message.speaker}:", f"{message.speaker}："))
    if message.role == "assistant" and chat.members and message.speaker and not is_named:
        return f"{message.speaker}: {text}"
    if message.role == "assistant":
        return Utterance("assistant", without_thoughts(text), 0).text
    return Utterance("user", text, 0).text


def _insert(story: Story, chat: Chat, told: Sequence[_Exchange], parts: Iterable[StoryPart]) -> None:
    before = len(story.turns)
    at, fork = ROOT, ROOT
    path: list[int] = []
    for each in told:
        message = each.reply
        turn = StoryTurn(
            parent=at,
            user="\n".join([*each.before, *(said.text for said in each.words)]),
            user_key=words_key(each.words),
            reply="\n\n".join([message.text, *each.after]),
            reply_key=identity_key(message.text),
            at=message.at,
            player=_player(each.player),
        )
        number = story.add(turn)
        for text in message.swipes:
            story.add(evolve(turn, reply=text, reply_key=identity_key(text)))
        at = number
        path.append(number)
        if number < before:
            fork = number
    for part in parts:
        ended = story.parts.setdefault(path[part.last - 1], [])
        if part not in ended:
            ended.append(part)
    latest = max((each.reply.at for each in told), default=0.0)
    name = _free(clean_name(chat.name)[:_NAME] or "chat", [line.name for line in story.lines])
    first = tuple(said.text for said in told[0].words)
    story.lines.append(StoryLine(name=name, fork=fork, head=at, at=latest, first=first))


def _player(name: str) -> str:
    """The player's name, as a request with it would be read; "" if it is not a name."""
    found = persona_of(_SILENT, name)
    return found.name if found is not None else ""


def _parts(chat: Chat, depths: Sequence[int], deepest: int, room: MacroRoom) -> Iterable[StoryPart]:
    """The chat's summaries by the depths of their turns. A turn in two summaries belongs to the first."""
    reached = 0
    room.where = "a summary"
    for summary in chat.summaries:
        first, last = max(depths[summary.first], reached + 1), min(depths[summary.last], deepest)
        if first <= last:
            text = name_character(summary.text, chat.character, room) if chat.character else summary.text
            filled = fill_macros(text, user=chat.user or "{{user}}", seed=chat.name, room=room)
            yield StoryPart(first, last, filled)
            reached = last


def _free(name: str, taken: Sequence[str]) -> str:
    found, count = name, 2
    while found in taken:
        found, count = f"{name} ({count})", count + 1
    return found
