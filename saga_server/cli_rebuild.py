"""``saga rebuild``: throw away what stores show of sessions, and render it anew from the journal."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from saga_core.config import Config
from saga_core.errors import SagaError
from saga_server.cli_config import fail, find_config, settings


@click.command()
@click.argument("session", required=False)
@settings
def rebuild(file: Path | None, data: Path | None, session: str | None) -> None:
    """Render graph, pages, values and vectors anew from the journal, into the stores that the configuration names.

    SESSION is an id or a name; without it every session is rebuilt. The server must not run on the data directory.
    """
    try:
        asyncio.run(_rebuild(find_config(file, data), session))
    except (SagaError, OSError) as error:
        fail(error)


async def _rebuild(config: Config, session: str | None) -> None:
    from saga_core.engine.saga import Saga

    async with Saga.open(config) as saga:
        ids = [(await saga.session(session)).id] if session else [each.session.id for each in await saga.sessions()]
        for session_id in ids:
            await saga.rebuild(session_id)
            differences = await saga.verify(session_id)
            click.echo(f"{session_id}: {'; '.join(differences) or 'rebuilt, and equal to the journal'}")
        click.echo(f"{len(ids)} sessions rebuilt")
