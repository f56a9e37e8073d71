"""Chats that no single commit holds: all of them shows or nothing, wherever the writing is cut off."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path

import pytest

from saga_core import Saga
from saga_core.counters import Counters
from saga_core.errors import Conflict, NewerSchema, StoreError
from saga_core.journal import AT_ONCE, keys, unfinished
from saga_core.journal.format import begin_parts, check_format, end_parts
from saga_core.maintenance import ImportOptions
from saga_core.stores import Batch, Key
from tests.core.imports import samples

MEMORY = {"storage": {"profile": "memory"}}
WORDS = "lamp road bridge salt gate keeper rain winter river mill cart horse letter key tower crypt song".split()
SHORT, LONG = 5, 5 + 2 * AT_ONCE + 10
"""Turns of the chat, and of the chat when it has grown: three parts more."""
COMMITS = 9
"""The note; the parts; what shows them; what leads to each part; the note's end."""


def chat(turns: int) -> bytes:
    rows = [samples.HEADER, samples.message("Ysolde", "A long road lies ahead of you.")]
    for number in range(turns):
        dice = random.Random(number)
        rows.append(samples.message("Alex", f"On with me, for the {number}th time.", user=True))
        rows.append(samples.message("Ysolde", f"{number}: {' '.join(dice.choices(WORDS, k=8))}."))
    return samples.jsonl(*rows)


@contextmanager
def cut_off_after(saga: Saga, commits: int) -> Iterator[list[int]]:
    """From then on no commit of turns comes through, as if the machine had gone."""
    kind, made = type(saga.stores.state), [0]
    real = kind.commit

    async def commit(self: object, batch: Batch, **named: object) -> None:
        if any(key[0] in ("turn", "unfinished", "reply") for key in (*batch.puts, *batch.deletes)):
            made[0] += 1
            if made[0] > commits:
                raise StoreError("the machine has gone")
        await real(self, batch, **named)  # type: ignore[arg-type]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kind, "commit", commit)
        yield made


async def taken_in(saga: Saga, turns: int) -> str:
    found = await saga.maintenance.import_files([("one.jsonl", chat(turns))], ImportOptions())
    return found.things[0].state


async def told(saga: Saga) -> list[int]:
    """How many turns each session has."""
    return [len(await saga.parts.journal.tree(each.session.id)) - 1 for each in await saga.sessions.list()]


async def whole(saga: Saga) -> bool:
    await saga.drain(60)
    assert not await saga.stores.state.scan(("unfinished",))
    return (await saga.maintenance.verify()).equal


async def test_a_chat_grows_by_more_than_a_commit_takes() -> None:
    async with Saga.open(MEMORY) as saga:
        assert await taken_in(saga, SHORT) == "new"
        most = 2_000  # the least that SAGA needs of a store
        real = type(saga.stores.state).commit
        sizes: list[int] = []

        async def measured(self: object, batch: Batch, **named: object) -> None:
            sizes.append(len(batch.puts) + len(batch.deletes))
            await real(self, batch, **named)  # type: ignore[arg-type]

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(type(saga.stores.state), "commit", measured)
            assert await taken_in(saga, LONG + 4 * AT_ONCE) == "grown"
        assert len(sizes) > 5 and max(sizes) <= most
        assert await told(saga) == [LONG + 4 * AT_ONCE]
        assert await taken_in(saga, LONG + 4 * AT_ONCE) == "known"
        head = (await saga.sessions.list())[0].session.head
        assert (await saga.parts.journal.node((await saga.sessions.list())[0].session.id, head)).depth == sum(
            await told(saga)
        )


@pytest.mark.parametrize("commits", [0, 1, 3, 4, 5, 7, COMMITS - 1])
async def test_growth_that_is_cut_off_shows_whole_or_not(commits: int) -> None:
    async with Saga.open(MEMORY) as saga:
        await taken_in(saga, SHORT)
        await saga.drain(60)
        with cut_off_after(saga, commits), pytest.raises(StoreError):
            await taken_in(saga, LONG)
        assert await told(saga) == [SHORT if commits < 5 else LONG]
        (session,) = [each.session.id for each in await saga.sessions.list()]
        assert len(await saga.parts.live.tree(session)) - 1 == (SHORT if commits < 5 else LONG)
        await saga.parts.background.views.resume()  # what the next start does
        assert await whole(saga)
        assert await taken_in(saga, LONG) == ("grown" if commits < 5 else "known")
        assert await told(saga) == [LONG] and await whole(saga)


async def test_no_more_commits_than_these_are_cut_off() -> None:
    async with Saga.open(MEMORY) as saga:
        await taken_in(saga, SHORT)
        with cut_off_after(saga, 100) as made:
            await taken_in(saga, LONG)
        assert made[0] == COMMITS


@pytest.mark.parametrize("commits", [1, 3, 5, 7])
async def test_a_new_session_that_is_cut_off_is_whole_or_gone(commits: int) -> None:
    async with Saga.open(MEMORY) as saga:
        with cut_off_after(saga, commits), pytest.raises(StoreError):
            await taken_in(saga, LONG)
        assert await told(saga) == ([] if commits < 5 else [LONG])
        (finding,) = [each for each in (await saga.maintenance.verify()).findings if "cut off" in each.what]
        verdict = await saga.maintenance.repair(await saga.maintenance.verify())
        assert finding.mend is not None and verdict.equal
        if commits < 5:
            left = {row[0][0] for row in await saga.stores.state.scan(())}
            assert left <= {"meta", "world"}, "no byte of the chat is left"
        assert await taken_in(saga, LONG) == ("new" if commits < 5 else "known")
        assert await whole(saga)


async def test_the_next_start_clears_away_what_was_cut_off(tmp_path: Path) -> None:
    config = {"storage": {"profile": "lite", "path": str(tmp_path)}}
    async with Saga.open(config) as saga:
        await taken_in(saga, SHORT)
        with cut_off_after(saga, 3), pytest.raises(StoreError):
            await taken_in(saga, LONG)
    async with Saga.open(config) as saga:
        assert await told(saga) == [SHORT] and await whole(saga)
        assert not [row for row in await saga.stores.state.scan(("turn",)) if b"150th" in row[1]]


async def test_a_session_goes_with_what_was_cut_off_in_it() -> None:
    async with Saga.open(MEMORY) as saga:
        await taken_in(saga, SHORT)
        with cut_off_after(saga, 3), pytest.raises(StoreError):
            await taken_in(saga, LONG)
        await saga.sessions.delete((await saga.sessions.list())[0].session.id)
        left = {row[0][0] for row in await saga.stores.state.scan(())}
        assert left <= {"meta", "world"}


async def test_what_is_taken_in_at_once_is_taken_in_once() -> None:
    async with Saga.open(MEMORY) as saga:
        states = await asyncio.gather(*(taken_in(saga, SHORT) for _ in range(4)))
        assert sorted(states) == ["known", "known", "known", "new"]
        session = (await saga.sessions.list())[0].session.id
        raw = b"".join([line async for line in saga.maintenance.export_session(session)])
        await asyncio.gather(*(saga.maintenance.import_files([("s", raw)], ImportOptions()) for _ in range(4)))
        labels = sorted(each.session.label for each in await saga.sessions.list())
        assert len(set(labels)) == 5 and await whole(saga)


async def test_a_name_that_is_taken_meanwhile_gets_the_next_number() -> None:
    async with Saga.open(MEMORY) as saga:
        kind = type(saga.stores.state)
        real, taken = kind.commit, list[Key]()

        async def commit(self: object, batch: Batch, **named: object) -> None:
            for key in batch.puts:
                if key[0] == "label" and not taken:
                    taken.append(key)
                    await real(self, Batch({key: b'"somebody"'}))  # type: ignore[arg-type]
                    raise Conflict(key)
            await real(self, batch, **named)  # type: ignore[arg-type]

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(kind, "commit", commit)
            await taken_in(saga, SHORT)
        (found,) = await saga.sessions.list()
        assert taken and found.session.label == f"{taken[0][-1]} (2)"


async def test_summaries_of_what_was_cut_off_go_with_it() -> None:
    def talk(turns: int) -> bytes:
        said = [
            {"role": role, "data": f"{number}: {role} speaks of the ford.", "chatId": f"{role}{number}"}
            for number in range(turns)
            for role in ("user", "char")
        ]
        memos = [f"char{number}" for number in range(0, turns, 10)]
        told = {"summaries": [{"text": f"Told of {memo}.", "chatMemos": [memo]} for memo in memos]}
        data = {"name": "Fords", "message": said, "hypaV3Data": told}
        return samples.plain({"type": "risuChat", "ver": 2, "data": data})

    async with Saga.open(MEMORY) as saga:
        await saga.maintenance.import_files([("one.json", talk(SHORT))], ImportOptions())
        before = len(await saga.stores.state.scan(("amend",)))
        with cut_off_after(saga, 3), pytest.raises(StoreError):
            await saga.maintenance.import_files([("one.json", talk(LONG))], ImportOptions())
        assert len(await saga.stores.state.scan(("amend",))) > before
        await saga.parts.background.views.resume()
        assert len(await saga.stores.state.scan(("amend",))) == before and await whole(saga)
        found = await saga.maintenance.import_files([("one.json", talk(LONG))], ImportOptions())
        assert found.things[0].state == "grown" and await whole(saga)
        assert len(await saga.stores.state.scan(("amend",))) > before + 10


def branches(count: int, *, turns: int = 1) -> list[tuple[str, bytes]]:
    """A chat of ``turns`` turns, and chats that leave it at its greeting, each with first words of its own."""
    files = [("main.jsonl", chat(turns))]
    for number in range(count):
        head = {**samples.HEADER, "chat_metadata": {"main_chat": "main"}}
        rows = [head, samples.message("Ysolde", "A long road lies ahead of you.")]
        rows.append(samples.message("Alex", f"I take the path of number {number}.", user=True))
        rows.append(samples.message("Ysolde", f"{number}: the path leads up to mill {number * 7}."))
        files.append((f"branch {number}.jsonl", samples.jsonl(*rows)))
    return files


async def leads(saga: Saga) -> tuple[int, int]:
    """How many openings and named timelines there are."""
    found = [row[0][0] async for row in _rows(saga)]
    return found.count("open"), found.count("timeline")


async def _rows(saga: Saga) -> AsyncIterator[tuple[Key, bytes]]:
    after: Key | None = None
    while rows := await saga.stores.state.scan((), after=after, limit=1_000):
        for row in rows:
            yield row
        after = rows[-1][0]


@pytest.mark.parametrize("grown", [False, True])
async def test_openings_and_branches_that_no_commit_holds_come_through_wherever_it_is_cut_off(
    monkeypatch: pytest.MonkeyPatch, grown: bool
) -> None:
    monkeypatch.setattr(unfinished, "PAGE", 10)
    monkeypatch.setattr(import_module("saga_core.journal.keys"), "PAGE", 10)
    monkeypatch.setattr(unfinished, "AT_ONCE", 20)
    monkeypatch.setattr("saga_core.maintenance.story_turns.AT_ONCE", 20)
    files, count = branches(34), 0
    while True:
        async with Saga.open(MEMORY) as saga:
            if grown:
                await saga.maintenance.import_files(files[:1], ImportOptions())
                await saga.drain(60)
            before = await leads(saga)
            try:
                with cut_off_after(saga, count):
                    await saga.maintenance.import_files(files, ImportOptions())
            except StoreError:
                pass
            else:
                break
            shown = any(turns > 1 for turns in await told(saga))
            await saga.parts.background.views.resume()
            assert await leads(saga) == ((before[0] if grown else 35, 34) if shown else before)
            assert await whole(saga)
        count += 1
    assert count > 10, "each commit was the last in turn"


async def test_more_than_a_thousand_openings_survive_a_crash_right_after_they_show() -> None:
    async with Saga.open(MEMORY) as saga:
        files = branches(1_050)
        with cut_off_after(saga, 14), pytest.raises(StoreError):
            await saga.maintenance.import_files(files, ImportOptions())
        assert await told(saga) == [1_051], "it shows"
        await saga.parts.background.views.resume()
        assert (await leads(saga))[0] == 1_051 and await whole(saga)


async def test_a_correction_that_no_commit_holds_is_whole_or_not_there_wherever_it_is_cut_off(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for module in ("keys", "journal", "unfinished"):
        monkeypatch.setattr(import_module(f"saga_core.journal.{module}"), "PAGE", 10)
    count, seen = 0, set[bool]()
    while True:
        async with Saga.open({**MEMORY, "session": {"checkpoint_every": 4}}) as saga:
            await taken_in(saga, 20)
            (session,) = [each.session.id for each in await saga.sessions.list()]
            await saga.drain(60)
            live = await saga.parts.live.get(session)
            first = live.tree.path(live.head)[1].id
            done = False
            with cut_off_after(saga, count), suppress(StoreError):
                await saga.memory.correct(session, "move", {"place": "Attic"}, first)
                done = True
            corrected = bool(await saga.parts.journal.amendments(session))
            seen.add(corrected)
            assert corrected == ((await saga.describe(session))["location"] == "Attic") and corrected >= done
            await saga.parts.background.views.resume()
            saga.parts.live.forget(session)
            await saga.drain(60)
            tree = await saga.parts.journal.tree(session)
            assert sum("Attic" in node.episode for node in tree.nodes.values()) == 20 * corrected
            assert len(await saga.views.search("Attic", session_id=session, k=50)) == 20 * corrected
            assert await whole(saga)
            if done:
                break
        count += 1
    assert count > 8 and seen == {False, True}, "each commit was the last in turn"


async def test_a_correction_after_one_that_was_cut_off_finishes_that_first(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("keys", "journal", "unfinished"):
        monkeypatch.setattr(import_module(f"saga_core.journal.{module}"), "PAGE", 10)
    async with Saga.open(MEMORY) as saga:
        await taken_in(saga, 20)
        (session,) = [each.session.id for each in await saga.sessions.list()]
        await saga.drain(60)
        live = await saga.parts.live.get(session)
        path = [node.id for node in live.tree.path(live.head)]
        with cut_off_after(saga, 6), pytest.raises(StoreError):
            await saga.memory.correct(session, "move", {"place": "Attic"}, path[1])
        await saga.memory.correct(session, "move", {"place": "Cellar"}, path[20])
        tree = await saga.parts.journal.tree(session)
        assert [turn for turn in path[1:] if "Attic" in tree.get(turn).episode] == path[1:20]
        assert "Cellar" in tree.get(path[20]).episode and await whole(saga)


async def test_a_saga_that_knows_nothing_of_parts_refuses_the_journal_until_they_are_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with Saga.open(MEMORY) as saga:
        await taken_in(saga, SHORT)
        kv = saga.stores.state
        for commits in (3, 6):
            with cut_off_after(saga, commits), pytest.raises(StoreError):
                await taken_in(saga, LONG)
            with monkeypatch.context() as patch:
                patch.setattr(keys, "NEWEST", keys.FORMAT)
                with pytest.raises(NewerSchema, match="format 2, this SAGA knows up to 1"):
                    await check_format(kv, Counters())
            await saga.parts.background.views.resume()
            with monkeypatch.context() as patch:
                patch.setattr(keys, "NEWEST", keys.FORMAT)
                await check_format(kv, Counters())
        assert (await kv.get([keys.FORMAT_KEY]))[keys.FORMAT_KEY] == b'{"format":1}'


async def test_a_write_elsewhere_keeps_the_format_raised() -> None:
    async with Saga.open(MEMORY) as saga:
        kv = saga.stores.state
        await begin_parts(kv, "a", {keys.unfinished("a"): b"{}"})
        await begin_parts(kv, "b", {keys.unfinished("b"): b"{}"})
        await end_parts(kv, "a")
        assert (await kv.get([keys.FORMAT_KEY]))[keys.FORMAT_KEY] == b'{"format":2,"unfinished":["b"]}'
        await kv.commit(Batch(deletes=frozenset({keys.unfinished("b")})))  # its session was removed
        await check_format(kv, Counters())
        assert (await kv.get([keys.FORMAT_KEY]))[keys.FORMAT_KEY] == b'{"format":1}'
