"""``saga export`` and ``saga forget``: write a session into a file, and remove data for good."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from saga_core.errors import BadInput
from saga_core.replacing import replace_file
from saga_server.cli.data.data_access import Asking, reached, segment
from saga_server.cli.settings import Place, server_settings
from saga_server.terminal import counted, say


@click.command("export")
@click.argument("session")
@click.argument("target", metavar="FILE", type=click.Path(path_type=Path, allow_dash=True))
@click.option(
    "--as",
    "form",
    type=click.Choice(["saga", "sillytavern", "card", "lorebook"]),
    default="saga",
    show_default=True,
    help="Format: the whole session (saga), one path as a chat (sillytavern), or the world named SESSION (card, "
    "lorebook).",
)
@click.option("--head", help="For a chat: export the path to this turn, or to the end of this timeline.")
@server_settings
def export_command(place: Place, session: str, target: Path, form: str, head: str | None) -> None:
    """Write a session to one readable file: the whole tree and its world. FILE may be - for stdout.

    SESSION is an id or a name. Views that can be rendered from the session are not included.
    """
    if str(target) != "-" and target.exists():
        raise BadInput(f"{target}: is there already; give a name that is free")

    kind = "library" if form in ("card", "lorebook") else "sessions"
    asking = Asking("GET", f"/api/{kind}/{segment(session)}/export", {"format": form, "head": head})
    raw = reached(place, asking)
    if str(target) == "-":
        sys.stdout.buffer.write(raw)
        return
    part = target.with_name(target.name + ".part")
    try:
        part.write_bytes(raw)
        replace_file(part, target)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise BadInput(f"{target}: cannot be written ({error.strerror}); nothing was left there") from error
    say(f"{target.absolute()}: {counted(raw.count(bytes([10])), 'line')}", err=True)


@click.command()
@click.argument("session", required=False)
@click.option("--name", help="Forget only this name in SESSION.")
@click.option("--owner", help="Forget all sessions of the API key with this fingerprint (saga sessions --json).")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@server_settings
def forget(place: Place, session: str | None, name: str | None, owner: str | None, yes: bool) -> None:
    """Delete a session, a name in it, or all sessions of an API key, completely.

    SESSION is an id or a name. Backups are not changed. Those that still contain the deleted data are listed. If
    a file of a store may still hold it, that file is named, and the exit status is 1.
    """
    if (session is None) == (owner is None) or (name is not None and session is None):
        raise click.UsageError("give a SESSION, with or without --name, or --owner alone")
    for given, value in (("SESSION", session), ("--name", name), ("--owner", owner)):
        if value is not None and not value.strip():  # a variable that is not set must not widen what is forgotten
            raise click.UsageError(f"{given}: {value!r} is blank; without it more would be forgotten; give a text")
    what = (
        f"the name {name!r} in session {session!r}"
        if name
        else f"session {session!r}"
        if session
        else f"all sessions of the API key {owner}"
    )
    if not yes:
        click.confirm(f"Forget {what}, for good?", abort=True)
    answer = reached(place, Asking("POST", "/api/forget", {"session": session, "name": name, "owner": owner}))

    told = f"{answer['places']} places of " if name else ""
    say(f"forgotten: {told}{', '.join(answer['sessions']) or 'what an earlier try had left'}")
    for held in answer["backups"]:
        say(f"still in the backup  {held['path']}{'' if held['read'] else '  (it cannot be read here)'}")
    for remains in answer["remains"]:
        say(f"may still be in      {remains}", err=True)
    if answer["remains"]:
        raise SystemExit(1)
