"""``saga backup`` and ``saga restore``: copy the journal into a file, and restore it from one."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING

import click

from saga_core.config import Config
from saga_server.cli.data.data_access import check_there
from saga_server.cli.data.kept import keeps, lost_by
from saga_server.cli.settings import SURROUNDINGS, Place, settings
from saga_server.terminal import counted, say

if TYPE_CHECKING:
    from saga_server.admin import Restored


@click.command()
@click.argument("target", required=False, type=click.Path(path_type=Path))
@settings
def backup(place: Place, target: Path | None) -> None:
    """Copy the journal to a single file. A server may be running.

    TARGET is a new file, or a folder, in which the file is named by the time. The default is the folder backups in the
    data directory. Everything else can be rendered from the journal and is not copied.
    """
    from saga_server.admin import back_up

    config = place.config()
    check_there(config)
    found = asyncio.run(back_up(config, target))
    if found.moved:
        from saga_core.journal import MOVED, moved_to

        say(f"!!  {MOVED}: {moved_to(found.moved)}. What was played in the copy is not in this backup", err=True)
    say(f"{found.path}")
    say(
        f"{counted(len(found.sessions), 'session')}, {counted(found.turns, 'turn')}, {found.bytes / 2**20:.1f} MB; "
        "read back and whole"
    )


@click.command()
@click.argument("backup_file", metavar="FILE", type=click.Path(path_type=Path))
@click.option("--force", is_flag=True, help="Move existing data aside instead of refusing.")
@click.option("--with-forgotten", is_flag=True, help="Also restore what was forgotten after the backup.")
@click.option("--damaged", is_flag=True, help="Restore what can be read from a damaged FILE.")
@settings
def restore(place: Place, backup_file: Path, force: bool, with_forgotten: bool, damaged: bool) -> None:
    """Replace the journal with the backup FILE, and render all views from it.

    The whole backup is read before anything is changed, and everything is verified afterwards. No server may be running
    on the data directory. Existing data are kept in a folder named replaced-…. What was forgotten after the backup
    stays forgotten.
    """
    from saga_server.admin import restore as put_back
    from saga_server.process import log_errors_only

    config = place.config()
    log_errors_only(config)

    async def restored() -> tuple[Restored, dict[str, str]]:
        choice = {"force": force, "with_forgotten": with_forgotten, "damaged": damaged}
        found = await put_back(config, backup_file, **choice, say=say)
        return found, await _not_kept(config)

    found, lost = asyncio.run(restored())
    findings = dict.fromkeys((*map(str, found.verdict.findings), *lost))
    for finding in findings:
        say(f"!!  {finding}")
    for line in lost_by(config, set(lost.values())):
        say(line)
    for remains in found.remains:
        say(f"may still be in      {remains}", err=True)
    count = found.verdict.sessions
    say(f"{counted(count, 'session')}: {'see above' if findings else 'restored, and equal to the journal'}")
    raise SystemExit(SURROUNDINGS if findings or found.remains else 0)


async def _not_kept(config: Config) -> dict[str, str]:
    """Open the stores again, and find what those lack that say that they keep what is written to them.

    Returns the findings, each with the name of its store.
    """
    from saga_core import Saga
    from saga_server.tenancy import Tenancy

    async with aclosing(await Saga.open(config, resume=False, hosting=Tenancy())) as saga:
        verdict = await saga.maintenance.verify()
        return {str(each): each.store for each in verdict.findings if keeps(saga, each.store)}
