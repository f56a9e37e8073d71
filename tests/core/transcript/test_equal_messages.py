"""Histories of thousands of equal messages: twice as many of them cost twice as much, whatever is known of them."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from saga_backends.memory import MemoryState
from saga_core.journal import Journal
from saga_core.messages import Block, Origin
from saga_core.model.tree import TurnKind, TurnNode
from saga_core.prompt.prefix import _start
from saga_core.transcript import Match, read_transcript
from saga_core.transcript.evidence import edited
from saga_core.transcript.matching import Matcher
from tests.core.transcript.known import EN, Shelf, told

SWIPES = 24
MANY = 160


async def asked(shelf: Shelf, *texts: str) -> tuple[Match, int]:
    """What is found, and how many functions that takes."""
    calls = 0

    def count(_frame: Any, event: str, _given: Any) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    matcher, transcript = shelf.matcher, read_transcript(told(*texts, "on"))
    await matcher.match(transcript, owner="")  # from now on the session is at hand, and the texts are known
    sys.setprofile(count)
    try:
        return await matcher.match(transcript, owner=""), calls
    finally:
        sys.setprofile(None)


async def swiped(reply: str) -> Shelf:
    """The same reply to the same words, again and again."""
    shelf = Shelf()
    root = await shelf.begin()
    for _ in range(SWIPES):
        await shelf.tell(root, "x", reply)
    return shelf


async def repeated(words: str, reply: str) -> Shelf:
    """The same reply to the same words, one after the other."""
    shelf = Shelf()
    await shelf.story(*[words, reply] * SWIPES)
    return shelf


@pytest.mark.parametrize(
    ("known", "said", "most"),
    [
        (lambda: swiped("Yes."), ("x", "Yes."), 80_000),
        (lambda: swiped(EN[0]), ("a", EN[0]), 80_000),
        (lambda: repeated("go", "Yes."), ("go", "Yes."), 80_000),
        (lambda: repeated("go", EN[0]), ("go", EN[0]), 80_000),
        (
            lambda: repeated("I go on through the long grass.", EN[0]),
            ("I go on through the long grass.", "한국말"),
            40_000,
        ),
    ],
    ids=["short swipes", "swipes", "a short path", "a path", "changed replies"],
)
async def test_a_place_is_found_in_a_time_that_grows_with_the_history(
    known: Any, said: tuple[str, str], most: int
) -> None:
    shelf = await known()
    _, once = await asked(shelf, *said * MANY)
    found, twice = await asked(shelf, *said * (2 * MANY))
    assert found.session == "s1"
    assert twice < 2.2 * once, f"{once} calls, {twice} of the double"
    assert twice < most


@pytest.mark.parametrize("reply", ["Yes.", EN[0]], ids=["short", "long"])
async def test_of_many_equal_swipes_few_are_compared(reply: str, monkeypatch: pytest.MonkeyPatch) -> None:
    shelf = await swiped(reply)
    counted: Counter[str] = Counter()

    def count(name: str, inner: Callable[..., Any]) -> None:
        def call(*given: Any, **more: Any) -> Any:
            counted[name] += 1
            return inner(*given, **more)

        monkeypatch.setattr(Journal, name, call)

    count("replies", Journal.replies)
    count("turns_at", Journal.turns_at)
    matcher = shelf.matcher
    await matcher.match(read_transcript(told(*("a", reply) * 6, "on")), owner="")
    assert matcher.examined <= 2 * SWIPES
    assert counted["replies"] <= 2 and counted["turns_at"] <= 2, counted


async def test_the_same_short_replies_in_many_chats_cost_few_calls_of_the_store(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shelf, read = Shelf(), 0
    for number in range(7):
        last = (await shelf.story("x", "You come to the mill at the river.", session=f"s{number}"))[-1]
        for _ in range(6):
            await shelf.tell(last, "x", EN[0])
    await shelf.story("x", EN[1], session="s7")  # what stands above in the request is known of another chat
    transcript = read_transcript(told("x", EN[1], "x", EN[0], "on"))
    inner = MemoryState.get

    async def get(store: MemoryState, keys: Any) -> Any:
        nonlocal read
        read += 1
        return await inner(store, keys)

    monkeypatch.setattr(MemoryState, "get", get)
    trees = {name: await shelf.tree(name) for name in shelf.sessions}

    async def tree(session: str) -> Any:
        return trees[session]

    matcher, read = Matcher(shelf.journal, tree), 0
    await matcher.match(transcript, owner="")
    assert read <= 8, f"{read} calls"


class Counted(str):
    """A key that counts with how many others it is compared."""

    compared = 0

    def __eq__(self, other: object) -> bool:
        Counted.compared += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


def test_edited_replies_are_told_without_comparing_each_with_each() -> None:
    path = [TurnNode(f"t{n}", "r", n, 0.0, TurnKind.NARRATION, user_key=Counted(f"k{n}")) for n in range(400)]
    words = [Counted("k7")] + [Counted(f"other {n}") for n in range(300)]
    Counted.compared = 0
    assert list(edited(path, [], words)) == [(7, 0)]
    assert Counted.compared < 10_000


class Size(int):
    """A count of tokens that counts how often it is added."""

    added = 0

    def __add__(self, other: int) -> Size:
        Size.added += 1
        return Size(int(self) + int(other))

    __radd__ = __add__


def test_where_a_long_history_is_cut_is_told_in_one_pass() -> None:
    blocks = [Block(("user", "assistant")[n % 2], "on", Origin.CLIENT) for n in range(1_000)]
    Size.added = 0
    at = _start(blocks, [Size(3)] * 1_000, 0, 600, 900, 500, 0)
    assert sum([3] * (1_000 - at)) <= 600 < sum([3] * (1_002 - at))
    assert Size.added < 3_000
