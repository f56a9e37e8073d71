"""Long random lives of every vector store, beside a model of plain dicts that shares no code with any of them."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Coroutine
from decimal import Decimal, localcontext
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from conformance.oracles import passes
from saga_core.errors import NotFound, ScopeMismatch
from saga_core.stores.filters import And, Compare, Exists, Filter, Not, Or, Within
from saga_core.stores.vector import ScopeSpec, VectorItem
from tests.backends.store_openers import VECTORS, Opener, each

SCOPES = ("s", "s/2", "숲")
IDS = ("아리아", "크룩", "각", "a", "a_", "a%", "A", "b:c", "0", "1", "2")
SPECS = (ScopeSpec("ngram-1/3", 3), ScopeSpec("ngram-1/2", 2))

scopes = st.sampled_from(SCOPES)
ids = st.sampled_from(IDS)
names = st.sampled_from(["turn", "깊이", "a.b"])
scalars = st.sampled_from([None, True, False, 0, 1, 2, -1, 0.0, 1.0, 1.5, 2**63 - 1, "", "1", "t1", "크룩"])
vectors = st.lists(st.integers(-3, 3), min_size=3, max_size=3)
items = st.tuples(
    ids, vectors, st.sampled_from(["", "text", "크룩이 왔다"]), st.dictionaries(names, scalars, max_size=3)
)

ordered = st.sampled_from([0, 1, 1.5, -1, "", "1", "t1"])
leaves = st.one_of(
    st.builds(Compare, names, st.sampled_from(["eq", "ne"]), scalars),
    st.builds(Compare, names, st.sampled_from(["lt", "le", "gt", "ge"]), ordered),
    st.builds(Within, names, st.lists(scalars, max_size=3).map(tuple), st.booleans()),
    st.builds(Exists, names),
)
filters: st.SearchStrategy[Filter] = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.builds(Not, inner),
        st.builds(And, st.lists(inner, max_size=2).map(tuple)),
        st.builds(Or, st.lists(inner, max_size=2).map(tuple)),
    ),
    max_leaves=4,
)


def score(left: list[int], right: list[int]) -> float:
    """The cosine in 40 digits, half a step rounded to even."""
    with localcontext() as context:
        context.prec = 40
        squares = Decimal(sum(a * a for a in left) * sum(b * b for b in right))
        if not squares:
            return 0.0
        exact = Decimal(sum(a * b for a, b in zip(left, right, strict=True))) / squares.sqrt()
        return float(round(exact, 6)) + 0.0


class VectorMachine(RuleBasedStateMachine):
    """The model: spec and items of each scope, an item as (vector, text, metadata)."""

    opener: Opener

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name)
        self.specs: dict[str, ScopeSpec] = {}
        self.items: dict[str, dict[str, tuple[list[int], str, dict[str, Any]]]] = {}
        self.store: Any = self.run(self.opener.open(self.path))

    def run(self, call: Coroutine[Any, Any, Any]) -> Any:
        return self.runner.run(call)

    def teardown(self) -> None:
        self.run(self.store.aclose())
        self.runner.close()
        self.folder.cleanup()

    def cut(self, scope: str, vector: list[int]) -> list[int]:
        """``vector`` in the dimension of ``scope``."""
        return vector[: self.specs[scope].dimension] if scope in self.specs else vector

    def passing(self, scope: str, where: Filter | None) -> list[str]:
        found = self.items.get(scope, {})
        return sorted(name for name, entry in found.items() if where is None or passes(where, entry[2]))

    @rule(scope=scopes, spec=st.sampled_from([SPECS[0], SPECS[0], SPECS[1]]))
    def create(self, scope: str, spec: ScopeSpec) -> None:
        if self.specs.get(scope, spec) != spec:
            with pytest.raises(ScopeMismatch):
                self.run(self.store.create(scope, spec))
            return
        self.run(self.store.create(scope, spec))
        self.specs[scope] = spec
        self.items.setdefault(scope, {})

    @rule(scope=scopes, entries=st.lists(items, max_size=5))
    def upsert(self, scope: str, entries: list[Any]) -> None:
        made = [VectorItem(name, self.cut(scope, vector), text, metadata) for name, vector, text, metadata in entries]
        if scope not in self.specs:
            with pytest.raises(NotFound):
                self.run(self.store.upsert(scope, made))
            return
        self.run(self.store.upsert(scope, made))
        for name, vector, text, metadata in entries:
            self.items[scope][name] = (self.cut(scope, vector), text, metadata)

    @precondition(lambda self: self.specs)
    @rule(entries=st.lists(items, min_size=4, max_size=9), data=st.data())
    def fill(self, entries: list[Any], data: st.DataObject) -> None:
        self.upsert(data.draw(st.sampled_from(sorted(self.specs))), entries)

    @rule(scope=scopes, gone=st.lists(ids, max_size=3))
    def delete_ids(self, scope: str, gone: list[str]) -> None:
        here = self.items.get(scope, {})
        assert self.run(self.store.delete(scope, ids=gone)) == len(here.keys() & set(gone))
        for name in gone:
            here.pop(name, None)

    @rule(scope=scopes, where=filters)
    def delete_where(self, scope: str, where: Filter) -> None:
        gone = self.passing(scope, where)
        assert self.run(self.store.delete(scope, where=where)) == len(gone)
        for name in gone:
            del self.items[scope][name]

    @rule(scope=scopes)
    def drop(self, scope: str) -> None:
        self.run(self.store.drop(scope))
        self.specs.pop(scope, None)
        self.items.pop(scope, None)

    @rule(asked=st.lists(scopes, max_size=4), vector=vectors, k=st.integers(1, 12), where=st.none() | filters)
    def query(self, asked: list[str], vector: list[int], k: int, where: Filter | None) -> None:
        known = [scope for scope in dict.fromkeys(asked) if scope in self.specs]
        wide = {self.specs[scope].dimension for scope in known}
        question = vector[: min(wide)] if wide else vector
        if len(wide) > 1:
            with pytest.raises(ScopeMismatch):
                self.run(self.store.query(asked, question, k, where=where))
            return
        expected = sorted(
            (-score(question, self.items[scope][name][0]), name, asked.index(scope), scope)
            for scope in known
            for name in self.passing(scope, where)
        )[:k]
        hits = self.run(self.store.query(asked, question, k, where=where))
        assert [(hit.id, hit.score) for hit in hits] == [(name, -minus) for minus, name, _, _ in expected]
        for hit, (_, name, _, scope) in zip(hits, expected, strict=True):
            _, text, metadata = self.items[scope][name]
            assert hit.text == text
            assert repr(sorted(hit.metadata.items())) == repr(sorted(metadata.items()))

    @rule(scope=scopes, wanted=st.lists(ids, max_size=4))
    def get(self, scope: str, wanted: list[str]) -> None:
        found = self.run(self.store.get(scope, wanted))
        assert set(found) == self.items.get(scope, {}).keys() & set(wanted)
        self.compare(scope, list(found.values()))

    @rule(scope=scopes, after=st.none() | ids | st.just("a!"), limit=st.integers(1, 12))
    def scan(self, scope: str, after: str | None, limit: int) -> None:
        found = self.run(self.store.scan(scope, after=after, limit=limit))
        expected = [name for name in self.passing(scope, None) if after is None or name > after]
        assert [entry.id for entry in found] == expected[:limit]
        self.compare(scope, found)

    def compare(self, scope: str, found: list[VectorItem]) -> None:
        for entry in found:
            vector, text, metadata = self.items[scope][entry.id]
            assert (list(entry.vector), entry.text) == (vector, text)
            assert repr(sorted(entry.metadata.items())) == repr(sorted(metadata.items()))

    @rule(scope=scopes, where=st.none() | filters)
    def count(self, scope: str, where: Filter | None) -> None:
        assert self.run(self.store.count(scope, where=where)) == len(self.passing(scope, where))

    @precondition(lambda self: self.opener.reopen is not None)
    @rule()
    def reopen(self) -> None:
        self.store = self.run(self.opener.reopen(self.store, self.path))

    @precondition(lambda self: hasattr(self.store, "forget"))
    @rule(scope=st.none() | scopes)
    def forget(self, scope: str | None) -> None:
        self.store.forget(scope)

    @invariant()
    def scopes_are_known(self) -> None:
        assert self.run(self.store.scopes()) == sorted(self.specs)
        for scope in SCOPES:
            assert self.run(self.store.describe(scope)) == self.specs.get(scope)


@pytest.mark.parametrize("opener", each(VECTORS), ids=str)
def test_random_lives(opener: Opener) -> None:
    machine = type("Machine", (VectorMachine,), {"opener": opener})
    examples = max(opener.lives, settings().max_examples * opener.lives // 75)
    run_state_machine_as_test(machine, settings=settings(max_examples=examples, stateful_step_count=30))
