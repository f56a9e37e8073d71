"""Two places of a session's tree side by side, as data and in words."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from saga_core import Saga
from saga_core.errors import BadInput, NotFound
from saga_core.language import known
from saga_core.play.pending_turn import PendingTurn
from saga_core.state_block import ItemAmount, RelationChange, StatusChange
from tests.core.frontend import Frontend, memory_config


@pytest.fixture
async def saga() -> AsyncIterator[Saga]:
    async with Saga.open(memory_config()) as opened:
        yield opened


class TestComparing:
    async def parted(self, saga: Saga, language: str = "ko") -> tuple[PendingTurn, PendingTurn]:
        """Two paths of one session: a fight that was lost in the woods, and a purchase in the village."""
        chat = Frontend(saga, session="room", greeting="The market is loud.")
        await chat.say("장터를 걷는다.", "장터가 붐빈다. 북소리가 난다.", npc_met=("미르",), event_trigger="장날")
        await saga.timelines.fork("room", None, "빛")
        await saga.timelines.fork("room", None, "어둠")
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
        found = await saga.timelines.compare("room", "어둠", "빛")
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

    async def test_a_thing_that_is_with_another_on_each_side(self, saga: Saga) -> None:
        dark, light = await self.parted(saga)
        for turn, who in ((dark, "고블린왕 크룩"), (light, "미르")):
            await saga.memory.correct("room", "give", {"who": who, "item": "은시계"}, turn.id)
        found = await saga.timelines.compare("room", "어둠", "빛", language="en")
        (held,) = [each for each in found.differences if each.kind == "held" and each.subject == "은시계"]
        assert (held.one, held.other) == ("고블린왕 크룩", "미르")
        assert "With others: 은시계: 고블린왕 크룩 in 어둠, 미르 in 빛" in "\n".join(found.words)

    async def test_words_in_both_languages(self, saga: Saga) -> None:
        await self.parted(saga)
        korean = await saga.timelines.compare("room", "어둠", "빛", language="ko")
        english = await saga.timelines.compare("room", "어둠", "빛", language="en")
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
        assert (await saga.timelines.compare("room", "어둠", "빛")).words == korean.words, "the world's own language"

    async def test_the_order_is_fixed_and_the_other_way_round_is_the_mirror(self, saga: Saga) -> None:
        await self.parted(saga)
        there, back = (
            await saga.timelines.compare("room", "어둠", "빛"),
            await saga.timelines.compare("room", "빛", "어둠"),
        )
        assert [(each.kind, each.subject, each.other, each.one) for each in back.differences] == [
            (each.kind, each.subject, each.one, each.other) for each in there.differences
        ]
        kinds = [each.kind for each in there.differences]
        order = "place hp max_hp mood item equipped present met dead relation event".split()
        assert kinds == sorted(kinds, key=order.index)

    async def test_turns_by_id_are_called_by_their_number(self, saga: Saga) -> None:
        dark, light = await self.parted(saga)
        found = await saga.timelines.compare("room", dark.parent.id, light.id, language="ko")
        assert (found.one.name, found.one.since, found.other.name) == ("1번째 턴", (), "2번째 턴")
        twins = await saga.timelines.compare("room", dark.id, light.id, language="en")
        assert (twins.one.name, twins.other.name) == (f"turn 2 ({dark.id})", f"turn 2 ({light.id})")
        same = await saga.timelines.compare("room", dark.id, "어둠")
        assert (same.differences, same.words, same.ancestor) == ((), (), dark.id)

    async def test_bad_input(self, saga: Saga) -> None:
        await self.parted(saga)
        with pytest.raises(NotFound, match="no turn and no timeline '저녁'"):
            await saga.timelines.compare("room", "어둠", "저녁")
        with pytest.raises(BadInput, match=f"language: 'xx' is not known; use {', '.join(known())}"):
            await saga.timelines.compare("room", "어둠", "빛", language="xx")
