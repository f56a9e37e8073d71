"""The ranking of earlier turns, from their scores by words and by meaning, and why each turn is where it is."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TypeAlias

from saga_core.context.model import ReadRequest
from saga_core.language import language_of, match_text, mentions_folded, standing
from saga_core.recall import (
    Episodes,
    Fused,
    Ranking,
    Sought,
    amount_asked,
    closeness,
    fuse,
    lend,
    lift,
    matched,
    smooth,
    tells,
    time_meant,
    turns_meant,
)

OF_PAIRS = 1
"""Turns to each side that lend to one where each is the player's words and a reply."""
_SMOOTHED, _FUSED = 128, 200
"""How many are told apart after smoothing, by words alone and with both."""
_OF_A_TIME = 96
"""Turns of a long time that are raised."""
_LOOKED_INTO = 16
_NOTHING = 1e-9
_ASKS, _CLOSING = ("?", "？"), " \n\"'”’」』)*"
"""What a question ends with, and what may stand behind it."""
_SPEAKER = re.compile(r"([^\n:>\"“”]{1,40}):\s")

Steps: TypeAlias = list[tuple[str, Callable[[int], float | None]]]
"""Scores by words, by depth, after each step that changed them."""
Ranked: TypeAlias = tuple[str, Fused[int]]
"""A turn, and its place in the ranking."""


def rank_episodes(
    lexical: dict[str, float],
    dense: dict[str, float],
    request: ReadRequest,
    sought: Sought,
    names: Sequence[str],
    ranking: Ranking,
    fed: Mapping[str, float] = MappingProxyType({}),
) -> tuple[Iterator[Ranked], Steps]:
    """The turns, best first; those that stand at the average of all candidates or above have 0 or more.
    And the scores by words after each step that made them what they are. ``fed``: what of them feedback brought.

    Turns of one path are told apart by their depth: scores are smoothed over it, those of turns that tell of several of
    ``sought`` at one place, of one of ``names``, or of the time that the words speak of, are lifted, and both kinds are
    fused.
    """
    episodes, shown = request.episodes, request.shown
    if episodes is None:
        return iter(()), []
    meant = time_meant(request.player_words) if ranking.timed else None
    then = turns_meant(meant, episodes, names, request.now) if meant is not None else range(0)
    last = episodes.last
    kept = _FUSED if dense else _SMOOTHED
    own = _by_depth(lexical, episodes)
    near = _best(_smoothed(own, episodes, ranking), kept)
    turns = dict(zip(own, lexical, strict=True))
    steps: Steps = [("words", own.get), ("neighbours", near.get)]
    if fed:
        steps[:1] = [
            ("words", lambda depth: own.get(depth, 0.0) - fed.get(turns.get(depth, ""), 0.0)),
            ("feedback", own.get),
        ]
    if names and ranking.lift != 1:
        near = lift(near, _Named(names, episodes), factor=ranking.lift)
        steps.append(("names", near.get))
    if ranking.amounts and (asked := amount_asked(request.player_words)) is not None:
        near = _telling(near, episodes, asked, ranking.amounts)
        steps.append(("amounts", near.get))
    if ranking.close:
        near = _gathered(near, episodes, sought, request.language, ranking.close)
        steps.append(("closeness", near.get))
    far = _best(_smoothed(_by_depth(dense, episodes), episodes, ranking), kept)
    if meant is not None and meant.latest:
        near, far = _lately(near, last, ranking.timed), _lately(far, last, ranking.timed)
    if then:
        near, far = _then(near, then, ranking.timed), _then(far, then, ranking.timed) if far else far
    if meant is not None:
        steps.append(("time", near.get))

    turns.update((episodes.depth(turn), turn) for turn in dense)

    def is_new(depth: int) -> bool:
        if depth not in turns:
            turn = episodes.at(depth)
            if turn is None or turn in shown:
                return False
            turns[depth] = turn
        return True

    weights = {"lexical": ranking.lexical, "dense": ranking.dense}
    fused = fuse({"lexical": near, "dense": far}, weights=weights, accept=is_new)
    return ((turns[entry.document], entry) for entry in fused), steps


def _smoothed(scores: dict[int, float], episodes: Episodes, ranking: Ranking) -> dict[int, float]:
    """The scores with those of the neighbours: of a chat's turns, most where one asks what the next one answers."""
    if ranking.reach != OF_PAIRS:
        return smooth(scores, episodes.last, decay=ranking.decay, reach=ranking.reach)

    def asks(depth: int) -> bool:
        turn = episodes.at(depth)
        if turn is None:
            return False
        text = episodes.text(turn)
        return text[-1:] in _ASKS or (text[-1:] in _CLOSING and text.rstrip(_CLOSING).endswith(_ASKS))

    return lend(scores, episodes.last, asks, decay=ranking.decay)


class Signals(Mapping[str, float]):
    """The score of a turn, its parts, and what each of the steps, one after the other, added to its score by words,
    those that did. Put together when somebody asks why the turn is told."""

    __slots__ = ("_entry", "_found", "_steps")

    def __init__(self, entry: Fused[int], steps: Steps) -> None:
        self._entry, self._steps = entry, steps
        self._found: dict[str, float] | None = None

    def __getitem__(self, name: str) -> float:
        return self._all[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)

    @property
    def _all(self) -> dict[str, float]:
        if self._found is None:
            entry = self._entry
            found, before = {"fused": entry.score, **entry.parts}, 0.0
            for name, score_of in self._steps:
                after = score_of(entry.document) or 0.0
                if after - before > _NOTHING:
                    found[name] = after - before
                before = after
            self._found = found
        return self._found


def _gathered(
    scores: dict[int, float], episodes: Episodes, sought: Sought, language: str, factor: float
) -> dict[int, float]:
    """The scores, those of the best lifted by how close to each other they tell of what is wanted."""
    best = sorted([(-score, depth) for depth, score in scores.items()])[:_LOOKED_INTO]
    turns = {depth: turn for _, depth in best if (turn := episodes.at(depth)) is not None}
    texts = {depth: episodes.text(turn) for depth, turn in turns.items()}
    close = closeness(texts, sought, language_of(language).texts.sizes.place)
    return {**scores, **{depth: scores[depth] * (1 + factor * part) for depth, part in close.items()}}


def _telling(scores: dict[int, float], episodes: Episodes, asked: re.Pattern[str], part: float) -> dict[int, float]:
    """The scores, those of turns that tell what is ``asked`` raised by so large a part of the best."""
    more = part * max(scores.values(), default=1.0)
    turns = {depth: episodes.at(depth) for depth in scores}
    found = {depth for depth, turn in turns.items() if turn is not None and tells(episodes.text(turn), asked)}
    return {depth: score + more if depth in found else score for depth, score in scores.items()}


def _then(scores: dict[int, float], then: range, part: float) -> dict[int, float]:
    """The scores, those of the turns ``then`` raised by so large a part of the best; the latest few of a long time."""
    more = part * max(scores.values(), default=1.0)
    return {**scores, **{depth: scores.get(depth, 0.0) + more for depth in then[-_OF_A_TIME:]}}


def _lately(scores: dict[int, float], last: int, part: float) -> dict[int, float]:
    """The scores, higher the later: that of the latest turn by so large a part of itself."""
    return {depth: score * (1 + part * depth / last) for depth, score in scores.items()}


class _Named:
    """Whether a turn is one of those who are named: of an utterance its speaker counts, else whoever is told of."""

    def __init__(self, names: Sequence[str], episodes: Episodes) -> None:
        self._names = {match_text(name) for name in names}
        # Folding a text takes longer than finding a name in it; Korean names have no case.
        self._folds = any(map(str.islower, self._names)) or any(map(standing, self._names))
        self._episodes = episodes

    def __call__(self, depth: int) -> bool:
        turn = self._episodes.at(depth)
        if turn is None:
            return False
        text = self._episodes.text(turn)
        folded = matched(text) if self._folds else text
        names = [name for name in self._names if name in folded]
        if not names:  # most turns: neither of the speaker nor of its words need be known
            return False
        speaker = _SPEAKER.match(text, text.find("\n") + 1)
        if speaker is not None:
            folded = match_text(speaker.group(1)) if self._folds else speaker.group(1)
        return any(mentions_folded(folded, name) for name in names)


def _by_depth(scores: dict[str, float], episodes: Episodes) -> dict[int, float]:
    return {episodes.depth(turn): score for turn, score in scores.items()}


def _best(scores: dict[int, float], most: int) -> dict[int, float]:
    ranked = sorted([(-score, depth) for depth, score in scores.items()])
    return {depth: -score for score, depth in ranked[:most]}
