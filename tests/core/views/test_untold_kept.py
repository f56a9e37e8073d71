"""Why a text was told or not, of what no turn says: remarks, lore that play added, events to come, the world."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from saga_core import Saga
from tests.core.frontend import Frontend, memory_config

LANGUAGES = ("en", "ko")
WORLDS = {"en": "harrow", "ko": "ersia"}
STEP = {
    "en": ("I row on, stroke {n}.", "Water, fog, stroke {n}."),
    "ko": ("{n}번째 노를 젓는다.", "물과 안개뿐이다. {n}번째."),
}
HARD = {"en": "stroke {n} was hard", "ko": "{n}번째 노가 무거웠다"}
RULE = {"en": "Silver is not spent after dark.", "ko": "죽은 사람은 돌아오지 않는다. 상처는 약과 시간으로만 낫는다."}
REMARK = {
    "en": "Perrin is left-handed and hides it in company.",
    "ko": "서린은 어릴 때 물에 빠진 적이 있어 배를 무서워한다.",
}
OTHER = {"en": "Mabel sold the copper whistle for soup.", "ko": "무진이 구리 피리를 팔아 국밥을 샀다."}
LORE = {
    "en": ("The Causeway", "The causeway was closed by two magistrates in striped stockings."),
    "ko": ("우물 축제", "올해 축제는 줄무늬 버선을 신은 관리 둘이 금지했다."),
}
EVENT = {
    "en": {"name": "The inspector", "text": "A toll inspector named Godfrey comes aboard.", "due": "3", "expires": "5"},
    "ko": {"name": "감찰관", "text": "감찰관 고두만이 배에 오른다.", "due": "3", "expires": "5"},
}


@pytest.fixture(params=LANGUAGES)
def language(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
async def saga(language: str) -> AsyncIterator[Saga]:
    async with Saga.open(memory_config(default_world=WORLDS[language])) as opened:
        yield opened


def a_chat(saga: Saga, language: str) -> Frontend:
    systems = {"en": "You tell a story.", "ko": "너는 이야기꾼이다."}
    return Frontend(saga, session="길", system=systems[language], greeting="", note="")


async def row_on(chat: Frontend, language: str, numbers: range, **fields: Any) -> None:
    words, reply = STEP[language]
    for number in numbers:
        filled = {name: value.format(n=number) for name, value in fields.items()}
        await chat.say(words.format(n=number), reply.format(n=number), **filled)
        chat.history = chat.history[-4:]


async def found(saga: Saga, text: str, turn: str | None = None) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = (await saga.views.why_untold("길", text, turn))["found"]
    return rows


async def first(saga: Saga, text: str, turn: str | None = None) -> tuple[str, str, int | None]:
    row, *_ = await found(saga, text, turn)
    assert row["verbatim"], row
    return row["kind"], row["reason"], row.get("turn")


async def test_remarks_are_found_however_long_ago_they_were_made(saga: Saga, language: str) -> None:
    chat = a_chat(saga, language)
    await row_on(chat, language, range(1, 3))
    await saga.memory.correct("길", "note", {"text": REMARK[language]})
    await row_on(chat, language, range(3, 4), notes=OTHER[language])
    await row_on(chat, language, range(4, 24), notes=HARD[language])
    notes = [text for _, text in (await saga.views.state("길")).notes]
    assert REMARK[language] not in notes and OTHER[language] not in notes
    assert await first(saga, REMARK[language]) in [("note", "no_signal", 2), ("page", "in_front", None)]
    assert await first(saga, OTHER[language]) in [("note", "no_signal", 3), ("page", "in_front", None)]
    assert await first(saga, REMARK[language], "1") == ("note", "later", 2)
    assert await first(saga, OTHER[language], "3") == ("note", "later", 3)


async def test_remarks_of_swiped_replies_and_of_branches_are_said_to_stand_there(saga: Saga, language: str) -> None:
    chat = a_chat(saga, language)
    await row_on(chat, language, range(1, 4))
    words, reply = STEP[language]
    await chat.say(words.format(n=4), "…", notes=REMARK[language])
    await chat.swipe(reply.format(n=4))
    kept = list(chat.history)
    assert await first(saga, REMARK[language]) == ("note", "swiped", 4)
    await chat.say({"en": "I turn back at once.", "ko": "곧장 뱃머리를 돌린다."}[language], "…", notes=OTHER[language])
    chat.history = kept
    await row_on(chat, language, range(5, 7))
    assert await first(saga, OTHER[language]) == ("note", "elsewhere", 5)


async def test_a_remark_is_not_told_and_untold_at_once(saga: Saga, language: str) -> None:
    chat = a_chat(saga, language)
    await row_on(chat, language, range(1, 4))
    await saga.memory.correct("길", "note", {"text": REMARK[language]})
    await row_on(chat, language, range(4, 5))
    reasons = [(row["kind"], row["reason"]) for row in await found(saga, REMARK[language])]
    assert [reason for _, reason in reasons] == ["told"], reasons


async def test_a_remark_that_was_taken_back_is_known_no_more(saga: Saga, language: str) -> None:
    chat = a_chat(saga, language)
    await row_on(chat, language, range(1, 3), notes=REMARK[language])
    await row_on(chat, language, range(3, 6))
    assert (await found(saga, REMARK[language]))[0]["share"] == 1.0
    for _ in range(2):
        await saga.memory.correct("길", "unnote", {"remark": REMARK[language]})
    await row_on(chat, language, range(6, 7))
    saga.views.contexts.clear()
    assert [row for row in await found(saga, REMARK[language]) if row["kind"] == "note"] == []


async def test_an_event_to_come_waits_or_is_over(saga: Saga, language: str) -> None:
    chat = a_chat(saga, language)
    await row_on(chat, language, range(1, 2))
    await saga.memory.correct("길", "event", EVENT[language])
    await row_on(chat, language, range(2, 9))
    text = EVENT[language]["text"]
    answers = {turn: (await found(saga, text, str(turn)))[0] for turn in (1, 2, 4, 6, 8)}
    assert {turn: row["reason"] for turn, row in answers.items()} == {
        1: "later", 2: "not_due", 4: "told", 6: "over", 8: "over",
    }  # fmt: skip
    assert answers[2]["waits"] == {"time": None, "turn": 3, "place": None, "who": None}
    assert answers[6]["until"] == 5


async def test_an_event_says_for_which_place_and_person_it_waits(saga: Saga, language: str) -> None:
    chat = a_chat(saga, language)
    await row_on(chat, language, range(1, 2))
    place = {"en": "The Causeway", "ko": "고대 유적"}[language]
    who = {"en": "Dorcas Quill", "ko": "에르겐"}[language]
    fields = {"name": EVENT[language]["name"], "text": EVENT[language]["text"], "place": place, "who": who}
    await saga.memory.correct("길", "event", fields)
    await row_on(chat, language, range(2, 3))
    row, *_ = await found(saga, EVENT[language]["text"])
    assert (row["reason"], row["waits"]) == ("not_due", {"time": None, "turn": None, "place": place, "who": who})


async def test_an_event_that_was_called_off_is_over(saga: Saga, language: str) -> None:
    chat = a_chat(saga, language)
    await row_on(chat, language, range(1, 2))
    await saga.memory.correct("길", "event", {**EVENT[language], "due": "30", "expires": "40"})
    await row_on(chat, language, range(2, 3))
    await saga.memory.correct("길", "close", {"event": EVENT[language]["name"]})
    await row_on(chat, language, range(3, 4))
    row, *_ = await found(saga, EVENT[language]["text"])
    assert (row["reason"], row["until"]) == ("over", None)


async def test_lore_that_play_added_comes_later_or_stands_elsewhere(saga: Saga, language: str) -> None:
    chat = a_chat(saga, language)
    await row_on(chat, language, range(1, 5))
    entry, text = LORE[language]
    await row_on(chat, language, range(5, 6))
    await saga.memory.correct("길", "lore", {"entry": entry, "text": text})
    assert await first(saga, text, "3") == ("lore", "later", 5)
    branch = a_chat(saga, language)
    branch.history = [
        {"role": role, "content": said.format(n=number)}
        for number in (1, 2)
        for role, said in zip(("user", "assistant"), STEP[language], strict=True)
    ]
    await branch.say({"en": "I turn back at once.", "ko": "곧장 뱃머리를 돌린다."}[language], "…")
    assert await first(saga, text) == ("lore", "elsewhere", 5)


async def test_lore_was_never_mentioned_or_too_long_ago(saga: Saga, language: str) -> None:
    chat = a_chat(saga, language)
    await row_on(chat, language, range(1, 3))
    entry, _ = LORE[language]
    lore = (await saga.views.lore("길"))["entries"]
    secret = next(each for each in lore if each["layer"] == "A4")
    fading = next(each for each in lore if each["name"] == entry)
    await chat.say({"en": f"What of {entry}?", "ko": f"{entry}는 언제 열려?"}[language], "…")
    chat.history = chat.history[-4:]
    await row_on(chat, language, range(4, 16))
    row = next(each for each in await found(saga, secret["text"][:60]) if each["kind"] == "lore")
    assert row["reason"] == "hidden"
    row = next(each for each in await found(saga, fading["text"][:60]) if each["kind"] == "lore")
    assert (row["reason"], row["mentioned"]) == ("faded", 3)


async def test_the_asked_turn_itself_reported_it(saga: Saga, language: str) -> None:
    chat = a_chat(saga, language)
    await row_on(chat, language, range(1, 3))
    event = {"en": "Isolde signs a warrant against Corwen", "ko": "무진이 장부를 벽장에 감추었다"}[language]
    await row_on(chat, language, range(3, 4), event_trigger=event, notes=REMARK[language])
    assert await first(saga, event) == ("turn", "later", 3)
    assert await first(saga, REMARK[language]) == ("note", "later", 3)


async def test_the_authors_text_of_the_world_is_told_in_every_prompt(saga: Saga, language: str) -> None:
    chat = a_chat(saga, language)
    await row_on(chat, language, range(1, 20), notes=HARD[language])
    assert await first(saga, RULE[language]) == ("world", "in_prompt", None)
    scattered = {
        "en": "gunpowder, lungs, kettle, sack",
        "ko": "마법 화약 비둘기 은화 고블린 가면 흥정 물시계",
    }[language]
    assert [row for row in await found(saga, scattered) if row["kind"] == "world"] == []
    began = {"en": "The tide stood still at noon", "ko": "어젯밤 아무도 치지 않은 순찰 종이 울렸다"}[language]
    assert await first(saga, began) in [("note", "no_signal", 0), ("page", "in_front", None)]


@pytest.mark.parametrize(
    ("kept", "asked", "other"),
    [("칼을 갈아 벽에 건다.", "칼이", "칼집을 벽에 건다."), ("종을 닦아 둔다.", "종은", "종이를 접어 둔다.")],
)
async def test_turns_with_the_noun_are_shown_and_none_that_have_its_syllable(kept: str, asked: str, other: str) -> None:
    async with Saga.open(memory_config()) as saga:
        chat = Frontend(saga, session="길", system="", greeting="", note="")
        for number in range(9):
            await chat.say(f"{number}번째로 본다.", kept if number == 2 else f"{other} 벌써 {number}번째다.")
            chat.history = chat.history[-2:]
        rows = (await saga.views.why_untold("길", asked))["found"]
        turns = {row["turn"] for row in rows if row["kind"] == "turn"}
        assert turns == {3}, [row["near"] for row in rows]
