"""What the suite says of a beginner's mistakes: of the order, of the type, in what order, and how often."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conformance import Capability, CheckFailed, Harness, Status, Verdict, run
from conformance.assertions import same
from conformance.calls import answer, call
from conformance.case import Asked
from conformance.report import Outcome, report_on, summary
from saga_backends.md_cache.files import BACKEND
from saga_backends.memory import MemoryCache, MemoryState, MemoryVector
from saga_backends.state_kv.sqlite import BACKEND as SQLITE
from saga_core.errors import Closed, StoreCorrupt, StoreError
from saga_core.registry import OpenOptions
from saga_core.stores import Batch, Hit, Key, Node, Pages
from tests.conformance.harnesses import HARNESSES


def told(kind: str, store: Callable[[], Any], *only: str) -> str:
    async def opened(folder: Path) -> Any:
        return store()

    return summary(run(Harness("mine", kind, opened), profile="quick", only=only))


@pytest.mark.parametrize(
    ("found", "wanted", "message"),
    [
        ([1, 3, 2], [1, 2, 3], "it: the same 3 entries in another order; first at position 1: gave 3, expected 2"),
        ([Node("b", "L"), Node("a", "L")], [Node("a", "L"), Node("b", "L")], "the same 2 entries in another order"),
        (([7], {"a": [2, 1]}), ([7], {"a": [1, 2]}), "gave ([7], {'a': [2, 1]}), expected ([7], {'a': [1, 2]})"),
        (list(range(900)), list(range(901)), "gave 900 entries, expected 901; first at position 900: gave the end, "),
        ([*range(900), 7.0], [*range(900), 7], "at position 900: gave 7.0, expected 7"),
        ([["x" * 300], ["y" * 300, 2, 1]], [["x" * 300], ["y" * 300, 1, 2]], "at position 1: the same 3 entries"),
        ({"a": "x" * 900, "b": 1}, {"a": "x" * 900, "b": True}, "at position 1: gave 'b': 1, expected 'b': True"),
        (("a",), ["a"], "it: gave ('a',), expected ['a']"),
        (Hit("a", 1.0, "", {}), None, "it: gave hit('a', 1.0, '', {}), expected None"),
    ],
)
def test_a_difference_is_said_where_it_is(found: Any, wanted: Any, message: str) -> None:
    with pytest.raises(CheckFailed) as caught:
        same(found, wanted, "it")
    assert message in str(caught.value)
    assert len(str(caught.value)) < 900


class Sorted(MemoryState):
    async def scan(self, *args: Any, **options: Any) -> Any:
        return sorted(await super().scan(*args, **options), key=lambda entry: "/".join(entry[0]))


def test_of_a_lost_order_the_smallest_check_of_the_kind_comes_first() -> None:
    said = told("state", Sorted, "S-3", "S-4")
    first = said.splitlines()[2:4]
    assert first[0] == "fail: S-4.scan_in_order (S-4)"
    assert "entries in another order; first at position" in first[1]


class DictForPages(MemoryCache):
    async def read(self, scope: str) -> Any:
        found = await super().read(scope)
        return None if found is None else dict(found.files)


class Bytearrays(MemoryState):
    async def get(self, keys: Any) -> Any:
        return {key: bytearray(value) for key, value in (await super().get(keys)).items()}


class ListForHits(MemoryVector):
    async def query(self, *args: Any, **options: Any) -> Any:
        return tuple(await super().query(*args, **options))


@pytest.mark.parametrize(
    ("kind", "store", "only", "message"),
    [
        ("cache", DictForPages, ("C-1", "C-2"), "read returned a dict; it has to return Pages | None"),
        ("state", Bytearrays, ("S-1", "S-2"), "get returned a dict with a bytearray; it has to return dict["),
        ("vector", ListForHits, ("V-15", "V-16"), "query returned a tuple; it has to return list[Hit]"),
    ],
)
def test_of_a_wrong_type_the_method_and_the_wanted_type_are_named_once(
    kind: str, store: type, only: tuple[str, ...], message: str
) -> None:
    said = told(kind, store, *only)
    message = f"{store.__name__}.{message}"
    assert said.splitlines()[3].startswith(f"  | {message}")
    assert said.count(message) <= 2, "a story of several calls has it besides"
    assert "more with the same error: " in said
    assert "Traceback" not in said
    assert "runner.py" not in said


def test_an_error_that_names_another_path_each_time_is_said_once() -> None:
    def corrupt() -> Any:
        corrupt.number += 1  # type: ignore[attr-defined]
        raise StoreCorrupt(f"/tmp/a{corrupt.number}/state is no store of mine")  # type: ignore[attr-defined]

    corrupt.number = 0  # type: ignore[attr-defined]
    said = told("state", corrupt, "S-1", "S-4", "S-8", "L-1")
    assert said.count("fail: ") == 1
    assert " more with the same error: " in said


class Refuses(MemoryState):
    """It refuses what is not small."""

    async def commit(self, batch: Batch, **options: Any) -> None:
        if len(batch.puts) > 50:
            raise StoreError("no attribute 'get'")
        await super().commit(batch, **options)


def test_an_unexpected_error_is_told_with_its_message_and_its_place() -> None:
    refused = told("state", Refuses, "L-8.large_calls")
    assert "a large commit was refused: StoreError: no attribute 'get'" in refused
    alone = told("state", Refuses, "L-10.small_beside_large")
    assert "the first large write: gave StoreError: no attribute 'get', expected None" in alone
    several = told("state", Refuses, "S-16", "S-1")
    assert several.count("fail: ") == 1
    assert f'File "{__file__}", line' in several


def test_the_rule_that_is_broken_is_printed_and_not_that_of_the_check() -> None:
    assert "each call MUST. It returns what the protocol says." in told("cache", DictForPages, "C-1", "C-2")
    assert "C-1 MUST." not in told("cache", DictForPages, "C-1", "C-2")
    escapes = told("state", Escapes, "S-9")
    assert "  | L-7 MUST. Only errors from `saga_core.errors` are raised" in escapes


class Torn(MemoryVector):
    """It misses the nearest."""

    async def query(self, *args: Any, **options: Any) -> Any:
        return (await super().query(*args, **options))[1:]


def test_what_is_missed_is_said_in_words() -> None:
    said = told("vector", Torn, "V-28")
    assert " items gave " in said
    assert "items that are nearest; they have to give all of them" in said


class Swallows:
    """Pages whose errors the author catches: it acknowledges what no file holds."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    async def write(self, scope: str, pages: Pages) -> None:
        try:
            await self.inner.write(scope, pages)
        except Closed:
            raise
        except StoreError:
            pass


async def swallows(folder: Path) -> Any:
    return Swallows(await BACKEND.open(OpenOptions(path=folder / "pages")))


def test_a_store_that_acknowledges_what_no_disk_holds_is_not_conformant() -> None:
    harness = Harness("mine", "cache", swallows, provides={Capability.DURABLE})
    report = run(harness, profile="quick", only=["C-4.scopes_are_apart", "L-11.it_is_there_again"])
    assert report.verdict is Verdict.NONCONFORMANT
    assert "a write without space on the disk was acknowledged" in summary(report)
    honest = run(HARNESSES["cache-files"], profile="quick", only=["C-4.scopes_are_apart", "L-11.it_is_there_again"])
    assert not [each for each in honest.outcomes if each.status is Status.FAIL]


class LosesTheLast:
    """A journal that has lost its last key when this process opens what another one wrote."""

    def __init__(self, inner: Any, lost: Key) -> None:
        self.inner, self.lost = inner, lost

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    async def scan(self, *args: Any, **options: Any) -> Any:
        return [entry for entry in await self.inner.scan(*args, **options) if entry[0] != self.lost]


async def loses(folder: Path) -> Any:
    there = (folder / "store").exists()
    store = await SQLITE.open(OpenOptions(path=folder / "store"))
    return LosesTheLast(store, (await store.scan(()))[-1][0]) if there else store


def test_what_a_full_disk_cost_is_named() -> None:
    harness = Harness("mine", "state", loses, provides={Capability.DURABLE})
    said = summary(run(harness, profile="quick", only=["S-19.no_room_for_the_journal"]))
    assert "after reopening, reads differ: " in said
    assert "gave the end, expected (" in said


def test_a_conformant_store_that_breaks_a_should_is_called_so() -> None:
    outcomes = [
        Outcome("C-1.x", ("C-1",), Status.PASS),
        Outcome("L-23.no_room", ("L-23",), Status.FAIL, "no room", extended=True, must=False),
    ]
    report = report_on(HARNESSES["cache-files"], outcomes, profile="quick", seed=1)
    assert summary(report).splitlines()[0] == "cache-files (cache): conformant, but breaks a SHOULD: L-23"


class Escapes(MemoryState):
    async def commit(self, *args: Any, **options: Any) -> None:
        raise OSError(27, "File too large")


async def test_what_escapes_is_not_behind_all_keys_of_a_call() -> None:
    made = call("commit", Batch({("many", f"{n:03}"): b"7" for n in range(250)}))
    with pytest.raises(CheckFailed, match=r"… \(\d+ characters\)\) let OSError escape: \[Errno 27\]") as caught:
        await answer(Escapes(), made)
    assert len(str(caught.value)) < 800


def test_a_store_that_opened_where_it_had_to_refuse_is_said_in_words() -> None:
    assert repr(Asked(MemoryState(), 0)) == "an open MemoryState"
