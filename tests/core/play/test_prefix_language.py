"""What stands in front of the history is in the story's language, also where somebody says a word in another one."""

from __future__ import annotations

import pytest

from saga_core import Saga
from saga_core.messages import Stability
from saga_core.play.pending_turn import PendingTurn
from tests.core.frontend import Frontend, memory_config

TALE = {
    "ko": (("문을 연다.", "무거운 문이 삐걱거리며 열린다."), "Wait, what was her name?", "횃불을 들고 들어간다."),
    "en": (("I open the door.", "The heavy door creaks open."), "잠깐, 이름이 뭐였지?", "I raise the torch and go in."),
}


def in_front(turn: PendingTurn) -> str:
    return "\n".join(str(block.content) for block in turn.plan.blocks if block.stability is Stability.STABLE)


@pytest.mark.parametrize("language", TALE)
async def test_one_remark_in_another_language_does_not_rewrite_it(language: str) -> None:
    first, remark, later = TALE[language]
    async with Saga.open(memory_config()) as saga:
        chat = Frontend(saga)
        await chat.say(*first)
        usual = in_front(await chat.say(later, first[1] + " …"))
        told = await chat.say(remark, first[1] + " !")
        assert in_front(told) == usual
        assert in_front(await chat.say(later + " …", first[1] + " ?")) == usual


async def test_a_story_that_goes_on_in_another_language_is_followed() -> None:
    config = memory_config()
    async with Saga.open(config) as saga:
        chat = Frontend(saga)
        await chat.say(*TALE["ko"][0])
        before = in_front(await chat.say("안으로 들어간다.", "안은 어둡고 서늘하다."))
        for number in range(config.prompt_caching.repin_every):
            last = await chat.say(f"I walk on to door {number}.", f"Door {number} is shut, and nobody answers.")
        assert in_front(last) != before
        other = in_front(await chat.say("I knock.", "Somebody opens at last."))
        assert sum("가" <= char <= "힣" for char in other) < sum("가" <= char <= "힣" for char in before)
