"""The past turns of one path, as recall sees them, the scopes of their vectors, and the fusion of their scores."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from itertools import islice
from math import fsum, sqrt
from types import MappingProxyType
from typing import Any, Generic, TypeVar

from attrs import define, field, frozen

from saga_core.language import DEFAULT, every, language_of, particular_terms
from saga_core.model import Tree
from saga_core.ports import Embedder
from saga_core.recall.lexical import FUNCTION_SHARE, Feedback, LexicalIndex
from saga_core.stores import ScopeSpec

_RARE, _SELDOM = 0.25, 0.45
"""Exponents: a term is rare in at most ``turns ** _RARE`` turns and uncommon in at most ``turns ** _SELDOM``, which is
3 and 10 of 200 turns. Three uncommon terms count as much as one rare term."""


def few(turns: int) -> tuple[int, int]:
    """Return the maximum number of turns for a rare term and for an uncommon term, given the number of all turns."""
    return max(1, int(turns**_RARE)), max(1, int(turns**_SELDOM))


_DAYS = tuple(re.compile(each.past.dated, re.ASCII) for each in every())
STAMP = re.compile(rf"(?:{'|'.join(word for each in every() for word in each.past.turn)}) \d+(?: \| |$)")
"""The turn number at the start of an episode's line of facts."""

PLAYER = "> "
"""The prefix of the player's words in an episode."""


_LONGEST_DAY = 40
"""Maximum characters of a day as ``spoken_day`` formats it, such as "30 September 2026"."""


def year_of(day: str) -> tuple[str, str]:
    """Return the year of a day formatted by ``spoken_day``, and the day without the year; two empty strings for any
    other text."""
    return _year_of(day) if len(day) <= _LONGEST_DAY else ("", "")


@lru_cache(maxsize=2_048)
def _year_of(day: str) -> tuple[str, str]:
    found = next(filter(None, (dated.fullmatch(day) for dated in _DAYS)), None)
    return (found["year"], found["rest"]) if found is not None else ("", "")


_REMARKS = 3
PASSAGES = 2
"""Version of ``passage_of``. Increment it whenever ``passage_of`` returns a different text for the same episode.
Vectors of different versions cannot be compared, so older ones are recomputed, as after a change of the embedder."""


def passage_of(episode: str) -> str:
    """Return the text of an episode to embed: all but the turn number and the day.

    These resemble each other in unrelated episodes, most of all in short ones. Increment ``PASSAGES`` with any change.
    """
    facts, _, said = episode.partition("\n")
    stamp = STAMP.match(facts)
    facts = facts[stamp.end() :] if stamp is not None else "" if year_of(facts)[0] else facts
    return "\n".join(filter(None, (facts, said))) or episode


class PathEpisodes:
    """The remembered turns of the path to ``head``, over a session's tree and the index of all its episodes."""

    def __init__(
        self,
        tree: Tree,
        index: LexicalIndex,
        head: str,
        untrue: Iterable[tuple[int, str]] = (),
        language: str = DEFAULT,
    ) -> None:
        self._nodes = tree.nodes
        self._index = index
        self._path = tree.followed(head)
        self._untrue: dict[int, list[str]] = {}
        for depth, text in untrue:
            self._untrue.setdefault(depth, []).append(text)
        self._language = language
        self.aside = len(index) > len(self._path)
        """Whether the session has turns on other paths."""

    @property
    def last(self) -> int:
        """The depth of the last turn of the path."""
        return len(self._path) - 1

    def search(
        self,
        query: str,
        k: int,
        skip: frozenset[str],
        reach: int = 0,
        feedback: float = 0.0,
        function: float = FUNCTION_SHARE,
        told: Callable[[Sequence[str]], Sequence[str]] | None = None,
        fed: Feedback | None = None,
    ) -> dict[str, float]:
        """Return the ``k`` turns of the path whose words match ``query`` best, by BM25, with their scores.

        Turns in ``skip`` are left out. Turns up to ``reach`` before or after a found turn are included if they have a
        score. ``feedback`` is the weight of words from the best turns relative to those of ``query``. ``told`` selects
        the parts of the turns' texts from which feedback takes uncommon words; without ``told``, feedback takes the
        rarest words of the whole texts. ``fed`` receives the results of the feedback. ``function`` is the factor for
        the weight of function words.
        """
        nodes, path = self._nodes, self._path

        def accept(turn: str) -> bool:  # inlined ``on_path``: called for every candidate
            node = nodes.get(turn)
            if node is None or turn in skip or node.depth >= len(path):
                return False
            return bool(node.episode) and path[node.depth] == turn

        def beside(turns: Sequence[str]) -> list[str]:
            depths = {nodes[turn].depth for turn in turns}
            around = {depth + step for step in range(-reach, reach + 1) for depth in depths} - depths
            others = [path[depth] for depth in sorted(around) if 0 <= depth < len(path)]
            return [other for other in others if other not in skip]

        found = self._index.search(
            query,
            k=k,
            accept=accept,
            beside=beside if reach else None,
            feedback=feedback,
            function=function,
            text=self.text,
            told=told,
            seldom=few(self.last)[1] if told else 0,
            fed=fed,
        )
        return dict(found)

    def rows(
        self, query: str, k: int, remarks: Sequence[tuple[int, str]], skip: frozenset[str] = frozenset()
    ) -> list[dict[str, Any]]:
        """Return what ``search`` finds, the best first, as JSON-compatible data.

        Up to three of the ``remarks`` that match, with the depths of their turns, come before the turns.
        """
        index = LexicalIndex()
        for number, (_, text) in enumerate(remarks):
            index.add(str(number), text)
        noted = ((*remarks[int(number)], score) for number, score in index.search(query, k=_REMARKS))
        turns = sorted(self.search(query, k, skip).items(), key=lambda each: (-each[1], each[0]))
        found = [(self._path[depth], depth, score, text) for depth, text, score in noted]
        found += [(turn, self.depth(turn), score, self.text(turn)) for turn, score in turns]
        return [dict(zip(("turn", "depth", "score", "text"), each, strict=True)) for each in found[:k]]

    def spread(self, term: str, most: int) -> int:
        """Return the number of turns of the path that contain ``term``, or any number above ``most`` if more do.

        The index holds all swipes of a turn, so its latest turns are checked against the path if there are other paths.
        """
        count, latest = self._index.having(term)
        if count <= most or not self.aside:
            return count
        return sum(1 for _ in islice(self._on_path(latest), most + 1))

    def having(self, term: str, most: int) -> Sequence[str]:
        """Return the turns of the path that contain ``term``, latest first; none if more than ``most`` turns do."""
        found = list(islice(self._on_path(self._index.having(term)[1]), most + 1))
        return found if len(found) <= most else ()

    def _on_path(self, turns: Iterable[str]) -> Iterator[str]:
        nodes, path = self._nodes, self._path
        for turn in turns:
            node = nodes.get(turn)
            if node is not None and node.depth < len(path) and path[node.depth] == turn and node.episode:
                yield turn

    def common(self, most: int) -> AbstractSet[str]:
        """Return all terms that occur in more than ``most`` turns of the path, and possibly more terms if there are
        other paths (``aside``). The same set only grows; otherwise a new set is returned."""
        return self._index.common(most)

    def on_path(self, turn: str) -> bool:
        """Whether ``turn`` is remembered and on the path."""
        return any(self._on_path((turn,)))

    def at(self, depth: int) -> str | None:
        """Return the turn of the path at ``depth``, or None if there is none or it is not remembered."""
        if not 0 <= depth < len(self._path):
            return None
        turn = self._path[depth]
        return turn if self._nodes[turn].episode else None

    def depth(self, turn: str) -> int:
        """Return the depth of the turn."""
        return self._nodes[turn].depth

    def text(self, turn: str) -> str:
        """Return the remembered text of the turn. Its line of facts says what was taken back since."""
        node = self._nodes[turn]
        untrue = self._untrue.get(node.depth) if self._untrue else None
        return _corrected(node.episode, untrue, self._language) if untrue and node.episode else node.episode

    def present(self, turn: str) -> tuple[str, ...] | None:
        """Return the ids of the entities with the player in that turn, or None if nobody knows who was."""
        return self._nodes[turn].company

    def since(self, moment: float) -> int:
        """Return the depth of the first turn of the path played at or after ``moment`` (seconds since the epoch), or
        the last depth plus one if there is none."""
        nodes = self._nodes
        return bisect_left(self._path, moment, key=lambda turn: nodes[turn].at)


def _corrected(episode: str, untrue: Sequence[str], language: str) -> str:
    facts, line_end, said = episode.partition("\n")
    for text in untrue:
        name = re.escape(text)
        facts = re.sub(rf"(?<=: ){name}, |, {name}(?=, | \||$)| \| [^:|]+: {name}(?= \||$)", "", facts)
        facts += f" | {language_of(language).labels.unnoted.format(text=text)}"
    return f"{facts}{line_end}{said}"


_ENOUGH = 2
"""Number of uncommon terms that count as much as one rare term."""


def related_turns(words: str, episodes: PathEpisodes) -> frozenset[str]:
    """Return the turns that share one rare term or two uncommon terms with ``words``.

    For example, "the silver seal" finds turns and "I walk on" does not. ``words`` must be in NFC and lower case.
    """
    rare, seldom = few(episodes.last)
    times: Counter[str] = Counter()
    for term in dict.fromkeys(particular_terms(words)):
        if len(term) == 1 and not term.isdigit():  # a single syllable or letter is too ambiguous
            continue
        turns = episodes.having(term, seldom)
        part = _ENOUGH if len(turns) <= rare else 1
        for turn in turns:
            times[turn] += part
    return frozenset(turn for turn, count in times.items() if count >= _ENOUGH)


_EPISODES = "episodes:"


def episodes_scope(session_id: str) -> str:
    """Return the vector scope of a session's episodes."""
    return f"{_EPISODES}{session_id}"


def session_of_episodes(scope: str) -> str | None:
    """Return the session whose episodes ``scope`` holds, or None for any other scope."""
    return scope.removeprefix(_EPISODES) if scope.startswith(_EPISODES) else None


def lore_scope(world_digest: str) -> str:
    """Return the vector scope of a world's lore."""
    return f"lore:{world_digest}"


def spec_of(scope: str, embedder: Embedder) -> ScopeSpec:
    """Return the required spec of ``scope``: this embedder, and for episodes the current version of passages."""
    form = f" passages-{PASSAGES}" if scope.startswith(_EPISODES) else ""
    return ScopeSpec(f"{embedder.id}{form}", embedder.dimension)


# -- fusion of a lexical and a dense ranking -------------------------------------------------------------------
#
# Fusion: merges a lexical and a dense ranking of documents into one.
#
# First, scores are smoothed over neighbouring turns, because the answer to a question often stands next to a turn that
# resembles it. Then lexical scores are boosted for documents with a character that the query names. Finally both kinds
# are converted to z-scores and added. All functions are pure. Sums are exact (``fsum``), so the order of input does not
# matter.

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
