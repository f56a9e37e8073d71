"""The projector: each view is rendered once for what has changed, and nothing is read that is overwritten anyway."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from saga_backends.md_cache.files import FilesCache
from saga_core import Saga
from saga_core.config import load_config
from saga_core.play.pending_turn import PendingTurn
from saga_core.stores import Pages
from saga_core.views.projector import scope_of
from tests.core.frontend import Frontend


@pytest.fixture
async def saga(tmp_path: Path) -> AsyncIterator[Saga]:
    """Pages are files here; a profile in memory has none."""
    config = load_config({"storage": {"path": str(tmp_path)}, "session": {"default_world": "ersia"}})
    async with Saga.open(config) as opened:
        yield opened


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The scopes whose pages are read, in order."""
    scopes, reading = list[str](), FilesCache.read

    async def noted(self: FilesCache, scope: str) -> Pages | None:
        scopes.append(scope)
        return await reading(self, scope)

    monkeypatch.setattr(FilesCache, "read", noted)
    return scopes


async def played(saga: Saga) -> tuple[Frontend, PendingTurn]:
    chat = Frontend(saga, session="모험")
    for place in ("낡은 방앗간", "어두운 숲", "돌다리"):
        turn = await chat.say(f"{place}으로 간다.", f"{place}에 안개가 짙게 깔려 있다.", location=place)
    await saga.drain(10)
    return chat, turn


async def projected(saga: Saga) -> int:
    return int((await saga.status())["counters"]["projected"])


async def page(saga: Saga, turn: PendingTurn) -> str:
    assert saga.stores.cache is not None
    pages = await saga.stores.cache.read(scope_of(turn.session.id, 0))
    assert pages is not None and pages.watermark == turn.id
    return "\n".join(pages.files.values())


async def test_a_new_turn_is_written_over_the_pages_of_the_last_without_reading_them(
    saga: Saga, read: list[str]
) -> None:
    chat, _ = await played(saga)
    read.clear()
    turn = await chat.say("성문으로 간다.", "성문이 닫혀 있다.", location="성문")
    await saga.drain(10)
    assert read == []
    assert "성문" in await page(saga, turn)


async def test_pages_that_show_the_turn_are_read_and_mended(saga: Saga, read: list[str]) -> None:
    _, turn = await played(saga)
    scope, cache, live = scope_of(turn.session.id, 0), saga.stores.cache, await saga.parts.live.get(turn.session.id)
    assert cache is not None
    whole = await cache.read(scope)
    await cache.drop(scope)
    read.clear()
    await saga.parts.projector.show(live, turn.id)
    assert read == [scope]
    assert await cache.read(scope) == whole


async def test_a_corrected_turn_at_the_end_is_rendered_once(saga: Saga) -> None:
    _, turn = await played(saga)
    before = await projected(saga)
    await saga.memory.correct("모험", "move", {"place": "강가"})
    await saga.drain(10)
    assert await projected(saga) == before + 1
    assert "강가" in await page(saga, turn)
    assert await saga.maintenance.differences(turn.session.id) == []
