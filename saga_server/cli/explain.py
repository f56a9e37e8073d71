"""``saga explain``: what a turn's narrator was told, entry by entry, and why; and why something was not told."""

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
_REASONS = {
    "told": "told",
    "no_room": "found, and there was no room for it",
    "in_front": "told: it stood in the pages at the beginning of the prompt",
    "in_chat": "told: the chat itself shows that turn",
    "no_signal": "not told: nothing in the scene led to it",
    "faded_or_hidden": "not told: this entry waits to be mentioned, or was mentioned too long ago",
}


@click.command()
@click.argument("session")
@click.argument("turn", required=False)
@settings
@click.option("--skipped", is_flag=True, help="Also the entries that found no room.")
@click.option("--text", help="What is known of this text, and why the turn was told it or was not.")
@click.option("--json", "plain", is_flag=True, help="Print JSON, as the admin API answers it.")
def explain(
    file: Path | None,
    data: Path | None,
    session: str,
    turn: str | None,
    skipped: bool,
    text: str | None,
    plain: bool,
) -> None:
    """Say what stood in the context of a turn, and why; with --text, why something did or did not.

    SESSION is an id or a name; TURN a turn's id, the name of a timeline for its last turn, or the number of a
    turn on the active path; without it the turn recorded last.
    """

    if skipped and text is not None:
        raise click.UsageError("--skipped lists what found no room, --text looks one text up; give one of them")

    async def look(saga: Saga) -> Any:
        if text is not None:
            return await saga.views.why_untold(session, text, turn)
        return await saga.views.explain(session, turn)

    query = {name: value for name, value in (("turn", turn), ("text", text)) if value is not None}
    asked = "untold" if text is not None else "context"
    found = looked(file, data, look, f"/api/sessions/{quote(session, safe='')}/{asked}", query)
    if plain:
        say_json(found)
        return
    for line in lines(found, skipped=skipped) if text is None else of_text(found):
        say(line)


def of_text(found: dict[str, Any]) -> list[str]:
    """What is known of a text, in words: the nearest first."""
    made = [f"turn {found['turn']}" + (", read anew" if found["anew"] else "")]
    if not found["found"]:
        made.append(
            "nothing that is known says this: no turn, no lore, no memory; nobody reported it, or in other words"
        )
    for row in found["found"]:
        where = f"turn {row['turn']}" if "turn" in row else f"{row['kind']} {row['key']}"
        made.append(f"{row['share']:4.0%}  {where}: {_cut(' '.join(row['text'].split()))}")
        made.append(
            f"      {_REASONS[row['reason']]}" + (f" · score {row['score']:g}" if row["score"] is not None else "")
        )
    return made


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
