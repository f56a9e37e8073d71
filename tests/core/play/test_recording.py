"""Recording: what a pending turn becomes in the journal, for every kind of request, and what is left when it fails."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest

from saga_core import Saga
from saga_core.errors import NotFound, StoreError
from saga_core.model import ReportStatus, Turn, TurnKind
from saga_core.play import PendingTurn
from saga_core.ports import Usage
from saga_core.transcript import opening_key, read_transcript
from tests.core.frontend import Frontend, block, memory_config

FIGHT = "고블린이 달려든다. 칼날이 팔을 스친다."
CONTINUE = "[Continue the following message. Do not repeat it.]"


@pytest.fixture
async def saga() -> AsyncIterator[Saga]:
    async with Saga.open(memory_config()) as opened:
        yield opened


@pytest.fixture
def chat(saga: Saga) -> Frontend:
    return Frontend(saga)


async def tell(turn: PendingTurn, *replies: str, **options: str) -> tuple[Turn, ...]:
    for choice, reply in zip(turn.replies, replies, strict=True):
        choice.feed(reply)
    return await turn.commit(**options)


async def in_session(chat: Frontend, name: str, words: str) -> PendingTurn:
    chat.session = name
    return await chat.begin(words)


async def head(saga: Saga, turn: PendingTurn) -> str:
    return (await saga.parts.journal.session(turn.session.id)).head


async def jobs(saga: Saga) -> set[str]:
    return {turn for _, turn, _ in await saga.parts.journal.jobs()}


async def test_a_narration_is_recorded_with_its_words_its_reply_and_its_delta(saga: Saga, chat: Frontend) -> None:
    turn = await chat.begin("싸운다.", model="asked-for")
    (recorded,) = await tell(turn, FIGHT + block(hp_change=-5))
    assert (recorded.id, recorded.parent, recorded.depth) == (turn.id, turn.parent.id, 1)
    assert (recorded.user, recorded.reply, recorded.kind) == ("싸운다.", FIGHT, TurnKind.NARRATION)
    assert (recorded.model, recorded.finish) == ("asked-for", "stop")
    assert recorded.delta.status is ReportStatus.OK
    assert await head(saga, turn) == turn.id and turn.id in await jobs(saga)
    assert await saga.parts.journal.turns(turn.session.id, [turn.id]) == [recorded]
    (opened,) = await saga.parts.journal.openings("", opening_key(read_transcript(chat.messages("싸운다."))))
    assert opened == turn.session.id


async def test_what_the_caller_says_of_the_end_and_the_model_counts(chat: Frontend) -> None:
    turn = await chat.begin("Fight.", model="asked-for")
    (recorded,) = await tell(turn, "The goblin runs", finish="aborted", model="that-answered")
    assert (recorded.finish, recorded.model) == ("aborted", "that-answered")


async def test_each_choice_with_text_is_a_sibling_and_the_first_is_the_head(saga: Saga, chat: Frontend) -> None:
    turn = await chat.begin("싸운다.", choices=3)
    one, other = await tell(turn, FIGHT, "  \n", "고블린이 웃으며 달아난다.")
    assert (one.id, other.id) == (turn.replies[0].turn_id, turn.replies[2].turn_id)
    assert one.parent == other.parent and await head(saga, turn) == one.id


async def test_only_a_first_turn_opens_a_chat(saga: Saga, chat: Frontend) -> None:
    await chat.say("가자.", "숲길이 어둡고 길게 이어진다. 새가 운다.")
    opened = await saga.stores.state.scan(("open",))
    await chat.say("더.", FIGHT)
    assert len(opened) == 2 and await saga.stores.state.scan(("open",)) == opened


async def test_a_continuation_is_one_turn_with_the_text_and_the_changes_of_both(saga: Saga, chat: Frontend) -> None:
    first = await chat.say("싸운다.", FIGHT, hp_change=-10)
    chat.note = CONTINUE
    turn = await chat.begin(None)
    (recorded,) = await tell(turn, "그리고 화살이 날아온다." + block(hp_change=-5))
    assert (recorded.id, recorded.parent, recorded.depth) == (turn.id, first.parent.id, 1)
    assert (recorded.user, recorded.reply) == ("싸운다.", f"{FIGHT} 그리고 화살이 날아온다.")
    assert len([event for event in recorded.delta.events if "amount" in dir(event)]) == 2
    assert await head(saga, turn) == turn.id


@pytest.mark.parametrize("rest", ["\nThen it is over.", " Then it is over."])
async def test_white_space_between_the_parts_is_not_doubled(chat: Frontend, rest: str) -> None:
    await chat.say("Fight.", "The goblin jumps and the blade grazes an arm.")
    chat.note = CONTINUE
    (recorded,) = await tell(await chat.begin(None), rest)
    assert recorded.reply == f"The goblin jumps and the blade grazes an arm.{rest}"


async def test_a_side_reply_has_two_readings_and_moves_nothing(saga: Saga, chat: Frontend) -> None:
    first = await chat.say("싸운다.", FIGHT, hp_change=-10)
    await saga.timelines.fork(first.session.id, None, "탑")
    await saga.drain(10)
    chat.note = "Write a short summary of the story so far."
    turn = await chat.begin(None)
    own, joined = await tell(turn, "아리아는 싸웠다." + block(hp_change=-40))
    assert (own.id, own.parent, own.reply, own.delta.events) == (turn.id, first.id, "아리아는 싸웠다.", ())
    assert (joined.parent, joined.depth, joined.reply) == (first.parent.id, 1, f"{FIGHT} 아리아는 싸웠다.")
    assert {own.kind, joined.kind} == {TurnKind.SIDE}
    recorded = (await saga.parts.journal.turns(first.session.id, [first.id]))[0]
    assert joined.delta.events == recorded.delta.events, "those of the reply that it may go on with, and no others"
    assert await head(saga, turn) == first.id and await jobs(saga) == set()
    assert (await saga.parts.journal.timelines(first.session.id))["탑"].head == first.id
    for each in (own, joined):
        node = await saga.parts.journal.node(first.session.id, each.id)
        assert (node.episode, node.present) == ("", None)


async def test_a_continued_greeting_is_a_turn_of_its_own(saga: Saga) -> None:
    greeting = {"role": "assistant", "content": "The market square is loud today."}
    turn = await saga.begin([{"role": "system", "content": "Tell."}, greeting], session="morning")
    assert turn.kind is TurnKind.CONTINUATION
    (recorded,) = await tell(turn, "A bell rings.")
    assert (recorded.parent, recorded.depth, recorded.reply) == (turn.parent.id, 1, "A bell rings.")


async def test_a_continuation_asked_for_as_the_player_may_be_what_the_player_said(saga: Saga, chat: Frontend) -> None:
    first = await chat.say("Fight.", "The goblin jumps and the blade grazes an arm.")
    chat.note = ""
    turn = await chat.begin(CONTINUE)
    assert turn.kind is TurnKind.CONTINUATION
    joined, own = await tell(turn, "Then it is over.")
    assert (joined.id, joined.parent, joined.user) == (turn.id, first.parent.id, "Fight.")
    assert (own.parent, own.user, own.reply) == (first.id, CONTINUE, "Then it is over.")
    assert own.id != joined.id and await head(saga, turn) == joined.id


async def test_a_turn_is_read_on_what_is_known_now(saga: Saga, chat: Frontend) -> None:
    first = await chat.say("싸운다.", FIGHT, hp_change=-10)
    turn = await chat.begin("또 싸운다.")
    await saga.memory.correct(first.session.id, "hp", {"who": "아리아", "hp": "40"}, first.id)
    await tell(turn, "칼이 부딪힌다." + block(hp_change=-5))
    assert (await saga.describe(first.session.id, turn.id))["hp"] == 35


async def test_listeners_and_counters_are_told(saga: Saga, chat: Frontend) -> None:
    heard: list[tuple[str, Mapping[str, Any]]] = []
    saga.counters.listeners.append(lambda event, about: heard.append((event, about)))
    turn = await chat.begin("싸운다.", choices=2)
    await tell(turn, FIGHT + block(hp_change=-5), "고블린이 달아난다.")
    recorded = [about for event, about in heard if event == "recorded"]
    session = turn.session.id
    assert recorded == [{"session": session, "turn": reply.turn_id, "depth": 1} for reply in turn.replies]
    counts = saga.counters.counts
    assert (counts["turns.recorded"], counts["block.ok"], counts["block.fallback"]) == (2, 1, 1)


async def test_events_that_cannot_be_are_counted_as_problems(saga: Saga, chat: Frontend) -> None:
    await chat.say("버린다.", "칼을 버린다.")
    before = saga.counters.counts["problems"]
    turn = await chat.begin("또 버린다.")
    await tell(turn, "칼을 버린다.\n\n```state\nitems_lost: [없는 칼]\n```")
    assert saga.counters.counts["problems"] == before + 1


async def test_a_journal_that_cannot_be_written_leaves_nothing_in_memory(
    saga: Saga, chat: Frontend, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = await chat.say("싸운다.", FIGHT)
    turn = await chat.begin("물러난다.")

    async def full(*_: Any, **__: Any) -> None:
        raise StoreError("disk full")

    with monkeypatch.context() as broken:
        broken.setattr(saga.stores.state, "commit", full)
        with pytest.raises(StoreError, match="disk full"):
            await tell(turn, "골목으로 피한다.")
    assert saga.counters.degraded["journal.write"] == "disk full"
    live = await saga.parts.live.get(first.session.id)
    assert turn.id not in live.tree and live.head == first.id and turn.bill is None


async def test_what_was_written_though_the_store_failed_is_read_from_the_journal(
    saga: Saga, chat: Frontend, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = await chat.say("싸운다.", FIGHT)
    turn = await chat.begin("물러난다.")
    commit = saga.stores.state.commit

    async def breaks_behind(*given: Any, **options: Any) -> None:
        await commit(*given, **options)
        raise StoreError("the line broke")

    with monkeypatch.context() as broken:
        broken.setattr(saga.stores.state, "commit", breaks_behind)
        with pytest.raises(StoreError, match="the line broke"):
            await tell(turn, "골목으로 피한다.")
    live = await saga.parts.live.get(first.session.id)
    assert turn.id in live.tree and live.head == turn.id


async def test_a_session_that_is_gone_is_told_and_nothing_is_recorded(saga: Saga, chat: Frontend) -> None:
    first = await chat.say("싸운다.", FIGHT)
    turn = await chat.begin("물러난다.")
    await saga.sessions.delete(first.session.id)
    with pytest.raises(NotFound):
        await tell(turn, "골목으로 피한다.")
    assert await saga.parts.journal.sessions() == []


async def test_what_came_to_nothing_is_billed_under_the_turn_that_it_continued(saga: Saga, chat: Frontend) -> None:
    first = await chat.say("싸운다.", FIGHT)
    for ending in ("abandon", "commit"):
        turn = await chat.begin("물러난다.", model="claude-sonnet-4-5", provider="anthropic")
        turn.billed(Usage(1_000, 10), model="claude-sonnet-4-5", provider="anthropic")
        await getattr(turn, ending)()
        assert turn.bill is not None and (turn.bill.turn, turn.bill.call) == (first.id, turn.id)
        assert turn.bill in await saga.sessions.cost(first.session.id)


async def test_models_that_failed_are_billed_also_where_nothing_came_of_it(saga: Saga, chat: Frontend) -> None:
    first = await chat.say("싸운다.", FIGHT)
    turn = await chat.begin("물러난다.")
    turn.billed(Usage(700, 3), model="m", provider="p")
    turn.failing()
    await turn.abandon()
    (bill,) = await saga.sessions.cost(first.session.id)
    assert (bill.turn, bill.call, bill.input, bill.block) == (first.id, f"{turn.id}-1", 700, 0)


async def test_no_bill_is_kept_of_what_is_gone(saga: Saga, chat: Frontend, caplog: pytest.LogCaptureFixture) -> None:
    first = await chat.say("싸운다.", FIGHT)
    turn = await chat.begin("물러난다.")
    turn.billed(Usage(1_000, 10), model="m", provider="p")
    await saga.sessions.delete(first.session.id)
    await turn.abandon()
    assert "what it cost is not kept" in caplog.text
    assert await saga.sessions.costs() == {}


async def test_no_bill_is_kept_under_a_turn_that_was_pruned(saga: Saga, chat: Frontend) -> None:
    await chat.say("싸운다.", FIGHT)
    pruned = await chat.say("달아난다.", "골목 끝에 문이 하나 있다. 문을 민다.")
    turn = await chat.begin("들어간다.")
    turn.billed(Usage(1_000, 10), model="m", provider="p")
    await chat.swipe("골목이 막혀 있다. 고블린이 뒤에서 웃는다.")
    await saga.timelines.prune(pruned.session.id, pruned.id)
    await turn.abandon()
    assert await saga.sessions.costs() == {}


async def test_a_session_goes_with_the_last_request_that_leaves_it_empty(saga: Saga, chat: Frontend) -> None:
    one, two, three = [await in_session(chat, "mine", f"{number}") for number in range(3)]
    assert one.session == two.session == three.session
    await one.abandon()
    await two.abandon()
    assert [each.session.label for each in await saga.sessions.list()] == ["mine"]
    await three.abandon()
    await three.abandon()
    assert await saga.sessions.list() == [] and len(saga.parts.live) == 0
    again = await in_session(chat, "mine", "싸운다.")
    await tell(again, FIGHT)
    assert [each.turns for each in await saga.sessions.list()] == [1]


async def test_a_session_stays_that_somebody_made_changed_paid_for_or_played(saga: Saga, chat: Frontend) -> None:
    made = await saga.sessions.create(label="made")
    await (await in_session(chat, "made", "0")).abandon()
    renamed = await in_session(chat, "one", "1")
    await saga.sessions.rename(renamed.session.id, "two")
    await renamed.abandon()
    paid = await in_session(chat, "paid", "2")
    paid.billed(Usage(1_000, 10), model="m", provider="p")
    await paid.abandon()
    played, left = await in_session(chat, "played", "3"), await in_session(chat, "played", "4")
    await tell(played, FIGHT)
    await left.abandon()
    found = [each.session.id for each in await saga.sessions.list()]
    assert found == [made.id, renamed.session.id, paid.session.id, played.session.id]


async def test_a_request_that_cannot_begin_leaves_no_session(
    saga: Saga, chat: Frontend, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def breaks(*given: Any) -> None:
        raise asyncio.CancelledError

    with monkeypatch.context() as broken:
        broken.setattr(type(saga.play.prompting), "layout", breaks)
        with pytest.raises(asyncio.CancelledError):
            await chat.begin("싸운다.")
    assert await saga.sessions.list() == []
