"""Why a text was told or not: what is answered for each sentence of a story, and for what stands elsewhere in it."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from saga_core import Saga
from saga_core.config import load_config
from tests.core.frontend import Frontend, memory_config

PLACES = {
    "en": "harbour lantern orchard chapel mill quarry ferry stable cellar tower garden bakery forge attic".split(),
    "ko": "항구 등대 과수원 예배당 방앗간 채석장 나루터 마구간 지하실 망루 화원 빵집 대장간 다락".split(),
}
THINGS = {
    "en": "kettle saddle violin compass thimble barrel mirror hammer ladder blanket candle bucket needle drum".split(),
    "ko": "주전자 안장 바이올린 나침반 골무 술통 거울 망치 사다리 담요 양초 양동이 바늘 나팔".split(),
}
WORDS = {"en": "I walk on to the {place} and look for a {thing}.", "ko": "{place}에 가서 {thing} 하나를 찾아본다."}
SENTENCES = {
    "en": (
        "The {place} smelled of rain and old rope that evening.",
        "A {thing} hung on the wall, and somebody had painted it green.",
        '"My uncle carried that {thing} over the mountains," said the keeper of the {place}.',
        "He poured something dark into {count} cups and pushed one of them across the table.",
        "Behind the {place} a goat was eating the washing of the whole street.",
        'Nobody said a word about {count} missing geese until the keeper coughed. "They are in the {place}."',
        "In the end the door fell shut, and the {thing} rang like a bell.",
    ),
    "ko": (
        "그날 저녁 {place}에서는 비와 낡은 밧줄 냄새가 났다.",
        "벽에는 {thing} 하나가 걸려 있었고 누군가 그것을 초록색으로 칠해 두었다.",
        '"우리 삼촌이 저 {thing} 때문에 산을 넘었지." {place}의 관리인이 말했다.',
        "그는 검은 무언가를 {count}개의 잔에 따르고 하나를 탁자 너머로 밀었다.",
        "{place} 뒤에서는 염소 한 마리가 온 거리의 빨래를 먹고 있었다.",
        '거위 {count}마리가 없어졌다는 말은 아무도 꺼내지 않았다. "전부 {place} 안에 있어."',
        "마침내 문이 닫히고 {thing} 소리가 종처럼 울렸다.",
    ),
}
LAST = {
    "en": "Do you remember the goat behind the orchard, and the compass?",
    "ko": "과수원 뒤의 염소와 나침반 기억나?",
}


def told_of(number: int, language: str) -> tuple[str, str]:
    """The player's words and the reply of a turn."""
    filled = {"place": PLACES[language][number], "thing": THINGS[language][number], "count": 20 + number}
    return WORDS[language].format(**filled), " ".join(SENTENCES[language]).format(**filled)


def plain(text: str) -> str:
    """``text`` without punctuation."""
    return " ".join(re.findall(r"\w+", text.casefold()))


@pytest.fixture
async def saga() -> AsyncIterator[Saga]:
    async with Saga.open(memory_config()) as opened:
        yield opened


async def played(saga: Saga, language: str, turns: int = 12) -> Frontend:
    """A chat whose frontend sends its last two turns alone."""
    chat = Frontend(saga, session="길")
    for number in range(turns):
        await chat.say(*told_of(number, language))
        chat.history = chat.history[-4:]
    return chat


async def found(saga: Saga, text: str, turn: str | None = None) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = (await saga.views.why_untold("길", text, turn))["found"]
    return rows


@pytest.mark.parametrize("language", WORDS)
async def test_told_is_said_only_of_sentences_that_stand_in_the_block(saga: Saga, language: str) -> None:
    chat = await played(saga, language)
    await chat.say(LAST[language], "…")
    whole = await saga.views.explain("길")
    block, reasons = plain(whole["text"]), set()
    for number in range(9):
        for sentence in re.split(r"(?<=[.?!])\"?\s+", told_of(number, language)[1]):
            (row,) = [row for row in await found(saga, sentence) if row.get("turn") == number + 1]
            assert row["share"] == 1.0, sentence
            assert (row["reason"] == "told") == (plain(sentence) in block), (row["reason"], sentence)
            reasons.add(row["reason"])
            if row["reason"] == "cut_out":
                line = plain(row["line"].partition(" — ")[2])
                assert line in block and plain(sentence) not in line
    assert {"told", "cut_out"} <= reasons


@pytest.mark.parametrize("language", WORDS)
async def test_what_stands_elsewhere_in_the_story_is_said_to_stand_there(saga: Saga, language: str) -> None:
    chat = await played(saga, language, 9)
    turns = {turn.depth: turn.id for turn in await saga.views.turns("길")}
    side = {"en": "A turquoise heron sat on the anvil.", "ko": "청록색 왜가리가 모루에 앉아 있었다."}[language]
    await chat.swipe(side)
    await chat.swipe(told_of(8, language)[1])

    async def first(text: str, turn: str | None = None) -> tuple[str, str, int | None]:
        (row, *_) = await found(saga, text, turn)
        assert row["share"] == 1.0
        return row["kind"], row["reason"], row.get("turn")

    assert await first(told_of(8, language)[0]) == ("words", "own_words", None)
    assert await first(SENTENCES[language][1].format(place="", thing=THINGS[language][8])) == ("turn", "later", 9)
    assert await first(told_of(7, language)[1], turns[3]) == ("turn", "later", 8)
    assert await first(side) == ("turn", "swiped", 9)


async def test_an_opening_is_known_where_the_story_began_with_it(saga: Saga) -> None:
    chat = Frontend(saga, greeting="A blind ferryman waits at the crooked pier.")
    for number in range(4):
        await chat.say(*told_of(number, "en"))
        chat.history = chat.history[-4:]
        chat.greeting = ""
    assert chat.last is not None
    session = chat.last.session.id
    first, *_, last = (await saga.views.turns(session))[1:]
    for turn, reason in ((last, "opening"), (first, "in_chat")):
        (row, *_) = (await saga.views.why_untold(session, "the blind ferryman", turn.id))["found"]
        assert (row["kind"], row["turn"], row["reason"]) == ("turn", 0, reason)


async def test_a_remark_that_somebody_just_made_came_later_than_the_turn(saga: Saga) -> None:
    chat = await played(saga, "en", 4)
    text = "Nobody at the quarry knows how to whistle"
    await saga.memory.correct("길", "note", {"text": text})
    (row,) = await found(saga, "whistle")
    assert (row["kind"], row["text"], row["reason"]) == ("note", text, "later")
    await chat.say("I whistle.", "Nothing happens.")
    assert ("told", 1.0) in [(row["reason"], row["share"]) for row in await found(saga, text)]


async def test_words_that_every_sentence_has_do_not_count(saga: Saga) -> None:
    await played(saga, "en", 4)
    assert await found(saga, "a kraken with teeth on the wall and with a purple moustache") == []
    (row, *_) = await found(saga, "who hung it on the WALL?")
    assert (row["share"], row["words"]) == (1.0, ["hung", "WALL"])


@pytest.mark.parametrize(
    "word", "mercy story sixty ready waving joking many galleries stories hurried taken sixtieth".split()
)
async def test_each_word_of_a_story_is_found(saga: Saga, word: str) -> None:
    chat = await played(saga, "en", 3)
    await chat.say("I look on.", f"Somebody wrote {word} on the door of the mill.")
    await chat.say("I go home.", "The road is long.")
    (row, *_) = await found(saga, word)
    assert (row["turn"], row["share"], row["reason"]) == (4, 1.0, "in_chat")


async def test_what_a_request_showed_is_known_after_a_restart(tmp_path: Path) -> None:
    config = load_config({"storage": {"path": str(tmp_path)}, "session": {"default_world": "ersia"}})

    async def answers(saga: Saga) -> list[tuple[str, str]]:
        asked = ("the blue letter lies in the well", "looked for a hammer", told_of(11, "en")[1], told_of(7, "en")[1])
        rows = [next(each for each in await found(saga, text) if each["share"] > 0.6) for text in asked]
        return [(row["kind"], row["reason"]) for row in rows]

    async with Saga.open(config) as saga:
        chat = Frontend(saga, session="길")
        for number in range(13):
            notes = {"notes": "the blue letter lies in the well"} if number == 0 else {}
            await chat.say(*told_of(number, "en"), **notes)
            chat.history = chat.history[-4:]
        before, whole = await answers(saga), await saga.views.explain("길")
        assert before[0] == ("page", "in_front") and before[2] == ("turn", "in_chat")
    async with Saga.open(config) as saga:
        again = await saga.views.explain("길")
        assert again["anew"] and (again["pages"], again["shown_from"]) == (whole["pages"], whole["shown_from"])
        assert (again["text"], await answers(saga)) == (whole["text"], before)


@pytest.mark.parametrize("at_hand", [True, False])
async def test_words_that_are_tried_are_told_what_was_corrected_and_what_stands_in_front(
    saga: Saga, at_hand: bool
) -> None:
    chat = await played(saga, "en", 8)
    await saga.memory.correct("길", "note", {"text": "Tomas hid a silver thimble under the plank"})
    if not at_hand:
        saga.views.contexts.clear()
    tried = await saga.views.explain("길", text="Where is the silver thimble?")
    asked = await chat.begin("Where is the silver thimble?")
    assert "Changed: Tomas hid a silver thimble under the plank" in tried["text"]
    assert tried["pages"] == asked.context.pages != ""
    now = [piece["text"] for piece in tried["pieces"] if piece["section"] == "now"]
    assert now == [piece.text for piece in asked.context.pieces if piece.section == "now"]


@pytest.mark.parametrize("language", WORDS)
async def test_a_branch_is_no_swipe(saga: Saga, language: str) -> None:
    chat = await played(saga, language, 9)
    turns = {turn.depth: turn.id for turn in await saga.views.turns("길")}
    branch = Frontend(saga, session="길")
    branch.history = [
        {"role": role, "content": text}
        for number in (2, 3)
        for role, text in zip(("user", "assistant"), told_of(number, language), strict=True)
    ]
    other = {"en": "A turquoise heron sat on the anvil.", "ko": "청록색 왜가리가 모루에 앉아 있었다."}[language]
    await branch.say({"en": "I turn back at once.", "ko": "곧장 발길을 돌린다."}[language], other)
    await chat.say(*told_of(9, language))
    (row, *_) = await found(saga, other)
    assert (row["reason"], row["turn"]) == ("elsewhere", 5)
    assert turns[4] in [turn.id for turn in await saga.views.turns("길")]


@pytest.mark.parametrize("language", WORDS)
async def test_sentences_of_several_turns_are_answered_one_by_one(saga: Saga, language: str) -> None:
    chat = await played(saga, language)
    await chat.say(LAST[language], "…")
    parts = [
        SENTENCES[language][number].format(place=PLACES[language][at], thing=THINGS[language][at], count=20 + at)
        for number, at in ((0, 1), (6, 3))
    ]
    rows = await found(saga, " ".join(parts))
    first = {row["part"]: row for row in reversed(rows)}
    assert list(dict.fromkeys(row["part"] for row in rows)) == parts
    assert [(first[part]["turn"], first[part]["verbatim"]) for part in parts] == [(2, True), (4, True)]


@pytest.mark.parametrize("language", WORDS)
async def test_what_says_it_word_for_word_comes_first(saga: Saga, language: str) -> None:
    chat = Frontend(saga, session="길")
    text = {"en": "The bell of the old mill rang.", "ko": "낡은 방앗간의 종이 울렸다."}[language]
    await chat.say({"en": "I listen.", "ko": "귀를 기울인다."}[language], text)
    again = {"en": "Rang the mill? The old one, of the bell.", "ko": "종이 방앗간에서? 낡은 종이 또 울렸다."}[language]
    for number in range(8):
        await chat.say({"en": f"And {number}?", "ko": f"{number}번째?"}[language], f"{again} {again} {again}")
    (row, *_) = await found(saga, text)
    assert (row["turn"], row["verbatim"], row["share"]) == (1, True, 1.0)


@pytest.mark.parametrize(
    ("text", "word"), [("Turn 7 was lost, we never met", "kettle"), ("7턴에 만남과 잃음이 있었다", "주전자")]
)
async def test_numbers_and_labels_of_sagas_own_are_no_words_of_a_turn(saga: Saga, text: str, word: str) -> None:
    chat = Frontend(saga, session="길")
    for number in range(8):
        block = (
            f"```state\nitems_gained: [{word}{number}]\n```" if number % 2 else f"```state\nmet: [{word}{number}]\n```"
        )
        await chat.say("…", f"{word}.\n{block}")
    assert [row for row in await found(saga, text) if row["kind"] == "turn"] == []


async def test_an_event_to_come_is_known(saga: Saga) -> None:
    chat = Frontend(saga, session="길")
    await chat.say("I wait.", "The square is empty.")
    fields = {"name": "The comet", "text": "A green comet falls into the lake.", "due": "40"}
    await saga.memory.correct("길", "event", fields)
    (row, *_) = await found(saga, fields["text"])
    assert (row["kind"], row["reason"]) == ("event", "later")  # it was scheduled after that turn's request
    await chat.say("I wait on.", "Nothing stirs.")
    (row, *_) = await found(saga, fields["text"])
    assert (row["kind"], row["reason"]) == ("event", "not_due")


@pytest.mark.parametrize(
    ("said", "words"), [("민지야, 도서관 열쇠 어디 있어?", ["열쇠"]), ("Where is the key?", ["key"])]
)
async def test_same_words_are_words_and_no_pieces_of_them(saga: Saga, said: str, words: list[str]) -> None:
    chat = Frontend(saga, session="길")
    await chat.say("…", "열쇠를 도려낸 자리에 숨겼다. The key lies there.")
    for _ in range(3):
        await chat.say("…", "…")
        chat.history = chat.history[-2:]
    rows = (await saga.views.explain("길", None, text=said))["pieces"]
    (row,) = [row for row in rows if row["key"].startswith("turn:") and row["turn"] == 1]
    assert row["words"] == words
