"""``saga memories``: lists what memory strategies learned from a session, and corrects it."""

from __future__ import annotations

import json
from typing import Any

import click

from saga_server.cli.data.data_access import Asking, as_json, reached, segment
from saga_server.cli.settings import Place, server_settings
from saga_server.terminal import say, say_json


@click.command()
@click.argument("session")
@click.option(
    "--namespace", default="/", help="Only memories in this namespace and below it, such as /preferences/{actor}."
)
@click.option("--query", default="", help="Sort by similarity to these words.")
@click.option("--add", metavar="TEXT", help="Add this memory to --namespace.")
@click.option("--edit", nargs=2, metavar="ID TEXT", help="Replace the text of a memory.")
@click.option("--delete", metavar="ID", help="Delete a memory.")
@click.option(
    "--undo", metavar="CHANGE", help="Undo a change, by the id that was printed or that the list of changes shows."
)
@server_settings
@as_json
def memories(
    place: Place,
    session: str,
    namespace: str,
    query: str,
    add: str | None,
    edit: tuple[str, str] | None,
    delete: str | None,
    undo: str | None,
    plain: bool,
) -> None:
    """List what memory strategies learned from a session, and correct it.

    SESSION is an id or a name. A star marks memories that are currently told. The others have expired, or their
    strategy is switched off.
    """
    wanted = [each for each in (add, edit, delete, undo) if each is not None]
    if len(wanted) > 1:
        raise click.UsageError("give one of --add, --edit, --delete and --undo")
    here = f"/api/sessions/{segment(session)}"
    if not wanted:
        asking = Asking("GET", f"{here}/memories", {"namespace": namespace, "query": query or None})
        answer = reached(place, asking)
        say_json(answer) if plain else _tell(answer)
        return
    if undo is not None:
        answer = reached(place, Asking("DELETE", f"{here}/changes/{segment(undo)}"))
    else:
        correction = _correction(namespace, add, edit, delete)
        answer = reached(place, Asking("POST", f"{here}/changes", body=json.dumps(correction).encode()))
    if plain:
        say_json(answer)
    else:
        say(f"done; saga memories {session} --undo {answer['change']} undoes it")


def _correction(namespace: str, add: str | None, edit: tuple[str, str] | None, delete: str | None) -> dict[str, str]:
    if delete is not None:
        return {"kind": "unremember", "record": delete}
    if edit is not None:
        return {"kind": "remember", "record": edit[0], "text": edit[1]}
    return {"kind": "remember", "text": add or "", **({"namespace": namespace} if namespace != "/" else {})}


def _tell(answer: dict[str, Any]) -> None:
    for each in answer["memories"]:
        proof = ", ".join(str(turn["turn"]) for turn in each["turns"] if turn["turn"] is not None)
        where = f"turns {proof}" if proof else f"session {each['session']}"
        details = "".join(f"\n      {name}: {value}" for name, value in each["details"].items())
        say(f"{'*' if each['told'] else ' '} {each['id']}  {each['namespace']}  {each['kind']}  ({where})")
        say(f"      {each['text']}{details}")
    say(f"{len(answer['memories'])} memories at turn {answer['turn']}")
