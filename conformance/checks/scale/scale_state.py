"""A StateKV that holds many entries, written and read in the largest calls that its limits allow."""

from __future__ import annotations

from conformance.assertions import refused, require, same
from conformance.case import Case
from conformance.check import check
from conformance.fixtures import PAGE, again, at_once, in_pages, whole
from saga_core.errors import BadInput, Conflict
from saga_core.stores import Batch, Key

Entries = dict[Key, bytes]
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
async def reading(case: Case) -> None:
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
async def history(case: Case) -> None:
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
async def writing(case: Case) -> None:
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
