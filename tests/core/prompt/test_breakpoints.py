from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saga_backends.chat.openai import chat_outgoing
from saga_core.messages import Block, Origin, PromptPlan
from saga_core.ports import ChatRequest
from saga_core.prompt.caching import (
    CacheBook,
    Measured,
    SessionPrompts,
    chance_between,
    common_prefix,
    measure,
    place_breakpoints,
)
from saga_core.upstream.facts import SECONDS, ModelFacts, facts_of
from saga_core.upstream.parameters import ParameterRules

HAIKU = facts_of("claude-haiku-4-5", "anthropic")
GPT = facts_of("gpt-5.6-terra", "openai")
ROLES = {True: "assistant", False: "user"}


def prompt(*sizes: int, seed: int = 0) -> Measured:
    """A prompt with blocks of so many tokens."""
    chain = []
    for at, size in enumerate(sizes):
        chain.append(hash((seed, chain[-1] if chain else 0, at, size)))
    tokens = tuple(sum(sizes[: at + 1]) for at in range(len(sizes)))
    return Measured(tuple(chain), tokens, tuple(range(1, len(sizes) + 1)))


def place(measured: Measured, facts: ModelFacts = HAIKU, book: CacheBook | None = None, **given: Any) -> dict[int, str]:
    options = {"moments": [1000.0], "end": len(measured.tokens) - 1, "fixed": 0, **given}
    return {**place_breakpoints(measured, facts, book or CacheBook(), **options)}


def test_none_below_the_minimum() -> None:
    assert place(prompt(1000, 3000)) == {}
    assert place(prompt(1000, 3000, 96)) == {2: "5m"}
    assert place(prompt(1000, 3000), scale=1.1) == {1: "5m"}
    assert place(prompt(5000, 100)) == {0: "5m", 1: "5m"}


@pytest.mark.parametrize("facts", [facts_of("gpt-5.1", "openai"), facts_of("x", "local"), facts_of("", "anthropic")])
def test_none_where_nothing_may_be_marked(facts: ModelFacts) -> None:
    assert place(prompt(90_000, 90_000), facts) == {}


def test_an_entry_out_of_sight_is_marked() -> None:
    book = CacheBook()
    first = prompt(5000, *[100] * 10)
    book.send(first, {10: "5m"}, HAIKU, 1000.0)
    later = prompt(5000, *[100] * 50)
    assert 10 in place(later, book=book, moments=[1000.0, 1010.0])
    marks = place(later, book=book, moments=[1000.0, 1010.0])
    outlook = book.send(later, dict.fromkeys(marks, "5m"), HAIKU, 1010.0)
    assert outlook.read == 6000


def test_a_dead_entry_is_not() -> None:
    book = CacheBook()
    book.send(prompt(5000, *[100] * 10), {10: "5m"}, HAIKU, 1000.0)
    assert 10 not in place(prompt(5000, *[100] * 50), book=book, moments=[1000.0, 1400.0])


def test_gpt_finds_entries_at_marks_only() -> None:
    book = CacheBook()
    book.send(prompt(5000, 100, 100), {2: "30m"}, GPT, 1000.0)
    marks = place(prompt(5000, 100, 100, 50, 60), GPT, book, moments=[1000.0, 1020.0])
    assert {2, 4} <= set(marks) and set(marks.values()) == {"30m"}


def test_a_player_who_pauses_gets_an_hour() -> None:
    slow = [1000.0 + 360 * turn for turn in range(6)]
    assert place(prompt(5000, 5000), moments=slow) == {0: "1h", 1: "1h"}
    quick = [1000.0 + 20 * turn for turn in range(6)]
    assert place(prompt(5000, 5000), moments=quick) == {0: "5m", 1: "5m"}


def test_one_pause_is_told_from_a_habit() -> None:
    assert chance_between([0.0], 300, 3600) == pytest.approx(0.1)
    assert chance_between([0, 20, 40, 60, 80, 100], 300, 3600) < 0.05
    assert chance_between([0, 360], 300, 3600) > 0.65
    assert chance_between([0, 360, 30_000], 300, 3600) == chance_between([0, 360], 300, 3600)


@st.composite
def histories(draw: st.DrawFn) -> tuple[list[int], list[float], int]:
    sizes = draw(st.lists(st.integers(20, 3000), min_size=2, max_size=80))
    gaps = draw(st.lists(st.sampled_from([5.0, 20.0, 120.0, 360.0, 1800.0, 9000.0]), min_size=1, max_size=20))
    return sizes, gaps, draw(st.integers(0, 3))


@given(histories(), st.sampled_from([HAIKU, GPT, facts_of("claude-sonnet-5-5", "anthropic")]))
def test_what_a_provider_accepts(history: tuple[list[int], list[float], int], facts: ModelFacts) -> None:
    """At most four, in places that exist and reach the minimum, no shorter lifetime before a longer one."""
    sizes, gaps, fixed = history
    book, moments, now = CacheBook(), list[float](), 0.0
    for turn, gap in enumerate(gaps):
        now += gap
        moments.append(now)
        length = max(2, len(sizes) * (turn + 1) // len(gaps))
        measured = prompt(*sizes[:length])
        marks = place_breakpoints(measured, facts, book, moments, end=length - 1, fixed=min(fixed, length - 1))
        assert len(marks) <= facts.breakpoints
        assert list(marks) == sorted(marks)
        assert all(0 <= at < length and measured.tokens[at] >= facts.cache_minimum for at in marks)
        lives = [SECONDS[ttl] for ttl in marks.values()]
        assert lives == sorted(lives, reverse=True)
        assert set(marks.values()) <= set(facts.writes)
        book.send(measured, marks, facts, now)


@given(st.lists(st.integers(0, 2), max_size=12), st.lists(st.integers(0, 2), max_size=12))
def test_chains_agree_as_far_as_blocks_do(one: list[int], other: list[int]) -> None:
    blocks = [[Block("user", str(n), Origin.HISTORY) for n in each] for each in (one, other)]
    chains = [measure(each, len).chain for each in blocks]
    same = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    assert common_prefix(*chains) == same


def test_gpt_marks_stand_behind_what_is_given_to_the_model() -> None:
    said = [at % 2 == 0 for at in range(12)]
    for facts, end in ((GPT, 9), (HAIKU, 10)):
        marks = place(prompt(5000, *[100] * 11), facts, end=10, carries=lambda at, f=facts: f.can_mark(ROLES[said[at]]))
        assert max(marks) == end


def test_what_the_planner_marks_is_what_is_sent() -> None:
    """The renderer moves no breakpoint: the book then knows where entries really end."""
    talk = [("user", "What now? " * 30), ("assistant", "The rain stops. " * 60)] * 6
    blocks = [
        Block("system", "Narrate. " * 900, Origin.CLIENT),
        *(Block(role, text, Origin.HISTORY) for role, text in talk),
        Block("assistant", "", Origin.HISTORY),
        Block("user", "On.", Origin.WORDS, lead="It is night."),
    ]
    prompts = SessionPrompts()
    prompts.record_request(1_000.0)
    planned = prompts.mark(PromptPlan(tuple(blocks)), GPT, "gpt-5.6-terra", len)
    marked = [at for at, block in enumerate(planned.plan.blocks) if block.breakpoint]
    assert marked and planned.plan.blocks[marked[-1]].role == "user" and marked[-1] == 11
    request = ChatRequest(planned.plan, "gpt-5.6-terra")
    body = chat_outgoing(request, "openai", ParameterRules(), GPT, streaming=False).body
    sent = [at for at, message in enumerate(body["messages"]) if "prompt_cache_breakpoint" in str(message["content"])]
    assert sent == marked
