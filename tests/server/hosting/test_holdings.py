"""Sessions and bytes of owners, counted over a real journal."""

from __future__ import annotations

import asyncio

from saga_core import Saga
from saga_server.hosting.holdings import Holdings
from tests.core.frontend import Frontend
from tests.server.hosting.parts import Hands

ONE, OTHER = "1" * 16, "2" * 16


async def test_bytes_are_those_of_ones_own_sessions_and_go_with_them() -> None:
    async with Saga.open({"storage": {"profile": "memory"}}) as saga:
        clock = Hands()
        holdings = Holdings(journal=saga.parts.journal, clock=clock)
        assert await holdings.bytes(ONE) == 0, "it is not known yet, and nobody waits for it"
        await holdings.settled()
        for owner, length in ((ONE, 1), (OTHER, 200)):
            await Frontend(saga, session="tale", owner=owner).say("I go. " * length, "The road is long. " * length)
        await saga.drain(10)
        clock.passed = 61.0
        await holdings.bytes(ONE)
        await holdings.bytes(OTHER)
        await holdings.settled()
        one, other = await holdings.bytes(ONE), await holdings.bytes(OTHER)
        assert 0 < one < other
        assert other - one >= 199 * len("I go. The road is long. ")
        (hers,) = await saga.sessions.list(owner=ONE)
        await saga.sessions.delete(hers.session.id)
        assert await holdings.bytes(ONE) == one, "it is young"
        clock.passed += 3.0
        assert await holdings.bytes(ONE, fresh=True) == 0


async def test_a_session_without_a_new_turn_is_not_read_again() -> None:
    async with Saga.open({"storage": {"profile": "memory"}}) as saga:
        clock = Hands()
        journal = saga.parts.journal
        holdings = Holdings(journal=journal, clock=clock)
        for name in ("a", "b", "c"):
            await Frontend(saga, session=name, owner=ONE).say("I go.", "The road is long.")
        await saga.drain(10)
        await holdings.bytes(ONE, fresh=True)
        read: list[str] = []
        size = Holdings._size

        async def noted(self: Holdings, session: object) -> int:
            read.append(getattr(session, "label", ""))
            return await size(self, session)  # type: ignore[arg-type]

        Holdings._size = noted  # type: ignore[method-assign]
        try:
            await Frontend(saga, session="b", owner=ONE).say("I go on.", "It bends.")
            clock.passed = 61.0
            await holdings.bytes(ONE)
            await holdings.settled()
        finally:
            Holdings._size = size  # type: ignore[method-assign]
        assert read == ["b"]


async def test_sessions_that_begin_count_at_once() -> None:
    async with Saga.open({"storage": {"profile": "memory"}}) as saga:
        clock = Hands()
        holdings = Holdings(journal=saga.parts.journal, clock=clock)
        await saga.sessions.create(label="a", owner=ONE)
        assert await holdings.sessions(ONE) == 1
        holdings.begun(ONE)
        await saga.sessions.create(label="b", owner=ONE)
        assert (await holdings.sessions(ONE), await holdings.sessions(OTHER)) == (2, 0)
        clock.passed = 3.0
        assert await holdings.sessions(ONE, fresh=True) == 2
        await asyncio.gather(*(saga.sessions.create(label=name, owner=ONE) for name in "cd"))
        clock.passed = 64.0
        await holdings.sessions(ONE)
        await holdings.settled()
        assert await holdings.sessions(ONE) == 4
