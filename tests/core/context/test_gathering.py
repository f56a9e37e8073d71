"""Sources that need no task: what they wait for is there already."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from saga_core.context import ContextReader, Piece, Scene, Section, TurnContext
from saga_core.context.source import NOTHING_GIVEN, Given
from saga_core.context.sources import _animals
from saga_core.model import WorldState
from tests.core.context.reading_stage import WordCounter, ask


class Readies:
    """A source that says that it is ready, and waits for ``pauses`` turns of the loop all the same."""

    needs: tuple[str, ...] = ()

    def __init__(self, *, pauses: int = 0, error: Exception | None = None) -> None:
        self.name = "readies"
        self.pauses = pauses
        self.error = error
        self.tasks: list[Any] = []
        """The task that ran it, each time."""

    def ready(self, scene: Scene) -> bool:
        return True

    async def gather(self, scene: Scene, given: Given = NOTHING_GIVEN) -> Sequence[Piece]:
        self.tasks.append(asyncio.current_task())
        for _ in range(self.pauses):
            await asyncio.sleep(0)
        if self.error is not None:
            raise self.error
        return [Piece(self.name, "there", Section.EVENTS, "It was there.", 1.0)]


class Needs:
    """A source that wants to see what the other one said."""

    name = "needs"
    needs: tuple[str, ...] = ("readies",)

    async def gather(self, scene: Scene, given: Given = NOTHING_GIVEN) -> Sequence[Piece]:
        said = [piece.text for piece in given.pieces["readies"]]
        missing = sorted(given.missing)
        return [Piece(self.name, "seen", Section.EVENTS, f"Seen: {said} {missing}", 0.5)]


async def _read(*sources: Any) -> TurnContext:
    return await ContextReader(sources, WordCounter()).read(ask("I look at the key."))


async def test_a_source_that_is_ready_runs_without_a_task() -> None:
    source = Readies()
    context = await _read(source)
    assert [piece.text for piece in context.pieces] == ["It was there."]
    assert source.tasks == [asyncio.current_task()]


async def test_one_that_waits_after_all_runs_again_in_a_task() -> None:
    source = Readies(pauses=3)
    context = await _read(source)
    assert [piece.text for piece in context.pieces] == ["It was there."]
    assert context.late == ()
    first, second = source.tasks
    assert first is asyncio.current_task()
    assert second is not first


async def test_one_that_fails_is_left_out_and_told() -> None:
    context = await _read(Readies(error=ZeroDivisionError("a bug")))
    assert context.pieces == ()
    assert context.late == ("readies",)


async def test_who_needs_it_sees_what_it_said_or_that_it_failed() -> None:
    for source, said, missing in (
        (Readies(), ["It was there."], []),
        (Readies(pauses=1), ["It was there."], []),
        (Readies(error=ZeroDivisionError("a bug")), [], ["readies"]),
    ):
        context = await _read(source, Needs())
        assert f"Seen: {said} {missing}" in [piece.text for piece in context.pieces]


async def test_one_whose_readiness_fails_is_left_out_and_told() -> None:
    class Fails(Readies):
        def ready(self, scene: Scene) -> bool:
            raise ZeroDivisionError("a bug")

    context = await _read(Fails())
    assert context.late == ("readies",)


async def test_one_that_needs_another_runs_after_it() -> None:
    class Follows(Readies):
        needs = ("needs",)

        def __init__(self) -> None:
            super().__init__()
            self.name = "follows"

    source = Follows()
    context = await _read(source, Needs(), Readies())
    assert [piece.text for piece in context.pieces][:1] == ["It was there."]
    assert context.late == () and source.tasks != [asyncio.current_task()]


def test_whoever_became_another_person_is_no_animal() -> None:
    """An audience may still name who was merged."""
    assert _animals(WorldState(), {"gone"}, [(1, "Pickle, a cat, purrs.", "")]) == frozenset()
