"""A path of a session as plain values, for writers of other tools' formats."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from attrs import frozen

from saga_core.language import fold_name
from saga_core.maintenance.tools import Tools
from saga_core.model import Kind, TurnKind, TurnNode, WorldState
from saga_core.projection import BETWEEN, player_name, subject_of
from saga_core.sessions import LiveSession, turn_named

_USER, _CHARACTER = "User", "Assistant"


@frozen(kw_only=True)
class PathTurn:
    """A turn of a path. ``replies`` are all replies to the words; ``taken`` is the index of the chosen one."""

    user: str
    replies: Sequence[str]
    taken: int
    speaker: str
    """Who says the reply, without whose name in front ``replies`` are."""
    at: float
    """Seconds since the epoch."""
    checkpoint: str = ""
    """The name of the timeline that branches off at this turn."""


@frozen(kw_only=True)
class StoryPath:
    """A path of a session, from its greeting to a turn."""

    greeting: str
    turns: Sequence[PathTurn]
    user: str
    """The player's name."""
    character: str
    """The character's name, or the first speaker's in a group."""
    parent: str = ""
    """The name of the session, if the path is a named timeline that branches off from it."""
    created: float = 0.0


async def story_path(tools: Tools, session_id: str, head: str | None = None) -> StoryPath:
    """See ``Maintenance.story_path``."""
    live = await tools.directory.load(session_id)
    end = turn_named(live, head or None)
    state = await live.state(end)
    told = [node for node in live.tree.path(end) if node.kind is not TurnKind.ROOT]
    forks = {each.fork: each.name for each in live.timelines.values() if each.head != end}
    root = await live.turn(live.tree.root)
    sheet = next((each for each in live.world.characters if not each.player), None)
    character, _, chat = live.session.label.partition(" - ")
    titled, between, _ = live.session.title.partition(BETWEEN)
    subject = sheet.name if sheet is not None else character if chat else titled if between else ""
    subject = subject or subject_of(state, live.world)
    user = player_name(state)
    names = _Names.of(state, subject or live.session.label or _CHARACTER, user)
    own = next((each for each in live.timelines.values() if each.name == head), None)
    return StoryPath(
        greeting=names.split(root.reply)[1],
        turns=[await _line(tools, live, node, forks.get(node.id, ""), names) for node in told],
        user=user or _USER,
        character=names.character,
        parent=live.session.label if own is not None else "",
        created=live.session.created,
    )


_SPEAKER = re.compile(r"\s{0,4}([^\s:：][^\n:：]{0,79}?)\s{0,4}[:：]\s{0,4}(?=\S)")


@frozen
class _Names:
    """The names with which a message may begin."""

    character: str
    known: Mapping[str, str]

    @classmethod
    def of(cls, state: WorldState, character: str, user: str) -> _Names:
        people = [each for each in state.entities.values() if each.kind is Kind.CHARACTER]
        known = {fold_name(name): each.name for each in people for name in (*each.aliases, each.name)}
        return cls(character, {**known, **{fold_name(each): each for each in (character, user) if each}})

    def split(self, text: str, speaker: str = "") -> tuple[str, str]:
        """Return the name in front of a text, else ``speaker`` or the character's, and the text without it."""
        found = _SPEAKER.match(text)
        name = found[1].strip("*_ ") if found else ""
        if found and (fold_name(name) in self.known or fold_name(name) == fold_name(speaker)):
            return self.known.get(fold_name(name), name), text[found.end() :]
        return speaker or self.character, text


async def _line(tools: Tools, live: LiveSession, node: TurnNode, checkpoint: str, names: _Names) -> PathTurn:
    siblings = [
        child
        for child in live.tree.children.get(node.parent or "", ())
        if live.tree.get(child).user_key == node.user_key and live.tree.get(child).kind is not TurnKind.SIDE
    ]
    turns = await live.turns(siblings)
    (taken,) = [at for at, turn in enumerate(turns) if turn.id == node.id]
    said = [names.split(turn.reply, turn.speaker) for turn in turns]
    return PathTurn(
        user=names.split(turns[taken].user)[1],
        replies=[text for _, text in said],
        taken=taken,
        speaker=said[taken][0],
        at=turns[taken].at,
        checkpoint=checkpoint,
    )
