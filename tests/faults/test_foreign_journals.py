"""A journal that another program wrote, or changed: its story may be lost, the others' go on.

One record of one session becomes something else. Afterwards the server starts, lists what can be read, plays the other
session, verifies, exports and deletes; whatever cannot be done says so in an error of SAGA's own.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from saga_backends.memory import MemoryState
from saga_core import Saga
from saga_core.errors import NotFound, SagaError
from saga_core.maintenance import make_whole
from saga_core.storage import opening
from saga_core.stores import Batch, Key
from tests.core.frontend import Frontend, memory_config
from tests.faults.odd import ODD, RAW, places

Rows = dict[Key, bytes]
DEEP = os.environ.get("HYPOTHESIS_PROFILE") == "deep"


async def all_rows(kv: Any) -> Rows:
    found: Rows = {}
    after: Key | None = None
    while rows := await kv.scan((), after=after, limit=1_000):
        found.update(rows)
        after = rows[-1][0]
    return found


async def written() -> tuple[Rows, str, str, list[Any], list[Any]]:
    """What a server wrote that played two stories, and their histories: the first one is what is changed."""
    async with Saga.open(memory_config()) as saga:
        bad, good = Frontend(saga, owner="a"), Frontend(saga, owner="b", session="mine")
        for number in range(4):
            one = await bad.say(f"{number}. I walk on.", f"The road goes on, for the {number}. time now.", hp_change=-1)
            two = await good.say(f"{number}. I sail on.", f"The sea is wide, for the {number}. time.", hp_change=-2)
        await saga.timelines.fork(one.session.id, None, "dark")
        await saga.memory.correct(one.session.id, "note", {"text": "it rains"})
        await saga.drain(20)
        await saga.parts.journal.add_jobs(one.session.id, [one.id])
        rows = await all_rows(saga.stores.state)
        return rows, one.session.id, two.session.id, bad.history, good.history


ROWS, BAD, GOOD, BADS, GOODS = asyncio.run(written())
THEIRS = sorted(key for key in ROWS if BAD in key or BAD.encode() in ROWS[key])


@asynccontextmanager
async def opened_on(rows: Rows) -> AsyncIterator[Saga]:
    """An engine that starts on those rows."""
    opened = opening._open_store

    async def filled(config: Any, kind: str, counters: Any) -> Any:
        store = await opened(config, kind, counters)
        if kind == "state":
            await store.commit(Batch(dict(rows)))
        return store

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(opening, "_open_store", filled)
        async with asyncio.timeout(60), Saga.open(memory_config(), tolerant=True) as saga:
            yield saga


async def live_on(rows: Rows) -> None:
    """Start on those rows, and do everything."""
    async with opened_on(rows) as saga:
        await used(saga)


async def used(saga: Saga) -> None:
    assert GOOD in [each.session.id for each in await saga.sessions.list()]
    await saga.sessions.costs()
    json.dumps(await saga.status())
    good = Frontend(saga, owner="b", session="mine", history=list(GOODS))
    turn = await good.say("I drop the anchor.", "The anchor falls, and holds well.", hp_change=-2)
    assert turn.session.id == GOOD
    assert (await saga.describe(GOOD))["hp"] == 90
    bad = Frontend(saga, owner="a", history=list(BADS))
    await _or_told(bad.say("I rest.", "The road waits, and so does the night.", hp_change=-1))
    for doing in (
        saga.describe(BAD),
        saga.memory.reviews(BAD),
        saga.memory.records(BAD),
        saga.sessions.cost(BAD),
        saga.sessions.summary(BAD),
        saga.memory.correct(BAD, "note", {"text": "it hails"}),
        saga.timelines.fork(BAD, None, "light"),
        exported(saga, BAD),
    ):
        shown = await _or_told(doing)
        json.dumps(shown if isinstance(shown, dict) else str(shown), allow_nan=False)
    await exported(saga, GOOD)
    await saga.drain(10)
    await saga.maintenance.verify(patience=5)
    await saga.sessions.collect()
    with suppress(NotFound):
        await saga.sessions.delete(BAD)
    assert BAD not in [each.session.id for each in await saga.sessions.list()]
    assert (await saga.describe(GOOD))["hp"] == 90
    found = await saga.maintenance.verify(GOOD, patience=5)
    assert not found.findings


async def exported(saga: Saga, session: str) -> int:
    return len([line async for line in saga.maintenance.export_session(session)])


async def _or_told(doing: Any) -> Any:
    try:
        return await doing
    except SagaError as error:
        assert str(error)
        return str(error)


def test_what_is_changed_is_all_there() -> None:
    kinds = {key[0] for key in THEIRS}
    assert kinds >= {"session", "turn", "node", "amend", "timeline", "job", "reply", "begin", "said", "open"}, kinds


@pytest.mark.parametrize("number, kind", list(enumerate(sorted({key[0] for key in THEIRS}))))
async def test_a_record_that_is_no_record(number: int, kind: str) -> None:
    key = [each for each in THEIRS if each[0] == kind][-1]
    await live_on({**ROWS, key: RAW[number % len(RAW)]})


@pytest.mark.deep
@pytest.mark.parametrize("kind", sorted({key[0] for key in THEIRS}))
@pytest.mark.parametrize("raw", RAW, ids=lambda raw: repr(raw[:8]))
async def test_every_record_that_is_no_record(kind: str, raw: bytes) -> None:
    key = [each for each in THEIRS if each[0] == kind][-1]
    await live_on({**ROWS, key: raw})


@pytest.mark.parametrize(
    "kind, field, value",
    [
        ("turn", "id", "t0"),
        ("node", "id", "t0"),
        ("node", "parent", None),
        ("node", "parent", "gone"),
        ("node", "depth", -(10**22)),
        ("node", "reply_key", "\ud800"),
        ("node", "at", "nan"),
        ("timeline", "created", "nan"),
        ("timeline", "fork", "\ud800"),
        pytest.param("session", "id", GOOD, id="session-id-of another"),
        ("session", "digest", ""),
    ],
)
async def test_a_record_that_says_what_cannot_be(
    kind: str, field: str, value: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = [each for each in THEIRS if each[0] == kind][-1]
    await live_on({**ROWS, key: json.dumps({**json.loads(ROWS[key]), field: value}).encode()})


@pytest.mark.parametrize("kind", sorted({key[0] for key in THEIRS}))
async def test_a_key_that_is_too_short(kind: str) -> None:
    key = [each for each in THEIRS if each[0] == kind][-1]
    await live_on({**ROWS, key[:-1]: ROWS[key]})


def fuzzed(data: st.DataObject) -> Rows:
    """The rows, with one or two of the first session's changed, gone or under another key."""
    changed = dict(ROWS)
    for _ in range(data.draw(st.integers(1, 2))):
        key = data.draw(st.sampled_from(THEIRS))
        how = data.draw(st.sampled_from(["value", "value", "value", "gone", "elsewhere", "short", "long"]))
        raw = changed.pop(key, None)
        if raw is None or how == "gone":
            continue
        if how in ("short", "long"):
            key = key[:-1] if how == "short" else (*key, "x")
        elif how == "elsewhere":
            part = data.draw(st.integers(1, len(key) - 1))
            key = (*key[:part], data.draw(st.sampled_from(["x", "t0", BAD, *key])), *key[part + 1 :])
        elif raw:
            plain = {"whole": json.loads(raw)}
            holder, name = data.draw(st.sampled_from(list(places(plain))))
            holder[name] = data.draw(ODD)
            raw = json.dumps(plain["whole"]).encode()
        changed[key] = raw
    return changed


# A whole server lives and dies in each: what fails is shown as it was found, not made smaller.
_AS_FOUND = [Phase.explicit, Phase.reuse, Phase.generate]


@settings(max_examples=1_000 if DEEP else 6, suppress_health_check=list(HealthCheck), deadline=None, phases=_AS_FOUND)
@given(data=st.data())
def test_fuzzed_records(data: st.DataObject) -> None:
    asyncio.run(live_on(fuzzed(data)))


@settings(max_examples=2_000 if DEEP else 10, suppress_health_check=list(HealthCheck), deadline=None, phases=_AS_FOUND)
@given(data=st.data())
def test_what_is_saved_of_a_fuzzed_journal_is_whole(data: st.DataObject) -> None:
    """As ``saga restore --damaged`` does with what could be read of a file."""
    rows = fuzzed(data)

    async def saved() -> None:
        kv = MemoryState()
        await kv.commit(Batch(rows))
        left = await make_whole(kv, [])
        assert GOOD not in left.gone
        async with asyncio.timeout(60), opened_on(await all_rows(kv)) as saga:
            assert GOOD in [each.session.id for each in await saga.sessions.list()]
            assert (await saga.describe(GOOD))["hp"] == 92

    asyncio.run(saved())
