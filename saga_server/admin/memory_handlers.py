"""Handlers for the memory of a session, for corrections, and for the files of worlds."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from aiohttp import web
from attrs import asdict

from saga_core.dice import roll_dice
from saga_core.errors import BadInput, NotSupported
from saga_core.stores import Pages
from saga_core.world import WorldFiles, edited, listed, world_files
from saga_server.admin import answers, parameters
from saga_server.admin.endpoint import NoParams
from saga_server.admin.mounting import to_its_end
from saga_server.admin.reply import page_of
from saga_server.http import BEARER, CURRENT, saga_of

_LONGEST = 20_000
"""The longest text, in characters, that may be tried or looked up."""

SVG = "image/svg+xml"


async def show_state(request: web.Request, asked: parameters.AtTurn) -> answers.State:
    """Return the state at a turn."""
    return answers.State(**await saga_of(request).describe(asked.session, asked.turn))


async def show_picture(request: web.Request, asked: parameters.Picture) -> web.StreamResponse:
    """Return what a module draws of the state."""
    drawn = await saga_of(request).views.picture(asked.session, asked.module, asked.turn)
    return web.Response(text=drawn, content_type=SVG, headers={"Content-Security-Policy": "default-src 'none'"})


async def show_lines(request: web.Request, asked: parameters.AtTurn) -> answers.Lines:
    """Return the state at a turn as lines of text."""
    return answers.Lines(**await saga_of(request).memory.lines(asked.session, asked.turn))


async def show_knowledge(request: web.Request, asked: parameters.KnowledgeAt) -> answers.Knowledge:
    """Return who knows what happened at a turn, or what a character knows."""
    memory = saga_of(request).memory
    found = await memory.knowledge(asked.session, about=asked.about, who=asked.who, turn=asked.turn)
    return answers.Knowledge(**found)


async def show_graph(request: web.Request, asked: parameters.AtTurn) -> answers.Graph:
    """Return the graph at a turn."""
    return answers.Graph(**await saga_of(request).views.graph(asked.session, asked.turn))


async def show_context(request: web.Request, asked: parameters.ContextAt) -> answers.Context:
    """Explain a turn's context, or the context that a text of the player would get after the turn."""
    return await _explained(request, asked.session, asked.turn, asked.text)


async def try_words(request: web.Request, asked: parameters.TriedWords) -> answers.Context:
    """Explain the context that a text of the player, given in the body, would get after a turn."""
    return await _explained(request, asked.session, asked.turn, asked.text)


async def _explained(request: web.Request, session: str, turn: str | None, text: str | None) -> answers.Context:
    if text is not None:
        _check_length(text)
    return answers.Context(**await saga_of(request).views.explain(session, turn, text=text))


async def show_untold(request: web.Request, asked: parameters.TextAtTurn) -> answers.ContextLookup:
    """Explain why a turn's context did or did not include a text."""
    return await _looked_up(request, asked.session, asked.turn, asked.text)


async def look_up(request: web.Request, asked: parameters.PostedText) -> answers.ContextLookup:
    """Explain why a turn's context did or did not include a text given in the body."""
    return await _looked_up(request, asked.session, asked.turn, asked.text)


async def _looked_up(request: web.Request, session: str, turn: str | None, text: str) -> answers.ContextLookup:
    _check_length(text)
    return answers.ContextLookup(**await saga_of(request).views.why_untold(session, text, turn))


def _check_length(text: str) -> None:
    if len(text) > _LONGEST:
        raise BadInput(f"text: {len(text):,} characters are too many; give {_LONGEST:,} at most")


async def show_lore(request: web.Request, asked: parameters.OfSession) -> answers.Lore:
    """Return the lore, and when each entry was told to the narrator."""
    return answers.Lore(**await saga_of(request).views.lore(asked.session))


async def show_pages(request: web.Request, asked: parameters.OfSession) -> answers.Pages:
    """Return the four pages."""
    return _pages(request, *await saga_of(request).views.pages(asked.session))


async def regenerate_pages(request: web.Request, asked: parameters.OfSession) -> answers.Pages:
    """Render the pages again."""
    views = saga_of(request).views
    await to_its_end(request, views.regenerate_pages(asked.session))
    return _pages(request, *await views.pages(asked.session))


def _pages(request: web.Request, pages: Pages | None, folder: str | None) -> answers.Pages:
    folder = folder if request[BEARER].role == "admin" else None  # a player must not see paths of the server
    if pages is None:
        return answers.Pages(False, None, folder, {})
    return answers.Pages(True, pages.watermark, folder, dict(pages.files))


async def search(request: web.Request, asked: parameters.Search) -> answers.SearchResults:
    """Return the turns that match a search best."""
    results = await saga_of(request).views.search(asked.q, session_id=asked.session, k=asked.k, turn=asked.turn)
    return answers.SearchResults(asked.q, asked.session, results)


async def show_roll(request: web.Request, asked: parameters.Dice) -> answers.Rolled:
    """Roll dice. Nothing is recorded."""
    found = roll_dice(asked.dice)
    return answers.Rolled(found.dice, found.rolls, found.total)


async def query_graph(request: web.Request, asked: parameters.GraphQuery) -> answers.GraphRows:
    """Run a query in the graph engine's own language. Raises ``NotSupported`` unless ``graph.raw_query`` is set."""
    if not request.app[CURRENT].config.graph.raw_query:
        raise NotSupported("queries in the graph engine's own language are switched off; set graph.raw_query: true")
    views = saga_of(request).views
    return answers.GraphRows(await views.graph_query(asked.cypher, timeout=asked.timeout, limit=asked.limit))


# -- corrections and curation ----------------------------------------------------------------------------------


async def show_curation(request: web.Request, asked: parameters.OfSession) -> answers.Curation:
    """Return the findings and the reviews of the curators."""
    return answers.Curation(**await saga_of(request).memory.curated(asked.session))


async def list_entities(request: web.Request, asked: parameters.Listed) -> answers.Entities:
    """List all entities with all their names."""
    session = await saga_of(request).sessions.get(asked.session)
    memory = saga_of(request).memory
    rows, after = page_of(await memory.entities(session.id), _id, asked.cursor, asked.limit)
    return answers.Entities(session.id, rows, await memory.former_names(session.id), after)


async def show_entity(request: web.Request, asked: parameters.OfEntity) -> answers.Entity:
    """Return everything about one entity."""
    return answers.Entity(**await saga_of(request).memory.entity(asked.session, asked.entity, asked.turn))


async def list_memories(request: web.Request, asked: parameters.Memories) -> answers.Memories:
    """List the records that memory strategies learned."""
    session = await saga_of(request).sessions.get(asked.session)
    found = await saga_of(request).memory.records(
        session.id, turn=asked.turn, namespace=asked.namespace, query=asked.query
    )
    rows, after = page_of(found["memories"], _id, asked.cursor, asked.limit)
    return answers.Memories(**{**found, "memories": rows}, next=after)


async def list_changes(request: web.Request, asked: parameters.Listed) -> answers.Changes:
    """List the changes by curators and by people."""
    session = await saga_of(request).sessions.get(asked.session)
    changes = await saga_of(request).memory.changes(session.id)
    return answers.Changes(session.id, *page_of(changes, _id, asked.cursor, asked.limit))


def _id(row: Mapping[str, Any]) -> str:
    return str(row["id"])


async def make_change(request: web.Request, asked: parameters.Correction) -> answers.Changed:
    """Make a correction, at the turn recorded last or at another. A dry run only returns its effect."""
    session = await saga_of(request).sessions.get(asked.session)
    memory = saga_of(request).memory
    what = (session.id, asked.kind, dict(asked.fields), asked.turn or None)
    effect = await memory.preview(*what)
    if asked.dry_run:
        return answers.Changed(session=session.id, change=None, **effect)
    change = await to_its_end(request, memory.correct(*what, within_session=asked.within_session))
    return answers.Changed(session=session.id, change=change, **effect)


async def undo_change(request: web.Request, asked: parameters.Undoing) -> answers.Undone:
    """Undo a change by a curator or a person."""
    session = await saga_of(request).sessions.get(asked.session)
    undoing = saga_of(request).memory.undo(session.id, asked.change, within_session=asked.within_session)
    undone_by, turn = await to_its_end(request, undoing)
    return answers.Undone(session.id, asked.change, undone_by, turn)


async def decide_change(request: web.Request, asked: parameters.Decision) -> answers.Decided:
    """Accept or refuse a change that waits for a person."""
    session = await saga_of(request).sessions.get(asked.session)
    deciding = saga_of(request).memory.decide(session.id, asked.change, accept=_accepts(asked.verdict))
    return answers.Decided(session.id, asked.change, asked.verdict, await to_its_end(request, deciding))


async def list_standing(request: web.Request, asked: parameters.OfSession) -> answers.Standing:
    """List the standing rules of a session."""
    session = await saga_of(request).sessions.get(asked.session)
    return answers.Standing(session.id, await saga_of(request).memory.standing(session.id))


async def decide_always(request: web.Request, asked: parameters.Always) -> answers.StandingRule:
    """Make a standing rule that decides all proposals like the given change from now on."""
    session = await saga_of(request).sessions.get(asked.session)
    deciding = saga_of(request).memory.always(session.id, asked.change, accept=_accepts(asked.verdict))
    return answers.StandingRule(session=session.id, **await to_its_end(request, deciding))


async def ask_again(request: web.Request, asked: parameters.OfRule) -> answers.StandingRule:
    """End a standing rule."""
    session = await saga_of(request).sessions.get(asked.session)
    ending = saga_of(request).memory.ask_again(session.id, asked.rule)
    return answers.StandingRule(session=session.id, **await to_its_end(request, ending))


def _accepts(verdict: str) -> bool:
    if verdict not in ("accept", "refuse"):
        raise BadInput(f"verdict: {verdict[:40]!r} is none; give accept or refuse")
    return verdict == "accept"


# -- worlds ----------------------------------------------------------------------------------------------------


async def show_library(request: web.Request, asked: NoParams) -> answers.Library:
    """List the worlds of the library, with the problems in them."""
    found = await asyncio.to_thread(listed, saga_of(request).worlds)
    return answers.Library(
        [
            {"name": each.name, "files": list(each.files), "writable": writable, "problems": each.problems}
            for each, writable in found
        ]
    )


async def show_world(request: web.Request, asked: parameters.OfWorld) -> answers.WorldTexts:
    """Return the files of a world."""
    return _world(await asyncio.to_thread(world_files, saga_of(request).worlds, asked.world))


async def edit_world(request: web.Request, asked: parameters.WorldEdit) -> answers.WorldTexts:
    """Write a file of a world if the world can be read with it. A dry run only checks that."""
    library = saga_of(request).worlds
    editing = asyncio.to_thread(edited, library, asked.world, asked.file, asked.text, dry_run=asked.dry_run)
    return _world(await to_its_end(request, editing))


def _world(found: WorldFiles) -> answers.WorldTexts:
    return answers.WorldTexts(
        name=found.name,
        files=dict(found.texts),
        writable=found.writable,
        problems=[asdict(each) for each in found.problems],
        warnings=list(found.warnings),
    )
