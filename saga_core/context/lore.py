"""The lorebook as a source: applies the rules of ``saga_core.recall`` to the scene."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from weakref import WeakKeyDictionary

from attrs import evolve, field, frozen

from saga_core.config import LorebookConfig
from saga_core.context.model import Piece, ReadRequest, Section, labels, one_line
from saga_core.context.scene import Scene
from saga_core.context.source import NOTHING_GIVEN, Given
from saga_core.language import Labels
from saga_core.recall import ActiveEntry, LoreIndex, LoreSituation, ScoredLore, rank_lore
from saga_core.world import LoreEntry, MacroRoom, fill_macros

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
        place = state.entities.get(state.location) if state.location else None
        similar = await scene.similar_lore()
        distance = await self._distances(scene) if self.expand else {}
        near = [entity for id_ in scene.near if (entity := state.entities.get(id_)) is not None]
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
        ranked = [scored for scored in _bearing(ranked, scene, similar) if not sent(scored.entry)]
        ranked = [scored for scored in ranked if may_tell(request, scored.entry)][:_MOST]
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


def may_tell(request: ReadRequest, entry: LoreEntry) -> bool:
    """Whether the prompt may tell an entry. A member of a group is told only those secrets that the member knows."""
    if not entry.secret or request.member is None:
        return True
    member = request.state.entities.get(request.member)
    names = {name.casefold() for name in member.names} if member is not None else set()
    return not names.isdisjoint(name.casefold() for name in entry.known_by)


def _dead_entries(scene: Scene) -> set[str]:
    return {name for entity in scene.dead.values() for name in scene.request.lore.named(entity.names)}


# -- entries that follow their own rules -----------------------------------------------------------------------

TOLD, ALWAYS = 9.0, 99.0
"""Scores of entries that follow their own rules, above entries by relevance, and of entries that ignore the budget."""
MOST_TOLD = 400_000
"""Most characters of lore that are prepared for one request. No block has room for as much."""
_BEGINNING = 200
_KEY = "lore:"
_MACRO = re.compile(r"\{\{[^{}]{0,2000}\}\}")
_SHORT = 24
"""Minimum characters of an entry for this detection. Shorter texts may be in a prompt by chance. Texts of more than
``MOST_TOLD`` are never told, so nothing is looked for in them."""


def kept_pieces(request: ReadRequest, source: str, room: MacroRoom | None = None) -> list[Piece]:
    """Return a piece for each entry that its rules activate, sorted by ``order`` and name.

    ``room`` is for the texts. The best entries get theirs first; those that it does not hold are too long.
    """
    room = room if room is not None else MacroRoom(MOST_TOLD)
    moment = request.moment
    if moment is None:
        return []
    sent = sent_by_client(request)
    moment = evolve(moment, user=_player(request))
    found = [kept for kept in request.lore.kept.fire(moment) if not sent(kept.entry) and may_tell(request, kept.entry)]
    best = sorted({_worth(kept) for kept in found}, reverse=True)
    ranks = {worth: at for at, worth in enumerate(best)}
    scores = [
        ALWAYS if kept.entry.rule is not None and kept.entry.rule.ignore_budget else TOLD - ranks[_worth(kept)] / 1_000
        for kept in found
    ]
    texts = {
        at: told_text(found[at].entry, request, room) for at in sorted(range(len(found)), key=lambda at: -scores[at])
    }
    pieces = []
    for place, (kept, score) in enumerate(zip(found, scores, strict=True)):
        text = texts[place]
        pieces.append(
            Piece(
                source,
                f"{_KEY}{kept.entry.name}",
                Section.LORE,
                f"{one_line(kept.entry.name)}: {one_line(beginning(kept.entry) if text is None else text)}",
                score,
                why={kept.why: score},
                order=place / 10_000 - 1,
                too_long=text is None,
            )
        )
    return pieces


def beginning(entry: LoreEntry) -> str:
    """Return the first 200 characters of an entry that is too long to be told."""
    return f"{entry.text[:_BEGINNING]}…"


def _worth(kept: ActiveEntry) -> tuple[int, bool, bool, int]:
    """Return the rank of an entry: priority, constant entries, entries found without recursion, and order."""
    rule = kept.entry.rule
    assert rule is not None
    return (1 if rule.priority is None else rule.priority), kept.entry.constant, not kept.later, rule.order


def _player(request: ReadRequest) -> str:
    player = request.state.entities.get(request.state.player)
    return player.name if player is not None else ""


def told_by_rule(chosen: Iterable[Piece], lore: LoreIndex) -> tuple[str, ...]:
    """Return the timed entries in ``chosen``, without those that are there because they were active before."""
    if not lore.kept.timed:
        return ()
    names = (piece.key.removeprefix(_KEY) for piece in chosen if {"key", "constant"} & piece.why.keys())
    return tuple(sorted(name for name in names if name in lore.kept.timed))


def told_text(entry: LoreEntry, request: ReadRequest, room: MacroRoom) -> str | None:
    """Return the entry's text with its macros filled in; None if ``room`` does not hold it.

    The length is computed first: filling a text of megabytes would delay all other requests.
    """
    player = _player(request) if "{{" in entry.text else ""
    macros = entry.text.count("{{") + entry.text.count("<")
    longest = len(entry.text) + macros * len(player)
    if longest > room.left:
        return None
    room.left -= len(entry.text)
    if "{{" not in entry.text:
        return entry.text
    seed = request.moment.seed if request.moment is not None else request.state.turn
    return fill_macros(entry.text, user=player, seed=f"{seed}:{entry.name}", room=room)


def sent_by_client(request: ReadRequest) -> Callable[[LoreEntry], bool]:
    """Return a function that tells whether the client's own system messages contain an entry's text word for word."""
    line: list[str] = []  # computed lazily, because the client's system messages may be long

    def stands(entry: LoreEntry) -> bool:
        if not request.sent or entry.rule is None or not _SHORT <= len(entry.text) <= MOST_TOLD:
            return False
        if not line:
            line.append(one_line(request.sent))
        sent, at = line[0], 0
        for part in _MACRO.split(entry.text):  # the client fills in macros differently
            literal = one_line(part)
            at = sent.find(literal, at)
            if at < 0:
                return False
            at += len(literal)
        return True

    return stands
