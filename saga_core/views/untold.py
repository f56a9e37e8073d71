"""Why something was not told: what is known of a text, and what became of it when the context was chosen."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from typing import Any, Literal, get_args

from attrs import define

from saga_core.context import Piece, TurnContext
from saga_core.model import Scheduled, TurnKind, WorldState
from saga_core.recall import PathEpisodes, excerpt, laid_out
from saga_core.sessions import LiveSession
from saga_core.views.wording import Wording, spoken_of, unstamped

_TURNS, _LOOKED_AT = 5, 64
"""Turns that are shown, and those found by their words among which the very text is looked for."""
_ROWS = 12
_HALF = 0.5
_NEAR = 280
"""Characters of a text that are shown where the words stand."""
_PARTS, _OF_A_PART = 12, 2
"""Sentences of a text that are looked up for themselves, and what is said of each."""
_LONGEST = 4_000
"""Characters of a text that is cut into sentences."""
_BESIDE = 3
"""Turns that come later, or that stand on other branches, which are looked at."""

Reason = Literal[
    "told",
    "own_words",
    "in_front",
    "in_chat",
    "cut_out",
    "no_room",
    "not_known",
    "no_signal",
    "faded_or_hidden",
    "not_due",
    "opening",
    "later",
    "swiped",
    "elsewhere",
]
"""Why, one after the other: it stood in the context; it is what the player said in that very request; it stood in
the pages at the beginning of the prompt, or in the history that the client sent; its turn or entry was told, and
the excerpt left this out; it was found and did not fit; nothing in the scene led to it, and whether the history
showed the turn is not recorded; nothing in the scene led to it; the same, of lore that waits to be mentioned or
whose last mention is too long ago; it is an event to come, whose time, place or person is not there yet; it stands
in the opening, which only the chat itself shows; it was said or reported only with that turn or after it; it stands
in a reply that was swiped away, or below one; it was said on another branch."""

_ORDER: Mapping[str, int] = {reason: place for place, reason in enumerate(get_args(Reason))}


async def untold(
    live: LiveSession, turn: str, context: TurnContext, text: str, *, sure: bool = True
) -> list[dict[str, Any]]:
    """What of a story says ``text``, the nearest first, and whether the context of ``turn`` had it: ``reason``.
    JSON-able. Not ``sure``: how much of the story the history showed is assumed.

    Looked through: what was told and what was left out for want of room, the pages in front of the history, the turns
    of the path, the opening, lore, memories, remarks, and events to come. Where none of them says as much of it, also
    what came only with ``turn`` or later, and other branches. What says the text word for word comes first. A text of
    several sentences that nothing says as a whole is looked up sentence by sentence, the first 12: such a row has its
    sentence as ``part``. Empty if nothing known says any of it.
    """
    rows = await _rows(live, turn, context, text, sure)
    if rows and max(row["share"] for row in rows) == 1.0:
        return rows[:_ROWS]
    parts = _sentences(text)[:_PARTS] if len(text) <= _LONGEST else []
    if len(parts) < 2:
        return rows[:_ROWS]
    several: list[dict[str, Any]] = []
    for part in parts:
        await asyncio.sleep(0)  # each looks through all lore: chats go on in between
        several += [{**row, "part": part} for row in (await _rows(live, turn, context, part, sure))[:_OF_A_PART]]
    return several or rows[:_ROWS]


async def _rows(live: LiveSession, turn: str, context: TurnContext, text: str, sure: bool) -> list[dict[str, Any]]:
    """As ``untold``, of the text as a whole."""
    wording = Wording.of(text)
    if not wording.words:
        return []
    looking = _Looking(live, turn, context, wording, sure)
    rows = [row async for row in _near(looking, text) if row["share"] >= _HALF]
    best = max((_closeness(row) for row in rows), default=(False, 0.0))
    rows += [row async for row in _far(looking, text) if row["share"] >= _HALF and _closeness(row) > best]
    rows.sort(key=lambda row: (not row["verbatim"], -row["share"], _ORDER[row["reason"]]))
    return rows


def _closeness(row: dict[str, Any]) -> tuple[bool, float]:
    return row["verbatim"], row["share"]


def _sentences(text: str) -> list[str]:
    """The sentences of a text that have words."""
    whole, _, starts, stops = laid_out(text)
    sentences = [whole[start:stop].strip() for start, stop in zip(starts, stops, strict=True)]
    return list(dict.fromkeys(each for each in sentences if any(map(str.isalnum, each))))


@define
class _Looking:
    """What is looked for, and where."""

    live: LiveSession
    turn: str
    context: TurnContext
    wording: Wording
    sure: bool

    @property
    def above(self) -> str:
        """The turn that the context was read after."""
        return self.live.tree.get(self.turn).parent or self.turn

    def row(self, kind: str, key: str, text: str, reason: Reason, piece: Piece | None = None) -> dict[str, Any]:
        """``share`` is how much of the words the text has, ``words`` which of them, as they were typed; ``verbatim``
        whether it has them as they stand; ``near`` is the part of the text where they stand, ``line`` what was told of
        it, or would have been."""
        said = spoken_of(text) if kind == "turn" else text
        found = self.wording.found_in(said)
        verbatim = self.wording.stands_in(said)
        return {
            "kind": kind,
            "key": key,
            "text": text,
            "share": 1.0 if verbatim else round(len(found) / len(self.wording.words), 2),
            "words": self.wording.typed(said),
            "verbatim": verbatim,
            "near": excerpt(unstamped(text), dict.fromkeys(found, 1.0), _NEAR),
            "reason": reason,
            "line": piece.text if piece is not None else None,
            "score": round(piece.score, 4) if piece is not None else None,
            "tokens": piece.tokens if piece is not None else None,
        }

    def became(self, key: str, whole: str, otherwise: Reason) -> tuple[Reason, Piece | None]:
        """What became of the piece ``key``, of which all is ``whole``; ``otherwise`` if nobody offered it."""
        for piece in self.context.pieces:
            if piece.key == key:
                return ("told" if self.wording.told_by(piece.text, whole) else "cut_out"), piece
        for piece in self.context.skipped:
            if piece.key == key:
                return "no_room", piece
        return otherwise, None


async def _near(looking: _Looking, text: str) -> AsyncIterator[dict[str, Any]]:
    """What is known before the turn, and the turn's own words."""
    live, context = looking.live, looking.context
    own = await live.turn(looking.turn)
    if own.parent is not None and own.user:
        yield looking.row("words", own.id, own.user, "own_words")
    pieces: list[tuple[Piece, Reason]] = [(piece, "told") for piece in context.pieces]
    pieces += [(piece, "no_room") for piece in context.skipped]
    for piece, reason in pieces:
        if not piece.key.startswith(("turn:", "lore:")):
            yield looking.row("piece", piece.key, piece.text, reason, piece)
    episodes = PathEpisodes(live.tree, live.episodes, looking.above)
    ranked = list(episodes.search(text, _LOOKED_AT, frozenset()))
    # A long turn that has the very text may rank behind others with the same words.
    verbatim = [turn for turn in ranked if looking.wording.stands_in(spoken_of(episodes.text(turn)))]
    for turn in dict.fromkeys((*verbatim[:_TURNS], *ranked[:_TURNS])):
        depth, whole = episodes.depth(turn), episodes.text(turn)
        in_chat = context.missing is not None and depth > context.missing
        otherwise: Reason = "in_chat" if in_chat else "no_signal" if looking.sure else "not_known"
        became = looking.became(f"turn:{turn}", whole, otherwise)
        yield {**looking.row("turn", turn, whole, *became), "turn": depth}
    opening = await live.turn(live.tree.root)
    # The request that a session begins with brings the opening itself.
    in_chat = own.depth == 1 or (context.missing is not None and context.missing < 0)
    if opening.reply:
        yield {**looking.row("turn", opening.id, opening.reply, "in_chat" if in_chat else "opening"), "turn": 0}
    for line in dict.fromkeys(context.pages.splitlines()):
        if line.startswith("- "):
            yield looking.row("page", line.removeprefix("- "), line.removeprefix("- "), "in_front")
    state = await live.state(looking.above)
    for row in _of_lore(looking, state):
        yield row
    for record in state.memories.values():
        yield looking.row("memory", record.id, record.text, "no_signal")
    for remark in _remarks(looking, state):
        yield looking.row("note", remark, remark, "no_signal")
    for event in state.schedule.values():
        line = _line_of(event)
        if not any(line in piece.text for piece, _ in pieces):  # else it is among these
            yield looking.row("event", event.event, line, "not_due")


def _line_of(event: Scheduled) -> str:
    return f"{event.name}: {event.text}" if event.text else event.name


async def _far(looking: _Looking, text: str) -> AsyncIterator[dict[str, Any]]:
    """What came only with the turn or after it, and what stands on other branches."""
    live, tree, turn = looking.live, looking.live.tree, looking.turn
    own = await live.turn(turn)
    if own.parent is not None:
        yield {**looking.row("turn", own.id, own.reply, "later"), "turn": own.depth}
    before = await live.state(looking.above)
    after = await live.state(live.head if tree.is_ancestor(turn, live.head) else turn)
    known = set(before.notes)
    for each in after.notes:
        if each not in known:
            yield looking.row("note", each[1], each[1], "later")
    for name, event in after.schedule.items():
        if name not in before.schedule:
            yield looking.row("event", name, _line_of(event), "later")

    def searched(accept: Callable[[str], bool], reason: Reason) -> Iterator[dict[str, Any]]:
        for found, _ in live.episodes.search(text, k=_BESIDE, accept=accept):
            node = tree.get(found)
            yield {**looking.row("turn", found, node.episode, reason), "turn": node.depth}

    def is_turn(other: str) -> bool:
        return other in tree and tree.get(other).kind is not TurnKind.SIDE and other != turn

    for row in searched(lambda other: is_turn(other) and tree.is_ancestor(turn, other), "later"):
        yield row
    for row in searched(
        lambda other: is_turn(other) and not tree.is_ancestor(turn, other) and not tree.is_ancestor(other, turn),
        "elsewhere",
    ):
        yield {**row, "reason": "swiped"} if _was_swiped(live, turn, row["key"]) else row


def _was_swiped(live: LiveSession, turn: str, other: str) -> bool:
    """Whether ``other`` is, or stands below, another reply to the same words of the player on the path of ``turn``."""
    tree = live.tree
    path = live.head if tree.is_ancestor(turn, live.head) else turn
    node = tree.get(other)
    while node.parent is not None and not tree.is_ancestor(node.parent, path):
        node = tree.get(node.parent)
    if tree.get(path).depth < node.depth:
        return False
    return tree.ancestor_at(path, node.depth).user_key == node.user_key


def _of_lore(looking: _Looking, state: WorldState) -> Iterator[dict[str, Any]]:
    for entry in looking.live.world.lore:
        text = f"{entry.name}: {entry.text} {state.learned.get(entry.name, '')}".strip()
        reason: Reason = "faded_or_hidden" if entry.layer in ("A3", "A4") else "no_signal"
        yield looking.row("lore", entry.name, text, *looking.became(f"lore:{entry.name}", text, reason))


def _remarks(looking: _Looking, state: WorldState) -> Iterator[str]:
    """Remarks of the story that neither the context nor the pages show."""
    told = "\n".join((looking.context.text, looking.context.pages))
    return (text for _, text in state.notes if text not in told)
