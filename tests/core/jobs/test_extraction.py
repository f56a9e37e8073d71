"""Extraction: turns whose changes nobody reported get them behind the player's back, once, and never wrongly."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from saga_core import Saga
from saga_core.config import load_config
from saga_core.errors import NotFound, NotSupported, StoreError, UpstreamError
from saga_core.jobs.extraction import TRIES
from saga_core.journal.journal import Journal
from saga_core.state_block import ItemAmount
from tests.core.extraction.scripted import NOTHING, changes
from tests.core.frontend import Frontend, answer, block, memory_config
from tests.core.jobs.unreported import AWAY, FIGHT, SQUARE, WORSE, hp, playing, read, settled, until

# What is read, and when


async def test_a_turn_without_a_block_is_read_when_the_next_request_proves_it() -> None:
    async with playing(changes(hp_change=-30, items_gained=(ItemAmount("낡은 열쇠"),))) as (chat, model):
        first = await chat.say("고블린과 싸운다.", FIGHT)
        await chat.saga.background.drain_views(10)
        assert model.asked == [], "nothing proves yet that it stays"
        second = await chat.say("물러난다.", AWAY, hp_change=-5)
        await read(chat, 1)
        await chat.saga.background.drain_views(10)
        assert (await hp(chat, first), await hp(chat, second)) == (70, 65)
        assert len(model.asked) == 1
        (turn,) = await chat.saga.views.turns(first.session.id, from_turn=1, to_turn=1)
        assert (turn.delta.source.value, turn.delta.status.value) == ("extraction", "ok")
        assert await chat.saga.maintenance.differences(first.session.id) == []
        third = await chat.begin("주머니를 뒤진다.")
        assert "낡은 열쇠" in third.context.text
        assert "65/100" in third.context.text
        assert third.notices == () and not third.degraded


async def test_nothing_is_asked_when_the_block_can_be_read() -> None:
    async with playing() as (chat, model):
        await chat.say("고블린과 싸운다.", FIGHT, hp_change=-30)
        await chat.say("물러난다.", AWAY, mood="tense")
        await settled(chat)
        assert model.asked == []
        assert chat.saga.counters.counts["extraction.skipped"] == 0


async def test_a_partial_block_is_not_paid_for_again() -> None:
    async with playing() as (chat, model):
        turn = await chat.begin("고블린과 싸운다.")
        turn.replies[0].feed(f"{FIGHT}\n\n```state\nhp_change: -30\nnpc_met: [\n```")
        await turn.commit()
        chat.history += [{"role": "user", "content": "고블린과 싸운다."}, {"role": "assistant", "content": FIGHT}]
        await chat.say("물러난다.", AWAY, mood="tense")
        await settled(chat)
        assert model.asked == []


async def test_a_reply_that_was_swiped_away_is_never_paid_for() -> None:
    async with playing(changes(hp_change=-45)) as (chat, model):
        await chat.say("광장을 둘러본다.", SQUARE, mood="calm")
        gone = await chat.say("고블린과 싸운다.", FIGHT)
        kept = await chat.swipe(WORSE)
        await chat.say("물러난다.", AWAY, mood="tense")
        await settled(chat)
        assert (await hp(chat, gone), await hp(chat, kept)) == (100, 55)
        assert len(model.asked) == 1
        assert WORSE in model.told()
        assert FIGHT not in model.told()


async def test_a_turn_that_is_asked_for_again_before_its_answer_is_recorded_is_read_again() -> None:
    async with playing(changes(hp_change=-30), changes(hp_change=-40)) as (chat, model):
        model.gate = asyncio.Event()
        turn = await chat.say("고블린과 싸운다.", FIGHT)
        await chat.say("물러난다.", AWAY, mood="tense")
        await model.reached.wait()
        session, job = turn.session.id, chat.saga.background.extraction
        async with chat.saga.parts.supervisor.exclusive(session):
            model.gate.set()
            await until(lambda: turn.id in job._backlogs[session].read)
            await job.again(session, [turn.id])
        await settled(chat)
        assert (len(model.asked), await hp(chat)) == (2, 60)
        assert chat.saga.counters.counts["extraction.failures"] == 0


async def test_draining_reads_the_active_head_too() -> None:
    async with playing(changes(hp_change=-30)) as (chat, model):
        await chat.say("고블린과 싸운다.", FIGHT)
        await settled(chat)
        assert await hp(chat) == 70
        assert len(model.asked) == 1


async def test_side_requests_are_never_read() -> None:
    async with playing() as (chat, model):
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
            await saga.background.reextract(first.session.id)
        status = await saga.status()
        assert (status["backfill"], status["work"]["failed"]) == ({}, [])


async def test_the_question_holds_the_story_and_nothing_of_sagas() -> None:
    async with playing(NOTHING) as (chat, model):
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
        assert request.params.keys() == {"max_tokens", "response_format"}


@pytest.mark.parametrize("language", ["ko", "en"])
async def test_the_models_name_and_language(language: str) -> None:
    config = load_config({"storage": {"profile": "memory"}, "models": {"extraction": "tiny-1"}})
    said = {
        "ko": ("문을 연다.", "문이 열리고 찬 바람이 든다."),
        "en": ("I open the door.", "The door opens. It is cold."),
    }
    async with playing(NOTHING, config=config) as (chat, model):
        await chat.say(*said[language])
        await settled(chat)
        (request,) = model.asked
        assert request.model == "tiny-1"
        assert ("응답:" in request.plan.text()) == (language == "ko")
        assert chat.saga.counters.counts["extraction.tokens.input"] == 700


# Never on the player's path


async def test_no_request_asks_or_waits_long_for_a_model_that_hangs() -> None:
    config = load_config({"storage": {"profile": "memory"}, "recall": {"extraction_wait_ms": 5}})
    async with playing(changes(hp_change=-30), config=config) as (chat, model):
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
            await chat.saga.background.drain_views(10)
        assert model.running == 1
        assert await hp(chat) == 96
        assert chat.saga.counters.counts["extraction.waited"] == 1, "while it was near"
        model.gate.set()
        await settled(chat)
        assert await hp(chat) == 66
        assert model.most == 1


async def test_a_request_waits_for_what_is_being_read_of_its_parent() -> None:
    async with playing(changes(hp_change=-30)) as (chat, model):
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
        assert turn.notices == () and not turn.degraded
        assert chat.saga.counters.counts["extraction.waited"] == 1
        assert chat.saga.counters.counts["extraction.late"] == 0
        assert len(model.asked) == 1


async def test_beyond_the_bound_a_request_goes_on_and_says_so() -> None:
    config = load_config({"storage": {"profile": "memory"}, "recall": {"extraction_wait_ms": 0}})
    async with playing(changes(hp_change=-30), config=config) as (chat, model):
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
        assert await chat.saga.maintenance.differences(turn.session.id) == []


async def test_reading_gives_way_to_narration_at_the_same_upstream() -> None:
    async with playing(changes(hp_change=-30)) as (chat, model):
        await chat.say("고블린과 싸운다.", FIGHT)
        async with chat.saga.background.narrating("small"):
            await chat.say("물러난다.", AWAY, mood="tense")
            await chat.saga.background.drain_views(10)
            turn = await chat.begin("쉰다.")
            assert not turn.notices and not turn.degraded, "nobody waits for what waits"
            assert model.asked == []
        await read(chat, 1)
    async with playing(changes(hp_change=-30)) as (chat, model), chat.saga.background.narrating("another"):
        await chat.say("고블린과 싸운다.", FIGHT)
        await chat.say("물러난다.", AWAY, mood="tense")
        await read(chat, 1)


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
async def test_an_answer_that_cannot_be_read_changes_nothing_and_is_listed(script: tuple[str, ...], asked: int) -> None:
    async with playing(*script, otherwise=changes(hp_change=-30)) as (chat, model):
        first = await chat.say("고블린과 싸운다.", FIGHT)
        await chat.say("물러난다.", AWAY, mood="tense")
        await settled(chat)
        await settled(chat)
        assert len(model.asked) == asked, "one question and one repair"
        assert await hp(chat, first) == 100
        (failed,) = (await chat.saga.status())["work"]["failed"]
        assert (failed["session"], failed["turn"], failed["tries"]) == (first.session.id, first.id, 1)
        assert ("no report that can be read" if script[0] else "answered nothing") in failed["reason"]
        assert await chat.saga.maintenance.differences(first.session.id) == []
        assert await chat.saga.background.reextract(first.session.id) == 1
        await settled(chat)
        assert await hp(chat, first) == 70
        assert (await chat.saga.status())["work"]["failed"] == []


async def test_a_model_out_of_reach_is_tried_again_up_to_a_limit() -> None:
    async with playing(otherwise=UpstreamError("small answered 503", status=503)) as (chat, model):
        await chat.say("고블린과 싸운다.", FIGHT)
        await chat.say("물러난다.", AWAY, mood="tense")
        await until(lambda: len(model.asked) == 1)
        await chat.saga.background.drain_views(10)
        report = await chat.saga.drain(10)
        assert [(each.kind, each.reason) for each in report.waiting] == [("extract", "small answered 503")]
        assert len(model.asked) == 2, "draining tries what rests once more"
        turn = await chat.begin("쉰다.")
        assert turn.degraded == {"extraction": "small answered 503"}
        while len(model.asked) < TRIES:
            await chat.saga.drain(10)
        assert (await chat.saga.drain(10)).waiting == ()
        (failed,) = (await chat.saga.status())["work"]["failed"]
        assert failed["tries"] == TRIES
        assert await hp(chat) == 100
        model.otherwise = changes(hp_change=-30)
        await chat.saga.background.reextract(turn.session.id, turn.parent.parent)
        await settled(chat)
        assert await hp(chat) == 70
        assert chat.saga.counters.degraded == {}


async def test_pauses_grow_and_heed_the_provider() -> None:
    async with playing(otherwise=UpstreamError("slow down", status=429, retry_after=60.0)) as (chat, model):
        await chat.say("고블린과 싸운다.", FIGHT)
        await chat.say("물러난다.", AWAY, mood="tense")
        supervisor, job = chat.saga.parts.supervisor, chat.saga.background.extraction
        await until(lambda: bool(supervisor.pauses(job)))
        (pause,) = supervisor.pauses(job).values()
        assert 55 < pause <= 60
        model.otherwise = UpstreamError("gone")
        pauses = []
        for _ in range(TRIES - 2):
            await chat.saga.drain(10)
            pauses += map(round, supervisor.pauses(job).values())
        assert pauses == [4, 8, 16]


async def test_a_hanging_model_is_given_up_and_tried_again() -> None:
    async with playing(changes(hp_change=-30)) as (chat, model):
        assert chat.saga.background.extraction.extractor is not None
        chat.saga.background.extraction.extractor.call.timeout = 0.01
        model.gate = asyncio.Event()
        await chat.say("고블린과 싸운다.", FIGHT)
        await chat.say("물러난다.", AWAY, mood="tense")
        await until(lambda: model.closed == 1)
        model.gate.set()
        await settled(chat)
        assert await hp(chat) == 70


async def test_a_journal_that_fails_does_not_cost_another_call(monkeypatch: pytest.MonkeyPatch) -> None:
    async with playing(changes(hp_change=-30)) as (chat, model):
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


async def test_a_session_that_goes_takes_what_it_wanted_with_it() -> None:
    async with playing(changes(hp_change=-30)) as (chat, model):
        model.gate = asyncio.Event()
        first = await chat.say("고블린과 싸운다.", FIGHT)
        await chat.say("물러난다.", AWAY)
        await model.reached.wait()
        await chat.saga.sessions.delete(first.session.id)
        model.gate.set()
        await settled(chat)
        assert await chat.saga.stores.state.scan(("job",)) == []
        assert await chat.saga.stores.state.scan(("amend",)) == []
        assert (await chat.saga.status())["backfill"] == {}
        with pytest.raises(NotFound):
            await chat.saga.views.state(first.session.id)


async def test_a_pruned_turn_is_not_read() -> None:
    async with playing(NOTHING) as (chat, model):
        first = await chat.say("광장을 둘러본다.", SQUARE, mood="calm")
        gone = await chat.say("고블린과 싸운다.", FIGHT)
        await chat.say("물러난다.", AWAY)
        del chat.history[2:]
        model.gate = asyncio.Event()
        await model.reached.wait()
        await chat.say("상인을 찾는다.", "상인은 없다. 좌판만 남아 있다.", mood="calm")
        await chat.saga.timelines.prune(first.session.id, gone.id)
        model.gate.set()
        await settled(chat)
        assert await chat.saga.stores.state.scan(("job",)) == []
        assert await chat.saga.stores.state.scan(("amend",)) == []
        assert await chat.saga.maintenance.differences(first.session.id) == []


# Views, episodes, checkpoints, branches


async def test_everything_below_a_turn_that_was_read_is_rendered_again() -> None:
    async with playing(config=memory_config(checkpoint_every=2)) as (chat, model):
        model.gate = asyncio.Event()
        model.otherwise = changes(location="어둠의 숲", hp_change=-30, npc_met=("칼란",))
        await chat.say("숲으로 간다.", "낡은 길을 따라 걷는다. 나무가 빛을 가린다.")
        for number in range(9):
            await chat.say(f"{number}번째로 친다.", f"{number}번째 일격에 먼지가 인다. 적이 비틀거린다.", hp_change=-1)
        branch = chat.history[:4]
        await chat.saga.background.drain_views(10)
        chat.history = branch
        other = await chat.say("돌아선다.", "등 뒤에서 누군가 웃는다. 바람이 차다.", hp_change=-2)
        await chat.saga.background.drain_views(10)
        assert len(await chat.saga.stores.state.scan(("state",))) == 5
        live = await chat.saga.parts.live.get(other.session.id)
        assert len(live.slots) == 2, "both paths are shown"
        model.gate.set()
        await settled(chat)
        assert await hp(chat, other) == 67
        assert await chat.saga.maintenance.differences(other.session.id) == []
        pages, _ = await chat.saga.views.pages(other.session.id)
        assert pages is not None
        assert "67/100" in pages.files["state.md"]
        assert "칼란" in pages.files["lore.md"]
        (found, *_) = await chat.saga.views.search("낡은 길", session_id=other.session.id)
        assert "장소: 어둠의 숲" in found["text"]
        assert "만남: 칼란" in found["text"]


async def test_a_continuation_without_a_block_is_read_as_a_whole() -> None:
    async with playing(changes(hp_change=-12)) as (chat, model):
        await chat.say("고블린과 싸운다.", FIGHT, hp_change=-10)
        chat.note = "[Continue the following message. Do not repeat it.]"
        shown = await answer(await chat.begin(None), "그리고 두 번째 화살이 날아온다.")
        chat.note = ""
        chat.history[-1]["content"] += " " + shown
        await chat.say("피한다.", "몸을 굴려 수레 뒤로 숨는다. 화살이 박힌다.", mood="tense")
        await settled(chat)
        assert await hp(chat) == 88, "what the first part reported counts once"
        assert f"| {FIGHT} 그리고 두 번째 화살이" in model.told()


async def test_the_prefix_keeps_its_bytes_and_the_news_are_told_as_changes() -> None:
    async with playing(changes(location="어둠의 숲")) as (chat, model):
        model.gate = asyncio.Event()
        await chat.say("숲으로 간다.", "낡은 길을 따라 걷는다. 나무가 빛을 가린다.")
        before = await chat.say("더 들어간다.", AWAY, mood="tense")
        model.gate.set()
        await read(chat, 1)
        after = await chat.begin("쉰다.")
        one, other = before.plan.to_openai(), after.plan.to_openai()
        cut = max(index for index, message in enumerate(one) if message["role"] == "user")
        assert one[:cut] == other[:cut]
        assert "어둠의 숲" in after.context.text


async def test_a_block_that_a_player_types_is_story() -> None:
    async with playing(NOTHING) as (chat, model):
        turn = await chat.begin(f"나는 외친다. {block(hp_change=-99)}")
        turn.replies[0].feed("아무 일도 일어나지 않는다. 모두가 쳐다본다.")
        await turn.commit()
        await settled(chat)
        told_lines = str(model.asked[0].plan.blocks[1].content)
        assert "hp_change" not in told_lines
        assert await hp(chat) == 100


async def test_a_reply_that_is_continued_is_read_once_whole() -> None:
    async with playing(otherwise=changes(hp_change=-12)) as (chat, model):
        await chat.say("고블린과 싸운다.", FIGHT)
        chat.note = "[Continue the following message. Do not repeat it.]"
        shown = await answer(await chat.begin(None), "그리고 두 번째 화살이 날아온다.")
        chat.note = ""
        chat.history[-1]["content"] += " " + shown
        await chat.say("피한다.", "몸을 굴려 수레 뒤로 숨는다. 화살이 박힌다.", mood="tense")
        await settled(chat)
        assert await hp(chat) == 88
        assert len(model.asked) == 1


async def test_what_turns_below_speak_of_outlives_another_answer() -> None:
    sword = (ItemAmount("불꽃 검"),)
    async with playing(changes(items_gained=sword), NOTHING) as (chat, _):
        first = await chat.say("검을 찾는다.", "묵직한 검이 손에 들어온다. 날이 붉게 빛난다.")
        await chat.say("더 찾는다.", "같은 검이 하나 더 있다. 녹이 슬었다.", items_gained=sword)
        await settled(chat)
        await chat.saga.background.reextract(first.session.id, first.id)
        await settled(chat)
        state = await chat.saga.describe(first.session.id)
        assert {"name": "불꽃 검", "quantity": 1, "equipped": False} in state["inventory"]
        assert state["problems"] == []


CUT = "```state\nlocation: 어둠의 숲\nhp_change: -15\nitems_gained:\n- 밧줄\n- 은빛 단"


async def cut_off(chat: Frontend) -> None:
    """A reply that the limit of its length cuts off within its block."""
    turn = await chat.begin("싸운다.")
    turn.replies[0].feed(f"{FIGHT}\n\n{CUT}")
    turn.replies[0].finish_reason = "length"
    turn.replies[0].finish()
    await turn.commit()
    chat.history += [{"role": "user", "content": "싸운다."}, {"role": "assistant", "content": FIGHT}]


async def things(chat: Frontend) -> dict[str, int]:
    assert chat.last is not None
    told = await chat.saga.describe(chat.last.session.id)
    return {each["name"]: each["quantity"] for each in told["inventory"] if each["name"] in ("밧줄", "은빛 단검")}


async def test_the_rest_of_a_block_that_was_cut_off_is_asked_for_and_nothing_counts_twice() -> None:
    answer = changes(
        location="광장", hp_change=-15, items_gained=(ItemAmount("밧줄"), ItemAmount("은빛 단검")), npc_met=("미라",)
    )
    async with playing(answer) as (chat, model):
        await cut_off(chat)
        assert await hp(chat) == 85 and await things(chat) == {"밧줄": 1}, "what is whole counts at once"
        await settled(chat)
        assert len(model.asked) == 1
        assert await hp(chat) == 85
        assert await things(chat) == {"밧줄": 1, "은빛 단검": 1}
        assert chat.last is not None
        told = await chat.saga.describe(chat.last.session.id)
        assert told["location"] == "어둠의 숲", "the block's own word holds"
        assert told["npcs_met"] == ["미라"]


async def test_without_an_extraction_model_the_loss_is_counted_and_told() -> None:
    async with Saga.open(memory_config()) as saga:
        chat = Frontend(saga)
        await cut_off(chat)
        assert await hp(chat) == 85
        await settled(chat)
        status = await saga.status()
        assert status["counters"]["block.cut"] == status["counters"]["extraction.skipped"] == 1
        assert "cut off" in status["degraded"]["block.cut"]
        assert "block.cut" in (await chat.begin("간다.")).degraded
        await chat.say("간다.", SQUARE, mood="calm")
        await settled(chat)
        assert (await saga.status())["degraded"] == {}


@pytest.mark.parametrize("words", ["", "<think>Let me see, the goblin"])
async def test_a_model_that_does_not_answer_is_told_apart_from_nothing_changed(words: str) -> None:
    async with playing(words, words, changes(hp_change=-5)) as (chat, model):
        model.finish = "length"
        await chat.say("고블린과 싸운다.", FIGHT)
        await chat.say("물러난다.", AWAY, mood="tense")
        await settled(chat)
        background = chat.saga.background.extraction
        assert "allowance for thoughts" in str(background.failed()[0]["reason"])
        assert "allowance for thoughts" in chat.saga.counters.degraded["extraction.unread"]
        assert chat.saga.counters.counts["extraction.silent"] == 2
        third = await chat.begin("주머니를 뒤진다.")
        assert any("turn 1 is not known" in notice and "allowance" in notice for notice in third.notices)
        await chat.saga.background.extraction.again(third.session.id, [str(background.failed()[0]["turn"])])
        await read(chat, 1)
        assert "extraction.unread" not in chat.saga.counters.degraded
