"""ProPara as chats: each sentence is a reply, and after each one is asked where every participant is.

The grid that people made beside the text is what the narrator reports: a thing that is now elsewhere is handed to that
place. Only places that the sentences name are asked about, and only once somebody knows where the thing is.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.fork.language import names, passages
from tests.public.chat import Chat, Question, Turn

FILES = ("grids.v1.train.tsv", "grids.v1.dev.tsv")
SYSTEM = "You explain how things come about, one step in each reply."
_UNKNOWN, _GONE = "?", "-"


def chats(folder: Path) -> Iterator[Chat]:
    """The paragraphs of both files."""
    for name in FILES:
        with (folder / name).open(encoding="utf-8", newline="") as lines:
            rows: list[list[str]] = []
            for row in csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE):
                if any(row):
                    rows.append(row)
                elif rows:
                    yield chat(rows)
                    rows = []
            if rows:
                yield chat(rows)


def chat(rows: Sequence[Sequence[str]]) -> Chat:
    """One paragraph: a row of participants, the prompt, and then states and events in turn."""
    things = [each.split(";")[0].strip() for each in rows[0][3:]]
    prompt = rows[1][2].removeprefix("PROMPT:").strip()
    states = [row[3:] for row in rows[2:] if row[1].startswith("state")]
    events = [row[2].strip() for row in rows[2:] if row[1].startswith("event")]
    if len(states) != len(events) + 1:
        raise ValueError(f"{rows[0][0]}: {len(states)} states for {len(events)} events")
    turns: list[Turn] = []
    questions: list[Question] = []
    said = ""
    for at, (event, before, after) in enumerate(zip(events, states, states[1:], strict=False), 1):
        said = f"{said}\n{event}".casefold()
        moves = [
            f"{{item: {thing}, from: {_side(old)}, to: {_side(new)}}}"
            for thing, old, new in zip(things, before, after, strict=True)
            if old != new and {old, new} - {_UNKNOWN, _GONE}
        ]
        report = (f"items_transferred: [{', '.join(moves)}]",) if moves else ()
        turns.append(Turn(prompt if at == 1 else "And then?", event, report))
        places = {place for state in states[: at + 1] for place in state} - {_UNKNOWN, _GONE}
        for thing, place in zip(things, after, strict=True):
            if place not in (_UNKNOWN, _GONE) and place.casefold() in said:
                others = tuple(sorted(places - {place}))
                questions.append(Question(at, f"Where is the {thing} now?", (place,), others, thing))
    return Chat(f"propara-{rows[0][0]}", SYSTEM, tuple(turns), tuple(questions))


def _side(place: str) -> str:
    return "unknown" if place in (_UNKNOWN, _GONE) else place


def scores(question: Question, context: str) -> dict[str, float]:
    """``right``: the last passage that names the thing and a place names the right one. ``wrong``: it names another.

    ``found``: some passage names the thing with the right place."""
    right, wrong, found = False, False, False
    for passage in passages(context, question.about):
        if names(passage, [question.about], False):
            here = names(passage, question.wanted, True)
            if here or names(passage, question.unwanted, True):
                right, wrong, found = here, not here, found or here
    return {"right": float(right), "wrong": float(wrong), "found": float(found)}
