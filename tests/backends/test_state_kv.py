"""Each sentence of the StateKV contract, for every engine, and a long life beside a plain dict."""

from __future__ import annotations

import asyncio
import tempfile
import unicodedata
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from saga_backends.memory import STATE, MemoryState
from saga_backends.state_kv.sqlite import BACKEND as SQLITE
from saga_core.capabilities import Capability
from saga_core.errors import BadInput, Closed, Conflict
from saga_core.registry import Backend, OpenOptions
from saga_core.stores.lifecycle import Limits
from saga_core.stores.state_kv import Batch, Key, StateKV
from tests.naming import named


async def opened(backend: Backend, path: Path) -> StateKV:
    store: StateKV = await backend.open(OpenOptions(path=path / "state.db"))
    return store


@pytest.fixture(params=[STATE, SQLITE], ids=lambda backend: backend.name)
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[StateKV]:
    kv = await opened(request.param, tmp_path)
    yield kv
    await kv.aclose()


async def keys_of(store: StateKV, prefix: Key = (), **kwargs: Any) -> list[Key]:
    return [key for key, _ in await store.scan(prefix, **kwargs)]


# --- reading and writing -------------------------------------------------------------------------------------


async def test_a_commit_is_read_back(store: StateKV) -> None:
    await store.commit(Batch({("세션", "머리"): b"\x00\xff", ("empty",): b""}))
    assert await store.get([("세션", "머리"), ("empty",), ("absent",), ("empty",)]) == {
        ("세션", "머리"): b"\x00\xff",
        ("empty",): b"",
    }
    await store.commit(Batch({("empty",): b"now"}, frozenset({("세션", "머리"), ("absent",)})))
    assert await store.scan(()) == [(("empty",), b"now")]


async def test_nothing_asked_nothing_given(store: StateKV) -> None:
    assert await store.get([]) == {}
    assert await store.scan(()) == []
    await store.commit(Batch())
    assert await store.scan(("a",)) == []


async def test_keys_are_ordered_by_segment_and_code_point(store: StateKV) -> None:
    ordered = [
        ("A",),
        ("a",),
        ("a", "\0"),
        ("a", "b"),
        ("a", "b", "c"),
        ("a", "z"),
        ("a\0",),
        ("a\0", "b"),
        ("a\0b",),
        ("a\x01",),
        ("ab",),
        ("가",),
        ("가", "나"),
        ("가가",),
        ("\uffff",),
        ("\U0001f600",),
    ]
    assert ordered == sorted(ordered)
    await store.commit(Batch(dict.fromkeys(reversed(ordered), b"")))
    assert await keys_of(store) == ordered


async def test_a_prefix_matches_whole_segments(store: StateKV) -> None:
    await store.commit(Batch(dict.fromkeys([("a",), ("a", "b"), ("a", "b", "c"), ("ab",), ("a\x00",), ("b",)], b"")))
    assert await keys_of(store, ("a",)) == [("a",), ("a", "b"), ("a", "b", "c")]
    assert await keys_of(store, ("a", "b")) == [("a", "b"), ("a", "b", "c")]
    assert await keys_of(store, ("a\0",)) == [("a\0",)]
    assert await keys_of(store, ("c",)) == []


@pytest.mark.parametrize("name", ["100%", "a_b", "*", "a:b", "../x", "/etc", "'; --", '"', "[a]", "?", "\\"])
async def test_signs_with_a_meaning_elsewhere_have_none(store: StateKV, name: str) -> None:
    await store.commit(Batch({(name,): b"1", (name, "x"): b"2", ("aXb",): b"3", ("other", name): b"4"}))
    assert await store.scan((name,)) == [((name,), b"1"), ((name, "x"), b"2")]


async def test_composed_and_decomposed_hangul_are_two_keys(store: StateKV) -> None:
    composed, decomposed = ("아리아",), (unicodedata.normalize("NFD", "아리아"),)
    await store.commit(Batch({composed: b"nfc", decomposed: b"nfd"}))
    assert await store.get([composed, decomposed]) == {composed: b"nfc", decomposed: b"nfd"}
    assert await keys_of(store, composed) == [composed]


async def test_after_continues_a_scan(store: StateKV) -> None:
    every = [("t", f"{n:02}") for n in range(10)]
    await store.commit(Batch(dict.fromkeys(every, b"") | {("s",): b"", ("u",): b""}))
    pages, after = [], None
    while page := await keys_of(store, ("t",), after=after, limit=3):
        pages.append(page)
        after = page[-1]
    assert pages == [every[0:3], every[3:6], every[6:9], every[9:]]
    assert await keys_of(store, ("t",), after=("t", "045")) == every[5:]
    assert await keys_of(store, ("t",), after=("a",)) == every
    assert await keys_of(store, ("t",), after=("t",)) == every
    await store.commit(Batch({("t",): b""}))
    assert await keys_of(store, ("t",), after=("t",)) == every
    assert await keys_of(store, ("t",), after=("s",)) == [("t",), *every]
    assert await keys_of(store, ("t",), after=("u",)) == []
    assert await keys_of(store, after=("t", "09"), limit=10**30) == [("u",)]


async def test_a_reader_keeps_what_it_was_given(store: StateKV) -> None:
    puts: dict[Key, bytes] = {("a",): b"1"}
    await store.commit(Batch(puts))
    puts[("a",)] = b"changed by the caller"
    puts[("b",)] = b""
    found = await store.get([("a",)])
    found[("a",)] = b"changed by the reader"
    assert await store.scan(()) == [(("a",), b"1")]


# --- preconditions -------------------------------------------------------------------------------------------


async def test_expectations_decide(store: StateKV) -> None:
    await store.commit(Batch({("head",): b"1"}), expected={("head",): None})
    await store.commit(Batch({("head",): b"2"}), expected={("head",): b"1", ("other",): None})
    wrongs: list[dict[Key, bytes | None]] = [
        {("head",): b"1"},
        {("head",): None},
        {("other",): b"2"},
        {("head",): b"2", ("other",): b""},
    ]
    for wrong in wrongs:
        with pytest.raises(Conflict) as caught:
            await store.commit(Batch({("head",): b"3", ("new",): b""}, frozenset({("x",)})), expected=wrong)
        assert caught.value.key == list(wrong)[-1]
    assert await store.scan(()) == [(("head",), b"2")]
    await store.commit(Batch(), expected={("head",): b"2"})
    with pytest.raises(Conflict):
        await store.commit(Batch(), expected={("head",): b"1"})


async def test_the_first_failed_expectation_is_named(store: StateKV) -> None:
    with pytest.raises(Conflict) as caught:
        await store.commit(Batch(), expected={("a",): None, ("b",): b"", ("c",): b""})
    assert caught.value.key == ("b",)


async def test_writers_at_the_same_time_lose_no_update(store: StateKV) -> None:
    key = ("counter",)
    await store.commit(Batch({key: b"0"}))
    conflicts = 0

    async def add() -> None:
        nonlocal conflicts
        for _ in range(5):
            while True:
                seen = (await store.get([key]))[key]
                await asyncio.sleep(0)
                try:
                    await store.commit(Batch({key: b"%d" % (int(seen) + 1)}), expected={key: seen})
                except Conflict:
                    conflicts += 1
                else:
                    break

    await asyncio.gather(*(add() for _ in range(6)))
    assert await store.get([key]) == {key: b"30"}
    assert conflicts > 0, "no two writers ever met, so this proved nothing"


# --- what is refused -----------------------------------------------------------------------------------------

TOO_LONG: list[Any] = [("x" * 1_025,), ("가" * 342,), ("x" * 512, "y" * 513)]
BAD_KEYS: list[Any] = [(), ("",), ("a", ""), "abc", ["a"], (1,), ("a", None), ("\ud800",), *TOO_LONG]


@pytest.mark.parametrize("key", BAD_KEYS, ids=named)
async def test_malformed_keys_are_refused_everywhere(store: StateKV, key: Any) -> None:
    hashable = tuple(key) if isinstance(key, list) else key
    with pytest.raises(BadInput, match="key"):
        await store.get([key])
    if key != ["a"]:
        for batch in (Batch({hashable: b""}), Batch(deletes=frozenset({hashable}))):
            with pytest.raises(BadInput, match=r"batch\.(puts|deletes)"):
                await store.commit(batch)
        with pytest.raises(BadInput, match="expected"):
            await store.commit(Batch(), expected={hashable: None})
    with pytest.raises(BadInput, match="after"):
        await store.scan((), after=key)
    if key != ():
        with pytest.raises(BadInput, match="prefix"):
            await store.scan(key)
    assert await store.scan(()) == []


async def test_a_key_alone_is_no_sequence_of_keys(store: StateKV) -> None:
    with pytest.raises(BadInput, match=r"keys\[0\].*give a tuple"):
        await store.get(("a", "b"))  # type: ignore[arg-type]


@pytest.mark.parametrize("value", ["text", None, 1, bytearray(b"x"), memoryview(b"x")], ids=named)
async def test_values_are_bytes(store: StateKV, value: Any) -> None:
    with pytest.raises(BadInput, match="give bytes"):
        await store.commit(Batch({("good",): b"", ("a",): value}))
    assert await store.scan(()) == []


async def test_a_key_is_put_or_deleted(store: StateKV) -> None:
    with pytest.raises(BadInput, match="is in both puts and deletes"):
        await store.commit(Batch({("a",): b"", ("b",): b""}, frozenset({("b",)})))
    assert await store.scan(()) == []


@pytest.mark.parametrize("limit", [0, -1, True, 1.0, None, "3"], ids=named)
async def test_limits_are_counts(store: StateKV, limit: Any) -> None:
    with pytest.raises(BadInput, match="limit"):
        await store.scan((), limit=limit)


async def test_sizes_up_to_the_limits_are_taken(store: StateKV) -> None:
    limits = store.info.limits
    longest = ("가" * ((limits.key_bytes - 5) // 3), "x")  # two bytes end each segment
    largest = b"\xaa" * limits.value_bytes
    await store.commit(Batch({longest: largest}))
    assert await store.get([longest]) == {longest: largest}
    with pytest.raises(BadInput, match=f"the limit is {limits.value_bytes}"):
        await store.commit(Batch({("a",): largest + b"x"}))
    many: dict[Key, bytes] = {("n", str(n)): b"" for n in range(limits.batch)}
    await store.commit(Batch(many))
    assert len(await store.get(list(many))) == limits.batch
    assert len(await store.scan(("n",), limit=limits.batch + 1)) == limits.batch
    with pytest.raises(BadInput, match="split them"):
        await store.commit(Batch(many, frozenset({("one", "more")})))
    with pytest.raises(BadInput, match="split them"):
        await store.get([*many, ("one", "more")])
    with pytest.raises(BadInput, match="expected"):
        await store.commit(Batch(), expected=dict.fromkeys([*many, ("one", "more")]))


async def test_limits_can_be_narrower() -> None:
    store = MemoryState(Limits(value_bytes=3))
    await store.commit(Batch({("a",): b"123"}))
    with pytest.raises(BadInput, match="4 bytes; the limit is 3"):
        await store.commit(Batch({("a",): b"1234"}))


# --- life ----------------------------------------------------------------------------------------------------


async def test_it_describes_itself(store: StateKV) -> None:
    assert store.info.kind == "state"
    assert store.info is store.info
    health = await store.check()
    assert health.ok, health
    durable = Capability.DURABLE in store.info.capabilities
    assert durable == bool(store.info.location) == (health.bytes is not None)


async def test_closed_is_closed(store: StateKV) -> None:
    await store.commit(Batch({("a",): b""}))
    await store.aclose()
    await store.aclose()
    for call in (
        store.get([("a",)]),
        store.get([]),
        store.scan(()),
        store.commit(Batch()),
        store.commit(Batch({(): b""})),
        store.check(),
    ):
        with pytest.raises(Closed):
            await call


async def test_what_was_given_before_the_end_is_finished(store: StateKV) -> None:
    commits = [asyncio.ensure_future(store.commit(Batch({("n", str(n)): b""}))) for n in range(20)]
    await asyncio.sleep(0)
    await asyncio.gather(store.aclose(), store.aclose(), *commits)


@pytest.mark.parametrize("backend", [STATE, SQLITE], ids=lambda backend: backend.name)
async def test_unknown_options_are_refused(backend: Backend, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"options\.sychronous: unknown option"):
        await backend.open(OpenOptions(path=tmp_path / "state.db", options={"sychronous": "full"}))


# --- a long life beside a plain dict -------------------------------------------------------------------------

NFD = unicodedata.normalize("NFD", "가")
SEGMENTS = st.sampled_from(
    ["a", "ab", "a\0", "\0", "\0\x01", "\x01", "\xff", "가", "가나", NFD, "_", "%", "z\U0001f600"]
) | st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=3)
KEYS = st.lists(SEGMENTS, min_size=1, max_size=3).map(tuple)
VALUES = st.binary(max_size=6)


class StoreMachine(RuleBasedStateMachine):
    """Whatever is done to the store is done to a dict, and both answer alike."""

    backend: Backend = STATE

    @initialize()
    def begin(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.runner = asyncio.Runner()
        self.store: StateKV = self.runner.run(opened(self.backend, Path(self.folder.name)))
        self.model: dict[Key, bytes] = {}

    def teardown(self) -> None:
        if hasattr(self, "store"):
            self.runner.run(self.store.aclose())
            self.runner.close()
            self.folder.cleanup()

    @rule(
        puts=st.dictionaries(KEYS, VALUES, max_size=4),
        deletes=st.frozensets(KEYS, max_size=3),
        expected=st.none() | st.dictionaries(KEYS, st.none() | VALUES, max_size=2),
        seen=st.booleans(),
        data=st.data(),
    )
    def commit(
        self,
        puts: dict[Key, bytes],
        deletes: frozenset[Key],
        expected: dict[Key, bytes | None] | None,
        seen: bool,
        data: st.DataObject,
    ) -> None:
        if data.draw(st.booleans()) and self.model:
            deletes |= {data.draw(st.sampled_from(sorted(self.model)))}
        if seen:  # expectations that hold
            expected = {key: self.model.get(key) for key in (*puts, *deletes)}
        batch = Batch(puts, deletes - puts.keys())
        failed = [key for key, wanted in (expected or {}).items() if self.model.get(key) != wanted]
        try:
            self.runner.run(self.store.commit(batch, expected=expected))
        except Conflict as conflict:
            assert conflict.key == failed[0]
        else:
            assert not failed
            for key in batch.deletes:
                self.model.pop(key, None)
            self.model.update(puts)

    @rule(keys=st.lists(KEYS, max_size=4), data=st.data())
    def get(self, keys: list[Key], data: st.DataObject) -> None:
        if self.model:
            keys = keys + data.draw(st.lists(st.sampled_from(sorted(self.model)), max_size=3))
        assert self.runner.run(self.store.get(keys)) == {key: self.model[key] for key in keys if key in self.model}

    @rule(prefix=st.just(()) | KEYS, after=st.none() | KEYS, limit=st.integers(1, 5), data=st.data())
    def scan(self, prefix: Key, after: Key | None, limit: int, data: st.DataObject) -> None:
        if data.draw(st.booleans()) and self.model:
            known = data.draw(st.sampled_from(sorted(self.model)))
            prefix = known[: data.draw(st.integers(0, len(known)))]
        wanted = [
            (key, self.model[key])
            for key in sorted(self.model)
            if key[: len(prefix)] == prefix and (after is None or key > after)
        ]
        assert self.runner.run(self.store.scan(prefix, after=after, limit=limit)) == wanted[:limit]

    @precondition(lambda self: self.backend is SQLITE)
    @rule()
    def reopen(self) -> None:
        self.runner.run(self.store.aclose())
        self.store = self.runner.run(opened(self.backend, Path(self.folder.name)))

    @invariant()
    def holds_the_same(self) -> None:
        if hasattr(self, "store"):
            assert self.runner.run(self.store.scan((), limit=10_000)) == sorted(self.model.items())


class SqliteLife(StoreMachine):
    backend = SQLITE


TestMemoryLife = StoreMachine.TestCase
TestMemoryLife.settings = settings(max_examples=max(20, settings().max_examples // 2), stateful_step_count=30)
TestSqliteLife = SqliteLife.TestCase
TestSqliteLife.settings = settings(max_examples=max(20, settings().max_examples // 4), stateful_step_count=30)
