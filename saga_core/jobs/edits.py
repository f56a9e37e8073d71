"""The edits job: gives turns in the middle of a story the text that the chat shows, if a person made small edits there.

The later replies prove that the turn happened, so its changes stay. Its new text is a later delta like a correction: it
can be seen and undone, and everything that reads the turn finds the new words.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from attrs import define, evolve, field
from cachetools import LRUCache

from saga_core.background import DONE, Job, Step, Supervisor
from saga_core.counters import Counters
from saga_core.errors import NotFound
from saga_core.ids import IdSource
from saga_core.jobs.views import ViewsJob
from saga_core.model import BLANK, Delta, Source, deltas, undoings
from saga_core.sessions import LiveSession, LiveSessions, amend
from saga_core.transcript import Edit, identity, likeness, words_key

_COMPARED = 4_096
"""Texts of turns that are compared only once."""


@define(eq=False, kw_only=True, slots=False)
class EditsJob(Job):
    """Nothing is noted in the journal: as long as the chat shows the edit, the next request finds it."""

    kind = "edits"
    counter = "edits"
    mode = "edits"

    live: LiveSessions
    supervisor: Supervisor
    views: ViewsJob
    ids: IdSource
    counters: Counters
    _edits: dict[str, dict[str, Edit]] = field(factory=dict, init=False)
    """The edits of a session that are to be looked at, by turn."""
    _compared: LRUCache[tuple[str, str], tuple[str, ...]] = field(factory=lambda: LRUCache(_COMPARED), init=False)
    """The keys of the texts that were last compared with a turn's."""

    def submit(self, session: str, edits: Sequence[Edit]) -> None:
        """Look at edits that a history shows, if they are new."""
        fresh = {each.turn: each for each in edits if self._compared.get((session, each.turn)) != _keys(each)}
        if fresh:
            self._edits.setdefault(session, {}).update(fresh)
            self.wake(session)

    async def step(self, session: str) -> Step:
        """Record the edits of a session."""
        edits = self._edits.pop(session, {})
        try:
            live = await self.live.get(session)
            if any([await _text(live, each) for each in edits.values()]):
                async with self.supervisor.exclusive(session, journal=True):
                    await self._record(await self.live.get(session), edits.values())
        except NotFound:
            return DONE  # the session was deleted
        self._compared.update(((session, each.turn), _keys(each)) for each in edits.values())
        return Step(done=len(edits))

    async def _record(self, live: LiveSession, edits: Collection[Edit]) -> None:
        for each in edits:
            text = await _text(live, each)
            if text is not None:
                number = self.ids.new("a")
                await amend(live, each.turn, Delta((text,), Source.EDIT, id=number), number)
                self.views.submit(live.session.id, [each.turn])
                self.counters.add("edits.recorded")

    def forget(self, session: str) -> None:
        """Drop the edits of a session that is about to be removed."""
        self._edits.pop(session, None)


def _keys(edit: Edit) -> tuple[str, ...]:
    return edit.reply.key, *(each.key for each in edit.words or ())


async def _text(live: LiveSession, edit: Edit) -> deltas.TextEdited | None:
    """The text that a turn is to have from now on. None if it stays as it is: what is shown is no small edit, or a user
    undid the same one."""
    if edit.turn not in live.tree:
        return None
    node, recorded, later = live.tree.get(edit.turn), await live.recorded(edit.turn), live.amendments.get(edit.turn, ())
    now = recorded.edited(later)
    user, reply = now.user, now.reply
    if BLANK in user or BLANK in reply:
        return None  # the chat may still show the name that was forgotten
    if edit.words is not None:
        said = "\n".join(each.text for each in edit.words)
        if words_key(edit.words) == node.user_key:
            user = recorded.user
        elif not _is_edge(said, user) and _is_edit(user, said):
            user = said
    if edit.reply.key == node.reply_key:
        reply = recorded.reply
    elif _is_edit(reply, edit.reply.text):
        reply = edit.reply.text
    if evolve(now, user=user, reply=reply) == now:
        return None
    text = deltas.TextEdited(None if user == recorded.user else user, None if reply == recorded.reply else reply)
    gone = undoings(later)
    return None if any(delta.id in gone and text in delta.events for delta in later) else text


def _is_edit(old: str, new: str) -> bool:
    """Whether ``new`` is ``old`` with small changes, and not a part of it that a frontend or a script left."""
    return likeness(old, new) > 0 and not _is_edge(old, new)


def _is_edge(whole: str, part: str) -> bool:
    """Whether a text begins or ends with another one, as player's words do to which a note was added."""
    one, other = identity(whole), identity(part)
    return one != other and (one.startswith(other) or one.endswith(other))
