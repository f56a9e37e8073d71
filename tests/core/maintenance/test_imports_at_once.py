"""The same file taken in several times at once, and imports that fail: a session is there whole, or not at all."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from saga_core import Saga
from saga_core.errors import StoreError
from saga_core.journal import keys
from saga_core.maintenance import ImportOptions
from saga_core.maintenance.transfer import SessionFile, read_file
from saga_core.model import Session
from saga_core.stores import Batch
from tests.core.frontend import Frontend, memory_config
from tests.core.imports import samples

AT_ONCE = 8


@pytest.fixture
async def raw() -> bytes:
    """A session of three turns as a file."""
    async with Saga.open(memory_config()) as saga:
        chat = Frontend(saga, session="tale", owner="k1")
        for number in range(3):
            turn = await chat.say(f"I open door {number}.", f"Door {number} opens, and rain comes in.", hp_change=-1)
        return b"".join([line async for line in saga.maintenance.export_session(turn.session.id)])


def waiting(saga: Saga, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let others run before each reading and each commit, as a store does that is on disk."""

    def slow(real: Callable[..., Any]) -> Callable[..., Any]:
        async def after_the_others(*given: Any, **named: Any) -> Any:
            await asyncio.sleep(0)
            return await real(*given, **named)

        return after_the_others

    kv = type(saga.stores.state)
    for name in ("get", "scan", "commit"):
        monkeypatch.setattr(kv, name, slow(getattr(kv, name)))


async def all_at_once(saga: Saga, files: list[SessionFile]) -> list[Session]:
    return list(await asyncio.gather(*(saga.maintenance.import_session(file) for file in files)))


async def is_whole(saga: Saga) -> None:
    await saga.drain(20)
    assert (await saga.maintenance.verify()).findings == ()


async def test_a_session_that_is_imported_eight_times_at_once(raw: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    async with Saga.open(memory_config()) as saga:
        waiting(saga, monkeypatch)
        file = read_file(raw)
        made = await all_at_once(saga, [file] * AT_ONCE)
        assert sorted(each.label for each in made) == sorted(["tale", *(f"tale ({n})" for n in range(2, AT_ONCE + 1))])
        assert len({each.id for each in made}) == AT_ONCE
        assert file.session.id in {each.id for each in made}
        for each in made:
            assert len(await saga.parts.live.tree(each.id)) == len(file.turns)
            assert await saga.parts.journal.labelled("k1", each.label) == each.id
        await is_whole(saga)


async def test_two_files_of_one_session_do_not_mix(raw: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = read_file(raw), read_file(raw.replace(b"rain comes", b"snow comes"), edited=True)
    async with Saga.open(memory_config()) as saga:
        waiting(saga, monkeypatch)
        made = await all_at_once(saga, [one, other])
        for each, told in zip(made, ("rain", "snow"), strict=True):
            turns = await saga.parts.journal.turns(each.id, list((await saga.parts.live.tree(each.id)).nodes))
            assert [turn.reply for turn in turns[1:]] == [f"Door {n} opens, and {told} comes in." for n in range(3)]
        await is_whole(saga)


async def test_a_name_that_a_chat_takes_meanwhile(raw: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    async with Saga.open(memory_config()) as saga:
        file, label, others = read_file(raw), keys.label("k1", "tale"), Frontend(saga, session="tale", owner="k1")
        real, taken = type(saga.stores.state).commit, False

        async def late(self: Any, batch: Batch, **named: Any) -> None:
            nonlocal taken
            if label in batch.puts and not taken:
                taken = True
                await others.say("I wait.", "Nobody comes for an hour.")
            await real(self, batch, **named)

        monkeypatch.setattr(type(saga.stores.state), "commit", late)
        made = await saga.maintenance.import_session(file)
        assert (made.id, made.label) == (file.session.id, "tale (2)")
        await is_whole(saga)


async def at_once(work: Callable[..., Any], *given: Any) -> Any:
    return work(*given)


async def test_a_chat_that_is_imported_eight_times_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asyncio, "to_thread", at_once)  # all come to the same step, however threads are scheduled
    files = [("one.jsonl", samples.st_chat(turns=12))]
    async with Saga.open(memory_config()) as saga:
        waiting(saga, monkeypatch)
        found = await asyncio.gather(*(saga.maintenance.import_files(files, ImportOptions()) for _ in range(AT_ONCE)))
        assert sorted(each.things[0].state for each in found) == ["known"] * (AT_ONCE - 1) + ["new"]
        assert len({each.things[0].session for each in found}) == 1
        assert len(await saga.sessions.list()) == 1
        await is_whole(saga)


async def records(saga: Saga) -> list[Any]:
    return [key for name in keys.KINDS if name != "world" for key, _ in await saga.stores.state.scan((name,))]


@pytest.mark.parametrize("allowed", [1, 2, 3])
async def test_what_a_failed_import_wrote_is_removed(raw: bytes, allowed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    async with Saga.open(memory_config()) as saga:
        real, commits = type(saga.stores.state).commit, 0

        async def failing(self: Any, batch: Batch, **named: Any) -> None:
            nonlocal commits
            commits += bool(batch.puts)
            if batch.puts and commits > allowed:
                raise StoreError("the disk is full")
            await real(self, batch, **named)

        monkeypatch.setattr("saga_core.maintenance.transfer._PAGE", 4)
        monkeypatch.setattr(type(saga.stores.state), "commit", failing)
        with pytest.raises(StoreError, match="the disk is full"):
            await saga.maintenance.import_session(read_file(raw))
        assert await records(saga) == []


async def test_repair_leaves_a_session_that_was_imported_since_it_was_found_in_pieces(raw: bytes) -> None:
    file = read_file(raw)
    async with Saga.open(memory_config()) as saga:
        last = file.turns[-1][0]
        await saga.stores.state.commit(Batch({keys.turn(file.session.id, last.id): b"{}"}))
        verdict = await saga.maintenance.verify()
        assert [each.what for each in verdict.findings] == [f"1 turn records of {file.session.id}, which is no session"]
        made = await saga.maintenance.import_session(file)
        assert made.id == file.session.id
        assert (await saga.maintenance.repair(verdict)).findings == ()
        assert len(await saga.parts.journal.turns(made.id, [last.id])) == 1
