"""Generated plays for the recall benchmark.

A play has hundreds of turns of role-play with matters that are asked about later, things that move, characters who
change their names, and places that the player returns to.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from attrs import define, evolve, field

from saga_core.context import ReadRequest
from saga_core.extraction import mention_event, read_delta
from saga_core.model import Delta, Kind, WorldState, deltas, fold
from saga_core.ports import Embedder
from saga_core.projection import LoreGraph, render_episode, render_graph
from saga_core.recall import LoreIndex, PathEpisodes
from saga_core.state_block import read_reply
from saga_core.world import opening_state
from tests.bench.recall.chats import filled, slots_for
from tests.bench.recall.stage import Case, Evidence, Stage
from tests.bench.recall.wording import PLAY_EN, PLAY_KO, Matter
from tests.bench.story.cast import Word, make_cast, make_world
from tests.bench.story.storyteller import Storyteller, Told

TURNS = 240
_ENTITIES, _LORE = 70, 60
_ASKED_ABOUT = 12
"""Characters who have matters of their own. Each has most of the kinds."""
_MOVED, _RENAMED, _OFTEN = 0.5, 0.15, 0.6
_SHOWN = 6
"""Turns at the end that the history shows."""
_OPENING_WORDS = 60
_RETURN = {
    "en": "I walk back to {place} and look around.",
    "ko": "{place:으로/로} 돌아가 주위를 둘러본다.",
}
_NEW_NAME = {
    "en": "From this day on {old} is called {new}.",
    "ko": "그날부터 사람들은 {old:을/를} {new:이라고/라고} 부른다.",
}


@define
class _Planted:
    """A matter in a play: the sentence that tells it, its question and the answer."""

    who: str
    sentence: str
    question: str
    group: str
    answer: str
    turn: str = ""


@define
class _Play:
    """A play while it is generated."""

    language: str
    seed: int
    dice: random.Random
    teller: Storyteller
    stage: Stage
    state: WorldState
    planted: list[_Planted] = field(factory=list)
    plan: dict[int, list[_Planted]] = field(factory=dict)
    renamed: dict[str, str] = field(factory=dict)
    """New names by old name."""


async def stage_play(language: str, seed: int, embedder: Embedder) -> Stage:
    """A play of 240 turns, with a question for each planted matter and for each place to return to."""
    dice = random.Random(f"play {language} {seed}")
    cast_ = make_cast(language, _ENTITIES, _LORE, seed)
    world = make_world(cast_, language, _LORE, seed)
    index = LoreIndex(world.lore)
    stage = Stage(f"play-{language}-{seed}")
    play = _Play(language, seed, dice, Storyteller(cast_, language, TURNS, seed), stage, opening_state(world, "root"))
    _plan(play, cast_.characters[1:], cast_.places)
    parent = "root"
    last = ""
    for number in range(1, TURNS + 1):
        told = _tell(play, number)
        turn = f"t{number:04}"
        delta = _delta(play, told, number, index)
        play.state = fold(play.state, delta, turn=turn, depth=number)
        episode = render_episode(delta, play.state, told.words, told.reply, language)
        for each in play.plan.get(number, ()):
            each.turn = turn
        stage.add(turn, parent, episode, said=(told.words, told.reply))
        parent, last = turn, told.reply
    await stage.embed(embedder, world)
    shown = frozenset(f"t{number:04}" for number in range(TURNS - _SHOWN + 1, TURNS + 1))
    base = ReadRequest(
        session=stage.id,
        state=play.state,
        world=world,
        lore=index,
        player_words="",
        language=language,
        episodes=PathEpisodes(stage.tree, stage.index, parent),
        shown=shown,
        graph=render_graph(play.state, world, lore=LoreGraph.of(world)),
    )
    for each in play.planted:
        if each.turn and each.turn not in shown:
            request = evolve(base, player_words=each.question, recent=(last, each.question))
            stage.cases.append(Case(request, (Evidence(each.turn, each.sentence),), each.group, each.answer))
    for entry in world.lore:
        if entry.type == "location" and not entry.secret:
            words = filled(_RETURN[language], {"place": entry.name})
            request = evolve(base, player_words=words, recent=(last, words))
            stage.cases.append(Case(request, (Evidence(words=entry.text[:_OPENING_WORDS]),), "return"))
    return stage


def _plan(play: _Play, characters: Sequence[str], places: Sequence[str]) -> None:
    """Plan when each matter comes up. A moved thing is told twice, and only its present place is the answer."""
    dice, language = play.dice, play.language
    matters = PLAY_EN if language == "en" else PLAY_KO
    for who in characters[:_ASKED_ABOUT]:
        for matter in matters:
            if dice.random() > _OFTEN:
                continue
            slots = {**slots_for(language, dice, who, ""), "place": dice.choice(places)}
            _put(play, matter, slots, dice.randint(5, TURNS * 3 // 4))
            if matter.group == "hidden" and dice.random() < _MOVED:
                play.planted.pop()
                spot = slots_for(language, dice, who, "")["spot"]
                _put(play, matter, {**slots, "spot": spot}, dice.randint(TURNS * 3 // 4 + 1, TURNS - _SHOWN - 1))
                play.planted[-1].group = "moved"
    for who in characters[:_ASKED_ABOUT]:
        about = [each for each in play.planted if each.who == who]
        if dice.random() < _RENAMED and about:
            new = _fresh_name(play, who)
            play.renamed[who] = new
            for each in about:
                # The matter is told with the old name, and asked about with the new one.
                each.question = each.question.replace(who, new)
                each.group = "renamed"


def _put(play: _Play, matter: Matter, slots: dict[str, str], number: int) -> None:
    sentence = filled(matter.lines[0].lstrip("*"), slots)
    asked = play.dice.choice(matter.questions)
    answer = filled(matter.answer_to(asked, play.language), slots)
    planted = _Planted(slots["a"], sentence, filled(asked, slots), matter.group, answer)
    play.planted.append(planted)
    play.plan.setdefault(number, []).append(planted)


def _fresh_name(play: _Play, who: str) -> str:
    syllables = play.dice.sample(("ka", "ro", "min", "del", "su", "var", "en"), 3)
    korean = play.dice.sample(("가", "로", "민", "델", "수", "발", "은"), 3)
    return "".join(korean) if play.language == "ko" else "".join(syllables).capitalize()


def _tell(play: _Play, number: int) -> Told:
    """The next turn, with the sentences planned for it in its reply."""
    told = play.teller.next()
    sentences = [each.sentence for each in play.plan.get(number, ())]
    if number == TURNS - _SHOWN:
        sentences += [
            _NEW_NAME[play.language].format_map({"old": Word(old), "new": Word(new)})
            for old, new in play.renamed.items()
        ]
    if not sentences:
        return told
    before, _, after = told.reply.partition("\n\n")
    return evolve(told, reply=" ".join([before, *sentences]) + (f"\n\n{after}" if after else ""))


def _delta(play: _Play, told: Told, number: int, index: LoreIndex) -> Delta:
    read = read_delta(read_reply(told.raw), play.state)
    named = index.mentioned_in(f"{told.words}\n{told.reply}")
    events = read.events + mention_event(named)
    if number == TURNS - _SHOWN:
        known = {entity.name: id_ for id_, entity in play.state.entities.items() if entity.kind is Kind.CHARACTER}
        events += tuple(deltas.Renamed(known[old], new) for old, new in play.renamed.items() if old in known)
    return evolve(read, events=events)
