"""A store wrapper that retries calls, as SAGA does, for services that occasionally reject calls."""

from __future__ import annotations

import asyncio
import inspect
from typing import Any

from saga_core.errors import StoreUnavailable

_PAUSE = 0.005


class Retrying:
    """Passes every call on, and retries a call that raises ``StoreUnavailable`` at most ``times`` times."""

    def __init__(self, store: Any, times: int) -> None:
        self._store = store
        self._times = times

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._store, name)
        if not inspect.iscoroutinefunction(found):
            return found

        async def call(*args: Any, **options: Any) -> Any:
            for _ in range(self._times):
                try:
                    return await found(*args, **options)
                except StoreUnavailable:
                    await asyncio.sleep(_PAUSE)
            return await found(*args, **options)

        return call
