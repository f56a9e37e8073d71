"""A limit for the CPU time that reading one request may take on the event loop.

A coroutine runs in steps from one ``await`` to the next, and blocks the event loop during each step. Each step is
measured with the CPU clock of the thread, so other tasks do not count. Work that exceeds the limit ends at its next
``await``, as if it had been cancelled. A single step cannot be interrupted; its length depends on the size of the text.
Work that has taken long pauses after each step for three times as long as the step took, so that a large request
leaves others three quarters of the event loop's time.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine, Generator
from typing import Any, TypeVar

from attrs import define, field

from saga_server.http.errors import RequestError

T = TypeVar("T")

_UNPACED = 0.015
"""CPU seconds without pauses. An ordinary request takes less in all."""
_PAUSE = 3.0
"""The length of a pause, as a multiple of the step before it."""


class _TooDear(Exception):
    """Thrown into work that exceeds its limit."""


@define(eq=False)
class Within:
    """Await this object to run ``work`` with at most ``seconds`` of CPU time. Raises ``RequestError`` (413) beyond."""

    work: Coroutine[Any, Any, Any]
    seconds: float
    spent: float = field(default=0.0, init=False)

    def __await__(self) -> Generator[Any, Any, Any]:
        try:
            return (yield from self._run())
        except _TooDear:
            raise RequestError(
                f"reading the request took {self.spent:.1f} s of the processor, and may take {self.seconds:g} s "
                "(server.max_cpu_seconds); send fewer or shorter messages",
                param="messages",
                status=413,
            ) from None

    def _run(self) -> Generator[Any, Any, Any]:
        value: Any = None
        thrown: BaseException | None = None
        ended = False
        while True:
            began = time.thread_time()
            try:
                waits_for = self.work.send(value) if thrown is None else self.work.throw(thrown)
            except StopIteration as end:
                return end.value
            finally:
                took = time.thread_time() - began
                self.spent += took
            value, thrown = None, None
            if self.spent > self.seconds and not ended:
                ended = True
                if waits_for is not None:
                    waits_for.cancel()
                thrown = _TooDear()
                continue
            pause_ends = time.monotonic() + (_PAUSE * took if self.spent > _UNPACED else 0.0)
            try:
                value = yield waits_for
                if (left := pause_ends - time.monotonic()) > 0:
                    yield from asyncio.sleep(left).__await__()
            except BaseException as error:  # noqa: BLE001 - passed on to the work, cancellation included
                thrown = error
