"""The methods that version 0.1 had on ``Saga`` itself, mapped to their new paths from the engine."""

from __future__ import annotations

from collections.abc import Mapping

MOVED: Mapping[str, str] = {
    "changes": "memory.changes",
    "collect": "sessions.collect",
    "compare": "timelines.compare",
    "correct": "memory.correct",
    "cost": "sessions.cost",
    "costs": "sessions.costs",
    "create_session": "sessions.create",
    "curated": "memory.curated",
    "delete": "sessions.delete",
    "entities": "memory.entities",
    "explain": "views.explain",
    "forget_timeline": "timelines.forget",
    "fork": "timelines.fork",
    "graph": "views.graph",
    "graph_query": "views.graph_query",
    "memories": "memory.records",
    "narrating": "background.narrating",
    "pages": "views.pages",
    "path": "timelines.path",
    "prune": "timelines.prune",
    "rebuild": "maintenance.rebuild",
    "reextract": "background.reextract",
    "regenerate_pages": "views.regenerate_pages",
    "rename_timeline": "timelines.rename",
    "reset": "sessions.reset",
    "reviews": "memory.reviews",
    "search": "views.search",
    "session": "sessions.get",
    "state": "views.state",
    "summary": "sessions.summary",
    "tree": "views.tree",
    "turns": "views.turns",
    "undo": "memory.undo",
    "verify": "maintenance.differences",
}
