"""A key-value view of more values than are read at once."""

from __future__ import annotations

from saga_core.engine.projector import scope_of
from saga_core.engine.saga import Saga
from saga_core.journal import keys
from saga_core.stores.state_kv import Batch
from tests.core.engine.play import Frontend


async def test_it_goes_as_a_whole() -> None:
    async with Saga.open({"storage": {"profile": "memory"}}) as saga:
        chat = Frontend(saga)
        session = (await chat.say("간다.", "길이 열린다.")).session.id
        await saga.drain(10)
        scope = scope_of(session, 0)
        stale = {keys.view(scope, f"값 {number}"): b"1" for number in range(2_500)}
        await saga.stores.state.commit(Batch(stale))
        assert len(await saga.verify(session)) == 1
        await chat.say("더 간다.", "숲이 보인다.")
        await saga.drain(10)
        assert await saga.verify(session) == []
        await saga.stores.state.commit(Batch(stale))
        await saga.delete(session)
        assert await saga.stores.state.scan(("view",)) == []
