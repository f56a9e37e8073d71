"""``saga backup`` and ``saga restore``: copy the journal into a file, and restore it from one."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from saga_server.cli.data.data_access import check_there
from saga_server.cli.settings import SURROUNDINGS, Place, settings
from saga_server.terminal import counted, say


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
    found = asyncio.run(
        put_back(config, backup_file, force=force, with_forgotten=with_forgotten, damaged=damaged, say=say)
    )
    for finding in found.verdict.findings:
        say(f"!!  {finding}")
    for remains in found.remains:
        say(f"may still be in      {remains}", err=True)
    count = found.verdict.sessions
    say(f"{counted(count, 'session')}: {'restored, and equal to the journal' if found.verdict.equal else 'see above'}")
    raise SystemExit(0 if found.verdict.equal and not found.remains else SURROUNDINGS)
