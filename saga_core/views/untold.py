"""Explains why a text was not in a context: finds the items that have it, and what happened to each."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from heapq import nlargest
from typing import Any

from saga_core.context import Piece, TurnContext
from saga_core.model import Scheduled, TurnKind, WorldState
from saga_core.recall import PathEpisodes, laid_out, stays_out
from saga_core.sessions import LiveSession
from saga_core.views.brought import Brought
from saga_core.views.looking import Knowledge, Looking, Reason, nearest, placed, where
from saga_core.views.wording import Wording, plainly, spoken_of

_TURNS, _LOOKED_AT = 5, 64
"""Maximum turns in the result, and maximum turns found by words in which the literal text is searched."""
_REMARKS = 5
_ROWS = 12
_HALF = 0.5
_BESIDE_VERBATIM = 0.8
"""Minimum share of the words in a row: ``_HALF``, or this one if another row has the text word for word."""
_PARTS, _OF_A_PART = 12, 2
"""Maximum sentences of a text that are searched separately, and maximum rows for each."""
_LONGEST = 4_000
"""Maximum characters of a text that is split into sentences."""
_BESIDE = 3
"""Maximum later turns and maximum turns on other branches."""
_CHUNK = 64
"""Notes that are searched before yielding to the event loop."""


async def untold(
    live: LiveSession, turn: str, context: TurnContext, text: str, knowledge: Knowledge, *, sure: bool = True
) -> list[dict[str, Any]]:
    """Return the items of a story that have ``text``, best first, as JSON-compatible data. ``reason`` says why the
    context of ``turn`` had an item or not. If not ``sure``, the extent of the sent history is assumed.

    Searched are the pieces of the context and those that did not fit, the pages in front of the history, the author's
    text of the world, the turns of the path, the opening, lore, memories, notes and scheduled events. Items from
    ``turn`` itself, later turns and other branches are included if they match better. Rows with the text word for word
    come first, and then other rows need nearly all of the words. If nothing has all words of a text of several
    sentences, the first 12 sentences are searched separately, and each row has its sentence as ``part``. The result is
    empty if nothing matches.
    """
    around = await placed(live, turn, knowledge.brought)

    async def rows_of(asked: str) -> list[dict[str, Any]]:
        wording = Wording.of(asked)
        if not wording.words:
            return []
        return await _rows(Looking(live, turn, context, wording, sure, knowledge, around), asked)

    rows = await rows_of(text)
    if rows and max(row["share"] for row in rows) == 1.0:
        return rows
    parts = _sentences(text)[:_PARTS] if len(text) <= _LONGEST else []
    if len(parts) < 2:
        return rows
    several: list[dict[str, Any]] = []
    for part in parts:
        await asyncio.sleep(0)  # each search reads all lore, so yield to the event loop
        several += [{**row, "part": part} for row in (await rows_of(part))[:_OF_A_PART]]
    return several or rows


async def _rows(looking: Looking, text: str) -> list[dict[str, Any]]:
    """As ``untold``, for the text as a whole."""
    rows = [row async for row in _near(looking, text) if row["share"] >= _HALF]
    best = max((_closeness(row) for row in rows), default=(False, 0.0))
    rows += [row async for row in _far(looking, text, best[1]) if row["share"] >= _HALF and _closeness(row) > best]
    if any(row["verbatim"] for row in rows):
        rows = [row for row in rows if row["verbatim"] or row["share"] >= _BESIDE_VERBATIM]
    return nearest(rows, _ROWS)


def _closeness(row: dict[str, Any]) -> tuple[bool, float]:
    return row["verbatim"], row["share"]


def _sentences(text: str) -> list[str]:
    """Return the distinct sentences of a text that have words."""
    whole, _, starts, stops = laid_out(text)
    sentences = [whole[start:stop].strip() for start, stop in zip(starts, stops, strict=True)]
    return list(dict.fromkeys(each for each in sentences if any(map(str.isalnum, each))))


async def _near(looking: Looking, text: str) -> AsyncIterator[dict[str, Any]]:
    """Yield rows of what is known before the turn, and of the turn's own words."""
    live, context = looking.live, looking.context
    own = await live.turn(looking.turn)
    if own.parent is not None and own.user:
        yield looking.row("words", own.id, own.user, "own_words")
    pieces: list[tuple[Piece, Reason]] = [(piece, "told") for piece in context.pieces]
    pieces += [(piece, "no_room") for piece in context.skipped]
    for piece, reason in pieces:
        if not piece.key.startswith(("turn:", "lore:")) and looking.near_enough(piece.text, _HALF):
            yield looking.row("piece", piece.key, piece.text, reason, piece)
    for row in _of_turns(looking, text):
        yield row
    opening = await live.turn(live.tree.root)
    # A session's first request has the opening in its history.
    in_chat = own.depth == 1 or (context.missing is not None and context.missing < 0)
    if opening.reply:
        yield looking.row("turn", opening.id, opening.reply, "in_chat" if in_chat else "opening", turn=0)
    for line in dict.fromkeys(context.pages.splitlines()):
        if line.startswith("- ") and looking.near_enough(line, _HALF):
            yield looking.row("page", line.removeprefix("- "), line.removeprefix("- "), "in_front")
    in_prompt = f" {plainly(looking.knowledge.world_text)} "
    for line in dict.fromkeys(live.world.description.splitlines()):
        if looking.near_enough(line, _HALF):
            reason = "in_prompt" if f" {plainly(line)} " in in_prompt else "no_room"
            yield looking.row("world", line.lstrip("#- "), line.lstrip("#- "), reason)
    state = await live.state(looking.above)
    for row in _of_lore(looking, state):
        yield row
    for record in state.memories.values():
        if looking.near_enough(record.text, _HALF):
            yield looking.row("memory", record.id, record.text, "no_signal")
    async for row in _remarks(looking):
        yield row
    for row in _events(looking, state):
        yield row


def _of_turns(looking: Looking, text: str) -> Iterator[dict[str, Any]]:
    """Yield the turns of the path that match best."""
    live, context = looking.live, looking.context
    episodes = PathEpisodes(live.tree, live.episodes, looking.above)
    ranked = list(episodes.search(text, _LOOKED_AT, frozenset()))
    # A long turn that has the literal text may rank behind others with the same words.
    verbatim = [turn for turn in ranked if looking.wording.stands_in(spoken_of(episodes.text(turn)))]
    if not verbatim and looking.wording.short:  # high-ranked turns may have only the syllable
        ranked = [turn for turn in ranked if looking.near_enough(spoken_of(episodes.text(turn)), _HALF)]
    for turn in dict.fromkeys((*verbatim[:_TURNS], *ranked[:_TURNS])):
        depth, whole = episodes.depth(turn), episodes.text(turn)
        in_chat = context.missing is not None and depth > context.missing
        otherwise: Reason = "in_chat" if in_chat else "no_signal" if looking.sure else "not_known"
        yield looking.row("turn", turn, whole, *looking.became(f"turn:{turn}", whole, otherwise), turn=depth)


async def _remarks(looking: Looking) -> AsyncIterator[dict[str, Any]]:
    """Yield the notes of the path that match best, except those in the context or the pages."""
    notes = {each.text: each for each in reversed(looking.placed.before) if each.kind == "note"}
    for each in await _nearest(looking, [*notes.values()], _HALF):
        if not looking.is_said(each.text):
            yield looking.row("note", each.key, each.text, "no_signal", turn=each.depth)


async def _nearest(looking: Looking, brought: Sequence[Brought], least: float) -> list[Brought]:
    """Return the best matching items with at least the share ``least`` of the words."""
    found: list[tuple[tuple[bool, float], int, Brought]] = []
    for count, each in enumerate(brought):
        if not count % _CHUNK:
            await asyncio.sleep(0)
        closeness = looking.closeness(each.text)
        if closeness[0] or closeness[1] >= least:
            found.append((closeness, -count, each))
    return [each for _, _, each in nlargest(_REMARKS, found)]


def _events(looking: Looking, state: WorldState) -> Iterator[dict[str, Any]]:
    """Yield the scheduled events that the context does not have, both waiting and past ones."""
    happened = {each.event: each.depth for each in state.happenings}
    for each in {each.key: each for each in looking.placed.before if each.kind == "event"}.values():
        event = state.schedule.get(each.key)
        if not looking.near_enough(each.text, _HALF) or (event is not None and looking.is_said(each.text)):
            continue
        if event is None:
            yield looking.row("event", each.key, each.text, "over", until=None, happened=happened.get(each.key))
        elif event.expires is not None and state.depth + 1 > event.expires:
            yield looking.row("event", each.key, each.text, "over", until=event.expires, happened=None)
        else:
            yield looking.row("event", each.key, each.text, "not_due", waits=_waits(event, state))


def _waits(event: Scheduled, state: WorldState) -> dict[str, Any]:
    """Return the unmet conditions of an event: the ``turn`` at which it is due, the ``place``, and ``who`` must be
    present. Met conditions are None."""
    return {
        "turn": event.due if event.due is not None and event.due > state.depth + 1 else None,
        "place": state.name(event.place) if event.place and event.place != state.location else None,
        "who": state.name(event.who) if event.who and event.who not in state.present else None,
    }


def _of_lore(looking: Looking, state: WorldState) -> Iterator[dict[str, Any]]:
    for entry in looking.live.world.lore:
        text = f"{entry.name}: {state.learned.get(entry.name, '')} {entry.text}".replace("  ", " ").strip()
        if not looking.near_enough(text, _HALF):
            continue
        last = state.mentioned.get(entry.name)
        reason: Reason = "no_signal"
        if stays_out(entry, last, state.depth, looking.knowledge.lorebook):
            reason = "hidden" if last is None else "faded"
        became, piece = looking.became(f"lore:{entry.name}", text, reason)
        more = {"mentioned": last} if became == "faded" else {}
        yield looking.row("lore", entry.name, text, became, piece, **more)


async def _far(looking: Looking, text: str, least: float) -> AsyncIterator[dict[str, Any]]:
    """Yield rows of items from the turn itself, from later turns and from other branches. Items that are not turns need
    at least the share ``least`` of the words."""
    live, tree, turn = looking.live, looking.live.tree, looking.turn
    own = await live.turn(turn)
    if own.parent is not None:
        facts, _, _ = tree.get(turn).episode.partition("\n")
        yield looking.row("turn", own.id, f"{facts}\n{own.reply}", "later", turn=own.depth)
    for each in await _nearest(looking, looking.placed.aside, max(least, _HALF)):
        yield looking.row(each.kind, each.key, each.text, where(live, turn, each.turn), turn=each.depth)

    def searched(accept: Callable[[str], bool]) -> Iterator[dict[str, Any]]:
        for found, _ in live.episodes.search(text, k=_BESIDE, accept=accept):
            node = tree.get(found)
            yield looking.row("turn", found, node.episode, where(live, turn, found), turn=node.depth)

    def is_turn(other: str) -> bool:
        return other in tree and tree.get(other).kind is not TurnKind.SIDE and other != turn

    for row in searched(lambda other: is_turn(other) and tree.is_ancestor(turn, other)):
        yield row
    for row in searched(
        lambda other: is_turn(other) and not tree.is_ancestor(turn, other) and not tree.is_ancestor(other, turn)
    ):
        yield row
