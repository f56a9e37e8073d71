"""The engine, played: the state a request gets is that of the path its own history proves."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from saga_core import Saga
from saga_core.errors import BadInput, Closed, NotFound, StoreError, StoreUnavailable
from saga_core.model.tree import TurnKind
from saga_core.state_block import ItemAmount, RelationChange
from tests.core.frontend import Frontend, answer, memory_config


@pytest.fixture
async def saga() -> AsyncIterator[Saga]:
    async with Saga.open(memory_config()) as opened:
        yield opened


@pytest.fixture
def chat(saga: Saga) -> Frontend:
    return Frontend(saga)


async def hp(saga: Saga, turn: Any) -> int:
    return (await saga.describe(turn.session.id, turn.id))["hp"]


FIGHT = "고블린이 달려든다. 칼날이 팔을 스친다. 뜨거운 피가 흐른다."
WORSE = "고블린 둘이 한꺼번에 덮친다. 땅에 넘어지고 만다."
SWORD = ItemAmount("불꽃 검")
WALK = "낡은 길을 따라 숲 속으로 들어선다. 나무가 빛을 가린다."


async def test_a_first_turn_begins_a_session_in_the_world(saga: Saga, chat: Frontend) -> None:
    turn = await chat.say("광장을 둘러본다.", "사람들이 북적인다. 약초 냄새가 난다.", mood="calm")
    state = await saga.describe(turn.session.id)
    assert state["turn"] == 1
    assert state["turn_id"] == turn.id
    assert state["player"] == "아리아"
    assert state["location"] == "마을 광장"
    assert state["mood"] == "calm"
    assert turn.parent.kind is TurnKind.ROOT
    assert turn.parent.reply == chat.greeting


async def test_the_block_never_reaches_the_chat_and_its_news_reach_the_next_prompt(saga: Saga, chat: Frontend) -> None:
    await chat.say("숲으로 간다.", WALK, location="어둠의 숲", location_moved=True, hp_change=-15)
    assert chat.history[-1]["content"] == WALK
    turn = await chat.begin("여기가 어디지?")
    said = turn.plan.to_openai()
    last_user = next(message for message in reversed(said) if message["role"] == "user")
    assert last_user["content"].endswith("여기가 어디지?")
    assert "어둠의 숲" in last_user["content"]
    assert "85/100" in last_user["content"]
    assert said[-1] == {"role": "system", "content": chat.note}


async def test_nothing_volatile_stands_before_the_players_words(saga: Saga, chat: Frontend) -> None:
    first = await chat.say("숲으로 간다.", WALK, location="어둠의 숲", hp_change=-15)
    second = await chat.begin("더 들어간다.")
    before, after = first.plan.to_openai(), second.plan.to_openai()
    # Everything up to the first request's last user message is unchanged in the second.
    cut = max(index for index, message in enumerate(before) if message["role"] == "user")
    assert before[:cut] == after[:cut]
    assert any("```state" in str(message["content"]) for message in after[:cut])


async def test_a_swipe_replaces_and_never_stacks(saga: Saga, chat: Frontend) -> None:
    await chat.say("광장을 둘러본다.", "사람들이 북적인다. 약초 냄새가 난다.")
    first = await chat.say("고블린과 싸운다.", FIGHT, hp_change=-50)
    second = await chat.swipe(WORSE, hp_change=-45)
    assert first.parent.id == second.parent.id
    assert (await hp(saga, first), await hp(saga, second)) == (50, 55)
    third = await chat.say("물러난다.", "가까스로 골목으로 몸을 피한다. 숨이 가쁘다.")
    assert third.parent.id == second.id
    assert await hp(saga, third) == 55


async def test_a_lane_that_moves_the_graph_during_a_read_does_not_leak(
    saga: Saga, chat: Frontend, monkeypatch: pytest.MonkeyPatch
) -> None:
    await chat.say("광장을 둘러본다.", "사람들이 북적인다. 약초 냄새가 난다.")
    await saga.drain(10)
    calm = (await chat.begin("고블린과 싸운다.")).context.text
    await chat.say("고블린과 싸운다.", FIGHT, relationship_changes=(RelationChange("아리아", "크룩", "hostile", -9),))
    del chat.history[-2:]
    await saga.drain(10)
    await saga.parts.projector.show(await saga.parts.live.get(chat.last.session.id), chat.last.parent.id)  # type: ignore[union-attr]
    read = saga.parts.reader.read

    async def slow(request: Any) -> Any:
        # The other reply's work comes in between the sources' questions.
        live = await saga.parts.live.get(request.session)
        if request.graph_scope:
            await saga.parts.projector.show(live, live.head)
        return await read(request)

    monkeypatch.setattr(saga.parts.reader, "read", slow)
    assert (await chat.begin("고블린과 싸운다.")).context.text == calm
    assert saga.counters.counts["graph.read.moved"] == 1


async def test_going_back_to_the_first_alternative_goes_back_in_state(saga: Saga, chat: Frontend) -> None:
    await chat.say("광장을 둘러본다.", "사람들이 북적인다. 약초 냄새가 난다.")
    first = await chat.say("고블린과 싸운다.", FIGHT, hp_change=-50)
    await chat.swipe(WORSE, hp_change=-45)
    chat.history[-1]["content"] = FIGHT
    third = await chat.say("물러난다.", "가까스로 골목으로 몸을 피한다. 숨이 가쁘다.")
    assert third.parent.id == first.id
    assert await hp(saga, third) == 50


async def test_a_shorter_history_is_a_branch(saga: Saga, chat: Frontend) -> None:
    await chat.say("광장을 둘러본다.", "사람들이 북적인다. 약초 냄새가 난다.")
    await chat.say(
        "검을 집는다.", "묵직한 검이 손에 들어온다. 날이 붉게 빛난다.", items_gained=(ItemAmount("불꽃 검"),)
    )
    full = list(chat.history)
    chat.history = chat.history[:2]
    branch = await chat.say("그냥 지나친다.", "등 뒤에서 누군가 웃는다. 바람이 차다.")
    inventory = {item["name"] for item in (await saga.describe(branch.session.id, branch.id))["inventory"]}
    assert "불꽃 검" not in inventory
    assert "불꽃 검" not in branch.plan.text()
    chat.history = full
    back = await chat.say("검을 휘두른다.", "불꽃이 허공을 가른다. 모두가 물러선다.")
    inventory = {item["name"] for item in (await saga.describe(back.session.id, back.id))["inventory"]}
    assert "불꽃 검" in inventory
    assert len(await saga.timelines.list(back.session.id)) == 2


async def test_an_edited_reply_keeps_its_delta_when_the_edit_is_small(saga: Saga, chat: Frontend) -> None:
    turn = await chat.say("고블린과 싸운다.", FIGHT, hp_change=-50)
    chat.history[-1]["content"] = FIGHT.replace("뜨거운", "붉은")
    after = await chat.say("물러난다.", "가까스로 골목으로 몸을 피한다. 숨이 가쁘다.")
    assert after.session.id == turn.session.id
    assert after.parent.kind is TurnKind.ADOPTED
    assert await hp(saga, after) == 50


async def test_an_edit_that_changes_the_story_does_not_keep_it(saga: Saga, chat: Frontend) -> None:
    await chat.say("고블린과 싸운다.", FIGHT, hp_change=-50)
    chat.history[-1]["content"] = "고블린은 싸우지 않고 달아났다. 광장은 다시 조용해졌다."
    after = await chat.say("쉰다.", "잠시 벤치에 앉아 숨을 고른다. 해가 기운다.")
    assert await hp(saga, after) == 100


async def test_a_continued_reply_is_one_turn(saga: Saga, chat: Frontend) -> None:
    first = await chat.say("고블린과 싸운다.", FIGHT, hp_change=-10)
    chat.note = "[Continue the following message. Do not repeat it.]"
    turn = await chat.begin(None)
    assert turn.kind is TurnKind.CONTINUATION
    shown = await answer(turn, "그리고 두 번째 화살이 날아온다.", hp_change=-5)
    chat.note = ""
    chat.history[-1]["content"] += " " + shown
    after = await chat.say("피한다.", "몸을 굴려 수레 뒤로 숨는다. 화살이 박힌다.")
    assert after.parent.id == turn.id
    assert after.parent.depth == 1
    assert after.parent.user == "고블린과 싸운다."
    assert await hp(saga, after) == 85
    assert await hp(saga, first) == 90


async def test_first_words_that_a_continued_reply_stood_under_prove_the_chat(saga: Saga, chat: Frontend) -> None:
    first = await chat.say("고블린과 싸운다.", FIGHT, hp_change=-10)
    chat.history[-2]["content"] = "검을 뽑아 들고 소리를 지른다."
    chat.note = "[Continue the following message. Do not repeat it.]"
    await answer(await chat.begin(None), "그리고 두 번째 화살이 날아온다.", hp_change=-5)
    chat.note = ""
    chat.history[-1]["content"] = "싸움은 없었다. 광장에는 아무도 오지 않았다."
    after = await chat.say("피한다.", "몸을 굴려 수레 뒤로 숨는다. 화살이 박힌다.")
    assert after.session.id == first.session.id
    assert await hp(saga, after) == 100


async def test_a_side_request_changes_nothing_and_asks_for_nothing(saga: Saga, chat: Frontend) -> None:
    first = await chat.say("고블린과 싸운다.", FIGHT, hp_change=-10)
    chat.note = "Write a short summary of the story so far."
    side = await chat.begin(None)
    assert side.kind is TurnKind.SIDE
    assert "```state" not in side.plan.text()
    await answer(side, "아리아는 고블린과 싸웠다. 팔을 다쳤다.", hp_change=-40)
    assert (await saga.sessions.get(first.session.id)).head == first.id
    chat.note = ""
    after = await chat.say("피한다.", "몸을 굴려 수레 뒤로 숨는다. 화살이 박힌다.")
    assert after.parent.id == first.id
    assert await hp(saga, after) == 90


async def test_a_group_nudge_makes_the_next_speakers_turn(saga: Saga, chat: Frontend) -> None:
    first = await chat.say("모두에게 인사한다.", '에르겐이 고개를 끄덕인다. "왔구먼."', npc_met=("에르겐",))
    chat.note = "[Write the next reply only as 미르.]"
    second = await chat.begin(None)
    shown = await answer(second, '미르가 손을 흔든다. "늦었잖아!"', npc_met=("미르",))
    chat.history.append({"role": "assistant", "content": shown})
    chat.note = ""
    third = await chat.say("앉는다.", "셋이 둘러앉는다. 모닥불이 탁탁 튄다.")
    assert (second.parent.id, third.parent.id) == (first.id, second.id)
    assert (await saga.describe(third.session.id))["npcs_present"] == ["에르겐", "미르"]


async def test_a_stopped_reply_counts_as_far_as_the_player_kept_it(saga: Saga, chat: Frontend) -> None:
    await chat.say("고블린과 싸운다.", FIGHT, hp_change=-10)
    turn = await chat.begin("달아난다.")
    turn.replies[0].feed("골목 끝에 문이 하나 있다. 문을 밀자 어둠 속에서 무언가가")
    await turn.commit(finish="aborted")
    kept = "골목 끝에 문이 하나 있다. 문을 밀자"
    chat.history += [{"role": "user", "content": "달아난다."}, {"role": "assistant", "content": kept}]
    after = await chat.say("들어간다.", "안은 조용하다. 먼지 냄새가 난다.")
    assert after.parent.reply == kept
    assert after.parent.depth == 2
    assert await hp(saga, after) == 90


async def test_a_chat_that_was_not_seen_from_its_beginning_is_adopted(saga: Saga) -> None:
    chat = Frontend(saga)
    for number in range(6):
        chat.history += [
            {"role": "user", "content": f"{number}번째 길로 간다."},
            {"role": "assistant", "content": f"{number}번째 길은 강가로 이어진다. 물소리가 들린다."},
        ]
    turn = await chat.say("멈춘다.", "강 건너에 불빛이 보인다. 누군가 있다.")
    assert turn.parent.depth == 6
    turns = await saga.views.turns(turn.session.id)
    assert [each.kind for each in turns[1:]] == [TurnKind.ADOPTED] * 6 + [TurnKind.NARRATION]
    again = await chat.say("다가간다.", "불빛이 꺼진다. 발소리가 멀어진다.")
    assert again.parent.id == turn.id


async def test_several_choices_are_siblings(saga: Saga, chat: Frontend) -> None:
    turn = await chat.begin("고블린과 싸운다.", choices=2)
    for reply, text in zip(turn.replies, (FIGHT, WORSE), strict=True):
        reply.feed(text)
    one, two = await turn.commit()
    assert one.parent == two.parent == turn.parent.id
    chat.history = [{"role": "user", "content": "고블린과 싸운다."}, {"role": "assistant", "content": WORSE}]
    assert (await chat.begin("물러난다.")).parent.id == two.id


async def test_a_new_chat_with_the_same_first_line_has_a_clean_state(saga: Saga, chat: Frontend) -> None:
    first = await chat.say("고블린과 싸운다.", FIGHT, hp_change=-50)
    other = Frontend(saga)
    again = await other.say("고블린과 싸운다.", WORSE, hp_change=-45)
    assert again.parent.id == first.parent.id
    assert await hp(saga, again) == 55
    third = Frontend(saga, greeting="비가 내리는 밤이다.")
    assert (await third.say("고블린과 싸운다.", FIGHT)).session.id != first.session.id


async def test_keys_do_not_share_sessions(saga: Saga, chat: Frontend) -> None:
    first = await chat.say("고블린과 싸운다.", FIGHT, hp_change=-50)
    other = Frontend(saga, owner="k2", history=list(chat.history))
    turn = await other.begin("물러난다.")
    assert turn.session.id != first.session.id


async def test_an_explicit_session_holds_whatever_is_sent(saga: Saga) -> None:
    chat = Frontend(saga, session="우리의 모험")
    first = await chat.say("고블린과 싸운다.", FIGHT, hp_change=-50)
    other = Frontend(saga, session="다른 모험", history=list(chat.history))
    turn = await other.begin("물러난다.")
    assert turn.session.id != first.session.id
    assert turn.session.label == "다른 모험"
    assert (await saga.sessions.get("우리의 모험")).id == first.session.id
    assert (await chat.begin("물러난다.")).parent.id == first.id


async def test_relations_met_and_inventory_of_the_state_answer(saga: Saga, chat: Frontend) -> None:
    turn = await chat.say(
        "크룩을 노려본다.",
        "크룩이 이를 드러낸다. 땅이 울린다.",
        location="어둠의 숲",
        npc_met=("고블린왕 크룩",),
        relationship_changes=(RelationChange("아리아", "크룩", "hostile", -2),),
        items_gained=(ItemAmount("치유 물약", 2),),
        event_trigger="크룩과의 대치",
    )
    state = await saga.describe(turn.session.id)
    assert len(state["npcs_met"]) == 1
    assert {"name": "치유 물약", "quantity": 2, "equipped": False} in state["inventory"]
    relation = next(each for each in state["relationships"] if each["from"] == "아리아" and "크룩" in each["to"])
    assert relation["strength"] == -2
    assert relation["type"] == "hostile"
    assert state["events"] == [{"name": "크룩과의 대치", "turn": 1}]
    assert state["world_state"]["player_location"] == "어둠의 숲"


async def test_an_abandoned_turn_is_not_recorded(saga: Saga, chat: Frontend) -> None:
    first = await chat.say("광장을 둘러본다.", "사람들이 북적인다. 약초 냄새가 난다.")
    turn = await chat.begin("간다.")
    await turn.abandon()
    with pytest.raises(BadInput, match="this turn was abandoned; begin it again"):
        await turn.commit()
    assert len((await saga.views.tree(first.session.id))["nodes"]) == 2


async def test_an_empty_reply_is_not_recorded(saga: Saga, chat: Frontend) -> None:
    turn = await chat.begin("간다.")
    turn.replies[0].feed("\n\n```state\nhp_change: -5\n```")
    assert await turn.commit() == ()


async def test_the_stores_show_what_the_journal_says(saga: Saga, chat: Frontend) -> None:
    turn = await chat.say("숲으로 간다.", WALK, location="어둠의 숲", hp_change=-15)
    report = await saga.drain(10)
    assert report.waiting == ()
    assert await saga.maintenance.differences(turn.session.id) == []
    pages, _ = await saga.views.pages(turn.session.id)
    assert pages is not None
    assert pages.watermark == turn.id
    assert "85/100" in pages.files["state.md"]
    graph = await saga.views.graph(turn.session.id)
    assert any("아리아 -LOCATED_AT" in line and "어둠의 숲" in line for line in graph["words"])
    slot = await saga.parts.projector.current_slot(await saga.parts.live.get(turn.session.id), turn.id)
    assert slot is not None


async def test_reset_and_delete(saga: Saga, chat: Frontend) -> None:
    turn = await chat.say("고블린과 싸운다.", FIGHT, hp_change=-50)
    await saga.drain(10)
    session = await saga.sessions.reset(turn.session.id)
    assert session.id == turn.session.id
    assert (await saga.describe(session.id))["hp"] == 100
    assert len((await saga.views.tree(session.id))["nodes"]) == 1
    again = await chat.begin("물러난다.")
    assert again.parent.kind is TurnKind.ADOPTED, "the deleted turns are known no more"
    await saga.sessions.delete(session.id)
    with pytest.raises(NotFound):
        await saga.views.state(session.id)
    assert await saga.stores.state.scan(("turn", session.id)) == []


async def test_bad_input_is_named(saga: Saga, chat: Frontend) -> None:
    with pytest.raises(BadInput, match="ersia"):
        await chat.begin("간다.", world="atlantis")
    with pytest.raises(BadInput, match="messages"):
        await saga.begin([])
    with pytest.raises(NotFound):
        await saga.views.turns("nothing")


async def test_worlds_are_looked_for_when_a_session_begins_and_not_at_every_turn(
    saga: Saga, chat: Frontend, monkeypatch: pytest.MonkeyPatch
) -> None:
    await chat.say("광장을 둘러본다.", "사람들이 북적인다. 약초 냄새가 난다.")

    def gone(*_: Any) -> Any:
        raise BadInput("worlds: cannot be listed")

    monkeypatch.setattr(type(saga.worlds), "choose", gone)
    assert (await chat.begin("간다.")).parent.depth == 1
    with pytest.raises(BadInput, match="cannot be listed"):
        await Frontend(saga, greeting="비가 내리는 밤이다.").begin("간다.")


async def test_without_a_journal_the_story_goes_on(saga: Saga, chat: Frontend, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(*_: Any, **__: Any) -> Any:
        raise StoreUnavailable("the disk is gone")

    monkeypatch.setattr(saga.stores.state, "get", broken)
    monkeypatch.setattr(saga.stores.state, "scan", broken)
    turn = await chat.begin("간다.")
    assert "the disk is gone" in turn.degraded["journal.read"]
    assert turn.plan.to_openai() == chat.messages("간다.")
    assert await answer(turn, WALK, hp_change=-5) == WALK
    assert "journal.read" in (saga.counters.degraded)


async def test_a_commit_that_fails_records_nothing_and_says_so(
    saga: Saga, chat: Frontend, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = await chat.say("광장을 둘러본다.", "사람들이 북적인다. 약초 냄새가 난다.")
    turn = await chat.begin("간다.")
    turn.replies[0].feed(WALK)
    commit = saga.stores.state.commit

    async def full(*_: Any, **__: Any) -> None:
        raise StoreError("disk full")

    monkeypatch.setattr(saga.stores.state, "commit", full)
    with pytest.raises(StoreError):
        await turn.commit()
    assert "journal.write" in saga.counters.degraded
    monkeypatch.setattr(saga.stores.state, "commit", commit)
    assert len((await saga.views.tree(first.session.id))["nodes"]) == 2
    (recorded,) = await turn.commit()
    assert recorded.id == turn.id
    assert "journal.write" not in saga.counters.degraded


async def test_a_restart_loses_nothing_and_goes_on(tmp_path: Path) -> None:
    session = {"default_world": "ersia", "checkpoint_every": 3}
    config = {"storage": {"path": str(tmp_path / "data")}, "session": session}
    async with Saga.open(config) as saga:
        chat = Frontend(saga)
        for number in range(8):
            turn = await chat.say(
                f"{number}번째로 친다.", f"{number}번째 일격에 먼지가 인다. 적이 비틀거린다.", hp_change=-5
            )
        before = await saga.describe(turn.session.id)
        report = await saga.drain(20)
        assert report.waiting == ()
    async with Saga.open(config) as saga:
        chat.saga = saga
        assert await saga.describe(turn.session.id) == before
        after = await chat.say("더 친다.", "마지막 일격이다. 적이 쓰러진다.", hp_change=-5)
        assert after.parent.id == turn.id
        assert await hp(saga, after) == 55
        await saga.drain(20)
        assert await saga.maintenance.differences(turn.session.id) == []


async def test_a_closed_engine_begins_no_turn() -> None:
    async with Saga.open({"storage": {"profile": "memory"}}) as saga:
        await saga.aclose()
        with pytest.raises(Closed, match="open another one"):
            await saga.begin([{"role": "user", "content": "Hm."}])


def test_an_engine_belongs_to_the_loop_that_opened_it() -> None:
    async def opened() -> Saga:
        return await Saga.open({"storage": {"profile": "memory"}})

    async def begun(saga: Saga) -> None:
        await saga.begin([{"role": "user", "content": "Hm."}])

    saga = asyncio.run(opened())
    with pytest.raises(BadInput, match="another event loop"):
        asyncio.run(begun(saga))
