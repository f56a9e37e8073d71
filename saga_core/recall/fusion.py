"""Fusion: one ranking of documents out of a lexical and a dense one.

Scores are smoothed over neighbouring turns first (what answers a question often stands beside what resembles it), the
lexical ones are lifted for documents with somebody whom the query names, then both are brought to one scale as
z-scores and added. Everything here is a pure function; sums are exact (``fsum``), so no order of input matters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import fsum, sqrt

from attrs import field, frozen

REACH = 2
"""Turns to each side over which scores are smoothed."""
DECAY = 0.4
"""What is left of a score one turn further."""
LIFT = 1.3
"""Factor for a document with a character whom the query names."""

Neighbours = Callable[[str], Iterable[tuple[str, int]]]
"""The documents within ``REACH`` turns of one, and how far each is (1 or more)."""


def smooth(scores: Mapping[str, float], neighbours: Neighbours, *, decay: float = DECAY) -> dict[str, float]:
    """Each document's score plus ``decay`` to the power of the distance times that of each neighbour.

    Documents without a score of their own get one when a neighbour has one.
    """
    parts: dict[str, list[float]] = {}
    for document, score in scores.items():
        parts.setdefault(document, []).append(score)
        for other, distance in neighbours(document):
            parts.setdefault(other, []).append(score * decay**distance)
    return {document: fsum(found) for document, found in parts.items()}


def lift(scores: Mapping[str, float], named: Callable[[str], bool], *, factor: float = LIFT) -> dict[str, float]:
    """The scores of documents that ``named`` says have a named character times ``factor``, the others unchanged."""
    return {document: score * factor if named(document) else score for document, score in scores.items()}


def z_scores(scores: Mapping[str, float]) -> dict[str, float]:
    """The scores with mean 0 and standard deviation 1; all 0 when they are all the same."""
    if not scores:
        return {}
    mean = fsum(scores.values()) / len(scores)
    spread = sqrt(fsum((score - mean) ** 2 for score in scores.values()) / len(scores))
    if spread <= 1e-12 * max(1.0, abs(mean)):
        return dict.fromkeys(scores, 0.0)
    return {document: (score - mean) / spread for document, score in scores.items()}


@frozen
class Fused:
    """A document's place in the fused ranking, and where it came from. ``score`` is the sum of the z-scores."""

    document: str
    score: float
    parts: Mapping[str, float] = field(factory=dict)
    """Kind of score to the score before it was brought to scale; a kind that did not find the document is missing."""


def fuse(kinds: Mapping[str, Mapping[str, float]]) -> list[Fused]:
    """One ranking of all documents of all ``kinds`` of scores, best first, ties by id.

    A document that one kind did not find has its lowest score there: 0, or less if there are negative ones. A kind
    without any score has no say.
    """
    found = {name: scores for name, scores in kinds.items() if scores}
    documents = {document for scores in found.values() for document in scores}
    scaled: list[dict[str, float]] = []
    for name in sorted(found):
        scores = found[name]
        floor = min(0.0, *scores.values()) if len(scores) < len(documents) else 0.0
        scaled.append(z_scores({document: scores.get(document, floor) for document in documents}))
    fused = [
        Fused(
            document,
            fsum(scores[document] for scores in scaled),
            {name: found[name][document] for name in sorted(found) if document in found[name]},
        )
        for document in documents
    ]
    return sorted(fused, key=lambda entry: (-round(entry.score, 9), entry.document))
