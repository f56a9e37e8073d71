"""The values that files of other tools are read into, and the list of what was changed or left out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, Self

from attrs import define, field, frozen

from saga_core.errors import BadInput
from saga_core.trackers import Tracker
from saga_core.world import LoreRule

Verdict = Literal["mapped", "dropped"]


class Unreadable(BadInput):
    """A file, or a member of an archive, cannot be imported. The message says what it looks like and what to do."""


@frozen
class Loss:
    """A field that the import changed or dropped."""

    field: str
    """The name as the file spells it, with dots between nested names."""
    verdict: Verdict
    why: str
    """How the field was mapped, or why it was dropped."""
    count: int = 1
    where: str = ""
    """The first place where it was found."""


_MOST_LOSSES = 1_000
_OTHERS = "other fields"


@define
class Losses:
    """Collects losses, and counts those with the same field, verdict and reason. Beyond a number, fields are counted
    together."""

    _found: dict[tuple[str, Verdict, str], tuple[int, str]] = field(factory=dict)

    def add(self, name: str, verdict: Verdict, why: str, where: str = "", count: int = 1) -> None:
        """Note that a field was mapped or dropped."""
        key = (name, verdict, why)
        if len(self._found) >= _MOST_LOSSES and key not in self._found:
            key = (_OTHERS, verdict, "there are too many to name each")
        before, first = self._found.get(key, (0, where))
        self._found[key] = (before + count, first)

    def listed(self) -> tuple[Loss, ...]:
        """All losses, in the order in which they were found."""
        return tuple(Loss(*key, count=count, where=where) for key, (count, where) in self._found.items())


@frozen(kw_only=True)
class LoreItem:
    """An entry of a lorebook."""

    title: str
    content: str
    constant: bool = False
    rule: LoreRule = field(factory=LoreRule)
    about: str = ""
    """The author's category, if the format has any."""


@frozen(kw_only=True)
class Lorebook:
    """A lorebook."""

    name: str = ""
    description: str = ""
    scan_depth: int | None = None
    token_budget: int | None = None
    recursive: bool | None = None
    items: tuple[LoreItem, ...] = ()
    trackers: tuple[Tracker, ...] = ()
    """What its author's other tracker counts."""


@frozen(eq=False)
class Asset:
    """A file that came with a card. SAGA stores it unopened."""

    name: str
    """A plain file name: it has no folder, and is valid on every operating system."""
    data: bytes = field(repr=False)


@frozen(kw_only=True)
class Card:
    """A character card of any version. Texts are kept as written, macros included."""

    version: str
    name: str
    nickname: str = ""
    description: str = ""
    personality: str = ""
    scenario: str = ""
    first_mes: str = ""
    alternate_greetings: tuple[str, ...] = ()
    group_only_greetings: tuple[str, ...] = ()
    mes_example: str = ""
    system_prompt: str = ""
    post_history_instructions: str = ""
    creator_notes: str = ""
    depth_prompt: str = ""
    creator: str = ""
    character_version: str = ""
    tags: tuple[str, ...] = ()
    source: tuple[str, ...] = ()
    world: str = ""
    """The name of the linked lorebook."""
    book: Lorebook | None = None
    trackers: tuple[Tracker, ...] = ()
    """What its author's other tracker counts, beside what ``book`` has."""
    assets: tuple[Asset, ...] = ()


@frozen(kw_only=True)
class ChatMessage:
    """One message of a chat. ``swipes`` are the alternative replies that were not chosen, in order."""

    role: Literal["user", "assistant", "narrator"]
    """Who says it. What a narrator says is neither the player's nor the character's, and part of the story."""
    text: str
    speaker: str = ""
    at: float = 0.0
    """Seconds since the epoch; 0 when the file does not say."""
    hidden: bool = False
    """The player excluded the message from prompts. It is still part of the story."""
    swipes: tuple[str, ...] = ()
    checkpoint: str = ""
    """The name of the chat that branches off at this message."""


@frozen
class ChatSummary:
    """A summary that a tool made of some messages."""

    text: str
    first: int
    """The index of the first summarised message in the chat."""
    last: int


@frozen(kw_only=True)
class Chat:
    """A chat."""

    name: str
    user: str = ""
    character: str = ""
    members: tuple[str, ...] = ()
    """In a group, the speakers other than the player."""
    messages: tuple[ChatMessage, ...] = ()
    parent: str = ""
    """The name of the chat that this one branches off from."""
    persona: str = ""
    summaries: tuple[ChatSummary, ...] = ()
    """In the order of their messages. No two overlap."""

    @classmethod
    def of(cls, name: str, messages: Sequence[ChatMessage], *, user: str = "", character: str = "") -> Self:
        """A chat whose player and members are the speakers of its messages, or else ``user`` and ``character``."""
        speakers = list(dict.fromkeys(each.speaker for each in messages if each.role == "assistant" and each.speaker))
        players = [each.speaker for each in messages if each.role == "user" and each.speaker]
        return cls(
            name=name,
            user=players[-1] if players else user,
            character=character or (speakers[0] if speakers else ""),
            members=tuple(speakers) if len(speakers) > 1 else (),
            messages=tuple(messages),
        )


@frozen
class Persona:
    """A character that the player plays."""

    name: str
    description: str = ""
    id: str = ""
    """The id by which chats refer to the persona."""


@frozen(kw_only=True)
class Group:
    """A group of characters, and its chats by name."""

    name: str
    members: tuple[str, ...] = ()
    """File names of the members' cards."""
    chats: tuple[str, ...] = ()
    parents: Mapping[str, str] = field(factory=dict)
    """The name of a chat without a header to the name of the chat that it branches off from."""


@frozen
class SagaSession:
    """A session that ``saga export`` wrote, as unparsed lines."""

    raw: bytes = field(repr=False)


Record = Card | Lorebook | Chat | Persona | Group | SagaSession


@frozen(kw_only=True)
class Found:
    """One record that a file holds."""

    file: str
    """The file's name. For a member of an archive, the archive's name and the path in it."""
    kind: str
    """One of the kinds of ``importers()``."""
    record: Record
    losses: tuple[Loss, ...] = ()

    @property
    def title(self) -> str:
        """The record's name, or else the file's name without its extension."""
        if isinstance(self.record, SagaSession):
            return stem(self.file)
        return self.record.name or stem(self.file)


@frozen
class Refused:
    """A file that is not imported."""

    file: str
    why: str


@frozen
class Reading:
    """The result of reading files."""

    found: tuple[Found, ...] = ()
    refused: tuple[Refused, ...] = ()

    def and_(self, others: Iterable[Reading]) -> Reading:
        """Return this reading combined with ``others``."""
        found, refused = list(self.found), list(self.refused)
        for other in others:
            found += other.found
            refused += other.refused
        return Reading(tuple(found), tuple(refused))


def stem(path: str) -> str:
    """The name of a file without its folder and its extension."""
    name = path.replace("\\", "/").rstrip("/").rpartition("/")[2]
    return name.rpartition(".")[0] or name


def with_messages(chats: Iterable[Chat], losses: Losses) -> list[Chat]:
    """Return the chats that have messages, and note the others. Raises ``Unreadable`` if none is left."""
    found = []
    for chat in chats:
        if chat.messages:
            found.append(chat)
        else:
            losses.add("chat", "dropped", "it holds no message", chat.name)
    if not found:
        raise Unreadable("this looks like a chat, and holds no message")
    return found
