"""Pieces of lore entries that follow their own rules, and detection of lore that the client sends itself."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from attrs import evolve

from saga_core.context.model import Piece, ReadRequest, Section
from saga_core.context.render import one_line
from saga_core.recall import Kept, LoreIndex
from saga_core.world import LoreEntry, MacroRoom, fill_macros

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
    found = [kept for kept in request.lore.kept.fire(moment) if not sent(kept.entry)]
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


def _worth(kept: Kept) -> tuple[int, bool, bool, int]:
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
