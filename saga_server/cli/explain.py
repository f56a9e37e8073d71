"""``saga explain``: lists the context of a turn with the reason for each entry, and says why a text was not in it."""

from __future__ import annotations

import json
from textwrap import indent
from typing import Any

import click

from saga_server.cli.data.data_access import Asking, reached, segment
from saga_server.cli.settings import Place, server_settings
from saga_server.terminal import say, say_json

_REASONS = {
    "told": "told",
    "own_words": "told: the player said this in that very request",
    "in_prompt": "told: it stands in the world's own text, with which every prompt begins",
    "in_front": "told: it stood in the summary at the beginning of the prompt",
    "in_chat": "told: the chat itself shows that turn",
    "cut_out": "not told: something of it was told, but the excerpt left this part out",
    "no_room": "not told: found, and there was no room for it",
    "not_known": "nothing in the scene led to it; whether the chat itself showed that turn is not recorded",
    "no_signal": "not told: nothing in the scene led to it",
    "faded": "not told: this entry was mentioned too long ago",
    "hidden": "not told: this entry waits until it is mentioned, and nobody has mentioned it so far",
    "not_due": "not told: this is an event to come, and its time has not come",
    "over": "not told: this was an event to come",
    "opening": "not told: it stands in the opening, which only the chat itself shows",
    "later": "not told: it came only with that turn or after it",
    "swiped": "not told: it stands in a reply that was swiped away, or came after one",
    "elsewhere": "not told: it stands on another branch",
}
_KINDS = {
    "words": "the player's words",
    "piece": "the state",
    "lore": "lore",
    "memory": "a memory",
    "page": "the summary",
    "world": "the world",
    "note": "a remark",
    "event": "an event to come",
}
_NOTHING = (
    "Nothing that SAGA keeps of this story has these words: no turn, no lore, no memory, no remark. It may stand there "
    "in other words: try a name or a thing. SAGA does not keep character cards. If the chat gave its session a name, "
    "SAGA does not keep the opening either."
)
_ANEW = "SAGA worked this out again by today's rules. It may differ from what was told then."


@click.command()
@click.argument("session")
@click.argument("turn", required=False)
@server_settings
@click.option("--skipped", is_flag=True, help="Also show entries that did not fit.")
@click.option("--text", help="Look up this text: where the story says it, and whether the narrator was told.")
@click.option("--json", "plain", is_flag=True, help="Print JSON, in the format of the admin API.")
def explain(place: Place, session: str, turn: str | None, skipped: bool, text: str | None, plain: bool) -> None:
    """Show what the context of a turn contained, and why. With --text, show why a text was or was not in it.

    SESSION is an id or a name. TURN is the id of a turn, the number of a turn on the active path, or the name of a
    timeline, which means its last turn. The default is the turn that was recorded last.

    Each line shows the score and the tokens first, and below them the key and the parts of the score. The score of lore
    and of an event is the sum of its parts. The score of an earlier turn is "fused", which compares "lexical" and
    "dense" with those of other turns. "lexical" is the sum of words, names, closeness and the other parts.
    docs/recall.md lists all parts and all answers.
    """
    if skipped and text is not None:
        raise click.UsageError("--skipped lists what found no room, --text looks one text up; give one of them")

    if text is not None and not text.strip():
        raise click.UsageError("--text: give a text")
    named = {} if turn is None else {"turn": turn}
    here = f"/api/sessions/{segment(session)}"
    if text is None:
        found = reached(place, Asking("GET", f"{here}/context", named))
    else:
        found = reached(place, Asking("POST", f"{here}/untold", body=json.dumps({**named, "text": text}).encode()))
    if plain:
        say_json(found)
        return
    for line in lines(found, skipped=skipped) if text is None else of_text(found):
        say(line)


def of_text(found: dict[str, Any]) -> list[str]:
    """Return the answer to ``--text`` as lines, the closest matches first."""
    made = _head(found)
    if not found["found"]:
        made.append(_NOTHING)
    else:
        made.append("Before each text stands how many of the words it has.")
    part = None
    for row in found["found"]:
        if row.get("part") != part:
            part = row["part"]
            made.append(f"“{_line(part)}”")
        made.append(f"{row['share']:4.0%}  {_where(row)}: {row['near']}")
        alike = "only some of these words stand there; " if row["share"] < 1 else ""
        made.append(f"      {alike}{_reason(row)}" + (f" · score {row['score']:g}" if row["score"] is not None else ""))
        if row["reason"] == "cut_out":
            made.append(f"      what was told of it: {_line(row['line'])}")
        if row["share"] < 1:
            made.append(f"      it has: {', '.join(row['words'])}")
    return made


def _where(row: dict[str, Any]) -> str:
    if row["kind"] == "turn":
        return f"turn {row['turn']}"
    return _KINDS[row["kind"]] + (f" (turn {row['turn']})" if "turn" in row else "")


def _reason(row: dict[str, Any]) -> str:
    """Return the reason in words, with what an event waits for, when it was over, or when lore was last mentioned."""
    said = _REASONS[row["reason"]]
    if row["reason"] == "faded":
        return f"{said}, last at turn {row['mentioned']}"
    if row["reason"] == "over":
        if row["happened"] is not None:
            return f"{said}, and it happened at turn {row['happened']}"
        return f"{said}, and " + (f"its time was over at turn {row['until']}" if row["until"] else "it is so no longer")
    waits = {name: what for name, what in row.get("waits", {}).items() if what is not None}
    if not waits:
        return said
    words = {"time": "the time {}", "turn": "turn {}", "place": "the player to be at {}", "who": "{} to be there"}
    return f"{said}; it waits for {' and for '.join(words[name].format(what) for name, what in waits.items())}"


def _head(found: dict[str, Any], tokens: str = "") -> list[str]:
    """Return the lines about the turn itself, and about what the chat showed of the story."""
    made = [f"turn {found['depth']} ({found['turn']}){tokens}" + (", read anew" if found["anew"] else "")]
    if found["anew"]:
        made.append(_ANEW)
    first = found["shown_from"]
    if first is not None:
        if first > 1:
            said = f"the story from turn {first} on" if first < found["depth"] else "no turn before this one"
        else:
            said = "the whole story"
        made.append(f"What the chat itself showed: {said}.")
    return made


def lines(found: dict[str, Any], *, skipped: bool) -> list[str]:
    """Return the explanation of a turn's context as lines."""
    made = _head(found, f": {found['tokens']} tokens")
    if found["said"]:
        made.append(f"the player's words: {_line(found['said'])}")
    if found["time"] is not None:
        made.append(f"the time that they name: turns {found['time']['first']} to {found['time']['last']}")
    if found["late"]:
        made.append(f"left out, late or failed: {', '.join(found['late'])}")
    made += _entries(found["pieces"])
    if not found["pieces"]:
        made.append("nothing was told")
    if skipped:
        made += ["", f"no room for {len(found['skipped'])}", *_entries(found["skipped"])]
    if found["pages"]:
        made += ["", "The summary at the beginning of the prompt:", *indent(found["pages"], "    ").splitlines()]
    return made


def _entries(pieces: list[dict[str, Any]]) -> list[str]:
    made = []
    for piece in pieces:
        text = _line(piece["text"])
        parts = ", ".join(f"{name} {value:+g}" for name, value in piece["why"].items())
        made.append(f"{piece['score']:8.3f}  {piece['tokens']:4d}  [{piece['section']}] {text}")
        made.append(f"                {piece['source']} · {piece['key']} · {parts or 'needs no signal'}")
        said = [f"same words: {', '.join(piece['words'])}"] if piece["words"] else []
        said += [f"beside turn {piece['beside']}"] if "beside" in piece else []
        if said and parts:
            made.append(f"                {'; '.join(said)}")
    return made


def _line(text: str) -> str:
    return " ".join(text.split())
