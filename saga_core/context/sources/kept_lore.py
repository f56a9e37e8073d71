"""Lore with rules of its own as pieces of context; and what of lore the client tells itself."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from attrs import evolve

from saga_core.context.model import Piece, ReadRequest, Section
from saga_core.context.render import one_line
from saga_core.recall import Kept, LoreIndex
from saga_core.world import LoreEntry, fill_macros

TOLD, ALWAYS = 9.0, 99.0
"""Scores of what its own rules tell, above what relevance brings in; and of what no budget may leave out."""
_KEY = "lore:"
_MACRO = re.compile(r"\{\{[^{}]{0,2000}\}\}")
_SHORT = 24
"""Characters of an entry below which it may stand in a prompt by chance."""


def kept_pieces(request: ReadRequest, source: str) -> list[Piece]:
    """A piece for each entry that its rules tell, in their order."""
    moment = request.moment
    if moment is None:
        return []
    sent = sent_by_client(request)
    moment = evolve(moment, user=_player(request))
    found = [kept for kept in request.lore.kept.fire(moment) if not sent(kept.entry)]
    best = sorted({_worth(kept) for kept in found}, reverse=True)
    ranks = {worth: at for at, worth in enumerate(best)}
    pieces = []
    for place, kept in enumerate(found):
        rule = kept.entry.rule
        score = ALWAYS if rule is not None and rule.ignore_budget else TOLD - ranks[_worth(kept)] / 1_000
        pieces.append(
            Piece(
                source,
                f"{_KEY}{kept.entry.name}",
                Section.LORE,
                f"{one_line(kept.entry.name)}: {one_line(told_text(kept.entry, request))}",
                score,
                why={kept.why: score},
                order=place / 10_000 - 1,
            )
        )
    return pieces


def _worth(kept: Kept) -> tuple[int, bool, bool, int]:
    """What goes in first: by priority, constant entries, those that the chat opened itself, and by order."""
    rule = kept.entry.rule
    assert rule is not None
    return (1 if rule.priority is None else rule.priority), kept.entry.constant, not kept.later, rule.order


def _player(request: ReadRequest) -> str:
    player = request.state.entities.get(request.state.player)
    return player.name if player is not None else ""


def told_by_rule(chosen: Iterable[Piece], lore: LoreIndex) -> tuple[str, ...]:
    """The entries with times of their own that are told by themselves, and not for having been told before."""
    if not lore.kept.timed:
        return ()
    names = (piece.key.removeprefix(_KEY) for piece in chosen if {"key", "constant"} & piece.why.keys())
    return tuple(sorted(name for name in names if name in lore.kept.timed))


def told_text(entry: LoreEntry, request: ReadRequest) -> str:
    """The entry's text with its macros filled."""
    if "{{" not in entry.text:
        return entry.text
    seed = request.moment.seed if request.moment is not None else request.state.turn
    return fill_macros(entry.text, user=_player(request), seed=f"{seed}:{entry.name}")


def sent_by_client(request: ReadRequest) -> Callable[[LoreEntry], bool]:
    """Whether an entry's text stands in the client's own system messages word for word."""
    line: list[str] = []  # made when the first entry asks: a client's system messages may be long

    def stands(entry: LoreEntry) -> bool:
        if not request.sent or entry.rule is None or len(entry.text) < _SHORT:
            return False
        if not line:
            line.append(one_line(request.sent))
        sent, at = line[0], 0
        for part in _MACRO.split(entry.text):  # the client fills macros in its own way
            literal = one_line(part)
            at = sent.find(literal, at)
            if at < 0:
                return False
            at += len(literal)
        return True

    return stands
