"""An import says how far it is, and is stopped behind what it writes just then; taken in again it goes on."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from saga_core import Saga
from saga_core.maintenance import ImportOptions
from tests.core.frontend import memory_config
from tests.core.jobs.test_backfill import chat_of

FILES = [
    (f"chat {number}.jsonl", chat_of(3).replace(b"On with me", f"On with me to road {number}".encode()))
    for number in range(5)
]


async def test_it_says_how_far_it_is() -> None:
    async with Saga.open(memory_config()) as saga:
        heard: list[tuple[int, int]] = []

        def hear(event: str, about: Mapping[str, Any]) -> None:
            if event == "importing":
                heard.append((about["done"], about["total"]))

        saga.counters.listeners.append(hear)
        await saga.maintenance.import_files(FILES, ImportOptions())
        assert heard == [(number, 5) for number in range(1, 6)]


async def test_it_is_stopped_behind_what_it_writes_and_goes_on_when_asked_again() -> None:
    async with Saga.open(memory_config()) as saga:

        def stop(event: str, about: Mapping[str, Any]) -> None:
            if event == "importing" and about["done"] == 2:
                assert saga.maintenance.stop_imports() == 1

        saga.counters.listeners.append(stop)
        found = await saga.maintenance.import_files(FILES, ImportOptions())
        assert [each.state for each in found.things] == ["new"] * 2
        assert len(found.refused) == 3 and all("was stopped before it" in each.why for each in found.refused)
        assert len(await saga.sessions.list()) == 2
        saga.counters.listeners.remove(stop)
        again = await saga.maintenance.import_files(FILES, ImportOptions())
        assert sorted(each.state for each in again.things) == ["known"] * 2 + ["new"] * 3 and not again.refused
        assert len(await saga.sessions.list()) == 5


async def test_only_what_is_under_way_is_stopped() -> None:
    async with Saga.open(memory_config()) as saga:
        assert saga.maintenance.stop_imports() == 0
        async with saga.maintenance.tools.importing:
            both = [asyncio.create_task(saga.maintenance.import_files([file], ImportOptions())) for file in FILES[:2]]
            while len(saga.maintenance.tools.running_imports) < 2:  # noqa: ASYNC110 - nothing tells when one has begun
                await asyncio.sleep(0)
            assert saga.maintenance.stop_imports() == 2
        stopped = await asyncio.gather(*both)
        assert [found.things for found in stopped] == [(), ()]
        assert (await saga.maintenance.import_files(FILES[:1], ImportOptions())).things[0].state == "new"
