"""The prompt for a curator model: the state, known findings, and the turns since the last review, all quoted."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from saga_core.curation.facts import facts_of
from saga_core.curation.replay import replay
from saga_core.language import CurationWords, language_of
from saga_core.messages import PromptPlan, asked_again, question
from saga_core.model import Kind, WorldState
from saga_core.model_calls import cut_middle
from saga_core.projection import EVENT
from saga_core.stores import CurationView

LIMIT = 6_000
"""Maximum tokens of one prompt."""
_QUOTE = "| "
_USER = 60
_LEAST = 40
_FRAME = 60
_NAMES = 60
_REASON = 80

Count = Callable[[str], int]


def _words(view: CurationView) -> CurationWords:
    return language_of(view.language).questions.curation


def ask_once(view: CurationView, count: Count) -> PromptPlan:
    """Return the prompt for one JSON object as the answer."""
    words = _words(view)
    return _plan(f"{words.task}\n\n{words.answer}", _material(view, words, count, ()))


def ask_again(plan: PromptPlan, view: CurationView, reason: str) -> PromptPlan:
    """Return the same prompt with the reason why the last answer could not be used."""
    return asked_again(plan, told_again(view, reason))


def ask_step(view: CurationView, blocks: dict[str, str], done: Sequence[str], count: Count) -> PromptPlan:
    """Return the prompt for one step: the material, the current memory blocks, and the results of earlier steps."""
    words = _words(view)
    extra = [words.memory]
    for name, text in blocks.items():
        extra += [f"[{name}]", _quoted(text or words.nothing)]
    if done:
        extra += [words.done, *done]
    return _plan(f"{words.task}\n\n{words.calls}", _material(view, words, count, extra))


def ask_agent(view: CurationView, count: Count) -> tuple[str, str]:
    """Return the standing instruction and this review's message, for an agent that keeps its own memory."""
    words = _words(view)
    return f"{words.task}\n\n{words.calls}", _material(view, words, count, ())


def told_again(view: CurationView, reason: str) -> str:
    """Return the message for an agent whose last answer could not be used."""
    return _words(view).again.format(reason=" ".join(reason.split())[:_REASON])


def _plan(system: str, material: str) -> PromptPlan:
    return question(system, material)


def _quoted(text: str) -> str:
    return "\n".join(_QUOTE + line for line in text.splitlines() if line.strip())


def _material(view: CurationView, words: CurationWords, count: Count, extra: Sequence[str]) -> str:
    state = view.state
    lines = [words.state.format(depth=state.depth), _quoted("\n".join(_brief(state)))]
    findings = [f"{each.key}: {each.text}" for each in state.findings if not each.verdict][-12:]
    story = [f"{part.first}-{part.last} {part.text}" for part in state.story[-6:]]
    schedule = [f"{each.name} (due {each.due}, expires {each.expires}) {each.text}" for each in state.schedule.values()]
    facts = [f"{each.depth}: {each.text}" for each in facts_of(replay(view), view.language) if each.weight >= EVENT]
    for label, found in (
        (words.known, findings),
        (words.story, story),
        (words.schedule, schedule),
        (words.facts, facts[-30:]),
    ):
        if found:
            lines += [label, _quoted("\n".join(found))]
    lines += [*extra, words.turns]
    room = LIMIT - _FRAME - count(words.task) - count(words.answer) - count("\n".join(lines))
    each = max(_LEAST, room // max(1, len(view.turns)) - _USER - 12)
    told = []
    for turn in view.turns:
        user, reply = cut_middle(turn.user, _USER, count), cut_middle(turn.reply, each, count)
        told += [f"[{turn.depth}]", _quoted(f"> {user}" if user else ""), _quoted(reply)]
    lines.append(cut_middle("\n".join(line for line in told if line), max(0, room), count))
    return "\n".join(lines)


def _brief(state: WorldState) -> list[str]:
    player = state.entities.get(state.player)
    lines = []
    if player is not None:
        place = f", {state.name(state.location)}" if state.location else ""
        lines.append(f"{player.name}{place}, HP {player.get('hp')}/{player.get('max_hp')}")
        lines.append(", ".join(state.name(item) for item in state.belongings.get(state.player, {})))
    lines.append(", ".join(state.name(who) for who in state.present))
    people = [each.name + (" (dead)" if each.dead else "") for each in state.of_kind(Kind.CHARACTER)][-_NAMES:]
    lines.append(", ".join(people))
    lines += [
        f"{state.name(source)} -> {state.name(target)}: {relation.type} {relation.strength:+d}"
        for (source, target), relation in list(state.relations.items())[-12:]
    ]
    return [line for line in lines if line.strip()]
