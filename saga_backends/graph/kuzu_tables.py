"""Stores graphs in the tables of a Kuzu or Ladybug database. All code runs on the worker's thread.

Nodes of all labels are rows of ``Entity``, and edges of all types are rows of ``Tie``. The primary key of ``Entity``
combines scope and id, because only the primary key has an index. A statement finds single nodes by this key, and many
nodes in one pass over the table where that is cheaper (``_run``). Ties repeat the ids of their ends, so that
reading them needs no join. Properties are JSON with sorted keys, which keeps their types.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from attrs import frozen

from saga_backends.graph import kuzu_engine
from saga_backends.graph.kuzu_database import KuzuDatabase
from saga_backends.graph.kuzu_engine import PoolFull
from saga_core.errors import StoreCorrupt, StoreError
from saga_core.stores import Direction, Edge, EdgeKey, Health, Mutation, Node, Value
from saga_core.stores.validate import check_endpoints, endpoints

# --- Runs one statement for many rows in a single pass over a table, instead of one lookup per row ----------------
#
# Looking up a node takes 0.1 ms, and changing an edge that is found by its ends 0.6 ms. A pass takes 1 to 3 ms, plus
# 0.1 ms per thousand nodes and 0.5 ms per thousand edges in the tables.

_MANY = 64
"""The number of rows from which a statement is run in a pass."""
_MOST = 2_000
"""The maximum number of rows in one pass."""
_MOST_TEXT = 1_024 * 1_024
"""The maximum number of characters in all values of one pass. The pool holds several copies of them."""


@frozen
class Each:
    """A statement for one row, and the same for many rows. Created by ``each``."""

    one: str
    many: str


def each(text: str, *, match: str = "") -> Each:
    """Create an ``Each`` from ``text``, the statement for one row.

    If many rows need another beginning, ``match`` replaces the text before ``CREATE``. This avoids a cross join where
    one ``MATCH`` finds two nodes.
    """
    values = ", ".join(f"r.{name} AS {name}" for name in sorted(set(re.findall(r"\$(\w+)", text))))
    begun = f"{match} {text[text.index('CREATE') :]}" if match else text
    return Each(text, f"UNWIND $rows AS r WITH {values} {begun.replace('$', '')}")


def _parts(rows: Sequence[Mapping[str, str]]) -> Iterator[list[Mapping[str, str]]]:
    part: list[Mapping[str, str]] = []
    text = 0
    for row in rows:
        size = sum(map(len, row.values()))
        if part and (len(part) == _MOST or text + size > _MOST_TEXT):
            yield part
            part, text = [], 0
        part.append(row)
        text += size
    if part:
        yield part


_Row: TypeAlias = list[Any]

_JSON = json.JSONEncoder(ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))

_NODE = "RETURN e.id, e.label, e.properties"
_TIE = "RETURN t.source, t.type, t.target, t.key, t.properties"

_GET = each(f"MATCH (e:Entity {{pk: $pk}}) {_NODE}")
_IS_THERE = each("MATCH (e:Entity {pk: $pk}) RETURN e.id")
_ARROWS = {"out": "-[t:Tie]->", "in": "<-[t:Tie]-", "both": "-[t:Tie]-"}
_TIES = {way: each(f"MATCH (e:Entity {{pk: $pk}}){arrow}(:Entity) {_TIE}") for way, arrow in _ARROWS.items()}

_CREATE_NODE = each(
    "CREATE (:Entity {pk: $pk, scope: $scope, id: $id, label: $label, name: $name, properties: $properties})"
)
_SET_NODE = each("MATCH (e:Entity {pk: $pk}) SET e.label = $label, e.name = $name, e.properties = $properties")
_DELETE_NODE = each("MATCH (e:Entity {pk: $pk}) DETACH DELETE e")
_KEYS_FROM = each("MATCH (:Entity {pk: $pk})-[t:Tie]->(:Entity) RETURN t.source, t.type, t.target, t.key")
_CREATE_TIE = each(
    "MATCH (a:Entity {pk: $source_pk}), (b:Entity {pk: $target_pk}) CREATE (a)-[:Tie {source: $source, type: $type, "
    "target: $target, key: $key, properties: $properties}]->(b)",
    match="MATCH (a:Entity {pk: source_pk}) WITH a, target_pk, source, type, target, key, properties "
    "MATCH (b:Entity {pk: target_pk})",
)
_THE_TIE = "MATCH (:Entity {pk: $source_pk})-[t:Tie]->(:Entity {pk: $target_pk}) WHERE t.type = $type AND t.key = $key"
_SET_TIE = each(f"{_THE_TIE} SET t.properties = $properties")
_DELETE_TIE = each(f"{_THE_TIE} DELETE t")
_DELETE_TIES_OF = tuple(each(f"MATCH (:Entity {{pk: $pk}}){_ARROWS[way]}(:Entity) DELETE t") for way in ("out", "in"))

_SCOPES = "MATCH (s:Scope) RETURN s.name"
_WATERMARK = "MATCH (s:Scope {name: $name}) RETURN s.watermark"
_CREATE_SCOPE = "CREATE (:Scope {name: $name})"
_SET_WATERMARK = "MATCH (s:Scope {name: $name}) SET s.watermark = $watermark"
_DELETE_SCOPE = "MATCH (s:Scope {name: $name}) DELETE s"
_DELETE_TIES = "MATCH (e:Entity)-[t:Tie]->(:Entity) WHERE e.scope = $scope DELETE t"
_DELETE_NODES = "MATCH (e:Entity) WHERE e.scope = $scope DETACH DELETE e"
_COUNT = "MATCH (s:Scope) RETURN count(*)"
_ALL_NODES = f"MATCH (e:Entity) WHERE e.scope = $scope {_NODE}"
_ALL_TIES = f"MATCH (e:Entity)-[t:Tie]->(:Entity) WHERE e.scope = $scope {_TIE}"


class KuzuTables:
    """The operations on the tables, which raise ``StoreError``.

    Arguments must have been checked, except for whether the nodes of edges exist.
    """

    def __init__(self, database: KuzuDatabase) -> None:
        self.database = database

    def check(self, thorough: bool) -> Health:
        """Count the scopes, or read every node and edge if ``thorough``."""
        file = self.database.file
        try:
            ((scopes,),) = self.database.rows(_COUNT)
            detail = f"{file}: readable, {scopes} scopes"
            if thorough:
                nodes, edges = self._read_all()
                detail = f"{file}: {nodes} nodes and {edges} edges of {scopes} scopes read"
            return Health(ok=True, detail=detail, bytes=self.database.bytes_on_disk())
        except (StoreError, OSError) as error:
            return Health(ok=False, detail=str(error))

    def _read_all(self) -> tuple[int, int]:
        nodes = edges = 0
        for scope in self.scopes():
            here = {self._node(row).id for row in self.database.rows(_ALL_NODES, scope=scope)}
            ties = [self._edge(row) for row in self.database.rows(_ALL_TIES, scope=scope)]
            for tie in ties:
                if tie.source not in here or tie.target not in here:
                    raise self._corrupt(f"the edge {tie.identity} of scope {scope!r} lacks a node")
            nodes += len(here)
            edges += len(ties)
        return nodes, edges

    # --- writing --------------------------------------------------------------------------------------------------

    def apply(self, scope: str, mutation: Mutation) -> None:
        """See ``GraphStore.apply``."""
        begun = bool(self.database.rows(_WATERMARK, name=scope))
        wanted = endpoints(mutation).union(node.id for node in mutation.put_nodes) if begun else ()
        here = {row[0] for row in self._run(_IS_THERE, [{"pk": _pk(scope, node_id)} for node_id in wanted])}
        check_endpoints(mutation, here)
        if not mutation:
            return
        here.difference_update(mutation.delete_nodes)
        self.database.write(lambda: self._change(scope, mutation, begun, here))

    def _run(self, made: Each, rows: Sequence[Mapping[str, str]]) -> list[_Row]:
        """Run ``made`` for each of ``rows``, many of them in passes. Returns all result rows, in any order.

        If a pass does not fit into the pool, its rows are run one by one. Inside a transaction, which such a failure
        ends, ``PoolFull`` is raised instead so that the transaction can be retried.
        """
        database = self.database
        found: list[_Row] = []
        for part in _parts(rows):
            if len(part) >= _MANY and not database.sparing:
                try:
                    found += database.rows(made.many, rows=part)
                    continue
                except PoolFull:
                    if database.writing:
                        raise
            for row in part:
                found += database.rows(made.one, **row)
        return found

    def _change(self, scope: str, mutation: Mutation, begun: bool, old: set[str]) -> None:
        """Apply the mutation. ``old`` are the nodes to put or to connect that exist already and are not deleted."""
        self._run(_DELETE_TIE, [_identity(scope, key) for key in dict.fromkeys(mutation.delete_edges)])
        self._delete_nodes([{"pk": _pk(scope, node_id)} for node_id in dict.fromkeys(mutation.delete_nodes)])
        self._put_nodes(scope, {node.id: node for node in mutation.put_nodes}.values(), old)
        self._put_edges(scope, {edge.identity: edge for edge in mutation.put_edges}.values(), old)
        if not begun:
            self.database.rows(_CREATE_SCOPE, name=scope)
        if mutation.watermark is not None:
            self.database.rows(_SET_WATERMARK, name=scope, watermark=mutation.watermark)

    def _delete_nodes(self, rows: Sequence[Mapping[str, str]]) -> None:
        """Delete the edges first, because Kuzu's ``DETACH DELETE`` sometimes leaves an edge at its other end."""
        for made in (*_DELETE_TIES_OF, _DELETE_NODE):
            self._run(made, rows)

    def _put_nodes(self, scope: str, nodes: Iterable[Node], old: set[str]) -> None:
        new: list[dict[str, str]] = []
        changed: list[dict[str, str]] = []
        for node in nodes:
            name = node.properties.get("name")
            values = {
                "pk": _pk(scope, node.id),
                "label": node.label,
                "name": name if isinstance(name, str) else "",
                "properties": _to_json(node.properties),
            }
            if node.id in old:
                changed.append(values)
            else:
                new.append({**values, "scope": scope, "id": node.id})
        self._run(_SET_NODE, changed)
        self._run(_CREATE_NODE, new)

    def _put_edges(self, scope: str, edges: Iterable[Edge], old: set[str]) -> None:
        """Create or change edges. An edge can only exist already if both of its nodes do."""
        edges = list(edges)
        sources = dict.fromkeys(edge.source for edge in edges if edge.source in old and edge.target in old)
        rows = self._run(_KEYS_FROM, [{"pk": _pk(scope, source)} for source in sources])
        known = {(source, type_, target, key) for source, type_, target, key in rows}
        new: list[dict[str, str]] = []
        changed: list[dict[str, str]] = []
        for edge in edges:
            values = {**_identity(scope, edge), "properties": _to_json(edge.properties)}
            if (edge.source, edge.type, edge.target, edge.key) in known:
                changed.append(values)
            else:
                new.append({**values, "source": edge.source, "target": edge.target})
        self._run(_SET_TIE, changed)
        self._run(_CREATE_TIE, new)

    def drop(self, scope: str) -> None:
        """See ``GraphStore.drop``."""
        if not self.database.rows(_WATERMARK, name=scope):
            return

        def work() -> None:
            self.database.rows(_DELETE_TIES, scope=scope)
            self.database.rows(_DELETE_NODES, scope=scope)
            self.database.rows(_DELETE_SCOPE, name=scope)

        self.database.write(work)

    # --- reading --------------------------------------------------------------------------------------------------

    def get(self, scope: str, ids: Sequence[str]) -> dict[str, Node]:
        """See ``GraphStore.get``."""
        asked = dict.fromkeys(ids)
        rows = self._run(_GET, [{"pk": _pk(scope, node_id)} for node_id in asked])
        found = {node.id: node for node in map(self._node, rows)}
        return {node_id: found[node_id] for node_id in asked if node_id in found}

    def neighbors(
        self, scope: str, ids: Sequence[str], types: Sequence[str] | None, direction: Direction, limit: int | None
    ) -> list[Edge]:
        """See ``GraphStore.neighbors``. Sorting and filtering are done here, because both engines are slower at it."""
        asked = dict.fromkeys(ids)
        rows = self._run(_TIES[direction], [{"pk": _pk(scope, node_id)} for node_id in asked])
        found = {tuple(row[:4]): row for row in rows if types is None or row[1] in types}
        return [self._edge(found[identity]) for identity in sorted(found)[:limit]]

    def scan(self, scope: str, label: str | None, after: str | None, limit: int) -> list[Node]:
        """See ``GraphStore.scan``."""
        where = "e.scope = $scope"
        parameters = {"scope": scope}
        if label is not None:
            where += " AND e.label = $label"
            parameters["label"] = label
        if after is not None:
            where += " AND e.id > $after"
            parameters["after"] = after
        # A power of two keeps the number of different statements low, each of which must be planned.
        most = min(1 << (limit - 1).bit_length(), 1 << 30)
        rows = self.database.rows(f"MATCH (e:Entity) WHERE {where} {_NODE} ORDER BY e.id LIMIT {most}", **parameters)
        return [self._node(row) for row in rows[:limit]]

    def watermark(self, scope: str) -> str | None:
        """See ``GraphStore.watermark``."""
        rows = self.database.rows(_WATERMARK, name=scope)
        return rows[0][0] if rows else None

    def scopes(self) -> list[str]:
        """See ``GraphStore.scopes``."""
        return sorted(name for (name,) in self.database.rows(_SCOPES))

    def _node(self, row: _Row) -> Node:
        node_id, label, properties = row
        return Node(node_id, label, self._properties(properties, f"node {node_id!r}"))

    def _edge(self, row: _Row) -> Edge:
        source, type_, target, key, properties = row
        return Edge(source, type_, target, key, self._properties(properties, f"an edge of {source!r}"))

    def _properties(self, text: Any, owner: str) -> dict[str, Value]:
        try:
            found = json.loads(text)
        except (ValueError, TypeError) as error:
            raise self._corrupt(f"the properties of {owner} are no JSON: {error}") from error
        if type(found) is not dict:
            raise self._corrupt(f"the properties of {owner} are no JSON object")
        return {name: tuple(value) if type(value) is list else value for name, value in found.items()}

    def _corrupt(self, what: str) -> StoreCorrupt:
        file = self.database.file
        return StoreCorrupt(f"{file}: {what}; {kuzu_engine.remedy(file)}")


def _pk(scope: str, node_id: str) -> str:
    """The primary key of a node. It is unique for each pair of scope and id, whatever characters they contain."""
    return f"{len(scope)}:{scope}{node_id}"


def _identity(scope: str, key: Edge | EdgeKey) -> dict[str, str]:
    return {
        "source_pk": _pk(scope, key.source),
        "target_pk": _pk(scope, key.target),
        "type": key.type,
        "key": key.key,
    }


def _to_json(properties: Mapping[str, Value]) -> str:
    return _JSON.encode(dict(properties))
