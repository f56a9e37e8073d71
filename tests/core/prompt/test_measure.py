"""Measuring a plan: tokens and parts up to each block, and what identifies each prefix."""

from __future__ import annotations

from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from saga_core.messages import Block, Origin
from saga_core.prompt.caching import Measured, common_prefix, measure


def block(content: object, role: str = "user", **fields: object) -> Block:
    return Block(role, content, Origin.HISTORY, **fields)  # type: ignore[arg-type]


def test_each_message_costs_its_text_and_what_sets_it_apart() -> None:
    found = measure([block("가나다"), block(""), block("ab", lead="xyz")], len)
    assert found.tokens == (7, 11, 20) and found.total == 20
    assert found.parts == (1, 1, 2), "an empty text is no part"
    assert measure([], len) == Measured((), (), ()) and Measured((), (), ()).total == 0


def test_a_picture_costs_about_a_thousand() -> None:
    parts = ({"type": "text", "text": "look"}, {"type": "image_url", "image_url": {"url": "data:a"}})
    found = measure([block(parts)], len)
    assert (found.total, found.parts) == (1_008, (2,))


def test_all_that_is_sent_tells_a_prefix_from_another() -> None:
    one = block("a")
    others = [
        block("b"),
        evolve(one, role="system"),
        evolve(one, lead="x"),
        evolve(one, extra={"name": "Mina"}),
        block(({"type": "text", "text": "a"},)),
    ]
    links = {measure([each], len).chain[0] for each in (one, *others)}
    assert len(links) == 6
    assert measure([evolve(one, breakpoint="5m")], len).chain == measure([one], len).chain, "a mark is no text"
    same = [evolve(one, extra={"a": 1, "b": 2}), evolve(one, extra={"b": 2, "a": 1})]
    assert measure(same[:1], len).chain == measure(same[1:], len).chain


def test_what_stands_before_counts_at_every_later_position() -> None:
    one, other = (measure([block(first), block("b"), block("c")], len).chain for first in "xy")
    assert all(a != b for a, b in zip(one, other, strict=True))


@given(st.integers(0, 9), st.integers(0, 9), st.integers(0, 9))
def test_the_common_prefix_is_as_long_as_chains_are_equal(shared: int, one: int, other: int) -> None:
    base = [block(f"s{at}") for at in range(shared)]
    chains = [
        measure([*base, *(block(f"{name}{at}") for at in range(count))], len).chain
        for name, count in (("a", one), ("b", other))
    ]
    assert common_prefix(*chains) == shared
