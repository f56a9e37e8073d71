"""Places: which turn of which session a request continues, begun or adopted where the journal does not have it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from saga_core import Saga
from saga_core.errors import NotFound, StoreError
from saga_core.model import TurnKind
from saga_core.play.places import WorldChoice
from saga_core.play.request import Place, Request
from saga_core.sessions import NewSession
from saga_core.transcript import read_transcript
from tests.core.frontend import Frontend, memory_config

WALK = "낡은 길을 따라 숲 속으로 들어선다. 나무가 빛을 가린다."
REST = "나무 아래에 앉아 숨을 고른다. 멀리서 종소리가 들린다."


@pytest.fixture
async def saga() -> AsyncIterator[Saga]:
    async with Saga.open(memory_config()) as opened:
        yield opened


async def find(saga: Saga, messages: list[dict[str, Any]], **fields: Any) -> Place | None:
    transcript, world = read_transcript(messages), fields.pop("world", None)
    choice = WorldChoice(saga.parts.worlds, world, transcript, "ersia")
    return await saga.play.places.find(
        Request(messages=messages, world=world, **fields), transcript, choice, NewSession()
    )


async def test_what_nobody_knows_begins_a_session_with_its_greeting(saga: Saga) -> None:
    place = await find(saga, Frontend(saga).messages("가자"))
    assert place is not None and place.parent == place.live.tree.root and place.adopted == ()
    assert (await place.live.turn(place.parent)).reply == Frontend(saga).greeting
    assert (place.kind, place.live.world.name) == (TurnKind.NARRATION, "ersia")
    assert saga.counters.counts["begun.narration"] == 1


async def test_what_the_history_proves_and_the_journal_lacks_is_adopted(saga: Saga) -> None:
    chat = Frontend(saga)
    await chat.say("가자", WALK)
    chat.history += [{"role": "user", "content": "쉬자"}, {"role": "assistant", "content": REST}]
    place = await find(saga, chat.messages("더"))
    assert place is not None and place.adopted == (place.parent,) and place.parent in place.shown
    assert saga.counters.counts["turns.adopted"] == 1
    again = await find(saga, chat.messages("더"))
    assert again is not None and again.parent == place.parent and again.adopted == ()


async def test_a_side_request_that_shows_nothing_has_no_place(saga: Saga) -> None:
    assert await find(saga, [{"role": "user", "content": "Translate the following text: it rains"}]) is None
    assert await saga.parts.journal.sessions() == []


async def test_an_explicit_world_is_not_that_of_another_chat(saga: Saga) -> None:
    chat = Frontend(saga)
    first = await chat.say("가자", WALK)
    same = await find(saga, chat.messages("더"), world="ersia")
    assert same is not None and same.live.session.id == first.session.id
    other = await find(saga, chat.messages("더"), world="empty")
    assert other is not None and other.live.session.id != first.session.id
    assert other.live.tree.get(other.parent).depth == 1, "its history is adopted there"


async def test_a_named_timeline_is_gone_on_with_where_the_history_proves_nothing(saga: Saga) -> None:
    chat = Frontend(saga, session="모험")
    first = await chat.say("가자", WALK)
    second = await chat.say("쉬자", REST)
    await saga.timelines.fork(first.session.id, first.id, "탑")
    bare = [{"role": "user", "content": "올라가자"}]
    place = await find(saga, bare, session="모험@탑")
    assert place is not None and (place.parent, place.timeline) == (first.id, "탑")
    proved = await find(saga, chat.messages("더"), session="모험@탑")
    assert proved is not None and proved.parent == second.id
    with pytest.raises(NotFound, match="has no timeline"):
        await find(saga, bare, session="모험@강")


async def test_words_that_were_answered_last_on_a_timeline_ask_for_another_reply(saga: Saga) -> None:
    chat = Frontend(saga, session="모험")
    first = await chat.say("가자", WALK)
    await saga.timelines.fork(first.session.id, first.id, "탑")
    climb = [{"role": "user", "content": "올라가자"}]
    turn = await saga.begin(climb, session="모험@탑")
    turn.replies[0].feed("계단이 끝없이 이어진다.")
    await turn.commit()
    again, on = (
        await find(saga, climb, session="모험@탑"),
        await find(saga, [{"role": "user", "content": "쉬자"}], session="모험@탑"),
    )
    assert again is not None and again.parent == first.id
    assert on is not None and on.parent == turn.id


async def test_an_adoption_that_fails_leaves_nothing_in_memory(saga: Saga, monkeypatch: pytest.MonkeyPatch) -> None:
    chat = Frontend(saga)
    first = await chat.say("가자", WALK)
    chat.history += [{"role": "user", "content": "쉬자"}, {"role": "assistant", "content": REST}]

    async def full(*_: Any, **__: Any) -> None:
        raise StoreError("disk full")

    with monkeypatch.context() as broken:
        broken.setattr(saga.stores.state, "commit", full)
        before = await find(saga, chat.messages("더"))
    assert before is not None and (before.parent, before.adopted) == (first.id, ())
    assert str(before.unadopted) == "disk full"
    assert len(before.live.tree) == 2, "the root and what was recorded"
    place = await find(saga, chat.messages("더"))
    assert place is not None and len(place.adopted) == 1


@pytest.mark.parametrize("recorded", [0, 1])
async def test_no_turn_goes_to_another_chat_that_ends_alike(
    saga: Saga, monkeypatch: pytest.MonkeyPatch, recorded: int
) -> None:
    """Also when the store failed in the middle of the adoption, after the first ``recorded`` commits."""
    other = Frontend(saga)
    await other.say("가자", WALK)
    elsewhere = (await other.say("네.", "그래.")).session.id
    chat = Frontend(saga)
    for number in range(100):
        said = {"role": "user", "content": f"{number}번째 문을 연다."}
        chat.history += [said, {"role": "assistant", "content": f"{number}번째 방에는 오래된 책이 가득하다."}]
    chat.history += [{"role": "user", "content": "네."}, {"role": "assistant", "content": "그래."}]
    commit, commits = saga.stores.state.commit, 0

    async def failing(batch: Any, **more: Any) -> None:
        nonlocal commits
        commits += any(key[0] == "turn" for key in batch.puts)
        if commits > 1 + recorded:  # the first one is the session's root
            raise StoreError("full")
        await commit(batch, **more)

    with monkeypatch.context() as broken:
        broken.setattr(saga.stores.state, "commit", failing)
        place = await find(saga, chat.messages("더"))
    assert place is not None and isinstance(place.unadopted, StoreError)
    again = await find(saga, chat.messages("더"))
    assert again is not None and again.live.tree.get(again.parent).depth == 101
    assert again.live.session.id != elsewhere and (again.live is place.live or not recorded)
