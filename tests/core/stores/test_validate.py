"""What every store refuses. The words of each refusal name the field, the value and the remedy."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from enum import IntEnum, StrEnum
from math import inf, nan
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saga_backends.memory import MemoryState
from saga_core.errors import BadInput, ScopeMismatch
from saga_core.language import nfc
from saga_core.stores import validate
from saga_core.stores.filters import And, Compare, Exists, Filter, Not, Or, Within
from saga_core.stores.graph import Edge, EdgeKey, Mutation, Node
from saga_core.stores.lifecycle import Limits
from saga_core.stores.md_cache import Pages
from saga_core.stores.state_kv import Batch
from saga_core.stores.vector import ScopeSpec, VectorItem
from saga_core.values import PAGE_NAMES
from tests.naming import named


class Mood(StrEnum):
    CALM = "calm"


class Level(IntEnum):
    ONE = 1


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=20)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | NAMES
)


# --- names ---------------------------------------------------------------------------------------------------


@given(TEXTS)
def test_the_size_of_a_text_is_its_utf_8(text: str) -> None:
    assert validate.check_text("t", text, nul=True) == len(text.encode())


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("", "is empty; give a name"),
        ("x" * 257, "is too long; the limit is 256 characters"),
        ("a\0b", "holds a NUL character; remove it"),
        ("\ud83d", "lone surrogate"),
        (b"bytes", "is a bytes; give a str"),
        (None, "is a NoneType; give a str"),
        (Mood.CALM, "is a Mood; give a str"),
    ],
    ids=ascii,
)
def test_names_are_refused_by_name(name: Any, words: str) -> None:
    with pytest.raises(BadInput, match=rf"^scope: .*{words}"):
        validate.check_scope(name)
    for refused in ([name], ["ok", name], (name,)):
        with pytest.raises(BadInput, match=rf"^ids\[{len(refused) - 1}\]: .*{words}"):
            validate.check_names("ids", refused)


@given(NAMES)
def test_other_names_are_taken(name: str) -> None:
    validate.check_scope(name)
    validate.check_names("ids", [name, name])
    validate.check_names("ids", {name: 1}.keys())


@given(st.text(st.characters(exclude_categories=[]) | st.sampled_from("\0\ud800\udc00")))
def test_what_came_through_the_door_is_taken(text: str) -> None:
    validate.check_text("t", nfc(text))


@pytest.mark.parametrize("values", ["name", b"name", 3, None, iter(["name"])], ids=named)
def test_a_collection_of_names_is_wanted(values: Any) -> None:
    with pytest.raises(BadInput, match=r"^ids: .*give a list or a tuple"):
        validate.check_names("ids", values)


def test_long_values_are_cut_in_messages() -> None:
    with pytest.raises(BadInput) as caught:
        validate.check_scope("가" * 100_000)
    assert len(str(caught.value)) < 200


# --- scalars and properties ----------------------------------------------------------------------------------


@given(SCALARS, st.dictionaries(NAMES, SCALARS | st.lists(SCALARS, max_size=3).map(tuple), max_size=3))
def test_scalars_and_tuples_of_them_are_properties(scalar: Any, properties: dict[str, Any]) -> None:
    validate.check_scalar("value", scalar)
    validate.check_properties("node", properties)
    validate.check_metadata("item", {"name": scalar})


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (nan, "nan is not finite"),
        (-inf, "-inf is not finite"),
        (2**63, "does not fit 64 bits; store it as text"),
        (-(2**63) - 1, "does not fit 64 bits"),
        (b"x", "is a bytes"),
        (Mood.CALM, "is a Mood"),
        (Level.ONE, "is a Level"),
        ([1], "is a list"),
        ({}, "is a dict"),
        (1j, "is a complex"),
        ("\udc00", "lone surrogate"),
        ("a\0", "NUL"),
        ((1, nan), "nan is not finite"),
        (((1,),), "is a tuple"),
    ],
    ids=ascii,
)
def test_other_values_are_refused(value: Any, words: str) -> None:
    with pytest.raises(BadInput, match=rf"^node\['hp'\]: .*{words}"):
        validate.check_properties("node", {"ok": 1, "hp": value})
    with pytest.raises(BadInput, match=r"^item\['hp'\]: "):
        validate.check_metadata("item", {"hp": value})


def test_metadata_has_no_tuples() -> None:
    validate.check_properties("node", {"tags": ("a", "b")})
    with pytest.raises(BadInput, match="is a tuple"):
        validate.check_metadata("item", {"tags": ("a", "b")})


@pytest.mark.parametrize("mapping", [None, [("a", 1)], "a"], ids=str)
def test_properties_are_a_mapping(mapping: Any) -> None:
    with pytest.raises(BadInput, match=r"^node: .*give a dict"):
        validate.check_properties("node", mapping)


@pytest.mark.parametrize("name", ["", 1, "a\0", "x" * 257], ids=ascii)
def test_fields_have_names(name: Any) -> None:
    with pytest.raises(BadInput, match="field name"):
        validate.check_properties("node", {name: 1})


@pytest.mark.parametrize("value", ["가" * 2, ("가", "나"), (1,), 1, None, True], ids=str)
def test_the_size_of_properties_counts_names_and_values(value: Any) -> None:
    texts = [value] if isinstance(value, str) else value if isinstance(value, tuple) else [0]
    size = 3 + sum(len(part.encode()) if isinstance(part, str) else 8 for part in texts)
    validate.check_properties("node", {"이": value}, Limits(value_bytes=size))
    with pytest.raises(BadInput, match=f"node: {size} bytes; the limit is {size - 1}"):
        validate.check_properties("node", {"이": value}, Limits(value_bytes=size - 1))


# --- graph ---------------------------------------------------------------------------------------------------

NODE = Node("a", "character")
EDGE = Edge("a", "knows", "b")


@pytest.mark.parametrize(
    ("mutation", "words"),
    [
        (Mutation(put_nodes=(NODE, Node("", "x"))), r"put_nodes\[1\]\.id: is empty"),
        (Mutation(put_nodes=(Node("a", ""),)), r"put_nodes\[0\]\.label: is empty"),
        (Mutation(put_nodes=(Node("a", "x", {"hp": nan}),)), r"put_nodes\[0\] 'a'\['hp'\]: nan"),
        (Mutation(put_edges=(Edge("", "t", "b"),)), r"put_edges\[0\]\.source"),
        (Mutation(put_edges=(Edge("a", "", "b"),)), r"put_edges\[0\]\.type"),
        (Mutation(put_edges=(Edge("a", "t", ""),)), r"put_edges\[0\]\.target"),
        (Mutation(put_edges=(EDGE, Edge("a", "t", "b", "\0"))), r"put_edges\[1\]\.key: .*NUL"),
        (Mutation(put_edges=(Edge("a", "t", "b", "", {"w": inf}),)), r"put_edges\[0\] 'a'-t->'b'\['w'\]"),
        (Mutation(delete_nodes=("a", "")), r"delete_nodes\[1\]"),
        (Mutation(delete_edges=(EdgeKey("a", "t", ""),)), r"delete_edges\[0\]\.target"),
        (Mutation(watermark=""), "watermark: is empty"),
        (Mutation(delete_nodes=("a",) * 10_001), "mutation: 10001 entries; the limit is 10000"),
    ],
)
def test_a_mutation_names_its_culprit(mutation: Mutation, words: str) -> None:
    with pytest.raises(BadInput, match=f"^{words}"):
        validate.check_mutation(mutation)


def test_a_sound_mutation_is_taken() -> None:
    validate.check_mutation(
        Mutation((NODE,), (EDGE, Edge("a", "t", "b", "열쇠")), ("x",), (EdgeKey("a", "t", "b"),), "t1")
    )
    validate.check_mutation(Mutation())


IDS = st.sampled_from("abcd")


@given(
    present=st.frozensets(IDS),
    puts=st.frozensets(IDS),
    gone=st.frozensets(IDS),
    edges=st.lists(st.tuples(IDS, IDS), max_size=3),
)
def test_edges_need_their_nodes(
    present: frozenset[str], puts: frozenset[str], gone: frozenset[str], edges: list[tuple[str, str]]
) -> None:
    mutation = Mutation(
        tuple(Node(name, "n") for name in sorted(puts)),
        tuple(Edge(source, "t", target) for source, target in edges),
        tuple(sorted(gone)),
    )
    there = (present - gone) | puts
    missing = [name for edge in edges for name in edge if name not in there]
    found = validate.endpoints(mutation) & present
    try:
        validate.check_endpoints(mutation, found)
    except BadInput as error:
        assert missing and f"no node {missing[0]!r}" in str(error)
    else:
        assert not missing


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("ids", None, "both", None), "ids"),
        ((["a", ""], None, "both", None), r"ids\[1\]"),
        ((["a"], "knows", "both", None), "types"),
        ((["a"], [""], "both", None), r"types\[0\]"),
        ((["a"], None, "sideways", None), "direction: 'sideways'; give 'out', 'in' or 'both'"),
        ((["a"], None, "both", 0), "limit: 0 is below 1"),
        ((["a"], None, "both", True), "limit: True is a bool"),
    ],
)
def test_neighbors_are_asked_well(arguments: tuple[Any, ...], words: str) -> None:
    with pytest.raises(BadInput, match=f"^{words}"):
        validate.check_neighbors(*arguments)


def test_scans_are_asked_well() -> None:
    validate.check_neighbors([], [], "in", 1)
    validate.check_node_scan(None, None, 1)
    validate.check_node_scan("label", "a", 10**9)
    validate.check_item_scan("a", 1)
    for arguments in (("", None, 1), (None, "", 1), (None, None, 0), (1, None, 1)):
        with pytest.raises(BadInput):
            validate.check_node_scan(*arguments)
    for after, limit in (("", 1), (None, 0), ("a", "1")):
        with pytest.raises(BadInput):
            validate.check_item_scan(after, limit)


# --- vectors -------------------------------------------------------------------------------------------------


@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), max_size=5))
def test_vectors_become_32_bit_arrays(vector: list[float]) -> None:
    for given_as in (vector, tuple(vector), array("d", vector), array("f", vector)):
        made = validate.as_float32("v", given_as)
        assert made == array("f", vector) and made is not given_as


@pytest.mark.parametrize(
    "vector", [[nan], [1.0, inf], [inf, -inf], [1e39], ["1"], "12", b"1234", [None], None, 1.0, [10**400], iter([1.0])]
)
def test_what_is_no_vector_is_refused(vector: Any) -> None:
    with pytest.raises(BadInput, match=r"^v: .*give"):
        validate.as_float32("v", vector)


def test_large_components_do_not_hide_each_other() -> None:
    largest = 3.4e38
    assert len(validate.as_float32("v", [largest] * 4_096)) == 4_096
    with pytest.raises(BadInput):
        validate.as_float32("v", [largest] * 4_095 + [-inf])


def test_dimensions_must_fit() -> None:
    spec = ScopeSpec("ngram", 2)
    validate.check_dimension("v", [1, 2], "s", spec)
    with pytest.raises(ScopeMismatch, match=r"^v: 3 components, but scope 's' has 2 \(embedder 'ngram'\); rebuild"):
        validate.check_dimension("v", [1, 2, 3], "s", spec)


@pytest.mark.parametrize(("embedder", "dimension"), [("", 2), ("e", 0), ("e", -1), ("e", 4_097), ("e", 2.0), (1, 2)])
def test_specs_are_checked(embedder: Any, dimension: Any) -> None:
    validate.check_spec(ScopeSpec("e", 4_096))
    with pytest.raises(BadInput, match=r"^spec\."):
        validate.check_spec(ScopeSpec(embedder, dimension))


@pytest.mark.parametrize(
    ("item", "words"),
    [
        (VectorItem("", [1.0]), r"items\[1\]\.id: is empty"),
        (VectorItem("a", [1.0], "a\0"), r"items\[1\] 'a': text: .*NUL"),
        (VectorItem("a", [1.0], "가" * 6_000_000), r"items\[1\] 'a': text of 18000000 bytes; the limit is 16777216"),
        (VectorItem("a", [1.0], metadata={"turn": nan}), r"items\[1\] 'a': metadata\['turn'\]: nan"),
        ("a", r"items\[1\]: 'a' is a str; give a VectorItem"),
    ],
    ids=["id", "nul", "size", "metadata", "type"],
)
def test_an_item_names_its_culprit(item: Any, words: str) -> None:
    with pytest.raises(BadInput, match=f"^{words}"):
        validate.check_items([VectorItem("ok", [1.0], "본문", {"turn": 1}), item])


@pytest.mark.parametrize(
    "where",
    [
        Compare("", "eq", 1),
        Compare("a", "lt", True),
        Compare("a", "eq", nan),
        Compare("a", "eq", "\0"),
        Compare("a", "eq", 2**63),
        Within("", (1,)),
        Within("a", (1, nan)),
        Within("a", "text"),  # type: ignore[arg-type]
        Exists(""),
        "turn = 1",
        object(),
    ],
    ids=named,
)
def test_filters_are_checked_however_deep(where: Any) -> None:
    sound = Compare("turn", "ge", 3)
    for filter_ in (where, Not(where), And((sound, where)), Or((sound, Not(Or((where,)))))):
        with pytest.raises(BadInput):
            validate.check_where(filter_)
        with pytest.raises(BadInput):
            validate.check_query(["s"], 1, filter_)
        with pytest.raises(BadInput):
            validate.check_delete(None, filter_)


def test_sound_questions_are_taken() -> None:
    where: Filter = And((Compare("a", "eq", None), Not(Within("b", ("x", 1, None, True))), Or(()), Exists("c")))
    validate.check_where(None)
    validate.check_where(where)
    validate.check_query(["s", "s"], 1, where)
    validate.check_delete([], None)
    validate.check_delete(None, where)


@pytest.mark.parametrize("k", [0, -1, True, 1.0, None], ids=str)
def test_k_is_a_count(k: Any) -> None:
    with pytest.raises(BadInput, match=r"^k: "):
        validate.check_query(["s"], k, None)


def test_one_way_to_delete() -> None:
    for ids, where in ((None, None), (["a"], Exists("a"))):
        with pytest.raises(BadInput, match="either ids or where"):
            validate.check_delete(ids, where)


# --- keys and pages: the rest is in the contract tests of both stores ----------------------------------------


@given(st.lists(TEXTS.filter(bool), min_size=1, max_size=3).map(tuple))
def test_any_text_is_a_segment(key: Any) -> None:
    size = sum(len(segment.encode()) + segment.count("\0") + 2 for segment in key)
    validate.check_key(key, Limits(key_bytes=size))
    with pytest.raises(BadInput, match=f"{size} bytes with the ends of its segments; the limit is {size - 1}"):
        validate.check_key(key, Limits(key_bytes=size - 1))


@pytest.mark.parametrize(
    ("batch", "expected", "words"),
    [
        (Batch({("a",): "x"}), None, r"batch\.puts\[\('a',\)\]: 'x' is a str; give bytes"),  # type: ignore[dict-item]
        (Batch(), {("a",): 1}, r"expected\[\('a',\)\]: 1 is a int; give bytes"),
        (Batch(deletes=frozenset({("",)})), None, r"batch\.deletes: segment 0 of \('',\) is empty"),
        (Batch(), {("a", "\ud800"): None}, r"expected\[1\]: .*lone surrogate"),
    ],
)
def test_a_batch_names_its_culprit(batch: Batch, expected: Mapping[Any, Any] | None, words: str) -> None:
    with pytest.raises(BadInput, match=f"^{words}"):
        validate.check_batch(batch, expected)


def test_pages_name_their_culprit() -> None:
    sound = Pages(dict.fromkeys(PAGE_NAMES, "a\0\r\n"))
    validate.check_pages(sound)
    with pytest.raises(BadInput, match=r"^pages\['state\.md'\]: 4 bytes; the limit is 3"):
        validate.check_pages(sound, Limits(value_bytes=3))


NESTED: Any = Exists("v")
for _ in range(3_000):
    NESTED = Not(NESTED)


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (lambda: validate.check_batch(None, None), "batch: None is a NoneType; give a Batch"),  # type: ignore[arg-type]
        (lambda: validate.check_batch(Batch(None), None), r"batch\.puts: None"),  # type: ignore[arg-type]
        (lambda: validate.check_batch(Batch(), []), r"expected: \[\] is a list; give a Mapping"),  # type: ignore[arg-type]
        (lambda: validate.check_mutation(None), "mutation: None"),  # type: ignore[arg-type]
        (lambda: validate.check_mutation(Mutation(put_nodes=None)), "put_nodes: None"),  # type: ignore[arg-type]
        (lambda: validate.check_mutation(Mutation((None,))), r"put_nodes\[0\]: None"),  # type: ignore[arg-type]
        (lambda: validate.check_mutation(Mutation(delete_edges=("a",))), "give an EdgeKey"),  # type: ignore[arg-type]
        (lambda: validate.check_pages({}), r"pages: \{\} is a dict; give a Pages"),  # type: ignore[arg-type]
        (lambda: validate.check_spec(None), "spec: None"),  # type: ignore[arg-type]
        (lambda: validate.check_where(NESTED), "where: is nested deeper than 64 levels"),
        (lambda: validate.check_where(And(None)), "where: parts: None"),  # type: ignore[arg-type]
        (lambda: validate.check_where(Or((None,))), "where: None is a NoneType"),  # type: ignore[arg-type]
    ],
)
def test_the_wrong_kind_of_value_is_told_by_its_name(made: Any, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        made()


def test_a_filter_of_sixty_four_levels_is_taken() -> None:
    deep: Any = Exists("v")
    for _ in range(validate.MAX_FILTER_DEPTH):
        deep = Not(deep)
    validate.check_where(deep)
    with pytest.raises(BadInput, match="nested deeper"):
        validate.check_where(Not(deep))


def test_a_class_is_looked_at_once_and_what_takes_the_place_of_its_methods_too(monkeypatch: pytest.MonkeyPatch) -> None:
    async def commit() -> None: ...

    validate.check_store("state", "state", MemoryState())
    store = MemoryState()
    with monkeypatch.context() as patch:
        patch.setattr(validate.inspect, "signature", lambda _: pytest.fail("it was looked at before"))
        validate.check_store("state", "state", store)
    store.commit = commit  # type: ignore[assignment, method-assign]
    with pytest.raises(BadInput, match=r"MemoryState\.commit cannot be called as commit"):
        validate.check_store("state", "state", store)
    monkeypatch.setattr(MemoryState, "commit", commit)
    with pytest.raises(BadInput, match=r"MemoryState\.commit cannot be called as commit"):
        validate.check_store("state", "state", MemoryState())
