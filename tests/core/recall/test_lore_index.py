"""A world's lore, prepared: which entries a text mentions, a name opens, a tag stands in."""

from __future__ import annotations

from typing import Any

import pytest

from saga_core.ids import entity_id
from saga_core.recall.lorebook import LoreIndex
from saga_core.world import LoreEntry


def entry(name: str, **fields: Any) -> LoreEntry:
    return LoreEntry(name, "location", "A1", **fields)


INDEX = LoreIndex(
    [
        entry("어둠의 숲", aliases=("검은 숲",), tags=("성", "숲")),
        entry("Old Mill", aliases=("the mill",), tags=("Mill Road",)),
        entry("왕국", constant=True),
        entry("A Law", constant=True, tags=("숲",)),
    ]
)


def test_entries_are_there_by_name_and_constants_in_order() -> None:
    assert list(INDEX.entries) == ["어둠의 숲", "Old Mill", "왕국", "A Law"] and len(INDEX) == 4
    assert INDEX.constants == ("A Law", "왕국")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("어둠의 숲에서 Old Mill까지", ("Old Mill", "어둠의 숲")),
        ("검은 숲은 어둡다", ("어둠의 숲",)),
        ("We reach THE MILL.", ("Old Mill",)),
        ("The millstone turns.", ()),
        ("성의 뜰", ()),
        ("", ()),
    ],
)
def test_a_text_mentions_names_and_aliases_and_no_tags(text: str, names: tuple[str, ...]) -> None:
    assert INDEX.mentioned_in(text) == names


def test_a_name_opens_what_is_called_or_tagged_so_as_a_whole() -> None:
    assert INDEX.keyed(["숲"]) == {"어둠의 숲", "A Law"}
    assert INDEX.keyed(["어둠의  숲", "OLD MILL", "x"]) == {"어둠의 숲", "Old Mill"}
    assert INDEX.keyed(["mill road"]) == {"Old Mill"}
    assert INDEX.keyed(["road"]) == INDEX.keyed([]) == set()


def test_only_names_and_aliases_name_an_entry() -> None:
    assert INDEX.named(["검은 숲", "숲"]) == {"어둠의 숲"}
    assert INDEX.named(["The Mill"]) == {"Old Mill"} and INDEX.named(["성"]) == frozenset()


@pytest.mark.parametrize(
    ("name", "found"), [("성의 뜰", {"어둠의 숲"}), ("여성", set()), ("the long Mill Road", {"Old Mill"})]
)
def test_a_tag_stands_in_a_name_as_a_word_of_its_own(name: str, found: set[str]) -> None:
    assert INDEX.tagged_in([name]) == found
    INDEX.tagged_in([name]).add("changed by a caller")
    assert INDEX.tagged_in([name]) == found


def test_a_node_of_the_graph_leads_to_its_entry() -> None:
    assert INDEX.nodes[entity_id("lore", "old mill")] == "Old Mill"
    assert entity_id("location", "Old Mill") not in INDEX.nodes
