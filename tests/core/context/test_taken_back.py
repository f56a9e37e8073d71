"""What was marked as untrue is told nowhere as true, and the narrator is told that it is not."""

from __future__ import annotations

import pytest

from saga_core import Saga
from saga_core.config import load_config
from saga_core.context.model import labels
from saga_core.context.sources import _changes
from saga_core.model import MAX_NOTES, Delta, WorldState, deltas, fold
from tests.core.frontend import MEMORY, Frontend

FULL = range(1, MAX_NOTES + 1)


def noted(state: WorldState, turns: range, *taken_back: int) -> WorldState:
    for depth in turns:
        state = fold(state, Delta((deltas.Noted(f"note {depth}"),)), turn=f"t{depth}", depth=depth)
    events = tuple(deltas.Unnoted(depth, f"note {depth}") for depth in taken_back)
    return fold(state, Delta(events), turn=state.turn, depth=state.depth)


@pytest.mark.parametrize(
    ("pages", "since", "untrue"),
    [
        (range(1, 4), range(4, 6), ()),
        (range(1, 4), range(4, 4), (2,)),
        (range(1, 4), range(4, 5), (1,)),
        (FULL, range(MAX_NOTES + 1, MAX_NOTES + 4), ()),
        (FULL, range(MAX_NOTES + 1, MAX_NOTES + 4), (9,)),
        (FULL, range(40, 40 + MAX_NOTES), ()),
        # The pages never had one that came after them.
        (FULL, range(MAX_NOTES + 1, MAX_NOTES + 6), (20,)),
    ],
)
def test_only_what_was_taken_back_is_not_true(pages: range, since: range, untrue: tuple[int, ...]) -> None:
    old = noted(WorldState(turn="t", player="p"), pages)
    told = [text for _, text in _changes(old, noted(old, since, *untrue), labels("en"))]
    assert told == [f'not true: "note {depth}"' for depth in untrue if depth in pages]


@pytest.mark.parametrize(
    ("language", "event", "other", "told", "was"),
    [
        (
            "en",
            "The bridge at Karn has fallen",
            "The mill burns",
            'not true: "The bridge at Karn has fallen"',
            "event: The bridge at Karn",
        ),
        ("ko", "카른 다리가 무너졌다", "방앗간이 불탄다", '사실 아님: "카른 다리가 무너졌다"', "사건: 카른 다리가"),
    ],
)
async def test_an_event_that_is_not_true_is_told_nowhere_as_true(
    language: str, event: str, other: str, told: str, was: str
) -> None:
    config = load_config({**MEMORY, "session": {}, "curator": {"interval": 4}})
    async with Saga.open(config) as saga:
        greeting, system = {
            "en": ("Mara counts the soldiers that pass below the inn.", "Tell the story of Mara, an innkeeper."),
            "ko": ("마라가 여관 아래를 지나는 병사들을 센다.", "여관 주인 마라의 이야기를 들려준다."),
        }[language]
        chat = Frontend(saga, session="inn", greeting=greeting, system=system)
        for number in range(1, 13):
            said, answer = {
                "en": (f"I wait for hour {number}.", f"Mara does the {number}th chore while the wind moves about."),
                "ko": (f"{number}시까지 기다린다.", f"마라가 {number}번째 일을 하고 바람이 분다."),
            }[language]
            fields = {2: {"event_trigger": event}, 3: {"event_trigger": other}}.get(number, {})
            await chat.say(said, answer, location="the inn", **fields)
            chat.history = chat.history[-6:]
            await saga.drain(10)
        asks = {"en": f"I ask whether it is so: {event}?", "ko": f"정말이냐고 묻는다: {event}?"}[language]
        before = await chat.begin(asks)
        assert event in before.context.pages and was in before.context.text
        line = next(each for each in (await saga.memory.lines("inn"))["lines"] if each["text"] == event)

        await saga.memory.correct("inn", "forget", {"who": line["subject_id"]})
        after = await chat.begin(asks)
        shown = after.context.text
        assert told in shown.split("[", 2)[2].split("\n- ")[0], "under what has changed"
        assert was not in shown and f"- {event}" not in shown and other in f"{shown}{after.context.pages}"
        assert told in next(each for each in shown.splitlines() if each.startswith(("- (turn 2)", "- (2턴)"))), shown
        await saga.drain(10)
        story = (await saga.views.pages("inn"))[0].files["story.md"]
        assert event not in story and other in story
        assert all(told in row["text"] for row in await saga.views.search(event, session_id="inn") if row["depth"] == 2)
