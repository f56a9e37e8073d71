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
from saga_core.text.korean import mentions_folded

_CANDIDATES = 24
_SMOOTHED = 32
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
        dense: dict[str, float] = {}
        for turn, cosine in (await scene.similar_episodes()).items():
            if cosine > scene.baseline and turn not in request.shown and episodes.on_path(turn):
                dense[turn] = cosine - scene.baseline
                if len(dense) == _CANDIDATES:
                    break
        ranked = rank_episodes(lexical, dense, episodes, scene.names_asked, request.shown, self.top_k)
        words = labels(request.language)
        wanted = content_words(request.player_words)
        limit = _CHARS.get(request.language, _CHARS["en"])
        return [self._piece(turn, entry, episodes, wanted, limit, words) for turn, entry in ranked]

    def _piece(
        self, turn: str, entry: Fused[int], episodes: Episodes, wanted: Sequence[str], limit: int, words: Labels
    ) -> Piece:
        depth = entry.document
        text = f"{words.turn.format(depth=depth)} {one_line(_remembered(episodes.text(turn), wanted, limit))}"
        score = max(_LEAST, min(_MOST, _MIDDLE + entry.score / 2))
        why = {"fused": entry.score, **entry.parts}
        return Piece(self.name, f"turn:{turn}", Section.EARLIER, text, score, why=why, order=depth)


def rank_episodes(
    lexical: dict[str, float],
    dense: dict[str, float],
    episodes: Episodes,
    names: Sequence[str],
    shown: frozenset[str],
    most: int,
) -> list[tuple[str, Fused[int]]]:
    """The best ``most`` turns that stand at or above the average of all candidates, best first.

    Turns of one path are told apart by their depth: scores are smoothed over it, those of turns that tell of one of
    ``names`` are lifted, and both kinds are fused.
    """
    last = episodes.last
    near = _best(smooth(_by_depth(lexical, episodes), last))
    if names:
        folded = {name.casefold() for name in names}
        has_case = any(map(str.islower, folded))

        def has_named(depth: int) -> bool:
            turn = episodes.at(depth)
            text = episodes.text(turn) if turn is not None else ""
            text = text.casefold() if has_case else text
            return any(mentions_folded(text, name) for name in folded)

        near = lift(near, has_named)
    far = _best(smooth(_by_depth(dense, episodes), last))

    def is_new(depth: int) -> bool:
        turn = episodes.at(depth)
        return turn is not None and turn not in shown

    fused = fuse({"lexical": near, "dense": far}, most=most, accept=is_new)
    return [(turn, entry) for entry in fused if entry.score >= 0 and (turn := episodes.at(entry.document)) is not None]


def _by_depth(scores: dict[str, float], episodes: Episodes) -> dict[int, float]:
    return {episodes.depth(turn): score for turn, score in scores.items()}


def _best(scores: dict[int, float]) -> dict[int, float]:
    ranked = sorted([(-score, depth) for depth, score in scores.items()])
    return {depth: -score for score, depth in ranked[:_SMOOTHED]}


def _remembered(text: str, wanted: Sequence[str], limit: int) -> str:
    """The facts of an episode's first line, its number left out, and the part of what was said that is asked about."""
    facts, _, said = text.partition("\n")
    facts = _STAMP.sub("", facts, count=1) if _STAMP.match(facts) else facts
    if not said:
        return excerpt(facts, wanted, limit)
    said = excerpt(said, wanted, max(limit // 2, limit - len(facts)))
    return f"{facts} — {said}" if facts else said
