"""Replies that come back changed: where the place is still found, what is still known there, and when no more."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saga_core import Saga
from saga_core.model.tree import TurnKind
from saga_core.state_block import BlockFields
from saga_core.stores.state_kv import Batch
from saga_core.transcript.evidence import INHERIT, likeness, resembles
from tests.blocks import render_block
from tests.core.play import drift
from tests.core.play.drift import BARE, CHANGES, HISTORIES, ITSELF, KEPT, markdown, reply, translated
from tests.docs.pages import page


@pytest.fixture(scope="module")
def table() -> list[list[str]]:
    return asyncio.run(drift.table())


def test_the_page_has_this_table(table: list[list[str]]) -> None:
    assert markdown(table) in page("docs/transcript.md").text, "python -m tests.core.play.drift prints it"


@pytest.mark.parametrize(
    ("change", "outcome"),
    [
        ("nothing", ITSELF),
        ("white space at the end, line breaks", ITSELF),
        ("other quotation marks", ITSELF),
        ("emphasis dropped", ITSELF),
        ("a name in front", ITSELF),
        ("an emoji removed", KEPT),
        ("a line added at the end", KEPT),
        ("each 10th word replaced", KEPT),
        ("cut at 10 %", BARE),
        ("translated", BARE),
    ],
)
def test_what_must_hold_in_every_history(table: list[list[str]], change: str, outcome: str) -> None:
    assert {row[0]: row[1:] for row in table}[change] == [outcome] * len(HISTORIES)


@given(st.text(alphabet="abc 가나*", max_size=60), st.text(alphabet="abc 가나*", max_size=60))
def test_likeness_is_a_share(one: str, other: str) -> None:
    assert 0 <= likeness(one, other) <= 1
    assert likeness(one, one) in (0, 1)
    assert likeness(one, other) == likeness(other, one)
    assert likeness(one, f"*{one}*") == likeness(one, one)


@pytest.mark.parametrize("language", ["en", "ko"])
def test_long_texts_are_compared_as_short_ones_are(language: str) -> None:
    text = " ".join(reply(language, turn) for turn in range(6))
    assert likeness(text, drift.replaced(20)(text)) > 0.9
    assert resembles(text, drift.replaced(10)(text))
    assert likeness(text, drift.replaced(3)(text)) < INHERIT
    assert likeness(text, translated(text)) < 0.1


class Chat:
    """A chat whose replies are told, and shown otherwise."""

    def __init__(self, saga: Saga, language: str = "ko", greeting: str = "…") -> None:
        self.saga, self.language, self.greeting = saga, language, greeting
        self.lines: list[tuple[str, str]] = []

    def messages(self, words: str, *, skip: int = 0) -> list[dict[str, Any]]:
        chat = [] if skip else [{"role": "assistant", "content": self.greeting}]
        for said, told in self.lines[skip:]:
            chat += [{"role": "user", "content": said}, {"role": "assistant", "content": told}]
        return [*chat, {"role": "user", "content": words}]

    async def say(self, words: str, told: str, damage: int = 10) -> str:
        turn = await self.saga.begin(self.messages(words))
        turn.replies[0].feed(f"{told}\n\n{render_block(BlockFields(hp_change=-damage))}")
        (made,) = await turn.commit()
        self.lines.append((words, told))
        return made.id

    async def play(self, turns: int) -> list[str]:
        said = (drift.words(self.language, turn) for turn in range(turns))
        return [await self.say(words, reply(self.language, turn)) for turn, words in enumerate(said)]

    async def hp(self, words: str, **options: Any) -> tuple[int, int]:
        """Hit points and depth of the turn that ``words`` continue."""
        turn = await self.saga.begin(self.messages(words, **options))
        return (await self.saga.describe(turn.session.id, turn.parent.id))["hp"], turn.parent.depth

    def show(self, change: drift.Change, *turns: int) -> None:
        for turn in turns or range(len(self.lines)):
            said, told = self.lines[turn]
            self.lines[turn] = (said, change(told))


@pytest.fixture
async def saga() -> AsyncIterator[Saga]:
    async with Saga.open({"storage": {"profile": "memory"}}) as opened:
        yield opened


NO_EMOJI = CHANGES["an emoji removed"]


async def test_a_script_that_changes_every_reply_costs_nothing(saga: Saga) -> None:
    chat = Chat(saga)
    for turn in range(5):
        await chat.say(drift.words("ko", turn), reply("ko", turn))
        chat.show(NO_EMOJI, -1)
    assert await chat.hp("계속 간다.") == (50, 5)
    assert await chat.hp("계속 간다.", skip=3) == (50, 5)


async def test_one_switched_on_later_adopts_the_last_turn_only(saga: Saga) -> None:
    chat = Chat(saga)
    await chat.play(5)
    chat.show(NO_EMOJI)
    before = saga.counters.counts.get("turns.recorded", 0)
    assert await chat.hp("계속 간다.") == (50, 5)
    assert saga.counters.counts["turns.adopted"] == 1
    assert saga.counters.counts["turns.recorded"] == before
    assert await chat.hp("계속 간다.") == (50, 5)
    assert saga.counters.counts["turns.adopted"] == 1, "it is known now"


async def test_replies_that_a_person_rewrote_did_not_happen(saga: Saga) -> None:
    chat = Chat(saga)
    await chat.play(4)
    chat.show(lambda text: "전혀 다른 이야기가 되었다. " + text[:4], 0, 2)
    chat.show(NO_EMOJI, 1, 3)
    assert await chat.hp("계속 간다.") == (80, 4)


@pytest.mark.parametrize(("skip", "found"), [(1, (70, 3)), (2, (100, 1))], ids=["two agree", "one alone"])
async def test_short_words_need_others_to_agree(saga: Saga, skip: int, found: tuple[int, int]) -> None:
    chat = Chat(saga)
    for turn, words in enumerate(("응.", "그래.", "가자.")):
        await chat.say(words, reply("ko", turn))
    chat.show(NO_EMOJI)
    assert await chat.hp("계속 간다.", skip=skip) == found


async def test_the_branch_whose_replies_are_alike(saga: Saga) -> None:
    chat = Chat(saga)
    await chat.play(2)
    words = drift.words("ko", 2)
    await chat.say(words, reply("ko", 2), damage=0)
    other = Chat(saga)
    other.lines = chat.lines[:1]
    await other.say(
        drift.words("ko", 1), "전혀 다르게 이어진 이야기다. 항구는 불타고 사람들은 물가로 달아난다.", damage=40
    )
    await other.say(words, reply("ko", 5), damage=0)
    chat.show(NO_EMOJI)
    other.show(NO_EMOJI)
    other.show(lambda text: text.replace("항구는", "마을은"), 1)
    assert await chat.hp("계속 간다.", skip=1) == (80, 3)
    assert await other.hp("계속 간다.", skip=1) == (50, 3)


async def test_words_of_another_world_prove_nothing(saga: Saga) -> None:
    chat = Chat(saga)
    await chat.play(3)
    chat.show(NO_EMOJI)
    turn = await saga.begin(chat.messages("계속 간다."), world="ersia")
    assert turn.session.world == "ersia"
    assert [session.session.world for session in await saga.sessions.list()] == ["empty", "ersia"]


async def test_an_explicit_session_is_searched_alone(saga: Saga) -> None:
    chat = Chat(saga)
    await chat.play(3)
    chat.show(NO_EMOJI)
    turn = await saga.begin(chat.messages("계속 간다."), session="mine")
    assert (turn.session.label, turn.parent.depth) == ("mine", 3)
    assert (await saga.describe(turn.session.id, turn.parent.id))["hp"] == 100


async def test_a_journal_without_the_players_words(saga: Saga) -> None:
    chat = Chat(saga)
    await chat.play(3)
    kv = saga.stores.state
    rows = await kv.scan(("said",))
    assert len(rows) == 3
    await kv.commit(Batch(deletes=frozenset(key for key, _ in rows)))
    chat.show(NO_EMOJI)
    assert await chat.hp("계속 간다.") == (70, 3), "found by greeting and first words, as before"


async def test_words_go_with_their_turns(saga: Saga) -> None:
    chat = Chat(saga)
    await chat.play(3)
    (summary,) = await saga.sessions.list()
    await saga.sessions.delete(summary.session.id)
    assert not await saga.stores.state.scan(("said",))


async def test_asides_leave_no_words(saga: Saga) -> None:
    chat = Chat(saga)
    await chat.play(1)
    ask = [*chat.messages("x")[:-1], {"role": "user", "content": "[Summarize the story so far.]"}]
    turn = await saga.begin(ask)
    assert turn.kind is TurnKind.SIDE
    turn.replies[0].feed("A toll was paid, and the lamp went out.")
    await turn.commit()
    assert len(await saga.stores.state.scan(("said",))) == 1


async def test_words_that_are_said_in_many_chats_load_few_of_them(saga: Saga) -> None:
    words = "나는 천천히 주위를 둘러보며 사람들의 얼굴을 하나하나 살핀다."
    for number in range(8):
        chat = Chat(saga, greeting=f"인사 {number}")
        await chat.say(words, f"{number}번째 마을의 광장은 조용하다. " + reply("ko", number))
        await chat.say(f"{number}: 이제 북쪽 성문으로 가서 문지기에게 길을 묻고 싶다.", reply("ko", number + 8))
    mine = chat
    mine.show(NO_EMOJI)
    for session in await saga.sessions.list():
        saga.parts.live.forget(session.session.id)
    loaded = saga.counters.counts["sessions.loaded"]
    assert await mine.hp("계속 간다.") == (80, 2)
    assert saga.counters.counts["sessions.loaded"] - loaded <= 4
