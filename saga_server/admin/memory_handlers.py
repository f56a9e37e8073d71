"""What is known in a session, and correcting it; and the worlds that authors wrote."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from aiohttp import web
from attrs import asdict

from saga_core.errors import BadInput, NotSupported
from saga_core.stores import Pages
from saga_core.world import WorldFiles, edited, listed, world_files
from saga_server.admin import memory_answers, parameters
from saga_server.admin.endpoint import NoParams
from saga_server.admin.mounting import to_its_end
from saga_server.admin.reply import page_of
from saga_server.http import BEARER, CURRENT, SAGA

_LONGEST = 20_000
"""Characters of a text that is looked for."""


async def show_state(request: web.Request, asked: parameters.AtTurn) -> memory_answers.State:
    """The state at a turn."""
    return memory_answers.State(**await request.app[SAGA].describe(asked.session, asked.turn))


async def show_lines(request: web.Request, asked: parameters.AtTurn) -> memory_answers.Lines:
    """What is believed at a turn, line by line."""
    return memory_answers.Lines(**await request.app[SAGA].memory.lines(asked.session, asked.turn))


async def show_graph(request: web.Request, asked: parameters.AtTurn) -> memory_answers.Graph:
    """The graph at a turn."""
    return memory_answers.Graph(**await request.app[SAGA].views.graph(asked.session, asked.turn))


async def show_context(request: web.Request, asked: parameters.ToldAt) -> memory_answers.Context:
    """What stood in a turn's context, and why; or what words would be told after it."""
    return await _explained(request, asked.session, asked.turn, asked.text)


async def try_words(request: web.Request, asked: parameters.TriedWords) -> memory_answers.Context:
    """What words would be told after a turn."""
    return await _explained(request, asked.session, asked.turn, asked.text)


async def _explained(request: web.Request, session: str, turn: str | None, text: str | None) -> memory_answers.Context:
    if text is not None:
        _check_length(text)
    return memory_answers.Context(**await request.app[SAGA].views.explain(session, turn, text=text))


async def show_untold(request: web.Request, asked: parameters.Untold) -> memory_answers.Untold:
    """Why a text was told or not."""
    return await _looked_up(request, asked.session, asked.turn, asked.text)


async def look_up(request: web.Request, asked: parameters.AskedText) -> memory_answers.Untold:
    """Why a text of any length was told or not."""
    return await _looked_up(request, asked.session, asked.turn, asked.text)


async def _looked_up(request: web.Request, session: str, turn: str | None, text: str) -> memory_answers.Untold:
    _check_length(text)
    return memory_answers.Untold(**await request.app[SAGA].views.why_untold(session, text, turn))


def _check_length(text: str) -> None:
    if len(text) > _LONGEST:
        raise BadInput(f"text: {len(text):,} characters are too many; give {_LONGEST:,} at most")


async def show_lore(request: web.Request, asked: parameters.OfSession) -> memory_answers.Lore:
    """The lore, and when each entry was told."""
    return memory_answers.Lore(**await request.app[SAGA].views.lore(asked.session))


async def show_pages(request: web.Request, asked: parameters.OfSession) -> memory_answers.Pages:
    """The four pages."""
    return _pages(request, *await request.app[SAGA].views.pages(asked.session))


async def regenerate_pages(request: web.Request, asked: parameters.OfSession) -> memory_answers.Pages:
    """Render the pages anew."""
    views = request.app[SAGA].views
    await to_its_end(request, views.regenerate_pages(asked.session))
    return _pages(request, *await views.pages(asked.session))


def _pages(request: web.Request, pages: Pages | None, folder: str | None) -> memory_answers.Pages:
    folder = folder if request[BEARER].role == "admin" else None  # where the server keeps them is no player's business
    if pages is None:
        return memory_answers.Pages(False, None, folder, {})
    return memory_answers.Pages(True, pages.watermark, folder, dict(pages.files))


async def search(request: web.Request, asked: parameters.Search) -> memory_answers.Found:
    """The turns that answer a question best."""
    results = await request.app[SAGA].views.search(asked.q, session_id=asked.session, k=asked.k)
    return memory_answers.Found(asked.q, asked.session, results)


async def query_graph(request: web.Request, asked: parameters.GraphQuery) -> memory_answers.GraphRows:
    """The graph engine's own language, when it is allowed."""
    if not request.app[CURRENT].config.graph.raw_query:
        raise NotSupported("queries in the graph engine's own language are switched off; set graph.raw_query: true")
    views = request.app[SAGA].views
    return memory_answers.GraphRows(await views.graph_query(asked.cypher, timeout=asked.timeout, limit=asked.limit))


# -- corrections and curation ----------------------------------------------------------------------------------


async def show_curation(request: web.Request, asked: parameters.OfSession) -> memory_answers.Curation:
    """What curators noticed."""
    return memory_answers.Curation(**await request.app[SAGA].memory.curated(asked.session))


async def list_entities(request: web.Request, asked: parameters.Listed) -> memory_answers.Entities:
    """Everybody and everything, with all names."""
    session = await request.app[SAGA].sessions.get(asked.session)
    memory = request.app[SAGA].memory
    rows, after = page_of(await memory.entities(session.id), _id, asked.cursor, asked.limit)
    return memory_answers.Entities(session.id, rows, await memory.former_names(session.id), after)


async def show_entity(request: web.Request, asked: parameters.OfEntity) -> memory_answers.Entity:
    """All about one of them."""
    return memory_answers.Entity(**await request.app[SAGA].memory.entity(asked.session, asked.entity, asked.turn))


async def list_memories(request: web.Request, asked: parameters.Memories) -> memory_answers.Memories:
    """What memory strategies learned."""
    session = await request.app[SAGA].sessions.get(asked.session)
    found = await request.app[SAGA].memory.records(
        session.id, turn=asked.turn, namespace=asked.namespace, query=asked.query
    )
    rows, after = page_of(found["memories"], _id, asked.cursor, asked.limit)
    return memory_answers.Memories(**{**found, "memories": rows}, next=after)


async def list_changes(request: web.Request, asked: parameters.Listed) -> memory_answers.Changes:
    """What curators and people changed."""
    session = await request.app[SAGA].sessions.get(asked.session)
    changes = await request.app[SAGA].memory.changes(session.id)
    return memory_answers.Changes(session.id, *page_of(changes, _id, asked.cursor, asked.limit))


def _id(row: Mapping[str, Any]) -> str:
    return str(row["id"])


async def make_change(request: web.Request, asked: parameters.Correction) -> memory_answers.Changed:
    """Correct something, at the turn recorded last or at another; or only say what would come of it."""
    session = await request.app[SAGA].sessions.get(asked.session)
    memory = request.app[SAGA].memory
    what = (session.id, asked.kind, dict(asked.fields), asked.turn or None)
    effect = await memory.preview(*what)
    if asked.dry_run:
        return memory_answers.Changed(session=session.id, change=None, **effect)
    change = await to_its_end(request, memory.correct(*what))
    return memory_answers.Changed(session=session.id, change=change, **effect)


async def undo_change(request: web.Request, asked: parameters.OfChange) -> memory_answers.Undone:
    """Undo a change of a curator or a person."""
    session = await request.app[SAGA].sessions.get(asked.session)
    undoing, turn = await to_its_end(request, request.app[SAGA].memory.undo(session.id, asked.change))
    return memory_answers.Undone(session.id, asked.change, undoing, turn)


async def decide_change(request: web.Request, asked: parameters.Decision) -> memory_answers.Decided:
    """Accept or refuse what waits for a person."""
    session = await request.app[SAGA].sessions.get(asked.session)
    deciding = request.app[SAGA].memory.decide(session.id, asked.change, accept=_accepts(asked.verdict))
    return memory_answers.Decided(session.id, asked.change, asked.verdict, await to_its_end(request, deciding))


async def list_standing(request: web.Request, asked: parameters.OfSession) -> memory_answers.Standing:
    """The standing rules."""
    session = await request.app[SAGA].sessions.get(asked.session)
    return memory_answers.Standing(session.id, await request.app[SAGA].memory.standing(session.id))


async def decide_always(request: web.Request, asked: parameters.Always) -> memory_answers.StandingRule:
    """Decide from now on as here what is proposed as this change was."""
    session = await request.app[SAGA].sessions.get(asked.session)
    deciding = request.app[SAGA].memory.always(session.id, asked.change, accept=_accepts(asked.verdict))
    return memory_answers.StandingRule(session=session.id, **await to_its_end(request, deciding))


async def ask_again(request: web.Request, asked: parameters.OfRule) -> memory_answers.StandingRule:
    """End a standing rule."""
    session = await request.app[SAGA].sessions.get(asked.session)
    ending = request.app[SAGA].memory.ask_again(session.id, asked.rule)
    return memory_answers.StandingRule(session=session.id, **await to_its_end(request, ending))


def _accepts(verdict: str) -> bool:
    if verdict not in ("accept", "refuse"):
        raise BadInput(f"verdict: {verdict[:40]!r} is none; give accept or refuse")
    return verdict == "accept"


# -- worlds ----------------------------------------------------------------------------------------------------


async def show_library(request: web.Request, asked: NoParams) -> memory_answers.Library:
    """The worlds of the library, with what is wrong with them."""
    found = await asyncio.to_thread(listed, request.app[SAGA].worlds)
    return memory_answers.Library(
        [
            {"name": each.name, "files": list(each.files), "writable": writable, "problems": each.problems}
            for each, writable in found
        ]
    )


async def show_world(request: web.Request, asked: parameters.OfWorld) -> memory_answers.WorldTexts:
    """The files of one world."""
    return _world(await asyncio.to_thread(world_files, request.app[SAGA].worlds, asked.world))


async def edit_world(request: web.Request, asked: parameters.WorldEdit) -> memory_answers.WorldTexts:
    """Write one file of a world, if the world can be read with it; or only look whether it could."""
    library = request.app[SAGA].worlds
    editing = asyncio.to_thread(edited, library, asked.world, asked.file, asked.text, dry_run=asked.dry_run)
    return _world(await to_its_end(request, editing))


def _world(found: WorldFiles) -> memory_answers.WorldTexts:
    return memory_answers.WorldTexts(
        name=found.name,
        files=dict(found.texts),
        writable=found.writable,
        problems=[asdict(each) for each in found.problems],
        warnings=list(found.warnings),
    )
