"""Models that think aloud in their replies, and frontends that send the thoughts back or fold them away."""

from __future__ import annotations

import pytest

from saga_core import Saga
from saga_core.model.tree import TurnKind
from saga_core.state_block import without_thoughts
from saga_core.transcript.dialogue import read_transcript
from tests.core.frontend import Frontend, memory_config

THOUGHTS = "타비가 무엇을 바라는지 생각해 보자. 플레이어는 지쳐 있고, 이 장면은 길어지면 안 된다. " * 6


@pytest.mark.parametrize("opener", ["<think>\n", ""])
@pytest.mark.parametrize("folded", [True, False])
async def test_a_reply_is_the_same_with_its_thoughts_and_without(opener: str, folded: bool) -> None:
    async with Saga.open(memory_config()) as saga:
        chat = Frontend(saga)
        whole = f"{opener}{THOUGHTS}\n</think>\n\n타비가 손을 내민다."
        first = await chat.say("타비를 부른다.", whole, hp_change=-15)
        assert chat.history[-1]["content"] == whole, "the frontend gets what the model wrote"
        if folded:
            chat.history[-1]["content"] = without_thoughts(whole)

        second = await chat.say("손을 잡는다.", "둘은 함께 걷는다.")

        assert second.parent.id == first.id
        assert (await saga.describe(second.session.id))["hp"] == 85
        assert [turn.reply for turn in await saga.views.turns(second.session.id)][1:] == [
            "타비가 손을 내민다.",
            "둘은 함께 걷는다.",
        ]


async def test_thoughts_alone_are_no_turn() -> None:
    async with Saga.open(memory_config()) as saga:
        turn = await Frontend(saga).begin("타비를 부른다.")
        turn.replies[0].feed("<think>음.</think>\n")
        turn.replies[0].finish()
        assert await turn.commit() == ()


async def test_empty_thoughts_as_prefill_are_no_words_of_the_reply() -> None:
    async with Saga.open(memory_config()) as saga:
        messages = [
            {"role": "user", "content": "타비를 부른다."},
            {"role": "assistant", "content": "<think>\n</think>"},
        ]
        turn = await saga.begin(messages)
        assert turn.kind is TurnKind.NARRATION
        assert turn.plan.to_openai()[-1] == messages[-1], "the model gets it all the same"


def test_the_players_words_are_taken_as_they_are() -> None:
    said = "<think>나는 여기 없다.</think> 문을 연다."
    assert read_transcript([{"role": "user", "content": said}]).player_words == said


@pytest.mark.parametrize("finish", ["aborted", "length"])
@pytest.mark.parametrize("kept", [True, False], ids=["kept", "removed"])
async def test_a_reply_that_was_stopped_while_the_model_thought_tells_nothing(finish: str, kept: bool) -> None:
    async with Saga.open(memory_config()) as saga:
        chat = Frontend(saga)
        first = await chat.say("타비를 부른다.", "타비가 천천히 돌아보며 손을 내민다. 바람이 분다.", hp_change=-15)
        stopped = await chat.begin("손을 잡는다.")
        thought = f"<think>\n{THOUGHTS}"
        stopped.replies[0].feed(thought)
        assert await stopped.commit(finish=finish) == ()
        chat.history += [{"role": "user", "content": "손을 잡는다."}]
        chat.history += [{"role": "assistant", "content": thought}] if kept else []
        second = await chat.say("다시 손을 잡는다.", "둘은 함께 걷는다. 길은 멀고 해는 진다.", hp_change=-15)
        assert second.parent.id == first.id
        third = await chat.say("걷는다.", "밤이 온다.")
        assert (third.parent.id, (await saga.describe(third.session.id))["hp"]) == (second.id, 70)
        assert all("think" not in turn.reply for turn in await saga.views.turns(third.session.id))


async def test_a_model_that_never_closes_its_thoughts_is_taken_at_its_word() -> None:
    async with Saga.open(memory_config()) as saga:
        chat = Frontend(saga)
        first = await chat.say("타비를 부른다.", "<think>\n타비가 돌아보며 손을 내민다. 바람이 분다.", hp_change=-15)
        second = await chat.say("손을 잡는다.", "둘은 함께 걷는다.")
        assert second.parent.id == first.id
