"""A narrator that writes no block: who is told, from when on, in which words, and until when."""

from __future__ import annotations

import asyncio
import logging

import pytest

from saga_core import Saga
from saga_core.errors import StoreUnavailable
from saga_core.model import Turn
from saga_core.sessions import SILENT_FROM, SILENT_MODE, LiveSession, unread_replies, unreported_at
from saga_core.sessions.missing_reports import UnreportedReplies
from tests.core.extraction.scripted import NOTHING, Scripted
from tests.core.frontend import Frontend, answer, memory_config


async def silent(chat: Frontend, replies: int) -> None:
    """So many turns in a row whose replies have no block."""
    for _ in range(replies):
        number = len(chat.history) // 2
        await chat.say(f"{number}번 길로 간다.", f"{number}번째 길이 열린다. 바람이 세차게 분다.")


async def reported(chat: Frontend) -> None:
    """A turn whose reply has a block."""
    await chat.say("쉰다.", "잠시 쉰다. 숨을 고르고 물을 마신다.", hp_change=-1)


async def test_two_replies_without_a_block_are_nothing() -> None:
    async with Saga.open(memory_config()) as saga:
        chat = Frontend(saga)
        await silent(chat, SILENT_FROM - 1)
        turn = await chat.begin("또 간다.")
        assert (turn.notices, turn.silent) == ((), 0)
        assert (await saga.status())["silent"] == []
        assert saga.counters.degraded == {}


async def test_fourteen_are_told_of_and_not_at_each(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    async with Saga.open(memory_config()) as saga:
        chat, noticed, counted = Frontend(saga), [], []
        for number in range(14):
            await silent(chat, 1)
            assert chat.last is not None
            counted.append(chat.last.silent)
            noticed += [number] * bool(chat.last.notices)
        assert counted == [0, 0, 0, *range(3, 14)], "the header has the number from then on"
        assert noticed == [SILENT_FROM, SILENT_FROM + 10], "in words, it is told now and then"
        (row,) = (await saga.status())["silent"]
        assert (row["replies"], row["unread"], row["read_by"]) == (14, 14, None)
        for remedy in ("models.extraction", "another model", "saga doctor --narrator"):
            assert remedy in row["remedy"] and remedy in saga.counters.degraded[SILENT_MODE]
        assert len([line for line in caplog.messages if SILENT_MODE in line]) == 1, "logged once"


async def test_the_notice_goes_when_blocks_return() -> None:
    async with Saga.open(memory_config()) as saga:
        chat = Frontend(saga)
        await silent(chat, 4)
        assert SILENT_MODE in saga.counters.degraded
        await reported(chat)
        assert saga.counters.degraded == {} and (await saga.status())["silent"] == []
        turn = await chat.begin("또 간다.")
        assert (turn.notices, turn.silent) == ((), 0)
        assert saga.counters.counts["silence.begun"] == saga.counters.counts["silence.ended"] == 1


async def test_another_chat_hears_nothing_of_it() -> None:
    async with Saga.open(memory_config()) as saga:
        await silent(Frontend(saga), 4)
        other = Frontend(saga, greeting="배가 항구에 닿는다. 갈매기가 운다.")
        await reported(other)
        turn = await other.begin("내린다.")
        assert (turn.notices, turn.silent) == ((), 0)
        assert SILENT_MODE in saga.counters.degraded, "while the first is still silent"


async def test_a_path_has_its_own_silence() -> None:
    """A swipe with a block ends it; the path beside it stays silent."""
    async with Saga.open(memory_config()) as saga:
        chat = Frontend(saga)
        await silent(chat, 4)
        await chat.swipe("문이 열린다. 안은 어둡고 서늘하다.", hp_change=-1)
        assert (await saga.status())["silent"] == []
        turn = await chat.begin("들어간다.")
        assert turn.silent == 0


async def test_a_history_that_was_taken_over_says_nothing_of_the_narrator() -> None:
    async with Saga.open(memory_config()) as saga:
        chat = Frontend(saga)
        for number in range(6):
            chat.history += [
                {"role": "user", "content": f"{number}번째 길로 간다."},
                {"role": "assistant", "content": f"{number}번째 길은 강가로 이어진다. 물소리가 들린다."},
            ]
        turn = await chat.begin("또 간다.")
        assert (turn.notices, turn.silent) == ((), 0)


async def test_one_that_is_read_by_another_model_is_no_loss() -> None:
    model = Scripted(otherwise=NOTHING)
    async with Saga.open(memory_config(), extractor=model) as saga:
        chat = Frontend(saga)
        for _ in range(5):
            await silent(chat, 1)
            await saga.drain(10)
        await chat.begin("또 간다.")
        (row,) = (await saga.status())["silent"]
        assert (row["replies"], row["unread"], row["read_by"], row["remedy"]) == (5, 0, "small", None)
        assert SILENT_MODE not in saga.counters.degraded
        assert chat.last is not None and chat.last.notices == ()
        session = chat.last.session.id
        live = await saga.parts.live.get(session)
        assert unread_replies(live.tree, live.head) == 0
        assert (await unreported_at(live, live.head)).replies == 5


async def test_what_was_read_after_the_last_reply_is_no_loss_and_that_nothing_was_found_is_said() -> None:
    model = Scripted(otherwise=NOTHING, gate=asyncio.Event())
    async with Saga.open(memory_config(), extractor=model) as saga:
        chat = Frontend(saga)
        await silent(chat, 6)
        assert "saga jobs" in saga.counters.degraded[SILENT_MODE]
        assert model.gate is not None
        model.gate.set()
        await saga.drain(10)
        assert SILENT_MODE not in saga.counters.degraded
        (row,) = (await saga.status())["silent"]
        assert (row["read_by"], row["remedy"], row["found_nothing"]) == ("small", None, True)
        assert "small found no change in those that it read" in UnreportedReplies(6, 1, "m", True).text("small")


async def test_a_long_silence_is_counted_on_and_not_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replies that were read later are looked up once, however long the chat is."""
    async with Saga.open(memory_config(), extractor=Scripted(otherwise=NOTHING)) as saga:
        chat = Frontend(saga)
        await silent(chat, 30)
        await saga.drain(10)
        assert chat.last is not None
        live = await saga.parts.live.get(chat.last.session.id)
        asked: list[str] = []
        turn = LiveSession.turn

        async def counted(self: LiveSession, turn_id: str) -> Turn:
            asked.append(turn_id)
            return await turn(self, turn_id)

        monkeypatch.setattr(LiveSession, "turn", counted)
        pending = await chat.begin("또 간다.")
        assert pending.silent == 30 == (await unreported_at(live, live.head)).replies
        asked.clear()
        await chat.begin("또 간다.")
        assert len(asked) < 5


async def test_a_reader_that_fails_is_a_loss_again() -> None:
    model = Scripted(otherwise="I would rather tell a story.")
    async with Saga.open(memory_config(), extractor=model) as saga:
        chat = Frontend(saga)
        for _ in range(6):
            await silent(chat, 1)
            await saga.drain(10)
        assert "saga jobs" in saga.counters.degraded[SILENT_MODE]
        (row,) = (await saga.status())["silent"]
        assert row["read_by"] is None and "saga jobs" in row["remedy"]


async def test_turns_that_were_read_again_by_hand_are_no_silence() -> None:
    model = Scripted(otherwise=NOTHING)
    async with Saga.open(memory_config(), extractor=model) as saga:
        chat = Frontend(saga)
        turns = []
        for number in range(5):
            turns.append(await chat.say(f"{number}. 간다.", f"{number}번째 길이 열린다. 바람이 분다.", hp_change=-1))
        await saga.background.reextract(turns[0].session.id, turns[0].id)
        for turn in turns:
            await saga.background.reextract(turn.session.id, turn.id, below=False)
        await saga.drain(10)
        turn = await chat.begin("또 간다.")
        assert turn.silent == 0


async def test_the_pages_say_what_is_missing_in_them() -> None:
    async with Saga.open(memory_config()) as saga:
        chat = Frontend(saga)
        await silent(chat, 2)
        await saga.drain(10)
        assert chat.last is not None
        session = chat.last.session.id

        async def page() -> str:
            pages, _ = await saga.views.pages(session)
            assert pages is not None
            return pages.files["state.md"]

        assert "saga doctor" not in await page()
        await silent(chat, 2)
        await saga.drain(10)
        told = await page()
        assert "답변 4개에 상태 블록이 없어" in told and "`saga doctor`" in told
        assert told.startswith("---\n"), "the front matter stays first"
        assert (await saga.maintenance.verify()).equal
        turn = await chat.begin("또 간다.")
        assert "상태 블록이 없어" not in turn.plan.text(), "what people read is no part of the prompt"
        await reported(chat)
        await saga.drain(10)
        assert "saga doctor" not in await page()


async def test_a_session_that_went_is_not_listed() -> None:
    async with Saga.open(memory_config()) as saga:
        chat = Frontend(saga)
        await silent(chat, 4)
        assert chat.last is not None
        await saga.sessions.delete(chat.last.session.id)
        assert (await saga.status())["silent"] == [] and SILENT_MODE not in saga.counters.degraded


async def test_a_journal_that_cannot_be_read_costs_no_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """A turn that was committed counts as recorded, whatever is known of the narrator."""
    async with Saga.open(memory_config()) as saga:
        chat = Frontend(saga)
        await silent(chat, 2)
        pending = await chat.begin("또 간다.")

        async def broken(*_: object) -> UnreportedReplies:
            raise StoreUnavailable("the disk is away")

        monkeypatch.setattr(saga.parts.play.silent.__class__, "look", broken)
        await answer(pending, "세 번째 길이 열린다. 바람이 세차게 분다.")
        assert (await saga.views.turns(pending.session.id))[-1].id == pending.id
        assert saga.counters.counts["silence.unknown"] == 1
