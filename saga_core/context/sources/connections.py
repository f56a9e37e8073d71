"""Connections: the graph around the scene in readable lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import field, frozen

from saga_core.context.labels import Labels, labels
from saga_core.context.model import Piece, Section
from saga_core.context.render import one_field
from saga_core.context.scene import Scene
from saga_core.model.entities import Kind
from saga_core.recall.graph_walk import weight_of
from saga_core.stores.graph import Edge

_MOST = 24
_TARGETS = 6
_UNIT = 4.0
_PER_HOP = 0.5
_BETWEEN = 1.0
_ASKED = 1.4


@frozen
class Connections:
    """Typed edges met on the walk, by source and type: ``에르겐 → 아리아: trusts (+2)``, ``크룩 → 불꽃 검 (has)``.

    What the briefing tells is left out (the player's place, inventory and ways), and so are edges among lore, which act
    through the lorebook. The worth of an edge is 4 times its type's weight, halved for each hop of its nearer end and
    once more when its farther end is two hops away, plus 1 between two that the scene is about, times 1.4 when the
    player's words name an end.
    """

    name: str = "connections"

    async def gather(self, scene: Scene) -> Sequence[Piece]:
        """The best 24 lines."""
        found = await scene.walked()
        words = labels(scene.request.language)
        groups: dict[tuple[str, str, str], _Group] = {}
        for edge in found.edges:
            if not _tells(edge, scene):
                continue
            score = _worth(edge, found.distance, scene.asked)
            source, target = _subject_first(edge, found.distance)
            apart = target if edge.type == "RELATES_TO" else ""
            group = groups.setdefault((source, edge.type, apart), _Group(source, edge.type))
            group.add(target, score, edge)
        pieces = [group.piece(self.name, key, scene, words) for key, group in groups.items()]
        return sorted(pieces, key=lambda piece: (-piece.score, piece.key))[:_MOST]


@frozen
class _Group:
    """The edges of one type from one source."""

    source: str
    type: str
    targets: dict[str, float] = field(factory=dict)
    edges: list[Edge] = field(factory=list)

    def add(self, target: str, score: float, edge: Edge) -> None:
        self.targets[target] = max(score, self.targets.get(target, score))
        self.edges.append(edge)

    def piece(self, origin: str, key: tuple[str, str, str], scene: Scene, words: Labels) -> Piece:
        best = sorted(self.targets, key=lambda id_: (-self.targets[id_], _name(id_, scene), id_))
        names = [_name(id_, scene) for id_ in best[:_TARGETS]]
        if len(best) > _TARGETS:
            names.append(words.more.format(count=len(best) - _TARGETS))
        head = f"{_name(self.source, scene)} → {', '.join(names)}"
        if self.type == "RELATES_TO":
            text, about = f"{head}: {_relation(self.edges[0], scene)}", f"relation:{key[0]}:{key[2]}"
        else:
            text, about = f"{head} ({words.edges.get(self.type, self.type)})", f"edge:{key[0]}:{key[1]}"
        score = self.targets[best[0]]
        return Piece(origin, about, Section.RELATED, text, score, why={self.type: score})


def _tells(edge: Edge, scene: Scene) -> bool:
    """Whether the edge says something that is not told elsewhere, and both of its ends have names."""
    state = scene.state
    ends = (edge.source, edge.target)
    if edge.type in ("RELATED", "HAS_LORE", "ITEM_LORE") or not all(_known(id_, scene) for id_ in ends):
        return False
    if edge.type == "LOCATED_AT":
        return edge.source != state.player and edge.target != state.location and not _is_dead(edge.source, scene)
    if edge.type == "OWNS":
        return edge.source != state.player
    if edge.type == "ADJACENT":
        return state.location not in ends
    return True


def _worth(edge: Edge, hops: Mapping[str, int], asked: frozenset[str]) -> float:
    near, far = sorted((hops.get(edge.source, 9), hops.get(edge.target, 9)))
    worth = _UNIT * weight_of(edge.type) * _PER_HOP**near * (_PER_HOP if far > 1 else 1.0)
    worth += _BETWEEN if far == 0 else 0.0
    return worth * (_ASKED if edge.source in asked or edge.target in asked else 1.0)


def _subject_first(edge: Edge, hops: Mapping[str, int]) -> tuple[str, str]:
    """Source and target; of an edge that has no direction the nearer end first."""
    if edge.type == "ADJACENT" and hops.get(edge.target, 9) < hops.get(edge.source, 9):
        return edge.target, edge.source
    return edge.source, edge.target


def _known(id_: str, scene: Scene) -> bool:
    return scene.entity(id_) is not None or scene.request.lore.of_node(id_) is not None


def _name(id_: str, scene: Scene) -> str:
    entity = scene.entity(id_)
    return one_field(entity.name if entity else scene.request.lore.of_node(id_) or id_)


def _is_dead(id_: str, scene: Scene) -> bool:
    entity = scene.entity(id_)
    return entity is not None and entity.kind is Kind.CHARACTER and entity.dead


def _relation(edge: Edge, scene: Scene) -> str:
    known = scene.state.relations.get((edge.source, edge.target))
    if known is not None:
        return f"{one_field(known.type)} ({known.strength:+d})"
    return one_field(str(edge.properties.get("rel_type") or ""))
