"""The benchmark of the stores measures what it says, on small stores, and its tables say what was measured."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from saga_core import registry
from saga_core.errors import BadInput
from saga_core.recall.graph_walk import walk
from saga_core.registry import OpenOptions
from saga_core.storage.opening import PROFILES
from tests.bench.command import bench
from tests.bench.stores.child import Task, measure_growth
from tests.bench.stores.data import SCOPE, TurnChanges, graph_parts
from tests.bench.stores.measure import GRAPHS, TOGETHER, VECTORS, StoreOptions, check_engines, run_stores
from tests.bench.stores.report import goals, markdown, tables

SMALL = StoreOptions(
    (20,), (20,), growth=0, play=30, reads=4, turns=9, repeats=8, engines=("networkx", "ladybug", "sqlite")
)


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return run_stores(SMALL, tmp_path_factory.mktemp("bench"), lambda _: None)


def test_every_engine_that_is_no_mere_memory_is_measured() -> None:
    # PostgreSQL is measured with its server: docs/scale.md.
    assert set(GRAPHS) == set(registry.names("graph")) - {"memory", "postgres"}
    assert set(VECTORS) == set(registry.names("vector")) - {"memory", "pgvector"}
    used = {(profile["graph"].backend, profile["vector"].backend) for profile in PROFILES.values()}
    assert used - {("memory", "memory"), ("postgres", "pgvector")} <= set(TOGETHER)


@pytest.mark.deep
def test_each_is_measured_bare_and_with_the_layer(result: dict[str, Any]) -> None:
    assert [(row["engine"], bool(row["layer_mb"])) for row in result["stores"]] == [
        ("networkx", False), ("ladybug", False), ("ladybug", True), ("sqlite", False), ("sqlite", True),
    ]  # fmt: skip
    for row in result["stores"]:
        assert row["rss"] > row["baseline"] > 0
        assert all(each["cpu"] > 0 for each in row["figures"].values())
        if row["layer_mb"]:
            assert row["held"] > 0
            bare = next(each for each in result["stores"] if each["engine"] == row["engine"])
            assert row["figures"]["point"]["cpu"] < bare["figures"]["point"]["cpu"]
            assert bare["disk"] > 10_000


@pytest.mark.deep
def test_whole_turns_are_those_of_the_engines(result: dict[str, Any]) -> None:
    found = {(row["graph"], row["vector"]): row for row in result["turns"]}
    assert set(found) == {("networkx", "sqlite"), ("ladybug", "sqlite")}
    for (graph, vector), row in found.items():
        assert row["engines"]["graph"].startswith(graph)
        assert row["engines"]["vector"].startswith(vector)
        figures = row["figures"]
        assert 0 < figures["read.stores"]["cpu"] < figures["read"]["cpu"]
        assert 0 < figures["projection.stores"]["cpu"] < figures["projection"]["cpu"]
    written = [found[graph, "sqlite"]["figures"]["projection.stores"]["cpu"] for graph in ("networkx", "ladybug")]
    assert written[0] < written[1]


@pytest.mark.deep
def test_the_tables_have_a_cell_for_each_column(result: dict[str, Any]) -> None:
    made = tables(result)
    assert [table.title for table in made] == ["Graph engines", "Vector engines", "Whole turns"]
    for table in made:
        assert all(len(row) == len(table.columns) for row in table.rows)
    text = markdown(result)
    assert text.count("| ladybug + layer (") == 1
    assert "reading over ladybug and sqlite, ms" in text


@pytest.mark.deep
def test_a_goal_that_is_missed_is_named(result: dict[str, Any]) -> None:
    slow = copy.deepcopy(result)
    slow["turns"][0]["figures"]["read.stores"]["cpu"] = 3.5
    slow["growth"] = [
        {
            "engine": "lancedb", "layer_mb": 64, "turns": 200, "disk": 1,
            "hundreds": {name: {"cpu": [1.0, 3.2], "longest": 9.0} for name in ("write", "query")},
        }
    ]  # fmt: skip
    missed = [goal for goal in goals(slow) if not goal.met]
    assert [goal.what for goal in missed] == [
        "reading over networkx and sqlite, ms", "200 turns on lancedb, last : first",
    ]  # fmt: skip
    assert missed[1].measured == pytest.approx(3.2)
    assert markdown(slow).count("MISSED") == 2


async def test_growth_is_told_by_the_hundred(tmp_path: Path) -> None:
    found = await measure_growth(Task("growth", "sqlite", str(tmp_path), 250, resident_mb=64))
    assert [len(found["hundreds"][name]["cpu"]) for name in ("write", "query")] == [3, 3]
    assert found["disk"] > 250 * 1_024


async def test_turns_change_the_graph_and_keep_it_whole(tmp_path: Path) -> None:
    store = await registry.load("graph", "networkx").open(OpenOptions())
    for part in graph_parts(30):
        await store.apply(SCOPE, part)
    changes = TurnChanges(30)
    for _ in range(60):
        await store.apply(SCOPE, changes.next())
    assert await store.watermark(SCOPE) == "t60"
    here = [edge for edge in (await walk(store, SCOPE, ["n000001"], hops=4)).edges if edge.type == "IS_AT"]
    assert len({edge.source for edge in here}) == len(here), "nobody is at two places"


@pytest.mark.parametrize("name", ["memory", "postgrse", ""])
def test_unknown_engines_are_refused(name: str) -> None:
    with pytest.raises(
        BadInput, match="give some of: chroma, kuzu, ladybug, lancedb, networkx, pgvector, postgres, sqlite"
    ):
        check_engines([name])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--engine", "nope"], "--engine nope: is no graph or vector engine"),
        (["--nodes", "200,x"], "give sizes from 10 up"),
        (["--vectors", "3"], "give sizes from 10 up"),
        (["--growth", "100"], "--growth 0 or at least 200"),
        (["--play", "5"], "--play 0 or at least 30"),
    ],
)
def test_bad_options_are_refused(arguments: list[str], message: str) -> None:
    result = CliRunner().invoke(bench, ["stores", *arguments])
    assert result.exit_code != 0
    assert message in result.output
