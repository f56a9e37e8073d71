"""Fusion: one ranking of documents out of a lexical and a dense one.

Scores are smoothed over neighbouring turns first (what answers a question often stands beside what resembles it), the
lexical ones are lifted for documents with somebody whom the query names, then both are brought to one scale as
z-scores and added. Everything here is a pure function; sums are exact (``fsum``), so no order of input matters.
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
"""What is left of a score one turn further."""
LIFT = 1.3
"""Factor for a document with a character whom the query names."""
TIMED = 1.0
FEEDBACK = 0.3
"""What the words of the turns found first count beside those of the query."""
_PLACES = 9
"""Decimal places of a score: sums that differ by less are the same."""

_ASKED, _UNASKED = (1.5, 1.0), (0.75, 0.5)
"""What a turn lends to the next one and to the one before, in parts of ``DECAY``: where the earlier of the two ends by
asking something, the later one answers it; elsewhere they belong together less."""

D = TypeVar("D", int, str)
"""What names a document: its id, or its place on the path."""


@frozen
class Ranking:
    """What ranks earlier turns, and how far each part of it counts; ``saga bench recall`` measures them one by one."""

    lexical: float = 1.0
    """Weight of what was found by words; 0 leaves it out."""
    dense: float = 1.0
    """Weight of what was found by meaning."""
    reach: int = REACH
    """Turns to each side over which scores are smoothed; 0: none."""
    decay: float = DECAY
    lift: float = LIFT
    """Factor for a turn with a character whom the query names; 1: none."""
    close: float = 1.0
    """How much a turn gains at most that tells of all that is asked for at one place; 0: nothing."""
    timed: float = TIMED
    """How much a turn gains that was told when the player's words say, in parts of the best score; 0: nothing."""
    amounts: float = 0.5
    """How much a brief turn gains that tells some number or time when the player asks for one, in parts of the best
    score; 0: nothing."""
    feedback: float = FEEDBACK
    """What the rarest words of the turns found first count beside those of the query; 0: nothing."""
    hop: float = 0.0
    """The same where turns are long, of the seldom words in what would be told of them: finds what is told in two
    steps, for an eighth to a fifth more CPU. 0: nothing."""
    function: float = 0.1
    """What is left of the weight of a function word in the query, where turns are brief."""
    bearing: bool = True
    """Whether of words that ask for nothing only the turns count that share something particular with them."""
    adapt: bool = True
    """Whether parts count only where turns are as long as they help with."""


def smooth(scores: Mapping[int, float], last: int, *, decay: float = DECAY, reach: int = REACH) -> dict[int, float]:
    """The score of each turn of a path (0 to ``last``), plus those of its neighbours: ``decay`` to the power of the
    distance times each, up to ``reach`` turns away.

    Turns without a score of their own get one when a neighbour has one.
    """
    smoothed = dict(scores)
    get = smoothed.get
    for step in (step * way for step in range(1, reach + 1) for way in (-1, 1)):
        # One step at a time: whatever the order of the input, the same parts are added in the same order.
        part = decay ** abs(step)
        for turn, score in scores.items():
            other = turn + step
            if 0 <= other <= last:
                smoothed[other] = get(other, 0.0) + score * part
    return smoothed


def lend(
    scores: Mapping[int, float], last: int, asks: Callable[[int], bool], *, decay: float = DECAY
) -> dict[int, float]:
    """The score of each turn of a path (0 to ``last``), plus what its neighbours lend it: where ``asks`` says that the
    earlier of two ends with a question, three halves of ``decay`` from it and ``decay`` from the later one; half as
    much elsewhere.

    Turns without a score of their own get one when a neighbour has one.
    """
    lent = dict(scores)
    get = lent.get
    ahead, back = decay * _ASKED[0], decay * _ASKED[1]
    ahead_unasked, back_unasked = decay * _UNASKED[0], decay * _UNASKED[1]
    asking = {turn for turn in {*scores, *[turn - 1 for turn in scores if turn]} if asks(turn)}
    # One direction at a time: whatever the order of the input, the same parts are added in the same order.
    for turn, score in scores.items():
        if turn < last:
            lent[turn + 1] = get(turn + 1, 0.0) + score * (ahead if turn in asking else ahead_unasked)
    for turn, score in scores.items():
        if turn:
            lent[turn - 1] = get(turn - 1, 0.0) + score * (back if turn - 1 in asking else back_unasked)
    return lent


def lift(scores: Mapping[D, float], named: Callable[[D], bool], *, factor: float = LIFT) -> dict[D, float]:
    """The scores of documents that ``named`` says have a named character times ``factor``, the others unchanged."""
    return {document: score * factor if named(document) else score for document, score in scores.items()}


def z_scores(scores: Mapping[D, float], *, absent: int = 0, floor: float = 0.0) -> tuple[dict[D, float], float]:
    """The scores with mean 0 and standard deviation 1 (all 0 when they are all the same), and that of ``floor``.

    ``absent`` more documents count as having the score ``floor``.
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
    """A document's place in the fused ranking, and where it came from. ``score`` is the sum of the z-scores."""

    document: D
    score: float
    _kinds: Mapping[str, Mapping[D, float]] = field(factory=dict)

    @property
    def parts(self) -> dict[str, float]:
        """Each kind of score that found the document to its score before it was brought to scale."""
        document = self.document
        return {name: scores[document] for name, scores in self._kinds.items() if document in scores}


def fuse(
    kinds: Mapping[str, Mapping[D, float]],
    *,
    weights: Mapping[str, float] = MappingProxyType({}),
    accept: Callable[[D], bool] | None = None,
) -> Iterator[Fused[D]]:
    """One ranking of the documents of all ``kinds`` of scores, best first, ties by id; those that ``accept`` lets pass,
    which is asked as they are taken.

    A document that one kind did not find has its lowest score there: 0, or less if there are negative ones. A kind
    without any score has no say. ``weights``: factors of the kinds' z-scores, 1 for those not named.
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
