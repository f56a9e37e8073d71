"""``saga sessions``, ``saga timelines``, ``saga share`` and ``saga compare``: what a data directory holds.

They ask the admin API.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

import click

from saga_core.values import date_of
from saga_server.cli.data.data_access import Asking, as_json, reached, segment
from saga_server.cli.settings import Place, server_settings
from saga_server.terminal import say, say_json


@click.command()
@server_settings
@as_json
def sessions(place: Place, plain: bool) -> None:
    """List the sessions in the data directory."""
    found = reached(place, Asking("GET", "/api/sessions", {"fleeting": "all"}))
    if plain:
        say_json(found)
        return
    rows = found["sessions"]
    _print_table(
        (*"ID NAME TITLE WORLD TURNS DEPTH UPDATED COST NARRATION EXTRACTION CURATION SAVED".split(), ""),
        [
            (
                row["id"],
                row["label"] or "-",
                row["title"] or "-",
                row["world"] or "-",
                str(row["turns"]),
                str(row["depth"]),
                _when(row["updated"]),
                _dollars(row["dollars"]),
                *(_dollars(row["spent"][purpose]) for purpose in ("narration", "extraction", "curation")),
                "-" if row["saved"] is None else f"{row['saved']:.0%}",
                "fleeting" if row["fleeting"] else row["kind"].replace("personal", ""),
            )
            for row in rows
        ],
    )


@click.command()
@click.argument("session")
@server_settings
@as_json
def timelines(place: Place, session: str, plain: bool) -> None:
    """List the timelines of a session: the named ones, and the ends of all other paths.

    SESSION is an id or a name. A star marks the turn that was recorded last.
    """
    found = reached(place, Asking("GET", f"/api/sessions/{segment(session)}/timelines"))
    if plain:
        say_json(found)
        return
    rows = found["timelines"]
    _print_table(
        ("", "NAME", "HEAD", "DEPTH", "FORKED AT", "UPDATED"),
        [
            (
                "*" if row["active"] else "",
                row["name"] or "-",
                row["head"],
                str(row["depth"]),
                row["fork"] or "-",
                _when(row["updated"]),
            )
            for row in rows
        ],
    )


@click.command("continue")
@click.argument("session")
@click.argument("turn", required=False)
@server_settings
@as_json
def continue_(place: Place, session: str, turn: str | None, plain: bool) -> None:
    """Say how a new chat goes on with a story.

    SESSION is an id or a name. TURN is a turn's number or id, or the name of a timeline; without it, the new chat goes
    on from the turn that was recorded last.
    """
    found = reached(place, Asking("GET", f"/api/sessions/{segment(session)}/state", {"turn": turn}))
    story: str = found["session"]["id"]
    goes_on = f"{story}@{found['turn_id']}" if turn else story
    marker = f"[[saga:continue={goes_on}]]"
    if plain:
        say_json({"session": story, "turn": found["turn"], "marker": marker, "header": goes_on})
        return
    say(f"To go on after turn {found['turn']} of {story}, put this into the first message of a new chat:")
    say(f"  {marker}")
    say(f"Or send this header with its first request:\n  X-SAGA-Continue: {goes_on}")


@click.command()
@click.argument("session")
@click.argument("name", required=False, default="")
@click.option("--leave", is_flag=True, help="Go on alone. What the session has seen of its world stays in its story.")
@server_settings
@as_json
def share(place: Place, session: str, name: str, leave: bool, plain: bool) -> None:
    """Let a session share its world with other sessions, or leave it.

    SESSION is an id or a name. NAME tells shared worlds apart if several groups play in the same world.
    """
    path = f"/api/sessions/{segment(session)}/share"
    body = None if leave else json.dumps({"world": name}).encode()
    found = reached(place, Asking("DELETE" if leave else "POST", path, body=body))
    if plain:
        say_json(found)
    elif found["share"]:
        say(f"{found['id']} shares the world {found['share']} now; to leave it: saga share {found['id']} --leave")
    else:
        say(f"{found['id']} shares its world with no other session.")


@click.command()
@click.argument("session")
@click.argument("one")
@click.argument("other")
@server_settings
@click.option("--language", metavar="TAG", help="Language of the output, such as ko, instead of the world's language.")
@as_json
def compare(place: Place, session: str, one: str, other: str, language: str | None, plain: bool) -> None:
    """Show where two turns or named timelines of a session diverged, and how they differ.

    SESSION is an id or a name. ONE and OTHER are ids of turns, names of timelines, or numbers of turns on the active
    path.
    """
    query = {"one": one, "other": other, "language": language}
    found = reached(place, Asking("GET", f"/api/sessions/{segment(session)}/compare", query))
    if plain:
        say_json(found)
        return
    say(f"parted at turn {found['ancestor']['turn']} ({found['ancestor']['turn_id']})")
    for side in (found["one"], found["other"]):
        say(f"{side['name']}: turn {side['turn']} ({side['turn_id']}), {len(side['since'])} since then")
    say("\n".join(found["words"]) or "nothing differs")


def _print_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table whose columns are as wide as their widest text. Hangul and other wide letters take two cells."""
    from rich.cells import cell_len

    lines = [head, *rows]
    widths = [max(cell_len(line[at]) for line in lines) for at in range(len(head))]
    for line in lines:
        padded = (cell + " " * (width - cell_len(cell)) for cell, width in zip(line, widths, strict=True))
        say("  ".join(padded).rstrip())


def _dollars(amount: float | None) -> str:
    """Format an amount to the cent, or with two significant digits when it is less than a cent."""
    if amount is None:
        return "-"
    return f"${amount:.2f}" if amount >= 0.01 or not amount else f"${amount:.2g}"


def _when(seconds: float) -> str:
    return date_of(seconds).astimezone().strftime("%Y-%m-%d %H:%M")
