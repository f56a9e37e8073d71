"""Fusion: merges a lexical and a dense ranking of documents into one.

First, scores are smoothed over neighbouring turns, because the answer to a question often stands next to a turn that
resembles it. Then lexical scores are boosted for documents with a character that the query names. Finally both kinds
are converted to z-scores and added. All functions are pure. Sums are exact (``fsum``), so the order of input does not
matter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import fsum, sqrt
from types import MappingProxyType
from typing import Generic, TypeVar

from attrs import define, field, frozen

REACH = 2
"""Turns to each side over which scores are smoothed."""
DECAY = 0.4
"""Factor for a score per turn of distance."""
SPEAKER_BOOST = 1.3
"""Factor for a document with a character that the query names."""
TIMED = 1.0
FEEDBACK = 0.3
"""Weight of words from the best turns relative to words of the query."""
_PLACES = 9
"""Decimal places of a score. Sums that differ by less count as equal."""

_ASKED, _UNASKED = (1.5, 1.0), (0.75, 0.5)
"""Factors of ``DECAY`` for the score that a turn adds to the next turn and to the previous one. They are higher if the
earlier of the two ends with a question, because the later one then answers it."""

D = TypeVar("D", int, str)
"""A document's key: its id, or its depth on the path."""


@frozen
class Ranking:
    """The weights of the parts that rank earlier turns. The benchmark ``recall`` measures each part."""

    lexical: float = 1.0
    """Weight of the search by words; 0 turns it off."""
    dense: float = 1.0
    """Weight of the search by meaning; 0 turns it off."""
    reach: int = REACH
    """Turns to each side over which scores are smoothed; 0 turns smoothing off."""
    decay: float = DECAY
    speaker_boost: float = SPEAKER_BOOST
    """Factor for a turn with a character that the query names; 1 turns it off."""
    close: float = 1.0
    """Maximum gain of a turn that has all words of the query close together, relative to its score; 0 turns it off."""
    timed: float = TIMED
    """Gain of a turn from the time that the player's words name, relative to the best score; 0 turns it off."""
    amounts: float = 0.5
    """Gain of a brief turn that states a number or time when the player asks for one, relative to the best score; 0
    turns it off."""
    feedback: float = FEEDBACK
    """Weight of the rarest words from the best turns relative to words of the query; 0 turns it off."""
    hop: float = 0.0
    """The same for long turns, with the uncommon words of their excerpts. Finds turns that are related to the query
    only through another turn, for an eighth to a fifth more CPU. 0 turns it off."""
    function: float = 0.1
    """Factor for the weight of function words in the query when turns are brief."""
    related_only: bool = True
    """Whether player words that do not look back recall only turns that share rare words with them."""
    adapt: bool = True
    """Whether parts are turned off when turns have a length at which these parts do not help."""


def smooth_neighbors(
    scores: Mapping[int, float], last: int, *, decay: float = DECAY, reach: int = REACH
) -> dict[int, float]:
    """Return the score of each turn of a path (0 to ``last``) plus the scores of its neighbours up to ``reach`` turns
    away, each times ``decay`` to the power of the distance.

    Turns without a score get one if a neighbour has one.
    """
    smoothed = dict(scores)
    get = smoothed.get
    for step in (step * way for step in range(1, reach + 1) for way in (-1, 1)):
        # One step at a time, so that the order of addition does not depend on the order of the input.
        part = decay ** abs(step)
        for turn, score in scores.items():
            other = turn + step
            if 0 <= other <= last:
                smoothed[other] = get(other, 0.0) + score * part
    return smoothed


def smooth_dialogue(
    scores: Mapping[int, float], last: int, asks: Callable[[int], bool], *, decay: float = DECAY
) -> dict[int, float]:
    """Return the score of each turn of a path (0 to ``last``) plus a part of the scores of the turns before and after.

    If the earlier of two turns ends with a question (``asks``), it adds 1.5 times ``decay`` of its score to the later
    one, and the later one adds ``decay`` of its score to the earlier one. Otherwise both parts are half as large. Turns
    without a score get one if a neighbour has one.
    """
    lent = dict(scores)
    get = lent.get
    ahead, back = decay * _ASKED[0], decay * _ASKED[1]
    ahead_unasked, back_unasked = decay * _UNASKED[0], decay * _UNASKED[1]
    asking = {turn for turn in {*scores, *[turn - 1 for turn in scores if turn]} if asks(turn)}
    # One direction at a time, so that the order of addition does not depend on the order of the input.
    for turn, score in scores.items():
        if turn < last:
            lent[turn + 1] = get(turn + 1, 0.0) + score * (ahead if turn in asking else ahead_unasked)
    for turn, score in scores.items():
        if turn:
            lent[turn - 1] = get(turn - 1, 0.0) + score * (back if turn - 1 in asking else back_unasked)
    return lent


def boost_speakers(
    scores: Mapping[D, float], named: Callable[[D], bool], *, factor: float = SPEAKER_BOOST
) -> dict[D, float]:
    """Return the scores, with those of documents for which ``named`` is true multiplied by ``factor``."""
    return {document: score * factor if named(document) else score for document, score in scores.items()}


def z_scores(scores: Mapping[D, float], *, absent: int = 0, floor: float = 0.0) -> tuple[dict[D, float], float]:
    """Return the scores as z-scores (mean 0, standard deviation 1; all 0 if all are equal), and the z-score of
    ``floor``.

    ``absent`` further documents are counted with the score ``floor``.
    """
    size = len(scores) + absent
    if not size:
        return {}, 0.0
    mean = fsum([*scores.values(), absent * floor]) / size
    squares: list[float] = [(score - mean) ** 2 for score in scores.values()]
    spread = sqrt(fsum([*squares, absent * (floor - mean) ** 2]) / size)
    if spread <= 1e-12 * max(1.0, abs(mean)):
        return dict.fromkeys(scores, 0.0), 0.0
    return {document: (score - mean) / spread for document, score in scores.items()}, (floor - mean) / spread


@define
class Fused(Generic[D]):  # not frozen, as ``Piece`` is not
    """A document in the fused ranking. ``score`` is the weighted sum of its z-scores."""

    document: D
    score: float
    _kinds: Mapping[str, Mapping[D, float]] = field(factory=dict)

    @property
    def parts(self) -> dict[str, float]:
        """The document's raw score of each kind that found it."""
        document = self.document
        return {name: scores[document] for name, scores in self._kinds.items() if document in scores}


def fuse(
    kinds: Mapping[str, Mapping[D, float]],
    *,
    weights: Mapping[str, float] = MappingProxyType({}),
    accept: Callable[[D], bool] | None = None,
) -> Iterator[Fused[D]]:
    """Yield the documents of all ``kinds`` of scores in one ranking, best first, ties by key.

    Documents that ``accept`` rejects are left out; ``accept`` is called lazily. A document that one kind did not find
    gets the lowest score of that kind, at most 0. A kind without scores is ignored. ``weights`` has a factor for the
    z-scores of each kind, 1 by default.
    """
    found = {name: kinds[name] for name in sorted(kinds) if kinds[name]}
    if len(found) == 1:
        ((name, scores),) = found.items()
        total = _alone(scores, weights.get(name, 1.0))
    else:
        total = _together(found, weights)
    for score, document in sorted([(-score, document) for document, score in total.items()]):
        if accept is None or accept(document):
            yield Fused(document, -score, found)


def _alone(scores: Mapping[D, float], weight: float) -> dict[D, float]:
    scaled, _ = z_scores(scores)
    return {document: round(weight * score, _PLACES) for document, score in scaled.items()}


def _together(found: Mapping[str, Mapping[D, float]], weights: Mapping[str, float]) -> dict[D, float]:
    total: dict[D, float] = dict.fromkeys((document for scores in found.values() for document in scores), 0.0)
    for name, scores in found.items():
        weight = weights.get(name, 1.0)
        absent = len(total) - len(scores)
        floor = min(0.0, *scores.values()) if absent else 0.0
        scaled, rest = z_scores(scores, absent=absent, floor=floor)
        for document in total:
            total[document] += weight * scaled.get(document, rest)
    return {document: round(score, _PLACES) for document, score in total.items()}
