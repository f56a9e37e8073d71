"""``saga move``: the journal goes to another store, to PostgreSQL or back into a file."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click
from attrs import evolve

from saga_core.config import Config, load_config
from saga_core.errors import BadInput, SagaError
from saga_server.cli.data_access import check_there
from saga_server.cli.settings import fail, find_config, settings
from saga_server.counted import counted
from saga_server.terminal import say

_DATABASE = ("postgresql://", "postgres://")


@click.command()
@click.option(
    "--to",
    "target",
    required=True,
    metavar="TARGET",
    help="postgresql://… for a database, or a folder that becomes the data directory.",
)
@click.option("--schema", default="saga", show_default=True, help="The schema in the database.")
@settings
def move(file: Path | None, data: Path | None, target: str, schema: str) -> None:
    """Copy the journal into another store, and compare the two.

    Stop the servers first. What is where it was stays there. Graph, vectors and pages are made anew when sessions are
    played, or all at once by saga rebuild.
    """
    from saga_server.process import log_errors_only

    try:
        config = find_config(file, data)
        log_errors_only(config)
        check_there(config)
        moved = _configured(target, schema)
        count = asyncio.run(_move(config, moved))
    except (SagaError, OSError) as error:
        fail(error)
    say(f"{counted(count, 'entry')} of the journal copied and compared. From now on configure:")
    if target.startswith(_DATABASE):
        say("storage:\n  profile: scale\n  url: (the address that you gave)")
        if schema != "saga":
            say("  # and for each of state, graph, vector and cache\n  state:\n    options: {schema: " + schema + "}")
    else:
        say(f"storage:\n  profile: lite\n  path: {Path(target).absolute()}")


def _configured(target: str, schema: str) -> Config:
    if target.startswith(_DATABASE):
        return load_config(
            {"storage": {"profile": "scale", "url": target, "state": {"options": {"schema": schema}}}}, environ={}
        )
    if "://" in target:
        raise BadInput("--to: is no address that is known; give postgresql://… or a folder")
    plain = load_config({}, environ={})
    return evolve(plain, storage=evolve(plain.storage, path=str(Path(target).absolute())))


async def _move(config: Config, moved: Config) -> int:
    from saga_core.counters import Counters
    from saga_core.maintenance import move_journal
    from saga_core.storage import open_journal_store

    source = await open_journal_store(config, Counters())
    try:
        target = await open_journal_store(moved, Counters())
        try:
            return await move_journal(source, target)
        finally:
            await target.aclose()
    finally:
        await source.aclose()
