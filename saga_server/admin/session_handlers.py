"""Handlers for sessions, their turns and their timelines."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

from aiohttp import web
from attrs import asdict

from saga_backends.http_client import is_local
from saga_core import Saga
from saga_core.billing import PURPOSES, Account, Bill
from saga_core.catalog import Sessions, SessionSummary, Side
from saga_core.codec import to_plain
from saga_core.errors import NotFound
from saga_core.model import Session, Timeline, Turn
from saga_core.sessions import EPHEMERAL
from saga_core.world import PICTURES
from saga_server.admin import answers
from saga_server.admin.endpoint import in_body, in_query
from saga_server.admin.mounting import to_its_end
from saga_server.admin.parameters import (
    BodyText,
    Cursor,
    Head,
    Limit,
    MaybeBodyText,
    Part,
    SessionId,
    TurnInBody,
    YesOrNo,
)
from saga_server.admin.reply import filled, page_of
from saga_server.http import BEARER, CURRENT, EXCHANGES, read_name, saga_of
from saga_server.providers import OFFLINE

if TYPE_CHECKING:
    from saga_core.maintenance import TrashedSession


async def list_sessions(
    request: web.Request,
    fleeting: Annotated[Literal["0", "1", "all"], in_query()] = "0",
    limit: Limit = None,
    cursor: Cursor = None,
) -> answers.Sessions:
    """List sessions: without the fleeting ones, only the fleeting ones, or all."""
    saga, owner = saga_of(request), request[BEARER].scope
    engines = [each for each in (saga, saga.ephemeral) if each is not None]
    every = [(each.sessions, session) for each in engines for session in await each.sessions.records(owner)]
    left, _ = page_of(every, lambda each: each[1].id, cursor, None)
    found, seen = list[tuple[Sessions, SessionSummary]](), 0
    for where, session in left:
        if limit is not None and len(found) > limit:
            break  # one more than the page, whose id is the next cursor
        summary = await where.listed(session)
        if summary is not None:
            seen += summary.fleeting
            if fleeting in ("all", str(int(summary.fleeting))):
                found.append((where, summary))
    rows, after = page_of(found, lambda each: each[1].session.id, None, limit)
    costs = dict[str, Account]()
    for each in engines:
        shown = [summary.session.id for where, summary in rows if where is each.sessions]
        costs |= await each.sessions.costs(None if limit is None else shown)
    listed = [summary for _, summary in rows]
    pictured = await _pictured(saga, listed)
    return answers.Sessions([_summary(each, pictured, costs.get(each.session.id)) for each in listed], seen, after)


async def _pictured(saga: Saga, listed: Sequence[SessionSummary]) -> Collection[str]:
    """Return the worlds of the sessions that have a portrait."""
    return await asyncio.to_thread(saga.worlds.portraits, {each.session.world for each in listed})


async def create_session(
    request: web.Request, world: MaybeBodyText = None, label: MaybeBodyText = None
) -> answers.SessionRecord:
    """Create a session. It belongs to the caller's key."""
    label = read_name(label, "label") or ""
    owner = request[BEARER].owner
    creating = saga_of(request).sessions.create(world=world or None, label=label, owner=owner)
    return filled(answers.SessionRecord, await to_its_end(request, creating))


async def show_session(request: web.Request, session: SessionId) -> answers.SessionSummary:
    """Return one session with its cost."""
    saga = saga_of(request)
    found = await saga.sessions.summary(session)
    return _summary(found, await _pictured(saga, [found]), Account.of(await saga.sessions.cost(session)))


async def show_portrait(request: web.Request, session: SessionId) -> web.StreamResponse:
    """Return the picture of the card that the session's world was imported from."""
    saga = saga_of(request)
    world = (await saga.sessions.get(session)).world
    picture = (await asyncio.to_thread(saga.worlds.portraits, {world})).get(world)
    if picture is None:
        raise NotFound(f"the world {world!r} of this session has no portrait; a card that is a picture brings one")
    raw = await asyncio.to_thread(picture.read_bytes)
    headers = {"Content-Security-Policy": "default-src 'none'"}
    return web.Response(body=raw, content_type=PICTURES[picture.suffix.lower()], headers=headers)


async def show_chat(request: web.Request, chat: Part) -> answers.PlayedChat:
    """Return where a chat that the caller may see was played last. ``NotFound`` if it was not named since the start."""
    chat = read_name(chat, "chat") or ""
    bearer, chats = request[BEARER], request.app[EXCHANGES].chats
    found = chats.get(bearer.owner, chat)
    if found is None and bearer.scope is None:
        found = chats.of_anybody(chat)
    if found is not None:
        try:
            await (await saga_of(request).engine_of(found.session)).sessions.get(found.session)
        except NotFound:
            chats.forget(found.session)
            found = None
    if found is None:
        raise NotFound(f"chat: no request since the start of this server named the chat {chat!r} (X-SAGA-Chat)")
    return answers.PlayedChat(chat, found.session, found.turn, found.notices)


async def rename_session(request: web.Request, session: SessionId, label: BodyText) -> answers.SessionRecord:
    """Rename a session. A chat request with the old name then begins a new session."""
    label = read_name(label, "label") or ""
    renaming = saga_of(request).sessions.rename(session, label)
    return filled(answers.SessionRecord, await to_its_end(request, renaming))


async def join_world(request: web.Request, session: SessionId, world: BodyText = "") -> answers.SessionRecord:
    """Let a session share its world with others from now on."""
    joining = saga_of(request).sessions.join(session, world)
    return filled(answers.SessionRecord, await to_its_end(request, joining))


async def leave_world(request: web.Request, session: SessionId) -> answers.SessionRecord:
    """Let a session go on alone. What it has seen of its shared world stays in its story."""
    leaving = saga_of(request).sessions.leave(session)
    return filled(answers.SessionRecord, await to_its_end(request, leaving))


async def delete_session(request: web.Request, session: SessionId, undo: YesOrNo = False) -> answers.Deleted:
    """Delete a session from every store. With ``undo``, it can be restored for a day."""
    saga = saga_of(request)
    found = await saga.sessions.get(session)
    if undo and found.kind != EPHEMERAL:
        kept = await to_its_end(request, saga.maintenance.put_in_trash(found.id))
        return answers.Deleted(kept.id, until=kept.until)
    await to_its_end(request, saga.sessions.delete(found.id))
    return answers.Deleted(found.id)


async def list_trash(request: web.Request) -> answers.Trash:
    """List the deleted sessions of the caller that can be restored."""
    return answers.Trash([_trashed(each) for each in await _trash(request)])


async def restore_session(request: web.Request, deleted: Part) -> answers.SessionRecord:
    """Restore a deleted session of the caller."""
    restoring = saga_of(request).maintenance.restore(await _in_trash(request, deleted))
    return filled(answers.SessionRecord, await to_its_end(request, restoring))


async def discard_session(request: web.Request, deleted: Part) -> answers.Deleted:
    """Remove a deleted session of the caller for good."""
    gone = await _in_trash(request, deleted)
    await to_its_end(request, saga_of(request).maintenance.discard(gone))
    return answers.Deleted(gone)


async def _trash(request: web.Request) -> Sequence[TrashedSession]:
    owner = request[BEARER].scope
    return [each for each in await saga_of(request).maintenance.trash() if owner is None or each.owner == owner]


async def _in_trash(request: web.Request, deleted: str) -> str:
    if deleted not in {each.id for each in await _trash(request)}:
        raise NotFound(f"deleted: the trash has no session {deleted[:80]!r}; a session is kept there for a day")
    return deleted


def _trashed(session: TrashedSession) -> dict[str, Any]:
    about = asdict(session, filter=lambda field, _: field.name not in ("bytes", "digest", "whole"))
    return {**about, "until": session.until}


async def reset_session(request: web.Request, session: SessionId) -> answers.SessionRecord:
    """Remove all turns of a session."""
    return filled(answers.SessionRecord, await to_its_end(request, saga_of(request).sessions.reset(session)))


async def reextract(
    request: web.Request,
    session: SessionId,
    only: Annotated[bool, in_query(example="0")] = False,
    turn: MaybeBodyText = None,
) -> answers.RequestedReadings:
    """Ask the extraction model about turns again, in the background."""
    saga = saga_of(request)
    asking = saga.background.reextract(session, turn or None, below=not only)
    return answers.RequestedReadings(await to_its_end(request, asking))


def _summary(summary: SessionSummary, pictured: Collection[str], cost: Account | None = None) -> answers.SessionSummary:
    """Return a session with its ``cost`` so far; the fields are null if the cost is not known."""
    return filled(
        answers.SessionSummary,
        summary.session,
        turns=summary.turns,
        depth=summary.depth,
        updated=summary.updated,
        fleeting=summary.fleeting,
        portrait=summary.session.world in pictured,
        **_spent(cost),
    )


def _spent(account: Account | None) -> dict[str, Any]:
    if account is None or account.total.calls == account.total.unpriced:
        return {"dollars": None, "saved": None, "spent": dict.fromkeys(PURPOSES)}
    return {
        "dollars": account.total.dollars,
        "saved": account.total.saved,
        "spent": {
            purpose: each.dollars if each.calls > each.unpriced or not each.calls else None
            for purpose, each in account.by_purpose.items()
        },
    }


# -- turns -----------------------------------------------------------------------------------------------------


async def list_turns(
    request: web.Request,
    session: SessionId,
    from_turn: Annotated[int | None, in_query(example="1")] = None,
    to_turn: Annotated[int | None, in_query(example="9")] = None,
    head: Head = None,
) -> answers.Turns:
    """List the turns of the path to the active head, or to another turn."""
    turns = await saga_of(request).views.turns(session, from_turn=from_turn, to_turn=to_turn, head=head)
    return answers.Turns([_turn(turn) for turn in turns])


def _turn(turn: Turn) -> dict[str, Any]:
    return {
        "turn": turn.depth,
        "turn_id": turn.id,
        "parent": turn.parent,
        "kind": turn.kind.value,
        "at": turn.at,
        "user": turn.user,
        "reply": turn.reply,
        "model": turn.model,
        "finish": turn.finish,
        "delta": to_plain(turn.delta),
    }


async def show_tree(request: web.Request, session: SessionId) -> answers.Tree:
    """Return all turns as a tree."""
    return answers.Tree(**await saga_of(request).views.tree(session))


# -- cost ------------------------------------------------------------------------------------------------------


async def show_cost(
    request: web.Request, session: SessionId, turns: Annotated[bool, in_query(example="1")] = False
) -> answers.CostOfSession:
    """Return the total cost of a session, the turns at which the cache failed, and on request each bill."""
    providers = request.app[CURRENT].config.providers
    free = {OFFLINE, *(name for name, each in providers.items() if each.base_url and is_local(each.base_url))}
    return cost_of(await saga_of(request).sessions.cost(session), turns=turns, free=free)


async def list_bills(
    request: web.Request,
    session: SessionId,
    cursor: Cursor = None,
    limit: Annotated[int, in_query(example="60", least=1, most=1_000)] = 60,
) -> answers.Bills:
    """List the bills of a session in pages, the latest first."""
    bills = [*reversed(await saga_of(request).sessions.cost(session))]
    rows, after = page_of(bills, lambda bill: f"{bill.turn}.{bill.call}", cursor, limit)
    return answers.Bills([asdict(bill) for bill in rows], after)


def cost_of(bills: Sequence[Bill], *, turns: bool, free: Collection[str] = ()) -> answers.CostOfSession:
    """Summarize bills as an answer. ``turns`` adds each bill. ``free`` are the providers that charge nothing."""
    account = Account.of(bills)
    total = account.total
    priced = total.calls > total.unpriced
    return answers.CostOfSession(
        total={**asdict(total), "saved": total.saved},
        **{purpose: asdict(each) for purpose, each in account.by_purpose.items()},
        models={
            model: asdict(Account.of([bill for bill in bills if bill.model == model]).total)
            for model in sorted({bill.model for bill in bills})
        },
        free=sorted({bill.model for bill in bills if bill.dollars is None and bill.provider in free}),
        comparison={
            "with_saga": total.dollars if priced else None,
            "without_cache": total.uncached if priced else None,
            "without_saga": total.without if priced else None,
            "saved": total.saved,
            "unpriced": total.unpriced,
        },
        broken=[{"turn": bill.turn, "at": bill.at, "note": bill.note} for bill in bills if bill.note],
        pinned=[{"turn": bill.turn, "at": bill.at, "reason": bill.pinned} for bill in bills if bill.pinned],
        turns=[asdict(bill) for bill in bills] if turns else None,
    )


# -- Handlers for the tree of a session: fork, rename, compare and prune timelines -----------------------------


async def list_timelines(request: web.Request, session: SessionId) -> answers.Timelines:
    """List the named timelines and the ends of all other paths."""
    return answers.Timelines(await saga_of(request).timelines.list(session))


async def show_runs(request: web.Request, session: SessionId) -> answers.Runs:
    """Return the tree, with each unbranched run of turns as one entry."""
    return answers.Runs(**await saga_of(request).timelines.runs(session))


async def show_turn(request: web.Request, session: SessionId, turn: Part) -> answers.WholeTurn:
    """Return everything about one turn."""
    return answers.WholeTurn(**await saga_of(request).timelines.turn(session, turn))


async def fork_timeline(
    request: web.Request, session: SessionId, name: BodyText, turn: TurnInBody = None
) -> answers.Timeline:
    """Create a named timeline, at the turn recorded last if no turn is given."""
    saga = saga_of(request)
    found = await saga.sessions.get(session)
    made = await to_its_end(request, saga.timelines.fork(found.id, turn or None, name))
    return _timeline(found, made)


async def rename_timeline(
    request: web.Request, session: SessionId, name: Part, new: Annotated[str, in_body(name="name")]
) -> answers.Timeline:
    """Rename a timeline."""
    saga = saga_of(request)
    found = await saga.sessions.get(session)
    renamed = await to_its_end(request, saga.timelines.rename(found.id, name, new))
    return _timeline(found, renamed)


async def forget_timeline(request: web.Request, session: SessionId, name: Part) -> answers.ForgottenName:
    """Remove a timeline's name. Its turns stay."""
    await to_its_end(request, saga_of(request).timelines.forget(session, name))
    return answers.ForgottenName(name)


async def compare_timelines(
    request: web.Request,
    session: SessionId,
    one: Annotated[str, in_query(example="TURN")],
    other: Annotated[str, in_query(example="TURN")],
    language: Annotated[str | None, in_query(example="en")] = None,
) -> answers.Comparison:
    """Compare two turns or timelines."""
    timelines = saga_of(request).timelines
    found = await timelines.compare(session, one, other, language=language)
    return answers.Comparison(
        session=found.session,
        ancestor=answers.Ancestor(found.depth, found.ancestor),
        one=_side(found.one),
        other=_side(found.other),
        differences=[asdict(each) for each in found.differences],
        language=found.language,
        words=found.words,
    )


def _side(side: Side) -> answers.ComparedSide:
    return answers.ComparedSide(side.name, side.depth, side.turn, side.since)


async def prune_timeline(request: web.Request, session: SessionId, turn: BodyText) -> answers.Pruned:
    """Remove a turn and everything below it."""
    pruned = await to_its_end(request, saga_of(request).timelines.prune(session, turn))
    return answers.Pruned(pruned.turns, pruned.forgotten, pruned.shortened)


def _timeline(session: Session, timeline: Timeline) -> answers.Timeline:
    return filled(answers.Timeline, timeline, enter=f"{session.label or session.id}@{timeline.name}")
