"""The tree as a public thing: named timelines, comparing, pruning."""

from __future__ import annotations

import unicodedata
from collections.abc import AsyncIterator
from typing import Any

import pytest

from saga_core import Saga
from saga_core.errors import BadInput, Conflict, NotFound, StoreUnavailable
from saga_core.model.tree import TurnKind
from saga_core.play.pending_turn import PendingTurn
from tests.core.frontend import Frontend, answer, memory_config


@pytest.fixture
async def saga() -> AsyncIterator[Saga]:
    async with Saga.open(memory_config(checkpoint_every=2)) as opened:
        yield opened


@pytest.fixture
def chat(saga: Saga) -> Frontend:
    return Frontend(saga, session="나의 모험")


async def heads(saga: Saga, session: str = "나의 모험") -> dict[str, str]:
    """Named timelines to their heads, as the SDK lists them; as the journal has them too."""
    listed = {each["name"]: each["head"] for each in await saga.timelines.list(session) if each["name"]}
    stored = await saga.parts.journal.timelines((await saga.sessions.get(session)).id)
    assert {name: timeline.head for name, timeline in stored.items()} == listed
    return listed


async def thin(saga: Saga, session: str, words: str, reply: str, **fields: Any) -> PendingTurn:
    """A turn of a client that sends no history."""
    turn = await saga.begin([{"role": "user", "content": words}], session=session)
    await answer(turn, reply, **fields)
    return turn


def scene(number: int, name: str = "길") -> tuple[str, str]:
    return f"{number}번째 {name}로 간다.", f"{number}번째 {name}은 언덕을 넘는다. 멀리 {name}의 끝이 보인다."


async def walk(chat: Frontend, count: int, name: str = "길", **fields: Any) -> list[PendingTurn]:
    return [await chat.say(*scene(number, name), **fields) for number in range(count)]


class TestNames:
    @pytest.mark.parametrize("name", ["2", "0", "99", "-1", " 02 ", "２", "٢", "2\u200b"])
    async def test_a_number_names_no_timeline(self, saga: Saga, chat: Frontend, name: str) -> None:
        turns = await walk(chat, 3)
        with pytest.raises(BadInput, match="because a number means a turn"):
            await saga.timelines.fork("나의 모험", turns[0].id, name)
        await saga.timelines.fork("나의 모험", turns[0].id, "한때")
        with pytest.raises(BadInput, match="because a number means a turn"):
            await saga.timelines.rename("나의 모험", "한때", name)

    async def test_the_id_of_a_turn_names_no_timeline(self, saga: Saga, chat: Frontend) -> None:
        first, second, _ = await walk(chat, 3)
        for name in (second.id, second.id.upper(), "t01m8m95n1p6qmar4a2xv"):
            with pytest.raises(BadInput, match="is the id of a turn"):
                await saga.timelines.fork("나의 모험", first.id, name)

    @pytest.mark.parametrize("name", [".", ".."])
    async def test_no_name_leads_to_another_address(self, saga: Saga, chat: Frontend, name: str) -> None:
        (turn,) = await walk(chat, 1)
        with pytest.raises(BadInput, match="cannot name a timeline"):
            await saga.timelines.fork("나의 모험", turn.id, name)

    async def test_a_fork_is_listed_with_its_place(self, saga: Saga, chat: Frontend) -> None:
        first, second, third = await walk(chat, 3)
        made = await saga.timelines.fork("나의 모험", second.id, "  어두운   결말 ")
        assert (made.name, made.fork, made.head) == ("어두운 결말", second.id, second.id)
        rows = await saga.timelines.list("나의 모험")
        assert [(row["name"], row["head"], row["fork"], row["depth"], row["active"]) for row in rows] == [
            (None, third.id, None, 3, True),
            ("어두운 결말", second.id, second.id, 2, False),
        ]
        assert first.id not in {row["head"] for row in rows}

    async def test_without_a_turn_the_active_head_is_forked_and_a_timeline_can_be(
        self, saga: Saga, chat: Frontend
    ) -> None:
        *_, last = await walk(chat, 2)
        made = await saga.timelines.fork(last.session.id, None, "light")
        again = await saga.timelines.fork(last.session.id, "light", "dark")
        assert made.head == again.head == last.id
        rows = await saga.timelines.list(last.session.id)
        assert [row["name"] for row in rows] == ["dark", "light"], "a named head is no second, nameless row"

    @pytest.mark.parametrize("name", ["", "  ", "a@b", "x" * 201, "종\x07소리"])
    async def test_what_cannot_be_a_name(self, saga: Saga, chat: Frontend, name: str) -> None:
        await walk(chat, 1)
        with pytest.raises(BadInput, match=r"^name: .*; give 1 to 200 printable characters without '@'"):
            await saga.timelines.fork("나의 모험", None, name)
        await saga.timelines.fork("나의 모험", None, "정상")
        with pytest.raises(BadInput, match="name"):
            await saga.timelines.rename("나의 모험", "정상", name)
        assert set(await heads(saga)) == {"정상"}

    async def test_names_are_taken_once_for_each_session(self, saga: Saga, chat: Frontend) -> None:
        await walk(chat, 1)
        await walk(Frontend(saga, session="다른 모험"), 1)
        await saga.timelines.fork("나의 모험", None, "끝")
        await saga.timelines.fork("다른 모험", None, "끝")
        decomposed = unicodedata.normalize("NFD", "끝")
        assert decomposed != "끝"
        with pytest.raises(Conflict, match="has a timeline '끝' already; choose another name"):
            await saga.timelines.fork("나의 모험", None, decomposed)

    async def test_a_turn_may_be_named_by_its_number(self, saga: Saga, chat: Frontend) -> None:
        _, second, _ = await walk(chat, 3)
        await chat.swipe("다른 길이 나온다. 안개가 짙고 물소리가 들린다.")
        assert (await saga.timelines.fork("나의 모험", "2", "둘")).head == second.id
        for number in ("4", "-1", "２", "9" * 5_000):
            with pytest.raises(NotFound, match=r"the turns of its active path are 0 to 3"):
                await saga.views.explain("나의 모험", number)

    async def test_what_is_not_there(self, saga: Saga, chat: Frontend) -> None:
        await walk(chat, 1)
        with pytest.raises(NotFound, match="no turn and no timeline 'nowhere'"):
            await saga.timelines.fork("나의 모험", "nowhere", "끝")
        with pytest.raises(NotFound, match="no session"):
            await saga.timelines.fork("nobody", None, "끝")
        with pytest.raises(NotFound, match="no timeline '끝'"):
            await saga.timelines.rename("나의 모험", "끝", "시작")
        with pytest.raises(NotFound, match="no timeline '끝'"):
            await saga.timelines.forget("나의 모험", "끝")

    async def test_renaming_and_forgetting(self, saga: Saga, chat: Frontend) -> None:
        *_, last = await walk(chat, 2)
        made = await saga.timelines.fork("나의 모험", None, "끝")
        await saga.timelines.fork("나의 모험", None, "다른 끝")
        assert await saga.timelines.rename("나의 모험", "끝", "끝") == made
        renamed = await saga.timelines.rename("나의 모험", "끝", "밝은 끝")
        assert (renamed.fork, renamed.head) == (last.id, last.id)
        with pytest.raises(Conflict):
            await saga.timelines.rename("나의 모험", "밝은 끝", "다른 끝")
        assert set(await heads(saga)) == {"밝은 끝", "다른 끝"}
        await saga.timelines.forget("나의 모험", "밝은 끝")
        assert set(await heads(saga)) == {"다른 끝"}
        assert len(await saga.views.turns("나의 모험")) == 3, "its turns stay"

    async def test_they_survive_a_restart(self, tmp_path: Any) -> None:
        config = {"storage": {"path": str(tmp_path / "data")}, "session": {"default_world": "ersia"}}
        async with Saga.open(config) as saga:
            chat = Frontend(saga, session="room")
            first, _ = await walk(chat, 2)
            await saga.timelines.fork("room", first.id, "dark")
            turn = await thin(saga, "room@dark", "돌아간다.", "돌아가는 길은 어둡다. 아무도 없다.")
            await saga.timelines.fork("room", None, "gone")
            await saga.timelines.forget("room", "gone")
        async with Saga.open(config) as saga:
            assert await heads(saga, "room") == {"dark": turn.id}
            again = await thin(saga, "room@dark", "부른다.", "대답이 없다. 메아리만 돌아온다.")
            assert again.parent.id == turn.id
            assert await heads(saga, "room") == {"dark": again.id}

    async def test_a_name_that_could_not_be_stored_is_not_there(
        self, saga: Saga, chat: Frontend, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        await walk(chat, 1)
        with monkeypatch.context() as patch:
            patch.setattr(saga.stores.state, "commit", broken)
            with pytest.raises(StoreUnavailable):
                await saga.timelines.fork("나의 모험", None, "끝")
        assert await heads(saga) == {}


async def broken(*_: Any, **__: Any) -> None:
    raise StoreUnavailable("the disk is gone")


class TestFollowing:
    async def test_a_turn_behind_the_head_and_a_swipe_of_it_move_it(self, saga: Saga, chat: Frontend) -> None:
        await walk(chat, 2)
        await saga.timelines.fork("나의 모험", None, "끝")
        third = await chat.say(*scene(3))
        assert await heads(saga) == {"끝": third.id}
        swipe = await chat.swipe("세 번째 길은 절벽에서 끊긴다. 바람이 거세다.")
        assert await heads(saga) == {"끝": swipe.id}
        fourth = await chat.say(*scene(4))
        assert await heads(saga) == {"끝": fourth.id}

    async def test_other_words_at_the_same_place_are_another_path(self, saga: Saga, chat: Frontend) -> None:
        await walk(chat, 1)
        await saga.timelines.fork("나의 모험", None, "끝")
        second = await chat.say(*scene(2))
        del chat.history[-2:]
        await chat.say(*scene(2, "강"))
        assert await heads(saga) == {"끝": second.id}

    async def test_it_never_leaves_the_turn_where_it_was_forked(self, saga: Saga, chat: Frontend) -> None:
        *_, second = await walk(chat, 2)
        await saga.timelines.fork("나의 모험", None, "끝")
        await chat.swipe("길은 늪에서 끝난다. 물이 차갑다. 발이 빠진다.")
        assert await heads(saga) == {"끝": second.id}

    async def test_a_request_that_names_one_moves_no_other(self, saga: Saga, chat: Frontend) -> None:
        await walk(chat, 2)
        await saga.timelines.fork("나의 모험", None, "빛")
        await saga.timelines.fork("나의 모험", None, "어둠")
        dark = await thin(saga, "나의 모험@어둠", "검을 든다.", "검이 검게 물든다. 손이 떨린다.")
        light = await thin(saga, "나의 모험@빛", "검을 든다.", "검이 하얗게 빛난다. 어둠이 물러난다.")
        assert dark.parent.id == light.parent.id
        assert await heads(saga) == {"빛": light.id, "어둠": dark.id}

    async def test_a_named_one_goes_wherever_its_requests_go_below_the_fork(self, saga: Saga, chat: Frontend) -> None:
        first, second, _ = await walk(chat, 3)
        await saga.timelines.fork("나의 모험", second.id, "끝")
        chat.session = "나의 모험@끝"
        fourth = await chat.say(*scene(4))
        assert await heads(saga) == {"끝": fourth.id}
        del chat.history[4:]
        other = await chat.say(*scene(3, "강"))
        assert other.parent.id == second.id
        assert await heads(saga) == {"끝": other.id}
        del chat.history[2:]
        above = await chat.say(*scene(2, "산"))
        assert above.parent.id == first.id
        assert await heads(saga) == {"끝": other.id}, "what lies above its fork is none of its"

    async def test_side_requests_move_none_until_they_prove_to_be_part_of_the_story(
        self, saga: Saga, chat: Frontend
    ) -> None:
        await walk(chat, 1)
        await saga.timelines.fork("나의 모험", None, "끝")
        second = await chat.say(*scene(2))
        chat.note = "Write a short summary of the story so far."
        side = await chat.begin(None)
        assert side.kind is TurnKind.SIDE
        shown = await answer(side, "두 번째 길에서 여관이 나타난다. 모두가 쉰다.")
        assert await heads(saga) == {"끝": second.id}
        chat.note = ""
        chat.history.append({"role": "assistant", "content": shown})
        third = await chat.say(*scene(3))
        assert third.parent.id == side.id
        assert await heads(saga) == {"끝": third.id}

    async def test_a_continued_and_an_edited_reply_take_it_along(self, saga: Saga, chat: Frontend) -> None:
        await walk(chat, 1)
        await saga.timelines.fork("나의 모험", None, "끝")
        await chat.say(*scene(2))
        chat.note = "[Continue the following message. Do not repeat it.]"
        longer = await chat.begin(None)
        chat.history[-1]["content"] += " " + await answer(longer, "그리고 해가 진다.")
        assert await heads(saga) == {"끝": longer.id}
        chat.note = ""
        chat.history[-1]["content"] = chat.history[-1]["content"].replace("언덕", "고개")
        third = await chat.say(*scene(3))
        assert third.parent.kind is TurnKind.ADOPTED
        assert await heads(saga) == {"끝": third.id}

    async def test_of_several_replies_the_first_is_its_head(self, saga: Saga, chat: Frontend) -> None:
        await walk(chat, 1)
        await saga.timelines.fork("나의 모험", None, "끝")
        turn = await chat.begin("나아간다.", choices=2)
        for reply, text in zip(turn.replies, (scene(2)[1], scene(2, "강")[1]), strict=True):
            reply.feed(text)
        one, _ = await turn.commit()
        assert await heads(saga) == {"끝": one.id}

    async def test_what_is_not_recorded_moves_nothing(
        self, saga: Saga, chat: Frontend, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        *_, last = await walk(chat, 1)
        await saga.timelines.fork("나의 모험", None, "끝")
        turn = await chat.begin("나아간다.")
        turn.replies[0].feed("길이 갈라진다. 어느 쪽도 밝지 않다.")
        with monkeypatch.context() as patch:
            patch.setattr(saga.stores.state, "commit", broken)
            with pytest.raises(StoreUnavailable):
                await turn.commit()
        assert await heads(saga) == {"끝": last.id}
        await turn.commit()
        assert await heads(saga) == {"끝": turn.id}


class TestEntering:
    @pytest.mark.parametrize("by", ["label", "id"])
    async def test_a_client_without_history_plays_on_where_it_stands(self, saga: Saga, chat: Frontend, by: str) -> None:
        first, second = await walk(chat, 2, hp_change=-10)
        session = "나의 모험" if by == "label" else first.session.id
        await saga.timelines.fork(session, first.id, "끝")
        one = await thin(saga, f"{session}@끝", "검을 뽑는다.", "검이 운다. 손이 저리다.", hp_change=-5)
        two = await thin(saga, f"{session}@끝", "다시 벤다.", "먼지가 인다. 아무도 없다.", hp_change=-5)
        assert (one.parent.id, two.parent.id) == (first.id, one.id)
        assert (await saga.describe(session, two.id))["hp"] == 80
        assert [turn.id for turn in await saga.views.turns(session, head=two.id)][1:] == [first.id, one.id, two.id]
        assert second.id not in {turn.id for turn in await saga.views.turns(session, head=two.id)}

    async def test_a_fresh_chat_enters_and_its_history_decides_from_then_on(self, saga: Saga, chat: Frontend) -> None:
        first, second = await walk(chat, 2)
        await saga.timelines.fork("나의 모험", first.id, "끝")
        fresh = Frontend(saga, session="나의 모험@끝", greeting="다시 시작된 밤이다.")
        entered = await fresh.say("불을 켠다.", "등불이 흔들린다. 벽에 그림자가 진다.")
        assert entered.parent.id == first.id
        after = await fresh.say("나간다.", "문밖은 고요하다. 눈이 내린다.")
        assert after.parent.id == entered.id
        await thin(saga, "나의 모험@끝", "뛴다.", "눈길이 미끄럽다. 숨이 찬다.")
        again = await fresh.begin("돌아본다.")
        assert again.parent.id == after.id, "the history proves its own place, wherever the timeline stands"
        elsewhere = Frontend(saga, session="나의 모험@끝", history=list(chat.history))
        assert (await elsewhere.begin("돌아본다.")).parent.id == second.id

    async def test_the_same_words_again_are_another_reply_to_them(self, saga: Saga, chat: Frontend) -> None:
        first, *_ = await walk(chat, 2, hp_change=-10)
        await saga.timelines.fork("나의 모험", first.id, "끝")
        fresh = Frontend(saga, session="나의 모험@끝")
        one = await fresh.say("싸운다.", "칼날이 부딪친다. 불꽃이 튄다.", hp_change=-20)
        two = await fresh.swipe("칼을 놓친다. 무릎이 꺾인다.", hp_change=-30)
        assert one.parent.id == two.parent.id == first.id
        assert (await saga.describe("나의 모험", two.id))["hp"] == 60
        assert await heads(saga) == {"끝": two.id}

    async def test_words_that_were_answered_at_the_fork_itself_are_said_behind_it(
        self, saga: Saga, chat: Frontend
    ) -> None:
        first, *_ = await walk(chat, 1)
        await saga.timelines.fork("나의 모험", first.id, "끝")
        turn = await thin(saga, "나의 모험@끝", scene(0)[0], "또 같은 길이다. 발자국이 있다.")
        assert turn.parent.id == first.id

    async def test_an_unknown_history_goes_on_there(self, saga: Saga, chat: Frontend) -> None:
        first, *_ = await walk(chat, 2)
        await saga.timelines.fork("나의 모험", first.id, "끝")
        strange = Frontend(saga, session="나의 모험@끝")
        strange.history = [
            {"role": "user", "content": "항구로 간다."},
            {"role": "assistant", "content": "항구에는 배가 없다. 갈매기가 운다."},
        ]
        turn = await strange.say("기다린다.", "밤이 되어도 배는 오지 않는다.")
        path = await saga.timelines.path("나의 모험", "끝")
        assert [step["id"] for step in path[1:]] == [first.id, turn.parent.id, turn.id]

    async def test_an_unknown_timeline_of_a_known_session_is_refused(self, saga: Saga, chat: Frontend) -> None:
        await walk(chat, 1)
        await saga.timelines.fork("나의 모험", None, "끝")
        with pytest.raises(NotFound, match=r"'나의 모험' has no timeline '끗'; it has: 끝\. Fork it first, or"):
            await saga.begin([{"role": "user", "content": "hi"}], session="나의 모험@끗")
        assert len(await saga.sessions.list()) == 1

    async def test_at_signs_may_stand_in_the_names_of_sessions(self, saga: Saga) -> None:
        mail = Frontend(saga, session="aria@example.com")
        turn = await mail.say(*scene(1))
        assert turn.session.label == "aria@example.com"
        strange = await saga.begin([{"role": "user", "content": "hi"}], session="나의 모험@끝")
        (told,) = [each for each in strange.notices if "is new; there is no session" in each]
        assert "'나의 모험@끝' is new; there is no session '나의 모험' that could have a timeline '끝'" in told
        assert not [each for each in (await mail.begin("간다.")).notices if "is new" in each]
        await saga.timelines.fork("aria@example.com", None, "끝")
        entered = await thin(saga, "aria@example.com@끝", "간다.", "바람이 분다. 낙엽이 진다.")
        assert entered.parent.id == turn.id
        aria = await Frontend(saga, session="aria").say(*scene(1))
        assert (await mail.begin("간다.")).session.id == turn.session.id, "a session of the whole name comes first"
        assert aria.session.id != turn.session.id

    async def test_sessions_of_other_keys_are_not_entered(self, saga: Saga, chat: Frontend) -> None:
        turn, *_ = await walk(chat, 1)
        await saga.timelines.fork("나의 모험", None, "끝")
        other = await saga.begin([{"role": "user", "content": "hi"}], session="나의 모험@끝", owner="k2")
        assert other.session.id != turn.session.id
        by_id = await saga.begin([{"role": "user", "content": "hi"}], session=f"{turn.session.id}@끝", owner="k2")
        assert by_id.session.id not in (turn.session.id, other.session.id), "as if there were no such session"


class TestPath:
    async def test_ids_and_excerpts(self, saga: Saga, chat: Frontend) -> None:
        first, second = await walk(chat, 2)
        await saga.timelines.fork("나의 모험", first.id, "끝")
        path = await saga.timelines.path("나의 모험")
        assert [(step["id"], step["depth"]) for step in path[1:]] == [(first.id, 1), (second.id, 2)]
        assert (path[0]["kind"], path[2]["user"]) == ("root", scene(1)[0])
        assert (
            await saga.timelines.path("나의 모험", "끝") == path[:2] == await saga.timelines.path("나의 모험", first.id)
        )
        with pytest.raises(NotFound):
            await saga.timelines.path("나의 모험", "없음")
