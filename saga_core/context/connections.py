"""Connections: the graph around the scene as readable lines."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import field, frozen

from saga_core.context.model import Piece, Section
from saga_core.context.packing import Labels, labels, one_field
from saga_core.context.scene import Scene
from saga_core.context.source import NOTHING_GIVEN, Given
from saga_core.recall import Walk, weight_of
from saga_core.stores import Edge

_MOST = 8
_EDGES = 48
_TARGETS = 6
_UNIT = 4.0
_PER_HOP = 0.5
_BETWEEN = 1.0
_ASKED = 1.4

_AMONG_LORE = frozenset({"RELATED", "HAS_LORE", "ITEM_LORE"})
_LINKS = frozenset({"ADJACENT", "INVOLVED_IN", "CAUSED"})

_Found = tuple[float, tuple[str, str, str, str], Edge]
"""The negative score of an edge, its identity, and the edge."""


@frozen
class Connections:
    """Typed edges met on the walk, by source and type: ``에르겐 → 아리아: trusts (+2)``, ``크룩 → 불꽃 검 (has)``.

    Facts in the briefing are left out (the player's place, inventory and ways), and so are edges among lore, which
    count in the lorebook. Edges that the state does not confirm are left out. An edge is relevant if it connects two
    seeds of the scene, or touches an entity that the player's words name or an absent one that the last two messages
    name. Other edges are left out, so that unchanged facts are not repeated every turn.

    The score of an edge is 4 times its type's weight, halved for each hop of its nearer end and once more if its
    farther end is two hops away, plus 1 between two seeds, times 1.4 if the player's words name an end.
    """

    name: str = "connections"
    needs: tuple[str, ...] = ()

    def prepare(self, scene: Scene) -> None:
        """Start the walk over the graph."""
        scene.ask_graph()

    def ready(self, scene: Scene) -> bool:
        """Whether the graph was read."""
        return scene.answered

    async def gather(self, scene: Scene, given: Given = NOTHING_GIVEN) -> Sequence[Piece]:
        """Return the best 8 lines, made of the 48 best edges."""
        found = await scene.walked()
        hops = found.distance
        groups: dict[tuple[str, str, str], _Group] = {}
        told = 0
        for loss, _, edge in _by_worth(found, scene.asked, _subjects(scene)):
            if told == _EDGES:
                break
            if not _tells(edge, scene):
                continue
            told += 1
            source, target = edge.source, edge.target
            if edge.type == "ADJACENT" and hops[target] < hops[source]:
                # A way has no direction. It is written from the end that is nearer to the scene.
                source, target = target, source
            key = (source, edge.type, target if edge.type == "RELATES_TO" else "")
            group = groups.get(key)
            if group is None:
                group = groups[key] = _Group(edge, key, -loss)
            group.targets.append(target)
        # Already sorted: the score of a group is that of its first edge.
        words = labels(scene.request.language)
        return [group.piece(self.name, scene, words) for group in list(groups.values())[:_MOST]]


@frozen
class _Group:
    """The edges of one type from one source. Each relation is a group of its own."""

    edge: Edge
    key: tuple[str, str, str]
    score: float
    targets: list[str] = field(factory=list)

    def piece(self, origin: str, scene: Scene, words: Labels) -> Piece:
        source, type_, target = self.key
        names = [_name(id_, scene) for id_ in self.targets[:_TARGETS]]
        if len(self.targets) > _TARGETS:
            names.append(words.more.format(count=len(self.targets) - _TARGETS))
        head = f"{_name(source, scene)} → {', '.join(names)}"
        if type_ == "RELATES_TO":
            text, about = f"{head}: {_relation(self.edge, scene)}", f"relation:{source}:{target}"
        else:
            text, about = f"{head} ({words.edges.get(type_, type_)})", f"edge:{source}:{type_}"
        return Piece(origin, about, Section.RELATED, text, self.score, why={type_: self.score})


def _subjects(scene: Scene) -> frozenset[str]:
    """Return the entities that the player's words name, and other named entities that are not present."""
    state = scene.state
    here = {state.player, state.location, *state.present}
    return (scene.asked - {state.player}) | (scene.named - here)


def _by_worth(found: Walk, asked: frozenset[str], subjects: frozenset[str]) -> list[_Found]:
    """Return the relevant edges, best first, ties by identity."""
    hops = found.distance
    scored: list[_Found] = []
    for key, edge in found.met.items():
        start, type_, end, _ = key
        source, target = hops[start], hops[end]
        if (source or target) and start not in subjects and end not in subjects:
            continue
        near, far = (source, target) if source < target else (target, source)
        worth = _UNIT * weight_of(type_) * _PER_HOP**near
        if far > 1:
            worth *= _PER_HOP
        elif far == 0:
            worth += _BETWEEN
        if start in asked or end in asked:
            worth *= _ASKED
        scored.append((-worth, key, edge))
    scored.sort()
    return scored


def _tells(edge: Edge, scene: Scene) -> bool:
    """Whether the edge connects known entities, is confirmed by the state and is not part of the briefing."""
    state, source, target = scene.state, edge.source, edge.target
    if edge.type in _AMONG_LORE or not (_known(source, scene) and _known(target, scene)):
        return False
    if edge.type == "RELATES_TO":
        return (source, target) in state.relations
    if edge.type == "LOCATED_AT":
        there = state.whereabouts.get(source)
        if there is None or there.place != target or target == state.location:
            return False
        return source != state.player and source not in scene.dead
    if edge.type == "OWNS":
        return source != state.player and target in state.belongings.get(source, ())
    if edge.type in _LINKS:
        if (source, edge.type, target) not in state.links:
            return False
        return edge.type != "ADJACENT" or state.location not in (source, target)
    return True


def _known(id_: str, scene: Scene) -> bool:
    return scene.entity(id_) is not None or id_ in scene.request.lore.nodes


def _name(id_: str, scene: Scene) -> str:
    entity = scene.entity(id_)
    return one_field(entity.name if entity else scene.request.lore.nodes.get(id_, id_))


def _relation(edge: Edge, scene: Scene) -> str:
    relation = scene.state.relations[edge.source, edge.target]
    return f"{one_field(relation.type)} ({relation.strength:+d})"
