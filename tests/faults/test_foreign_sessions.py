"""Session files that a stranger wrote: refused whole with what is wrong, or taken in and as good as any other.

The digest of a file can be computed by anybody, so it proves nothing. After each attack the server's lists, the other
session and a verification are as before.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from saga_core import Saga
from saga_core.errors import SagaError
from saga_core.journal import keys
from saga_core.maintenance import read_file
from saga_core.model import Tree, TurnKind, TurnNode
from saga_core.stores import Batch
from tests.core.frontend import Frontend, memory_config
from tests.patterns.padding import DEEP

Lines = list[dict[str, Any]]


def signed(lines: Lines | list[bytes]) -> bytes:
    """The file of those lines, with a digest that is right."""
    raw = [line if isinstance(line, bytes) else json.dumps(line, ensure_ascii=False).encode() for line in lines]
    body = b"".join(line + b"\n" for line in raw)
    end = {"end": len(raw), "sha256": hashlib.sha256(body).hexdigest()}
    return body + json.dumps(end).encode() + b"\n"


async def a_file(saga: Saga) -> Lines:
    chat = Frontend(saga)
    for number in range(6):
        turn = await chat.say(f"{number}. I walk on.", f"The road goes on, for the {number}. time today.", hp_change=-1)
    await saga.timelines.fork(turn.session.id, None, "dark")
    await saga.memory.correct(turn.session.id, "note", {"text": "it rains"})
    await saga.drain(20)
    raw = [line async for line in saga.maintenance.export_session(turn.session.id)]
    return [json.loads(line) for line in raw[:-1]]


def of(lines: Lines, kind: str, number: int = 0) -> dict[str, Any]:
    found: dict[str, Any] = [line for line in lines if kind in line][number]
    return found


def circle(lines: Lines) -> None:
    for number in (3, 4):
        line = of(lines, "turn", number)
        line["turn"]["jump"] = line["node"]["jump"] = of(lines, "turn", 7 - number)["turn"]["id"]


def everywhere(old: str, new: str) -> Callable[[Lines], None]:
    def change(lines: Lines) -> None:
        text = json.dumps(lines)
        lines[:] = json.loads(text.replace(json.dumps(of(lines, "session")["session"][old])[1:-1], new))

    return change


def beside(name: str, value: Any) -> Callable[[Lines], None]:
    def change(lines: Lines) -> None:
        turn = of(lines, "turn", 2)["turn"]["id"]
        key = [name, turn] if name == "bill" else [name, turn, "1"]
        lines.append({"beside": key, "value": value})

    return change


def put(kind: str, field: str, value: Any, number: int = 2) -> Callable[[Lines], None]:
    def change(lines: Lines) -> None:
        line = of(lines, kind, number if kind == "turn" else 0)
        line[kind][field] = value
        if kind == "turn" and field in ("at", "depth", "parent"):
            line["node"][field] = value

    return change


ATTACKS: dict[str, Callable[[Lines], None]] = {
    "id with NUL": everywhere("id", "s\\u0000x"),
    "id with a slash": everywhere("id", "../x"),
    "long id": everywhere("id", "s" * 300),
    "bill of nothing": beside("bill", {}),
    "bill that is a list": beside("bill", []),
    "bill of another turn": beside("bill", {"turn": "t0"}),
    "review of nothing": beside("review", {"curator": 1}),
    "review that is a text": beside("review", "x"),
    "correction that is no delta": beside("amend", {"events": [{"t": "nothing"}]}),
    "NaN as a time": put("turn", "at", float("nan")),
    "NaN in words": put("turn", "at", "nan"),
    "infinity": put("session", "created", float("inf")),
    "year 300000": put("turn", "at", 1e13),
    "a number that no store takes": put("turn", "delta", {"events": [{"t": "hp_changed", "who": "x", "by": 10**30}]}),
    "deep": put("turn", "delta", json.loads("[" * 300 + "]" * 300)),
    "an event of nothing": put("turn", "delta", {"events": [{"t": "moved"}]}),
    "label with a line break": put("session", "label", "a\nb"),
    "head elsewhere": put("session", "head", "t0"),
    "two roots": put("turn", "parent", None),
    "kind": put("turn", "kind", "root"),
}


@pytest.mark.parametrize("name", ATTACKS)
async def test_what_does_not_fit_is_refused_before_anything_is_written(name: str) -> None:
    async with Saga.open(memory_config()) as saga:
        lines = await a_file(saga)
        before = await everything(saga)
        ATTACKS[name](lines)
        with pytest.raises(SagaError, match=r"line|turn|root|head"):
            read_file(signed(lines))
        assert await everything(saga) == before


async def everything(saga: Saga) -> dict[Any, bytes]:
    found: dict[Any, bytes] = {}
    for name in ("session", "turn", "node", "world", "label", *keys.BESIDE):
        found.update(await saga.parts.stores.state.scan((name,), limit=10_000))
    return found


@pytest.mark.parametrize(
    "deep", [b'{"turn": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", b'{"a":' * 100_000], ids=["lists", "objects"]
)
def test_a_line_that_is_a_hundred_thousand_levels_deep(deep: bytes) -> None:
    start = {"saga": "session", "version": 1, "journal": 1}
    with pytest.raises(SagaError, match="line 2"):
        read_file(signed([json.dumps(start).encode(), deep]))


async def test_jumps_in_a_circle_are_put_right() -> None:
    async with Saga.open(memory_config()) as saga:
        lines = await a_file(saga)
        circle(lines)
        file = read_file(signed(lines))
        session = await saga.maintenance.import_session(file)
        async with asyncio.timeout(10):
            assert (await saga.describe(session.id))["hp"] == 94
            await saga.drain(10)
            assert not (await saga.maintenance.verify()).findings


def test_a_journal_with_jumps_in_a_circle_is_read_right() -> None:
    tree = Tree("s")
    tree.add(TurnNode("t0", None, 0, 0.0, TurnKind.ROOT))
    for depth in range(1, 40):
        tree.add(TurnNode(f"t{depth}", f"t{depth - 1}", depth, 0.0, TurnKind.NARRATION, jump=f"t{41 - depth}"))
    assert [tree.ancestor_at("t39", depth).id for depth in range(40)] == [f"t{depth}" for depth in range(40)]
    tree.add(TurnNode("t40", "t39", 7, 0.0, TurnKind.NARRATION))
    assert tree.get("t40").depth == 40 and tree.misplaced == ["t40"]


async def test_the_lists_of_sessions_outlive_a_malformed_bill_and_its_session_can_be_deleted() -> None:
    """Written past every check, as by another program."""
    async with Saga.open(memory_config()) as saga:
        one = await Frontend(saga).say("hi", "The road goes on, and it is a long one today.")
        other = await Frontend(saga, owner="k").say("ho", "The sea is wide, and nobody is on it today.")
        for name in ("bill", "review"):
            await saga.parts.stores.state.commit(Batch({(name, one.session.id, one.id, "9"): b'{"a": [}'}))
        assert set(await saga.sessions.costs()) <= {one.session.id, other.session.id}
        assert "its bill is left out" in saga.counters.degraded["journal.bills"]
        await saga.sessions.delete(one.session.id)
        assert [each.session.id for each in await saga.sessions.list()] == [other.session.id]


@settings(max_examples=2_000 if DEEP else 50, suppress_health_check=list(HealthCheck), deadline=None)
@given(data=st.data())
def test_fuzzed_files_are_refused_or_read(data: st.DataObject) -> None:
    """Any part of a file becomes something else: it is refused in words, or what is read can be recorded."""
    lines: Lines = json.loads(_FILE)
    line = data.draw(st.sampled_from(lines))
    holder, key = data.draw(st.sampled_from(list(_places(line))))
    holder[key] = data.draw(_ODD)
    if data.draw(st.booleans()):
        lines.insert(data.draw(st.integers(0, len(lines))), data.draw(st.sampled_from(lines)))
    try:
        raw = signed(lines)
    except UnicodeEncodeError:
        return
    try:
        file = read_file(raw)
    except SagaError as error:
        assert str(error)
        return
    tree = Tree(file.session.id)
    for _, node in file.turns:
        tree.add(node)
        assert tree.ancestor_at(node.id, 0).id == file.session.root


_ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**22), 10**22),
    st.floats(),
    st.text(max_size=20),
    st.sampled_from(["", "\0", "nan", "t0", "root", "../x", "x" * 300, [], {}, [[]], {"t": "moved"}, [{"t": "died"}]]),
)


def _places(value: Any) -> Any:
    if isinstance(value, dict):
        for key, each in value.items():
            yield value, key
            yield from _places(each)
    elif isinstance(value, list):
        for index, each in enumerate(value):
            yield value, index
            yield from _places(each)


def _made() -> str:
    async def make() -> str:
        async with Saga.open(memory_config()) as saga:
            return json.dumps(await a_file(saga))

    return asyncio.run(make())


_FILE = _made()
