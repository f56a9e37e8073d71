"""Recollection: earlier turns of the path that bear on the player's words."""

from __future__ import annotations

import re
from collections.abc import Sequence

from attrs import frozen

from saga_core.context.labels import Labels, labels
from saga_core.context.model import Piece, Section
from saga_core.context.render import one_line
from saga_core.context.scene import Scene
from saga_core.recall.episodes import Episodes
from saga_core.recall.excerpt import excerpt
from saga_core.recall.fusion import Fused, fuse, lift, smooth
from saga_core.recall.tokens import content_words
from saga_core.text.korean import mentions

_CANDIDATES = 48
_LIFTED = 64
_CHARS = {"ko": 180, "en": 320}
_LEAST, _MIDDLE, _MOST = 1.0, 2.0, 4.5
_STAMP = re.compile(r"(?:Turn|턴) \d+(?: \| |$)")


@frozen
class Recollection:
    """Earlier turns, found by words and by meaning, fused; those that the history shows are left out.

    ``top_k`` turns are offered, as excerpts. A turn is offered only if it stands above the average candidate.
    """

    top_k: int = 6
    name: str = "recollection"

    async def gather(self, scene: Scene) -> Sequence[Piece]:
        """The pieces, in the order of the turns when rendered."""
        request = scene.request
        episodes = request.episodes
        if episodes is None or not request.player_words.strip():
            return []
        lexical = episodes.search(request.player_words, _CANDIDATES, request.shown)
        dense = {
            turn: cosine - scene.baseline
            for turn, cosine in (await scene.similar_episodes()).items()
            if cosine > scene.baseline and turn not in request.shown and episodes.on_path(turn)
        }
        ranked = rank_episodes(lexical, dense, episodes, scene.names_asked, request.shown)
        words = labels(request.language)
        wanted = content_words(request.player_words)
        limit = _CHARS.get(request.language, _CHARS["en"])
        return [self._piece(entry, episodes, wanted, limit, words) for entry in ranked[: self.top_k]]

    def _piece(self, entry: Fused, episodes: Episodes, wanted: Sequence[str], limit: int, words: Labels) -> Piece:
        depth = episodes.depth(entry.document)
        text = f"{words.turn.format(depth=depth)} {one_line(_remembered(episodes.text(entry.document), wanted, limit))}"
        score = max(_LEAST, min(_MOST, _MIDDLE + entry.score / 2))
        why = {"fused": entry.score, **entry.parts}
        return Piece(self.name, f"turn:{entry.document}", Section.EARLIER, text, score, why=why, order=depth)


def rank_episodes(
    lexical: dict[str, float],
    dense: dict[str, float],
    episodes: Episodes,
    names: Sequence[str],
    shown: frozenset[str],
) -> list[Fused]:
    """The turns at or above the average of all candidates, best first: smoothed, lifted by ``names``, fused."""
    near = smooth(lexical, episodes.neighbours)
    if names:
        best = set(sorted(near, key=lambda turn: (-near[turn], turn))[:_LIFTED])
        near = lift(near, lambda turn: turn in best and any(mentions(episodes.text(turn), name) for name in names))
    fused = fuse({"lexical": near, "dense": smooth(dense, episodes.neighbours)})
    return [entry for entry in fused if entry.score >= 0 and entry.document not in shown]


def _remembered(text: str, wanted: Sequence[str], limit: int) -> str:
    """The facts of an episode's first line, its number left out, and the part of what was said that is asked about."""
    facts, _, said = text.partition("\n")
    facts = _STAMP.sub("", facts, count=1) if _STAMP.match(facts) else facts
    if not said:
        return excerpt(facts, wanted, limit)
    said = excerpt(said, wanted, max(limit // 2, limit - len(facts)))
    return f"{facts} — {said}" if facts else said
