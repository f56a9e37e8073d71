"""``saga memories``: lists what memory strategies learned from a session, and corrects it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from saga_server.cli.data.data_access import Asking, as_json, reached, segment
from saga_server.cli.settings import Place, settings
from saga_server.terminal import say, say_json

if TYPE_CHECKING:
    from saga_core import Saga


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
@settings
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
        answer = reached(place, lambda saga: _list(saga, session, namespace, query), asking)
        say_json(answer) if plain else _tell(answer)
        return
    if undo is not None:
        asking = Asking("DELETE", f"{here}/changes/{segment(undo)}")
        answer = reached(place, lambda saga: _undo(saga, session, undo), asking)
    else:
        kind, fields = _correction(namespace, add, edit, delete)
        asking = Asking("POST", f"{here}/changes", body=json.dumps({"kind": kind, **fields}).encode())
        answer = reached(place, lambda saga: _correct(saga, session, kind, fields), asking)
    if plain:
        say_json(answer)
    else:
        say(f"done; saga memories {session} --undo {answer['change']} undoes it")


def _correction(
    namespace: str, add: str | None, edit: tuple[str, str] | None, delete: str | None
) -> tuple[str, dict[str, str]]:
    if delete is not None:
        return "unremember", {"record": delete}
    if edit is not None:
        return "remember", {"record": edit[0], "text": edit[1]}
    return "remember", {"text": add or "", **({"namespace": namespace} if namespace != "/" else {})}


async def _list(saga: Saga, session: str, namespace: str, query: str) -> dict[str, Any]:
    return await saga.memory.records(session, namespace=namespace, query=query)


async def _correct(saga: Saga, session: str, kind: str, fields: dict[str, str]) -> dict[str, Any]:
    return {"session": session, "change": await saga.memory.correct(session, kind, fields)}


async def _undo(saga: Saga, session: str, change: str) -> dict[str, Any]:
    undoing, turn = await saga.memory.undo(session, change)
    return {"session": session, "undone": change, "change": undoing, "turn_id": turn}


def _tell(answer: dict[str, Any]) -> None:
    for each in answer["memories"]:
        proof = ", ".join(str(turn["turn"]) for turn in each["turns"] if turn["turn"] is not None)
        where = f"turns {proof}" if proof else f"session {each['session']}"
        details = "".join(f"\n      {name}: {value}" for name, value in each["details"].items())
        say(f"{'*' if each['told'] else ' '} {each['id']}  {each['namespace']}  {each['kind']}  ({where})")
        say(f"      {each['text']}{details}")
    say(f"{len(answer['memories'])} memories at turn {answer['turn']}")
