"""StateBench as chats: facts are set, replaced and withdrawn, and questions are asked after small talk.

What the data writes into its state is what the narrator reports: each key is a text that the chat counts, and a key
that replaces another is the same text with a new value.

A phrase is looked for only if the chat has it, because the published answers also name keys and conclusions. Of the
phrases that an answer must mention, the context has a share. One that must not be mentioned counts as told if it comes
after the last one that is wanted.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.public.chat import SMALL_TALK, Chat, Question, Turn

FILES = ("train.jsonl", "dev.jsonl")
SYSTEM = "You are an assistant at work. Answer with what is true now."


def chats(folder: Path) -> Iterator[Chat]:
    """The timelines of both files."""
    for name in FILES:
        with (folder / name).open(encoding="utf-8") as lines:
            for line in lines:
                yield chat(json.loads(line))


def chat(row: Mapping[str, Any]) -> Chat:
    """One timeline. Facts that are there at the beginning are told in the first reply."""
    facts = row["initial_state"]["persistent_facts"]
    keys = {fact["key"]: fact["key"] for fact in facts}
    turns: list[tuple[str, str, list[str]]] = []
    first = " ".join(_line(fact["value"]) for fact in facts) or "Nothing yet."
    turns.append(("What do we know so far?", first, [f"{fact['key']}: {_line(fact['value'])}" for fact in facts]))
    asked: list[tuple[int, Mapping[str, Any]]] = []
    for event in row["events"]:
        match event["type"]:
            case "conversation_turn" if event["speaker"] == "assistant":
                turns[-1] = (turns[-1][0], event["text"], turns[-1][2])
            case "conversation_turn":
                turns.append((event["text"], "Noted.", []))
            case "query":
                if not asked:
                    turns += ((*pair, []) for pair in SMALL_TALK)
                asked.append((len(turns), event))
            case "state_write" | "supersession":
                for write in event["writes"]:
                    key = keys.setdefault(write["key"], keys.get(write["supersedes"] or "", write["key"]))
                    turns[-1][2].append(f"{key}: {_line(write['value'])}")
            case other:
                raise ValueError(f"{row['id']}: an event {other!r} is not known")
    values = (row.partition(": ")[2] for _, _, report in turns for row in report)
    text = "\n".join((*(each for words, reply, _ in turns for each in (words, reply)), *values)).casefold()
    markers = (f"[[saga:tracker={key} | kind=text]]" for key in dict.fromkeys(keys.values()))
    return Chat(
        row["id"],
        "\n".join((SYSTEM, *markers)),
        tuple(Turn(words, reply, tuple(report)) for words, reply, report in turns),
        tuple(_question(at, event, row["track"], text) for at, event in asked),
    )


def _question(at: int, event: Mapping[str, Any], track: str, text: str) -> Question:
    truth = event["ground_truth"]
    wanted, unwanted = (
        tuple(phrase.casefold() for phrase in truth[name] if phrase.casefold() in text)
        for name in ("must_mention", "must_not_mention")
    )
    return Question(at, event["prompt"], wanted, unwanted, group=track)


def _line(value: str) -> str:
    return " ".join(value.split())


def scores(question: Question, context: str) -> dict[str, float]:
    """``wanted``: the share of the wanted phrases that the context has. ``withdrawn``: whether one that must not be
    mentioned comes last. ``present``: whether one is there at all. Each only where there is such a phrase."""
    folded = context.casefold()
    found: dict[str, float] = {}
    if question.wanted:
        found["wanted"] = sum(phrase in folded for phrase in question.wanted) / len(question.wanted)
    if question.unwanted:
        last = max(folded.rfind(phrase) for phrase in question.unwanted)
        found["present"] = float(last >= 0)
        found["withdrawn"] = float(last >= 0 and last >= max(map(folded.rfind, question.wanted), default=-1))
    return found
