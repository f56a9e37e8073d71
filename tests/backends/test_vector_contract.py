"""Each sentence of the VectorStore contract, for every vector store."""

from __future__ import annotations

import math
import unicodedata
from array import array
from collections.abc import AsyncIterator
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from saga_core.errors import BadInput, Closed, NotFound, ScopeMismatch
from saga_core.stores.filters import And, Compare, Exists, Filter, Not, Or, Within
from saga_core.stores.vector import Hit, ScopeSpec, VectorItem, cosine
from tests.backends.store_openers import VECTORS, Opener, each
from tests.naming import named

SPEC = ScopeSpec("ngram-1/2", 2)


@pytest.fixture(params=each(VECTORS), ids=str)
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Any]:
    opener: Opener = request.param
    opened = await opener.open(tmp_path)
    yield opened
    await opened.aclose()


def item(item_id: str, *vector: float, text: str = "", **metadata: Any) -> VectorItem:
    return VectorItem(item_id, vector or (1.0, 0.0), text, metadata)


def shape(found: VectorItem) -> object:
    metadata = {name: (type(value), repr(value)) for name, value in found.metadata.items()}
    return found.id, list(found.vector), found.text, metadata


async def filled(store: Any, scope: str, *items: VectorItem, spec: ScopeSpec = SPEC) -> None:
    await store.create(scope, spec)
    await store.upsert(scope, items)


async def image(store: Any, scope: str) -> object:
    return await store.describe(scope), [shape(found) for found in await store.scan(scope)]


def ids(hits: list[Hit]) -> list[str]:
    return [hit.id for hit in hits]


# --- scopes ------------------------------------------------------------------------------------------------------


async def test_create_twice_with_an_equal_spec_and_with_another(store: Any) -> None:
    await filled(store, "s", item("a"))
    await store.create("s", ScopeSpec("ngram-1/2", 2))
    for other in (ScopeSpec("ngram-1/2", 3), ScopeSpec("e5", 2)):
        with pytest.raises(ScopeMismatch):
            await store.create("s", other)
    assert await image(store, "s") == (SPEC, [shape(item("a", 1.0, 0.0))])


@pytest.mark.parametrize("spec", [ScopeSpec("", 2), ScopeSpec("e", 0), ScopeSpec("e", -1), ScopeSpec("e", 4_097)])
async def test_malformed_specs_are_refused(store: Any, spec: ScopeSpec) -> None:
    with pytest.raises(BadInput):
        await store.create("s", spec)
    assert await store.scopes() == []


async def test_an_unknown_scope_is_empty_and_takes_nothing(store: Any) -> None:
    assert await store.describe("s") is None
    assert await store.get("s", ["a"]) == {}
    assert await store.scan("s") == []
    assert await store.count("s") == 0
    assert await store.count("s", where=Exists("x")) == 0
    assert await store.query(["s"], [1.0, 0.0], 3) == []
    assert await store.delete("s", ids=["a"]) == 0
    assert await store.delete("s", where=Exists("x")) == 0
    await store.drop("s")
    with pytest.raises(NotFound):
        await store.upsert("s", [item("a")])
    assert await store.scopes() == []


async def test_scopes_in_order_and_apart(store: Any) -> None:
    names = [
        "s",
        "s/2",
        "S",
        unicodedata.normalize("NFC", "각"),
        unicodedata.normalize("NFD", "각"),
        "a%",
        "a_",
        "🗡️",
        " ",
    ]
    for name in names:
        await filled(store, name, item(name, text=name))
    assert await store.scopes() == sorted(names)
    for name in names:
        assert [found.text for found in await store.scan(name)] == [name]
    await store.drop("s")
    assert await store.scopes() == sorted(names[1:])
    assert await store.describe("s") is None
    assert await store.count("s/2") == 1
    await store.drop(" ")
    await store.create(" ", SPEC)
    await store.drop("🗡️")
    await store.create("🗡️", SPEC)
    assert [await store.count(name) for name in (" ", "🗡️")] == [0, 0]
    # Another embedder may have the name now.
    await filled(store, "s", item("b", 1.0, 2.0, 3.0), spec=ScopeSpec("e5", 3))
    assert await image(store, "s") == (ScopeSpec("e5", 3), [shape(item("b", 1.0, 2.0, 3.0))])


# --- items -------------------------------------------------------------------------------------------------------


async def test_upsert_replaces_and_the_last_of_one_id_counts(store: Any) -> None:
    await filled(store, "s", item("a", 1.0, 0.0, text="old", n=1, gone=True), item("b"))
    await store.scan("s")
    await store.upsert("s", [item("a", 0.0, 2.0, text="하나", n=2), item("a", 0.0, 3.0, text="둘", n=3), item("c")])
    await store.upsert("s", [])
    assert await image(store, "s") == (
        SPEC,
        [shape(item("a", 0.0, 3.0, text="둘", n=3)), shape(item("b", 1.0, 0.0)), shape(item("c", 1.0, 0.0))],
    )
    assert ids(await store.query(["s"], [0.0, 1.0], 1)) == ["a"]


async def test_vectors_come_back_in_32_bits(store: Any) -> None:
    given = [0.1, -1e-45]
    for vector in (given, tuple(given), array("f", given), array("d", given), np.array(given), np.float32(given)):
        await filled(store, "s", VectorItem("a", vector))
        for found in ((await store.get("s", ["a"]))["a"], (await store.scan("s"))[0]):
            assert isinstance(found.vector, array)
            assert found.vector == array("f", given)


METADATA = {
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
    "null text": "null",
    "quotes": 'it\'s "so" \\ `$x` {y} % _ : . /\n\t\x7f',
    "한글": "어둠의 숲 🗡️",
    "nfc": unicodedata.normalize("NFC", "각"),
    "nfd": unicodedata.normalize("NFD", "각"),
    "a_b%c:d.e/f": "이름",
}


async def test_text_and_types_come_back_as_they_went_in(store: Any) -> None:
    texts = ["", '크룩이 말했다.\n"통행료!"', unicodedata.normalize("NFD", "각각"), "🗡️\U0010ffff", "x" * 100_000]
    items = [VectorItem(f"i{index}", (1.0, 0.0), text, METADATA) for index, text in enumerate(texts)]
    await filled(store, "s", *items, item("bare"))
    expected = [shape(entry) for entry in [item("bare", 1.0, 0.0), *items]]
    assert [shape(found) for found in await store.scan("s")] == expected
    assert shape((await store.get("s", ["i1"]))["i1"]) == shape(items[1])
    (hit,) = await store.query(["s"], [1.0, 0.0], 1, where=Exists("한글"))
    assert shape(VectorItem(hit.id, (1.0, 0.0), hit.text, hit.metadata)) == shape(items[0])


async def test_what_the_caller_does_afterwards_changes_nothing(store: Any) -> None:
    vector, metadata = array("f", [1.0, 0.0]), {"n": 1}
    await filled(store, "s", VectorItem("a", vector, "", metadata))
    before = await image(store, "s")
    vector[0] = 9.0
    metadata["n"] = 2
    for given in [(await store.get("s", ["a"]))["a"], (await store.scan("s"))[0]]:
        given.vector[0] = 7.0
        try:
            given.metadata["n"] = 3
        except TypeError:  # it cannot be changed at all
            continue
    assert await image(store, "s") == before
    assert (await store.query(["s"], [1.0, 0.0], 1))[0].score == 1.0


class Kind(StrEnum):
    LORE = "lore"


@pytest.mark.parametrize(
    ("bad", "error"),
    [
        (item("b", math.nan, 0.0), BadInput),
        (item("b", math.inf, 0.0), BadInput),
        (item("b", 1e39, 0.0), BadInput),
        (item("b", 1.0), ScopeMismatch),
        (item("b", 1.0, 0.0, 0.0), ScopeMismatch),
        (VectorItem("b", ("1", "2")), BadInput),  # type: ignore[arg-type]
        (VectorItem("b", "12"), BadInput),  # type: ignore[arg-type]
        (VectorItem("b", ()), ScopeMismatch),
        (item("", 1.0, 0.0), BadInput),
        (item("x" * 257), BadInput),
        (item("b", text="\ud800"), BadInput),
        (item("b", n=math.nan), BadInput),
        (item("b", n=2**63), BadInput),
        (item("b", n="nul\0"), BadInput),
        (item("b", n=(1, 2)), BadInput),
        (item("b", n=[1]), BadInput),
        (item("b", n=Kind.LORE), BadInput),
        (item("b", n=np.float64(1.0)), BadInput),
        ("no item", BadInput),
    ],
    ids=named,
)
async def test_a_refused_upsert_changes_nothing(store: Any, bad: Any, error: type[Exception]) -> None:
    await filled(store, "s", item("a"))
    before = await image(store, "s")
    with pytest.raises(error):
        await store.upsert("s", [item("a", 0.0, 1.0), item("c"), bad])
    assert await image(store, "s") == before


async def test_get_and_scan(store: Any) -> None:
    names = [
        unicodedata.normalize("NFD", "각"),
        unicodedata.normalize("NFC", "각"),
        "a",
        "A",
        "b%",
        "b_",
        "숲",
        "🗡️",
        "\uffff",
    ]
    await filled(store, "s", *(item(name) for name in names))
    assert list(await store.get("s", ["숲", "없음", "숲"])) == ["숲"]
    assert await store.get("s", []) == {}
    order = sorted(names)

    async def page(**kwargs: Any) -> list[str]:
        return [found.id for found in await store.scan("s", **kwargs)]

    assert await page() == order
    assert await page(limit=2) == order[:2]
    assert await page(limit=2, after=order[1]) == order[2:4]
    assert await page(after="a!") == [name for name in order if name > "a!"]
    assert await page(after=order[-1]) == []


async def test_delete_by_id_and_by_filter(store: Any) -> None:
    await filled(store, "s", *(item(f"i{n}", n=n) for n in range(6)))
    await store.scan("s")
    assert await store.delete("s", ids=["i0", "없음", "i0"]) == 1
    assert await store.delete("s", ids=[]) == 0
    assert await store.delete("s", where=Compare("n", "ge", 4)) == 2
    assert await store.delete("s", where=Compare("m", "eq", 1)) == 0
    assert [found.id for found in await store.scan("s")] == ["i1", "i2", "i3"]
    assert ids(await store.query(["s"], [1.0, 0.0], 9)) == ["i1", "i2", "i3"]
    assert await store.count("s") == 3
    assert await store.count("s", where=Compare("n", "lt", 3)) == 2
    for arguments in ({}, {"ids": ["a"], "where": Exists("n")}, {"ids": "a"}):
        with pytest.raises(BadInput):
            await store.delete("s", **arguments)


# --- query -------------------------------------------------------------------------------------------------------


async def test_scores_are_cosines_highest_first(store: Any) -> None:
    vectors = {"east": (2.0, 0.0), "north": (0.0, 0.5), "west": (-1.0, 0.0), "diagonal": (3.0, 3.0), "zero": (0.0, 0.0)}
    await filled(store, "s", *(VectorItem(name, vector) for name, vector in vectors.items()))
    hits = await store.query(["s"], [7.0, 0.0], 5)
    assert [(hit.id, hit.score) for hit in hits] == [
        ("east", 1.0),
        ("diagonal", 0.707107),
        ("north", 0.0),
        ("zero", 0.0),
        ("west", -1.0),
    ]
    assert all(math.copysign(1.0, hit.score) == 1.0 for hit in hits[:-1])
    assert {hit.score for hit in await store.query(["s"], [0.0, 0.0], 5)} == {0.0}


async def test_ties_go_by_id_then_by_the_place_of_the_scope(store: Any) -> None:
    await filled(store, "s", item("c", 1.0, 1.0), item("a", 2.0, 2.0), item("b", 0.3, 0.3))
    await filled(store, "t", item("b", 1e-20, 1e-20, text="t"), item("0", -1.0, 0.0))
    hits = await store.query(["t", "s", "unknown", "t"], [5.0, 5.0], 4)
    assert [(hit.id, hit.text, hit.score) for hit in hits] == [
        ("a", "", 1.0),
        ("b", "t", 1.0),
        ("b", "", 1.0),
        ("c", "", 1.0),
    ]
    assert [hit.text for hit in await store.query(["s", "t"], [5.0, 5.0], 3)] == ["", "", "t"]
    assert await store.query([], [5.0, 5.0], 3) == []


async def test_extremely_long_and_short_vectors_score_like_others(store: Any) -> None:
    spec = ScopeSpec("e", 3)
    vectors = {
        "long": (3e38, 3e38, 0.0),
        "short": (1e-45, 1e-45, 0.0),
        "plain": (1.0, 1.0, 0.0),
        "askew": (3e38, 0.0, 0.0),
        "mixed": (3e38, 1e-45, 0.0),
    }
    await filled(store, "s", *(VectorItem(name, vector) for name, vector in vectors.items()), spec=spec)
    for asked in ((1.0, 1.0, 0.0), (3e38, 3e38, 0.0), (1e-45, 1e-45, 0.0)):
        hits = await store.query(["s"], asked, 9)
        assert [(hit.id, hit.score) for hit in hits] == [
            ("long", 1.0),
            ("plain", 1.0),
            ("short", 1.0),
            ("askew", 0.707107),
            ("mixed", 0.707107),
        ]
    await store.delete("s", ids=["long", "askew", "mixed", "short"])
    assert [hit.score for hit in await store.query(["s"], (0.0, 1.0, 0.0), 9)] == [0.707107]


async def test_every_store_agrees_with_cosine_to_the_last_digit(store: Any) -> None:
    random = np.random.default_rng(7)
    spec = ScopeSpec("e", 37)
    vectors = {f"i{index:03}": array("f", random.normal(size=37).tolist()) for index in range(300)}
    await filled(store, "s", *(VectorItem(name, vector) for name, vector in vectors.items()), spec=spec)
    for k in (1, 7, 300, 1_000):
        asked = array("f", random.normal(size=37).tolist())
        expected = sorted((-cosine(asked, vector), name) for name, vector in vectors.items())[:k]
        assert [(-hit.score, hit.id) for hit in await store.query(["s"], asked, k)] == expected


async def test_a_score_between_two_steps_is_rounded_as_cosine_rounds_it(store: Any) -> None:
    # The vector is 128 long, so the cosine is 1/128 = 0.0078125: as near to 0.007812 as to 0.007813.
    spec = ScopeSpec("e", 4_096)
    middle = array("f", [1.0] + [2.0] * 4_091 + [3.0, 3.0, 1.0, 0.0])
    asked = array("f", [1.0] + [0.0] * 4_095)
    above = array("f", [1.0625, *middle[1:]])
    await filled(store, "s", VectorItem("b", middle), VectorItem("a", above), spec=spec)
    hits = await store.query(["s"], asked, 2)
    assert [(hit.id, hit.score) for hit in hits] == [("a", cosine(asked, above)), ("b", 0.007812)]


async def test_the_filter_comes_before_the_cut(store: Any) -> None:
    await filled(store, "s", *(item(f"i{n}", 1.0, n / 10, n=n, odd=bool(n % 2)) for n in range(10)))
    assert ids(await store.query(["s"], [1.0, 0.0], 3)) == ["i0", "i1", "i2"]
    assert ids(await store.query(["s"], [1.0, 0.0], 3, where=Compare("n", "gt", 4))) == ["i5", "i6", "i7"]
    assert ids(await store.query(["s"], [1.0, 0.0], 2, where=Compare("odd", "eq", True))) == ["i1", "i3"]
    assert ids(await store.query(["s"], [1.0, 0.0], 9, where=Within("n", (8, 3.0, "5")))) == ["i3", "i8"]
    assert await store.query(["s"], [1.0, 0.0], 9, where=Or(())) == []


FILTERED = [
    item("int", v=1),
    item("float", v=1.0),
    item("more", v=1.5),
    item("bool", v=True),
    item("text", v="1"),
    item("null", v=None),
    item("none"),
]


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        (Compare("v", "eq", 1), "float int"),
        (Compare("v", "eq", True), "bool"),
        (Compare("v", "eq", "1"), "text"),
        (Compare("v", "eq", None), "null"),
        (Compare("v", "ne", 1), "bool more text"),
        (Compare("v", "ne", "1"), "bool float int more"),
        (Compare("v", "ne", None), ""),
        (Compare("v", "ge", 1), "float int more"),
        (Compare("v", "lt", 1.25), "float int"),
        (Compare("v", "gt", "0"), "text"),
        (Within("v", (1, "1")), "float int text"),
        (Within("v", (None, False)), "null"),
        (Within("v", ()), ""),
        (Within("v", (1, None), negate=True), "bool more text"),
        (Within("v", (), negate=True), "bool float int more null text"),
        (Exists("v"), "bool float int more null text"),
        (Not(Exists("v")), "none"),
        (Not(Compare("v", "eq", 1)), "bool more none null text"),
        (And(()), "bool float int more none null text"),
        (Or(()), ""),
        (And((Exists("v"), Not(Compare("v", "ge", 0)))), "bool null text"),
        (Or((Compare("v", "eq", True), Not(Exists("v")))), "bool none"),
    ],
    ids=named,
)
async def test_the_filter_grammar(store: Any, where: Filter, expected: str) -> None:
    await filled(store, "s", *FILTERED)
    assert ids(await store.query(["s"], [1.0, 0.0], 9, where=where)) == expected.split()
    assert await store.count("s", where=where) == len(expected.split())
    assert await store.delete("s", where=where) == len(expected.split())
    assert {found.id for found in await store.scan("s")} == {found.id for found in FILTERED} - set(expected.split())


@pytest.mark.parametrize("scope_exists", [True, False])
async def test_bad_questions_are_refused(store: Any, scope_exists: bool) -> None:
    if scope_exists:
        await filled(store, "s", item("a"))
        await store.scan("s")
    filters = [
        Compare("v", "lt", True),
        Compare("v", "ge", None),
        Compare("", "eq", 1),
        Compare("v", "eq", math.nan),
        Within("v", (2**63,)),
        Not(And((Compare("v", "gt", False),))),
    ]
    for where in filters:
        for call in (store.query(["s"], [1.0, 0.0], 1, where=where), store.count("s", where=where)):
            with pytest.raises(BadInput):
                await call
        with pytest.raises(BadInput):
            await store.delete("s", where=where)
    for call in (
        store.query(["s"], [1.0, 0.0], 0),
        store.query(["s"], [1.0, 0.0], -1),
        store.query("s", [1.0, 0.0], 1),
        store.query([""], [1.0, 0.0], 1),
        store.query(["s"], [math.nan, 0.0], 1),
        store.query(["s"], [1e39, 0.0], 1),
        store.query(["s"], "12", 1),
        store.get("s", "a"),
        store.get("", ["a"]),
        store.scan("s", limit=0),
        store.scan("s", after=""),
        store.drop(""),
        store.describe("x" * 257),
    ):
        with pytest.raises(BadInput):
            await call


async def test_a_question_of_another_dimension_is_a_mismatch(store: Any) -> None:
    await filled(store, "s", item("a"))
    await filled(store, "t", item("a", 1.0, 0.0, 0.0), spec=ScopeSpec("e", 3))
    await store.create("empty", SPEC)
    for scopes, vector in ((["s", "t"], [1.0, 0.0]), (["t"], [1.0, 0.0]), (["s"], [1.0]), (["empty"], [1.0, 0.0, 0.0])):
        with pytest.raises(ScopeMismatch):
            await store.query(scopes, vector, 1)


# --- the end -----------------------------------------------------------------------------------------------------


async def test_info_and_check(store: Any) -> None:
    assert store.info.kind == "vector"
    assert store.info == store.info
    await filled(store, "s", item("a"))
    assert (await store.check()).ok


async def test_everything_after_the_end_is_refused(store: Any) -> None:
    await filled(store, "s", item("a"))
    await store.get("s", ["a"])
    await store.aclose()
    await store.aclose()
    calls = [
        store.create("s", SPEC),
        store.describe("s"),
        store.upsert("s", [item("b")]),
        store.get("s", ["a"]),
        store.scan("s"),
        store.query(["s"], [1.0, 0.0], 1),
        store.delete("s", ids=["a"]),
        store.count("s"),
        store.scopes(),
        store.drop("s"),
        store.check(),
    ]
    for call in calls:
        with pytest.raises(Closed):
            await call
