"""A damaged journal is read as far as it can be, and written no more; one that cannot be opened refuses every call."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from saga_backends.memory import MemoryState
from saga_core import Saga
from saga_core.counters import Counters
from saga_core.errors import Closed, StoreCorrupt, StoreLocked, StoreTimeout, StoreUnavailable
from saga_core.journal import keys
from saga_core.play import play
from saga_core.storage import journal_guard, late_calls
from saga_core.storage.journal_guard import DAMAGED, ReadOnlyOnCorruption, UnavailableStore, keep_copy, tell_damage
from saga_core.stores import Batch
from tests.core.frontend import memory_config

ONE = Batch({("a",): b"1"})


def copies(folder: Path) -> list[Path]:
    return list(folder.glob("*.damaged-*"))


class Torn(MemoryState):
    """Cannot read what lies under ``torn``."""

    async def get(self, keys: Any) -> Any:
        if ("torn",) in keys:
            raise StoreCorrupt("page 7 is torn")
        return await super().get(keys)

    async def scan(self, prefix: Any, **options: Any) -> Any:
        if prefix == ("torn",):
            raise StoreCorrupt("page 7 is torn")
        return await super().scan(prefix, **options)

    async def commit(self, batch: Batch, **options: Any) -> None:
        if ("torn",) in batch.puts:
            raise StoreCorrupt("page 7 is torn")
        await super().commit(batch, **options)


def guarded(path: Path | None = None) -> tuple[ReadOnlyOnCorruption, Counters]:
    counters = Counters()
    return ReadOnlyOnCorruption(Torn(), path, counters), counters


async def test_a_sound_journal_is_as_it_is() -> None:
    store, counters = guarded()
    await store.commit(ONE)
    await store.commit(Batch({("b",): b"2"}), expected={("a",): b"1"})
    assert await store.get([("a",)]) == {("a",): b"1"}
    assert await store.scan((), after=("a",), limit=5) == [(("b",), b"2")]
    await store.compact()
    assert (await store.check()).ok and store.info.kind == "state" and counters.degraded == {}
    await store.aclose()
    with pytest.raises(Closed):
        await store.get([("a",)])


@pytest.mark.parametrize("how", ["get", "scan", "commit"])
async def test_from_the_first_sign_of_damage_nothing_is_written_and_the_rest_is_read(how: str) -> None:
    store, counters = guarded()
    await store.commit(ONE)
    given: Any = {"get": [("torn",)], "scan": ("torn",), "commit": Batch({("torn",): b""})}[how]
    for _ in range(2):
        with pytest.raises(StoreCorrupt):
            await getattr(store, how)(given)
    for refused in (store.commit(Batch({("c",): b""})), store.compact()):
        with pytest.raises(StoreCorrupt, match="nothing more is written to it: page 7 is torn"):
            await refused
    assert await store.get([("a",), ("c",)]) == {("a",): b"1"}
    health = await store.check()
    assert (health.ok, health.detail) == (False, "page 7 is torn")
    assert counters.counts[f"degraded.{DAMAGED}"] == 1, "told once"
    assert "restore a backup with the tools of memory" in counters.degraded[DAMAGED]


async def test_a_copy_of_the_damaged_file_is_kept_and_named(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    path.write_bytes(b"half a page")
    store, counters = guarded(path)
    with pytest.raises(StoreCorrupt):
        await store.get([("torn",)])
    (copy,) = copies(tmp_path)
    assert copy.read_bytes() == b"half a page" and str(copy) in counters.degraded[DAMAGED]
    assert str(path) in counters.degraded[DAMAGED]


def test_each_state_of_a_file_is_copied_once_with_its_log(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    assert keep_copy(path) is None
    path.write_bytes(b"one")
    path.with_name("journal.db-wal").write_bytes(b"log")
    first = keep_copy(path)
    assert first is not None and first.with_name(f"{first.name}-wal").read_bytes() == b"log"
    assert keep_copy(path) is None
    os.utime(path, ns=(1, 1))
    assert keep_copy(path) is not None


async def test_why_no_copy_could_be_made_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("saga_core.storage.journal_guard.keep_copy", full)
    counters = Counters()
    await tell_damage(counters, "sqlite", tmp_path / "journal.db", StoreCorrupt("torn"))
    assert "no copy of it could be made (No space left on device)" in counters.degraded[DAMAGED]


async def test_what_is_no_damage_is_not_called_so() -> None:
    counters = Counters()
    await tell_damage(counters, "sqlite", None, StoreLocked("in use"))
    assert counters.degraded[DAMAGED].startswith("in use. What is in it is safe")


async def test_a_damaged_store_is_closed_all_the_same(caplog: pytest.LogCaptureFixture) -> None:
    class Stuck(MemoryState):
        async def aclose(self) -> None:
            raise StoreCorrupt("torn")

    await ReadOnlyOnCorruption(Stuck(), None, Counters()).aclose()
    assert "cannot be closed in order: torn" in caplog.text


async def test_what_cannot_be_opened_raises_what_opening_raised_until_it_is_closed() -> None:
    store = UnavailableStore("sqlite", Path("/data/journal.db"), StoreUnavailable("no disk"))
    assert (store.info.kind, store.info.name, store.info.location) == ("state", "sqlite", "/data/journal.db")
    for call in (store.get([("a",)]), store.scan(()), store.commit(ONE)):
        with pytest.raises(StoreUnavailable, match="no disk"):
            await call
    health = await store.check()
    assert (health.ok, health.detail) == (False, "no disk")
    await store.aclose()
    with pytest.raises(Closed):
        await store.get([("a",)])
    assert UnavailableStore("sqlite", None, StoreUnavailable("x")).info.location == ""


class Hanging(MemoryState):
    """Answers no read, and does not close."""

    async def get(self, keys: Any) -> Any:
        await asyncio.Event().wait()

    async def scan(self, prefix: Any, **options: Any) -> Any:
        await asyncio.Event().wait()

    async def aclose(self) -> None:
        await asyncio.Event().wait()


async def test_a_journal_that_hangs_is_waited_for_a_while_and_named(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(journal_guard, "ANSWER_SECONDS", 0.01)
    store, late = ReadOnlyOnCorruption(Hanging(), None, Counters()), "memory.* did not answer within 0.01 s"
    async with asyncio.timeout(5):
        with pytest.raises(StoreUnavailable, match=late):
            await store.get([("a",)])
        with pytest.raises(StoreUnavailable, match=late):
            await store.scan(())
        await store.aclose()
    assert "cannot be closed in order" in caplog.text


async def test_a_journal_that_hangs_at_the_start_is_not_played_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal_guard, "ANSWER_SECONDS", 0.01)
    async with asyncio.timeout(5):
        with pytest.raises(StoreTimeout, match=r"the journal \(memory\) did not answer within 0\.01 s"):
            await Saga.open(memory_config(), stores={"state": Hanging()}, tolerant=True)


async def test_a_damaged_journal_of_another_engine_is_not_sent_to_saga_restore(tmp_path: Path) -> None:
    counters = Counters()
    await tell_damage(counters, "mine", tmp_path / "state.mine", StoreCorrupt("torn"))
    told = counters.degraded[DAMAGED]
    assert "restore a backup with the tools of mine; without one, move" in told and "saga restore" not in told
    await tell_damage(counters, "sqlite", tmp_path / "state.db", StoreCorrupt("torn"))
    assert "saga restore FILE --force`; without one, save what can be read with" in counters.degraded[DAMAGED]


@pytest.mark.parametrize("raw", [b"not json", b"[1]", b"{}", b'{"format": true}'])
async def test_a_journal_whose_format_cannot_be_read_is_told_and_not_written(raw: bytes, tmp_path: Path) -> None:
    """As a server opens it, which plays on without it."""
    config = {"storage": {"path": str(tmp_path)}}
    async with Saga.open(config) as saga:
        await saga.parts.stores.state.commit(Batch({keys.FORMAT_KEY: raw}))
    async with Saga.open(config, tolerant=True) as saga:
        assert "cannot be read" in saga.counters.degraded[DAMAGED]
        with pytest.raises(StoreCorrupt, match="nothing more is written to it"):
            await saga.parts.stores.state.commit(ONE)


async def test_a_journal_that_cannot_be_asked_for_its_format_is_told() -> None:
    class Away(MemoryState):
        async def get(self, wanted: Any) -> Any:
            raise StoreUnavailable("it is away")

    async with Saga.open({"storage": {"profile": "memory"}}, stores={"state": Away()}, tolerant=True) as saga:
        assert "what waited is not taken up: " in saga.counters.degraded["background"]
        assert "it is away" in saga.counters.degraded["background"]


class Stalls(MemoryState):
    """A journal whose calls of one name do not end while it stalls."""

    stalls = ""

    def __init__(self) -> None:
        super().__init__()
        self.goes_on = asyncio.Event()

    async def get(self, keys: Any) -> Any:
        return await self._unless("get", super().get(keys))

    async def commit(self, batch: Any, *, expected: Any = None) -> None:
        await self._unless("commit", super().commit(batch, expected=expected))

    async def _unless(self, name: str, call: Any) -> Any:
        try:
            if self.stalls == name:
                await self.goes_on.wait()
        except asyncio.CancelledError:
            call.close()
            raise
        return await call


def _degraded(counters: Counters) -> asyncio.Event:
    """Set once a mode is degraded."""
    told = asyncio.Event()
    counters.listeners.append(lambda event, about: told.set() if event == "degraded" else None)
    return told


async def test_a_commit_that_does_not_end_is_named_and_ends_a_comparison(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(late_calls, "LATE_SECONDS", 0.02)
    store = Stalls()
    async with asyncio.timeout(20), Saga.open(memory_config(), stores={"state": store}) as saga:
        turn = await saga.begin([{"role": "user", "content": "I wait."}])
        turn.replies[0].feed("Fog.")
        await turn.commit()
        told = _degraded(saga.counters)
        store.stalls = "commit"
        await told.wait()
        hangs = "storage.state: memory has not answered `commit`"
        assert saga.counters.degraded["storage.state.hangs"].startswith(f"{hangs} for 0.02 s")
        with pytest.raises(StoreTimeout, match=f"cannot be compared within 0.2 s; {hangs}"):
            await saga.maintenance.verify(patience=0.2)
        store.goes_on.set()
        assert (await saga.maintenance.verify()).equal


@pytest.mark.parametrize("happened", [False, True])
async def test_a_commit_that_never_ends_is_given_up_and_its_session_goes_on(
    happened: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody knows whether it happened, so what is recorded is read again."""

    class Lost(MemoryState):
        loses = False

        async def commit(self, batch: Any, *, expected: Any = None) -> None:
            lost, self.loses = self.loses, False
            if not lost or happened:
                await super().commit(batch, expected=expected)
            if lost:
                await asyncio.Event().wait()

    monkeypatch.setattr(journal_guard, "ANSWER_SECONDS", 0.2)
    store, chat = Lost(), [{"role": "user", "content": "I wait."}]
    async with asyncio.timeout(20), Saga.open(memory_config(), stores={"state": store}) as saga:
        await (await saga.begin(chat)).commit()
        await saga.drain(5)
        lost = await saga.begin(chat)
        lost.replies[0].feed("Fog.")
        store.loses = True
        with pytest.raises(StoreTimeout, match=r"the journal \(memory\) did not answer within 0\.2 s"):
            await lost.commit()
        assert "did not answer" in saga.counters.degraded["journal.write"]
        chat += [{"role": "assistant", "content": "Fog."}, {"role": "user", "content": "I go on."}]
        turn = await saga.begin(chat, session=lost.session.id)
        turn.replies[0].feed("Rain.")
        await turn.commit()
        await saga.drain(5)
        told = [each["reply"] for each in await saga.timelines.path(lost.session.id)]
        assert told == ["", "Fog.", "Rain."], "each is there once"
        assert saga.counters.degraded == {} and (await saga.maintenance.verify()).equal


async def test_a_change_of_a_session_that_happened_though_it_failed_is_read_again() -> None:
    class Late(MemoryState):
        fails = False

        async def commit(self, batch: Any, *, expected: Any = None) -> None:
            await super().commit(batch, expected=expected)
            if self.fails:
                raise StoreTimeout("no answer")

    store = Late()
    async with Saga.open(memory_config(), stores={"state": store}) as saga:
        session = (await saga.sessions.create(label="first")).id
        await saga.sessions.rename(session, "first")
        store.fails = True
        with pytest.raises(StoreTimeout):
            await saga.sessions.rename(session, "second")
        store.fails = False
        assert (await saga.sessions.rename(session, "third")).label == "third"
        assert (await saga.sessions.create(label="second")).id != session, "the name is free"


async def test_a_read_that_does_not_end_is_named_with_its_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    store = Stalls()
    async with asyncio.timeout(20), Saga.open(memory_config(), stores={"state": store}) as saga:
        await saga.begin([{"role": "user", "content": "I come in."}])
        store.stalls = "get"
        monkeypatch.setattr(play, "ANSWER_SECONDS", 0.1)
        turn = await saga.begin([{"role": "user", "content": "I wait."}])
        assert turn.degraded == {"journal.read": "storage.state: memory has not answered `get` within 0.1 s"}
        store.goes_on.set()


async def test_a_graph_that_does_not_end_is_named_until_it_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(late_calls, "LATE_SECONDS", 0.01)
    counters, goes_on = Counters(), asyncio.Event()
    with late_calls.under_way(counters, "storage.graph", "mine", "apply"):
        asyncio.get_running_loop().call_later(0.05, goes_on.set)
        await goes_on.wait()
        assert "storage.graph: mine has not answered `apply`" in counters.degraded["storage.graph.hangs"]
        with late_calls.under_way(counters, "storage.graph", "mine", "get"):
            assert len(counters.calls) == 2
    assert counters.degraded == {} == counters.calls


async def test_a_store_is_well_once_the_call_that_hung_has_ended_though_others_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(late_calls, "LATE_SECONDS", 0.01)
    counters = Counters()
    late = late_calls.under_way(counters, "storage.graph", "mine", "apply")
    told = _degraded(counters)
    with late:
        async with asyncio.timeout(10):
            await told.wait()
        assert "storage.graph.hangs" in counters.degraded
        monkeypatch.setattr(late_calls, "LATE_SECONDS", 5.0)
        running = late_calls.under_way(counters, "storage.graph", "mine", "get")
        running.__enter__()
    assert counters.degraded == {}
    running.__exit__(None, None, None)
