"""The lorebook as a source: applies the rules of ``saga_core.recall.lorebook`` to the scene."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from weakref import WeakKeyDictionary

from attrs import evolve, field, frozen

from saga_core.config import LorebookConfig
from saga_core.context.model import Piece, Section
from saga_core.context.render import Labels, labels, one_line
from saga_core.context.scene import Scene
from saga_core.context.sources.kept_lore import MOST_TOLD, beginning, kept_pieces, sent_by_client, told_text
from saga_core.context.sources.source import NOTHING_GIVEN, Given
from saga_core.recall import LoreIndex, LoreSituation, ScoredLore, rank_lore
from saga_core.world import LoreEntry, MacroRoom

_MOST = 20
_FAINT, _FAINT_NEAR = 0.25, 0.15
"""Minimum similarity to the player's words (0 for unrelated texts, 1 for the same text) to count, and the minimum for
an entry near in the graph."""
_UNASKED = 2
"""Maximum entries that are offered although the player's words do not refer to them."""


@frozen
class Lorebook:
    """Lore entries by the lorebook's rules. ``expand`` includes distances in the graph in the score."""

    config: LorebookConfig = field(factory=LorebookConfig)
    expand: bool = True
    name: str = "lorebook"
    needs: tuple[str, ...] = ()
    _lines: WeakKeyDictionary[LoreIndex, dict[tuple[str, str], str]] = field(factory=WeakKeyDictionary, init=False)

    def prepare(self, scene: Scene) -> None:
        """Start the vector search and the walk over the graph."""
        if scene.request.lore.entries:
            scene.ask_meaning()
            if self.expand:
                scene.ask_graph()

    def ready(self, scene: Scene) -> bool:
        """Whether ``gather`` need not wait. It does if the entries with their own rules are so many that they run in a
        thread."""
        return scene.answered and not scene.request.lore.kept.large

    async def gather(self, scene: Scene, given: Given = NOTHING_GIVEN) -> Sequence[Piece]:
        """Return the best 20 entries. A secret states who knows it. An entry about a dead character states the death.
        An entry that play has changed has the current text first, then the former text if it fits."""
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
        words, dead = labels(request.language), _dead_entries(scene)
        lines = self._lines.setdefault(request.lore, {})
        changed = {name: text for about, text in state.learned.items() for name in request.lore.named([about])}
        ranked = rank_lore(request.lore, situation, self.config)
        sent = sent_by_client(request)
        ranked = [scored for scored in _bearing(ranked, scene, similar) if not sent(scored.entry)][:_MOST]
        room = MacroRoom(MOST_TOLD)
        if request.lore.kept.large:
            pieces = await asyncio.to_thread(kept_pieces, request, self.name, room)
        else:
            pieces = kept_pieces(request, self.name, room)
        for scored in ranked:
            name = scored.entry.name
            line, too_long = lines.get((name, request.language)), False
            if "{{" in scored.entry.text:
                text = told_text(scored.entry, request, room)
                too_long = text is None
                line = _line(evolve(scored.entry, text=beginning(scored.entry) if text is None else text), words)
            elif line is None:
                line = lines[name, request.language] = _line(scored.entry, words)
            told, shorter = line, ""
            if name in changed:
                told, shorter = _changed_lines(scored.entry, changed[name], words)
            if name in dead:
                told, shorter = f"{told} {words.is_dead}", f"{shorter} {words.is_dead}" if shorter else ""
            pieces.append(
                Piece(
                    self.name,
                    f"lore:{name}",
                    Section.LORE,
                    told,
                    scored.score,
                    why=scored.why,
                    shorter=(shorter,) if shorter else (),
                    too_long=too_long,
                )
            )
        return pieces

    async def _distances(self, scene: Scene) -> dict[str, int]:
        """Return the hops to each entry's node, or to the entity that the entry is about if it is nearer."""
        nodes, found = scene.request.lore.nodes, dict[str, int]()
        for node, hops in (await scene.walked()).distance.items():  # nearest first
            if node in nodes:
                found.setdefault(nodes[node], hops)
                continue
            for name in scene.lore_about(node):
                found.setdefault(name, hops)
        return found


def _bearing(ranked: Sequence[ScoredLore], scene: Scene, similar: Mapping[str, float]) -> list[ScoredLore]:
    """Return the relevant entries, in order.

    These are entries that the player's words name or resemble, constant entries, and the best two of the others that
    have an open gate or a mention.
    """
    asked = frozenset(scene.lore_asked)
    baseline, left = scene.baseline, _UNASKED
    found: list[ScoredLore] = []
    for scored in ranked:
        why, name = scored.why, scored.entry.name
        likeness = (similar.get(name, baseline) - baseline) / (1 - baseline)
        if name not in asked and not scored.entry.constant and likeness < (_FAINT_NEAR if "graph" in why else _FAINT):
            if not left or not ("location" in why or "nearby" in why or "mention" in why):
                continue
            left -= 1
        found.append(scored)
    return found


def _line(entry: LoreEntry, words: Labels) -> str:
    line = f"{one_line(entry.name)}: {one_line(entry.text)}"
    return f"{line} {_secret(entry, words)}" if entry.secret else line


def _changed_lines(entry: LoreEntry, now: str, words: Labels) -> tuple[str, str]:
    """Return the line of an entry that play has changed, and a shorter line without the former text."""
    secret = f" {_secret(entry, words)}" if entry.secret else ""
    told = f"{one_line(entry.name)}: {one_line(now)}"
    if not entry.text.strip():
        return f"{told}{secret}", ""
    return f"{told} {words.formerly.format(text=one_line(entry.text))}{secret}", f"{told}{secret}"


def _secret(entry: LoreEntry, words: Labels) -> str:
    if not entry.known_by:
        return words.secret_of_none
    return words.secret.format(names=", ".join(map(one_line, entry.known_by)))


def _dead_entries(scene: Scene) -> set[str]:
    return {name for entity in scene.dead.values() for name in scene.request.lore.named(entity.names)}
