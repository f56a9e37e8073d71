"""Handlers for the tree of a session: fork, rename, compare and prune timelines."""

from __future__ import annotations

from aiohttp import web

from saga_core.catalog import Comparison, Side
from saga_core.model import Session, Timeline
from saga_server.admin import answers, parameters, timeline_answers
from saga_server.admin.mounting import to_its_end
from saga_server.http import SAGA


async def list_timelines(request: web.Request, asked: parameters.OfSession) -> timeline_answers.Timelines:
    """List the named timelines and the ends of all other paths."""
    return timeline_answers.Timelines(await request.app[SAGA].timelines.list(asked.session))


async def show_runs(request: web.Request, asked: parameters.OfSession) -> answers.Runs:
    """Return the tree, with each unbranched run of turns as one entry."""
    return answers.Runs(**await request.app[SAGA].timelines.runs(asked.session))


async def show_turn(request: web.Request, asked: parameters.OneTurn) -> answers.WholeTurn:
    """Return everything about one turn."""
    return answers.WholeTurn(**await request.app[SAGA].timelines.turn(asked.session, asked.turn))


async def fork(request: web.Request, asked: parameters.Fork) -> timeline_answers.Timeline:
    """Create a named timeline, at the turn recorded last if no turn is given."""
    saga = request.app[SAGA]
    session = await saga.sessions.get(asked.session)
    made = await to_its_end(request, saga.timelines.fork(session.id, asked.turn or None, asked.name))
    return _timeline(session, made)


async def rename(request: web.Request, asked: parameters.Rename) -> timeline_answers.Timeline:
    """Rename a timeline."""
    saga = request.app[SAGA]
    session = await saga.sessions.get(asked.session)
    renamed = await to_its_end(request, saga.timelines.rename(session.id, asked.name, asked.new))
    return _timeline(session, renamed)


async def forget(request: web.Request, asked: parameters.OfTimeline) -> timeline_answers.ForgottenName:
    """Remove a timeline's name. Its turns stay."""
    await to_its_end(request, request.app[SAGA].timelines.forget(asked.session, asked.name))
    return timeline_answers.ForgottenName(asked.name)


async def compare(request: web.Request, asked: parameters.Compare) -> timeline_answers.Comparison:
    """Compare two turns or timelines."""
    timelines = request.app[SAGA].timelines
    return comparison(await timelines.compare(asked.session, asked.one, asked.other, language=asked.language))


async def prune(request: web.Request, asked: parameters.Prune) -> timeline_answers.Pruned:
    """Remove a turn and everything below it."""
    pruned = await to_its_end(request, request.app[SAGA].timelines.prune(asked.session, asked.turn))
    return timeline_answers.Pruned(pruned.turns, pruned.forgotten, pruned.shortened)


def _timeline(session: Session, timeline: Timeline) -> timeline_answers.Timeline:
    enter = f"{session.label or session.id}@{timeline.name}"
    return timeline_answers.Timeline(timeline.name, timeline.fork, timeline.head, timeline.created, enter)


def comparison(found: Comparison) -> timeline_answers.Comparison:
    """Convert a comparison into an answer."""
    return timeline_answers.Comparison(
        session=found.session,
        ancestor=timeline_answers.Ancestor(found.depth, found.ancestor),
        one=_side(found.one),
        other=_side(found.other),
        differences=[
            {"kind": each.kind, "subject": each.subject, "one": each.one, "other": each.other}
            for each in found.differences
        ],
        language=found.language,
        words=found.words,
    )


def _side(side: Side) -> timeline_answers.ComparedSide:
    return timeline_answers.ComparedSide(side.name, side.depth, side.turn, side.since)
