"""Each sentence of the GraphStore contract, for every graph store."""

from __future__ import annotations

import unicodedata
from collections.abc import AsyncIterator
from enum import StrEnum
from pathlib import Path
from typing import Any

import pytest

from saga_core.capabilities import Capability
from saga_core.errors import BadInput, Closed, NotSupported
from saga_core.stores.graph import Edge, EdgeKey, Mutation, Node
from tests.backends.store_openers import GRAPHS, Opener, each
from tests.naming import named


@pytest.fixture(params=each(GRAPHS), ids=str)
def opener(request: pytest.FixtureRequest) -> Opener:
    found: Opener = request.param
    return found


@pytest.fixture
async def store(opener: Opener, tmp_path: Path) -> AsyncIterator[Any]:
    opened = await opener.open(tmp_path)
    yield opened
    await opened.aclose()


def typed(value: object) -> object:
    """A value that is equal to another only when all types are equal too: 1, 1.0 and True are three."""
    if isinstance(value, tuple):
        return tuple(typed(part) for part in value)
    return type(value).__name__, repr(value)


def shape(thing: Node | Edge) -> object:
    head = (thing.id, thing.label) if isinstance(thing, Node) else thing.identity
    return head, {name: typed(value) for name, value in thing.properties.items()}


async def image(store: Any, scope: str) -> object:
    nodes = await store.scan(scope)
    edges = await store.neighbors(scope, [node.id for node in nodes])
    return [shape(node) for node in nodes], [shape(edge) for edge in edges], await store.watermark(scope)


def people(*ids: str) -> tuple[Node, ...]:
    return tuple(Node(node_id, "Character") for node_id in ids)


TRIANGLE = Mutation(
    put_nodes=people("아리아", "크룩", "숲"),
    put_edges=(
        Edge("크룩", "LOCATED_AT", "숲"),
        Edge("아리아", "RELATES_TO", "크룩", "met", {"strength": 1}),
        Edge("아리아", "RELATES_TO", "크룩", "", {"strength": -2}),
        Edge("아리아", "LOCATED_AT", "숲"),
    ),
    watermark="t1",
)


# --- apply -------------------------------------------------------------------------------------------------------


async def test_a_scope_begins_with_its_first_non_empty_mutation(store: Any) -> None:
    await store.apply("비어", Mutation())
    assert await store.scopes() == []
    await store.apply("c", Mutation(watermark="t1"))
    await store.apply("b", Mutation(delete_nodes=("nobody",)))
    await store.apply("a", Mutation(put_nodes=people("x")))
    assert await store.scopes() == ["a", "b", "c"]


async def test_scopes_never_see_each_other(store: Any) -> None:
    await store.apply("s", TRIANGLE)
    await store.apply("s:2", Mutation(put_nodes=people("아리아")))
    assert await store.get("s:2", ["크룩"]) == {}
    assert await store.neighbors("s:2", ["아리아"]) == []
    assert await store.watermark("s:2") is None
    await store.apply("s:2", Mutation(delete_nodes=("아리아",)))
    assert list(await store.get("s", ["아리아"])) == ["아리아"]


async def test_a_put_replaces_the_whole_node_and_its_edges_stay(store: Any) -> None:
    await store.apply("s", TRIANGLE)
    await store.apply("s", Mutation(put_nodes=(Node("아리아", "Character", {"hp": 85, "mood": "tense"}),)))
    before = await store.neighbors("s", ["아리아"])
    await store.apply("s", Mutation(put_nodes=(Node("아리아", "Ghost", {"mood": "calm"}),)))
    assert shape((await store.get("s", ["아리아"]))["아리아"]) == shape(Node("아리아", "Ghost", {"mood": "calm"}))
    assert await store.neighbors("s", ["아리아"]) == before


async def test_a_put_replaces_the_whole_edge(store: Any) -> None:
    await store.apply("s", TRIANGLE)
    await store.apply("s", Mutation(put_edges=(Edge("아리아", "RELATES_TO", "크룩", "met", {"since": "어제"}),)))
    edges = await store.neighbors("s", ["아리아"], types=["RELATES_TO"])
    assert [(edge.key, dict(edge.properties)) for edge in edges] == [("", {"strength": -2}), ("met", {"since": "어제"})]


async def test_of_one_node_or_edge_put_twice_the_last_counts(store: Any) -> None:
    nodes = (Node("a", "A", {"n": 1}), Node("a", "B", {"n": 2}))
    edges = (Edge("a", "T", "a", "", {"n": 1}), Edge("a", "T", "a", "", {"n": 2}))
    await store.apply("s", Mutation(put_nodes=nodes, put_edges=edges))
    assert await image(store, "s") == ([shape(nodes[1])], [shape(edges[1])], None)


async def test_order_edges_out_nodes_out_nodes_in_edges_in(store: Any) -> None:
    await store.apply("s", TRIANGLE)
    loop = Edge("아리아", "KNOWS", "아리아")
    await store.apply(
        "s",
        Mutation(
            put_nodes=people("아리아"),
            put_edges=(loop, Edge("크룩", "LOCATED_AT", "숲", "", {"since": 3})),
            delete_nodes=("아리아",),
            delete_edges=(EdgeKey("크룩", "LOCATED_AT", "숲"),),
        ),
    )
    # The old edges of the deleted node are gone though it came back; the deleted edge came back with its new value.
    assert [shape(edge) for edge in await store.neighbors("s", ["아리아", "크룩", "숲"])] == [
        shape(loop),
        shape(Edge("크룩", "LOCATED_AT", "숲", "", {"since": 3})),
    ]


async def test_deleting_a_node_takes_its_edges_both_ways(store: Any) -> None:
    await store.apply("s", TRIANGLE)
    await store.apply("s", Mutation(delete_nodes=("크룩",)))
    assert [edge.identity for edge in await store.neighbors("s", ["아리아", "크룩", "숲"])] == [
        EdgeKey("아리아", "LOCATED_AT", "숲")
    ]


async def test_applying_again_changes_nothing_more(store: Any) -> None:
    mutation = Mutation(TRIANGLE.put_nodes, TRIANGLE.put_edges, ("숲", "없는 곳"), (EdgeKey("숲", "X", "숲"),), "t9")
    await store.apply("s", mutation)
    once = await image(store, "s")
    await store.apply("s", mutation)
    assert await image(store, "s") == once


async def test_deleting_what_is_absent_is_no_error(store: Any) -> None:
    await store.apply("s", TRIANGLE)
    before = await image(store, "s")
    gone = (
        EdgeKey("크룩", "LOCATED_AT", "아리아"),
        EdgeKey("누구", "X", "누구"),
        EdgeKey("크룩", "LOCATED_AT", "숲", "2"),
    )
    await store.apply("s", Mutation(delete_nodes=("누구",), delete_edges=gone))
    assert await image(store, "s") == before


@pytest.mark.parametrize(
    "mutation",
    [
        Mutation(put_nodes=people("new"), put_edges=(Edge("new", "T", "없음"),), watermark="t2"),
        Mutation(put_nodes=people("new"), put_edges=(Edge("없음", "T", "new"),), watermark="t2"),
        Mutation(put_edges=(Edge("아리아", "T", "크룩"),), delete_nodes=("크룩",), watermark="t2"),
        Mutation(put_nodes=(*people("new"), Node("", "L")), watermark="t2"),
        Mutation(put_nodes=(*people("new"), Node("x", "")), delete_nodes=("아리아",)),
        Mutation(put_nodes=people("new"), put_edges=(Edge("new", "", "new"),)),
        Mutation(put_nodes=people("new"), delete_nodes=("",)),
        Mutation(put_nodes=people("new"), watermark=""),
        Mutation(put_nodes=(*people("new"), Node("x" * 257, "L"))),
    ],
)
async def test_a_refused_mutation_changes_nothing(store: Any, mutation: Mutation) -> None:
    await store.apply("s", TRIANGLE)
    before = await image(store, "s")
    for scope in ("s", "other"):
        with pytest.raises(BadInput):
            await store.apply(scope, mutation)
    assert await image(store, "s") == before
    assert await store.scopes() == ["s"]


class Mood(StrEnum):
    CALM = "calm"


@pytest.mark.parametrize(
    "value",
    [
        float("nan"),
        float("inf"),
        (1.0, -float("inf")),
        2**63,
        -(2**63) - 1,
        "\ud800",
        "nul\0",
        ["list"],
        {"a": 1},
        ((1,),),
        b"bytes",
        Mood.CALM,
        1j,
    ],
    ids=named,
)
async def test_malformed_values_are_refused(store: Any, value: Any) -> None:
    await store.apply("s", Mutation(put_nodes=people("a")))
    with pytest.raises(BadInput):
        await store.apply("s", Mutation(put_nodes=(Node("a", "L", {"v": value}),), watermark="t"))
    with pytest.raises(BadInput):
        await store.apply("s", Mutation(put_edges=(Edge("a", "T", "a", "", {"v": value}),), watermark="t"))
    assert await image(store, "s") == ([shape(Node("a", "Character"))], [], None)


VALUES = {
    "one": 1,
    "one.": 1.0,
    "true": True,
    "false": False,
    "zero": 0,
    "minus zero": -0.0,
    "none": None,
    "empty": "",
    "most": 2**63 - 1,
    "least": -(2**63),
    "beyond doubles": 2**53 + 1,
    "big": 1.7976931348623157e308,
    "tiny": 5e-324,
    "tenth": 0.1,
    "text one": "1",
    "quotes": 'it\'s "so" \\ `$x` {y} % _ : . /\n\t',
    "한글": "어둠의 숲 🗡️",
    "nfc": unicodedata.normalize("NFC", "각"),
    "nfd": unicodedata.normalize("NFD", "각"),
    "no tags": (),
    "mixed": (1, 1.0, True, None, "", "1"),
    "a_b%c:d.e/f": "이름",
}


async def test_types_come_back_as_they_went_in(store: Any) -> None:
    node, edge = Node("n", "L", VALUES), Edge("n", "T", "n", "k", VALUES)
    await store.apply("s", Mutation((node,), (edge,)))
    assert shape((await store.get("s", ["n"]))["n"]) == shape(node)
    assert [shape(found) for found in await store.scan("s")] == [shape(node)]
    assert [shape(found) for found in await store.neighbors("s", ["n"])] == [shape(edge)]


async def test_what_the_caller_does_afterwards_changes_nothing(store: Any) -> None:
    properties: dict[str, Any] = {"hp": 100}
    await store.apply("s", Mutation((Node("n", "L", properties),), (Edge("n", "T", "n", "", properties),)))
    before = await image(store, "s")
    properties["hp"] = 0
    properties["mood"] = "dead"
    assert await image(store, "s") == before
    for given in [(await store.get("s", ["n"]))["n"], (await store.neighbors("s", ["n"]))[0]]:
        try:
            given.properties["hp"] = 0
        except TypeError:  # it cannot be changed at all
            continue
    assert await image(store, "s") == before


# --- reading -----------------------------------------------------------------------------------------------------

STRANGE = [
    unicodedata.normalize("NFC", "각"),
    unicodedata.normalize("NFD", "각"),
    "어둠의 숲",
    "어둠의숲",
    "a",
    "A",
    "a_b",
    "a%",
    "a:b",
    "a.b",
    "a/b",
    "../a",
    " ",
    "'; DROP TABLE nodes; --",
    "x" * 256,
    "힣" * 256,
    "🗡️",
    "\U0010ffff",
    "\uffff",
]


async def test_strange_names_are_all_different_and_ordered_by_code_point(store: Any) -> None:
    for scope in STRANGE:
        edges = tuple(Edge(STRANGE[0], kind, STRANGE[1], key) for kind in STRANGE for key in ("", *STRANGE[:3]))
        await store.apply(scope, Mutation(people(*STRANGE), edges, watermark=scope))
    assert await store.scopes() == sorted(STRANGE)
    for scope in STRANGE[:3]:
        assert [node.id for node in await store.scan(scope)] == sorted(STRANGE)
        assert list(await store.get(scope, STRANGE[:2])) == STRANGE[:2]
        assert await store.watermark(scope) == scope
        found = await store.neighbors(scope, STRANGE)
        assert [edge.identity for edge in found] == sorted(edge.identity for edge in edges)


async def test_get_gives_those_that_exist(store: Any) -> None:
    await store.apply("s", TRIANGLE)
    assert await store.get("s", ["숲", "없음", "숲", "아리아"]) == {
        "숲": people("숲")[0],
        "아리아": people("아리아")[0],
    }
    assert await store.get("s", []) == {}
    assert await store.get("unknown", ["숲"]) == {}


async def test_neighbors_are_seen_from_the_ids(store: Any) -> None:
    await store.apply("s", TRIANGLE)

    async def near(*ids: str, **kwargs: Any) -> list[tuple[str, str, str, str]]:
        edges = await store.neighbors("s", ids, **kwargs)
        return [(edge.source, edge.type, edge.target, edge.key) for edge in edges]

    met, hostile = ("아리아", "RELATES_TO", "크룩", "met"), ("아리아", "RELATES_TO", "크룩", "")
    aria_at, kruk_at = ("아리아", "LOCATED_AT", "숲", ""), ("크룩", "LOCATED_AT", "숲", "")
    assert await near("크룩") == [hostile, met, kruk_at]
    assert await near("크룩", direction="out") == [kruk_at]
    assert await near("크룩", direction="in") == [hostile, met]
    # Each once, though both ends are asked for.
    assert await near("크룩", "아리아", "크룩", "없음") == [aria_at, hostile, met, kruk_at]
    assert await near("크룩", "아리아", direction="in") == [hostile, met]
    assert await near("크룩", "아리아", types=["LOCATED_AT"]) == [aria_at, kruk_at]
    assert await near("크룩", "아리아", types=["NO_SUCH"]) == []
    assert await near("크룩", "아리아", types=[]) == []
    assert await near("크룩", "아리아", limit=2) == [aria_at, hostile]
    assert await near("크룩", "아리아", types=["RELATES_TO"], limit=9) == [hostile, met]
    assert await near() == []
    assert await near("없음") == []
    assert await store.neighbors("unknown", ["크룩"]) == []


async def test_a_loop_and_opposite_edges(store: Any) -> None:
    edges = (Edge("a", "T", "a"), Edge("a", "T", "b"), Edge("b", "T", "a"))
    await store.apply("s", Mutation(people("a", "b"), edges))
    assert await store.neighbors("s", ["a"]) == list(edges)
    assert await store.neighbors("s", ["a"], direction="out") == [edges[0], edges[1]]
    assert await store.neighbors("s", ["a"], direction="in") == [edges[0], edges[2]]
    await store.apply("s", Mutation(delete_edges=(edges[0].identity,)))
    assert await store.neighbors("s", ["a"]) == list(edges[1:])


async def test_scan_pages_by_id(store: Any) -> None:
    nodes = tuple(Node(f"n{index:02}", "Odd" if index % 2 else "Even") for index in range(7))
    await store.apply("s", Mutation(nodes[::-1]))

    async def ids(**kwargs: Any) -> list[str]:
        return [node.id for node in await store.scan("s", **kwargs)]

    assert await ids() == [node.id for node in nodes]
    assert await ids(limit=3) == ["n00", "n01", "n02"]
    assert await ids(limit=3, after="n02") == ["n03", "n04", "n05"]
    assert await ids(limit=3, after="n02x") == ["n03", "n04", "n05"]
    assert await ids(after="n06") == []
    assert await ids(label="Odd") == ["n01", "n03", "n05"]
    assert await ids(label="Odd", after="n01", limit=1) == ["n03"]
    assert await ids(label="None") == []
    assert await store.scan("unknown") == []


async def test_the_watermark_stays_until_it_is_changed(store: Any) -> None:
    assert await store.watermark("s") is None
    await store.apply("s", Mutation(put_nodes=people("a")))
    assert await store.watermark("s") is None
    await store.apply("s", Mutation(watermark="턴 1"))
    await store.apply("s", Mutation(put_nodes=people("b")))
    assert await store.watermark("s") == "턴 1"


async def test_drop_removes_everything(store: Any) -> None:
    await store.apply("s", TRIANGLE)
    await store.apply("t", TRIANGLE)
    await store.scan("s")
    await store.drop("s")
    await store.drop("s")
    await store.drop("unknown")
    assert await store.scopes() == ["t"]
    assert await image(store, "s") == ([], [], None)
    await store.apply("s", Mutation(put_nodes=people("아리아")))
    assert await image(store, "s") == ([shape(people("아리아")[0])], [], None)


@pytest.mark.parametrize(
    ("call", "arguments", "options"),
    [
        ("neighbors", ("s", ["a"]), {"limit": 0}),
        ("neighbors", ("s", ["a"]), {"direction": "sideways"}),
        ("neighbors", ("s", "a"), {}),
        ("neighbors", ("s", [""]), {}),
        ("neighbors", ("s", ["a"]), {"types": "T"}),
        ("scan", ("s",), {"limit": 0}),
        ("scan", ("s",), {"limit": -1}),
        ("scan", ("s",), {"after": ""}),
        ("get", ("s", "a"), {}),
        ("get", ("", ["a"]), {}),
        ("apply", ("", Mutation(watermark="t")), {}),
        ("scan", ("\ud800",), {}),
        ("watermark", ("",), {}),
        ("drop", ("x" * 257,), {}),
    ],
)
@pytest.mark.parametrize("scope_exists", [True, False])
async def test_bad_arguments_are_refused(
    store: Any, scope_exists: bool, call: str, arguments: tuple[Any, ...], options: dict[str, Any]
) -> None:
    if scope_exists:
        await store.apply("s", Mutation(put_nodes=people("a")))
        await store.scan("s")
    with pytest.raises(BadInput):
        await getattr(store, call)(*arguments, **options)


# --- capabilities and the end ------------------------------------------------------------------------------------


async def test_expand_gives_distances_or_is_not_supported(store: Any) -> None:
    chain = tuple(Edge(f"n{index}", "RIGHT" if index % 2 else "LEFT", f"n{index + 1}") for index in range(5))
    await store.apply("s", Mutation(people(*(f"n{index}" for index in range(6)), "alone"), chain))
    if Capability.NATIVE_EXPAND not in store.info.capabilities:
        with pytest.raises(NotSupported):
            await store.expand("s", ["n0"], hops=1)
        return
    assert await store.expand("s", ["n2"], hops=1) == {"n2": 0, "n1": 1, "n3": 1}
    assert await store.expand("s", ["n2", "없음"], hops=2) == {"n2": 0, "n1": 1, "n3": 1, "n0": 2, "n4": 2}
    assert await store.expand("s", ["n0", "n3"], hops=4) == {"n0": 0, "n3": 0, "n1": 1, "n2": 1, "n4": 1, "n5": 2}
    assert await store.expand("s", ["n2"], hops=2, types=["LEFT"]) == {"n2": 0, "n3": 1}
    assert await store.expand("s", ["n2", "alone"], hops=0) == {"n2": 0, "alone": 0}
    assert await store.expand("unknown", ["n2"], hops=2) == {}
    for hops in (-1, 5, 1.0):
        with pytest.raises(BadInput):
            await store.expand("s", ["n2"], hops=hops)


async def test_raw_query_is_not_supported(store: Any) -> None:
    assert Capability.RAW_QUERY not in store.info.capabilities
    with pytest.raises(NotSupported):
        await store.query("MATCH (n) RETURN n", timeout=1.0, limit=1)


async def test_info_and_check(store: Any, opener: Opener) -> None:
    assert store.info.kind == "graph"
    assert store.info == store.info
    assert (Capability.RESIDENT in store.info.capabilities) == opener.resident
    await store.apply("s", TRIANGLE)
    assert (await store.check()).ok
    assert (await store.check(thorough=True)).ok


async def test_everything_after_the_end_is_refused(store: Any) -> None:
    await store.apply("s", TRIANGLE)
    await store.get("s", ["숲"])
    await store.aclose()
    await store.aclose()
    calls = [
        store.apply("s", TRIANGLE),
        store.get("s", ["숲"]),
        store.neighbors("s", ["숲"]),
        store.scan("s"),
        store.watermark("s"),
        store.scopes(),
        store.drop("s"),
        store.check(),
        store.expand("s", ["숲"], hops=1),
        store.query("x", timeout=1.0, limit=1),
    ]
    for call in calls:
        with pytest.raises(Closed):
            await call
