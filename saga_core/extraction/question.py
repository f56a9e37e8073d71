"""The question to an extraction model: one quoted turn, a summary of the state before it, and the block's form."""

from __future__ import annotations

from collections.abc import Iterator

from saga_core.language import ExtractionWords, language_of, mentions
from saga_core.messages import PromptPlan, asked_again, question
from saga_core.model import Kind, WorldState
from saga_core.model_calls import Count, cut_middle, without_injected
from saga_core.state_block import instruction

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
    user: str, reply: str, state: WorldState, language: str, count: Count, *, names: tuple[str, ...] = ()
) -> PromptPlan:
    """The question about one turn, at most ``LIMIT`` tokens as measured by ``count``.

    ``user`` and ``reply`` are the turn's texts as the player saw them, ``state`` the state before the turn. ``names``
    are further known names. The system message is the same for every turn of a language. A long reply is cut in the
    middle.
    """
    user, reply = without_injected(user), without_injected(reply)
    words = words_of(language)
    system = f"{words.system}\n\n{form(language)}"
    left = LIMIT - _FRAME - _again_tokens(words, count) - count(system)
    lines = [words.before, *(QUOTE + line for line in brief(state, f"{user}\n{reply}", names, language, count))]
    said = quoted(user, _WORDS, count)
    if said:
        lines += ["", words.words, said]
    lines += ["", words.reply]
    lines.append(quoted(reply, left - count("\n".join(lines)), count))
    return question(system, "\n".join(lines))


def ask_again(plan: PromptPlan, reason: str, language: str) -> PromptPlan:
    """The same question, with a note why the last answer could not be used. It stays within the limit."""
    words = words_of(language)
    text = " ".join(reason.split())[:_REASON]
    return asked_again(plan, words.again.format(reason=text))


def _again_tokens(words: ExtractionWords, count: Count) -> int:
    return count(words.again) + _REASON


def form(language: str) -> str:
    """The form of the state block, as it is shown to the narrator."""
    told = instruction(language_of(language).tag)
    return told[told.index("```") :]


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


def brief(state: WorldState, told: str, names: tuple[str, ...], language: str, count: Count) -> list[str]:
    """A summary of the state: the player, place and health, belongings, company, and names that ``told`` may use."""
    words = words_of(language)
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
    ]
    lines = [" | ".join(facts)] if facts else []
    lists = (
        (words.inventory, carried, words.nothing),
        (words.present, [state.name(who) for who in state.present], ""),
        (words.known, list(_known(state, told, names)), ""),
    )
    for label, found, otherwise in lists:
        room = _STATE - count("\n".join(lines))
        kept = _fitting(label, found[:_NAMES], room, count) or otherwise
        if kept:
            lines.append(f"{label}: {kept}")
    return lines


def _fitting(label: str, names: list[str], room: int, count: Count) -> str:
    while names and count(f"{label}: {', '.join(names)}") > room:
        names = names[: len(names) * 3 // 4]
    return ", ".join(names)


def _known(state: WorldState, told: str, names: tuple[str, ...]) -> Iterator[str]:
    """The known names used in the turn's text, the names of characters met, then the given names that the text uses."""
    folded = told.casefold()
    listed = set(state.present)
    entities = state.entities.values()
    used = [each for each in entities if any(_uses(told, folded, name) for name in each.names)]
    seen = {state.name(who) for who in listed}
    rest = [state.entities[who] for who in state.met if who in state.entities]
    for entity in (*used, *rest):
        if entity.kind is not Kind.EVENT and entity.id != state.player and entity.name not in seen:
            seen.add(entity.name)
            yield entity.name
    for name in names:
        if name not in seen and _uses(told, folded, name):
            seen.add(name)
            yield name


def _uses(told: str, folded: str, name: str) -> bool:
    return name.casefold() in folded and mentions(told, name)
