"""``saga explain``: what a turn's narrator was told, entry by entry, and why."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import click

from saga_server.cli.offline_reader import looked
from saga_server.cli.settings import settings
from saga_server.terminal import say, say_json

if TYPE_CHECKING:
    from saga_core import Saga

_LONGEST = 100


@click.command()
@click.argument("session")
@click.argument("turn", required=False)
@settings
@click.option("--skipped", is_flag=True, help="Also the entries that found no room.")
@click.option("--json", "plain", is_flag=True, help="Print JSON, as the admin API answers it.")
def explain(file: Path | None, data: Path | None, session: str, turn: str | None, skipped: bool, plain: bool) -> None:
    """Say what stood in the context of a turn, and why.

    SESSION is an id or a name; TURN a turn's id, the name of a timeline for its last turn, or the number of a
    turn on the active path; without it the turn recorded last.
    """

    async def look(saga: Saga) -> Any:
        return await saga.views.explain(session, turn)

    query = {} if turn is None else {"turn": turn}
    found = looked(file, data, look, f"/api/sessions/{quote(session, safe='')}/context", query)
    if plain:
        say_json(found)
        return
    for line in lines(found, skipped=skipped):
        say(line)


def lines(found: dict[str, Any], *, skipped: bool) -> list[str]:
    """The explanation in words."""
    made = [f"turn {found['turn']}: {found['tokens']} tokens" + (", read anew" if found["anew"] else "")]
    if found["late"]:
        made.append(f"left out, late or failed: {', '.join(found['late'])}")
    made += _entries(found["pieces"])
    if not found["pieces"]:
        made.append("nothing was told")
    if skipped:
        made += ["", f"no room for {len(found['skipped'])}", *_entries(found["skipped"])]
    return made


def _entries(pieces: list[dict[str, Any]]) -> list[str]:
    made = []
    for piece in pieces:
        text = " ".join(piece["text"].split())
        parts = ", ".join(f"{name} {value:+g}" for name, value in piece["why"].items())
        made.append(f"{piece['score']:8.3f}  {piece['tokens']:4d}  [{piece['section']}] {_cut(text)}")
        made.append(f"                {piece['source']} · {piece['key']}" + (f" · {parts}" if parts else ""))
    return made


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
