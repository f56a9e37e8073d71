"""Worlds: their files, looked at and edited."""

from __future__ import annotations

import asyncio

from aiohttp import web
from attrs import asdict

from saga_core.world import WorldFiles, edited, world_files
from saga_server.admin import memory_answers, parameters
from saga_server.admin.endpoint import NoParams
from saga_server.admin.running_work import to_its_end
from saga_server.http import SAGA


async def list_worlds(request: web.Request, asked: NoParams) -> memory_answers.Worlds:
    """The worlds of the library, with what is wrong with them."""
    library = request.app[SAGA].worlds

    def listed() -> list[dict[str, object]]:
        found = [world_files(library, name) for name in library.names()]
        return [
            {"name": each.name, "files": list(each.texts), "writable": each.writable, "problems": len(each.problems)}
            for each in found
        ]

    return memory_answers.Worlds(await asyncio.to_thread(listed))


async def show_world(request: web.Request, asked: parameters.OfWorld) -> memory_answers.World:
    """The files of one world."""
    return _world(await asyncio.to_thread(world_files, request.app[SAGA].worlds, asked.world))


async def edit_world(request: web.Request, asked: parameters.WorldEdit) -> memory_answers.World:
    """Write one file of a world, if the world can be read with it; or only look whether it could."""
    library = request.app[SAGA].worlds
    editing = asyncio.to_thread(edited, library, asked.world, asked.file, asked.text, dry_run=asked.dry_run)
    return _world(await to_its_end(request, editing))


def _world(found: WorldFiles) -> memory_answers.World:
    return memory_answers.World(
        name=found.name,
        files=dict(found.texts),
        writable=found.writable,
        problems=[asdict(each) for each in found.problems],
        warnings=list(found.warnings),
    )
