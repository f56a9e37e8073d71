"""The question of a memory strategy: the task, the known records, and the turns as quoted data.

One call returns one JSON object. SAGA's own context is left out, also where a reply or a client repeated it, because it
contains nothing new.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from saga_core.language import language_of
from saga_core.messages import PromptPlan, asked_again, question
from saga_core.model import MemoryRecord
from saga_core.model_calls import cut_middle, object_schema, without_injected
from saga_core.stores import CurationView
from saga_core.strategies.strategy import RecordKind, Strategy, in_language

LIMIT = 4_000
"""The largest number of tokens of the whole question."""
_FRAME = 200
"""Tokens reserved for markers, for a provider's message overhead, and for the reason of a repeated question."""
_KNOWN = 800
_USER = 250
_LEAST = 60
_REASON = 200
_QUOTE = "| "

Count = Callable[[str], int]


def ask(
    strategy: Strategy,
    view: CurationView,
    known: Mapping[str, MemoryRecord],
    count: Count,
    limit: int,
) -> PromptPlan:
    """Return the question, with at most ``LIMIT`` tokens by ``count``. ``known``: label -> record, best first."""
    words = language_of(view.language).questions.learning
    kinds = [_described(kind, view.language) for kind in strategy.kinds]
    task = "\n\n".join(
        (
            in_language(strategy.task, view.language),
            words.frame.format(limit=limit),
            "\n".join(kinds),
            f"{words.form}\n{_example(strategy)}",
        )
    )
    lines, room = [words.known], _KNOWN
    for label, record in known.items():
        line = f"{_QUOTE}{label} ({record.kind}) {record.text}"
        room -= count(line) + 1
        if room < 0:
            break
        lines.append(line)
    if len(lines) == 1:
        lines.append(_QUOTE + words.nothing)
    lines.append(words.turns)
    room = LIMIT - _FRAME - count(task) - count("\n".join(lines))
    each = max(_LEAST, room // max(1, len(view.turns)) - 12)
    told = []
    for turn in view.turns:
        user = cut_middle(without_injected(turn.user), min(_USER, each // 2), count)
        reply = cut_middle(without_injected(turn.reply), each - count(user), count)
        told += [f"[{turn.depth}]", _quoted(f"> {user}" if user else ""), _quoted(reply)]
    whole = "\n".join(line for line in told if line)
    while whole and count(whole) > room:  # the quote marks cost tokens too, and there may be many turns
        whole = "\n".join(_quoted_again(cut_middle(whole, room, count).splitlines()))
        room -= 20
    lines.append(whole)
    return question(task, "\n".join(lines))


def ask_again(plan: PromptPlan, language: str, reason: str) -> PromptPlan:
    """Return the question again, with the reason why the last answer could not be used."""
    words = language_of(language).questions.learning
    text = words.again.format(reason=" ".join(reason.split())[:_REASON])
    return asked_again(plan, text)


def schema(strategy: Strategy) -> dict[str, Any]:
    """Return the JSON schema of an answer: one shape for all kinds, with null for fields that a kind does not have."""
    text, maybe = {"type": "string"}, {"type": ["string", "null"]}
    fields: dict[str, Any] = {
        "do": {"type": "string", "enum": ["add", "update"]},
        "record": maybe,
        "kind": {"type": "string", "enum": [kind.name for kind in strategy.kinds]},
        "text": text,
        **{detail.name: maybe for kind in strategy.kinds for detail in kind.details},
        "turns": {"type": "array", "items": {"type": "integer"}},
    }
    if any(kind.sources for kind in strategy.kinds):
        fields["from"] = {"type": "array", "items": text}
    return object_schema({"records": {"type": "array", "items": object_schema(fields)}})


def _described(kind: RecordKind, language: str) -> str:
    fields = [f'"{each.name}": {each.told}' + (f" ({', '.join(each.of)})" if each.of else "") for each in kind.details]
    return " ".join([f'"{kind.name}": {in_language(kind.told, language)}', "; ".join(fields)]).rstrip()


def _example(strategy: Strategy) -> str:
    kind = strategy.kinds[0]
    details = "".join(f' "{detail.name}": "…",' for detail in kind.details)
    return (
        f'{{"records": [{{"do": "add", "record": null, "kind": "{kind.name}", "text": "…",{details} "turns": [3]}}]}}'
    )


def _quoted(text: str) -> str:
    return "\n".join(_QUOTE + line for line in text.splitlines() if line.strip())


def _quoted_again(lines: Sequence[str]) -> list[str]:
    """Quote lines again after their middle was cut, so that none can pass for a line of the question."""
    return [line if line.startswith(_QUOTE) or re.fullmatch(r"\[\d+\]", line) else _QUOTE + line for line in lines]
