"""The question whether two characters are one person, and the answers to it.

An answer counts only with the words of the story that it rests on. A small model says "yes" too easily, but it cannot
quote what does not stand there.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import frozen

from saga_core.extraction.extractor import Extractor
from saga_core.extraction.question import quoted
from saga_core.language import language_of, nfc
from saga_core.messages import PromptPlan, question
from saga_core.model_calls import (
    BeforeCall,
    Count,
    Paid,
    object_schema,
)
from saga_core.naming import Doubt

_PAIRS = 12
"""The maximum number of answers."""
MAX_TOKENS = 400
"""The maximum number of tokens of an answer."""
_TEXT = 500
"""The maximum number of tokens of the story that are quoted for a pair."""
_WORDS = 160
"""The maximum number of characters that an answer quotes."""
_FEWEST = 4
"""The minimum number of characters of a quotation."""


@frozen
class Pair:
    """A doubt as it is asked: the names of the two, and the passages of the story that speak of them."""

    doubt: Doubt
    late: tuple[str, ...]
    early: tuple[str, ...]
    story: str


@frozen
class Answer:
    """What a model says about a doubt. ``same`` is None if it does not know."""

    doubt: Doubt
    same: bool | None
    words: str = ""
    """The words of the story on which the answer rests."""


async def read_pairs(
    pairs: Sequence[Pair], language: str, extractor: Extractor, *, before_call: BeforeCall, paid: Paid
) -> tuple[Answer, ...]:
    """The answers to some pairs. Raises ``ModelCallFailed``, and ``UpstreamError`` if the provider does."""
    plan = ask(pairs, language, extractor.counter.count)
    form = ("one_person", schema())
    answer = await extractor.object_about("names", plan, form, MAX_TOKENS, before_call=before_call, paid=paid)
    return answers_of(answer, pairs)


def schema() -> dict[str, Any]:
    """The JSON schema of an answer: for each pair by its number, a verdict and the words that it rests on."""
    one = object_schema(
        {
            "pair": {"type": "integer"},
            "words": {"type": "string", "maxLength": _WORDS},
            "same": {"enum": ["yes", "no", "unknown"]},
        }
    )
    return object_schema({"answers": {"type": "array", "items": one, "maxItems": _PAIRS}})


def ask(pairs: Sequence[Pair], language: str, count: Count) -> PromptPlan:
    """The question about some pairs, each with its passages."""
    words = language_of(language).questions.one_person
    example = json.dumps(words.result, ensure_ascii=False, separators=(",", ":"))
    system = f"{words.task}\n\n{words.example}\n{words.answer} {example}"
    asked = [
        f"{number}. {' / '.join(pair.late)} = {' / '.join(pair.early)}?\n{quoted(pair.story, _TEXT, count)}"
        for number, pair in enumerate(pairs, 1)
    ]
    return question(system, "\n\n".join((*asked, words.answer)))


def answers_of(answer: Mapping[str, Any], pairs: Sequence[Pair]) -> tuple[Answer, ...]:
    """The answers with a number that was asked for. A verdict whose words do not stand in the story is unknown."""
    found: dict[int, Answer] = {}
    listed = answer.get("answers")
    for each in listed if isinstance(listed, list) else []:
        number, said = (each.get("pair"), each.get("same")) if isinstance(each, dict) else (None, None)
        if isinstance(number, int) and 1 <= number <= len(pairs) and number not in found:
            pair, words = pairs[number - 1], str(each.get("words") or "").strip()
            same = {"yes": True, "no": False}.get(str(said)) if _stands(words, pair) else None
            found[number] = Answer(pair.doubt, same, words)
    return tuple(found.get(number) or Answer(pair.doubt, None) for number, pair in enumerate(pairs, 1))


def _stands(words: str, pair: Pair) -> bool:
    """Whether the story has these words, and they speak of one of the two."""
    plain = _plain(words)
    names = map(_plain, (*pair.late, *pair.early))
    return len(plain) >= _FEWEST and plain in _plain(pair.story) and any(name in plain for name in names)


def _plain(text: str) -> str:
    return " ".join(nfc(text).casefold().split())
