"""The card and the persona, read once by a model: who the player is, who is called what, and what the player carries.

Only names and things that stand in the text count, so a model can choose, but not make up. A model of 1.5 billion
parameters gave the player the names of the captain and of a sister. So another name counts only where its clause says
that somebody is called something, or puts the name in quotation marks or parentheses.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from attrs import frozen

from saga_core.extraction.answer import are_hit_points
from saga_core.extraction.extractor import Extractor
from saga_core.extraction.player import nameless, the_player
from saga_core.extraction.question import quoted
from saga_core.ids import entity_id
from saga_core.language import SENTENCE_TITLE, caseless, fold_name, language_of, mentions, nfc
from saga_core.messages import PromptPlan, question
from saga_core.model import Event, Introduced, Kind, WorldState, deltas
from saga_core.model_calls import (
    BeforeCall,
    Count,
    Paid,
    object_schema,
)
from saga_core.naming import Evidence, Names, is_word_for_player, pattern_of
from saga_core.state_block import parse_block

LIMIT = 2_500
"""The maximum number of tokens of a card in the question. Of a longer one the middle is left out."""
MAX_TOKENS = 600
"""The maximum number of tokens of an answer."""
_NAME, _PEOPLE, _OTHERS, _THINGS = 60, 16, 6, 12
"""The longest name in characters, and the longest lists that an answer may hold."""
_CLAUSE = re.compile(rf"(?:{SENTENCE_TITLE}|[^.;。；!?！？\n])+")
_WORD = re.compile(r"\w{1,40}")
_MARKS = tuple((each[0], each[1]) for each in ('""', "“”", "‘’", "''", "「」", "『』", "《》", "()", "（）", "【】"))


@frozen
class CardReading:
    """What a card says. Everything in it stands in the card."""

    player: str = ""
    player_also: tuple[str, ...] = ()
    people: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Everybody who has more than one name: the name, and the others."""
    carries: tuple[tuple[str, int], ...] = ()
    """What the player has at the beginning, with quantities."""


async def read_card(
    card: str, language: str, extractor: Extractor, *, before_call: BeforeCall, paid: Paid
) -> CardReading:
    """What the model reads in ``card``. Raises ``ModelCallFailed``, and ``UpstreamError`` if the provider does."""
    plan = ask_about_card(card, language, extractor.counter.count)
    form = ("card", card_schema())
    answer = await extractor.object_about("cards", plan, form, MAX_TOKENS, before_call=before_call, paid=paid)
    return reading_of(answer, card)


def card_schema() -> dict[str, Any]:
    """The JSON schema of an answer. Every key is required; what the card does not say is empty."""
    name = {"type": "string", "maxLength": _NAME}
    others = {"type": "array", "items": name, "maxItems": _OTHERS}
    person = object_schema({"name": name, "also": others})
    thing = object_schema({"thing": name, "count": {"type": "integer"}})
    return object_schema(
        {
            "player": name,
            "player_also": others,
            "people": {"type": "array", "items": person, "maxItems": _PEOPLE},
            "carries": {"type": "array", "items": thing, "maxItems": _THINGS},
        }
    )


def ask_about_card(card: str, language: str, count: Count) -> PromptPlan:
    """The question about a card."""
    words = language_of(language).questions.card
    example = json.dumps(words.result, ensure_ascii=False, separators=(",", ":"))
    system = f"{words.task}\n\n{words.card}\n{quoted(words.example, LIMIT, count)}\n{words.answer} {example}"
    return question(system, f"{words.card}\n{quoted(card, LIMIT, count)}\n{words.answer}")


def reading_of(answer: Mapping[str, Any], card: str) -> CardReading:
    """An answer without what the card does not bear out, and without names that it gives to two people."""
    clauses = [_plain(each) for each in _CLAUSE.findall(card)]
    evidence = Evidence(card=card)

    def stands(name: object, least: int = 2) -> bool:
        return (
            isinstance(name, str)
            and least <= len(name.strip()) <= _NAME
            and not is_word_for_player(name)
            and any(_plain(name.strip()) in clause for clause in clauses)
        )

    said = str(answer.get("player") or "").strip()
    player = said if stands(said) and _is_the_players(_plain(said), clauses) else ""

    def names(found: object, known: str) -> tuple[str, ...]:
        listed = found if isinstance(found, list) else []
        standing = dict.fromkeys(each.strip() for each in listed if stands(each))
        return tuple(
            each
            for each in standing
            if _is_told(_plain(each), _plain(known), clauses)
            or (known == said and _stands_beside(_plain(each), _plain(known), clauses) and not evidence.entry(each))
        )

    told = answer.get("people")
    people = [
        (each["name"].strip(), names(each.get("also"), each["name"].strip()))
        for each in (told if isinstance(told, list) else [])
        if isinstance(each, dict) and stands(each.get("name"))
    ]
    listed = answer.get("player_also")
    also = names([said, *listed] if isinstance(listed, list) else [said], said)
    shared = _shared([[player, *also], *([name, *others] for name, others in people)])
    taken = [_plain(name) for name, _ in people]
    held = answer.get("carries")
    return CardReading(
        player,
        tuple(each for each in also if _plain(each) not in shared and not _belongs(_plain(each), taken)),
        tuple(
            (name, kept)
            for name, others in people
            if _plain(name) not in map(_plain, (player, *also))
            and (kept := tuple(each for each in others if _plain(each) not in shared))
        ),
        tuple(_things(held if isinstance(held, list) else [], stands)),
    )


def _plain(text: str) -> str:
    return " ".join(nfc(text).casefold().split())


def _is_told(name: str, known: str, clauses: Sequence[str]) -> bool:
    """Whether a clause says that somebody is called ``name``, or the name is a longer or shorter form of ``known``."""
    if name != known and (name in known.split() or known in name.split()):
        return True
    marked = tuple(f"{opened}{name}{closed}" for opened, closed in _MARKS)
    return any(
        name in each and (pattern_of("naming").search(each) or any(mark in each for mark in marked)) for each in clauses
    )


def _stands_beside(name: str, known: str, clauses: Sequence[str]) -> bool:
    """Whether a clause has a name and the longest word of another: "The village says Tam for Tamsin Pascoe"."""
    part = max(known.split(), key=len, default="")
    return len(part) > 2 and any(mentions(each, name) and part in each for each in clauses)


def _is_the_players(name: str, clauses: Sequence[str]) -> bool:
    """Whether a clause with the name has a word for the player."""
    return any(
        name in each and any(is_word_for_player(word) for word in _WORD.findall(each.replace(name, " ")))
        for each in clauses
    )


def _belongs(name: str, taken: Sequence[str]) -> bool:
    """Whether a name is made of the words of another person's: captain sole, of captain brannick sole."""
    words = set(name.split())
    return any(words <= set(other.split()) for other in taken)


def _shared(bearers: Sequence[Sequence[str]]) -> set[str]:
    """The folded names that more than one person has."""
    seen, twice = set[str](), set[str]()
    for names in bearers:
        own = {_plain(name) for name in names if name}
        twice |= own & seen
        seen |= own
    return twice


def _things(held: Sequence[object], stands: Callable[[object, int], bool]) -> Iterator[tuple[str, int]]:
    for each in held:
        # A word of one character is a thing's, as 簪, but hardly a name.
        if isinstance(each, dict) and stands(each.get("thing"), 1 if caseless(str(each.get("thing"))) else 2):
            count = each.get("count")
            amount = count if isinstance(count, int) and 1 < count <= 1_000_000 else 1
            # Read as a block reads it: 은화 세 닢 is three of 은화, and 20 coins may be counted twice.
            for item in parse_block(f"items_gained: [{each['thing'].strip()}]").fields.items_gained:
                if not are_hit_points(item.name):
                    yield item.name, item.quantity if item.quantity > 1 else amount


def card_events(reading: CardReading, opening: WorldState, now: WorldState) -> tuple[Event, ...]:
    """The events at the beginning of a story for what its card says.

    ``opening`` is the state there, ``now`` the state that the story has reached. Things that the player has or had by
    then under the same name are left out: the story knows more of them than the card.
    """
    events: list[Event] = []
    player = opening.entities.get(opening.player)
    if player is None:
        return ()
    others = (reading.player, *reading.player_also)
    if nameless(now) and reading.player:
        events += the_player(opening, reading.player, sure=False)
    known = set(map(fold_name, player.names))
    learned = tuple(name for name in others if name and fold_name(name) not in known)
    if learned:
        events.append(Introduced(player.id, Kind.CHARACTER, player.name, learned))
    reached = Names(now)
    for name, also in reading.people:
        who = _called(opening, name, also) or _called(now, name, also) or entity_id(Kind.CHARACTER.value, name)
        called = opening.entities[who].names if who in opening.entities else ()
        if who != opening.player and not set(map(fold_name, (name, *also))) <= set(map(fold_name, called)):
            events.append(Introduced(who, Kind.CHARACTER, name, also))
    for thing, count in reading.carries:
        if reached.find(Kind.ITEM, thing) is None:
            id_ = entity_id(Kind.ITEM.value, thing)
            events += (Introduced(id_, Kind.ITEM, thing), deltas.ItemGained(opening.player, id_, count))
    return tuple(events)


def _called(state: WorldState, name: str, also: Sequence[str]) -> str | None:
    """The id of the one character with exactly this name, or else with one of the others. What names merely may mean
    would make a father of his son."""
    for names in ((name,), also):
        wanted = set(map(fold_name, names))
        found = {each.id for each in state.of_kind(Kind.CHARACTER) if wanted & set(map(fold_name, each.names))}
        if len(found) == 1:
            return found.pop()
    return None


def doubles(reading: CardReading, now: WorldState) -> dict[str, str]:
    """Characters that are another's under one of the names of the card: the id of each, and of whom it is."""
    found: dict[str, str] = {}
    by_name = {fold_name(each.name): each.id for each in now.of_kind(Kind.CHARACTER)}
    for who, names in (("", (reading.player, *reading.player_also)), *reading.people):
        owner = now.player if not who else by_name.get(fold_name(who))
        for name in names if owner else ():
            other = by_name.get(fold_name(name))
            if owner and other and other not in (owner, now.player):
                found[other] = owner
    return found
