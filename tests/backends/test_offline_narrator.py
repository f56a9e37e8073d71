"""The offline narrator as a chat model: honest about the scene it is told, streamed, different on a swipe."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saga_backends.chat.offline import MODEL, OfflineNarrator
from saga_backends.chat.offline.narrator import estimate
from saga_core import registry
from saga_core.errors import BadInput, UpstreamError
from saga_core.messages import Block, Origin, PromptPlan
from saga_core.ports import ChatRequest, FinishPart, TextPart, UsagePart
from saga_core.state_block import (
    BlockFields,
    BlockStatus,
    ItemAmount,
    ItemTransfer,
    RelationChange,
    StatusChange,
    instruction,
    read_reply,
)

NOW = (
    "위치: 마을 광장 | HP: 85/100 | 인벤토리: 낡은 장검, 은화 ×14, 치유 물약 ×2 | 기분: tense\n"
    "플레이어: 아리아 | 곁에 있는 인물: 고블린왕 크룩\n근처 인물: 에르겐, 타비 | 갈 수 있는 곳: 어둠의 숲, 고대 유적"
)
LORE = "[관련 로어북]\n- 대붕괴: 300년 전의 마법 재앙.\n- 오드: 유적의 파수꾼."
EARLIER = '[지난 일]\n- 3턴: 에르겐에게 인사했다. "세 번째 종이 울리면 문을 잠그게."\n- 4턴: 에르겐과 헤어졌다.'


def told(now: str = NOW, *more: str) -> str:
    return "\n".join(["[SAGA: 지금 사실인 것]", "[최신 변경]", now, *more, "[/SAGA]"])


def request(
    words: str | None,
    *,
    context: str = "",
    history: tuple[str, ...] = ("종소리가 울린다.",),
    asks: bool = True,
    **params: Any,
) -> ChatRequest:
    """What a frontend sends, as SAGA hands it on; ``history`` ends with a reply, ``words`` None continues it."""
    blocks = [Block("system", "너는 이야기꾼이다.", Origin.CLIENT)]
    if asks:
        blocks.append(Block("system", instruction("ko"), Origin.CLIENT))
    for index, text in enumerate(history):
        role = "assistant" if (len(history) - index) % 2 else "user"
        blocks.append(Block(role, text, Origin.HISTORY))
    if words is not None:
        blocks.append(Block("user", words, Origin.WORDS, {}, context))
    blocks.append(Block("system", "짧게 쓴다.", Origin.WORDS))
    return ChatRequest(PromptPlan(tuple(blocks)), MODEL, params)


async def replies(narrator: OfflineNarrator, asked: ChatRequest) -> dict[int, str]:
    found: dict[int, str] = {}
    async for part in narrator.stream(asked):
        if isinstance(part, TextPart):
            found[part.index] = found.get(part.index, "") + part.text
    return found


async def play(words: str, context: str = "", **more: Any) -> tuple[str, BlockFields]:
    """One reply of a fresh narrator: what the player sees, and what the block says."""
    text = (await replies(OfflineNarrator(), request(words, context=context, **more)))[0]
    reading = read_reply(text)
    assert reading.status is BlockStatus.OK
    assert not reading.problems
    return reading.visible, reading.fields


def changed(fields: BlockFields) -> bool:
    """Whether a block reports any change of the world."""
    return fields != BlockFields(location=fields.location, location_moved=False, notes=fields.notes)


async def test_it_is_registered_and_lists_its_model() -> None:
    backend = registry.load("chat", "offline")
    narrator = await backend.open(registry.OpenOptions())
    assert await narrator.models() == ["saga-offline"]
    await narrator.aclose()


@pytest.mark.parametrize(
    ("options", "named"), [({"malformed": 2.0}, "malformed"), ({"chunk": 0}, "chunk"), ({"speed": 1}, "speed")]
)
async def test_options_are_checked(options: dict[str, Any], named: str) -> None:
    backend = registry.load("chat", "offline")
    with pytest.raises(BadInput, match=f"options.{named}"):
        await backend.open(registry.OpenOptions(options=options))


async def test_it_answers_from_what_it_is_told() -> None:
    prose, fields = await play("내 인벤토리에 뭐가 있지?", told())
    assert "낡은 장검, 은화 14개, 치유 물약 2개" in prose
    assert not changed(fields)
    prose, _ = await play("여기가 어디지?", told())
    assert "마을 광장" in prose
    prose, _ = await play("체력은 얼마나 남았지?", told())
    assert "85/100" in prose
    prose, _ = await play("대붕괴가 뭐지?", told(NOW, LORE))
    assert "300년 전의 마법 재앙" in prose


async def test_without_being_told_it_knows_nothing() -> None:
    prose, fields = await play("내 인벤토리에 뭐가 있지?")
    assert "은화" not in prose
    assert fields.location is None
    prose, _ = await play("여기가 어디지?")
    assert "마을" not in prose


async def test_it_remembers_what_saga_remembered() -> None:
    prose, _ = await play("전에 에르겐이 뭐라고 했지?", told(NOW, EARLIER))
    assert "세 번째 종이 울리면 문을 잠그게." in prose
    prose, _ = await play("전에 오드가 뭐라고 했지?", told(NOW, EARLIER))
    assert "떠오르는 것이 없다" in prose


async def test_it_remembers_the_chat_when_that_is_all_there_is() -> None:
    history = ("시작.", "에르겐에게 인사한다", '에르겐이 말한다. "흰 돌을 왼쪽에 두고 걷게."')
    prose, _ = await play("전에 에르겐이 뭐라고 했지?", history=("시작.", *history))
    assert "흰 돌을 왼쪽에 두고 걷게." in prose


async def test_going_somewhere() -> None:
    prose, fields = await play("어둠의 숲으로 간다", told())
    assert "어둠의 숲" in prose
    assert (fields.location, fields.location_moved) == ("어둠의 숲", True)
    prose, fields = await play("달나라로 간다", told())
    assert "보이지 않는다" in prose
    assert (fields.location, fields.location_moved) == ("마을 광장", False)


async def test_trading_with_quantities() -> None:
    _, fields = await play("은화 열두 닢을 주고 에르겐에게서 밤이끼 두 개를 산다", told())
    assert fields.items_transferred == (ItemTransfer("은화", "아리아", "에르겐", 12),)
    _, fields = await play("은화 12닢을 주고 에르겐에게서 밤이끼 두 개를 산다", told())
    assert fields.items_transferred == (ItemTransfer("은화", "아리아", "에르겐", 12),)
    assert fields.items_gained == (ItemAmount("밤이끼", 2),)
    assert fields.npc_met == ("에르겐",)
    prose, fields = await play("은화 20닢을 주고 에르겐에게서 밤이끼를 산다", told())
    assert "모자란다" in prose
    assert not changed(fields)


async def test_what_is_not_carried_cannot_be_used() -> None:
    for words in ("불꽃 검으로 크룩을 공격한다", "불꽃 검을 휘두른다", "에르겐에게 불꽃 검을 준다", "사과를 먹는다"):
        prose, fields = await play(words, told())
        assert "없다" in prose
        assert not changed(fields)


async def test_a_potion_heals_no_more_than_is_missing() -> None:
    _, fields = await play("물약을 마신다", told())
    assert (fields.hp_change, fields.items_lost) == (15, (ItemAmount("치유 물약"),))
    _, fields = await play("물약을 마신다", told(NOW.replace("85/100", "20/100")))
    assert fields.hp_change == 30


async def test_a_fight_and_a_death() -> None:
    prose, fields = await play("크룩을 공격한다", told())
    assert fields.hp_change == -15
    assert fields.relationship_changes == (RelationChange("아리아", "고블린왕 크룩", "hostile", -2),)
    prose, fields = await play("낡은 장검으로 크룩의 숨통을 끊는다", told())
    assert "숨을 거" in prose
    assert fields.status_changes == (StatusChange("고블린왕 크룩", "dead"),)
    assert fields.npc_separated == ("고블린왕 크룩",)
    assert fields.event_trigger == "고블린왕 크룩의 죽음"


@pytest.mark.parametrize("words", ["크룩을 부른다", '"크룩, 대답해!"', "크룩을 공격한다", "크룩에게 은화를 준다"])
async def test_the_dead_do_not_answer(words: str) -> None:
    now = NOW.replace("곁에 있는 인물: 고블린왕 크룩", "죽은 인물: 고블린왕 크룩")
    prose, fields = await play(words, told(now))
    assert "숨을 거" in prose or "죽었다" in prose
    assert "말한다" not in prose
    assert not changed(fields)


async def test_the_dead_do_not_answer_in_a_chat_without_saga() -> None:
    history = ("시작.", "크룩에게 마지막 일격을 날린다", "크룩은 마지막 숨을 거둔다. 사방이 고요해진다.")
    prose, fields = await play("크룩을 부른다", history=("…", *history))
    assert "숨을 거" in prose or "죽었다" in prose
    assert not fields.npc_met


async def test_who_is_elsewhere_does_not_answer() -> None:
    prose, fields = await play("오드에게 말을 건다", told(NOW, LORE))
    assert "여기에는 없다" in prose
    assert not changed(fields)


async def test_a_swipe_hurts_otherwise_and_the_context_does_not_matter_to_it() -> None:
    narrator = OfflineNarrator()
    wounds = []
    for context in (told(), told(NOW.replace("85/100", "80/100")), told()):
        text = (await replies(narrator, request("크룩을 공격한다", context=context)))[0]
        wounds.append(read_reply(text).fields.hp_change)
    assert wounds == [-15, -30, -5]
    other = (await replies(narrator, request("크룩을 공격한다", context=told(), history=("다른 시작.",))))[0]
    assert read_reply(other).fields.hp_change == -15


async def test_choices_are_variants_too() -> None:
    narrator = OfflineNarrator()
    found = await replies(narrator, request("크룩을 공격한다", context=told(), n=2))
    assert [read_reply(found[index]).fields.hp_change for index in (0, 1)] == [-15, -30]
    found = await replies(narrator, request("크룩을 공격한다", context=told()))
    assert read_reply(found[0]).fields.hp_change == -5


async def test_no_block_unless_it_is_asked_for() -> None:
    text = (await replies(OfflineNarrator(), request("크룩을 공격한다", context=told(), asks=False)))[0]
    assert "```" not in text
    assert "크룩" in text


async def test_a_side_request_is_answered_plainly() -> None:
    text = (await replies(OfflineNarrator(), request(None, history=("종소리가 울린다.",), asks=False)))[0]
    assert "종소리가 울린다." in text
    assert "```" not in text


async def test_a_reply_that_is_to_be_continued_goes_on_and_changes_nothing() -> None:
    text = (await replies(OfflineNarrator(), request(None, history=("종소리가 울린다.",))))[0]
    reading = read_reply(text)
    assert (reading.status, reading.problems) == (BlockStatus.OK, ())
    assert reading.visible
    assert "종소리" not in reading.visible
    assert reading.fields == BlockFields()


async def test_it_streams_small_pieces_and_accounts_for_them() -> None:
    parts = [part async for part in OfflineNarrator().stream(request("크룩을 공격한다", context=told()))]
    pieces = [part.text for part in parts if isinstance(part, TextPart)]
    assert all(1 <= len(piece) <= 7 for piece in pieces)
    assert not any("```state" in piece for piece in pieces)
    assert [part.reason for part in parts if isinstance(part, FinishPart)] == ["stop"]
    (usage,) = [part.usage for part in parts if isinstance(part, UsagePart)]
    assert usage.output == estimate("".join(pieces))
    assert usage.input > 100
    whole = OfflineNarrator().stream(request("크룩을 공격한다", context=told()), streaming=False)
    assert [part.text async for part in whole if isinstance(part, TextPart)] == ["".join(pieces)]


async def test_it_lets_others_run_between_pieces() -> None:
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            ticks += 1
            await asyncio.sleep(0)

    ticking = asyncio.create_task(tick())
    parts = [part async for part in OfflineNarrator().stream(request("크룩을 공격한다", context=told()))]
    ticking.cancel()
    assert ticks >= len(parts) - 3


async def test_limits_cut_the_reply() -> None:
    asked = request("크룩을 공격한다", context=told(), max_tokens=12)
    parts = [part async for part in OfflineNarrator().stream(asked)]
    text = "".join(part.text for part in parts if isinstance(part, TextPart))
    assert 0 < estimate(text) <= 12
    assert FinishPart("length") in parts
    stopped = (await replies(OfflineNarrator(), request("크룩을 공격한다", context=told(), stop=["```"])))[0]
    assert "state" not in stopped


@pytest.mark.parametrize("params", [{"n": 0}, {"n": "2"}, {"max_tokens": 0}, {"max_completion_tokens": True}])
async def test_parameters_are_checked(params: dict[str, Any]) -> None:
    with pytest.raises(UpstreamError, match=next(iter(params))) as caught:
        await replies(OfflineNarrator(), request("간다", **params))
    assert caught.value.status == 400


async def test_a_share_of_blocks_can_be_spoiled_always_the_same() -> None:
    async def statuses(share: float) -> list[BlockStatus]:
        narrator = OfflineNarrator(malformed=share)
        found = [await replies(narrator, request(f"{count}번째 문을 연다", context=told())) for count in range(40)]
        return [read_reply(text[0]).status for text in found]

    assert set(await statuses(0.0)) == {BlockStatus.OK}
    assert BlockStatus.OK not in await statuses(1.0)
    half = await statuses(0.5)
    assert 8 < half.count(BlockStatus.OK) < 32
    assert half == await statuses(0.5)


@given(st.text(max_size=80), st.booleans())
def test_any_words_get_a_reply_whose_block_can_be_read(words: str, with_context: bool) -> None:
    text = asyncio.run(replies(OfflineNarrator(), request(words, context=told() if with_context else "")))[0]
    assert text
    assert "```" not in text or read_reply(text).status is BlockStatus.OK


@given(
    st.lists(
        st.sampled_from("에르겐에게 크룩을 은화 두 닢을 주고 불꽃 검을 산다 간다 벤다 , . 숲으로 `x` ```state".split()),
        max_size=12,
    )
)
def test_so_do_words_that_are_nearly_sense(words: list[str]) -> None:
    text = asyncio.run(replies(OfflineNarrator(), request(" ".join(words), context=told())))[0]
    assert "```" not in text or read_reply(text).status is BlockStatus.OK
