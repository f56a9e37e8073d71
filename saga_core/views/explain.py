"""Explains the context of a turn: why each part was in it, what was not, and how today's rules would choose."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from heapq import nlargest
from itertools import islice
from typing import Any

from saga_core.context import ContextReader, Piece, ReadRequest, RecentContexts, TurnContext, lines_of
from saga_core.language import detect
from saga_core.model import MemoryRecord, Scheduled, TurnKind, WorldState
from saga_core.projection import due_lines, due_time
from saga_core.recall import LoreMoment, PathEpisodes, split_sentences, stays_out, time_named, turns_at
from saga_core.sessions import LiveSession, said_by_hand
from saga_core.views.search import (
    Knowledge,
    Looking,
    Reason,
    SearchWords,
    TurnItem,
    nearest,
    placed,
    plainly,
    spoken_of,
    where,
)

_UNTOLD = (TurnKind.ROOT, TurnKind.SIDE)


Remembering = Callable[[LiveSession, WorldState], Awaitable[tuple[MemoryRecord, ...]]]
"""Returns the memory records that are valid at a state."""

InFront = Callable[[LiveSession, str], Awaitable[tuple[str, WorldState | None]]]
"""Returns the pages in front of a prompt that continues a turn, and the state that they show; empty and None if there
are no pages."""


async def reread(
    live: LiveSession, turn_id: str, reader: ContextReader, memories: Remembering, front: InFront
) -> TurnContext:
    """Return the context for the player's words of ``turn_id``. Raises ``NotFound`` for an unknown turn.

    If it is not recorded how much history the request had, only the reply above is assumed. The context of an opening
    and of a side request is empty.
    """
    turn = await live.turn(turn_id)
    if turn.parent is None or turn.kind in _UNTOLD:
        return TurnContext("", 0)
    return await reading_after(live, turn.parent, turn.user, reader, memories, front, now=turn.at, missing=turn.missing)


async def reading_after(
    live: LiveSession,
    turn_id: str,
    words: str,
    reader: ContextReader,
    memories: Remembering,
    front: InFront,
    *,
    now: float,
    missing: int | None = None,
) -> TurnContext:
    """Return the context for the player's ``words`` after ``turn_id`` at the time ``now``. Raises ``NotFound``.

    The history is assumed to have the turns of the path deeper than ``missing``, by default only ``turn_id``.
    """
    state, above = await live.state(turn_id), await live.turn(turn_id)
    unseen = state.depth - 1 if missing is None else min(missing, state.depth - 1)
    shown = [node.id for node in live.tree.path(turn_id) if node.depth > unseen]
    language = detect(words, live.world.language)
    pages, pinned = await front(live, turn_id)
    by_hand = said_by_hand(live, state, pages, pinned)
    return await reader.read(
        ReadRequest(
            session=live.session.id,
            state=state,
            world=live.world,
            lore=live.lore,
            player_words=words,
            recent=tuple(text for text in (above.reply, words) if text),
            pinned=pinned,
            pages=pages,
            missing=unseen,
            in_front=lines_of(pages),
            by_hand=by_hand.notes,
            corrected=by_hand.corrected,
            language=language,
            episodes=live.remembered(state),
            shown=frozenset(shown),
            graph=await live.image(turn_id),
            now=now,
            due=due_lines(state, language),
            memories=await memories(live, state),
            moment=await _lore_moment(live, turn_id, words),
        )
    )


async def _lore_moment(live: LiveSession, turn_id: str, words: str) -> LoreMoment | None:
    """Return the input for lore with its own rules, such as keywords, for ``words`` after a turn. None without any."""
    kept = live.lore.kept
    if not kept.entries:
        return None
    path = [node.id for node in islice(live.tree.upwards(turn_id), kept.deepest // 2 + 1)]
    messages = [words]
    for turn in await live.turns(path):
        messages += [text for text in (turn.reply, turn.user) if text]
    return live.lore_moment(turn_id, messages, seed=turn_id)


_NEIGHBORS = 2
"""Distance at which a turn adds to the scores of its neighbours."""


async def with_signals(
    live: LiveSession, above: str, said: str, explained: dict[str, Any], *, now: float
) -> dict[str, Any]:
    """Return an explained context that was read after ``above`` for the words ``said``, as JSON-compatible data.

    Adds ``said``, and ``time``, the first and the last turn of the time that the words name, or None. Each piece has
    ``words``: the words of ``said`` that its whole turn or entry has in any form, even if the context left them out. A
    piece of a turn has its depth as ``turn``. If its neighbours added to its score, ``beside`` is the neighbouring turn
    with most of the words.
    """
    wording, state = SearchWords.of(said), await live.state(above)
    episodes = live.remembered(state)
    entries = {entry.name: entry for entry in live.world.lore}

    def signals(row: dict[str, Any]) -> dict[str, Any]:
        kind, _, key = row["key"].partition(":")
        if kind == "turn" and episodes.on_path(key):
            depth = episodes.depth(key)
            row = {**row, "words": wording.sharing(spoken_of(episodes.text(key))), "turn": depth}
            beside = _beside(episodes, depth, wording) if row["why"].get("neighbours") else None
            return row if beside is None else {**row, "beside": beside}
        whole = row["text"]
        if kind == "lore" and key in entries:
            entry = entries[key]
            whole = " ".join((whole, entry.name, *entry.aliases, *entry.tags, entry.text, state.learned.get(key, "")))
        return {**row, "words": wording.typed(whole)}

    found = {name: [signals(row) for row in explained[name]] for name in ("pieces", "skipped")}
    return {
        **explained,
        **found,
        "said": said,
        "time": _time(said, episodes, [*found["pieces"], *found["skipped"]], now),
    }


def _beside(episodes: PathEpisodes, depth: int, wording: SearchWords) -> int | None:
    """Return the turn near ``depth`` that has most of the words, the nearest if several have as many."""
    found: dict[int, int] = {}
    for step in range(1, _NEIGHBORS + 1):
        for near in (depth - step, depth + step):
            turn = episodes.at(near)
            if turn is not None and (count := len(wording.sharing(spoken_of(episodes.text(turn))))):
                found[near] = count
    return max(found, key=lambda near: found[near], default=None)


def _time(said: str, episodes: PathEpisodes, rows: list[dict[str, Any]], now: float) -> dict[str, int] | None:
    meant = time_named(said)
    if meant is None or meant.latest:
        return None
    if meant.meeting:  # the scores show the turns, because the names are known only in the scene
        turns = [row["turn"] for row in rows if "turn" in row and row["why"].get("time")]
        return {"first": min(turns), "last": max(turns)} if turns else None
    then = turns_at(meant, episodes, (), now)
    return {"first": then[0], "last": then[-1]} if then else None


_TURNS, _RANKED = 5, 64
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
        wording = SearchWords.of(asked)
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
    whole, _, starts, stops = split_sentences(text)
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
    state = await live.state(looking.above)
    for row in _of_turns(looking, state, text):
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
    for row in _of_lore(looking, state):
        yield row
    for record in state.memories.values():
        if looking.near_enough(record.text, _HALF):
            yield looking.row("memory", record.id, record.text, "no_signal")
    async for row in _remarks(looking):
        yield row
    for row in _events(looking, state):
        yield row


def _of_turns(looking: Looking, state: WorldState, text: str) -> Iterator[dict[str, Any]]:
    """Yield the turns of the path that match best."""
    live, context = looking.live, looking.context
    episodes = live.remembered(state)
    ranked = list(episodes.search(text, _RANKED, frozenset()))
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


async def _nearest(looking: Looking, brought: Sequence[TurnItem], least: float) -> list[TurnItem]:
    """Return the best matching items with at least the share ``least`` of the words."""
    found: list[tuple[tuple[bool, float], int, TurnItem]] = []
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
            yield looking.row(
                "event", each.key, each.text, "not_due", waits=_waits(event, state, looking.live.world.language)
            )


def _waits(event: Scheduled, state: WorldState, language: str) -> dict[str, Any]:
    """Return the unmet conditions of an event: the ``turn`` or the ``time`` at which it is due, the ``place``, and
    ``who`` must be present. Met conditions are None."""
    ahead = event.at is not None and (state.minutes is None or state.minutes < event.at)
    return {
        "time": due_time(state, event, language) if ahead else None,
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


_LOOKED_AT = 128
"""Maximum turns of the active path whose contexts are checked, if they are still cached."""
_SHOWN = 12


async def shown_lore(live: LiveSession, contexts: RecentContexts) -> dict[str, Any]:
    """Return the entries in the order of their world. ``fired`` has the turns whose context had it, latest first."""
    state = await live.state(live.head)
    fired: dict[str, list[dict[str, Any]]] = {}
    looked_at = 0
    for node in islice(live.tree.upwards(live.head), _LOOKED_AT):
        context = contexts.get(node.id)
        if context is None:
            continue
        looked_at += 1
        for piece in context.pieces:
            name = piece.key.removeprefix("lore:")
            if name != piece.key and len(fired.setdefault(name, [])) < _SHOWN:
                why = {each: round(part, 4) for each, part in piece.why.items()}
                fired[name].append({"turn": node.depth, "turn_id": node.id, "score": round(piece.score, 4), "why": why})
    return {
        "session": live.session.id,
        "world": live.world.name,
        "turn": state.depth,
        "contexts": looked_at,
        "entries": [
            {
                "name": entry.name,
                "type": entry.type,
                "layer": entry.layer,
                "tags": list(entry.tags),
                "aliases": list(entry.aliases),
                "text": entry.text,
                "constant": entry.constant,
                "secret": entry.secret,
                "known_by": list(entry.known_by),
                "added": state.learned.get(entry.name),
                "mentioned": state.mentioned.get(entry.name),
                "fired": fired.get(entry.name, []),
            }
            for entry in live.world.lore
        ],
    }
