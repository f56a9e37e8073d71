"""Recollection: earlier turns of the path that are relevant to the player's words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from itertools import chain, islice, takewhile

from attrs import evolve, field, frozen

from saga_core.context.model import Piece, Section
from saga_core.context.render import Labels, labels, one_field, one_line
from saga_core.context.scene import EPISODE_HITS, Scene
from saga_core.context.sources.episode_ranking import OF_PAIRS, Ranked, Signals, Steps, rank_episodes
from saga_core.context.sources.remembered import WEIGHED, Remembered, Remembering, parts_told
from saga_core.context.sources.source import NOTHING_GIVEN, Given
from saga_core.language import content_words
from saga_core.recall import (
    FUNCTION_SHARE,
    PLAYER,
    Episodes,
    Fed,
    Fused,
    Ranking,
    Sought,
    bearing,
    time_meant,
    year_of,
)

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
        lexical, fed = dict[str, float](), Fed()
        query = " ".join((request.player_words, *scene.other_names))
        sought = Sought(content_words(query))
        related: frozenset[str] | None = None
        idle = not (scene.looks_back or ranking.dense or scene.absent_asked)
        if ranking.bearing and idle and episodes.last >= _COUNTED_FROM:
            related = bearing(query.casefold(), episodes)
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
        remembering = Remembering(episodes, sought, turns, request.language, brief, also, asked)
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
        told: Remembered,
        there: tuple[str, ...] | None,
        here: Sequence[str],
        scene: Scene,
        words: Labels,
    ) -> Piece:
        """Return the piece of a turn. ``there`` are the characters present in that turn, ``here`` the mentioned ones
        present now. The line marks those of ``here`` who were absent and do not know what happened."""
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
        away = [one_field(scene.state.name(id_)) for id_ in here if id_ not in there] if there is not None else ()
        if away:
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
    hop = ranking.hop if time_meant(scene.request.player_words) is None else 0.0
    return evolve(ranking, reach=0, feedback=hop, dense=dense, amounts=0.0)


def _brief(episodes: Episodes) -> bool:
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
