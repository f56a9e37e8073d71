"""Extraction: turns whose changes nobody reported get them behind the player's back, once, and never wrongly."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from saga_core.config import Config, load_config
from saga_core.engine.extracting import AT_ONCE, TRIES
from saga_core.engine.projector import Projector
from saga_core.engine.saga import Saga
from saga_core.errors import BadInput, NotFound, NotSupported, StoreError, UpstreamError
from saga_core.journal.journal import Journal
from saga_core.ports import ChatRequest
from saga_core.state_block import ItemAmount
from tests.core.engine.play import Frontend, answer, block, memory_config
from tests.core.extraction.scripted import NOTHING, Answer, Scripted, changes

SQUARE = "사람들이 북적인다. 약초 냄새가 난다."
FIGHT = "고블린이 달려든다. 칼날이 팔을 스친다. 뜨거운 피가 흐른다."
WORSE = "고블린 둘이 한꺼번에 덮친다. 땅에 넘어지고 만다."
AWAY = "가까스로 골목으로 몸을 피한다. 숨이 가쁘다."

Play = Callable[..., AbstractAsyncContextManager[tuple[Frontend, Scripted]]]


@pytest.fixture
def play() -> Play:
    """``async with play(*answers) as (chat, model)``: a chat in memory whose extraction model answers so."""

    @asynccontextmanager
    async def playing(
        *script: Answer, config: Config | None = None, **given: Any
    ) -> AsyncIterator[tuple[Frontend, Scripted]]:
        model = Scripted(deque(script), **given)
        async with Saga.open(config or memory_config(), extractor=model) as saga:
            yield Frontend(saga), model

    return playing


async def settled(chat: Frontend) -> None:
    """All background work is done, none of it given up."""
    assert (await chat.saga.drain(10)).waiting == ()


async def until(event: Callable[[], bool]) -> None:
    """Let others run until it is so."""
    async with asyncio.timeout(5):
        while not event():  # noqa: ASYNC110 - nobody tells when it is
            await asyncio.sleep(0)


async def hp(chat: Frontend, turn: Any = None) -> int:
    assert chat.last is not None
    found: int = (await chat.saga.describe(chat.last.session.id, turn.id if turn else None))["hp"]
    return found


async def wait_done(chat: Frontend, count: int) -> None:
    await until(lambda: chat.saga.extractions.done == count)


# What is read, and when


async def test_a_turn_without_a_block_is_read_when_the_next_request_proves_it(play: Play) -> None:
    async with play(changes(hp_change=-30, items_gained=(ItemAmount("낡은 열쇠"),))) as (chat, model):
        first = await chat.say("고블린과 싸운다.", FIGHT)
        await chat.saga.lanes.drain(10)
        assert model.asked == [], "nothing proves yet that it stays"
        second = await chat.say("물러난다.", AWAY, hp_change=-5)
        await wait_done(chat, 1)
        await chat.saga.lanes.drain(10)
        assert (await hp(chat, first), await hp(chat, second)) == (70, 65)
        assert len(model.asked) == 1
        (turn,) = await chat.saga.turns(first.session.id, from_turn=1, to_turn=1)
        assert (turn.delta.source.value, turn.delta.status.value) == ("extraction", "ok")
        assert await chat.saga.verify(first.session.id) == []
        third = await chat.begin("주머니를 뒤진다.")
        assert "낡은 열쇠" in third.context.text
        assert "65/100" in third.context.text
        assert third.notices == ()


async def test_nothing_is_asked_when_the_block_can_be_read(play: Play) -> None:
    async with play() as (chat, model):
        await chat.say("고블린과 싸운다.", FIGHT, hp_change=-30)
        await chat.say("물러난다.", AWAY, mood="tense")
        await settled(chat)
        assert model.asked == []
        assert chat.saga.counters.counts["extraction.skipped"] == 0


async def test_a_partial_block_is_not_paid_for_again(play: Play) -> None:
    async with play() as (chat, model):
        turn = await chat.begin("고블린과 싸운다.")
        turn.replies[0].feed(f"{FIGHT}\n\n```state\nhp_change: -30\nnpc_met: [\n```")
        await turn.commit()
        chat.history += [{"role": "user", "content": "고블린과 싸운다."}, {"role": "assistant", "content": FIGHT}]
        await chat.say("물러난다.", AWAY, mood="tense")
        await settled(chat)
        assert model.asked == []


async def test_a_reply_that_was_swiped_away_is_never_paid_for(play: Play) -> None:
    async with play(changes(hp_change=-45)) as (chat, model):
        await chat.say("광장을 둘러본다.", SQUARE, mood="calm")
        gone = await chat.say("고블린과 싸운다.", FIGHT)
        kept = await chat.swipe(WORSE)
        await chat.say("물러난다.", AWAY, mood="tense")
        await settled(chat)
        assert (await hp(chat, gone), await hp(chat, kept)) == (100, 55)
        assert len(model.asked) == 1
        assert WORSE in model.told()
        assert FIGHT not in model.told()


async def test_draining_reads_the_active_head_too(play: Play) -> None:
    async with play(changes(hp_change=-30)) as (chat, model):
        await chat.say("고블린과 싸운다.", FIGHT)
        await settled(chat)
        assert await hp(chat) == 70
        assert len(model.asked) == 1


async def test_side_requests_are_never_read(play: Play) -> None:
    async with play() as (chat, model):
        await chat.say("고블린과 싸운다.", FIGHT, hp_change=-10)
        chat.note = "Write a short summary of the story so far."
        await answer(await chat.begin(None), "아리아는 고블린과 싸웠다. 팔을 다쳤다.")
        chat.note = ""
        chat.history.append({"role": "assistant", "content": "아리아는 고블린과 싸웠다. 팔을 다쳤다."})
        await chat.say("피한다.", "몸을 굴려 수레 뒤로 숨는다. 화살이 박힌다.", mood="tense")
        await settled(chat)
        assert model.asked == []


async def test_without_a_model_turns_stay_as_they_are_and_are_counted() -> None:
    async with Saga.open(memory_config()) as saga:
        chat = Frontend(saga)
        first = await chat.say("고블린과 싸운다.", FIGHT)
        await chat.say("물러난다.", AWAY, mood="tense")
        await settled(chat)
        assert await hp(chat, first) == 100
        assert saga.counters.counts["extraction.skipped"] == 1
        with pytest.raises(NotSupported, match=r"models\.extraction"):
            await saga.reextract(first.session.id)
        status = await saga.status()
        assert (status["backfill"], status["work"]["failed"]) == ({}, [])


async def test_the_question_holds_the_story_and_nothing_of_sagas(play: Play) -> None:
    async with play(NOTHING) as (chat, model):
        await chat.say(
            "에르겐에게 인사한다.", "에르겐이 고개를 끄덕인다. 뜻밖이다.", npc_met=("에르겐",), hp_change=-15
        )
        turn = await chat.begin("I ask Ergen for his sword.")
        assert "[SAGA: " in turn.plan.text()
        await answer(turn, "He shakes his head and leaves the square.")
        chat.history += [
            {"role": "user", "content": "I ask Ergen for his sword."},
            {"role": "assistant", "content": "He shakes his head and leaves the square."},
        ]
        await chat.say("가자.", AWAY, mood="calm")
        await settled(chat)
        (request,) = model.asked
        told = request.plan.text()
        assert "| I ask Ergen for his sword." in told
        assert "| He shakes his head" in told
        assert "Present: 에르겐" in told
        assert "HP: 85/100" in told
        for ours in ("[SAGA", "[Now]", "[Lore]", chat.system, chat.note):
            assert ours not in told
        assert chat.saga.stores.counter.count(told) <= 1_500
        assert request.params.keys() == {"max_tokens"}


@pytest.mark.parametrize("language", ["ko", "en"])
async def test_the_models_name_and_language(play: Play, language: str) -> None:
    config = load_config({"storage": {"profile": "memory"}, "models": {"extraction": "tiny-1"}})
    said = {
        "ko": ("문을 연다.", "문이 열리고 찬 바람이 든다."),
        "en": ("I open the door.", "The door opens. It is cold."),
    }
    async with play(NOTHING, config=config) as (chat, model):
        await chat.say(*said[language])
        await settled(chat)
        (request,) = model.asked
        assert request.model == "tiny-1"
        assert ("응답:" in request.plan.text()) == (language == "ko")
        assert chat.saga.counters.counts["extraction.tokens.input"] == 700


# Never on the player's path


async def test_no_request_asks_or_waits_for_a_model_that_hangs(play: Play) -> None:
    async with play(changes(hp_change=-30)) as (chat, model):
        model.gate = asyncio.Event()
        chat.history = [
            {"role": "user", "content": "고블린과 싸운다."},
            {"role": "assistant", "content": FIGHT},
            {"role": "user", "content": "광장으로 간다."},
            {"role": "assistant", "content": SQUARE},
            {"role": "user", "content": "상인을 찾는다."},
            {"role": "assistant", "content": "상인은 없다. 좌판만 남아 있다."},
        ]
        for number in range(4):
            await chat.say(f"{number}번째로 친다.", f"{number}번째 일격에 먼지가 인다. 적이 비틀거린다.", hp_change=-1)
            await chat.saga.lanes.drain(10)
        assert model.running == 1
        assert await hp(chat) == 96
        assert chat.saga.counters.counts["extraction.waited"] == 1, "while it was near"
        model.gate.set()
        await settled(chat)
        assert await hp(chat) == 66
        assert model.most == 1


async def test_a_request_waits_for_what_is_being_read_of_its_parent(play: Play) -> None:
    async with play(changes(hp_change=-30)) as (chat, model):
        model.gate = asyncio.Event()
        await chat.say("고블린과 싸운다.", FIGHT)
        await chat.say("물러난다.", AWAY, mood="tense")
        await model.reached.wait()
        begun = asyncio.create_task(chat.begin("쉰다."))
        for _ in range(20):
            await asyncio.sleep(0)
        assert not begun.done()
        model.gate.set()
        turn = await begun
        assert "70/100" in turn.context.text
        assert turn.notices == ()
        assert chat.saga.counters.counts["extraction.waited"] == 1
        assert chat.saga.counters.counts["extraction.late"] == 0
        assert len(model.asked) == 1


async def test_beyond_the_bound_a_request_goes_on_and_says_so(play: Play) -> None:
    config = load_config({"storage": {"profile": "memory"}, "recall": {"extraction_wait_ms": 0}})
    async with play(changes(hp_change=-30), config=config) as (chat, model):
        model.gate = asyncio.Event()
        await chat.say("고블린과 싸운다.", FIGHT)
        await chat.say("물러난다.", AWAY, mood="tense")
        await model.reached.wait()
        turn = await chat.begin("쉰다.")
        assert turn.notices == ("extraction: what changed in turn 1 is not known yet",)
        assert chat.saga.counters.counts["extraction.late"] == 1
        assert "100/100" in turn.context.text
        model.gate.set()
        await answer(turn, "바람이 잦아든다. 별이 뜬다.", hp_change=-5)
        await settled(chat)
        assert await hp(chat) == 65, "what was learned meanwhile is in the state that the turn is recorded on"
        assert await chat.saga.verify(turn.session.id) == []


async def test_reading_gives_way_to_narration_at_the_same_upstream(play: Play) -> None:
    async with play(changes(hp_change=-30)) as (chat, model):
        await chat.say("고블린과 싸운다.", FIGHT)
        async with chat.saga.narrating("small"):
            await chat.say("물러난다.", AWAY, mood="tense")
            await chat.saga.lanes.drain(10)
            turn = await chat.begin("쉰다.")
            assert turn.notices == (), "nobody waits for what waits"
            assert model.asked == []
        await wait_done(chat, 1)
    async with play(changes(hp_change=-30)) as (chat, model), chat.saga.narrating("another"):
        await chat.say("고블린과 싸운다.", FIGHT)
        await chat.say("물러난다.", AWAY, mood="tense")
        await wait_done(chat, 1)


# Failures


@pytest.mark.parametrize(
    ("script", "asked"),
    [
        (("크룩이 이겼습니다.", "그렇습니다."), 2),
        (("I cannot help with that.",) * 2, 2),
        (("```state\nhp_change: a lot\n```",) * 2, 2),
        (("", ""), 2),
    ],
)
async def test_an_answer_that_cannot_be_read_changes_nothing_and_is_listed(
    play: Play, script: tuple[str, ...], asked: int
) -> None:
    async with play(*script, otherwise=changes(hp_change=-30)) as (chat, model):
        first = await chat.say("고블린과 싸운다.", FIGHT)
        await chat.say("물러난다.", AWAY, mood="tense")
        await settled(chat)
        await settled(chat)
        assert len(model.asked) == asked, "one question and one repair"
        assert await hp(chat, first) == 100
        (failed,) = (await chat.saga.status())["work"]["failed"]
        assert (failed["session"], failed["turn"], failed["tries"]) == (first.session.id, first.id, 1)
        assert "no state block" in failed["reason"]
        assert await chat.saga.verify(first.session.id) == []
        assert await chat.saga.reextract(first.session.id) == 1
        await settled(chat)
        assert await hp(chat, first) == 70
        assert (await chat.saga.status())["work"]["failed"] == []


async def test_a_model_out_of_reach_is_tried_again_up_to_a_limit(play: Play) -> None:
    async with play(otherwise=UpstreamError("small answered 503", status=503)) as (chat, model):
        await chat.say("고블린과 싸운다.", FIGHT)
        await chat.say("물러난다.", AWAY, mood="tense")
        await until(lambda: len(model.asked) == 1)
        await chat.saga.lanes.drain(10)
        report = await chat.saga.drain(10)
        assert [(each.kind, each.reason) for each in report.waiting] == [
            ("extract", "UpstreamError: small answered 503")
        ]
        assert len(model.asked) == 2, "draining tries what rests once more"
        turn = await chat.begin("쉰다.")
        assert turn.notices == ("extraction: UpstreamError: small answered 503",)
        while len(model.asked) < TRIES:
            await chat.saga.drain(10)
        assert (await chat.saga.drain(10)).waiting == ()
        (failed,) = (await chat.saga.status())["work"]["failed"]
        assert failed["tries"] == TRIES
        assert await hp(chat) == 100
        model.otherwise = changes(hp_change=-30)
        await chat.saga.reextract(turn.session.id, turn.parent.parent)
        await settled(chat)
        assert await hp(chat) == 70
        assert chat.saga.counters.degraded == {}


async def test_pauses_grow_and_heed_the_provider(play: Play) -> None:
    async with play(otherwise=UpstreamError("slow down", status=429, retry_after=60.0)) as (chat, model):
        await chat.say("고블린과 싸운다.", FIGHT)
        await chat.say("물러난다.", AWAY, mood="tense")
        backlog = next(iter(chat.saga.extractions._backlogs.values()))
        await until(lambda: backlog.resting)
        now = asyncio.get_running_loop().time()
        assert 55 < backlog.rest_until - now <= 60
        model.otherwise = UpstreamError("gone")
        pauses = []
        for _ in range(TRIES - 2):
            await chat.saga.drain(10)
            pauses.append(round(backlog.rest_until - asyncio.get_running_loop().time()))
        assert pauses == [4, 8, 16]


async def test_a_hanging_model_is_given_up_and_tried_again(play: Play) -> None:
    async with play(changes(hp_change=-30)) as (chat, model):
        assert chat.saga.extractions.extractor is not None
        chat.saga.extractions.extractor.timeout = 0.01
        model.gate = asyncio.Event()
        await chat.say("고블린과 싸운다.", FIGHT)
        await chat.say("물러난다.", AWAY, mood="tense")
        await until(lambda: model.closed == 1)
        model.gate.set()
        await settled(chat)
        assert await hp(chat) == 70


async def test_a_journal_that_fails_does_not_cost_another_call(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    async with play(changes(hp_change=-30)) as (chat, model):
        await chat.say("고블린과 싸운다.", FIGHT)
        await chat.say("물러난다.", AWAY, mood="tense")

        async def full(*_: Any, **__: Any) -> None:
            raise StoreError("disk full")

        monkeypatch.setattr(Journal, "amend", full)
        report = await chat.saga.drain(10)
        assert "disk full" in report.waiting[0].reason
        assert await hp(chat) == 100
        monkeypatch.undo()
        await settled(chat)
        assert await hp(chat) == 70
        assert len(model.asked) == 1


async def test_a_session_that_goes_takes_what_it_wanted_with_it(play: Play) -> None:
    async with play(changes(hp_change=-30)) as (chat, model):
        model.gate = asyncio.Event()
        first = await chat.say("고블린과 싸운다.", FIGHT)
        await chat.say("물러난다.", AWAY)
        await model.reached.wait()
        await chat.saga.delete(first.session.id)
        model.gate.set()
        await settled(chat)
        assert await chat.saga.stores.state.scan(("job",)) == []
        assert await chat.saga.stores.state.scan(("amend",)) == []
        assert (await chat.saga.status())["backfill"] == {}
        with pytest.raises(NotFound):
            await chat.saga.state(first.session.id)


async def test_a_pruned_turn_is_not_read(play: Play) -> None:
    async with play(NOTHING) as (chat, model):
        first = await chat.say("광장을 둘러본다.", SQUARE, mood="calm")
        gone = await chat.say("고블린과 싸운다.", FIGHT)
        await chat.say("물러난다.", AWAY)
        del chat.history[2:]
        model.gate = asyncio.Event()
        await model.reached.wait()
        await chat.say("상인을 찾는다.", "상인은 없다. 좌판만 남아 있다.", mood="calm")
        await chat.saga.prune(first.session.id, gone.id)
        model.gate.set()
        await settled(chat)
        assert await chat.saga.stores.state.scan(("job",)) == []
        assert await chat.saga.stores.state.scan(("amend",)) == []
        assert await chat.saga.verify(first.session.id) == []


# Views, episodes, checkpoints, branches


async def test_everything_below_a_turn_that_was_read_is_rendered_again(play: Play) -> None:
    async with play(config=memory_config(checkpoint_every=2)) as (chat, model):
        model.gate = asyncio.Event()
        model.otherwise = changes(location="어둠의 숲", hp_change=-30, npc_met=("칼란",))
        await chat.say("숲으로 간다.", "낡은 길을 따라 걷는다. 나무가 빛을 가린다.")
        for number in range(9):
            await chat.say(f"{number}번째로 친다.", f"{number}번째 일격에 먼지가 인다. 적이 비틀거린다.", hp_change=-1)
        branch = chat.history[:4]
        await chat.saga.lanes.drain(10)
        chat.history = branch
        other = await chat.say("돌아선다.", "등 뒤에서 누군가 웃는다. 바람이 차다.", hp_change=-2)
        await chat.saga.lanes.drain(10)
        assert len(await chat.saga.stores.state.scan(("state",))) == 5
        live = await chat.saga.live.get(other.session.id)
        assert len(live.slots) == 2, "both paths are shown"
        model.gate.set()
        await settled(chat)
        assert await hp(chat, other) == 67
        assert await chat.saga.verify(other.session.id) == []
        pages, _ = await chat.saga.pages(other.session.id)
        assert pages is not None
        assert "67/100" in pages.files["state.md"]
        assert "칼란" in pages.files["lore.md"]
        (found, *_) = await chat.saga.search("낡은 길", session_id=other.session.id)
        assert "장소: 어둠의 숲" in found["text"]
        assert "만남: 칼란" in found["text"]


async def test_a_continuation_without_a_block_is_read_as_a_whole(play: Play) -> None:
    async with play(changes(hp_change=-12)) as (chat, model):
        await chat.say("고블린과 싸운다.", FIGHT, hp_change=-10)
        chat.note = "[Continue the following message. Do not repeat it.]"
        shown = await answer(await chat.begin(None), "그리고 두 번째 화살이 날아온다.")
        chat.note = ""
        chat.history[-1]["content"] += " " + shown
        await chat.say("피한다.", "몸을 굴려 수레 뒤로 숨는다. 화살이 박힌다.", mood="tense")
        await settled(chat)
        assert await hp(chat) == 88, "what the first part reported counts once"
        assert f"| {FIGHT} 그리고 두 번째 화살이" in model.told()


async def test_the_prefix_keeps_its_bytes_and_the_news_are_told_as_changes(play: Play) -> None:
    async with play(changes(location="어둠의 숲")) as (chat, model):
        model.gate = asyncio.Event()
        await chat.say("숲으로 간다.", "낡은 길을 따라 걷는다. 나무가 빛을 가린다.")
        before = await chat.say("더 들어간다.", AWAY, mood="tense")
        model.gate.set()
        await wait_done(chat, 1)
        after = await chat.begin("쉰다.")
        one, other = before.plan.to_openai(), after.plan.to_openai()
        cut = max(index for index, message in enumerate(one) if message["role"] == "user")
        assert one[:cut] == other[:cut]
        assert "어둠의 숲" in after.context.text


# Chats that began without SAGA


def told(turns: int) -> list[dict[str, str]]:
    history = []
    for number in range(turns):
        history += [
            {"role": "user", "content": f"{number}번째 길로 간다."},
            {"role": "assistant", "content": f"{number}번째 길은 강가로 이어진다. 물소리가 들린다."},
        ]
    return history


async def test_an_adopted_history_is_read_newest_first(play: Play) -> None:
    async with play(otherwise=changes(hp_change=-1)) as (chat, model):
        chat.history = told(6)
        turn = await chat.say("멈춘다.", AWAY, mood="calm")
        await settled(chat)
        order = [int(request.plan.text().split("번째 길로 간다")[0].split("| ")[-1]) for request in model.asked]
        assert order == [5, 4, 3, 2, 1, 0]
        assert await hp(chat) == 94
        assert await chat.saga.verify(turn.session.id) == []
        status = await chat.saga.status()
        assert status["backfill"] == {turn.session.id: {"done": 6, "waiting": 0}}
        nodes = (await chat.saga.tree(turn.session.id))["nodes"]
        assert [node["status"] for node in nodes] == ["none"] + ["ok"] * 7


async def test_what_is_read_later_keeps_the_identity_of_whom_it_names(play: Play) -> None:
    def read(request: ChatRequest) -> str:
        return changes(npc_met=("칼란",) if "1번째 길은" in request.plan.text() else ("늙은 사냥꾼 칼란",))

    async with play(otherwise=read) as (chat, model):
        chat.history = told(2)
        await chat.say("멈춘다.", AWAY, mood="calm")
        await settled(chat)
        assert len(model.asked) == 2
        assert chat.last is not None
        state = await chat.saga.describe(chat.last.session.id)
        assert state["npcs_met"] == ["늙은 사냥꾼 칼란"]
        assert state["problems"] == []


async def test_an_edit_that_tells_another_story_is_read(play: Play) -> None:
    async with play(changes(hp_change=-7)) as (chat, model):
        await chat.say("고블린과 싸운다.", FIGHT, hp_change=-50)
        chat.history[-1]["content"] = "고블린은 싸우지 않고 달아났다. 광장은 다시 조용해졌다."
        await chat.say("쉰다.", "잠시 벤치에 앉아 숨을 고른다. 해가 기운다.", mood="calm")
        await settled(chat)
        assert await hp(chat) == 93
        assert len(model.asked) == 1


async def test_a_crash_in_the_middle_is_resumed(tmp_path: Path) -> None:
    config = {"storage": {"path": str(tmp_path / "data")}, "session": {"default_world": "ersia"}}
    model = Scripted(otherwise=changes(hp_change=-1))
    saga = await Saga.open(config, extractor=model)
    chat = Frontend(saga, history=told(8))
    turn = await chat.say("멈춘다.", AWAY, mood="calm")
    await wait_done(chat, 3)
    hung = model.gate = asyncio.Event()
    await saga.aclose(drain=0)
    assert not hung.is_set()
    before = len(model.asked)
    assert 3 <= before <= 5
    model.gate = None
    async with Saga.open(config, extractor=model) as saga:
        chat.saga = saga
        assert (await saga.status())["backfill"][turn.session.id]["waiting"] >= 3
        await settled(chat)
        assert await hp(chat) == 92
        assert await saga.verify(turn.session.id) == []
        assert len(model.asked) <= before + 5
        assert [key[0] for key, _ in await saga.stores.state.scan(("job",))] == []


async def test_what_failed_stays_listed_after_a_restart_and_is_not_tried(tmp_path: Path) -> None:
    config = {"storage": {"path": str(tmp_path / "data")}}
    model = Scripted(otherwise="I cannot.")
    async with Saga.open(config, extractor=model) as saga:
        chat = Frontend(saga)
        first = await chat.say("I fight.", "The goblin bites. You bleed a little.")
        await chat.say("I run.", "You are away. It is dark here.", mood="tense")
        await settled(chat)
        assert len(model.asked) == 2
    async with Saga.open(config, extractor=model) as saga:
        await saga.drain(10)
        (failed,) = (await saga.status())["work"]["failed"]
        assert failed["turn"] == first.id
        assert len(model.asked) == 2
        model.otherwise = changes(hp_change=-3)
        assert await saga.reextract(first.session.id) == 1
        await saga.drain(10)
        assert (await saga.describe(first.session.id))["hp"] == 97


async def test_a_crash_between_journal_and_views_is_made_good(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = {"storage": {"path": str(tmp_path / "data")}, "session": {"default_world": "ersia"}}
    saga = await Saga.open(config, extractor=Scripted(otherwise=changes(hp_change=-30)))
    chat = Frontend(saga)
    turn = await chat.say("고블린과 싸운다.", FIGHT)
    last = await chat.say("물러난다.", AWAY, mood="tense")
    await saga.lanes.drain(10)

    async def down(*_: Any, **__: Any) -> None:
        raise StoreError("the graph is down")

    monkeypatch.setattr(Projector, "_correct", down)
    await wait_done(chat, 1)
    await saga.aclose(drain=0)
    monkeypatch.undo()
    async with Saga.open(config, extractor=Scripted()) as saga:
        await saga.drain(10)
        assert await saga.verify(turn.session.id) == []
        pages, _ = await saga.pages(turn.session.id)
        assert pages is not None
        assert pages.watermark == last.id
        assert "70/100" in pages.files["state.md"]


async def test_a_model_that_is_configured_later_reads_what_was_skipped_when_asked(tmp_path: Path) -> None:
    config = {"storage": {"path": str(tmp_path / "data")}}
    async with Saga.open(config) as saga:
        chat = Frontend(saga)
        first = await chat.say("I fight.", "The goblin bites. You bleed a little.")
        await chat.say("I run.", "You are away. It is dark here.", mood="tense")
        await settled(chat)
    model = Scripted(otherwise=changes(hp_change=-3))
    async with Saga.open(config, extractor=model) as saga:
        assert (await saga.drain(10)).done == 0
        assert await saga.reextract(first.session.id) == 1
        assert (await saga.drain(10)).done == 2
        assert (await saga.describe(first.session.id))["hp"] == 97


# Asking anew


async def test_a_turn_is_read_anew_and_the_latest_answer_counts(play: Play) -> None:
    async with play(changes(hp_change=-30), changes(hp_change=-4), changes(hp_change=-8)) as (chat, model):
        first = await chat.say("고블린과 싸운다.", FIGHT)
        second = await chat.say("물러난다.", AWAY, hp_change=-5)
        await settled(chat)
        assert await hp(chat) == 65
        assert await chat.saga.reextract(first.session.id, first.id) == 1
        await settled(chat)
        assert await hp(chat) == 91
        assert await chat.saga.reextract(first.session.id, second.id, below=False) == 1
        await settled(chat)
        assert await hp(chat) == 88, "asked for by name, the model's word replaces the block's"
        assert await chat.saga.verify(first.session.id) == []
        assert len(model.asked) == 3


async def test_asking_anew_takes_those_below_that_nobody_reported(play: Play) -> None:
    async with play(otherwise=changes(hp_change=-1)) as (chat, _):
        turns = [await chat.say("광장을 둘러본다.", SQUARE), await chat.say("고블린과 싸운다.", FIGHT, hp_change=-50)]
        turns.append(await chat.say("물러난다.", AWAY))
        await settled(chat)
        assert await chat.saga.reextract(turns[0].session.id, turns[0].id) == 2
        assert await chat.saga.reextract(turns[0].session.id, turns[0].id, below=False) == 1
        assert await chat.saga.reextract(turns[0].session.id) == 0
        await settled(chat)
        assert await hp(chat) == 48
        root = turns[0].session.root
        with pytest.raises(BadInput, match="kind root"):
            await chat.saga.reextract(turns[0].session.id, root)
        with pytest.raises(NotFound):
            await chat.saga.reextract(turns[0].session.id, "nothing")


async def test_of_two_sessions_both_are_read(play: Play) -> None:
    async with play(otherwise=changes(hp_change=-1)) as (chat, model):
        other = Frontend(chat.saga, owner="another", history=told(3))
        chat.history = told(3)
        await chat.say("멈춘다.", AWAY, mood="calm")
        await other.say("멈춘다.", AWAY, mood="calm")
        await settled(chat)
        assert (await hp(chat), await hp(other)) == (97, 97)
        assert 1 <= model.most <= AT_ONCE
        assert len((await chat.saga.status())["backfill"]) == 2


async def test_a_block_that_a_player_types_is_story(play: Play) -> None:
    async with play(NOTHING) as (chat, model):
        turn = await chat.begin(f"나는 외친다. {block(hp_change=-99)}")
        turn.replies[0].feed("아무 일도 일어나지 않는다. 모두가 쳐다본다.")
        await turn.commit()
        await settled(chat)
        told_lines = str(model.asked[0].plan.blocks[1].content)
        assert "hp_change" not in told_lines
        assert await hp(chat) == 100
