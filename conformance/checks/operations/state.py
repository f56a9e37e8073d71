"""StateKV, clause by clause."""

from __future__ import annotations

import asyncio
from typing import Any

from conformance.assertions import refused, require, same
from conformance.case import Case
from conformance.check import check
from conformance.inputs import MARKED, NFC, NFD, SEGMENTS, SURROGATE
from saga_core.errors import BadInput, Conflict
from saga_core.stores import Batch, Key

KEYS: list[Key] = [
    *(("A",), ("a",), ("a", "\0"), ("a", "b"), ("a", "b", "c"), ("a", "z"), ("a\0",), ("a\0", "b"), ("a\0b",)),
    *(("a\x01",), ("ab",), ("ab", "c"), ("가",), ("가", "나"), ("가가",), ("\uffff",), ("\U0001f600",)),
]
"""In the order of a scan."""


async def keys_of(store: Any, prefix: Key = (), **options: Any) -> list[Key]:
    """The keys that a scan returns."""
    return [key for key, _ in await store.scan(prefix, **options)]


async def put(store: Any, *keys: Key, value: bytes = b"") -> None:
    """Put all ``keys`` with the same ``value`` in one commit."""
    await store.commit(Batch(dict.fromkeys(keys, value)))


@check("S-1")
async def get_gives_those_that_exist(case: Case) -> None:
    store = case.store
    await store.commit(Batch({("세션", "머리"): b"1", ("a",): b"2", ("b",): b"3"}))
    found = await store.get([("세션", "머리"), ("absent",), ("a",), ("세션", "머리"), ("a", "b")])
    same(found, {("세션", "머리"): b"1", ("a",): b"2"}, "get")
    same(await store.get([]), {}, "get of no keys")


@check("S-2")
async def values_byte_for_byte(case: Case) -> None:
    values = [b"", b"\0", b"\xff\xfe", bytes(range(256)), b"text", b"1", "값".encode()]
    values.append(b"\0" * min(1_000_000, case.harness.limits.value_bytes))
    values += [mark + rest for mark in MARKED for rest in (b"", b"x", b"x" * 300)]
    batch: dict[Key, bytes] = {("v", str(index)): value for index, value in enumerate(values)}
    await case.store.commit(Batch(batch))
    same(await case.store.get([*batch, ("v", "none")]), batch, "get")
    same(dict(await case.store.scan(("v",))), batch, "scan")


@check("S-3")
async def keys_as_given(case: Case) -> None:
    entries: dict[Key, bytes] = {(segment, "x"): repr(segment).encode() for segment in SEGMENTS}
    entries |= {("p", segment): repr(segment).encode() for segment in SEGMENTS}
    await case.store.commit(Batch(entries))
    same(await case.store.get(list(entries)), entries, "get")
    for segment in SEGMENTS:
        wanted = [((segment, "x"), repr(segment).encode())]
        same(await case.store.scan((segment,)), wanted, f"scan of {segment!r}")
    await case.store.commit(Batch(deletes=frozenset({("p", NFC)})))
    same(await case.store.get([("p", NFC), ("p", NFD)]), {("p", NFD): repr(NFD).encode()}, "get after one was deleted")


@check("S-4")
async def scan_in_order(case: Case) -> None:
    await put(case.store, *reversed(KEYS))
    same(await keys_of(case.store), KEYS, "scan")


@check("S-5")
async def prefixes_match_whole_segments(case: Case) -> None:
    await put(case.store, *KEYS)
    for prefix in [(), ("a",), ("a", "b"), ("a\0",), ("ab",), ("가",), ("c",), ("a", "b", "c"), ("a", "b", "c", "d")]:
        wanted = [key for key in KEYS if list(key[: len(prefix)]) == list(prefix)]
        same(await keys_of(case.store, prefix), wanted, f"scan of {prefix!r}")


@check("S-6")
async def after_continues(case: Case) -> None:
    every: list[Key] = [("t", f"{number:02}") for number in range(10)]
    await put(case.store, ("s",), ("t",), *every, ("u",))
    store = case.store
    same(await keys_of(store, ("t",), after=("t", "045")), every[5:], "after an unknown key")
    same(await keys_of(store, ("t",), after=("t", "04")), every[5:], "after an existing key")
    same(await keys_of(store, ("t",), after=("t",)), every, "after the prefix itself")
    same(await keys_of(store, ("t",), after=("s",)), [("t",), *every], "after a key before the prefix")
    same(await keys_of(store, ("t",), after=("u",)), [], "after a key behind the prefix")
    same(await keys_of(store, after=("t", "09")), [("u",)], "after, without a prefix")


@check("S-7")
async def limits_keep_the_first(case: Case) -> None:
    await put(case.store, *KEYS)
    for limit in (1, 3, len(KEYS), len(KEYS) + 1, 10**30):
        same(await keys_of(case.store, limit=limit), KEYS[:limit], f"limit {limit}")
    same(await keys_of(case.store, ("a",), limit=2), [("a",), ("a", "\0")], "limit with a prefix")
    many: list[Key] = [("many", f"{number:04}") for number in range(1_100)]
    for part in case.batches(many):
        await put(case.store, *part)
    same(await keys_of(case.store, ("many",)), many[:1_000], "the default limit")


@check("S-8")
async def puts_replace_and_deletes_remove(case: Case) -> None:
    store = case.store
    await store.commit(Batch({("a",): b"1", ("a", "b"): b"2", ("c",): b"3"}))
    await store.commit(Batch({("a",): b"longer than before"}, frozenset({("c",), ("absent",)})))
    wanted = [(("a",), b"longer than before"), (("a", "b"), b"2")]
    same(await store.scan(()), wanted, "after a put and two deletes")
    await store.commit(Batch(deletes=frozenset({("a",)})))
    same(await store.scan(()), wanted[1:], "after deleting a key that is a prefix of another")
    await store.commit(Batch())
    await store.commit(Batch({("a",): b"again"}))
    same(await store.get([("a",)]), {("a",): b"again"}, "get after the key was put again")


@check("S-9")
async def refused_batches_write_nothing(case: Case) -> None:
    store = case.store
    await store.commit(Batch({("kept",): b"1"}))
    bad: dict[str, Any] = {
        "an empty segment behind good keys": Batch({("new",): b"", ("z", ""): b""}, frozenset({("kept",)})),
        "a string as a value": Batch({("new",): b"", ("z",): "text"}),  # type: ignore[dict-item]
        "a bad delete": Batch({("new",): b""}, frozenset({("kept",), ()})),
    }
    for what, batch in bad.items():
        await refused(BadInput, store.commit(batch), what)
        same(await store.scan(()), [(("kept",), b"1")], f"after {what}")
    batch = Batch({("new",): b"", ("kept",): b"2"}, frozenset({("x",)}))
    await refused(Conflict, store.commit(batch, expected={("kept",): b"1", ("other",): b""}), "a conflict")
    same(await store.scan(()), [(("kept",), b"1")], "after a conflict")


@check("S-10")
async def expectations_decide(case: Case) -> None:
    store = case.store
    await store.commit(Batch({("head",): b"1"}), expected={("head",): None})
    await store.commit(Batch({("head",): b"2"}), expected={("head",): b"1", ("other",): None})
    wrongs: list[dict[Key, bytes | None]] = [
        {("head",): b"1"},
        {("head",): None},
        {("head",): b""},
        {("other",): b""},
        {("other",): b"2"},
        {("head",): b"2", ("other",): b""},
    ]
    for wrong in wrongs:
        await refused(Conflict, store.commit(Batch({("head",): b"3", ("new",): b""}), expected=wrong), f"{wrong}")
        same(await store.scan(()), [(("head",), b"2")], f"after {wrong}")
    await store.commit(Batch(), expected={("head",): b"2"})
    await refused(Conflict, store.commit(Batch(), expected={("head",): b"1"}), "an empty batch, wrong expectation")
    await store.commit(Batch({("empty",): b""}))
    await refused(Conflict, store.commit(Batch(), expected={("empty",): None}), "an empty value expected to be absent")


@check("S-11")
async def conflicts_name_the_first_key(case: Case) -> None:
    await case.store.commit(Batch({("z",): b"1", ("m",): b"1"}))
    for wanted, expected in {
        ("z",): {("m",): b"1", ("z",): None, ("a",): b""},
        ("b",): {("a",): None, ("b",): b"", ("a", "c"): b""},
    }.items():
        caught = await refused(Conflict, case.store.commit(Batch(), expected=expected), f"{expected}")
        require(isinstance(caught, Conflict) and caught.key == wanted, f"Conflict names {caught}, not {wanted!r}")


@check("S-12")
async def no_update_is_lost(case: Case) -> None:
    store, key = case.store, ("counter",)
    await store.commit(Batch({key: b"0"}))

    async def add() -> None:
        for _ in range(5):
            while True:
                seen = (await store.get([key]))[key]
                await asyncio.sleep(0)
                try:
                    await store.commit(Batch({key: b"%d" % (int(seen) + 1)}), expected={key: seen})
                except Conflict:
                    continue
                break

    await asyncio.gather(*(add() for _ in range(6)))
    same(await store.get([key]), {key: b"30"}, "the counter after six writers added five times each")


@check("S-13")
async def readers_see_one_moment(case: Case) -> None:
    store = case.store
    keys: list[Key] = [("pair", str(number)) for number in range(20)]
    await put(store, *keys, value=b"0")
    for number in range(1, 8):
        value = b"%d" % number
        writing = asyncio.ensure_future(store.commit(Batch(dict.fromkeys(keys, value))))
        seen = await asyncio.gather(*(part for _ in range(4) for part in (store.get(keys), store.scan(("pair",)))))
        await writing
        for found in seen:
            values = set(dict(found).values())
            require(len(values) == 1 and len(found) == len(keys), f"a reader saw a part of a commit: {values}")
        same(await store.get(keys), dict.fromkeys(keys, value), "what was committed")


BAD_KEYS: list[Any] = [
    (),
    ("",),
    ("a", ""),
    ("", "a"),
    "abc",
    (1,),
    ("a", None),
    (b"a",),
    (SURROGATE,),
    ("a", SURROGATE),
]


@check("S-14")
async def malformed_keys(case: Case) -> None:
    store = case.store
    for key in BAD_KEYS:
        await refused(BadInput, store.get([key]), f"get of {key!r}")
        await refused(BadInput, store.commit(Batch({key: b""})), f"put of {key!r}")
        await refused(BadInput, store.commit(Batch(deletes=frozenset({key}))), f"delete of {key!r}")
        await refused(BadInput, store.commit(Batch(), expected={key: None}), f"expected {key!r}")
        await refused(BadInput, store.scan((), after=key), f"after {key!r}")
        if key != ():
            await refused(BadInput, store.scan(key), f"scan of {key!r}")
    await refused(BadInput, store.get([["a"]]), "a list as a key")
    await refused(BadInput, store.get(("a", "b")), "a key in place of a list of keys")
    same(await store.scan(()), [], "the contents after rejected calls")


@check("S-15")
async def malformed_batches(case: Case) -> None:
    store = case.store
    await refused(BadInput, store.commit(Batch({("a",): b""}, frozenset({("a",)}))), "a key put and deleted")
    for value in ("text", None, 1, bytearray(b"x"), memoryview(b"x")):
        batch: Any = Batch({("a",): value})  # type: ignore[dict-item]
        await refused(BadInput, store.commit(batch), f"the value {value!r}")
        if value is not None:
            await refused(BadInput, store.commit(Batch(), expected={("a",): value}), f"expected {value!r}")
    same(await store.scan(()), [], "the contents after rejected calls")


@check("S-17")
async def scan_limits_below_one(case: Case) -> None:
    await put(case.store, ("a",))
    for limit in (0, -1, 1.0, "1", None, True):
        await refused(BadInput, case.store.scan((), limit=limit), f"limit {limit!r}")


@check("S-18")
async def nobody_else_holds_what_is_stored(case: Case) -> None:
    store = case.store
    puts: dict[Key, bytes] = {("a",): b"1"}
    expected: dict[Key, bytes | None] = {("a",): None}
    writing = asyncio.ensure_future(store.commit(Batch(puts), expected=expected))
    await writing
    puts[("a",)] = b"changed by the caller"
    puts[("b",)] = b""
    found = await store.get([("a",)])
    found[("a",)] = b"changed by the reader"
    entries = await store.scan(())
    entries.append((("c",), b""))
    same(await store.scan(()), [(("a",), b"1")], "what is stored")
    same(await store.get([("a",), ("b",)]), {("a",): b"1"}, "what is stored")
