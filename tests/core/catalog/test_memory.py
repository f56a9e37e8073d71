"""What is known besides the story: listed, corrected and undone, on the path on which it was learned."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from itertools import count
from typing import Any

import pytest

from saga_core import Saga
from saga_core.errors import BadInput, NotFound
from saga_core.model import MAX_NOTES
from saga_core.state_block import ItemAmount, ItemTransfer, StatusChange
from tests.core.frontend import MEMORY, Frontend, memory_config

WALK = "낡은 길을 따라 숲 속으로 들어선다. 나무가 빛을 가린다."


@pytest.fixture
async def saga() -> AsyncIterator[Saga]:
    async with Saga.open(memory_config()) as opened:
        await Frontend(opened, session="모험").say("가자", WALK, hp_change=-5, npc_met=("에르겐",))
        yield opened


async def hp(saga: Saga) -> int:
    return int((await saga.describe("모험"))["hp"])


async def test_a_correction_holds_at_once_and_is_undone_and_had_again(saga: Saga) -> None:
    change = await saga.memory.correct("모험", "hp", {"hp": "40"})
    assert await hp(saga) == 40
    undoing, turn = await saga.memory.undo("모험", change)
    assert await hp(saga) == 95 and turn == (await saga.views.state("모험")).turn
    with pytest.raises(BadInput, match=f"is undone already; undo '{undoing}' to have it again"):
        await saga.memory.undo("모험", change)
    await saga.memory.undo("모험", undoing)
    assert await hp(saga) == 40
    assert (saga.counters.counts["changes.made"], saga.counters.counts["changes.undone"]) == (1, 2)
    with pytest.raises(NotFound, match="has no change 'a9'"):
        await saga.memory.undo("모험", "a9")


async def test_changes_are_listed_with_who_made_them_and_what_undid_them(saga: Saga) -> None:
    change = await saga.memory.correct("모험", "hp", {"hp": "40"})
    other = await saga.memory.correct("모험", "mood", {"mood": "calm"})
    undoing, turn = await saga.memory.undo("모험", change)
    found = await saga.memory.changes("모험")
    assert [(each["id"], each["undone"], each["by"], each["turn"]) for each in found] == [
        (other, None, "edit", 0),
        (change, undoing, "edit", 1),  # The reply itself said how many are left.
    ]
    assert found[1]["turn_id"] == turn and found[0]["events"][0]["t"] == "mood_changed"


async def test_entities_are_listed_with_all_their_names(saga: Saga) -> None:
    found = {each["name"]: each for each in await saga.memory.entities("모험")}
    assert found["아리아"]["player"] and found["아리아"]["kind"] == "character"
    assert not found["에르겐"]["player"] and found["에르겐"]["status"] is not None
    assert all(each["status"] is None for each in found.values() if each["kind"] != "character")


async def test_a_remark_of_a_person_is_told_in_the_next_turn_and_one_taken_back_is_told_as_untrue() -> None:
    async with Saga.open(memory_config()) as saga:
        chat = Frontend(saga, session="강")
        await chat.say("강가로 간다", "물이 깊다.", notes="종은 강바닥에 있다")
        for step in range(10):
            await chat.say(f"{step}째 다리를 건넌다", f"{step}째 다리가 삐걱인다.")
        assert "종은 강바닥에 있다" in str((await chat.begin("둘러본다")).plan), "it stands in the pages"
        with pytest.raises(BadInput, match="remark: the latest 3 have no '종은 없다'"):
            await saga.memory.correct("강", "unnote", {"remark": "종은 없다"})
        change = await saga.memory.correct(
            "강", "unnote", {"remark": "종은 강바닥에 있다", "text": "종은 배 위에 있다"}
        )
        told = str((await chat.begin("둘러본다")).context.text)
        assert '사실 아님: "종은 강바닥에 있다"' in told and "종은 배 위에 있다" in told
        assert [each["text"] for each in (await saga.describe("강"))["notes"]][2:] == ["종은 배 위에 있다"]
        await saga.memory.undo("강", change)
        told = str((await chat.begin("둘러본다")).context.text)
        assert "사실 아님" not in told and "배 위에" not in told


async def test_what_was_joined_or_forgotten_is_known_by_its_former_name(saga: Saga) -> None:
    frontend = Frontend(saga, session="강")
    await frontend.say("강가로 간다", "뱃사공이 노를 젓는다.", npc_met=("뱃사공", "오를라", "일제"))
    ids = {each["name"]: each["id"] for each in await saga.memory.entities("강")}
    assert await saga.memory.former_names("강") == {}
    change = await saga.memory.correct("강", "merge", {"one": "뱃사공", "into": "오를라"})
    assert await saga.memory.former_names("강") == {ids["뱃사공"]: "뱃사공"}
    await frontend.say("더 간다", "다리 밑을 지난다.", npc_met=("오를라", "일제"))
    await saga.memory.correct("강", "forget", {"who": "일제"})
    assert await saga.memory.former_names("강") == {ids["뱃사공"]: "뱃사공", ids["일제"]: "일제"}
    await saga.memory.undo("강", change)
    assert await saga.memory.former_names("강") == {ids["일제"]: "일제"}


async def test_somebody_who_was_only_described_gets_the_name_of_whom_she_is_joined_with() -> None:
    async with Saga.open(memory_config(default_world=None)) as saga:
        chat = Frontend(saga, session="inn")
        await chat.say("I sit.", "A man sits there.", npc_met=("the man in the oilskin",))
        await chat.say("And?", "Rafe Calloway comes.", npc_met=("Rafe Calloway",))
        await saga.memory.correct("inn", "merge", {"one": "Rafe Calloway", "into": "the man in the oilskin"})
        found = await saga.memory.entity("inn", "Rafe Calloway")
        assert (found["name"], found["aliases"]) == ("Rafe Calloway", ["the man in the oilskin"])


async def test_somebody_who_is_alive_again_stays_so_when_the_reply_that_lists_her_is_swiped() -> None:
    async with Saga.open(memory_config(default_world=None)) as saga:
        chat = Frontend(saga, session="inn")
        await chat.say("I sit.", "Two are there.", present=("Mara", "Owen"))
        await chat.say("And?", "Owen falls.", present=("Mara",), status_changes=(StatusChange("Owen", "dead"),))
        await chat.say("Oh.", "Mara weeps.", present=("Mara",))
        await chat.say("Look!", "Owen comes in.", present=("Mara", "Owen"))
        await saga.memory.correct("inn", "status", {"who": "Owen", "status": "alive"})
        assert {"Mara", "Owen"} == set((await saga.describe("inn"))["npcs_present"])
        await chat.swipe("The door stays shut.", present=("Mara",))
        told = (await chat.begin("And?")).context.text
        assert "Dead" not in told


async def test_what_curators_know_is_data_also_where_it_is_nothing(saga: Saga) -> None:
    known = await saga.memory.curated("모험")
    assert known["turn"] == 1 and known["findings"] == known["story"] == known["schedule"] == known["reviews"] == []
    assert known["lore"] == known["blocks"] == {}


async def test_an_entity_is_looked_up_by_name_and_a_turn_by_number(saga: Saga) -> None:
    found = await saga.memory.entity("모험", "에르겐", "1")
    assert found["name"] == "에르겐" and found == await saga.memory.entity("모험", found["id"])
    assert (await saga.memory.entity("모험", "나"))["player"]
    await saga.memory.correct("모험", "give", {"item": "에르겐"})
    with pytest.raises(BadInput, match=rf"entity: '에르겐' may be .*{found['id']} \(character 에르겐\)"):
        await saga.memory.entity("모험", "에르겐")
    with pytest.raises(NotFound, match="has no entity '없음' at turn 1; GET …/entities lists them"):
        await saga.memory.entity("모험", "없음")
    assert (await saga.memory.lines("모험", "0"))["turn"] == 0
    assert (await saga.memory.records("모험", turn="1"))["turn"] == 1
    assert (await saga.views.state("모험", "0")).depth == 0


async def test_without_strategies_a_fact_is_remembered_as_a_note(saga: Saga) -> None:
    change = await saga.memory.correct("모험", "remember", {"text": "비를 좋아한다"})
    assert (await saga.memory.records("모험"))["memories"] == []
    assert "비를 좋아한다" in [text for _, text in (await saga.views.state("모험")).notes]
    await saga.memory.undo("모험", change)
    for kind, fields in (("unremember", {"record": "m0"}), ("remember", {"text": "비", "record": "m0"})):
        with pytest.raises(BadInput, match="needs memory strategies, and none is configured"):
            await saga.memory.correct("모험", kind, fields)


async def test_a_record_is_listed_in_its_namespace_and_corrected_where_it_was_learned() -> None:
    async with Saga.open({**MEMORY, "memory_strategies": {"facts": {}}}) as saga:
        first = await Frontend(saga, session="하나").say("가자", WALK)
        await Frontend(saga, session="둘", greeting="Hello.").say("Go.", "The road leads into a dark wood.")
        await saga.memory.correct("하나", "remember", {"text": "비를 좋아한다"})
        await saga.memory.correct("하나", "remember", {"text": "Likes the rain.", "namespace": "/facts/{actor}"})
        await saga.drain(10)
        own, shared = (await saga.memory.records("하나"))["memories"]
        assert own["namespace"] == f"/own/local/{first.session.id}" and shared["namespace"] == "/facts/local"
        assert own["told"] and own["strategy"] is None and own["session"] == first.session.id
        listed = await saga.memory.records("하나", namespace="/facts")
        assert [each["text"] for each in listed["memories"]] == ["Likes the rain."]
        nearest = await saga.memory.records("하나", query="rain")
        assert nearest["memories"][0]["text"] == "Likes the rain."
        (seen,) = (await saga.memory.records("둘"))["memories"]
        assert seen["session"] == first.session.id and seen["id"] == shared["id"]
        with pytest.raises(BadInput, match=f"was learned in session {first.session.id}; correct it there"):
            await saga.memory.correct("둘", "unremember", {"record": shared["id"]})
        with pytest.raises(BadInput, match="namespace"):
            await saga.memory.records("하나", namespace="facts")


async def _corrected(saga: Saga, kind: str, fields: dict[str, str], **second: object) -> Frontend:
    """Two turns, and a correction after the second."""
    play = Frontend(saga, session="숲")
    await play.say("가자", WALK, hp_change=-5, npc_met=("에르겐", "두건 쓴 남자"), notes="문이 잠겨 있다")
    await play.say("더 가자", "숲이 깊어진다.", **second)
    await saga.memory.correct("숲", kind, fields)
    return play


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("merge", {"one": "두건 쓴 남자", "into": "에르겐"}),
        ("hp", {"hp": "40"}),
        ("give", {"item": "밧줄", "quantity": "2"}),
        ("parted", {"who": "에르겐"}),
        ("unnote", {"remark": "문이 잠겨 있다"}),
        ("profile", {"profile": "romance"}),
    ],
)
async def test_a_correction_holds_for_another_reply_in_the_place_of_the_last(
    saga: Saga, kind: str, fields: dict[str, str]
) -> None:
    play = await _corrected(saga, kind, fields)

    async def told() -> list[object]:
        lines = (await saga.memory.lines("숲"))["lines"]
        shown = [(each["kind"], each["subject"], each["text"], each["number"]) for each in lines]
        return [shown, await saga.memory.entities("숲")]

    corrected = await told()
    (change,) = await saga.memory.changes("숲")
    assert change["turn"] == 1
    await play.swipe("숲이 갑자기 끝난다.")
    assert await told() == corrected
    await saga.memory.undo("숲", change["id"])
    assert await told() != corrected
    (undone,) = await saga.memory.changes("숲")
    assert undone["undone"] and undone["id"] == change["id"]


async def test_a_correction_of_what_the_last_reply_said_goes_with_that_reply(saga: Saga) -> None:
    play = await _corrected(saga, "hp", {"hp": "90"}, hp_change=-45)
    assert (await saga.describe("숲"))["hp"] == 90
    await play.swipe("숲이 갑자기 끝난다.")
    assert (await saga.describe("숲"))["hp"] == 95


@pytest.mark.parametrize(("kind", "field", "value"), [("hp", "hp", 50), ("note", "text", b"x"), ("mood", "who", None)])
async def test_a_field_of_a_correction_is_a_text(saga: Saga, kind: str, field: str, value: Any) -> None:
    turn = await Frontend(saga).say("I go.", "You go.")
    with pytest.raises(BadInput, match=re.escape(f"fields['{field}']: is {value!r}, a ")):
        await saga.memory.correct(turn.session.id, kind, {field: value})


async def test_a_correction_at_a_turn_holds_from_that_turn_only(saga: Saga) -> None:
    play = await _corrected(saga, "note", {"text": "비가 온다"})
    await saga.memory.correct("숲", "mood", {"mood": "calm"}, "2")
    assert (await saga.describe("숲"))["mood"] == "calm"
    await play.swipe("숲이 갑자기 끝난다.")
    assert (await saga.describe("숲"))["mood"] != "calm"


async def test_a_death_by_hand_is_shown_and_told_since_the_same_turn(saga: Saga) -> None:
    chat = Frontend(saga, session="길")
    for number in range(3):
        await chat.say(f"{number}째 길을 간다", "길이 갈라진다.", npc_met=("에르겐",) if not number else ())
    await saga.memory.correct("길", "status", {"who": "에르겐", "status": "dead"})
    (line,) = [each for each in (await saga.memory.lines("길"))["lines"] if each["kind"] == "status"]
    assert line["turn"] == 2, "it was so before the latest reply, and so the narrator is told"
    assert f"에르겐 ({line['turn']}턴부터)" in (await chat.begin("에르겐은 어디에 있나")).context.text


async def test_what_a_person_had_before_she_was_split_off_came_when_it_came(saga: Saga) -> None:
    chat = Frontend(saga, session="길")
    await chat.say("가자", "간다.", npc_met=("데지",), items_transferred=(ItemTransfer("얼음", "에르겐", "데지"),))
    await chat.say("더 가자", "간다.")
    await saga.memory.correct("길", "merge", {"one": "데지", "into": "아리아"})
    await saga.memory.correct("길", "split", {"of": "아리아", "name": "데지"})
    (line,) = [each for each in (await saga.memory.lines("길"))["lines"] if each["text"] == "얼음"]
    assert (line["turn"], line["by"]) == (1, "block")


async def test_a_condition_is_added_to_those_there_are_and_ended_alone(saga: Saga) -> None:
    async def condition() -> list[str]:
        return [each["text"] for each in (await saga.memory.lines("모험"))["lines"] if each["kind"] == "condition"]

    for status in ("+옆구리 베임", "+오른쪽 어깨 부상", "+옆구리 베임"):
        await saga.memory.correct("모험", "status", {"status": status})
    assert await condition() == ["옆구리 베임; 오른쪽 어깨 부상"]
    with pytest.raises(BadInput, match="status: '아리아' has no condition '감기', but 옆구리 베임, 오른쪽 어깨 부상"):
        await saga.memory.correct("모험", "status", {"status": "-감기"})
    await saga.memory.correct("모험", "status", {"status": "-옆구리 베임"})
    assert await condition() == ["오른쪽 어깨 부상"]
    await saga.memory.correct("모험", "status", {"status": "-오른쪽 어깨 부상"})
    assert await condition() == []
    wounds = [
        f"{number}번째 화살이 {part}에 박혀 피가 아주 많이 흐름"
        for number, part in enumerate(["팔", "다리", "등", "어깨"])
    ]
    for wound in wounds:
        await saga.memory.correct("모험", "status", {"who": "에르겐", "status": f"+{wound}"})
    chat = Frontend(saga, session="모험")
    chat.history = [{"role": "user", "content": "가자"}, {"role": "assistant", "content": WALK}]
    assert f"에르겐 ({'; '.join(wounds)}" in (await chat.begin("에르겐을 본다")).context.text


async def test_a_chapter_that_a_person_rewrote_outlives_the_reply_with_which_it_was_summarized() -> None:
    async with Saga.open(memory_config()) as saga:
        play = Frontend(saga, session="숲")
        for step in range(12):
            await play.say(f"{step}째 길을 간다", "숲이 깊어진다.", notes=f"{step}째 나무를 지났다")
        await saga.drain(10)
        fields = {"first": "1", "last": "10", "text": "그들은 숲을 지났다."}
        assert (await saga.memory.preview("숲", "chapter", fields))["turn"] == 11
        change = await saga.memory.correct("숲", "chapter", fields)
        assert f"1–10턴, 지금까지의 이야기에 적힌 것 대신: {fields['text']}" in (await play.begin("보자")).context.text
        for _ in range(2):
            told = (await saga.memory.curated("숲"))["story"]
            assert [(part["first"], part["text"]) for part in told if part["by_hand"]] == [(1, fields["text"])]
            await play.swipe("숲이 갑자기 끝난다.", notes="강이 보인다")
            await saga.drain(10)
        await saga.memory.undo("숲", change)
        assert not any(part["by_hand"] for part in (await saga.memory.curated("숲"))["story"])


async def test_a_place_that_was_corrected_and_undone_is_no_more_told_of_the_turns_below(saga: Saga) -> None:
    play = await _corrected(saga, "move", {"place": "다락방"})
    await play.swipe("숲이 갑자기 끝난다.")
    for step in range(3):
        await play.say(f"{step}째 길을 간다", f"{step}째 새가 난다.")

    async def told() -> int:
        return sum("다락방" in row["text"] for row in await saga.views.search("다락방", session_id="숲"))

    assert await told() == 5
    (change,) = await saga.memory.changes("숲")
    undoing, _ = await saga.memory.undo("숲", change["id"])
    assert await told() == 0
    await saga.drain(10)
    assert (await saga.maintenance.verify()).equal
    await saga.memory.undo("숲", undoing)
    assert await told() == 5


async def effects(saga: Saga, kind: str, **fields: str) -> list[tuple[str | None, str | None]]:
    """What the preview of a correction shows, as it was and as it would be."""
    found = (await saga.memory.preview("숲", kind, fields))["effect"]
    return [
        tuple(each[side] and f"{each[side]['kind']} {each[side]['text']}" for side in ("was", "is")) for each in found
    ]


async def test_who_leaves_keeps_what_they_have_and_who_is_forgotten_does_not(saga: Saga) -> None:
    play = Frontend(saga, session="숲")
    gift = ItemTransfer("나침반", "플레이어", "미라")
    await play.say("준다", WALK, present=("미라",), items_gained=(ItemAmount("나침반"),))
    await play.say("준다", WALK, present=("미라",), items_transferred=(gift,))
    await play.say("간다", "미라가 돌아간다.", present=(), npc_separated=("미라",))
    told = (await saga.timelines.turn("숲", (await saga.views.state("숲")).turn))["effect"]
    assert [(each["was"]["kind"], each["is"]) for each in told] == [("present", None)]
    assert ("item 나침반", None) in await effects(saga, "forget", who="미라")
    assert any(was and was.startswith("elsewhere ") for was, _ in await effects(saga, "forget", who="미라"))


async def test_a_note_that_is_added_takes_none_away_in_its_preview(saga: Saga) -> None:
    play = Frontend(saga, session="숲")
    for step in range(MAX_NOTES):
        await play.say(f"{step}", WALK, notes=f"{step}째 나무를 지났다")
    assert await effects(saga, "note", text="미라는 왼손잡이다") == [(None, "note 미라는 왼손잡이다")]
    oldest = (await saga.views.state("숲")).notes[0][1]
    changed = await effects(saga, "unnote", remark=oldest, text="미라는 왼손잡이다")
    assert changed == [(f"note {oldest}", None), (None, "note 미라는 왼손잡이다")]


async def test_who_is_unmasked_in_a_report_is_known_by_the_name_of_before(saga: Saga) -> None:
    play = Frontend(saga, session="숲")
    await play.say("묻는다", "복면 사내가 서 있다.", npc_met=("복면 사내",))
    await play.say("벗긴다", "강무진이다.", present=("강무진",), notes="복면 사내의 정체는 강무진이었다")
    state = await saga.views.state("숲")
    (gone,) = state.merged
    assert set(await saga.memory.former_names("숲")) == {gone}


async def test_others_go_on_while_it_is_found_where_a_correction_holds(saga: Saga) -> None:
    await saga.drain(5)
    meanwhile = asyncio.create_task(_steps())
    await saga.memory.correct("모험", "give", {"item": "silver sword"})
    meanwhile.cancel()
    assert await meanwhile >= 5, "one between any two looks at everybody and everything"


async def _steps() -> int:
    """How often the event loop got control until this is cancelled."""
    for number in count():
        try:
            await asyncio.sleep(0)
        except asyncio.CancelledError:
            return number
    raise AssertionError


async def test_a_page_says_once_when_somebody_was_first_heard_of_and_no_word_for_the_player_as_a_name() -> None:
    async with Saga.open(memory_config(default_world=None)) as saga:
        chat = Frontend(saga, "The inn is full.", "Write a reply in a chat between Mara and Jules.", "", session="inn")
        await chat.say("I sit.", '"Jules!" says Mara.', present=("Mara",))
        await chat.say('"My name is Jules Abernathy."', "Mara nods.", present=("Mara", "Player"))
        await chat.say('"Call me Julie."', '"Julie it is," Mara says.', present=("Mara",))
        await chat.say("I nod.", "Mara drinks.", present=("Mara Quill",))
        told = {}
        for who in ("Jules", "Mara"):
            found = await saga.memory.entity("inn", who)
            assert "Player" not in found["aliases"]
            events = (event for row in found["history"] for event in row["events"])
            told[who] = [(each.get("again"), each.get("names")) for each in events if each["t"] == "introduced"]
        assert told == {"Jules": [(None, None)], "Mara": [(True, ["Mara Quill"]), (None, None)]}


async def test_what_is_counted_by_hand_comes_from_the_correction_that_declared_it(saga: Saga) -> None:
    await saga.memory.correct("모험", "declare", {"declaration": "gold | start=3"})
    (line,) = [each for each in (await saga.memory.lines("모험"))["lines"] if each["kind"] == "tracker:gold"]
    assert (line["by"], line["number"], bool(line["change"])) == ("edit", 3, True)
