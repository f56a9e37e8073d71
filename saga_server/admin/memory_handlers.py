"""Handlers for the memory of a session, for corrections, and for the files of worlds."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from aiohttp import web
from attrs import asdict

from saga_core.dice import Rolled, roll_dice
from saga_core.errors import BadInput, NotSupported
from saga_core.play import without_markers
from saga_core.stores import Pages
from saga_core.world import WorldFiles, edited, listed, world_files
from saga_server.admin import answers
from saga_server.admin.endpoint import in_body, in_query
from saga_server.admin.mounting import to_its_end
from saga_server.admin.parameters import (
    BodyText,
    CorrectionFields,
    Cursor,
    Head,
    Limit,
    MaybeBodyText,
    OneSession,
    Part,
    SessionId,
    Text,
    TurnId,
    TurnInBody,
    Verdict,
    YesOrNo,
)
from saga_server.admin.reply import page_by_place, page_of
from saga_server.http import BEARER, CURRENT, saga_of

_LONGEST = 20_000
"""The longest text, in characters, that may be tried or looked up."""

SVG = "image/svg+xml"


async def show_state(request: web.Request, session: SessionId, turn: TurnId = None) -> answers.State:
    """Return the state at a turn."""
    return answers.State(**await saga_of(request).describe(session, turn))


async def show_picture(
    request: web.Request, session: SessionId, module: Part, turn: TurnId = None
) -> web.StreamResponse:
    """Return what a module draws of the state."""
    drawn = await saga_of(request).views.picture(session, module, turn)
    return web.Response(text=drawn, content_type=SVG, headers={"Content-Security-Policy": "default-src 'none'"})


async def show_lines(
    request: web.Request, session: SessionId, turn: TurnId = None, limit: Limit = None, cursor: Cursor = None
) -> answers.Lines:
    """Return the state at a turn as lines of text."""
    found = await saga_of(request).memory.lines(session, turn)
    lines, after = page_by_place(found["lines"], cursor, limit)
    return answers.Lines(**{**found, "lines": lines}, next=after)


async def rewrite_chapter(
    request: web.Request,
    session: SessionId,
    first: Annotated[int, in_query(example="1", least=1)],
    last: Annotated[int, in_query(example="10", least=1)],
    style: Annotated[Literal["terse", "rich", "quotes"], in_query()] = "terse",
    head: Head = None,
) -> answers.Chapter:
    """Return some turns as a model tells them. To keep the text, send it as a correction of the kind ``chapter``."""
    told = saga_of(request).background.chapters.rewrite(session, first, last, style, head)
    return answers.Chapter(first, last, style, without_markers(await to_its_end(request, told)))


async def show_knowledge(
    request: web.Request,
    session: SessionId,
    turn: TurnId = None,
    about: Annotated[int | None, in_query(example="1")] = None,
    who: Text = None,
    limit: Limit = None,
    cursor: Cursor = None,
) -> answers.Knowledge:
    """Return who knows what happened at a turn, or what a character knows."""
    memory = saga_of(request).memory
    found = await memory.knowledge(session, about=about, who=who, turn=turn)
    name = "people" if "people" in found else "facts"
    rows, after = page_by_place(found[name], cursor, limit)
    return answers.Knowledge(**{**found, name: rows}, next=after)


async def show_graph(request: web.Request, session: SessionId, turn: TurnId = None) -> answers.Graph:
    """Return the graph at a turn."""
    return answers.Graph(**await saga_of(request).views.graph(session, turn))


async def show_context(
    request: web.Request, session: SessionId, turn: TurnId = None, text: Text = None
) -> answers.Context:
    """Explain a turn's context, or the context that a text of the player would get after the turn."""
    return await _explained(request, session, turn, text)


async def try_words(
    request: web.Request, session: SessionId, text: BodyText, turn: TurnInBody = None
) -> answers.Context:
    """Explain the context that a text of the player, given in the body, would get after a turn."""
    return await _explained(request, session, turn, text)


async def _explained(request: web.Request, session: str, turn: str | None, text: str | None) -> answers.Context:
    if text is not None:
        _check_length(text)
    return answers.Context(**await saga_of(request).views.explain(session, turn, text=text))


async def show_untold(
    request: web.Request, session: SessionId, text: Annotated[str, in_query(example="TEXT")], turn: TurnId = None
) -> answers.ContextLookup:
    """Explain why a turn's context did or did not include a text."""
    return await _looked_up(request, session, turn, text)


async def look_up(
    request: web.Request, session: SessionId, text: BodyText, turn: TurnInBody = None
) -> answers.ContextLookup:
    """Explain why a turn's context did or did not include a text given in the body."""
    return await _looked_up(request, session, turn, text)


async def _looked_up(request: web.Request, session: str, turn: str | None, text: str) -> answers.ContextLookup:
    _check_length(text)
    return answers.ContextLookup(**await saga_of(request).views.why_untold(session, text, turn))


def _check_length(text: str) -> None:
    if len(text) > _LONGEST:
        raise BadInput(f"text: {len(text):,} characters are too many; give {_LONGEST:,} at most")


async def show_lore(
    request: web.Request, session: SessionId, limit: Limit = None, cursor: Cursor = None
) -> answers.Lore:
    """Return the lore, and when each entry was told to the narrator."""
    found = await saga_of(request).views.lore(session)
    entries, after = page_by_place(found["entries"], cursor, limit)
    return answers.Lore(**{**found, "entries": entries}, next=after)


async def show_pages(request: web.Request, session: SessionId) -> answers.Pages:
    """Return the four pages."""
    return _pages(request, *await saga_of(request).views.pages(session))


async def regenerate_pages(request: web.Request, session: SessionId) -> answers.Pages:
    """Render the pages again."""
    views = saga_of(request).views
    await to_its_end(request, views.regenerate_pages(session))
    return _pages(request, *await views.pages(session))


def _pages(request: web.Request, pages: Pages | None, folder: str | None) -> answers.Pages:
    folder = folder if request[BEARER].role == "admin" else None  # a player must not see paths of the server
    if pages is None:
        return answers.Pages(False, None, folder, {})
    return answers.Pages(True, pages.watermark, folder, dict(pages.files))


async def search(
    request: web.Request,
    q: Annotated[str, in_query(example="TEXT")],
    session: OneSession,
    k: Annotated[int, in_query(example="10", least=1, most=1_000)] = 10,
    turn: Text = None,
) -> answers.SearchResults:
    """Return the turns that match a search best."""
    results = await saga_of(request).views.search(q, session_id=session, k=k, turn=turn)
    return answers.SearchResults(q, session, results)


async def show_roll(request: web.Request, dice: Annotated[str, in_query(example="2d6")]) -> Rolled:
    """Roll dice. Nothing is recorded."""
    return roll_dice(dice)


async def query_graph(
    request: web.Request,
    cypher: Annotated[str, in_query(example="TEXT")],
    limit: Annotated[int, in_query(example="100", least=1, most=10_000)] = 100,
    timeout: Annotated[float, in_query(example="5", most=60.0)] = 5.0,
) -> answers.GraphRows:
    """Run a query in the graph engine's own language. Raises ``NotSupported`` unless ``graph.raw_query`` is set."""
    if not request.app[CURRENT].config.graph.raw_query:
        raise NotSupported("queries in the graph engine's own language are switched off; set graph.raw_query: true")
    views = saga_of(request).views
    return answers.GraphRows(await views.graph_query(cypher, timeout=timeout, limit=limit))


# -- corrections and curation ----------------------------------------------------------------------------------


async def show_curation(request: web.Request, session: SessionId) -> answers.Curation:
    """Return the findings and the reviews of the curators."""
    return answers.Curation(**await saga_of(request).memory.curated(session))


async def list_entities(
    request: web.Request, session: SessionId, limit: Limit = None, cursor: Cursor = None
) -> answers.Entities:
    """List all entities with all their names."""
    memory = saga_of(request).memory
    rows, after = page_of(await memory.entities(session), _id, cursor, limit)
    return answers.Entities(session, rows, await memory.former_names(session), after)


async def show_entity(request: web.Request, session: SessionId, entity: Part, turn: TurnId = None) -> answers.Entity:
    """Return everything about one entity."""
    return answers.Entity(**await saga_of(request).memory.entity(session, entity, turn))


async def list_memories(
    request: web.Request,
    session: SessionId,
    namespace: Annotated[str, in_query(example="/")] = "/",
    query: Annotated[str, in_query(example="WORDS")] = "",
    turn: TurnId = None,
    limit: Limit = None,
    cursor: Cursor = None,
) -> answers.Memories:
    """List the records that memory strategies learned."""
    found = await saga_of(request).memory.records(session, turn=turn, namespace=namespace, query=query)
    rows, after = page_of(found["memories"], _id, cursor, limit)
    return answers.Memories(**{**found, "memories": rows}, next=after)


async def list_changes(
    request: web.Request, session: SessionId, limit: Limit = None, cursor: Cursor = None
) -> answers.Changes:
    """List the changes by curators and by people."""
    changes = await saga_of(request).memory.changes(session)
    return answers.Changes(session, *page_of(changes, _id, cursor, limit))


def _id(row: Mapping[str, Any]) -> str:
    return str(row["id"])


async def make_change(
    request: web.Request,
    session: SessionId,
    kind: Annotated[str, in_body(remedy="say what kind of correction it is")],
    fields: CorrectionFields,
    turn: MaybeBodyText = None,
    dry_run: YesOrNo = False,
    kept: YesOrNo = False,
    within_session: YesOrNo = False,
) -> answers.Changed:
    """Make a correction, at the turn recorded last or at another. A dry run only returns its effect."""
    memory = saga_of(request).memory
    what = (session, kind, dict(fields), turn or None)
    effect = await memory.preview(*what, kept=kept)
    if dry_run:
        return answers.Changed(session=session, change=None, **effect)
    change = await to_its_end(request, memory.correct(*what, kept=kept, within_session=within_session))
    return answers.Changed(session=session, change=change, **effect)


async def undo_change(
    request: web.Request,
    session: SessionId,
    change: Part,
    within_session: YesOrNo = False,
    of_story: YesOrNo = False,
) -> answers.Undone:
    """Undo a change by a curator or a person."""
    undoing = saga_of(request).memory.undo(session, change, within_session=within_session, of_story=of_story)
    undone_by, turn = await to_its_end(request, undoing)
    return answers.Undone(session, change, undone_by, turn)


async def decide_change(request: web.Request, session: SessionId, change: Part, verdict: Verdict) -> answers.Decided:
    """Accept or refuse a change that waits for a person."""
    deciding = saga_of(request).memory.decide(session, change, accept=_accepts(verdict))
    return answers.Decided(session, change, verdict, await to_its_end(request, deciding))


async def list_standing(request: web.Request, session: SessionId) -> answers.Standing:
    """List the standing rules of a session."""
    return answers.Standing(session, await saga_of(request).memory.standing(session))


async def decide_always(
    request: web.Request,
    session: SessionId,
    change: Annotated[str, in_body(remedy="give the id of a change that waits")],
    verdict: Verdict,
) -> answers.StandingRule:
    """Make a standing rule that decides all proposals like the given change from now on."""
    deciding = saga_of(request).memory.always(session, change, accept=_accepts(verdict))
    return answers.StandingRule(session=session, **await to_its_end(request, deciding))


async def ask_again(request: web.Request, session: SessionId, rule: Part) -> answers.StandingRule:
    """End a standing rule."""
    ending = saga_of(request).memory.ask_again(session, rule)
    return answers.StandingRule(session=session, **await to_its_end(request, ending))


def _accepts(verdict: str) -> bool:
    if verdict not in ("accept", "refuse"):
        raise BadInput(f"verdict: {verdict[:40]!r} is none; give accept or refuse")
    return verdict == "accept"


# -- worlds ----------------------------------------------------------------------------------------------------


async def show_library(request: web.Request) -> answers.Library:
    """List the worlds of the library, with the problems in them."""
    found = await asyncio.to_thread(listed, saga_of(request).worlds)
    return answers.Library(
        [
            {"name": each.name, "files": list(each.files), "writable": writable, "problems": each.problems}
            for each, writable in found
        ]
    )


async def show_world(request: web.Request, world: Part) -> answers.WorldTexts:
    """Return the files of a world."""
    return _world(await asyncio.to_thread(world_files, saga_of(request).worlds, world))


async def edit_world(
    request: web.Request, world: Part, file: BodyText, text: BodyText, dry_run: YesOrNo = False
) -> answers.WorldTexts:
    """Write a file of a world if the world can be read with it. A dry run only checks that."""
    library = saga_of(request).worlds
    editing = asyncio.to_thread(edited, library, world, file, text, dry_run=dry_run)
    return _world(await to_its_end(request, editing))


def _world(found: WorldFiles) -> answers.WorldTexts:
    return answers.WorldTexts(
        name=found.name,
        files=dict(found.texts),
        writable=found.writable,
        problems=[asdict(each) for each in found.problems],
        warnings=list(found.warnings),
    )
