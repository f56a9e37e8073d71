"""Shares queries in progress, so that each is sent only once and completes even if its callers are cancelled."""

from __future__ import annotations

import asyncio
import logging
from array import array
from collections.abc import Callable, Coroutine, Hashable
from typing import Any, TypeAlias

from attrs import define, field

from saga_core.errors import StoreUnavailable

_log = logging.getLogger(__name__)

Vectors: TypeAlias = "list[array[float]]"


@define(eq=False)
class QueriesInProgress:
    """The queries in progress, at most ``at_once``. A model that does not answer receives no further queries."""

    at_once: int = 4
    _flights: dict[Hashable, asyncio.Task[Vectors]] = field(factory=dict, init=False)

    async def ask(self, key: Hashable, call: Callable[[], Coroutine[Any, Any, Vectors]]) -> Vectors:
        """Return the result of ``call``, or raise its exception. Concurrent callers with the same ``key`` share a call.

        If a caller is cancelled, the call continues. Raises ``StoreUnavailable`` if too many calls are in progress.
        """
        flight = self._flights.get(key)
        if flight is None:
            if len(self._flights) >= self.at_once:
                raise StoreUnavailable(f"the embedder still owes the answers to {self.at_once} earlier questions")
            flight = asyncio.create_task(call(), name="saga-embed-question")
            self._flights[key] = flight
            flight.add_done_callback(lambda done: self._landed(key, done))
        return [vector[:] for vector in await asyncio.shield(flight)]

    def _landed(self, key: Hashable, flight: asyncio.Task[Vectors]) -> None:
        self._flights.pop(key, None)
        if not flight.cancelled() and (error := flight.exception()) is not None:
            _log.debug("a question failed: %s", error)

    async def aclose(self) -> None:
        """Cancel all calls in progress."""
        flights = list(self._flights.values())
        for flight in flights:
            flight.cancel()
        await asyncio.gather(*flights, return_exceptions=True)
