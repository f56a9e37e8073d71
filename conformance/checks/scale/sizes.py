"""Every operation of StateKV and MdCache at every size, with a comparison of the contents."""

from __future__ import annotations

from typing import Any

from conformance.assertions import refused, require, same
from conformance.case import Case
from conformance.check import check
from saga_core.errors import BadInput, Conflict
from saga_core.stores import Batch, Key, Pages
from saga_core.values import PAGE_NAMES

Entries = dict[Key, bytes]


def _entries(scope: str, count: int, mark: str = "") -> Entries:
    return {(scope, f"{number:06}"): f"{mark}{count}:{number}".encode() for number in range(count)}


@check("S-1", "S-4", "S-5", "S-6", "S-7")
async def state_read(case: Case) -> None:
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
async def state_written(case: Case) -> None:
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
async def state_values(case: Case) -> None:
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
async def state_keys(case: Case) -> None:
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


@check("C-2", "C-3")
async def cache(case: Case) -> None:
    """Pages around common block sizes, and edits that keep the size."""
    store, random = case.store, case.random
    for size in case.byte_sizes(0):
        text = random.randbytes(size // 2 + 1).hex()[:size]
        written = Pages({name: text if name == "story.md" else str(size) for name in PAGE_NAMES}, f"t{size}")
        await store.write("s", written)
        same(await store.read("s"), written, f"a page of {size} bytes", clause="C-2")
        for at in (size - 1, size // 2):
            edited = Pages({**written.files, "story.md": text[:at] + "-" + text[at + 1 :]}, f"t{size}")
            await store.write("s", edited)
            same(await store.read("s"), edited, f"an edit of {size} bytes that keeps its size", clause="C-3")
        again = Pages(edited.files, "another turn")
        await store.write("s", again)
        same(await store.read("s"), again, "the same pages with another watermark", clause="C-3")
