"""Sources that need others: run behind them, beside the rest, and told when what they need did not come."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from itertools import pairwise
from typing import Any

import pytest
from attrs import field, frozen
from hypothesis import given
from hypothesis import strategies as st

from saga_core.context import ContextReader, ContextSource, Given, Piece, Scene, Section, TurnContext
from saga_core.context.reader import PATIENCE, order_of
from saga_core.context.source import NOTHING_GIVEN
from saga_core.errors import BadInput
from tests.core.context.reading_stage import Never, WordCounter, ask


async def at_once() -> None:
    """What a source does that has nothing to wait for."""


@frozen
class Source:
    """A source that does something, and then says what it was given."""

    name: str
    needs: Sequence[str] = ()
    act: Callable[[], Awaitable[Any]] = at_once
    log: list[str] = field(factory=list)

    async def gather(self, scene: Scene, given: Given = NOTHING_GIVEN) -> Sequence[Piece]:
        self.log.append(f"{self.name} begins")
        await self.act()
        self.log.append(f"{self.name} ends")
        told = [f"{name}: {[piece.text for piece in pieces]}" for name, pieces in sorted(given.pieces.items())]
        text = "; ".join([self.name, *told, *(f"no {name}" for name in sorted(given.missing))])
        return [Piece(self.name, self.name, Section.EVENTS, text, 1.0)]


async def read(*sources: ContextSource, deadline_ms: float = 60_000.0) -> tuple[TurnContext, ContextReader]:
    reader = ContextReader(sources, WordCounter(), deadline_ms=deadline_ms)
    try:
        return await reader.read(ask()), reader
    finally:
        await reader.aclose()


async def test_a_source_is_given_what_it_needs_and_nothing_else() -> None:
    found, _ = await read(Source("tea", ["water", "leaf"]), Source("water"), Source("leaf"), Source("milk"))
    texts = {piece.source: piece.text for piece in found.pieces}
    assert texts["tea"] == "tea; leaf: ['leaf']; water: ['water']"
    assert texts["milk"] == "milk" and found.late == ()


async def test_each_begins_as_soon_as_what_it_needs_is_done() -> None:
    log: list[str] = []
    slow, quick = asyncio.Event(), asyncio.Event()

    async def until_the_quick_chain_is_through() -> None:
        await slow.wait()

    async def end_the_slow_one() -> None:
        slow.set()

    sources = (
        Source("slow", (), until_the_quick_chain_is_through, log),
        Source("after slow", ("slow",), quick.wait, log),
        Source("a", (), at_once, log),
        Source("b", ("a",), at_once, log),
        Source("c", ("b",), end_the_slow_one, log),
        Source("d", ("after slow",), at_once, log),
        Source("beside", ("slow", "c"), lambda: _set(quick), log),
    )
    found, _ = await read(*sources)
    # c could only let the slow one go on because it did not wait for it; "beside" waited for both.
    assert log.index("c ends") < log.index("slow ends") < log.index("beside begins") < log.index("after slow ends")
    assert log.index("after slow ends") < log.index("d begins")
    assert found.late == () and len(found.pieces) == 7


async def _set(event: asyncio.Event) -> None:
    event.set()


@pytest.mark.parametrize("stubborn", [False, True])
async def test_who_needs_a_late_one_is_told_in_time(stubborn: bool, caplog: pytest.LogCaptureFixture) -> None:
    never = Never(stubborn=stubborn)

    async def hang() -> None:
        await never.query([], [], 1)

    with caplog.at_level(logging.WARNING, "saga.context"):
        reader = ContextReader(
            (Source("second", ("first",)), Source("first", (), hang), Source("third", ("second",))),
            WordCounter(),
            deadline_ms=200.0,
        )
        found = await reader.read(ask())
    assert found.late == ("first",) and reader.misses == {"first": 1}
    texts = {piece.source: piece.text for piece in found.pieces}
    assert texts["second"] == "second; first: []; no first"
    assert texts["third"] == f"third; second: [{texts['second']!r}]"
    assert caplog.text.count("first left out: not done within the deadline") == 1
    never.release.set()
    await reader.aclose()


async def test_who_needs_a_broken_one_is_told_why_it_is_alone() -> None:
    async def fail() -> None:
        raise ZeroDivisionError("a bug in a source")

    async def give_up() -> None:
        raise asyncio.CancelledError

    found, reader = await read(Source("a", (), fail), Source("b", (), give_up), Source("c", ("a", "b")))
    assert [piece.text for piece in found.pieces] == ["c; a: []; b: []; no a; no b"]
    assert found.late == ("a", "b") and reader.misses == {"a": 1, "b": 1}


async def test_what_came_too_late_for_who_needs_it_stays_out_of_the_prompt_too() -> None:
    let = asyncio.Event()

    async def hang() -> None:
        try:
            await let.wait()
        except asyncio.CancelledError:
            await let.wait()  # it does not end when told to, and comes in the end

    found, _ = await read(Source("late", (), hang), Source("next", ("late",), lambda: _set(let)), deadline_ms=100.0)
    assert [piece.text for piece in found.pieces] == ["next; late: []; no late"]
    assert found.late == ("late",)


def test_a_need_that_is_not_there_is_refused_at_once() -> None:
    with pytest.raises(BadInput, match=r"sources: 'tea' needs 'water', which is not there; there are: leaf"):
        ContextReader((Source("tea", ("water",)), Source("leaf")), WordCounter())
    with pytest.raises(BadInput, match=r"there are: no others"):
        order_of([Source("tea", ("water",))])


@pytest.mark.parametrize(
    ("needs", "ring"),
    [
        ({"a": ("a",)}, r"'a' needs 'a'"),
        ({"a": ("b",), "b": ("a",)}, r"'[ab]' needs '[ab]' needs '[ab]'"),
        ({"a": ("b",), "b": ("c", "x"), "c": ("a",), "x": ()}, r"'[abc]' needs '[abc]' needs '[abc]' needs '[abc]'"),
    ],
)
def test_a_circle_is_refused_at_once(needs: dict[str, tuple[str, ...]], ring: str) -> None:
    with pytest.raises(BadInput, match=rf"sources: {ring}, so that none can be the first") as refused:
        order_of([Source(name, wanted) for name, wanted in needs.items()])
    told = str(refused.value).removeprefix("sources: ").split(",")[0].replace("'", "").split(" needs ")
    assert all(need in needs[name] for name, need in pairwise(told)), "the ring is told as it is"


def test_two_of_one_name_are_refused() -> None:
    with pytest.raises(BadInput, match=r"sources: 2 are named 'a'; give each its own name"):
        order_of([Source("a"), Source("a")])


@given(st.data())
def test_who_is_needed_ends_earlier_and_never_before_the_stores_had_their_time(data: st.DataObject) -> None:
    size = data.draw(st.integers(1, 8))
    needs = {f"s{at}": [f"s{below}" for below in range(at) if data.draw(st.booleans())] for at in range(size)}
    order = order_of([Source(name, wanted) for name, wanted in data.draw(st.permutations(sorted(needs.items())))])
    assert {source.name for source in order.sources} == needs.keys() == order.until.keys()
    for name, wanted in needs.items():
        assert PATIENCE < order.until[name] <= 1
        assert all(order.until[need] < order.until[name] for need in wanted)
        if not any(name in each for each in needs.values()):
            assert order.until[name] == 1
