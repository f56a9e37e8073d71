"""What the checks of a large population share: see ``Profile.population``."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection
from time import perf_counter
from typing import Any

from conformance.case import Case
from conformance.check import CheckFailed, require
from saga_core.capabilities import Capability

PAGE = 1_000
_LEAST = 2_100
"""SAGA writes and deletes up to 2,000 entries at once."""


def whole(found: Any, wanted: Any, what: str, *, clause: str) -> None:
    """Raise ``CheckFailed`` unless both lists, or both mappings, are equal.

    Types are compared at small sizes: here equality is enough, and the failure says where it ends.
    """
    if found == wanted:
        return
    rows, expected = list(found), list(wanted)
    at = next((n for n, (one, other) in enumerate(zip(rows, expected, strict=False)) if one != other), len(rows))
    there, due = (str(part[at])[:100] if at < len(part) else "the end" for part in (rows, expected))
    raise CheckFailed(
        f"{what}: gave {len(rows)}, expected {len(expected)}; at place {at} stands {there}, expected {due}",
        clause=clause,
    )


async def pages(
    scan: Callable[[Any], Awaitable[list[Any]]],
    mark: Callable[[Any], Any],
    wanted: list[Any],
    what: str,
    *,
    clause: str,
) -> None:
    """``scan(after)`` gives pages; together they are ``wanted``. ``mark`` is where the next page begins."""
    found: list[Any] = []
    while page := await scan(mark(found[-1]) if found else None):
        found += page
        require(len(found) <= len(wanted), f"{what}: more than {len(wanted)} in pages", clause=clause)
    whole(found, wanted, f"{what}, in pages of {PAGE}", clause=clause)
    last = wanted[-PAGE // 10 :]
    whole((await scan(mark(last[0])))[:PAGE], last[1:], f"the last {len(last) - 1} of {what}", clause=clause)


async def at_once(
    made: Awaitable[Any], look: Callable[[], Awaitable[Any]], states: tuple[Any, Any], what: str, *, clause: str
) -> None:
    """While ``made`` runs, ``look`` gives the first of ``states`` and from some moment on the second."""
    writing = asyncio.ensure_future(made)
    before, after = states
    known = before
    try:
        while not writing.done():
            seen = await look()
            require(seen in (known, after), f"{what}: a reader beside it saw {seen} after {known}", clause=clause)
            known = seen
            await asyncio.sleep(0)
    finally:
        await writing
    seen = await look()
    require(seen == after, f"{what}: there is {seen} afterwards, expected {after}", clause=clause)


async def affordable(case: Case, write: Callable[[str, int], Awaitable[Any]]) -> int:
    """The profile's population, or less where ``write`` takes long for a thousand entries in a scope of its own.

    Engines that delete one by one would need minutes. One of three attempts is enough.
    """
    for attempt in ("first attempt", "second attempt", "third attempt"):
        begun = perf_counter()
        await write(attempt, min(1_001, case.harness.limits.batch))
        if perf_counter() - begun < case.profile.thousand_seconds:
            return case.profile.population
    return min(_LEAST, case.profile.population)


async def as_many_scopes(case: Case, make: Callable[[str], Awaitable[Any]]) -> list[str]:
    """The names of scopes, in order, for each of which ``make`` was called, the last one first.

    The profile's least in any case, and further ones for as long as the store is quick: engines for which a scope is a
    table or a folder take a second for a hundred.
    """
    profile, names = case.profile, list[str]()
    end = perf_counter() + profile.scope_seconds
    for number in range(profile.most_scopes, 0, -1):
        if len(names) >= profile.scopes and perf_counter() > end:
            break
        names.append(f"scope {number:05}")
        await make(names[-1])
    return names[::-1]


async def again(case: Case) -> Any:
    """The store of the case, closed and opened again where it is durable: what was looked at is looked at once more."""
    if Capability.DURABLE in case.harness.provides:
        case.store = await case.reopen(case.store)
    return case.store


def some(names: Collection[str]) -> list[str]:
    """About forty of them, the first and the last among them."""
    listed = list(names)
    return [*listed[:: max(1, len(listed) // 40)], listed[-1]]
