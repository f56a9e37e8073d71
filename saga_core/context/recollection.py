"""Recollection: earlier turns that bear on the player's words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, cached_property, lru_cache, partial
from itertools import chain, islice, takewhile
from types import MappingProxyType
from typing import TypeAlias

from attrs import define, evolve, field, frozen

from saga_core.context.model import Piece, ReadRequest, Section, labels, one_field, one_line
from saga_core.context.scene import EPISODE_HITS, Scene
from saga_core.context.source import NOTHING_GIVEN, Given
from saga_core.language import (
    Labels,
    any_of,
    begins_about,
    content_words,
    language_of,
    match_name,
    match_text,
    mentions_folded,
    standing,
    telling_nothing,
)
from saga_core.recall import (
    FUNCTION_SHARE,
    PLAYER,
    STAMP,
    Feedback,
    Fused,
    ParticularSentences,
    PathEpisodes,
    Ranking,
    SearchedWords,
    amount_sought,
    boost_speakers,
    closeness,
    excerpt,
    fuse,
    most_similar_sentence,
    normalized_turn,
    particular_sentences,
    related_turns,
    smooth_dialogue,
    smooth_neighbors,
    states_amount,
    time_named,
    turns_at,
    word_weights,
    year_of,
)

# -- ranking ---------------------------------------------------------------------------------------------------

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
    sought: SearchedWords,
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
    meant = time_named(request.player_words) if ranking.timed else None
    then = turns_at(meant, episodes, names, request.now) if meant is not None else range(0)
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
    if names and ranking.speaker_boost != 1:
        near = boost_speakers(near, _Named(names, episodes), factor=ranking.speaker_boost)
        steps.append(("names", near.get))
    if ranking.amounts and (asked := amount_sought(request.player_words)) is not None:
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


def _smoothed(scores: dict[int, float], episodes: PathEpisodes, ranking: Ranking) -> dict[int, float]:
    """The scores with those of the neighbours: of a chat's turns, most where one asks what the next one answers."""
    if ranking.reach != OF_PAIRS:
        return smooth_neighbors(scores, episodes.last, decay=ranking.decay, reach=ranking.reach)

    def asks(depth: int) -> bool:
        turn = episodes.at(depth)
        if turn is None:
            return False
        text = episodes.text(turn)
        return text[-1:] in _ASKS or (text[-1:] in _CLOSING and text.rstrip(_CLOSING).endswith(_ASKS))

    return smooth_dialogue(scores, episodes.last, asks, decay=ranking.decay)


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
    scores: dict[int, float], episodes: PathEpisodes, sought: SearchedWords, language: str, factor: float
) -> dict[int, float]:
    """The scores, those of the best lifted by how close to each other they tell of what is wanted."""
    best = sorted([(-score, depth) for depth, score in scores.items()])[:_LOOKED_INTO]
    turns = {depth: turn for _, depth in best if (turn := episodes.at(depth)) is not None}
    texts = {depth: episodes.text(turn) for depth, turn in turns.items()}
    close = closeness(texts, sought, language_of(language).texts.sizes.place)
    return {**scores, **{depth: scores[depth] * (1 + factor * part) for depth, part in close.items()}}


def _telling(scores: dict[int, float], episodes: PathEpisodes, asked: re.Pattern[str], part: float) -> dict[int, float]:
    """The scores, those of turns that tell what is ``asked`` raised by so large a part of the best."""
    more = part * max(scores.values(), default=1.0)
    turns = {depth: episodes.at(depth) for depth in scores}
    found = {depth for depth, turn in turns.items() if turn is not None and states_amount(episodes.text(turn), asked)}
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

    def __init__(self, names: Sequence[str], episodes: PathEpisodes) -> None:
        self._names = set(map(match_name, names))
        # Folding a text takes longer than finding a name in it; Korean names have no case.
        self._folds = any(map(str.islower, self._names)) or any(map(standing, self._names))
        self._episodes = episodes

    def __call__(self, depth: int) -> bool:
        turn = self._episodes.at(depth)
        if turn is None:
            return False
        text = self._episodes.text(turn)
        folded = normalized_turn(text) if self._folds else text
        names = [name for name in self._names if name in folded]
        if not names:  # most turns: neither of the speaker nor of its words need be known
            return False
        speaker = _SPEAKER.match(text, text.find("\n") + 1)
        if speaker is not None:
            folded = match_text(speaker.group(1)) if self._folds else speaker.group(1)
        return any(mentions_folded(folded, name) for name in names)


def _by_depth(scores: dict[str, float], episodes: PathEpisodes) -> dict[int, float]:
    return {episodes.depth(turn): score for turn, score in scores.items()}


def _best(scores: dict[int, float], most: int) -> dict[int, float]:
    ranked = sorted([(-score, depth) for depth, score in scores.items()])
    return {depth: -score for score, depth in ranked[:most]}


# -- what is quoted of a turn ----------------------------------------------------------------------------------

WEIGHED = 24
"""Number of best turns by which the weights of the query's words are computed."""
_ALSO = 0.25
"""Weight of a word from feedback relative to a word of the query."""
_RARE_FROM = 24
"""Minimum turns of a path for the rarity of a word to be significant."""
_NEAREST = 3
"""Maximum turns without particular sentences that are included because they resemble the question. More would repeat
the same things."""
_BRIEFER = ((8, 0.5), (2, 0.7), (0, 1.0))
"""(rank, factor of the excerpt length from that rank on). The answer is usually in the first two turns, or otherwise in
any of the next thirty."""


@define
class RecalledText:  # not frozen, as ``Piece`` is not
    """The text of a recalled turn."""

    facts: str
    """The line of facts without the turn number."""
    said: str
    stamped: bool
    """Whether the turn number is included."""


@define(slots=False)
class RecalledTexts:
    """Selects the texts of the turns of one read."""

    episodes: PathEpisodes
    sought: SearchedWords
    """The words of the query."""
    turns: Sequence[str]
    """The best turns, best first. The first ``WEIGHED`` determine the weights of words."""
    language: str
    brief: bool
    """Whether the turns are utterances of a conversation. Only their particular sentences are used. Of turns without
    any, only a few that resemble the question are included."""

    also: Sequence[str] = ()
    """Words from feedback, with less weight than words of the query."""
    asked: bool = False
    """Whether the player asks about the past. Most excerpts are then shorter, so that more turns fit."""
    by_words: bool = False
    """Whether the turns were found by words alone. One without a word that tells something is left out, and if the
    player asks about the past, a long one without a word that tells it from others."""

    def __attrs_post_init__(self) -> None:
        episodes, sizes = self.episodes, language_of(self.language).texts.sizes
        counted = self.brief and episodes.last >= _RARE_FROM
        self._particular = ParticularSentences(episodes, episodes.last) if counted else None
        self._whole = sizes.brief if self.brief else sizes.whole
        self._facts, self._excerpt = sizes.whole, sizes.excerpt
        self._left, self._told = _NEAREST, 0
        self._nearest = set[str]()

    def of(self, turn: str) -> RecalledText | None:
        """Return the text of ``turn``, or None to leave it out. Call it once per turn, in the order of the ranking."""
        facts, said, stamped = _parts(self.episodes.text(turn))
        if self.by_words and len(said) > self._whole and not self._tells(turn):
            return None
        at, self._told = self._told, self._told + 1
        if not said:
            return RecalledText(excerpt(facts, self._weights[0], self._facts), "", stamped)
        if self._particular is not None:
            said = particular_sentences(said, self._particular) or self._resembling(said, turn)
            if not said:
                return None
        if len(said) > self._whole:
            part = next(part for first, part in _BRIEFER if at >= first) if self.asked else 1.0
            said = excerpt(said, self._words_of(turn), int(part * self._excerpt), sentence=self._excerpt)
        # Utterances in a conversation are identified by date or context, not by turn number.
        return RecalledText(facts, said, stamped and bool(facts or not self.brief))

    def _words_of(self, turn: str) -> Mapping[str, float]:
        """Return the words to search for in a turn, with their weights."""
        whole, each = self._weights
        return each.get(turn, whole)

    def _tells(self, turn: str) -> bool:
        """Whether a turn has a word that tells something and, if the player asks about the past, some of the best
        turns apart, as far as there are such words."""
        standing = self._standing(turn)
        if standing and telling_nothing().issuperset(standing):
            return False
        return not self.asked or not self._apart or not self._apart.isdisjoint(standing)

    def _standing(self, turn: str) -> list[str]:
        text = self.episodes.text(turn)
        standing = self.sought.standing(text)
        if not self.also:
            return standing
        folded = normalized_turn(text)
        return [*standing, *(word for word in self.also if word in folded)]

    @cached_property
    def _apart(self) -> frozenset[str]:
        """The words that some, but fewer than half of the best turns have."""
        turns, nothing = self.turns[:WEIGHED], telling_nothing()
        having = Counter(word for turn in turns for word in set(self._standing(turn)))
        return frozenset(word for word, count in having.items() if 2 * count < len(turns) and word not in nothing)

    def _resembling(self, said: str, turn: str) -> str:
        """Return the sentence of ``said`` that resembles the question, or "" after the first three turns."""
        found = most_similar_sentence(said, self._words_of(turn)) if self._left else ""
        if not found or found in self._nearest:
            return ""
        self._nearest.add(found)
        self._left -= 1
        return found

    @cached_property
    def _weights(self) -> tuple[Mapping[str, float], Mapping[str, Mapping[str, float]]]:
        # Computed lazily: most turns of a conversation need no excerpt.
        turns = self.turns[:WEIGHED]
        whole = [self.episodes.text(turn) for turn in turns]
        texts = [text.partition("\n")[2] for text in whole]
        weights, each = word_weights(self.sought.words, texts, [self.sought.possible(text) for text in whole])
        if self.also:
            others = word_weights([word for word in self.also if word not in weights], texts)
            for own, other in zip((weights, *each), (others[0], *others[1]), strict=True):
                own.update({word: _ALSO * worth for word, worth in other.items()})
        return weights, dict(zip(turns, each, strict=True))


def parts_told(wanted: Sequence[str], language: str, texts: Sequence[str]) -> list[str]:
    """Return the excerpts that turns with these ``texts`` would have if they were the best ones."""
    said = [text.partition("\n")[2] for text in texts]
    weights, each = word_weights(wanted, said)
    size = language_of(language).texts.sizes.excerpt
    return [excerpt(text, having or weights, size) for text, having in zip(said, each, strict=True)]


@lru_cache(maxsize=1_024)
def _parts(episode: str) -> tuple[str, str, bool]:
    """Return an episode's facts without the turn number, its spoken part, and whether it has a number. Cached: a read
    of a conversation uses about a hundred turns, most of them the same as in the read before."""
    facts, _, said = episode.partition("\n")
    stamp = STAMP.match(facts)
    if any(bracket in said for bracket in "[(（"):
        said = _aside().sub("", said).rstrip()
    return (facts, said, False) if stamp is None else (facts[stamp.end() :], said, True)


@cache
def _aside() -> re.Pattern[str]:
    return re.compile(any_of(lambda each: each.past.aside), re.I)


# -- the source ------------------------------------------------------------------------------------------------

_CANDIDATES, _FEW = 64, 24
_NEIGHBOURING, _NEIGHBOURING_HITS = 128, 200
"""Candidates by words and by meaning where turns are short: many have room, and each lends to its neighbours."""
_ROOM = 500
_LINE = 40
"""Tokens offered beyond the room, because the whole text costs less than the sum of its lines."""
_LOOKED_AT, _BRIEF = 12, 400
_COUNTED_FROM = 24
"""Minimum turns of a path for the rarity of a word to be significant."""
_ASIDE = 3
"""Maximum turns that are offered if the player's words do not look back. They must be above the average candidate and
be related to the words."""
_LEAST, _MIDDLE, _MOST = 1.0, 2.0, 4.5
_LOOKING = 1.5
"""More for each when the player's words look back."""


@frozen
class Recollection:
    """Earlier turns, found by words and by meaning, in one fused ranking. Turns in the sent history are left out.

    If the player's words look back, excerpts of up to ``top_k`` turns are offered within ``most`` tokens. Otherwise up
    to three turns that are above the average candidate and related to the words are offered within ``room`` tokens.
    """

    top_k: int = 96
    room: int = _ROOM
    most: int = _ROOM
    ranking: Ranking = field(factory=Ranking)
    name: str = "recollection"
    needs: tuple[str, ...] = ()

    def ready(self, scene: Scene) -> bool:
        """Whether everything that ``gather`` awaits is available."""
        return scene.answered

    async def gather(self, scene: Scene, given: Given = NOTHING_GIVEN) -> Sequence[Piece]:
        """Return the pieces, which are rendered in the order of their turns."""
        request = scene.request
        episodes, ranking = request.episodes, self.ranking
        if episodes is None or not request.player_words.strip():
            return []
        brief = _brief(episodes)
        if ranking.adapt:
            ranking = _adapted(ranking, brief, scene)
        lexical, fed = dict[str, float](), Feedback()
        query = " ".join((request.player_words, *scene.other_names))
        sought = SearchedWords(content_words(query))
        related: frozenset[str] | None = None
        idle = not (scene.looks_back or ranking.dense or scene.absent_asked)
        if ranking.related_only and idle and episodes.last >= _COUNTED_FROM:
            related = related_turns(query.casefold(), episodes)
            if not related:
                return []
        if ranking.lexical:
            count = _NEIGHBOURING if ranking.reach else _CANDIDATES if scene.looks_back else _FEW
            function = ranking.function if brief else FUNCTION_SHARE
            parts = None if brief else partial(parts_told, sought.words, request.language)
            hidden, near_by = request.shown, ranking.reach
            lexical = episodes.search(query, count, hidden, near_by, ranking.feedback, function, parts, fed)
        dense: dict[str, float] = {}
        near: dict[str, float] = {}
        if ranking.dense:
            near = await scene.similar_episodes(_NEIGHBOURING_HITS if ranking.reach else EPISODE_HITS)
        for turn, cosine in near.items():
            if cosine > scene.baseline and turn not in request.shown and episodes.on_path(turn):
                dense[turn] = cosine - scene.baseline
        found, steps = rank_episodes(lexical, dense, request, sought, scene.names_asked, ranking, fed.brought)
        ranked: Iterator[Ranked] = islice(found, self.top_k)
        if not scene.looks_back:
            above = takewhile(lambda each: each[1].score >= 0, ranked)
            ranked = islice((each for each in above if related is None or each[0] in related), _ASIDE)
        best = list(islice(ranked, WEIGHED))  # further turns are ranked only while there is room
        turns = [turn for turn, _ in best]
        words = labels(request.language)
        also = [] if brief else fed.terms
        asked = scene.looks_back and not brief
        by_words = not dense and (asked or not scene.looks_back)
        remembering = RecalledTexts(episodes, sought, turns, request.language, brief, also, asked, by_words)
        left = _LINE + (self.most if scene.looks_back else self.room)
        here = [id_ for id_ in scene.state.present if id_ in scene.asked]
        pieces: list[Piece] = []
        said, begun = set[str](), set[str]()
        for turn, entry in chain(best, ranked):
            told = remembering.of(turn)
            if told is None:
                continue
            piece = self._piece(turn, entry, steps, told, episodes.present(turn), here, scene, words)
            pieces.append(piece)
            if piece.text in said:  # a repeated line such as "Thanks!" is rendered once
                continue
            said.add(piece.text)
            piece.tokens = scene.count(piece.bare if piece.under in begun else piece.text) + 2  # a dash and a line end
            left -= piece.tokens
            begun.add(piece.under)
            if left <= 0:
                break
        return pieces

    def _piece(
        self,
        turn: str,
        entry: Fused[int],
        steps: Steps,
        told: RecalledText,
        there: tuple[str, ...] | None,
        here: Sequence[str],
        scene: Scene,
        words: Labels,
    ) -> Piece:
        """Return the piece of a turn. ``there`` are the characters present in that turn, ``here`` the mentioned ones
        present now. The line marks those of ``here`` who were absent and do not know what happened: nobody told them,
        and no event of the turn begins with them, as a quarrel on the telephone does."""
        depth = entry.document
        facts, line = told.facts, _line(told.said)
        text = bare = f"{words.turn.format(depth=depth)} {line}" if told.stamped or not line else line
        year = brief = ""
        if facts and line:
            text = f"{text[: len(text) - len(line)]}{one_line(facts)} — {line}"
            year, day = year_of(facts)
            brief = f"{one_line(day)} — {line}" if year else ""
        elif not line:
            text, bare = f"{bare}{one_line(facts)}", ""
        if here and there is not None and (away := _away(scene, depth, there, here, facts)):
            mark = words.not_there.format(names=", ".join(away))
            text, bare, brief = (f"{each} {mark}" if each else "" for each in (text, bare, brief))
        score = max(_LEAST, min(_MOST, _MIDDLE + entry.score / 2)) + (_LOOKING if scene.looks_back else 0.0)
        return Piece(
            self.name,
            f"turn:{turn}",
            Section.EARLIER,
            text,
            score,
            why=Signals(entry, steps),
            order=depth,
            under=facts if bare else "",
            bare=bare or text,
            within=year,
            brief=brief,
        )


def _away(scene: Scene, depth: int, there: Sequence[str], here: Sequence[str], facts: str) -> list[str]:
    """Return the names of those of ``here`` who were absent from a turn and do not know what happened."""
    state = scene.state
    heard = state.audiences.get(depth)
    then = {state.merged.get(id_, id_) for id_ in (*there, *(heard.told if heard is not None else ()))}
    did = re.split(r"[|:,] ", facts)
    return [
        one_field(state.name(id_))
        for id_ in here
        if id_ not in then and not any(begins_about(each, name) for each in did for name in state.entities[id_].names)
    ]


_line = lru_cache(maxsize=1_024)(one_line)
"""Cached: a conversation recalls the same lines repeatedly."""


def _adapted(ranking: Ranking, brief: bool, scene: Scene) -> Ranking:
    """Return the ranking adapted to the length of turns.

    Neighbours and feedback count for brief turns. For long turns, closeness counts, and feedback from their excerpts
    only, but both only if the player's words look back. In a chat, a turn has the words of two people, so the reach of
    smoothing is halved. An embedder that compares only spelling is not used: the search by words is better.
    """
    dense = 0.0 if scene.spelling else ranking.dense
    if brief:
        reach = min(ranking.reach, OF_PAIRS) if _paired(scene) else ranking.reach
        return evolve(ranking, reach=reach, close=0.0, dense=dense)
    if not scene.looks_back:
        return evolve(ranking, reach=0, feedback=0.0, close=0.0, dense=dense, amounts=0.0)
    # A named time selects one of many similar turns, and feedback would find the others as well.
    hop = ranking.hop if time_named(scene.request.player_words) is None else 0.0
    return evolve(ranking, reach=0, feedback=hop, dense=dense, amounts=0.0)


def _brief(episodes: PathEpisodes) -> bool:
    """Whether the latest turns are short on average, like utterances in a conversation. The answer to a question is
    then often in the next turn."""
    texts: list[str] = []
    for depth in range(episodes.last, max(0, episodes.last - _LOOKED_AT), -1):
        turn = episodes.at(depth)
        if turn is not None:
            texts.append(episodes.text(turn))
    most = _BRIEF * len(texts)
    # No text has fewer bytes than characters.
    return sum(map(len, texts)) <= most and sum(len(text.encode()) for text in texts) <= most


def _paired(scene: Scene) -> bool:
    """Whether the latest turn has the player's words, as turns of a chat do."""
    episodes = scene.request.episodes
    latest = episodes.at(episodes.last) if episodes is not None else None
    return episodes is not None and latest is not None and _said(episodes.text(latest)).startswith(PLAYER)


def _said(text: str) -> str:
    """Return the spoken part of an episode, without its line of facts."""
    return text.partition("\n")[2]
