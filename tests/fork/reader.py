"""Read a context without a judge: what it tells as the answer to a question.

A *passage* is a sentence, or a cell of a line. A passage tells a value if it names both what the question is about and
the value: the lantern and Mara. The last passage that tells a value counts, as in a chat. The texts of the stories are
written so that every sentence names one value at most. A passage that says what somebody does not know tells only that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import frozen

from tests.fork.language import Language, names, passages

RIGHT, WITHDRAWN, STALE, WRONG, SILENT = "right", "withdrawn", "stale", "wrong", "silent"
OUTCOMES = (RIGHT, SILENT, STALE, WITHDRAWN, WRONG)


@frozen
class Reading:
    """What a context says to a question."""

    outcome: str
    """``right``; or what it tells instead: a ``withdrawn`` value, which only replies told that the chat no longer has;
    a ``stale`` one, which was true before; a ``wrong`` one, which was never told; or nothing (``silent``)."""
    found: bool
    """Whether a passage tells the answer, first or last."""
    leaked: bool
    """Whether a passage tells a withdrawn value, first or last."""


def read(question: Mapping[str, Any], context: str, spoken: Language) -> Reading:
    """What ``context`` tells as the answer to ``question``."""
    if question["kind"] == "knows":
        return _knowledge(question, context, spoken)
    told: list[set[str]] = []
    subject, domain = question["about"][0], _domain(question["kind"], spoken)
    unknown = spoken.templates["read"]["not_known"]
    for passage in passages(context, subject):
        if names(passage, [subject], spoken.spaced) and not names(passage, unknown, False):
            values = {value for value, forms in domain.items() if names(passage, forms, spoken.spaced)}
            if values:
                told.append(values)
    answer, withdrawn = question["answer"], set(question["withdrawn"])
    found = any(answer in values for values in told)
    leaked = any(answer not in values and values & withdrawn for values in told)
    if not told:
        return Reading(SILENT, found, leaked)
    if answer in told[-1]:
        return Reading(RIGHT, found, leaked)
    outcome = WITHDRAWN if told[-1] & withdrawn else STALE if told[-1] & set(question["stale"]) else WRONG
    return Reading(outcome, found, leaked)


def _knowledge(question: Mapping[str, Any], context: str, spoken: Language) -> Reading:
    """Whether somebody knows a fact: not if no passage names both, or the last one says that it is not known."""
    who, fact = question["about"]
    told = [
        not names(passage, spoken.templates["read"]["not_known"], False)
        for passage in passages(context, fact)
        if names(passage, [who], spoken.spaced) and names(passage, [fact], spoken.spaced)
    ]
    knows = bool(told) and told[-1]
    if question["answer"] == "yes":
        outcome = RIGHT if knows else WRONG if told else SILENT
        return Reading(outcome, any(told), False)
    taken_back = bool(question["withdrawn"]) and any(told)
    outcome = RIGHT if not knows else WITHDRAWN if taken_back else WRONG
    return Reading(outcome, not knows, taken_back)


def _domain(kind: str, spoken: Language) -> Mapping[str, Sequence[str]]:
    """The values that can answer a question of ``kind``, each with the forms that name it."""
    words = spoken.words
    if kind == "holder":
        persons = {each: [each] for each in (*words["people"], *words["rooms"])}
        return {**persons, spoken.player[0]: spoken.player}
    return {each: [each] for each in words[{"place": "rooms", "wound": "wounds", "plan": "tasks"}[kind]]}
