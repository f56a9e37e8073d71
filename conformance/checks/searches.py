"""Long random runs that compare a store with an oracle, and the same reads after every write."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from random import Random
from time import perf_counter
from typing import Any

from hypothesis import HealthCheck, Phase, Verbosity, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import Flaky
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

from conformance.assertions import CheckFailed, difference, typed
from conformance.calls import StoreCall, answer, call, snapshot
from conformance.case import Case
from conformance.check import check_each
from conformance.inputs import pages
from conformance.oracles import MODELS, Model, expected
from conformance.strategies import EXPAND, STRATEGIES
from saga_core.capabilities import Capability
from saga_core.stores import Batch, Compare, Edge, EdgeKey, Exists, Mutation, Node, ScopeSpec, VectorItem, Within

REOPEN = StoreCall("close and open again")
LOOK = StoreCall("look at everything")

_SECONDS = 10.0
"""The seconds that may be spent on shortening a story."""


class Disagreement(CheckFailed):
    """Store and oracle disagree. ``story`` has the calls that led to it."""

    def __init__(self, story: Sequence[StoreCall], what: str, clauses: tuple[str, ...]) -> None:
        self.story = tuple(story)
        about = f" ({', '.join(clauses)})" if clauses else ""
        super().__init__("\n".join([*map(str, story), f"{what}{about}"]), clause=" ".join(clauses))


class DifferentialRun:
    """One run of store and oracle, in its own directory."""

    def __init__(self, case: Case, folder: str) -> None:
        self.case = case
        self.folder = folder
        self.strategy = STRATEGIES[case.harness.kind]
        self.model = MODELS[case.harness.kind]()
        self.story: list[StoreCall] = []
        self.store: Any = case.run(case.open(folder))

    def step(self, made: StoreCall) -> None:
        """Make the call on the store and on the oracle. Raises ``Disagreement`` if they differ."""
        self.story.append(made)
        if made == REOPEN:
            self.store = self.case.run(self.case.reopen(self.store, self.folder))
        if made in (REOPEN, LOOK):
            self._compare()
            return
        wanted = expected(self.model, made)
        found = self.case.run(answer(self.store, made))
        if typed(found) != typed(wanted):
            what = difference(typed(found), typed(wanted))
            raise Disagreement(self.story, what, self.strategy.about.get(made.method, ()))

    def _compare(self) -> None:
        found, wanted = typed(self.case.run(snapshot(self.store))), typed(self.model.snapshot())
        if found != wanted:
            raise Disagreement(self.story, f"and the contents of the store: {difference(found, wanted)}", ())

    def end(self) -> None:
        """Close the store and remove its directory."""
        self.case.run(self.case.close())
        shutil.rmtree(self.case.place(self.folder), ignore_errors=True)


def shortest(case: Case, failed: Disagreement) -> Disagreement:
    """Leave out every call that the failure does not need, as far as the time allows."""
    start, number = perf_counter(), 0
    at = 0
    while at < len(failed.story) - 1 and perf_counter() - start < _SECONDS:
        number += 1
        found = _told(case, f"shorter-{number}", (*failed.story[:at], *failed.story[at + 1 :]))
        if found is None:
            at += 1
        else:
            failed = found
    return failed


def _told(case: Case, folder: str, story: Sequence[StoreCall]) -> Disagreement | None:
    """Repeat the story and return its disagreement, or None if there is none."""
    run = DifferentialRun(case, folder)
    try:
        for made in story:
            run.step(made)
    except Disagreement as found:
        return found
    except CheckFailed:
        return None  # the shorter story fails in another way
    finally:
        run.end()
    return None


_BURST = 4


class StoreMachine(RuleBasedStateMachine):
    """One random run of a store. Subclasses set ``case``."""

    case: Case
    runs: int = 0

    def __init__(self) -> None:
        super().__init__()
        type(self).runs += 1
        self.run = DifferentialRun(self.case, f"run-{self.runs}")
        self.strategy = self.run.strategy
        self.random = Random(0)

    @initialize(number=st.integers(0, 2**64 - 1))
    def begin(self, number: int) -> None:
        """Draw one seed for the whole run. Values drawn one by one by hypothesis would be small and alike."""
        self.random = Random(number)

    @rule()
    def calls(self) -> None:
        """Make a few calls of any kind."""
        for _ in range(_BURST):
            self.run.step(self.strategy.any(self.random, self.run.model))

    @rule()
    def writes(self) -> None:
        """Make a few writes, and repeat the last one."""
        for _ in range(_BURST):
            made = self.strategy.write(self.random, self.run.model)
            self.run.step(made)
        self.run.step(made)

    @rule()
    def reads(self) -> None:
        """Make a read of each kind."""
        for make in self.strategy.reads.values():
            self.run.step(make(self.random, self.run.model))

    @precondition(lambda self: Capability.NATIVE_EXPAND in self.case.harness.provides)
    @rule()
    def expand(self) -> None:
        self.run.step(EXPAND(self.random, self.run.model))

    @precondition(lambda self: Capability.DURABLE in self.case.harness.provides)
    @rule()
    def reopen(self) -> None:
        self.run.step(REOPEN)

    @rule()
    def everything(self) -> None:
        self.run.step(LOOK)

    def teardown(self) -> None:
        self.run.end()


@check_each(
    *(name for strategy in STRATEGIES.values() for names in strategy.about.values() for name in names), search=True
)
def random_runs(case: Case) -> None:
    """Make many random calls of every kind. Raises ``Disagreement`` with a short failing story."""
    machine = seed(case.seed)(type("SeededStoreMachine", (StoreMachine,), {"case": case}))
    try:
        run_state_machine_as_test(
            machine,
            settings=settings(
                # A cache syncs each page file, which is slow, and it can have only few different contents.
                max_examples=case.profile.examples // (3 if case.harness.kind == "cache" else 1),
                stateful_step_count=case.profile.steps,
                # ``shortest`` shortens failing runs in seconds. Hypothesis would take minutes.
                phases=[Phase.generate],
                deadline=None,
                database=None,
                derandomize=False,
                report_multiple_bugs=False,
                print_blob=False,
                verbosity=Verbosity.quiet,
                suppress_health_check=list(HealthCheck),
            ),
        )
    except Disagreement as failed:
        raise shortest(case, failed) from None
    except Flaky as flaky:
        raise CheckFailed(f"the same calls gave right results once and wrong results once: {flaky}") from flaky


SPEC = ScopeSpec("e", 2)


def _state() -> tuple[list[StoreCall], list[StoreCall]]:
    keys = [("a",), ("a", "b"), ("b",), ("c", "d")]
    one, two = Batch(dict.fromkeys(keys, b"1")), Batch(dict.fromkeys(keys, b"2"))
    writes = [
        call("commit", Batch({("a",): b"1"})),
        call("commit", Batch({("a",): b"2"})),
        call("commit", one),
        call("commit", two),
        call("commit", Batch(deletes=frozenset(keys[:3]))),
        call("commit", Batch({("b",): b"3", ("e",): b""}, frozenset({("a",)}))),
        call("commit", Batch(deletes=frozenset({("b",), ("e",)}))),
        call("commit", Batch({("e",): b"5"}), expected={("e",): None}),
        call("commit", Batch({("b",): b"6"}, frozenset({("e",)})), expected={("e",): b"5"}),
        call("commit", Batch(deletes=frozenset({("c", "d")}))),
    ]
    asked = [call("get", keys), *(call("get", [key]) for key in keys), call("scan", ()), call("scan", (), limit=2)]
    asked += [call("scan", ("a",)), call("scan", (), after=("a", "b")), call("scan", ("c",)), call("get", [("e",)])]
    return writes, asked


def _graph() -> tuple[list[StoreCall], list[StoreCall]]:
    def people(**properties: int) -> tuple[Node, ...]:
        return tuple(Node(name, "Person", properties) for name in ("a", "b", "c"))

    ring = (Edge("a", "T", "b"), Edge("b", "T", "c"), Edge("c", "U", "a", "k", {"n": 1}))
    writes = [
        Mutation(people(hp=1), ring, watermark="t1"),
        Mutation(people(hp=2), watermark="t2"),
        Mutation((Node("a", "Ghost"),), watermark="t1"),
        Mutation(put_edges=(Edge("c", "U", "a", "k", {"n": 2}),)),
        Mutation(delete_nodes=("b",), watermark="t3"),
        Mutation(delete_edges=(EdgeKey("c", "U", "a", "k"),)),
        Mutation((Node("b", "Person"),), (Edge("a", "T", "b"),)),
        Mutation(delete_edges=(EdgeKey("a", "T", "b"),), watermark="t1"),
        Mutation(delete_nodes=("a", "c")),
    ]
    asked = [call("get", "s", ["a", "b", "c"]), *(call("get", "s", [name]) for name in ("a", "b", "c"))]
    for name in ("a", "b", "c"):
        asked += [call("neighbors", "s", [name], direction=way) for way in ("in", "out", "both")]
    asked += [call("neighbors", "s", ["a", "b", "c"], types=["U"]), call("neighbors", "s", ["c"], limit=1)]
    asked += [call("scan", "s"), call("scan", "s", label="Person"), call("scan", "s", label="Ghost")]
    asked += [call("scan", "s", after="a", limit=1), call("watermark", "s"), call("scopes")]
    made = [call("apply", "s", mutation) for mutation in writes]
    return [*made, call("drop", "s"), call("apply", "s", Mutation(people()))], asked


def _vector() -> tuple[list[StoreCall], list[StoreCall]]:
    def put(*items: VectorItem) -> StoreCall:
        return call("upsert", "s", list(items))

    a, moved = VectorItem("a", (1.0, 0.0), "a", {"n": 1}), VectorItem("a", (0.0, 1.0), "a", {"n": 1})
    told, counted = VectorItem("a", (1.0, 0.0), "other", {"n": 1}), VectorItem("a", (1.0, 0.0), "a", {"n": 2})
    b = VectorItem("b", (1.0, 1.0), "b", {"n": 1, "m": None})
    writes = [
        put(a, b),
        put(moved),
        put(told),
        put(counted),
        put(VectorItem("b", (1.0, 1.0), "b")),
        call("delete", "s", ids=["a"]),
        put(a),
        call("delete", "s", where=Exists("n")),
        call("drop", "s"),
        call("create", "s", SPEC),
    ]
    asked = [call("query", ["s"], vector, k) for vector in ((1.0, 0.0), (0.0, 1.0)) for k in (1, 5)]
    asked += [call("query", ["s"], (1.0, 0.0), 5, where=where) for where in (Compare("n", "eq", 1), Exists("m"))]
    asked += [call("count", "s"), call("count", "s", where=Within("n", (1,))), call("count", "s", where=Exists("n"))]
    asked += [call("get", "s", ["a", "b"]), call("scan", "s"), call("scan", "s", after="a"), call("describe", "s")]
    return writes, [*asked, call("scopes")]


def _cache() -> tuple[list[StoreCall], list[StoreCall]]:
    writes = [call("write", "s", pages(mark, mark)) for mark in ("1", "2", "3")]
    writes += [call("write", "t", pages("1", "1")), call("drop", "s"), call("drop", "t")]
    return writes, [call("read", "s"), call("read", "t"), call("scopes")]


def _story(kind: str, writes: list[StoreCall], random: Random, rounds: int) -> Iterator[StoreCall]:
    """Yield each write, the next one and the first one again, then the same with random pairs, ``rounds`` times."""
    if kind == "vector":
        yield call("create", "s", SPEC)
    for one, other in zip(writes, [*writes[1:], writes[0]], strict=True):
        yield from (one, other, one)
    for _ in range(rounds):
        one, other = random.choice(writes), random.choice(writes)
        yield from (one, other, one)


_STORIES = {"state": _state, "graph": _graph, "vector": _vector, "cache": _cache}


@check_each(
    *("S-1", "S-4", "S-8"),
    *("G-4", "G-5", "G-8", "G-9", "G-16", "G-17", "G-23", "G-24", "G-25"),
    *("V-6", "V-15", "V-16", "V-22", "V-23", "V-24"),
    *("C-3", "C-6"),
)
def reads_after_each_write(case: Case) -> None:
    """Make the same reads after every write, to find cached results that outlive the next write."""
    kind = case.harness.kind
    if Capability.APPROXIMATE in case.harness.provides:
        return
    writes, asked = _STORIES[kind]()
    if Capability.NATIVE_EXPAND in case.harness.provides:
        asked += [call("expand", "s", ["a"], hops=hops) for hops in (0, 1, 2)]
    about = STRATEGIES[kind].about
    store = case.run(case.open())
    model: Model = MODELS[kind]()
    told: list[StoreCall] = []
    for made in _story(kind, writes, case.random, case.profile.steps):
        told.append(made)
        for one in (made, *asked):
            wanted = expected(model, one)
            found = case.run(answer(store, one))
            if typed(found) != typed(wanted):
                what = difference(typed(found), typed(wanted))
                story = "\n".join(map(str, told[-6:]))
                clauses = " ".join(about.get(made.method, ()) + about.get(one.method, ()))
                raise CheckFailed(f"{story}\n{one} {what}", clause=clauses)
