"""A pending turn takes a model's reply in, hides the state block, and is recorded once."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from saga_core.context import TurnContext
from saga_core.errors import BadInput
from saga_core.messages import PromptPlan
from saga_core.model import Session, Turn, TurnKind
from saga_core.play import PendingTurn, Reply
from saga_core.play.pending_turn import record_nothing
from saga_core.ports import Usage
from saga_core.state_block import BlockStatus
from tests.core.frontend import block

WALK = {"ko": "낡은 길을 따라 숲으로 들어선다.", "en": "The old road leads into the wood."}


class Record:
    """What recording was asked for."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, str, str]] = []
        self.unrecorded: list[str] = []

    async def __call__(self, pending: PendingTurn, finish: str, model: str) -> tuple[Turn, ...]:
        self.calls.append((pending.replies[0].story_text, finish, model))
        return (Turn(pending.id, "s", "t0", 1, 0.0),)

    async def nothing_came(self, pending: PendingTurn) -> None:
        self.unrecorded.append(pending.id)


def pending(record: Record, **fields: Any) -> PendingTurn:
    return PendingTurn(
        id="t1",
        session=Session("s", "t0"),
        parent=Turn("t0", "s", None, 0, 0.0),
        plan=PromptPlan(()),
        context=TurnContext("", 0),
        kind=TurnKind.NARRATION,
        replies=(Reply("t1"), Reply("t2")),
        timings={},
        notices=(),
        record=record,
        unrecorded=record.nothing_came,
        **fields,
    )


@pytest.mark.parametrize("language", ["ko", "en"])
@pytest.mark.parametrize("size", [1, 3, 1_000])
def test_the_player_sees_the_story_and_never_the_block(language: str, size: int) -> None:
    reply, told = Reply("t1"), WALK[language]
    whole = told + block(hp_change=-5)
    shown = "".join(reply.feed(whole[start : start + size]) for start in range(0, len(whole), size))
    shown += reply.finish()
    assert shown.rstrip() == told and reply.text == shown
    assert reply.raw == whole
    assert reply.finish() == "", "a second call gives nothing"
    assert reply.reading("stop").status is BlockStatus.OK


def test_what_was_held_back_and_is_no_block_is_shown_at_the_end() -> None:
    reply = Reply("t1")
    assert reply.feed("He writes ``") + reply.finish() == "He writes ``"


def test_no_marker_comes_about_around_a_call_of_the_clients() -> None:
    reply = Reply("t")
    shown = reply.feed("They go [[saga:kind=")
    shown += reply.extra({"tool_calls": [{"id": "c1", "function": {"name": "look"}}]})[0]
    shown += reply.feed("ephemeral]]on.") + reply.finish()
    assert shown == reply.text == "They go on."


def test_the_story_is_composed_and_without_thoughts() -> None:
    reply = Reply("t1")
    reply.feed("<think>He may run.</think>\nHe runs. \u1112\u1161\u11ab")
    reply.finish()
    assert reply.story_text == "He runs. 한"
    assert "He may run." in reply.text


@pytest.mark.parametrize(("finish", "status"), [("stop", BlockStatus.OK), ("length", BlockStatus.PARTIAL)])
def test_an_open_block_is_whole_where_the_reply_ended_by_itself(finish: str, status: BlockStatus) -> None:
    reply = Reply("t1")
    reply.feed("He falls.\n\n```state\nhp_change: -5\n")
    reply.finish()
    assert reply.reading(finish).status is status


async def test_a_turn_is_recorded_once() -> None:
    record = Record()
    turn = pending(record)
    turn.replies[0].feed("간다.")
    first = await turn.commit(finish="aborted", model="m")
    assert await turn.commit() is first
    await turn.abandon()
    assert record.calls == [("간다.", "aborted", "m")] and record.unrecorded == []


async def test_an_abandoned_turn_is_not_recorded_and_its_cost_is_told_once() -> None:
    record = Record()
    turn = pending(record)
    await turn.abandon()
    await turn.abandon()
    with pytest.raises(BadInput, match="was abandoned"):
        await turn.commit()
    assert record.calls == [] and record.unrecorded == ["t1"]


async def test_a_recording_that_fails_may_be_tried_again() -> None:
    fails = True
    record = Record()

    async def breaking(turn: PendingTurn, finish: str, model: str) -> tuple[Turn, ...]:
        if fails:
            raise OSError("disk full")
        return await record(turn, finish, model)

    turn = pending(record)
    turn._record = breaking
    with pytest.raises(OSError, match="disk full"):
        await turn.commit()
    fails = False
    assert [each.id for each in await turn.commit()] == ["t1"]


async def test_a_stream_is_shown_piece_by_piece_to_its_end() -> None:
    turn = pending(Record())

    async def stream() -> AsyncIterator[str]:
        for piece in ("He ", "goes", ".\n\n```st", "ate\nhp_change: -5\n```", "``"):
            yield piece

    shown = [text async for text in turn.visible(stream())]
    assert len(shown) > 1 and shown[0] == "He" and all(shown)
    assert "".join(shown) == turn.replies[0].text and "state" not in "".join(shown)
    assert turn.replies[1].raw == ""


async def test_what_a_stream_ends_with_is_shown_though_it_was_held_back() -> None:
    async def stream() -> AsyncIterator[str]:
        yield "He writes ``"

    shown = [text async for text in pending(Record()).visible(stream())]
    assert "".join(shown) == "He writes ``" and len(shown) == 2


def test_what_is_billed_last_counts_and_what_failed_is_kept_apart() -> None:
    turn = pending(Record())
    turn.failing()
    assert turn.failed == (), "nothing was billed"
    turn.billed(Usage(10), model="a", provider="p")
    turn.billed(Usage(20), model="a", provider="p")
    turn.failing()
    assert turn.usage is None, "nothing of it is billed for the next model"
    turn.billed(Usage(30), model="b", provider="q")
    assert turn.failed == ((Usage(20), "a", "p"),)
    assert (turn.usage, turn.billed_model) == (Usage(30), ("b", "q"))


def test_room_for_the_block_is_added_to_short_limits_alone() -> None:
    turn = pending(Record(), block_room=200)
    params = {"max_tokens": 1_999, "max_completion_tokens": 2_000, "top_p": 1}
    assert turn.allowing(params) == {"max_tokens": 2_199, "max_completion_tokens": 2_000, "top_p": 1}
    assert params["max_tokens"] == 1_999, "the client's own are left as they are"


async def test_a_turn_without_memory_records_nothing() -> None:
    assert await record_nothing(pending(Record()), "stop", "m") == ()
