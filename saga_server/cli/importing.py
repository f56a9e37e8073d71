"""``saga import``: imports cards, lorebooks and chats of other tools, and sessions that ``saga export`` wrote."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from saga_core.errors import BadInput
from saga_server.cli.data.data_access import Asking, as_json, reached
from saga_server.cli.settings import Place, server_settings
from saga_server.terminal import counted, say

if TYPE_CHECKING:
    from saga_core import Saga

_ONE = {
    "entries": "entry",
    "greetings": "greeting",
    "assets": "asset",
    "turns": "turn",
    "swipes": "swipe",
    "branches": "branch",
}
_MOST = 2 << 30
"""Limit of the bytes of all files of one call."""


@click.command("import")
@click.argument("sources", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--dry-run", is_flag=True, help="Report what would be imported, and write nothing.")
@click.option("--world", metavar="NAME", help="World for imported chats, instead of their character's.")
@click.option(
    "--lore",
    type=click.Choice(["auto", "keep", "saga"]),
    default="auto",
    show_default=True,
    help="How lore entries are activated: by their own rules (keep), by relevance (saga), or by their rules where they "
    "have any (auto).",
)
@click.option("--tell-card", is_flag=True, help="Have SAGA send the card's texts, for clients that do not.")
@click.option("--owner", help="Owner of the chats: the fingerprint of an API key (saga sessions --json).")
@click.option("--edited", is_flag=True, help="Accept a session file that was edited after the export.")
@as_json
@server_settings
def import_command(
    place: Place,
    sources: tuple[Path, ...],
    dry_run: bool,
    world: str | None,
    lore: str,
    tell_card: bool,
    owner: str | None,
    edited: bool,
    plain: bool,
) -> None:
    """Import cards, lorebooks and chats of other tools, folders of them, and sessions that `saga export` wrote.

    The type of a file is recognised by its content. Cards and lorebooks become worlds, and chats become sessions.
    Something that was imported before is recognised. A SAGA session keeps its ids if they are free, and otherwise gets
    new ones. A name that is taken gets a number. The data directory is created if it does not exist. Ends with 1 if a
    file that you name is not taken.
    """
    try:
        files = list(_files(sources))
    except OSError as error:
        raise BadInput(f"{error.filename}: cannot be read ({error.strerror})") from error

    async def take(saga: Saga) -> dict[str, Any]:
        from saga_core.maintenance import ImportOptions
        from saga_server.admin import imported, to_plain, usual_owner

        whose = owner if owner is not None else await usual_owner(saga)
        how = ImportOptions(
            owner=whose, owner_named=owner is not None, world=world, lore=lore, tell_card=tell_card,  # type: ignore[arg-type]
            dry_run=dry_run, edited=edited,
        )  # fmt: skip
        found: dict[str, Any] = to_plain(await imported(saga, files, how))
        await saga.drain(600)
        return found

    asked = {"lore": lore, "world": world, "owner": owner}
    flags = {"dry_run": dry_run, "tell_card": tell_card, "edited": edited}
    query = asked | {name: "1" if given else None for name, given in flags.items()}
    found = reached(place, Asking("POST", "/api/import", query, files=files), work=take, fresh=True)
    if plain:
        import json

        say(json.dumps(found, ensure_ascii=False, indent=1))
    elif "id" in found:
        say(f"{found['id']}  {found['label'] or '-'}  {counted(found['turns'], 'turn')}")
        _tell_refused(found)
    else:
        _tell(found)
    named = {source.name for source in sources if not source.is_dir()}
    if any(refused["file"] in named for refused in found["refused"]):
        raise SystemExit(1)


def _files(sources: tuple[Path, ...]) -> Iterator[tuple[str, Path]]:
    """Yield the name and path of each given file, and of each file in a given folder except hidden ones.

    Raises ``OSError``, and ``BadInput`` when the files are larger than ``_MOST`` together.
    """
    left = _MOST
    for source in sources:
        folder = source.is_dir()
        for path in sorted(each for each in source.rglob("*") if each.is_file()) if folder else [source]:
            name = path.relative_to(source.parent).as_posix()
            if folder and any(part.startswith(".") for part in path.relative_to(source).parts):
                continue
            left -= path.stat().st_size
            if left < 0:
                raise BadInput(f"{source}: more than {_MOST >> 30} GB in one call; import folder by folder")
            yield name, path


def _tell(found: dict[str, Any]) -> None:
    for thing in found["things"]:
        becomes = [f"world {thing['world']}"] if thing["world"] else []
        if thing["session"] or thing["label"]:
            becomes.append(f"session {thing['session'] or ''} {thing['label']}".replace("  ", " ").strip())
        counts = ", ".join(counted(number, _ONE[name], name) for name, number in thing["counts"].items() if number)
        told = f"{thing['state']:6} {thing['what']}: {thing['title']}"
        say("  ".join(part for part in (told, " | ".join(becomes), counts) if part))
        for loss in thing["losses"]:
            times = f" ({loss['count']} times)" if loss["count"] > 1 else ""
            where = f" at {loss['where']}" if loss["where"] else ""
            say(f"         {loss['verdict']:7} {loss['field']}{times}{where}: {loss['why']}")
    _tell_refused(found)
    if found["dry_run"]:
        say("nothing was written (--dry-run)")


def _tell_refused(found: dict[str, Any]) -> None:
    for refused in found["refused"]:
        say(f"not taken  {refused['file']}: {refused['why']}")
