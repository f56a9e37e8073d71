"""The lorebook as a source: the rules of ``saga_core.recall.lorebook`` put to the scene."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import field, frozen

from saga_core.config.model import LorebookConfig
from saga_core.context.labels import Labels, labels
from saga_core.context.model import Piece, Section
from saga_core.context.render import one_line
from saga_core.context.scene import Scene
from saga_core.recall.lorebook import LoreSituation, ScoredLore, rank_lore
from saga_core.world.model import LoreEntry

_MOST = 40


@frozen
class Lorebook:
    """Lore entries by the lorebook's rules. ``expand`` lets the graph's distances count."""

    config: LorebookConfig = field(factory=LorebookConfig)
    expand: bool = True
    name: str = "lorebook"

    async def gather(self, scene: Scene) -> Sequence[Piece]:
        """The best 40 entries. A secret says who knows it, and an entry about somebody dead that he is dead."""
        request, state = scene.request, scene.state
        if not request.lore.entries:
            return []
        place = scene.entity(state.location) if state.location else None
        similar = await scene.similar_lore()
        distance = await self._distances(scene) if self.expand else {}
        near = [entity for id_ in scene.near if (entity := scene.entity(id_)) is not None]
        situation = LoreSituation(
            depth=state.depth,
            place=place.names if place else (),
            nearby=[name for entity in near for name in entity.names],
            mentioned=scene.lore,
            last_mention=state.mentioned,
            distance=distance,
            similar=similar,
            baseline=scene.baseline,
        )
        words = labels(request.language)
        dead = _dead_entries(scene)
        ranked = rank_lore(request.lore, situation, self.config)[:_MOST]
        return [self._piece(scored, scored.entry.name in dead, words) for scored in ranked]

    def _piece(self, scored: ScoredLore, dead: bool, words: Labels) -> Piece:
        entry = scored.entry
        parts = [f"{one_line(entry.name)}: {one_line(entry.text)}"]
        if entry.secret:
            parts.append(_secret(entry, words))
        if dead:
            parts.append(words.is_dead)
        return Piece(self.name, f"lore:{entry.name}", Section.LORE, " ".join(parts), scored.score, why=scored.why)

    async def _distances(self, scene: Scene) -> dict[str, int]:
        """Entry to the hops of its node, or of the entity that it is about, whichever is nearer to the scene."""
        index = scene.request.lore
        found: dict[str, int] = {}
        for node, hops in (await scene.walked()).distance.items():
            entity = scene.entity(node)
            about = index.named(entity.names) if entity else {index.of_node(node)}
            for name in about:
                if name is not None:
                    found[name] = min(hops, found.get(name, hops))
        return found


def _secret(entry: LoreEntry, words: Labels) -> str:
    if not entry.known_by:
        return words.secret_of_none
    return words.secret.format(names=", ".join(map(one_line, entry.known_by)))


def _dead_entries(scene: Scene) -> set[str]:
    return {
        name
        for entity in scene.state.entities.values()
        if entity.dead
        for name in scene.request.lore.named(entity.names)
    }
