"""Adoption: adds the turns to the tree that a history proves and the journal lacks.

An edited, cut or extended reply becomes a sibling of the original. With a small difference it keeps the delta. With a
large one its changes count as unreported.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from saga_core.ids import IdSource
from saga_core.journal import Entry
from saga_core.model import Delta, Status, Timeline, Tree, Turn, TurnKind, fold, follow, node_of
from saga_core.projection import render_episode, witnesses
from saga_core.sessions import LiveSession
from saga_core.state_block import thinks_only
from saga_core.transcript import SHORT, Utterance, identity, identity_key, likeness, words_key

_SIBLINGS = 32
_SEARCHED = 1_024
"""Turns below a known one that are searched for an edited reply, if the turns in between are hidden."""
_SEARCHES = 128
"""Searches behind hidden turns for one history. One takes up to 12 ms. A history needs one search for each place where
turns are hidden before an edited reply; a history that has nothing in common with the recorded one would need one for
each of its turns."""
_AT_ONCE = 32
"""Turns that are adopted before other tasks get a chance to run."""
_COMMITTED = 64
"""Approximate number of turns that are recorded in one commit."""


def pairs(unknown: Sequence[Utterance]) -> list[tuple[list[Utterance], Utterance]]:
    """The player's words and the reply to them, for each reply. Words without a reply are left out.

    A reply that was stopped while the model was still thinking is left out too, because it has no text of the story.
    """
    found: list[tuple[list[Utterance], Utterance]] = []
    words: list[Utterance] = []
    for utterance in unknown:
        if utterance.role == "user":
            words.append(utterance)
        else:
            if not thinks_only(utterance.text):
                found.append((words, utterance))
            words = []
    return found


async def adopt(
    live: LiveSession,
    parent: str,
    unknown: Sequence[Utterance],
    ids: IdSource,
    at: float,
    language: str,
    timeline: str = "",
    known: Mapping[str, Delta] | None = None,
) -> tuple[str, list[str]]:
    """Record the turns of ``unknown`` below ``parent``. ``timeline`` is the one that the request named. ``known`` has
    the deltas of some of the turns, by the keys of their replies.

    Returns the turn that the history ends with (``parent`` if there is none) and the new turns. A turn that exists
    with the same texts is used as it is. A long history is recorded in several commits, from its beginning on, and its
    episodes are indexed with its views.
    """
    entries: list[Entry] = []
    fresh: list[str] = []
    twins: list[str] = []
    told_above = True
    searches = _SEARCHES
    moved: dict[str, Timeline] = {}
    told = pairs(unknown)
    for number, (words, reply) in enumerate(told):
        if number and number % _AT_ONCE == 0:
            if len(entries) >= _COMMITTED:
                fresh += await _append(live, entries, parent, moved)
            await asyncio.sleep(0)
        user_key = words_key(words)
        # If the previous turn was edited too, the old children are below its twin, the turn before the edit.
        children = [child for each in (parent, *twins) for child in live.tree.children.get(each, ())]
        # The player's words may be edited as well: siblings with the same words come first, but others may match too.
        siblings = sorted(
            (live.tree.get(child) for child in children[-_SIBLINGS:]), key=lambda node: node.user_key != user_key
        )
        key = identity_key(reply.text)
        same = [node for node in siblings if (node.reply_key, node.user_key, node.parent) == (key, user_key, parent)]
        if same:
            parent, twins, told_above = same[-1].id, [], True
            continue
        nearest = [node.id for node in siblings]
        hidden: list[str] = []
        answered = any(node.user_key == user_key for node in siblings)
        if children and searches and (told_above or not answered):
            searches -= 1
            # Below a reply that was rewritten, only the same words show that a turn continues the old story.
            only_same = answered or not told_above
            hidden = _behind_hidden(live.tree, (parent, *twins), user_key, reply.text, same_words=only_same)
            hidden = hidden[: _SIBLINGS - len(nearest)]
        delta, twin = await _inherited(live, nearest, hidden, reply.text)
        if not twin and known and key in known:
            delta = known[key]
        if twin in hidden and live.tree.is_ancestor(parent, twin):
            # The turns in between are hidden, but are part of the story.
            parent = live.tree.get(twin).parent or parent
        told_above, twins = twin != "", [twin] if twin else nearest
        before = await live.state(parent)
        above = live.tree.get(parent)
        turn = Turn(
            ids.new("t"),
            live.session.id,
            parent,
            above.depth + 1,
            at,
            user="\n".join(utterance.text for utterance in words),
            reply=reply.text,
            delta=delta,
            kind=TurnKind.ADOPTED,
            jump=live.tree.jump_for(parent),
        )
        state = fold(before, delta, turn=turn.id, depth=turn.depth)
        episode = render_episode(delta, state, turn.user, turn.reply, language)
        present = witnesses(before, state)
        node = node_of(turn, user_key=user_key, reply_key=key, episode=episode, present=present)
        live.record(turn, node, state, indexed=len(told) <= _AT_ONCE)
        moved.update(
            (each.name, each) for each in follow(live.tree, {**live.timelines, **moved}.values(), node, timeline)
        )
        entries.append(Entry(turn, user_key, episode, present))
        parent = turn.id
    return parent, fresh + await _append(live, entries, parent, moved)


async def _append(live: LiveSession, entries: list[Entry], head: str, moved: dict[str, Timeline]) -> list[str]:
    """Record ``entries``, empty the list, and return the recorded turns."""
    if not entries:
        return []
    live.session = await live.journal.append(live.session, entries, head=head, timelines=moved.values())
    live.timelines.update(moved)
    turns = [entry.turn.id for entry in entries]
    entries.clear()
    return turns


def _behind_hidden(tree: Tree, tops: Sequence[str], user_key: str, text: str, *, same_words: bool) -> list[str]:
    """The turns further below ``tops`` that ``text`` may be an edit of: those with the same words first, then by
    distance. For a short text, or with ``same_words``, only turns with the same words are returned."""
    same: list[str] = []
    others: list[str] = []
    level = [child for top in tops for child in tree.children.get(top, ())]
    left = _SEARCHED
    while level and left > 0:
        level = [child for each in level for child in tree.children.get(each, ())][:left]
        left -= len(level)
        for each in level:
            (same if tree.get(each).user_key == user_key else others).append(each)
    return same if same_words or len(identity(text)) < SHORT else same + others


async def _inherited(live: LiveSession, siblings: Sequence[str], hidden: Sequence[str], text: str) -> tuple[Delta, str]:
    """Find the turn whose reply ``text`` is, with small changes or more text around it. Returns its delta and its id.

    The turn is one of ``siblings`` or of ``hidden``. If there is none, returns an empty delta, because nobody reported
    what the new text changed, and "".
    """
    best, twin, score = Delta(status=Status.FALLBACK), "", (0.0, 0)
    now = identity(text)
    for turn in await live.journal.turns(live.session.id, [*siblings, *hidden]):
        known = identity(turn.reply)
        grown = known != "" and (now.startswith(known) or now.endswith(known))
        # An edit of a continued reply is an edit of the whole, though it contains the first part unchanged.
        alike = likeness(turn.reply, text)
        if (grown or alike) and (alike, len(known)) > score:
            best, twin, score = live.effective(turn), turn.id, (alike, len(known))
    return best, twin
