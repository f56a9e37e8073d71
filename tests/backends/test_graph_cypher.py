"""The door for Cypher: what may be asked, and attempts to get out of it, past the grammar as well."""

from __future__ import annotations

import asyncio
import json
import resource
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from saga_backends.graph import kuzu_query_child
from saga_backends.graph.kuzu_database import KuzuDatabase
from saga_backends.graph.kuzu_grammar import _OTHERS, FUNCTIONS, TokenKind, tokens, understand
from saga_core.capabilities import Capability
from saga_core.errors import BadInput, Closed, NotSupported
from saga_core.registry import OpenOptions
from saga_core.stores.graph import Edge, Mutation, Node
from tests.backends.store_openers import ENGINE, ON_DISK
from tests.patterns.padding import DEEP

SMALL = {"buffer_pool_mb": 32, "max_db_mb": 1_024}
LONG = 20.0
PEOPLE = 300


async def opened(path: Path, **options: Any) -> Any:
    return await ON_DISK.open(OpenOptions(path=path, options={**SMALL, **options}))


async def filled(path: Path) -> Any:
    store = await opened(path, raw_query=True)
    nodes = [Node("p1", "Character", {"name": "아리아", "hp": 85}), Node("l1", "Location", {"name": "어둠의 숲"})]
    nodes += [Node(f"x{number:03}", "Item", {"name": f"물건 {number}"}) for number in range(PEOPLE)]
    edges = (Edge("p1", "LOCATED_AT", "l1"), Edge("p1", "RELATES_TO", "x000", "k", {"strength": 2}))
    await store.apply("s1", Mutation(tuple(nodes), edges, watermark="t1"))
    return store


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Any]:
    found = await filled(tmp_path / "graph")
    yield found
    await found.aclose()


ENDLESS = (
    "MATCH (a:Entity), (b:Entity), (c:Entity), (d:Entity) "
    "WHERE a.id < b.id AND b.id < c.id AND c.id < d.id RETURN count(*)"
)


async def started(store: Any, asking: asyncio.Task[Any]) -> None:
    """Until the query's process runs."""
    while store._door._process is None:
        await asyncio.sleep(0)
        assert not asking.done()


def files(folder: Path) -> dict[str, bytes]:
    return {str(file): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


async def ask(store: Any, text: str, *, timeout: float = LONG, limit: int = 100) -> Any:
    return await store.query(text, timeout=timeout, limit=limit)


ONE = "MATCH (c:Entity {id: 'p1'})"

READ: list[tuple[str, list[Any]]] = [
    ("MATCH (c:Entity {label: 'Character'}) RETURN c.name", [{"c.name": "아리아"}]),
    ("match (c:Entity)-[t:Tie]->(p:Entity) where t.type = 'LOCATED_AT' return p.name as 곳;", [{"곳": "어둠의 숲"}]),
    ("MATCH (s:Scope) RETURN s.name, s.watermark", [{"s.name": "s1", "s.watermark": "t1"}]),
    ("MATCH (c:Entity) RETURN count(*) AS n", [{"n": PEOPLE + 2}]),
    (f"{ONE}-[*1..1]-(o:Entity) RETURN DISTINCT o.id AS i ORDER BY i", [{"i": "l1"}, {"i": "x000"}]),
    ("MATCH (c:Entity) WITH c.label AS l, count(*) AS n WHERE n > 1 RETURN l, n", [{"l": "Item", "n": PEOPLE}]),
    (
        "MATCH (c:Entity) WHERE c.name STARTS WITH '아' OR c.id IN ['l1'] RETURN c.id AS i ORDER BY i SKIP 1",
        [{"i": "p1"}],
    ),
    (f"{ONE} OPTIONAL MATCH (c)-[:Tie]->(x:Entity {{label: 'Event'}}) RETURN x.id IS NULL AS n", [{"n": True}]),
    (f"{ONE} RETURN 'DELETE; // no /* comment' AS text", [{"text": "DELETE; // no /* comment"}]),
    (f"/* a comment */ {ONE} // and\n RETURN CASE WHEN c.name = '아리아' THEN 1 ELSE 2 END AS n", [{"n": 1}]),
]


@pytest.mark.parametrize(("text", "rows"), READ, ids=lambda value: value[:40] if isinstance(value, str) else "")
async def test_what_may_be_asked_is_answered(store: Any, text: str, rows: list[Any]) -> None:
    assert await ask(store, text) == rows


async def test_rows_end_at_the_limit_whatever_the_query_says(store: Any) -> None:
    for text in ("MATCH (n:Entity) RETURN n.id", "MATCH (n:Entity) RETURN n.id LIMIT 1000"):
        assert len(await ask(store, text, limit=7)) == 7
    assert len(await ask(store, "MATCH (n:Entity) RETURN n.id LIMIT 2", limit=7)) == 2


async def test_a_node_and_an_edge_come_as_columns(store: Any) -> None:
    (row,) = await ask(store, "MATCH (c:Entity {id: 'p1'})-[t:Tie {type: 'RELATES_TO'}]->() RETURN c, t")
    assert row["c.name"] == "아리아"
    assert json.loads(row["c.properties"]) == {"name": "아리아", "hp": 85}
    assert (row["t.source"], row["t.target"], row["t.key"]) == ("p1", "x000", "k")
    assert not any("pk" in name for name in row)


ESCAPES = [
    # files
    "LOAD FROM '/etc/passwd' RETURN *",
    "LOAD FROM '/etc/passwd' (header=false) RETURN *",
    "MATCH (n) RETURN n UNION LOAD FROM '/etc/passwd' RETURN *",
    "COPY (MATCH (n) RETURN n.id) TO '{out}'",
    "COPY Entity FROM '/etc/passwd'",
    "EXPORT DATABASE '{out}'",
    "IMPORT DATABASE '{out}'",
    "ATTACH '{out}' AS other (dbtype sqlite)",
    "INSTALL httpfs",
    "LOAD EXTENSION httpfs",
    "LOAD httpfs",
    # settings, procedures, transactions
    "CALL timeout=0",
    "CALL show_tables() RETURN *",
    "CALL current_setting('timeout') RETURN *",
    "MATCH (n) CALL show_tables() RETURN *",
    "BEGIN TRANSACTION",
    "CHECKPOINT",
    "USE other",
    "EXPLAIN MATCH (n) RETURN n",
    "PROFILE MATCH (n) RETURN n",
    # writing
    "CREATE (n:Entity {{pk: 'x'}})",
    "MATCH (n:Entity) SET n.label = 'x' RETURN n",
    "MATCH (n:Entity) DETACH DELETE n",
    "MATCH (n:Entity) DELETE n RETURN n",
    "MERGE (n:Entity {{pk: 'x'}}) RETURN n",
    "MATCH (n:Entity) REMOVE n.label RETURN n",
    "DROP TABLE Entity",
    "ALTER TABLE Entity ADD x STRING",
    "CREATE MACRO f(x) AS x",
    "COMMENT ON TABLE Entity IS 'x'",
    # several statements, and hiding them
    "MATCH (n) RETURN n; MATCH (n) DETACH DELETE n",
    "MATCH (n) RETURN n;; CALL timeout=0",
    "MATCH (n) RETURN n; // \n DROP TABLE Tie",
    "MATCH (n) RETURN n /* */ ; /* */ DROP TABLE Tie",
    "MATCH (n) RETURN 'a\\'; DROP TABLE Tie; //' AS x",
    'MATCH (n) RETURN "a\\"; DROP TABLE Tie; //" AS x',
    "MATCH (n) RETURN `a\\`; DROP TABLE Tie; //` AS x",
    "MATCH (n) RETURN 'a\n'; DROP TABLE Tie; //'",
    "MATCH (n) RETURN n // no end \r DROP TABLE Tie",
    "MATCH (n) RETURN n /* a */ DROP /* b */ TABLE Tie */",
    "/* MATCH (n) RETURN n",
    "cOpY (mAtCh (n) rEtUrN n) tO '{out}'",
    "MATCH (n) RETURN n LIMIT 1 dEtAcH DELETE n",
    "match (n) ſet n.label = 'x' return n",
    "MATCH (n) DELETE n RETURN n",
    "MATCH (n)\u00a0DELETE n RETURN n",
    "MATCH (n) RETURN n\u2028DROP TABLE Tie",
    "MATCH (n) RETURN n \uff1b DROP TABLE Tie",
    # parameters, functions, lists without end
    "MATCH (n) WHERE n.id = $id RETURN n",
    "RETURN collect(range(1, 20000000))",
    "UNWIND range(1, 20000000) AS x RETURN collect(x)",
    "RETURN range(1, 20000000)",
    "RETURN repeat('x', 2000000000)",
    "RETURN list_concat([1], [2])",
    "RETURN file_info('/etc/passwd')",
    "RETURN nextval('x')",
    "MATCH (a)-[*]-(b) RETURN b",
    "MATCH (a)-[*1..30]-(b) RETURN b",
    "MATCH (a)-[* SHORTEST 1..30]-(b) RETURN b",
    "MATCH (a) RETURN [x IN range(1, 9) | x]",
    "MATCH (a) WHERE EXISTS {{ CALL show_tables() RETURN * }} RETURN a",
    "RETURN " + "(" * 40 + "1" + ")" * 40,
    "RETURN 1 AS a, 2 AS a",
    "",
    "   ",
    "RETURN",
    "MATCH (n)",
    "RETURN " + "1 + " * 5_000 + "1",
]  # fmt: skip


@pytest.mark.parametrize("text", ESCAPES, ids=lambda text: ascii(text[:50]))
def test_what_is_not_reading_is_not_understood(text: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cypher: ") as refused:
        understand(
            text.format(out=tmp_path / "out") if "{out}" in text else text.replace("{{", "{").replace("}}", "}"), 10
        )
    assert len(str(refused.value)) < 1_000


async def test_refused_queries_change_nothing_and_leave_the_store_at_work(store: Any, tmp_path: Path) -> None:
    before = set(files(tmp_path))
    for text in ESCAPES[::4]:
        with pytest.raises(BadInput):
            await ask(store, text)
    assert set(files(tmp_path)) == before
    assert await ask(store, "MATCH (n:Entity) RETURN count(*) AS n") == [{"n": PEOPLE + 2}]


SIGNS = "( ) [ ] { } : ; , . * - > < = 'x' 1 // /* */ ` \" ' \\ $ | MATCH WHERE RETURN WITH LIMIT AS n a".split()
WORDS = [*sorted(_OTHERS), *sorted(FUNCTIONS), *SIGNS, "\n", "\x00", "\u017f", "\u212a", "\u00a0", "가"]


@settings(max_examples=3_000 if DEEP else 100, deadline=None)
@given(st.lists(st.sampled_from(WORDS), max_size=24).map(" ".join) | st.text(max_size=60))
def test_whatever_is_said_only_reading_is_sent(text: str) -> None:
    try:
        sent = understand(f"MATCH (n) RETURN n {text}" if len(text) % 2 else text, 5).text
    except BadInput:
        return
    words = {token.word for token in tokens(sent) if token.kind is TokenKind.NAME}
    assert not words & _OTHERS
    assert ";" not in [token.word for token in tokens(sent)]
    assert "/*" not in sent.replace("'/*'", "")
    assert tokens(sent)[-3].word == "LIMIT"
    assert int(tokens(sent)[-2].text) <= 5
    assert understand(sent, 5).text == sent, "what is sent is understood as what was meant"


class TestBombs:
    async def test_time_runs_out(self, store: Any) -> None:
        began = time.monotonic()
        with pytest.raises(BadInput, match="the query took longer than 1 s"):
            await ask(store, ENDLESS, timeout=1)
        assert time.monotonic() - began < 30
        assert len(await ask(store, "MATCH (s:Scope) RETURN s.name")) == 1

    async def test_twenty_million_rows_do_not_fit(self, store: Any) -> None:
        with pytest.raises(BadInput, match=r"takes more than 256 MB|took longer than"):
            await ask(
                store, "MATCH (a:Entity), (b:Entity), (c:Entity) RETURN collect(a.pk + b.pk + c.pk) AS everything"
            )
        # The largest process that ever was a child of this one; on Linux in kilobytes.
        assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < 2 * 1_024 * 1_024
        assert len(await ask(store, "MATCH (s:Scope) RETURN s.name")) == 1

    async def test_a_query_ends_with_the_store(self, tmp_path: Path) -> None:
        store = await filled(tmp_path / "graph")
        asking = asyncio.create_task(ask(store, ENDLESS))
        await started(store, asking)
        await store.aclose()
        with pytest.raises(Closed):
            await asking
        with pytest.raises(Closed):
            await ask(store, "MATCH (s:Scope) RETURN s.name")

    @pytest.mark.parametrize("timeout", [0, -1, 61, float("nan"), "1", None])
    async def test_a_time_is_needed(self, store: Any, timeout: Any) -> None:
        with pytest.raises(BadInput, match="timeout"):
            await ask(store, "MATCH (s:Scope) RETURN s.name", timeout=timeout)

    @pytest.mark.parametrize("limit", [0, -1, "1", 1.5, True])
    async def test_a_limit_is_needed(self, store: Any, limit: Any) -> None:
        with pytest.raises(BadInput, match="limit"):
            await ask(store, "MATCH (s:Scope) RETURN s.name", limit=limit)


class TestBehindTheGrammar:
    """The process that answers is a second wall: it is given what the grammar would never let through."""

    def answer(self, store_folder: Path, text: str, seconds: float = 5.0) -> dict[str, Any]:
        module = sys.modules[ENGINE]
        assert module.__file__ is not None
        request = {
            "engine": ENGINE,
            "packages": str(Path(module.__file__).parent.parent),
            "database": str(store_folder / "graph.db"),
            "text": text,
            "columns": None,
            "seconds": seconds,
            "memory": 256 * 1_024 * 1_024,
            "address_space": 1 << 30,
        }
        done = subprocess.run(
            [sys.executable, "-I", "-S", kuzu_query_child.__file__],
            input=json.dumps(request), capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode != 0:
            return {"error": "died", "message": done.stderr}
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    @pytest.fixture
    async def folder(self, tmp_path: Path) -> Path:
        store = await filled(tmp_path / "graph")
        await store.aclose()
        return tmp_path / "graph"

    async def test_it_answers_what_is_harmless(self, folder: Path) -> None:
        assert self.answer(folder, "MATCH (s:Scope) RETURN s.name AS name") == {"rows": [{"name": "s1"}]}

    @pytest.mark.parametrize(
        "text",
        [
            "LOAD FROM '{secret}' (header=false) RETURN *",
            "COPY (MATCH (n:Entity) RETURN n.id) TO '{out}.csv'",
            "EXPORT DATABASE '{out}'",
            "CREATE (n:Entity {{pk: 'x'}})",
            "MATCH (n:Entity) DETACH DELETE n",
            "DROP TABLE Tie",
        ],
    )
    async def test_no_file_is_read_or_written(self, folder: Path, tmp_path: Path, text: str) -> None:
        secret = tmp_path / "secret.csv"
        secret.write_text("한 줄의 비밀\n", encoding="utf-8")
        before = files(tmp_path)
        found = self.answer(folder, text.format(secret=secret, out=tmp_path / "out"))
        assert "error" in found, found
        assert "비밀" not in json.dumps(found, ensure_ascii=False)
        assert {file: content for file, content in files(tmp_path).items() if content} == before

    async def test_time_is_not_to_be_switched_off(self, folder: Path) -> None:
        began = time.monotonic()
        found = self.answer(folder, "CALL timeout=0; UNWIND range(1, 3000000000) AS x RETURN count(x)", seconds=1.0)
        assert "error" in found
        assert time.monotonic() - began < 30

    async def test_memory_ends(self, folder: Path) -> None:
        found = self.answer(folder, "UNWIND range(1, 20000000) AS x RETURN collect(x)", seconds=20.0)
        assert "error" in found, str(found)[:200]


class TestTheSwitch:
    async def test_it_is_off(self, tmp_path: Path) -> None:
        store = await opened(tmp_path / "graph")
        assert Capability.RAW_QUERY not in store.info.capabilities
        with pytest.raises(NotSupported, match="raw_query: true"):
            await ask(store, "MATCH (s:Scope) RETURN s.name")
        await store.aclose()

    async def test_it_reads_what_was_committed_and_is_no_obstacle_to_writing(self, store: Any) -> None:
        assert Capability.RAW_QUERY in store.info.capabilities
        slow = asyncio.create_task(ask(store, ENDLESS))
        await started(store, slow)
        await asyncio.wait_for(store.apply("s2", Mutation((Node("a", "Item"),), watermark="t9")), 10)
        assert await store.watermark("s2") == "t9"
        slow.cancel()
        await asyncio.wait([slow])
        assert len(await ask(store, "MATCH (s:Scope) RETURN s.name")) == 2

    async def test_no_copy_is_left(self, store: Any, tmp_path: Path) -> None:
        before = set(files(tmp_path))
        await ask(store, "MATCH (s:Scope) RETURN s.name")
        assert set(files(tmp_path)) == before

    def test_the_adapter_is_the_one_that_is_tested(self) -> None:
        assert ON_DISK.name == ENGINE
        assert KuzuDatabase.__module__.endswith("kuzu_database")
