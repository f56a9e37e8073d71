"""Generated plays over many days, for the recall benchmark.

The same things happen again and again. The questions ask what happened yesterday, some days ago, the last time, or at a
first meeting.
"""

from __future__ import annotations

import random
from collections.abc import Mapping

from attrs import evolve, frozen

from saga_core.context import ReadRequest
from saga_core.extraction import mention_event, read_delta
from saga_core.model import fold
from saga_core.ports import Embedder
from saga_core.projection import render_episode
from saga_core.recall import LoreIndex, PathEpisodes
from saga_core.state_block import read_reply
from saga_core.world import opening_state
from tests.bench.recall.chats import filled
from tests.bench.recall.stage import Case, Evidence, Stage
from tests.bench.story.cast import make_cast, make_world
from tests.bench.story.storyteller import Storyteller

TURNS = 240
_ENTITIES, _LORE = 40, 20
_PEOPLE = 5
"""Characters with habits; none is known at the beginning."""
_OFTEN = 0.6
_A_DAY = (8, 14)
"""The fewest and the most turns of a day."""
_SHOWN = 4


@frozen
class _Habit:
    """What a character does on many days, each time with another thing."""

    sentence: str
    question: str
    things: tuple[str, ...]


def _habit(sentence: str, question: str, things: str) -> _Habit:
    return _Habit(sentence, question, tuple(things.split(", ")))


_EN = (
    _habit(
        "{a} hands you {thing} and says to keep it close.",
        "What did {a} hand me {when}?",
        "a brass thimble, a red ribbon, a dried fig, a bent nail, a glass bead, an owl feather, a fish hook, "
        "a clay whistle, a wax seal, a tin spoon, a blue shell, a horse tooth",
    ),
    _habit(
        "{a} hums a song about {thing} and will not sing it aloud.",
        "What was {a}'s song about {when}?",
        "a drowned bell, two blind kings, a mill on fire, the salt road, a widow's goat, seven geese, a lame smith, "
        "the long frost, a stolen bride, a paper ship, the miller's ghost, an empty cradle",
    ),
    _habit(
        "For supper there is {thing}, and {a} eats little of it.",
        "What did {a} leave of supper {when}?",
        "barley soup, smoked eel, turnip pie, goat cheese, black bread, pickled plums, fried trout, onion stew, "
        "honey cakes, bean porridge, roast hare, cabbage rolls",
    ),
)
_KO = (
    _habit(
        "{a:이/가} {thing:을/를} 건네며 꼭 지니라고 한다.",
        "{when} {a:이/가} 나한테 뭘 건넸지?",
        "놋쇠 골무, 붉은 끈, 말린 무화과, 굽은 못, 유리구슬, 부엉이 깃털, 낚싯바늘, 흙 피리, 밀랍 인장, "
        "양철 숟가락, 파란 조개, 말의 이빨",
    ),
    _habit(
        "{a:이/가} {thing}에 대한 노래를 흥얼거리지만 소리 내어 부르지는 않는다.",
        "{when} {a:이/가} 흥얼거린 노래는 무슨 노래였지?",
        "물에 잠긴 종, 눈먼 두 왕, 불타는 방앗간, 소금길, 과부의 염소, 거위 일곱 마리, 절름발이 대장장이, "
        "긴 서리, 빼앗긴 신부, 종이배, 방앗간 유령, 빈 요람",
    ),
    _habit(
        "저녁으로 {thing:이/가} 나왔는데 {a:은/는} 거의 먹지 않는다.",
        "{when} 저녁에 {a:이/가} 남긴 음식이 뭐였지?",
        "보리죽, 훈제 장어, 순무 파이, 염소 치즈, 검은 빵, 자두 절임, 송어 튀김, 양파 스튜, 꿀떡, 콩죽, "
        "토끼 구이, 양배추 쌈",
    ),
)
_HABITS = {"en": _EN, "ko": _KO}
_NEW_DAY = {
    "en": (
        "The next morning the air is cold.",
        "Morning comes grey and slow.",
        "At dawn somebody is already up.",
        "The following day begins with rain.",
    ),
    "ko": (
        "다음 날 아침, 공기가 차갑다.",
        "이튿날, 하늘이 흐리다.",
        "날이 밝자 누군가 벌써 일어나 있다.",
        "아침이 밝았지만 길은 젖어 있다.",
    ),
}
_WHEN: Mapping[str, Mapping[int, tuple[str, ...]]] = {
    "en": {
        1: ("yesterday", "the day before this one, yesterday"),
        2: ("the day before yesterday", "two days ago"),
        3: ("three days ago", "3 days ago"),
        7: ("a week ago", "last week"),
    },
    "ko": {
        1: ("어제", "어제 낮에"),
        2: ("그저께", "이틀 전에"),
        3: ("사흘 전에", "3일 전에"),
        7: ("일주일 전에", "지난주에"),
    },
}
_LAST = {"en": "the last time", "ko": "지난번에"}
_FIRST = {"en": "when we first met", "ko": "처음 만났을 때"}


async def stage_times(language: str, seed: int, embedder: Embedder) -> Stage:
    """A play of 240 turns over about twenty days, with questions about what happened when."""
    dice = random.Random(f"times {language} {seed}")
    cast_ = make_cast(language, _ENTITIES, _LORE, seed)
    world = make_world(cast_, language, _LORE, seed)
    index, teller = LoreIndex(world.lore), Storyteller(cast_, language, TURNS, seed)
    stage, state = Stage(f"times-{language}-{seed}"), opening_state(world, "root")
    habits, strangers = _HABITS[language], cast_.known[0]
    people = cast_.characters[strangers : strangers + _PEOPLE]
    days = _days(dice)
    told: dict[tuple[str, int, int], tuple[str, str, str]] = {}
    """Maps (character, habit, day) to the turn, its sentence and its thing. A habit is told at most once a day."""
    met: dict[str, tuple[int, str, str, str]] = {}
    parent = last = "root"
    for number in range(1, TURNS + 1):
        turn, reply = f"t{number:04}", teller.next()
        day = days[number]
        entering = [who for who in people if who in reply.fields.npc_met and who not in met]
        who = entering[0] if entering else dice.choice(list(met)) if met and dice.random() < _OFTEN else ""
        which, sentences = dice.randrange(len(habits)), []
        if who and (who, which, day) not in told:
            habit = habits[which]
            thing = dice.choice(habit.things)
            sentences.append(filled(habit.sentence, {"a": who, "thing": thing}))
            told[who, which, day] = (turn, sentences[0], thing)
            met.setdefault(who, (which, turn, sentences[0], thing))
        opening = f"{dice.choice(_NEW_DAY[language])} " if number > 1 and day > days[number - 1] else ""
        before, _, after = reply.reply.partition("\n\n")
        text = opening + " ".join([before, *sentences]) + (f"\n\n{after}" if after else "")
        reply = evolve(reply, reply=text)
        read = read_delta(read_reply(reply.raw), state)
        named = index.mentioned_in(f"{reply.words}\n{reply.reply}")
        delta = evolve(read, events=read.events + mention_event(named))
        state = fold(state, delta, turn=turn, depth=number)
        episode = render_episode(delta, state, reply.words, reply.reply, language)
        stage.add(turn, parent, episode, said=(reply.words, reply.reply))
        parent, last = turn, reply.reply
    await stage.embed(embedder, world)
    shown = frozenset(f"t{number:04}" for number in range(TURNS - _SHOWN + 1, TURNS + 1))
    base = ReadRequest(
        session=stage.id,
        state=state,
        world=world,
        lore=index,
        player_words="",
        language=language,
        episodes=PathEpisodes(stage.tree, stage.index, parent),
        shown=shown,
    )

    def ask(which: int, who: str, when: str, turn: str, sentence: str, thing: str, group: str) -> None:
        if turn not in shown:
            words = filled(habits[which].question, {"a": who, "when": when})
            request = evolve(base, player_words=words, recent=(last, words))
            stage.cases.append(Case(request, (Evidence(turn, sentence),), group, thing))

    for (who, which, day), line in told.items():
        ago = days[TURNS] - day
        if ago in _WHEN[language]:
            ask(which, who, dice.choice(_WHEN[language][ago]), *line, "days ago")
    latest: dict[tuple[str, int], list[tuple[str, str, str]]] = {}
    for (who, which, _), line in told.items():
        latest.setdefault((who, which), []).append(line)
    for (who, which), lines in latest.items():
        if len(lines) > 1:
            ask(which, who, _LAST[language], *lines[-1], "last time")
    for who, (which, turn, sentence, thing) in met.items():
        ask(which, who, _FIRST[language], turn, sentence, thing, "first meeting")
    return stage


def _days(dice: random.Random) -> list[int]:
    """The day of each turn, by its number."""
    found = [0]
    day = 0
    while len(found) <= TURNS:
        found += [day] * dice.randint(*_A_DAY)
        day += 1
    return found[: TURNS + 1]
