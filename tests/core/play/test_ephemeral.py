"""An ephemeral session is played like any other, and nothing of it is kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from saga_core import BadInput, Saga
from saga_core import saga as engine
from saga_core.config import Config, load_config
from saga_core.ports import SystemClock
from tests.core.frontend import Frontend, answer

SECRET = "Quillfeather"


def on_disk(folder: Path, **sections: Any) -> Config:
    return load_config({"storage": {"path": str(folder)}, **sections})


def bytes_below(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


class SetClock(SystemClock):
    """A clock that can be set forward."""

    ahead = 0.0

    def now(self) -> float:
        return super().now() + self.ahead

    def monotonic(self) -> float:
        return super().monotonic() + self.ahead


async def say(chat: Frontend, words: str, reply: str, *, kind: str = "", **fields: Any) -> str:
    """One turn. Returns the session in which it was played."""
    turn = await chat.begin(words, kind=kind)
    shown = await answer(turn, reply, **fields)
    chat.history += [{"role": "user", "content": words}, {"role": "assistant", "content": shown}]
    return turn.session.id


async def test_it_is_played_like_any_other_and_leaves_no_byte(tmp_path: Path) -> None:
    async with Saga.open(on_disk(tmp_path, memory_strategies={"facts": {}})) as saga:
        chat = Frontend(saga)
        session = await say(chat, f"I greet {SECRET}.", "She nods at you.", kind="ephemeral", npc_met=(SECRET,))
        assert chat.last is not None and "ephemeral" in " ".join(chat.last.notices)
        assert session == await say(
            chat, f"I follow {SECRET} to the mill.", "The wheel stands still.", kind="ephemeral"
        )
        assert "ephemeral" not in " ".join(chat.last.notices)
        asked = await chat.begin(f"Who is {SECRET}?", kind="ephemeral")
        assert SECRET in asked.context.text
        await saga.drain(10)
        assert not await saga.sessions.list()
        memory = await saga.engine_of(session)
        assert [each.session.kind for each in await memory.sessions.list()] == ["ephemeral"]
        state = saga.stores.state
        rows = [
            key
            for kind in ("session", "turn", "node", "reply", "said", "open", "bill", "job", "prompt", "world")
            for key, _ in await state.scan((kind,))
        ]
        assert rows == []
    written = bytes_below(tmp_path)
    assert SECRET.encode() not in written and session.encode() not in written
    async with Saga.open(on_disk(tmp_path)) as saga:
        assert await saga.sessions.list() == []


async def test_a_chat_stays_ephemeral_without_the_word(tmp_path: Path) -> None:
    async with Saga.open(on_disk(tmp_path)) as saga:
        chat = Frontend(saga)
        session = await say(chat, f"I greet {SECRET}.", "She nods at you, and the wind rises.", kind="ephemeral")
        assert await say(chat, "I go on.", "The road bends to the south, and rain begins.") == session
        assert await say(chat, "I go on.", "The road bends to the north, and snow begins.") == session
        assert await saga.sessions.list() == []
        kept = await say(chat, "Now keep it.", "It is kept from here on, with all that was.", kind="personal")
        assert [each.session.id for each in await saga.sessions.list()] == [kept]
        assert kept != session


async def test_a_kept_chat_is_no_ephemeral_one_because_a_copy_of_it_is(tmp_path: Path) -> None:
    async with Saga.open(on_disk(tmp_path)) as saga:
        chat = Frontend(saga)
        kept = await say(chat, "I knock.", "An old woman opens the door and looks you up and down.")
        copy = Frontend(saga, history=list(chat.history))
        other = await say(copy, f"I ask for {SECRET}.", "She has never heard that name before.", kind="ephemeral")
        assert other != kept
        assert await say(chat, "I ask for bread.", "She gives you half a loaf, still warm.") == kept
        assert await say(copy, "I thank her.", "She shrugs and closes the door behind you.") == other
        found = (await saga.sessions.list())[0]
        assert (found.session.id, found.depth) == (kept, 2)
        # A new chat with the same first words is kept as usual.
        assert await say(Frontend(saga), f"I ask for {SECRET}.", "Nobody answers.") != other


async def test_an_ephemeral_story_is_known_to_no_other(tmp_path: Path) -> None:
    config = on_disk(tmp_path, recall={"other_sessions": "world"})
    async with Saga.open(config) as saga:
        await say(Frontend(saga), f"I hide the crown of {SECRET} under the mill.", "It is hidden.", kind="ephemeral")
        begun = await Frontend(saga).begin(f"In my other story, where did I hide the crown of {SECRET}?")
        assert "mill" not in begun.context.text
        with pytest.raises(BadInput, match="no kind of session 'secret'"):
            await Frontend(saga).begin("Hello.", kind="secret")


async def test_it_goes_when_it_was_not_played_for_a_day(tmp_path: Path) -> None:
    clock = SetClock()
    async with Saga.open(on_disk(tmp_path), clock=clock) as saga:
        session = await say(Frontend(saga), "I knock.", "The door stays shut.", kind="ephemeral")
        memory = await saga.engine_of(session)
        clock.ahead = 90_000.0
        await Frontend(saga).begin("Hello.")
        assert await memory.sessions.list() == []


async def test_they_have_limits_also_if_each_request_names_the_kind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = SetClock()
    monkeypatch.setattr(engine, "_KEPT_BYTES", 150_000)
    monkeypatch.setattr(engine, "_KEPT", 4)
    async with Saga.open(on_disk(tmp_path), clock=clock) as saga:
        small = await say(Frontend(saga), "I knock.", "The door stays shut.", kind="ephemeral")
        large = await say(Frontend(saga), "I read.", "The book is long. " * 5_000, kind="ephemeral")
        memory = await saga.engine_of(small)
        clock.ahead += 11.0
        last = await say(Frontend(saga), "I wait.", "The book is longer. " * 3_000, kind="ephemeral")
        assert {each.session.id for each in await memory.sessions.list()} == {small, large, last}
        clock.ahead += 11.0
        again = await say(Frontend(saga), "I sing.", "Nobody hears it.", kind="ephemeral")
        assert {each.session.id for each in await memory.sessions.list()} == {small, last, again}
        for number in range(4):
            clock.ahead += 11.0
            await say(Frontend(saga), f"I count {number}.", f"You counted {number}.", kind="ephemeral")
        assert len(await memory.sessions.list()) == 5, "four, and the one that came behind the last look"
