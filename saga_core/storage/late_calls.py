"""Names the calls of stores that do not end, so that what waits for them can say why."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from saga_core.counters import Counters

LATE_SECONDS = 30.0
"""After how long a call that has not ended is a degraded mode."""


@contextmanager
def under_way(counters: Counters, where: str, name: str, call: str) -> Iterator[None]:
    """Note a call of the store ``name``, which the setting ``where`` names, for as long as it runs."""
    told = f"{where}: {name} has not answered `{call}`"
    loop, token, mode = asyncio.get_running_loop(), object(), f"{where}.hangs"
    counters.calls[token] = told
    late = loop.call_later(LATE_SECONDS, counters.degrade, mode, f"{told} for {LATE_SECONDS:g} s; what needs it waits")
    try:
        yield
    except asyncio.CancelledError as error:
        error.add_note(told)
        raise
    finally:
        late.cancel()
        del counters.calls[token]
        if loop.time() >= late.when() and not any(each.startswith(where) for each in counters.calls.values()):
            counters.recover(mode)


def what_hangs(late: TimeoutError, counters: Counters) -> str:
    """Return the call of a store that a timeout cut off, or else the one that has run for the longest."""
    cut: tuple[str, ...] = getattr(late.__cause__, "__notes__", ())
    return next(iter((*cut, *counters.calls.values())), "a store has not answered")
