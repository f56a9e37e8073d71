"""Checks of a StateKV: keys, scans, commits and expectations, at every size and among many entries."""

from __future__ import annotations

import asyncio
from typing import Any

from conformance.assertions import CheckFailed, refused, require, same
from conformance.case import Case
from conformance.check import check
from conformance.fixtures import ALWAYS_CONFLICTS, ATTEMPTS, PAGE, again, at_once, in_pages, whole
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
            for _ in range(ATTEMPTS):
                seen = (await store.get([key]))[key]
                await asyncio.sleep(0)
                try:
                    await store.commit(Batch({key: b"%d" % (int(seen) + 1)}), expected={key: seen})
                except Conflict:
                    continue
                break
            else:
                raise CheckFailed(ALWAYS_CONFLICTS)

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
    *((), ("",), ("a", ""), ("", "a"), "abc", (1,)),
    *(("a", None), (b"a",), (SURROGATE,), ("a", SURROGATE)),
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


Entries = dict[Key, bytes]


def _entries(scope: str, count: int, mark: str = "") -> Entries:
    return {(scope, f"{number:06}"): f"{mark}{count}:{number}".encode() for number in range(count)}


@check("S-1", "S-4", "S-5", "S-6", "S-7")
async def reads_at_every_size(case: Case) -> None:
    """Write many entries with one commit, and read them by ``get``, one scan and pages."""
    store = case.store
    for count in case.sizes:
        scope = f"n{count}"
        entries = _entries(scope, count)
        await store.commit(Batch(dict(reversed(entries.items()))))
        keys, rows = list(entries), list(entries.items())
        same(await store.get(keys), entries, f"get of {count}", clause="S-1")
        mixed = [key if at % 2 else (*key, "absent") for at, key in enumerate(keys)]
        wanted = {key: entries[key] for key in keys[1::2]}
        same(await store.get(mixed), wanted, f"get of {count}, half of them absent", clause="S-1")
        same(await store.scan((scope,), limit=count + 1), rows, f"scan of {count}", clause="S-4")
        for limit in {max(1, count - 1), count}:
            found = await store.scan((scope,), limit=limit)
            same(found, rows[:limit], f"scan of {count} with limit {limit}", clause="S-7")
        same(await store.scan((scope,)), rows[:1_000], f"scan of {count} without a limit", clause="S-7")
        middle = count // 2
        behind = await store.scan((scope,), after=keys[middle], limit=count)
        same(behind, rows[middle + 1 :], f"scan behind the {middle + 1}th of {count}", clause="S-6")
        await _pages(store, scope, rows, 100 if count > 100 else 7)
    everything = await store.scan((), limit=sum(case.sizes) + 1)
    wanted_all = sorted(row for count in case.sizes for row in _entries(f"n{count}", count).items())
    same(everything, wanted_all, "scan of the whole store", clause="S-5")


async def _pages(store: Any, scope: str, rows: list[tuple[Key, bytes]], size: int) -> None:
    found: list[tuple[Key, bytes]] = []
    while page := await store.scan((scope,), after=found[-1][0] if found else None, limit=size):
        found += page
        require(len(found) <= len(rows), f"pages of {size} give more entries than exist: {found[-3:]}", clause="S-6")
    same(found, rows, f"{len(rows)} in pages of {size}", clause="S-6")


@check("S-8", "S-9", "S-10", "S-11")
async def writes_at_every_size(case: Case) -> None:
    """Replace, delete, expect and reject many entries in one commit."""
    store = case.store
    for count in case.sizes:
        scope = f"n{count}"
        entries = _entries(scope, count)
        keys = list(entries)
        await store.commit(Batch(entries))
        same(dict(await store.scan((scope,), limit=count)), entries, f"{count} puts", clause="S-8")
        await _refusals(store, scope, entries)
        half = count // 2
        changed = _entries(scope, count, "new ")
        puts = {key: changed[key] for key in keys[:half]}
        await store.commit(Batch(puts, frozenset(keys[half:])), expected=dict(entries))
        same(
            dict(await store.scan((scope,), limit=count)), puts, f"{half} puts and {count - half} deletes", clause="S-8"
        )
        await store.commit(Batch(entries))
        await store.commit(Batch(deletes=frozenset(keys)))
        same(await store.scan((scope,), limit=count), [], f"after {count} deletes", clause="S-8")
        same(await store.get(keys), {}, f"get of {count} that were deleted", clause="S-8")


async def _refusals(store: Any, scope: str, entries: Entries) -> None:
    """Reject batches of which the last entry is wrong. Nothing may be written."""
    keys, count = list(entries), len(entries)
    new: Entries = dict(list(_entries(scope, count, "refused ").items())[: count - 1])
    bad = {**new, (scope, ""): b""}
    await refused(BadInput, store.commit(Batch(bad)), f"{count} puts with a malformed key at the end")
    same(dict(await store.scan((scope,), limit=count)), entries, "after a malformed key at the end", clause="S-9")
    wrong: dict[Key, bytes | None] = {**entries, keys[-1]: b"something else"}
    half = dict(list(new.items())[: count // 2])
    batch = Batch(half, frozenset(keys) - half.keys())
    caught = await refused(Conflict, store.commit(batch, expected=wrong), f"{count} expectations, the last wrong")
    require(getattr(caught, "key", None) == keys[-1], f"Conflict names {caught}, not {keys[-1]}", clause="S-11")
    same(dict(await store.scan((scope,), limit=count)), entries, "after a conflict at the end", clause="S-10")
    turned: dict[Key, bytes | None] = dict.fromkeys(reversed(keys), None)
    caught = await refused(Conflict, store.commit(Batch(new), expected=turned), f"{count} expectations, all wrong")
    require(getattr(caught, "key", None) == keys[-1], f"Conflict names {caught}, not {keys[-1]}", clause="S-11")


@check("S-2", "S-8", "S-10")
async def values_at_every_size(case: Case) -> None:
    """Values around common page and block sizes, and edits of single bytes that keep the size."""
    store, random = case.store, case.random
    for size in case.byte_sizes(0):
        value = random.randbytes(size)
        await store.commit(Batch({("v",): value, ("w", str(size)): value}))
        found = await store.get([("v",), ("w", str(size))])
        require(
            found == {("v",): value, ("w", str(size)): value},
            f"a value of {size} bytes came back changed",
            clause="S-2",
        )
        require(await store.scan(("v",)) == [(("v",), value)], f"a scan changed a value of {size} bytes", clause="S-2")
        other = value[:-1] + bytes([value[-1] ^ 1])
        made = store.commit(Batch({("v",): b"", ("y",): b""}), expected={("v",): other})
        await refused(Conflict, made, f"{size} expected bytes that differ in the last one")
        require(await store.get([("v",)]) == {("v",): value}, "a conflict changed the value", clause="S-10")
        await store.commit(Batch({("v",): other}), expected={("v",): value})
        require(await store.get([("v",)]) == {("v",): other}, f"an edit of {size} bytes was not seen", clause="S-2")
        for at in (0, size // 2):  # also values that differ only at their head or in the middle
            other = other[:at] + bytes([other[at] ^ 1]) + other[at + 1 :]
            await store.commit(Batch({("v",): other}))
            found = await store.get([("v",)])
            require(found == {("v",): other}, f"an edit at {at} of {size} bytes was not seen", clause="S-8")


@check("S-3", "S-4", "S-10")
async def long_keys(case: Case) -> None:
    """Long keys and keys of many segments that differ at the end, and expectations of keys that are not written."""
    store, most = case.store, case.harness.limits.key_bytes
    many = ("s",) * (most // 3 - 1)
    long = "x" * (most - 8)
    keys: list[Key] = [many, (*many[:-1], "t"), many[:-1], (long,), (long + "y",), (long, "y"), ("x" * 191 + "a",)]
    keys += [("x" * 191 + "b",), ("p", "x" * 254), ("p", "x" * 255), ("p", "x" * 256)]
    keys += [("o" * length + end,) for length in (62, 63, 64, 126, 127, 128, 254, 255) for end in ("", "p")]
    keys += [("op",), ("oo", "p"), ("o" * 300, "a"), ("o" * 299 + "a", "z")]
    entries = {key: str(at).encode() for at, key in enumerate(keys)}
    await store.commit(Batch(entries))
    same(await store.get(keys), entries, "get", clause="S-3")
    same(await store.scan((), limit=99), sorted(entries.items()), "scan", clause="S-3 S-4")
    for at, key in enumerate(keys):
        same(await store.scan(key, limit=1), [(key, str(at).encode())], f"scan of {key[-1]!r}")
    for key in keys:
        made = store.commit(Batch({("new",): b""}), expected={key: b"wrong"})
        await refused(Conflict, made, "an expectation of a key that is not written")
    await store.commit(Batch({("same",): b"1"}))
    made = store.commit(Batch({("same",): b"1"}), expected={("same",): b"2"})
    await refused(Conflict, made, "a commit that changes nothing, with a wrong expectation")
    same(await store.get([("new",)]), {}, "what was refused", clause="S-10")


Rows = list[tuple[Key, bytes]]


def _below(count: int) -> Entries:
    """Entries that share their first segment."""
    return {("many", f"{number:06}"): b"%d" % number for number in range(count)}


def _apart(count: int) -> Entries:
    """Entries that each have a first segment of their own."""
    return {(f"own {number:06}", "x"): b"%d" % number for number in range(count)}


async def _filled(case: Case, entries: Entries) -> Rows:
    """Write the entries in the largest batches, starting with the last key. Return them as sorted rows."""
    rows = sorted(entries.items())
    for batch in case.batches(rows[::-1]):
        await case.store.commit(Batch(dict(batch)))
    return rows


@check("S-1", "S-4", "S-5", "S-6", "S-7", durable=("L-11",))
async def reads_among_many(case: Case) -> None:
    """Read many entries by ``get``, one scan and pages."""
    store, count = case.store, case.profile.population
    rows = await _filled(case, _below(count))
    for batch in case.batches(rows):
        keys = [key for key, _ in batch]
        whole(await store.get(keys), dict(batch), f"get of {len(keys)}", clause="S-1")
    whole(await store.scan(("many",), limit=count + 1), rows, f"scan of {count}", clause="S-7")
    found = await store.scan(("many",), limit=count - 1)
    whole(found, rows[:-1], f"scan of {count} with limit {count - 1}", clause="S-7")

    async def page(after: Key | None) -> Rows:
        return list(await store.scan(("many",), after=after, limit=PAGE))

    await in_pages(page, lambda row: row[0], rows, f"{count} entries", clause="S-6")
    own = await _filled(case, _apart(count))
    whole(await store.scan((), limit=2 * count + 1), rows + own, f"scan of a store of {2 * count}", clause="S-5")
    for key, value in (own[0], own[count // 2], own[-1]):
        same(await store.scan(key[:1]), [(key, value)], f"scan of one of {count} first segments", clause="S-5")
    store = await again(case)
    whole(await store.scan((), limit=2 * count + 1), rows + own, f"{2 * count} entries, opened again", clause="L-11")


@check("L-11", kinds=("state",))
async def a_long_history(case: Case) -> None:
    """Make many small commits, each of which adds a key and replaces one. Every second commit deletes a key."""
    count = case.profile.commits
    left: Entries = {}
    for number in range(count):
        key, value = ("each", f"{number:06}"), b"%d" % number
        gone = frozenset({("each", f"{number - 2:06}")} if number % 2 else ())
        await case.store.commit(Batch({key: value, ("last",): value}, gone & left.keys()))
        left.update({key: value, ("last",): value})
        for each in gone:
            left.pop(each, None)
    store = await again(case)
    whole(await store.scan((), limit=count + 1), sorted(left.items()), f"{count} commits, opened again", clause="L-11")


@check("S-8", "S-9", "S-10", "S-11", "S-13", "S-16", kinds=("state",))
async def writes_among_many(case: Case) -> None:
    """Put, expect, reject, replace and delete whole batches. A reader must see the first one whole or not at all."""
    store, most = case.store, min(case.harness.limits.batch, case.profile.population)
    entries = _below(most)
    keys = list(entries)
    ends = [keys[0], keys[most // 2], keys[-1]]

    async def there() -> int:
        return len(await store.get(ends))

    made = store.commit(Batch(entries), expected=dict.fromkeys(keys))
    await at_once(made, there, (0, 3), f"a commit of {most} puts", clause="S-13")
    await _are(case, entries, f"after {most} puts", "S-8 S-16")
    other: Entries = dict.fromkeys(keys[:-1], b"other")
    bad = {**other, ("many", ""): b""}
    await refused(BadInput, store.commit(Batch(bad)), f"{most} puts with a malformed key at the end")
    await _are(case, entries, f"after {most} puts with a malformed key at the end", "S-9")
    wrong: dict[Key, bytes | None] = {**entries, keys[-1]: b"something else"}
    caught = await refused(Conflict, store.commit(Batch(other), expected=wrong), f"{most} expectations, the last wrong")
    require(getattr(caught, "key", None) == keys[-1], f"Conflict names {caught}, not {keys[-1]}", clause="S-11")
    await _are(case, entries, f"after {most} expectations, the last of them wrong", "S-10")
    await _filled(case, _apart(case.profile.population))
    half = most // 2
    puts, deletes = dict.fromkeys(keys[:half], b"new"), frozenset(keys[half:])
    await store.commit(Batch(puts, deletes), expected=dict(entries))
    await _are(case, puts, f"after {half} puts and {len(deletes)} deletes", "S-8")
    await store.commit(Batch(entries))
    await store.commit(Batch(deletes=frozenset(keys)))
    await _are(case, {}, f"after {most} deletes", "S-8")
    rest = await store.scan((), limit=case.profile.population + 1)
    whole(rest, sorted(_apart(case.profile.population).items()), "the other entries", clause="S-8")


async def _are(case: Case, entries: Entries, what: str, clause: str) -> None:
    found = await case.store.scan(("many",), limit=case.profile.population + 1)
    whole(dict(found), entries, what, clause=clause)
