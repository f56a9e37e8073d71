"""A world with ten trackers of all kinds in four languages: sixty turns, a third of the blocks malformed, with swipes
and branches. Ninety-nine values of a hundred are right at every turn."""

from __future__ import annotations

import json
import random
import re
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from saga_core import Saga
from saga_core.config import load_config
from tests.core.frontend import Frontend

MINA = {"en": "Mina", "ko": "미나", "ja": "ミナ", "zh": "米娜"}
WORDS = {"en": "I go on", "ko": "나는 계속 걷는다", "ja": "先へ進む", "zh": "我继续走"}
REPLY = {"en": "She nods", "ko": "그녀가 고개를 끄덕인다", "ja": "彼女はうなずく", "zh": "她点了点头"}
NAMES = {
    "en": ("gold", "steps", "purse", "weather", "outfit", "cursed", "clues", "time", "affection", "trust"),
    "ko": ("금화", "걸음", "지갑", "날씨", "옷차림", "저주", "단서", "시각", "호감", "신뢰"),
    "ja": ("金貨", "歩数", "財布", "天気", "服装", "呪い", "手がかり", "時刻", "好意", "信頼"),
    "zh": ("金币", "步数", "钱包", "天气", "衣着", "诅咒", "线索", "时间", "好感", "信任"),
}


def declared(language: str) -> dict[str, dict[str, Any]]:
    gold, steps, purse, weather, outfit, cursed, clues, time, affection, trust = NAMES[language]
    return {
        gold: {"range": "0..500", "start": 50},
        steps: {"kind": "counter", "start": 0},
        purse: {"kind": "money", "steps": "copper, 10 silver", "start": "5 silver"},
        weather: {"kind": "choice", "for": "world", "steps": "clear, rain, storm", "start": "clear"},
        outfit: {"kind": "text", "for": "character"},
        cursed: {"kind": "flag", "start": "no"},
        clues: {"kind": "list"},
        time: {"kind": "clock", "start": "Monday 08:00"},
        affection: {"kind": "meter"},
        trust: {"kind": "meter", "range": "0..100"},
    }


class Truth:
    """What is so, by a model that shares no code with SAGA."""

    def __init__(self, language: str, rng: random.Random) -> None:
        self.language, self.rng, self.names = language, rng, NAMES[language]
        start: dict[str, Any] = dict(
            zip(self.names, (50, 0, 50, "clear", None, False, (), 480, None, None), strict=True)
        )
        self.values = start

    def step(self) -> dict[str, Any]:
        """Move some of the values, and return what a narrator reports of it."""
        gold, steps, purse, weather, outfit, cursed, clues, time, affection, _ = self.names
        rng, now, said = self.rng, self.values, {}
        mina = MINA[self.language]
        for name in rng.sample(self.names, rng.randint(2, 6)):
            by = rng.randint(1, 9)
            if name == gold:
                if rng.random() < 0.5:
                    by *= rng.choice((1, -1))
                    now[gold] = max(0, min(500, now[gold] + by))
                    said[gold] = f"{by:+d}"
                else:
                    now[gold] = rng.randint(0, 500)
                    said[gold] = str(now[gold])
            elif name == steps:
                now[steps] += by
                said[steps] = f"+{by}"
            elif name == purse:
                now[purse] += 10 * by + 3
                said[purse] = f"+{by} silver 3 copper"
            elif name == weather:
                now[weather] = said[weather] = rng.choice(("clear", "rain", "storm"))
            elif name == outfit:
                now[outfit] = rng.choice(("red coat", "grey cloak", "school uniform"))
                said[outfit] = {mina: now[outfit]}
            elif name == cursed:
                now[cursed] = rng.random() < 0.5
                said[cursed] = "true" if now[cursed] else "false"
            elif name == clues:
                thing = rng.choice(("key", "letter", "map", "ring"))
                if thing in now[clues] and rng.random() < 0.5:
                    now[clues] = tuple(each for each in now[clues] if each != thing)
                    said[clues] = [f"-{thing}"]
                else:
                    now[clues] = (
                        (*(each for each in now[clues] if each != thing), thing)
                        if thing not in now[clues]
                        else now[clues]
                    )
                    said[clues] = [f"+{thing}"]
            elif name == time:
                now[time] += 60 * by
                said[time] = f"+{by}h"
            else:
                low = -100 if name == affection else 0
                by *= rng.choice((1, 1, -1))
                now[name] = max(low, min(100, (now[name] or 0) + by))
                said[name] = {mina: f"{by:+d}"}
        return said


def line(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {each}" for key, each in value.items()) + "}"
    return "[" + ", ".join(value) + "]" if isinstance(value, list) else str(value)


USUAL = {"location": "null", "hp_change": "0", "items_gained": [], "items_lost": [], "npc_met": []}


def whole(said: dict[str, Any], mina: str) -> dict[str, Any]:
    """A report with the fields that every form has."""
    return {**USUAL, "present": [mina], **said, "notes": "null"}


def well_formed(said: dict[str, Any], mina: str) -> str:
    rows = (f"{name}: {line(value)}" for name, value in whole(said, mina).items())
    return "```state\n" + "\n".join(rows) + "\n```"


def as_json(said: dict[str, Any], mina: str) -> str:
    return "```json\n" + json.dumps(whole(said, mina), ensure_ascii=False, indent=1) + "\n```"


def with_bullets(said: dict[str, Any], mina: str) -> str:
    return re.sub(r"(?m)^(?=\w)", "- ", well_formed(said, mina))


def with_bold_keys(said: dict[str, Any], mina: str) -> str:
    return re.sub(r"(?m)^(\w+): ", r"**\1:** ", well_formed(said, mina))


def nested(said: dict[str, Any], mina: str) -> str:
    rows = []
    for name, value in whole(said, mina).items():
        if isinstance(value, dict):
            rows.append(f"{name}:\n" + "\n".join(f"  {key}: {each}" for key, each in value.items()))
        elif isinstance(value, list) and value:
            rows.append(f"{name}:\n" + "\n".join(f"  - {each}" for each in value))
        else:
            rows.append(f"{name}: {line(value)}")
    return "```state\n" + "\n".join(rows) + "\n```"


def without_end(said: dict[str, Any], mina: str) -> str:
    return well_formed(said, mina).removesuffix("\n```")


def with_wide_colons(said: dict[str, Any], mina: str) -> str:
    return re.sub(r"(?m)^(\w+): ", r"\1： ", well_formed(said, mina))


def in_capitals(said: dict[str, Any], mina: str) -> str:
    return re.sub(r"(?m)^(\w+): ", lambda key: f"{key[1].title()}: ", well_formed(said, mina))


def with_remarks(said: dict[str, Any], mina: str) -> str:
    return re.sub(r"(?m)^(\w+): ([+\-]?\d+)$", r"\1: \2 (as told)", well_formed(said, mina))


def in_a_table(said: dict[str, Any], mina: str) -> str:
    rows = (f"| {name} | {line(value)} |" for name, value in whole(said, mina).items())
    return "```state\n| field | value |\n| --- | --- |\n" + "\n".join(rows) + "\n```"


def in_tags(said: dict[str, Any], mina: str) -> str:
    rows = (f"<{name}>{line(value)}</{name}>" for name, value in whole(said, mina).items())
    return "```state\n" + "\n".join(rows) + "\n```"


def in_one_line(said: dict[str, Any], mina: str) -> str:
    return "```state\n" + " | ".join(f"{name}: {line(value)}" for name, value in whole(said, mina).items()) + "\n```"


def without_brackets(said: dict[str, Any], mina: str) -> str:
    return re.sub(r"[{}]", "", well_formed(said, mina))


def without_fence(said: dict[str, Any], mina: str) -> str:
    return well_formed(said, mina).strip("`\n")


def with_unknown_keys(said: dict[str, Any], mina: str) -> str:
    return well_formed(said, mina).replace("notes: null", "karma: 3\nnotes: null")


BROKEN: tuple[Callable[[dict[str, Any], str], str], ...] = (
    as_json,
    with_bullets,
    with_bold_keys,
    nested,
    without_end,
    with_wide_colons,
    in_capitals,
    with_remarks,
    in_a_table,
    in_tags,
    in_one_line,
    without_brackets,
    without_fence,
    with_unknown_keys,
)


def comparable(value: Any) -> Any:
    """A value in which nothing known and an empty list are one."""
    return None if value in ((), []) else tuple(value) if isinstance(value, list) else value


@pytest.fixture(params=sorted(NAMES))
async def language(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
async def saga(language: str) -> AsyncIterator[Saga]:
    config = {"storage": {"profile": "memory"}, "trackers": declared(language)}
    async with Saga.open(load_config(config)) as opened:
        yield opened


async def test_sixty_turns_keep_their_values(saga: Saga, language: str) -> None:
    rng = random.Random(44)
    chat = Frontend(saga, greeting="…", system="You narrate.", note="")
    truth = Truth(language, rng)
    right = asked = broken = 0
    kept: list[tuple[int, dict[str, Any]]] = []
    for number in range(1, 61):
        if number in (20, 40):  # back by five turns, to another branch
            (length, values) = kept[-6]
            del chat.history[length:]
            truth.values = dict(values)
        before = dict(truth.values)
        words = f"{WORDS[language]} {number}."
        swiped = rng.random() < 0.2
        for attempt in range(2 if swiped else 1):
            truth.values = dict(before)
            said = truth.step()
            form = rng.choice(BROKEN) if rng.random() < 0.3 else well_formed
            broken += form is not well_formed
            turn = await chat.begin(words)
            turn.replies[0].feed(f"{REPLY[language]} {number}, {attempt}.\n\n{form(said, MINA[language])}")
            (recorded,) = await turn.commit()
        kept.append((len(chat.history), before))
        chat.history += [{"role": "user", "content": words}, {"role": "assistant", "content": recorded.reply}]
        rows = (await saga.views.describe(turn.session.id, recorded.id))["trackers"]
        found = {row["name"]: row["value"] for row in rows if row["who"] in (None, MINA[language]) or row["to"] is None}
        for name, value in truth.values.items():
            asked += 1
            got = found.get(name)
            right += comparable(got) == comparable(value)
    assert broken >= 15
    assert right >= 0.99 * asked, f"{right} of {asked}"
