"""The tree as a public thing: named timelines, comparing, pruning."""

from __future__ import annotations

import unicodedata
from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest

from saga_core.engine.begun import BegunTurn
from saga_core.engine.saga import Saga
from saga_core.errors import BadInput, Conflict, NotFound, StoreUnavailable
from saga_core.journal import keys
from saga_core.journal.transcript import identity, identity_key, prefix_keys
from saga_core.model.turn import TurnKind
from saga_core.state_block import ItemAmount, RelationChange, StatusChange
from saga_core.stores.state_kv import Batch, Key
from tests.core.engine.play import Frontend, answer, memory_config


@pytest.fixture
async def saga() -> AsyncIterator[Saga]:
    async with Saga.open(memory_config(checkpoint_every=2)) as opened:
        yield opened


@pytest.fixture
def chat(saga: Saga) -> Frontend:
    return Frontend(saga, session="나의 모험")


async def heads(saga: Saga, session: str = "나의 모험") -> dict[str, str]:
    """Named timelines to their heads, as the SDK lists them; as the journal has them too."""
    listed = {each["name"]: each["head"] for each in await saga.timelines(session) if each["name"]}
    stored = await saga.journal.timelines((await saga.session(session)).id)
    assert {name: timeline.head for name, timeline in stored.items()} == listed
    return listed


async def thin(saga: Saga, session: str, words: str, reply: str, **fields: Any) -> BegunTurn:
    """A turn of a client that sends no history."""
    turn = await saga.begin([{"role": "user", "content": words}], session=session)
    await answer(turn, reply, **fields)
    return turn


def scene(number: int, name: str = "길") -> tuple[str, str]:
    return f"{number}번째 {name}로 간다.", f"{number}번째 {name}은 언덕을 넘는다. 멀리 {name}의 끝이 보인다."


async def walk(chat: Frontend, count: int, name: str = "길", **fields: Any) -> list[BegunTurn]:
    return [await chat.say(*scene(number, name), **fields) for number in range(count)]


class TestNames:
    async def test_a_fork_is_listed_with_its_place(self, saga: Saga, chat: Frontend) -> None:
        first, second, third = await walk(chat, 3)
        made = await saga.fork("나의 모험", second.id, "  어두운   결말 ")
        assert (made.name, made.fork, made.head) == ("어두운 결말", second.id, second.id)
        rows = await saga.timelines("나의 모험")
        assert [(row["name"], row["head"], row["fork"], row["depth"], row["active"]) for row in rows] == [
            (None, third.id, None, 3, True),
            ("어두운 결말", second.id, second.id, 2, False),
        ]
        assert first.id not in {row["head"] for row in rows}

    async def test_without_a_turn_the_active_head_is_forked_and_a_timeline_can_be(
        self, saga: Saga, chat: Frontend
    ) -> None:
        *_, last = await walk(chat, 2)
        made = await saga.fork(last.session.id, None, "light")
        again = await saga.fork(last.session.id, "light", "dark")
        assert made.head == again.head == last.id
        rows = await saga.timelines(last.session.id)
        assert [row["name"] for row in rows] == ["dark", "light"], "a named head is no second, nameless row"

    @pytest.mark.parametrize("name", ["", "  ", "a@b", "x" * 201, "종\x07소리"])
    async def test_what_cannot_be_a_name(self, saga: Saga, chat: Frontend, name: str) -> None:
        await walk(chat, 1)
        with pytest.raises(BadInput, match=r"^name: .*; give 1 to 200 printable characters without '@'"):
            await saga.fork("나의 모험", None, name)
        await saga.fork("나의 모험", None, "정상")
        with pytest.raises(BadInput, match="name"):
            await saga.rename_timeline("나의 모험", "정상", name)
        assert set(await heads(saga)) == {"정상"}

    async def test_names_are_taken_once_for_each_session(self, saga: Saga, chat: Frontend) -> None:
        await walk(chat, 1)
        await walk(Frontend(saga, session="다른 모험"), 1)
        await saga.fork("나의 모험", None, "끝")
        await saga.fork("다른 모험", None, "끝")
        decomposed = unicodedata.normalize("NFD", "끝")
        assert decomposed != "끝"
        with pytest.raises(Conflict, match="has a timeline '끝' already; choose another name"):
            await saga.fork("나의 모험", None, decomposed)

    async def test_what_is_not_there(self, saga: Saga, chat: Frontend) -> None:
        await walk(chat, 1)
        with pytest.raises(NotFound, match="no turn and no timeline 'nowhere'"):
            await saga.fork("나의 모험", "nowhere", "끝")
        with pytest.raises(NotFound, match="no session"):
            await saga.fork("nobody", None, "끝")
        with pytest.raises(NotFound, match="no timeline '끝'"):
            await saga.rename_timeline("나의 모험", "끝", "시작")
        with pytest.raises(NotFound, match="no timeline '끝'"):
            await saga.forget_timeline("나의 모험", "끝")

    async def test_renaming_and_forgetting(self, saga: Saga, chat: Frontend) -> None:
        *_, last = await walk(chat, 2)
        made = await saga.fork("나의 모험", None, "끝")
        await saga.fork("나의 모험", None, "다른 끝")
        assert await saga.rename_timeline("나의 모험", "끝", "끝") == made
        renamed = await saga.rename_timeline("나의 모험", "끝", "밝은 끝")
        assert (renamed.fork, renamed.head) == (last.id, last.id)
        with pytest.raises(Conflict):
            await saga.rename_timeline("나의 모험", "밝은 끝", "다른 끝")
        assert set(await heads(saga)) == {"밝은 끝", "다른 끝"}
        await saga.forget_timeline("나의 모험", "밝은 끝")
        assert set(await heads(saga)) == {"다른 끝"}
        assert len(await saga.turns("나의 모험")) == 3, "its turns stay"

    async def test_they_survive_a_restart(self, tmp_path: Any) -> None:
        config = {"storage": {"path": str(tmp_path / "data")}, "session": {"default_world": "ersia"}}
        async with Saga.open(config) as saga:
            chat = Frontend(saga, session="room")
            first, second = await walk(chat, 2)
            await saga.fork("room", first.id, "dark")
            turn = await thin(saga, "room@dark", "돌아간다.", "돌아가는 길은 어둡다. 아무도 없다.")
            await saga.fork("room", None, "gone")
            await saga.forget_timeline("room", "gone")
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
                await saga.fork("나의 모험", None, "끝")
        assert await heads(saga) == {}


async def broken(*_: Any, **__: Any) -> None:
    raise StoreUnavailable("the disk is gone")


class TestFollowing:
    async def test_a_turn_behind_the_head_and_a_swipe_of_it_move_it(self, saga: Saga, chat: Frontend) -> None:
        await walk(chat, 2)
        await saga.fork("나의 모험", None, "끝")
        third = await chat.say(*scene(3))
        assert await heads(saga) == {"끝": third.id}
        swipe = await chat.swipe("세 번째 길은 절벽에서 끊긴다. 바람이 거세다.")
        assert await heads(saga) == {"끝": swipe.id}
        fourth = await chat.say(*scene(4))
        assert await heads(saga) == {"끝": fourth.id}

    async def test_other_words_at_the_same_place_are_another_path(self, saga: Saga, chat: Frontend) -> None:
        await walk(chat, 1)
        await saga.fork("나의 모험", None, "끝")
        second = await chat.say(*scene(2))
        del chat.history[-2:]
        await chat.say(*scene(2, "강"))
        assert await heads(saga) == {"끝": second.id}

    async def test_it_never_leaves_the_turn_where_it_was_forked(self, saga: Saga, chat: Frontend) -> None:
        *_, second = await walk(chat, 2)
        await saga.fork("나의 모험", None, "끝")
        await chat.swipe("길은 늪에서 끝난다. 물이 차갑다. 발이 빠진다.")
        assert await heads(saga) == {"끝": second.id}

    async def test_a_request_that_names_one_moves_no_other(self, saga: Saga, chat: Frontend) -> None:
        await walk(chat, 2)
        await saga.fork("나의 모험", None, "빛")
        await saga.fork("나의 모험", None, "어둠")
        dark = await thin(saga, "나의 모험@어둠", "검을 든다.", "검이 검게 물든다. 손이 떨린다.")
        light = await thin(saga, "나의 모험@빛", "검을 든다.", "검이 하얗게 빛난다. 어둠이 물러난다.")
        assert dark.parent.id == light.parent.id
        assert await heads(saga) == {"빛": light.id, "어둠": dark.id}

    async def test_a_named_one_goes_wherever_its_requests_go_below_the_fork(self, saga: Saga, chat: Frontend) -> None:
        first, second, _ = await walk(chat, 3)
        await saga.fork("나의 모험", second.id, "끝")
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
        await saga.fork("나의 모험", None, "끝")
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
        await saga.fork("나의 모험", None, "끝")
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
        await saga.fork("나의 모험", None, "끝")
        turn = await chat.begin("나아간다.", choices=2)
        for reply, text in zip(turn.replies, (scene(2)[1], scene(2, "강")[1]), strict=True):
            reply.feed(text)
        one, _ = await turn.commit()
        assert await heads(saga) == {"끝": one.id}

    async def test_what_is_not_recorded_moves_nothing(
        self, saga: Saga, chat: Frontend, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        *_, last = await walk(chat, 1)
        await saga.fork("나의 모험", None, "끝")
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
        await saga.fork(session, first.id, "끝")
        one = await thin(saga, f"{session}@끝", "검을 뽑는다.", "검이 운다. 손이 저리다.", hp_change=-5)
        two = await thin(saga, f"{session}@끝", "다시 벤다.", "먼지가 인다. 아무도 없다.", hp_change=-5)
        assert (one.parent.id, two.parent.id) == (first.id, one.id)
        assert (await saga.describe(session, two.id))["hp"] == 80
        assert [turn.id for turn in await saga.turns(session, head=two.id)][1:] == [first.id, one.id, two.id]
        assert second.id not in {turn.id for turn in await saga.turns(session, head=two.id)}

    async def test_a_fresh_chat_enters_and_its_history_decides_from_then_on(self, saga: Saga, chat: Frontend) -> None:
        first, second = await walk(chat, 2)
        await saga.fork("나의 모험", first.id, "끝")
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
        await saga.fork("나의 모험", first.id, "끝")
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
        await saga.fork("나의 모험", first.id, "끝")
        turn = await thin(saga, "나의 모험@끝", scene(0)[0], "또 같은 길이다. 발자국이 있다.")
        assert turn.parent.id == first.id

    async def test_an_unknown_history_goes_on_there(self, saga: Saga, chat: Frontend) -> None:
        first, *_ = await walk(chat, 2)
        await saga.fork("나의 모험", first.id, "끝")
        strange = Frontend(saga, session="나의 모험@끝")
        strange.history = [
            {"role": "user", "content": "항구로 간다."},
            {"role": "assistant", "content": "항구에는 배가 없다. 갈매기가 운다."},
        ]
        turn = await strange.say("기다린다.", "밤이 되어도 배는 오지 않는다.")
        path = await saga.path("나의 모험", "끝")
        assert [step["id"] for step in path[1:]] == [first.id, turn.parent.id, turn.id]

    async def test_an_unknown_timeline_of_a_known_session_is_refused(self, saga: Saga, chat: Frontend) -> None:
        await walk(chat, 1)
        await saga.fork("나의 모험", None, "끝")
        with pytest.raises(NotFound, match=r"'나의 모험' has no timeline '끗'; it has: 끝\. Fork it first, or"):
            await saga.begin([{"role": "user", "content": "hi"}], session="나의 모험@끗")
        assert len(await saga.sessions()) == 1

    async def test_at_signs_may_stand_in_the_names_of_sessions(self, saga: Saga) -> None:
        mail = Frontend(saga, session="aria@example.com")
        turn = await mail.say(*scene(1))
        assert turn.session.label == "aria@example.com"
        await saga.fork("aria@example.com", None, "끝")
        entered = await thin(saga, "aria@example.com@끝", "간다.", "바람이 분다. 낙엽이 진다.")
        assert entered.parent.id == turn.id
        aria = await Frontend(saga, session="aria").say(*scene(1))
        assert (await mail.begin("간다.")).session.id == turn.session.id, "a session of the whole name comes first"
        assert aria.session.id != turn.session.id

    async def test_sessions_of_other_keys_are_not_entered(self, saga: Saga, chat: Frontend) -> None:
        turn, *_ = await walk(chat, 1)
        await saga.fork("나의 모험", None, "끝")
        other = await saga.begin([{"role": "user", "content": "hi"}], session="나의 모험@끝", owner="k2")
        assert other.session.id != turn.session.id
        with pytest.raises(NotFound):
            await saga.begin([{"role": "user", "content": "hi"}], session=f"{turn.session.id}@끝", owner="k2")


class TestComparing:
    async def parted(self, saga: Saga, language: str = "ko") -> tuple[BegunTurn, BegunTurn]:
        """Two paths of one session: a fight that was lost in the woods, and a purchase in the village."""
        chat = Frontend(saga, session="room", greeting="The market is loud.")
        await chat.say("장터를 걷는다.", "장터가 붐빈다. 북소리가 난다.", npc_met=("미르",), event_trigger="장날")
        await saga.fork("room", None, "빛")
        await saga.fork("room", None, "어둠")
        chat.session = "room@어둠"
        dark = await chat.say(
            "숲으로 간다.",
            "숲에서 크룩이 덮친다. 미르가 쓰러진다.",
            location="어둠의 숲",
            hp_change=-40,
            mood="desperate",
            items_gained=(ItemAmount("불꽃 검"),),
            npc_met=("크룩",),
            npc_separated=("미르",),
            status_changes=(StatusChange("미르", "dead"),),
            relationship_changes=(RelationChange("아리아", "크룩", "hostile", -2),),
            event_trigger="숲의 습격",
        )
        del chat.history[-2:]
        chat.session = "room@빛"
        light = await chat.say(
            "물약을 산다.", "상인이 웃는다. 물약이 반짝인다.", items_gained=(ItemAmount("치유 물약", 2),)
        )
        return dark, light

    async def test_data(self, saga: Saga) -> None:
        dark, light = await self.parted(saga)
        found = await saga.compare("room", "어둠", "빛")
        assert (found.session, found.depth, found.ancestor) == (dark.session.id, 1, dark.parent.id)
        assert (found.one.name, found.one.turn, found.one.depth, found.one.since) == ("어둠", dark.id, 2, (dark.id,))
        assert (found.other.name, found.other.turn, found.other.since) == ("빛", light.id, (light.id,))
        listed = {(each.kind, each.subject): (each.one, each.other) for each in found.differences}
        assert listed["place", "아리아"] == ("어둠의 숲", "마을 광장")
        assert listed["hp", "아리아"] == (60, 100)
        assert listed["mood", "아리아"][0] == "desperate"
        assert listed["item", "불꽃 검"] == (1, 0)
        have = (await saga.describe("room", light.id))["inventory"]
        potions = next(item["quantity"] for item in have if item["name"] == "치유 물약")
        assert listed["item", "치유 물약"][1] == potions
        assert listed["dead", "미르"] == (1, 0)
        relation = next(each for each in found.differences if each.kind == "relation")
        assert (relation.subject, relation.one, relation.other) == ("아리아 → 고블린왕 크룩", "hostile (-2)", None)
        assert listed["event", "숲의 습격"] == (1, 0)
        assert ("event", "장날") not in listed, "what happened before they parted is shared"

    async def test_words_in_both_languages(self, saga: Saga) -> None:
        await self.parted(saga)
        korean = await saga.compare("room", "어둠", "빛", language="ko")
        english = await saga.compare("room", "어둠", "빛", language="en")
        assert (korean.language, english.language) == ("ko", "en")
        assert korean.differences == english.differences
        for line in (
            "위치: 어둠에서는 어둠의 숲, 빛에서는 마을 광장",
            "HP: 어둠에서는 60, 빛에서는 100",
            "소지품: 불꽃 검: 어둠에서는 1개, 빛에서는 없음",
            "죽은 인물: 미르 (어둠에서만)",
            "관계: 아리아 → 고블린왕 크룩: 어둠에서는 hostile (-2), 빛에서는 없음",
            "사건: 숲의 습격 (어둠에서만)",
        ):
            assert line in korean.words
        for line in (
            "Place: 어둠의 숲 in 어둠, 마을 광장 in 빛",
            "HP: 60 in 어둠, 100 in 빛",
            "Inventory: 불꽃 검: 1 in 어둠, none in 빛",
            "Dead: 미르, only in 어둠",
            "Relation: 아리아 → 고블린왕 크룩: hostile (-2) in 어둠, none in 빛",
            "Event: 숲의 습격, only in 어둠",
        ):
            assert line in english.words
        assert len(korean.words) == len(english.words) == len(korean.differences)
        assert (await saga.compare("room", "어둠", "빛")).words == korean.words, "the world's own language"

    async def test_the_order_is_fixed_and_the_other_way_round_is_the_mirror(self, saga: Saga) -> None:
        await self.parted(saga)
        there, back = await saga.compare("room", "어둠", "빛"), await saga.compare("room", "빛", "어둠")
        assert [(each.kind, each.subject, each.other, each.one) for each in back.differences] == [
            (each.kind, each.subject, each.one, each.other) for each in there.differences
        ]
        kinds = [each.kind for each in there.differences]
        order = "place hp max_hp mood item equipped present met dead relation event".split()
        assert kinds == sorted(kinds, key=order.index)

    async def test_turns_by_id_are_called_by_their_number(self, saga: Saga) -> None:
        dark, light = await self.parted(saga)
        found = await saga.compare("room", dark.parent.id, light.id, language="ko")
        assert (found.one.name, found.one.since, found.other.name) == ("1번째 턴", (), "2번째 턴")
        twins = await saga.compare("room", dark.id, light.id, language="en")
        assert (twins.one.name, twins.other.name) == (f"turn 2 ({dark.id})", f"turn 2 ({light.id})")
        same = await saga.compare("room", dark.id, "어둠")
        assert (same.differences, same.words, same.ancestor) == ((), (), dark.id)

    async def test_bad_input(self, saga: Saga) -> None:
        await self.parted(saga)
        with pytest.raises(NotFound, match="no turn and no timeline '저녁'"):
            await saga.compare("room", "어둠", "저녁")
        with pytest.raises(BadInput, match="language: 'fr' is not known; use ko or en"):
            await saga.compare("room", "어둠", "빛", language="fr")


class TestPath:
    async def test_ids_and_excerpts(self, saga: Saga, chat: Frontend) -> None:
        first, second = await walk(chat, 2)
        await saga.fork("나의 모험", first.id, "끝")
        path = await saga.path("나의 모험")
        assert [(step["id"], step["depth"]) for step in path[1:]] == [(first.id, 1), (second.id, 2)]
        assert (path[0]["kind"], path[2]["user"]) == ("root", scene(1)[0])
        assert await saga.path("나의 모험", "끝") == path[:2] == await saga.path("나의 모험", first.id)
        with pytest.raises(NotFound):
            await saga.path("나의 모험", "없음")


def residue(rows: Mapping[Key, bytes], gone: set[str]) -> list[Key]:
    """The entries of a store that name one of some turns, in their key or their value."""
    return [key for key, raw in rows.items() if gone & set(key) or any(turn.encode() in raw for turn in gone)]


async def everything(saga: Saga) -> dict[Key, bytes]:
    return dict(await saga.stores.state.scan((), limit=100_000))


async def no_trace(saga: Saga, session: str, gone: set[str], replies: list[str]) -> None:
    """Nothing of the turns is left anywhere."""
    assert residue(await everything(saga), gone) == []
    for reply in replies:
        assert await saga.journal.replies("", identity_key(reply)) == []
        for prefix in prefix_keys(identity(reply)):
            assert gone.isdisjoint(turn for _, turn in await saga.journal.beginnings("", prefix))
    assert gone.isdisjoint(item.id for item in await saga.stores.vector.scan(f"episodes:{session}"))
    for slot in range(saga.projector.slots):
        assert await saga.stores.graph.watermark(f"{session}.{slot}") not in gone
    live = await saga.live.get(session)
    assert gone.isdisjoint(live.tree.nodes)
    assert not any(turn in live.episodes for turn in gone)
    assert (await saga.drain(10)).waiting == ()
    assert await saga.verify(session) == []


class Branches:
    """A session with an active path and another one, far enough apart, so that each has views of its own."""

    def __init__(self, saga: Saga) -> None:
        self.saga = saga
        self.chat = Frontend(saga, session="나의 모험")
        self.bad: list[BegunTurn] = []
        self.good: list[BegunTurn] = []

    async def play(self) -> None:
        (self.trunk,) = await walk(self.chat, 1, "길", hp_change=-1)
        self.bad = await walk(self.chat, 9, "늪", hp_change=-2)
        await self.saga.drain(10)
        del self.chat.history[2:]
        self.good = await walk(self.chat, 6, "산", mood="calm")
        assert (await self.saga.drain(10)).waiting == ()
        self.session = self.trunk.session.id

    @property
    def bad_ids(self) -> set[str]:
        return {turn.id for turn in self.bad}

    @property
    def bad_replies(self) -> list[str]:
        return [turn.replies[0].text for turn in self.bad]


@pytest.fixture
async def branches(saga: Saga) -> Branches:
    found = Branches(saga)
    await found.play()
    return found


class TestPruning:
    async def test_nothing_is_left(self, saga: Saga, branches: Branches) -> None:
        assert residue(await everything(saga), branches.bad_ids), "or the test below could not fail"
        shown = {await saga.stores.graph.watermark(f"{branches.session}.{slot}") for slot in range(4)}
        assert {branches.bad[-1].id, branches.good[-1].id} <= shown
        pruned = await saga.prune("나의 모험", branches.bad[0].id)
        assert (pruned.turns, pruned.forgotten, pruned.shortened) == (9, (), ())
        await no_trace(saga, branches.session, branches.bad_ids, branches.bad_replies)
        assert [turn.id for turn in await saga.turns("나의 모험")][1:] == [
            branches.trunk.id,
            *(turn.id for turn in branches.good),
        ]
        for turn in branches.bad:
            with pytest.raises(NotFound):
                await saga.state("나의 모험", turn.id)
        assert await saga.explain("나의 모험", branches.bad[0].id) is None
        assert saga.counters.counts["turns.pruned"] == 9
        after = await branches.chat.say("내려간다.", "산을 내려간다. 강이 반짝인다.")
        assert after.parent.id == branches.good[-1].id

    async def test_a_part_of_a_path(self, saga: Saga, branches: Branches) -> None:
        assert (await saga.prune("나의 모험", branches.bad[4].id)).turns == 5
        gone = {turn.id for turn in branches.bad[4:]}
        await no_trace(saga, branches.session, gone, branches.bad_replies[4:])
        assert len(await saga.turns("나의 모험", head=branches.bad[3].id)) == 6

    async def test_a_history_that_still_shows_it_is_adopted(self, saga: Saga, branches: Branches) -> None:
        told = Frontend(saga, session="나의 모험", history=branches.chat.history[:2])
        for number in range(9):
            words, reply = scene(number, "늪")
            told.history += [{"role": "user", "content": words}, {"role": "assistant", "content": reply}]
        await saga.prune("나의 모험", branches.bad[0].id)
        turn = await told.begin("빠져나온다.")
        assert (turn.parent.kind, turn.parent.depth) == (TurnKind.ADOPTED, 10)
        assert turn.parent.id not in branches.bad_ids

    async def test_what_must_not_go(self, saga: Saga, branches: Branches) -> None:
        with pytest.raises(BadInput, match=r"^turn: .* is the session's root; reset the session"):
            await saga.prune("나의 모험", branches.trunk.parent.id)
        for turn in (branches.trunk, branches.good[0], branches.good[-1]):
            with pytest.raises(BadInput, match=r"^turn: .* active head .*; play a turn on another path first"):
                await saga.prune("나의 모험", turn.id)
        with pytest.raises(NotFound, match="has no turn 'nothing'"):
            await saga.prune("나의 모험", "nothing")
        assert len((await saga.tree("나의 모험"))["nodes"]) == 17
        told = Frontend(saga, session="나의 모험", history=branches.chat.history[:2])
        await told.say(*scene(1, "강"))
        assert (await saga.prune("나의 모험", branches.good[0].id)).turns == 6

    async def test_named_timelines(self, saga: Saga, branches: Branches) -> None:
        await saga.fork("나의 모험", branches.bad[1].id, "안")
        await saga.fork("나의 모험", branches.trunk.id, "밖")
        live = await saga.live.get(branches.session)
        entered = Frontend(saga, session="나의 모험@밖", history=branches.chat.history[:2])
        for number in range(9):
            words, reply = scene(number, "늪")
            entered.history += [{"role": "user", "content": words}, {"role": "assistant", "content": reply}]
        deeper = await entered.say("가라앉는다.", "늪이 발목을 삼킨다. 손을 뻗는다.")
        assert live.timelines["밖"].head == deeper.id
        await branches.chat.say("오른다.", "봉우리가 보인다. 바람이 차다.")
        pruned = await saga.prune("나의 모험", branches.bad[0].id)
        assert (pruned.turns, pruned.forgotten, pruned.shortened) == (10, ("안",), ("밖",))
        assert await heads(saga) == {"밖": branches.trunk.id}
        await no_trace(saga, branches.session, {*branches.bad_ids, deeper.id}, branches.bad_replies)

    async def test_first_words_are_known_as_long_as_a_turn_answers_them(self, saga: Saga) -> None:
        chat = Frontend(saga)
        one = await chat.say("간다.", "길이 열린다. 해가 뜬다. 새가 운다.")
        two = await chat.swipe("길이 닫힌다. 해가 진다. 새가 떠난다.")
        del chat.history[-2:]
        three = await chat.say("멈춘다.", "발이 멈춘다. 해가 머문다. 새가 본다.")
        assert one.session.id == two.session.id
        assert three.session.id != one.session.id, "another beginning, another session"
        session = one.session.id
        history = [{"role": "user", "content": "간다."}, {"role": "assistant", "content": two.replies[0].text}]
        last = Frontend(saga, history=history)
        await last.say("또 간다.", "또 길이다. 끝이 없다. 해가 높다.")
        openings = await saga.stores.state.scan(("open",))
        await saga.prune(session, one.id)
        assert [key for key, _ in await saga.stores.state.scan(("open",))] == [key for key, _ in openings]
        assert residue(await everything(saga), {one.id}) == []
        assert (await Frontend(saga).begin("간다.")).session.id == session
        chat.session = session
        chat.history = []
        other = await chat.say("눕는다.", "하늘이 높다. 구름이 흐른다. 잠이 온다.")
        assert other.session.id == session
        await saga.prune(session, two.id)
        assert residue(await everything(saga), {one.id, two.id}) == []
        assert (await Frontend(saga).begin("간다.")).session.id != session

    async def test_first_words_of_unknown_origin_go_with_the_last_first_turn(self, saga: Saga) -> None:
        chat = Frontend(saga, session="room")
        one = await chat.say("간다.", "길이 열린다. 해가 뜬다. 새가 운다.")
        ((key, _),) = await saga.stores.state.scan(("open",))
        await saga.stores.state.commit(Batch({key: b""}))
        chat.history = []
        two = await chat.say("멈춘다.", "발이 멈춘다. 해가 머문다. 새가 본다.")
        await saga.prune("room", one.id)
        assert len(await saga.stores.state.scan(("open",))) == 2
        assert two.session.id == one.session.id

    async def test_amendments_and_checkpoints_go_too(self, saga: Saga, branches: Branches) -> None:
        from saga_core.model.deltas import Delta, HpChanged

        live = await saga.live.get(branches.session)
        player = (await live.state(live.head)).player
        for number, turn in enumerate((branches.bad[2], branches.good[2])):
            node = live.tree.get(turn.id)
            await saga.journal.amend(branches.session, str(number), Delta((HpChanged(player, -5),)), node)
        assert await saga.stores.state.scan(("state", branches.session)) != []
        await saga.prune("나의 모험", branches.bad[0].id)
        assert residue(await everything(saga), branches.bad_ids) == []
        kept = await saga.stores.state.scan(("amend", branches.session))
        assert [key[2] for key, _ in kept] == [branches.good[2].id]


class Failing:
    """A store whose n-th commit, counted from now, fails."""

    def __init__(self, saga: Saga, at: int) -> None:
        self.store = saga.stores.state
        self.commit = self.store.commit
        self.left = at

    async def __call__(self, *args: Any, **given: Any) -> None:
        if not self.left:
            raise StoreUnavailable("the disk is gone")
        self.left -= 1
        await self.commit(*args, **given)


async def reopened(saga: Saga) -> Saga:
    """What a process finds that starts on the same data: nothing in memory, the waiting work queued."""
    for session in await saga.journal.sessions():
        await saga.lanes.cancel(session.id)
        saga.live.forget(session.id)
    for session_id, turn in await saga.journal.jobs():
        saga.lanes.submit(session_id, [turn])
    assert (await saga.drain(10)).waiting == ()
    return saga


async def interrupted(saga: Saga, change: Any, monkeypatch: pytest.MonkeyPatch, at: int) -> bool:
    """Run ``change`` with a journal whose commit number ``at`` fails; whether it did."""
    failing = Failing(saga, at)
    with monkeypatch.context() as patch:
        patch.setattr(saga.stores.state, "commit", failing)
        try:
            await change()
        except StoreUnavailable:
            return True
        return False


class TestInterrupted:
    """The journal fails at each commit in turn: what is left loads, is whole, and the same call again finishes."""

    async def test_pruning(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("saga_core.journal.removal._TURNS", 2)
        at, failed = 0, True
        while failed:
            async with Saga.open(memory_config(checkpoint_every=2)) as saga:
                branches = Branches(saga)
                await branches.play()
                await saga.fork("나의 모험", branches.bad[2].id, "안")
                prune = lambda: saga.prune("나의 모험", branches.bad[0].id)  # noqa: E731
                failed = await interrupted(saga, prune, monkeypatch, at)
                assert (await saga.drain(10)).waiting == ()
                assert await saga.verify(branches.session) == [], "also without a restart"
                await reopened(saga)
                assert await saga.verify(branches.session) == []
                tree = (await saga.live.get(branches.session)).tree
                for node in tree.nodes.values():
                    assert node.parent is None or node.parent in tree
                assert set((await saga.journal.timelines(branches.session))) <= {"안"}
                for timeline in (await saga.journal.timelines(branches.session)).values():
                    assert timeline.head in tree
                assert (await saga.describe("나의 모험"))["mood"] == "calm"
                if failed:
                    assert branches.bad[0].id in tree, "the last to go"
                    await prune()
                await no_trace(saga, branches.session, branches.bad_ids, branches.bad_replies)
                assert await heads(saga) == {}
            at += 1
        assert at >= 6

    @pytest.mark.parametrize("way", ["reset", "delete"])
    async def test_resetting_and_deleting(self, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("saga_core.journal.removal._TURNS", 5)
        at, failed = 0, True
        while failed:
            async with Saga.open(memory_config(checkpoint_every=2)) as saga:
                branches = Branches(saga)
                await branches.play()
                await saga.fork("나의 모험", branches.bad[2].id, "안")
                old = {node["id"] for node in (await saga.tree("나의 모험"))["nodes"]}
                change = lambda: getattr(saga, way)(branches.session)  # noqa: E731
                failed = await interrupted(saga, change, monkeypatch, at)
                await reopened(saga)
                if failed:
                    (summary,) = await saga.sessions()
                    assert summary.session.label == "나의 모험"
                    assert (await saga.describe("나의 모험"))["turn"] >= 0
                    after = await branches.chat.begin("나아간다.")
                    assert after.session.id == branches.session
                    after.replies[0].feed("길은 아직 남아 있다. 발밑이 단단하다.")
                    await after.commit()
                    old |= {node["id"] for node in (await saga.tree("나의 모험"))["nodes"]}
                    await change()
                if way == "delete":
                    assert await saga.sessions() == []
                    assert {key[0] for key in await everything(saga)} <= {"meta", "world"}
                    assert await saga.stores.vector.count(f"episodes:{branches.session}") == 0
                else:
                    assert residue(await everything(saga), old) == []
                    assert len((await saga.tree("나의 모험"))["nodes"]) == 1
                    assert (await saga.describe("나의 모험"))["hp"] == 100
                    (summary,) = await saga.sessions()
                    assert (summary.turns, summary.session.head) == (0, summary.session.root)
                    assert await heads(saga) == {}
                    assert keys.label("", "나의 모험") in await everything(saga)
            at += 1
        assert at >= 6
