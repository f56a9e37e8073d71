"""The offline narrator: plays its script by what SAGA tells it, reports what it tells, differs on a swipe."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from pathlib import Path
from string import Formatter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saga_backends.chat.offline import MODEL, OfflineNarrator, _script, _values, estimate
from saga_core import Saga, registry
from saga_core.errors import BadInput, UpstreamError
from saga_core.language import known
from saga_core.messages import Block, Origin, PromptPlan
from saga_core.modules.rpg import MODULE as RPG
from saga_core.ports import ChatRequest, FinishPart, TextPart, UsagePart
from saga_core.state_block import (
    BlockFields,
    BlockStatus,
    ItemAmount,
    RelationChange,
    StatusChange,
    instruction,
    read_reply,
)
from saga_core.trackers import Trackers
from saga_core.world import WorldLibrary

WORLDS = Path(__file__).parents[2] / "worlds"
NOW = (
    "위치: 마을 광장 | HP: 85/100 | 인벤토리: 낡은 장검, 은화 ×14, 치유 물약 ×2 | 기분: tense\n"
    "플레이어: 아리아 | 곁에 있는 인물: 고블린왕 크룩\n근처 인물: 에르겐, 타비 | 갈 수 있는 곳: 어둠의 숲, 고대 유적"
)
EARLIER = '[지난 일]\n- 3턴: 에르겐에게 종에 대해 물었다. "세 번째 종이 울리면 문을 잠그게."'


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
        blocks.append(Block("assistant" if (len(history) - index) % 2 else "user", text, Origin.HISTORY))
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


async def play(words: str | None, context: str = "") -> tuple[str, BlockFields]:
    """One reply of a fresh narrator: what the player sees, and what the block says."""
    text = (await replies(OfflineNarrator(), request(words, context=context)))[0]
    reading = read_reply(text)
    assert (reading.status, reading.problems) == (BlockStatus.OK, ())
    return reading.visible, reading.fields


async def test_it_is_registered_and_lists_its_model() -> None:
    backend = registry.load("chat", "offline")
    narrator = await backend.open(registry.OpenOptions())
    assert await narrator.models() == ["saga-offline"]
    await narrator.aclose()
    with pytest.raises(BadInput, match=r"options\.speed"):
        await backend.open(registry.OpenOptions(options={"speed": 1}))


async def test_it_answers_from_what_it_is_told() -> None:
    prose, fields = await play("내 인벤토리에 뭐가 있지?", told())
    assert "낡은 장검, 은화 ×14, 치유 물약 ×2" in prose
    assert fields.items_gained == fields.items_lost == ()
    prose, _ = await play("여기가 어디지?", told())
    assert "마을 광장" in prose and "어둠의 숲, 고대 유적" in prose
    prose, _ = await play("체력은 얼마나 남았지?", told())
    assert "85/100" in prose
    prose, fields = await play(
        "에르겐에게 대붕괴에 대해 묻는다", told(NOW, "[관련 로어북]", "- 대붕괴: 300년 전의 마법 재앙.")
    )
    assert ("300년 전의 마법 재앙." in prose, fields.npc_met) == (True, ("에르겐",))
    prose, _ = await play("전에 에르겐이 종에 대해 뭐라고 했지?", told(NOW, EARLIER))
    assert "세 번째 종이 울리면 문을 잠그게." in prose


async def test_without_being_told_it_says_that_it_is_a_stand_in() -> None:
    for words in ("내 인벤토리에 뭐가 있지?", "여기가 어디지?", "에르겐에게 인사한다", "전에 뭐라고 했지?"):
        prose, fields = await play(words)
        assert "대역" in prose
        assert fields == BlockFields(hp_change=0)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("Good morning, Hana. Did you sleep well?", "stand-in"),
        ("좋은 아침, 하나. 쉬운 꿈만 꿨어?", "대역"),
        ("おはよう、はな。よく眠れた？", "代役"),
        ("早上好，花。昨晚睡得好吗？", "替身"),
    ],
)
async def test_a_question_about_somebody_else_s_night_lets_nobody_rest(words: str, says: str) -> None:
    prose, fields = await play(words)
    assert says in prose and fields.hp_change == 0


async def test_a_way_is_gone_and_company_stays_behind() -> None:
    prose, fields = await play("어둠의 숲으로 간다", told())
    assert "어둠의 숲" in prose
    assert (fields.location, fields.location_moved, fields.npc_separated) == ("어둠의 숲", True, ("고블린왕 크룩",))
    prose, _ = await play("달나라로 간다", told())
    assert "대역" in prose


async def test_a_fight_a_death_and_what_the_dead_say() -> None:
    _, fields = await play("크룩을 공격한다", told())
    assert fields.hp_change == -15
    assert fields.relationship_changes == (RelationChange("Player", "고블린왕 크룩", "hostile", -2),)
    _, fields = await play("낡은 장검으로 크룩의 숨통을 끊는다", told())
    assert fields.status_changes == (StatusChange("고블린왕 크룩", "dead"),)
    gone = NOW.replace("곁에 있는 인물: 고블린왕 크룩", "사망: 고블린왕 크룩 (12턴부터)")
    for words in ("크룩을 부른다", "크룩을 공격한다", "크룩에게 은화를 건넨다"):
        prose, fields = await play(words, told(gone))
        assert "숨을 거둔" in prose
        assert fields == BlockFields(hp_change=0)


async def test_what_is_used_or_given_is_carried_no_more() -> None:
    _, fields = await play("치유 물약을 마신다", told())
    assert (fields.hp_change, fields.items_lost) == (30, (ItemAmount("치유 물약"),))
    _, fields = await play("에르겐에게 낡은 장검을 건넨다", told())
    assert (fields.items_lost, fields.npc_met) == ((ItemAmount("낡은 장검"),), ("에르겐",))
    prose, _ = await play("에르겐에게 사과를 건넨다", told())
    assert "대역" in prose


async def test_a_swipe_hurts_otherwise_and_the_context_does_not_matter_to_it() -> None:
    narrator = OfflineNarrator()
    wounds = []
    for context in (told(), told(NOW.replace("85/100", "80/100")), told()):
        text = (await replies(narrator, request("크룩을 공격한다", context=context)))[0]
        wounds.append(read_reply(text).fields.hp_change)
    assert wounds == [-15, -30, -5]
    other = (await replies(narrator, request("크룩을 공격한다", context=told(), history=("다른 시작.",))))[0]
    assert read_reply(other).fields.hp_change == -15
    found = await replies(OfflineNarrator(), request("크룩을 공격한다", context=told(), n=2))
    assert [read_reply(found[index]).fields.hp_change for index in (0, 1)] == [-15, -30], "choices are variants too"


async def test_no_block_unless_it_is_asked_for() -> None:
    text = (await replies(OfflineNarrator(), request("크룩을 공격한다", context=told(), asks=False)))[0]
    assert "```" not in text and "크룩" in text
    text = (await replies(OfflineNarrator(), request(None, asks=False)))[0]
    assert text == "종소리가 울린다.", "a side request"
    prose, fields = await play(None)
    assert prose and fields == BlockFields(hp_change=0), "a reply that is to be continued"


async def test_it_streams_small_pieces_lets_others_run_and_accounts_for_them() -> None:
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
    pieces = [part.text for part in parts if isinstance(part, TextPart)]
    assert all(1 <= len(piece) <= 7 for piece in pieces)
    assert [part.reason for part in parts if isinstance(part, FinishPart)] == ["stop"]
    (usage,) = [part.usage for part in parts if isinstance(part, UsagePart)]
    assert (usage.output, usage.input > 100) == (estimate("".join(pieces)), True)
    whole = OfflineNarrator().stream(request("크룩을 공격한다", context=told()), streaming=False)
    assert [part.text async for part in whole if isinstance(part, TextPart)] == ["".join(pieces)]


@pytest.mark.parametrize("number", [-1, "2", True, 17])
async def test_a_number_of_choices_is_checked(number: Any) -> None:
    with pytest.raises(UpstreamError, match="n: ") as caught:
        await replies(OfflineNarrator(), request("간다", n=number))
    assert caught.value.status == 400


@given(st.text(max_size=80), st.booleans())
def test_any_words_get_a_reply_whose_block_can_be_read(words: str, with_context: bool) -> None:
    text = asyncio.run(replies(OfflineNarrator(), request(words, context=told() if with_context else "")))[0]
    assert read_reply(text).status is BlockStatus.OK


COUNTED = Trackers(
    (
        *(each for world in ("ersia", "harrow") for each in WorldLibrary((WORLDS,)).get(world).trackers),
        *RPG.trackers("en"),
    )
)
"""What the example worlds count, and the module that one of them uses."""


def test_every_cue_of_every_language_can_be_played() -> None:
    script = _script()
    assert set(script) == set(known())
    values = dict.fromkeys(_values("", ""), "Mara")
    for cues in script.values():
        assert cues[-1].reply("nothing of the kind", dict.fromkeys(values, ""), 0) is not None
        for cue in cues:
            groups = dict.fromkeys(cue.pattern.groupindex, "a bell")
            for text in (*cue.say, *(str(line) for line in cue.block.values())):
                needed = {name for _, name, _, _ in Formatter().parse(text) if name}
                assert needed <= values.keys() | groups.keys() | {"words"}, text
            for variant, text in enumerate(cue.say):
                block = _Always(cue).block({**values, **groups}, variant)
                reading = read_reply(f"{text}\n\n{block}", COUNTED)
                assert (reading.status, reading.problems) == (BlockStatus.OK, ()), block


class _Always:
    """A cue whose pattern is found in anything."""

    def __init__(self, cue: Any) -> None:
        self.cue = cue

    def block(self, values: dict[str, str], variant: int) -> str:
        found = type(self.cue)(re.compile(""), self.cue.say, self.cue.block).reply("", values, variant)
        assert found is not None
        return str(found[1])


PLAYED = {
    "ersia": (
        "에르겐에게 인사한다.",
        "에르겐과 작별하고 어둠의 숲으로 간다.",
        "바르가의 숨통을 끊는다.",
        "주위를 둘러본다.",
    ),
    "harrow": (
        "I greet Corin.",
        "I walk into the Slakes.",
        "I go to the Hulk of the Patience.",
        "I kill Captain Vey.",
        "I look around.",
    ),
}


@pytest.mark.parametrize("world", PLAYED)
async def test_what_it_is_told_is_what_is_true(world: str, tmp_path: Path) -> None:
    config = {
        "storage": {"profile": "memory", "path": str(tmp_path)},
        "session": {"default_world": world},
        "recall": {"deadline_ms": 5_000},
    }
    narrator, history = OfflineNarrator(), [{"role": "assistant", "content": f"{world}."}]
    async with Saga.open(config) as saga:
        for words in PLAYED[world]:
            messages = [*history, {"role": "user", "content": words}]
            turn = await saga.begin(messages)
            before = await saga.describe(turn.session.id, turn.parent.id)
            values = _values(
                "\n".join(part for block in turn.plan.blocks for part in (block.lead or "", str(block.content))), words
            )
            assert (values["here"], values["hp"]) == (before["location"], f"{before['hp']}/{before['max_hp']}")
            assert set(filter(None, values["present"].split(", "))) == set(before["npcs_present"])
            assert values["ways"]

            async def texts(asked: ChatRequest) -> AsyncIterator[str]:
                async for part in narrator.stream(asked):
                    if isinstance(part, TextPart):
                        yield part.text

            reply = "".join([text async for text in turn.visible(texts(ChatRequest(turn.plan, MODEL)))])
            await turn.commit()
            await saga.drain(10)
            history = [*messages, {"role": "assistant", "content": reply}]
        (summary,) = await saga.sessions.list()
        state = await saga.describe(summary.session.id)
    assert len(state["dead"]) == 1
    assert state["problems"] == []
