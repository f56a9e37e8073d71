"""The graph's schema: data that walks and backends rest on."""

from __future__ import annotations

import pytest

from saga_core.errors import BadInput
from saga_core.model import SCHEMA


def test_every_edge_leads_from_a_known_label_to_a_known_label() -> None:
    labels = {node.label for node in SCHEMA.nodes}
    assert len(labels) == len(SCHEMA.nodes) == 5
    assert {edge.source for edge in SCHEMA.edges} | {edge.target for edge in SCHEMA.edges} <= labels
    assert len({edge.type for edge in SCHEMA.edges}) == len(SCHEMA.edges) == 10


def test_interest_carries_over_an_edge_in_part_and_furthest_over_relations() -> None:
    assert all(0 < edge.weight < 1 for edge in SCHEMA.edges)
    assert max(SCHEMA.edges, key=lambda edge: edge.weight).type == "RELATES_TO"


def test_every_node_has_a_name() -> None:
    assert all(node.properties[0] == "name" for node in SCHEMA.nodes)


def test_an_edge_is_found_by_its_type_and_an_unknown_one_named_with_those_that_are() -> None:
    assert SCHEMA.edge("OWNS").properties == ("quantity", "equipped")
    with pytest.raises(BadInput, match=r"'HATES' is not in the schema; known: RELATES_TO, LOCATED_AT"):
        SCHEMA.edge("HATES")
