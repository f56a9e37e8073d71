"""A key-value view of more values than are read at once."""

from __future__ import annotations

from saga_core import Saga
from saga_core.journal import keys
from saga_core.stores.state_kv import Batch
from saga_core.views.projector import scope_of
from tests.core.frontend import Frontend


async def test_it_goes_as_a_whole() -> None:
    async with Saga.open({"storage": {"profile": "memory"}}) as saga:
        chat = Frontend(saga)
        session = (await chat.say("간다.", "길이 열린다.")).session.id
        await saga.drain(10)
        scope = scope_of(session, 0)
        stale = {keys.view(scope, f"값 {number}"): b"1" for number in range(2_500)}
        await saga.stores.state.commit(Batch(stale))
        assert len(await saga.maintenance.differences(session)) == 1
        await chat.say("더 간다.", "숲이 보인다.")
        await saga.drain(10)
        assert await saga.maintenance.differences(session) == []
        await saga.stores.state.commit(Batch(stale))
        await saga.sessions.delete(session)
        assert await saga.stores.state.scan(("view",)) == []
