"""``saga bench load`` and ``saga bench attacked``."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import click


@click.command()
@click.option("--sessions", type=click.IntRange(1, 2_000), default=50, show_default=True, help="Concurrent chats.")
@click.option("--turns", type=click.IntRange(1, 2_000), default=20, show_default=True, help="Turns of each chat.")
@click.option(
    "--pieces",
    type=click.FloatRange(0),
    default=20.0,
    show_default=True,
    help="Pieces that the model sends a second; 0 sends the whole reply at once.",
)
@click.option(
    "--pause",
    type=click.FloatRange(0),
    default=1.0,
    show_default=True,
    help="Seconds that a player waits between turns.",
)
@click.option(
    "--idle",
    type=click.IntRange(0, 5_000),
    default=200,
    show_default=True,
    help="Idle chats that a second server keeps in memory; 0 for none.",
)
@click.option("--soak", type=click.IntRange(0), default=0, help="Turns that a third server plays as fast as it can.")
@click.option(
    "--entities", type=click.IntRange(10, 10_000), default=60, show_default=True, help="Entities at the end of a story."
)
@click.option(
    "--lore", type=click.IntRange(8, 10_000), default=60, show_default=True, help="Lorebook entries of the world."
)
@click.option(
    "--lang", type=click.Choice(["ko", "en"]), default="ko", show_default=True, help="Main language of the text."
)
@click.option("--json", "as_json", is_flag=True, help="Print all measurements as JSON.")
def load(
    sessions: int,
    turns: int,
    pieces: float,
    pause: float,
    idle: int,
    soak: int,
    entities: int,
    lore: int,
    lang: str,
    as_json: bool,
) -> None:
    """Play many streaming chats at once through one real server, and check that none is mixed up with another.

    A local process that knows the script of each chat plays the model's server. Exit code 1 means that a turn failed,
    or that a chat ended in another state than its script. docs/performance.md explains the figures.
    """
    import asyncio

    from saga_core.errors import SagaError
    from saga_server.bench.load.load import run_load
    from saga_server.bench.load.report import faults, rows
    from saga_server.bench.load.script import LoadOptions
    from saga_server.bench.processes import ProcessFailed

    options = LoadOptions(sessions, turns, pieces, pause, entities, lore, lang)

    def say(line: str) -> None:
        click.echo(line, err=True)

    with tempfile.TemporaryDirectory(prefix="saga-bench-", ignore_cleanup_errors=True) as folder:
        try:
            found = asyncio.run(run_load(options, Path(folder), say, idle=idle, soak=soak))
        except (SagaError, ProcessFailed) as error:
            raise click.ClickException(str(error)) from error
    if as_json:
        click.echo(json.dumps(found, ensure_ascii=False, indent=1))
    else:
        for what, value in rows(found):
            click.echo(f"  {value:>22}  {what}")
    wrong = faults(found)
    for line in wrong[:20]:
        say(line)
    if wrong:
        raise SystemExit(1)


@click.command()
@click.option(
    "--players", type=click.IntRange(1, 1_000), default=50, show_default=True, help="Players during each attack."
)
@click.option(
    "--seconds", type=click.FloatRange(1), default=10.0, show_default=True, help="Length of each phase, in seconds."
)
def attacked(players: int, seconds: float) -> None:
    """Measure how long players wait while somebody attacks the server.

    For each attack, the players' turns are measured in four phases: in quiet, during the attack, during as many
    requests to another process on this machine, and in quiet again. Exit code 1 means that the 99th percentile during
    an attack is more than twice that of the quiet phases and more than twice that of the third phase.
    """
    import asyncio

    from saga_server.bench.load.attacked import lines, run_attacked, too_slow
    from saga_server.terminal import say

    with tempfile.TemporaryDirectory(prefix="saga-attacked-") as folder:
        rows = asyncio.run(run_attacked(Path(folder), players, seconds, lambda line: say(line, err=True)))
    for line in lines(rows):
        say(line)
    for line in (slow := too_slow(rows)):
        say(f"!!  {line}")
    raise SystemExit(1 if slow else 0)
