"""The question to an extraction model: one quoted turn, and a short version of the state before it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import lru_cache

from saga_core.extraction.answer import REPORTS, empty_answer
from saga_core.language import ExtractionWords, language_of, match_name, match_text, mentions
from saga_core.messages import PromptPlan, asked_again, question
from saga_core.model import Kind, WorldState
from saga_core.model_calls import Count, cut_middle, without_injected
from saga_core.trackers import NO_TRACKERS, Trackers

LIMIT = 1_500
"""The maximum number of tokens of the whole question."""

QUOTE = "| "
"""The prefix of each quoted line of a story."""
_FRAME = 24
"""Tokens reserved for the framing that a provider adds around messages."""
_STATE = 300
_WORDS = 250
_NAMES = 40
_REASON = 60


def words_of(language: str) -> ExtractionWords:
    """The texts of a question in a language."""
    return language_of(language).questions.extraction


def ask(
    user: str,
    reply: str,
    state: WorldState,
    language: str,
    count: Count,
    *,
    names: tuple[str, ...] = (),
    brief: bool = False,
) -> PromptPlan:
    """The question about one turn, at most ``LIMIT`` tokens as measured by ``count``.

    ``user`` and ``reply`` are the turn's texts as the player saw them, ``state`` the state before the turn. ``names``
    are further known names. The system message is the same for every turn of a language. ``brief`` asks for the few
    fields that small models get right, with the player's words last: they read best what stands at the end. A long
    reply is cut in the middle.
    """
    user, reply = without_injected(user), without_injected(reply)
    words = words_of(language)
    system = instructions(language_of(language).tag, brief=brief, counted=state.trackers)
    left = LIMIT - _FRAME - count(words.again) - _REASON - count(system) - count(words.answer)
    lines = [words.before, *(QUOTE + line for line in short_state(state, f"{user}\n{reply}", names, language, count))]
    said = quoted(user, _WORDS, count)
    spoken = ["", words.words, said] if said else []
    room = left - count("\n".join((*lines, *spoken, "", words.reply)))
    heard = ["", words.reply, quoted(reply, room, count)]
    lines += [*heard, *spoken] if brief else [*spoken, *heard]
    lines.append(words.answer)
    return question(system, "\n".join(lines))


def key_words(words: ExtractionWords, counted: Trackers, *, brief: bool = False) -> str:
    """What the keys of an answer mean that the story counts."""
    text = words.keys if brief else f"{words.keys} {words.more}"
    unasked = [key for key, field in REPORTS.items() if not counted.asks(field)]
    if unasked:
        sentences = re.split(r"(?<=[.。])\s*(?=[a-z_]+(?:, ?[a-z_]+)*[:：])", text)
        kept = [each for each in sentences if each.partition(":")[0].partition("：")[0].split(",")[0] not in unasked]
        text = " ".join(kept)
    return text + counted_keys(words, counted)


def counted_keys(words: ExtractionWords, counted: Trackers) -> str:
    """What the key of the trackers means; empty for a story without any."""
    named = "; ".join(f"{each.name}: {each.description}" if each.description else each.name for each in counted.asked)
    return f" {words.counted} {named}." if named else ""


@lru_cache(maxsize=64)
def instructions(tag: str, *, brief: bool, counted: Trackers = NO_TRACKERS) -> str:
    """The system message of the question about one turn: the task, the keys, and worked examples."""
    words = words_of(tag)
    empty = empty_answer(brief=brief, counted=counted)
    parts = [f"{words.task}\n{key_words(words, counted, brief=brief)}"]
    for example in words.examples:
        if counted != NO_TRACKERS and not all(counted.asks(REPORTS.get(key, key)) for key in example.answer):
            continue
        answer = {key: example.answer.get(key, value) for key, value in empty.items()}
        spoken, heard = (words.words, QUOTE + example.words), (words.reply, QUOTE + example.reply)
        lines = (
            words.before,
            f"{QUOTE}{words.place}: {example.place}",
            f"{QUOTE}{words.present}: {example.present}",
            *((*heard, *spoken) if brief else (*spoken, *heard)),
            f"{words.answer} {json.dumps(answer, ensure_ascii=False, separators=(',', ':'))}",
        )
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def ask_again(plan: PromptPlan, reason: str, language: str) -> PromptPlan:
    """The same question, with a note why the last answer could not be used. It stays within the limit."""
    words = words_of(language)
    text = " ".join(reason.split())[:_REASON]
    return asked_again(plan, words.again.format(reason=text))


def quoted(text: str, limit: int, count: Count) -> str:
    """``text`` cut to ``limit`` tokens, with a prefix on each line so that none looks like a part of the question."""
    room = limit
    while True:
        lines = cut_middle(text, room, count).splitlines()
        shown = "\n".join(QUOTE + line for line in lines if line.strip())
        over = count(shown) - limit
        if over <= 0 or not shown:
            return shown
        room -= over  # the prefixes cost tokens too


def short_state(state: WorldState, told: str, names: tuple[str, ...], language: str, count: Count) -> list[str]:
    """A short version of the state: the player and the place, then the company, and of belongings and known names those
    that ``told`` uses. What a small model is shown besides comes back as news."""
    words = words_of(language)
    folded = match_text(told)
    player = state.entities.get(state.player)
    facts = []
    if player is not None:
        facts.append(f"{words.player}: {player.name}")
    if state.location:
        facts.append(f"{words.place}: {state.name(state.location)}")
    if player is not None and player.get("hp") is not None:
        facts.append(f"{words.hp}: {player.get('hp')}/{player.get('max_hp')}")
    carried = [
        state.name(item) + (f" ×{stack.quantity}" if stack.quantity != 1 else "")
        for item, stack in state.belongings.get(state.player, {}).items()
        if any(_uses(told, folded, name) for name in state.entities[item].names)
    ]
    lines = [" | ".join(facts)] if facts else []
    lists = (
        (words.present, [state.name(who) for who in state.present]),
        (words.inventory, carried),
        (words.known, list(_known(state, told, names))),
    )
    for label, listed in lists:
        fitting = _fitting(label, listed[:_NAMES], _STATE - count("\n".join(lines)), count)
        if fitting:
            lines.append(f"{label}: {fitting}")
    return lines


def _fitting(label: str, names: list[str], room: int, count: Count) -> str:
    while names and count(f"{label}: {', '.join(names)}") > room:
        names = names[: len(names) * 3 // 4]
    return ", ".join(names)


def _known(state: WorldState, told: str, names: tuple[str, ...]) -> Iterator[str]:
    """The known names that the turn's text uses, then those of the given names that it uses."""
    folded = match_text(told)
    seen = {state.name(who) for who in (*state.present, state.player) if who in state.entities}
    known = (each for each in state.entities.values() if each.kind in (Kind.CHARACTER, Kind.LOCATION))
    for entity in known:
        if entity.name not in seen and any(_uses(told, folded, part) for name in entity.names for part in _parts(name)):
            seen.add(entity.name)
            yield entity.name
    for name in names:
        if name not in seen and _uses(told, folded, name):
            seen.add(name)
            yield name


def _parts(name: str) -> Iterator[str]:
    """A name, and its words: a story calls people by one of them."""
    yield name
    yield from (word for word in name.split() if len(word) > 1)


def _uses(told: str, folded: str, name: str) -> bool:
    return match_name(name) in folded and mentions(told, name)
