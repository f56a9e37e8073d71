"""What a task is busy with: handed on to the tasks that it makes, and not back."""

from __future__ import annotations

import asyncio
import contextvars

from saga_core.counters import Subject, set_log_context, subject


def in_a_fresh_context(work: object) -> object:
    return contextvars.Context().run(work)  # type: ignore[arg-type]


def test_nothing_at_first_and_what_is_not_named_stays() -> None:
    def work() -> list[Subject]:
        found = [subject()]
        for named in ({"request": "r1"}, {"session": "s1"}, {"turn": "t1"}, {}):
            set_log_context(**named)
            found.append(subject())
        return found

    assert in_a_fresh_context(work) == [
        Subject(),
        Subject("r1"),
        Subject("r1", "s1"),
        Subject("r1", "s1", "t1"),
        Subject("r1", "s1", "t1"),
    ]


def test_another_session_has_no_turn_yet_and_another_request_has_neither() -> None:
    def work() -> tuple[Subject, Subject]:
        set_log_context(request="r1", session="s1", turn="t1")
        set_log_context(session="s2")
        first = subject()
        set_log_context(turn="t2")
        set_log_context(request="")
        return first, subject()

    assert in_a_fresh_context(work) == (Subject("r1", "s2"), Subject())


async def test_a_task_hands_it_on_and_keeps_its_own() -> None:
    set_log_context(request="r1", session="s1")

    async def below() -> Subject:
        before = subject()
        set_log_context(session="s2", turn="t2")
        return before

    assert await asyncio.create_task(below()) == Subject("r1", "s1") == subject()
