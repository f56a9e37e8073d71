"""What is looked for in a story, and what is answered for each thing that says it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

from attrs import define, field, frozen

from saga_core.config import LorebookConfig
from saga_core.context import Piece, TurnContext
from saga_core.model import Tree
from saga_core.recall import excerpt
from saga_core.sessions import LiveSession
from saga_core.views.brought import Brought, BroughtByTurns
from saga_core.views.wording import Heard, Wording, plainly, spoken_of, unstamped

_NEAR = 280
"""Characters of a text that are shown where the words stand."""

Reason = Literal[
    "told",
    "own_words",
    "in_prompt",
    "in_front",
    "in_chat",
    "cut_out",
    "no_room",
    "not_known",
    "no_signal",
    "faded",
    "hidden",
    "not_due",
    "over",
    "opening",
    "later",
    "swiped",
    "elsewhere",
]
"""Why, one after the other: it stood in the context; it is what the player said in that very request; it stands in the
author's text of the world, with which every prompt begins; it stood in the pages at the beginning of the prompt, or in
the history that the client sent; its turn or entry was told, and the excerpt left this out; it was found and did not
fit; nothing in the scene led to it, and whether the history showed the turn is not recorded; nothing in the scene led
to it; the same, of lore whose last mention is too long ago, and of lore that was never mentioned and waits for it; it
is an event to come, whose time, place or person is not there yet; it is one whose time was over, that had happened, or
that was called off; it stands in the opening, which only the chat itself shows; it was said or reported only with that
turn or after it; it stands in a reply that was swiped away, or below one; it was said on another branch."""

ORDER: Mapping[str, int] = {reason: place for place, reason in enumerate(get_args(Reason))}


@frozen
class Placed:
    """What the turns of a session brought, as the asked turn sees it."""

    before: tuple[Brought, ...] = ()
    """That its path had before it."""
    aside: tuple[Brought, ...] = ()
    """That came with it or later, or that stands elsewhere: see ``where``."""
    heard: Mapping[str, Heard] = field(factory=dict)
    """Their texts."""


@frozen
class Knowledge:
    """What is known beside turns and states."""

    brought: BroughtByTurns
    lorebook: LorebookConfig
    world_text: str
    """The author's text of the world, as it stands in every prompt."""


@define
class Looking:
    """What is looked for, and where."""

    live: LiveSession
    turn: str
    context: TurnContext
    wording: Wording
    sure: bool
    knowledge: Knowledge
    placed: Placed
    _told: str | None = field(default=None, init=False)

    @property
    def above(self) -> str:
        """The turn that the context was read after."""
        return self.live.tree.get(self.turn).parent or self.turn

    def row(
        self, kind: str, key: str, text: str, reason: Reason, piece: Piece | None = None, **more: Any
    ) -> dict[str, Any]:
        """``share`` is how much of the words the text has, ``words`` which of them, as they were typed; ``verbatim``
        whether it has them as they stand; ``near`` is the part of the text where they stand, ``line`` what was told of
        it, or would have been."""
        said = spoken_of(text) if kind == "turn" else text
        forms = self.wording.forms_in(said)
        verbatim = self.wording.stands_in(said)
        shown = unstamped(text)
        near = self.wording.around(shown, _NEAR) if verbatim else None
        if near is None:
            near = excerpt(shown, {each: 1.0 for found in forms.values() for each in found}, _NEAR)
        return {
            "kind": kind,
            "key": key,
            "text": text,
            "share": 1.0 if verbatim else round(len(forms) / len(self.wording.words), 2),
            "words": [self.wording.words[word] for word in forms],
            "verbatim": verbatim,
            "near": near,
            "reason": reason,
            "line": piece.text if piece is not None else None,
            "score": round(piece.score, 4) if piece is not None else None,
            "tokens": piece.tokens if piece is not None else None,
            **more,
        }

    def closeness(self, text: str) -> tuple[bool, float]:
        """Whether ``text`` says it word for word, and how much of the words it has; told faster than by a row."""
        heard = self.placed.heard.get(text)
        return self.wording.closeness(Heard(text) if heard is None else heard)

    def near_enough(self, text: str, least: float) -> bool:
        """Whether ``text`` has so much of the words, or says it word for word."""
        verbatim, share = self.closeness(text)
        return verbatim or share >= least

    def became(self, key: str, whole: str, otherwise: Reason) -> tuple[Reason, Piece | None]:
        """What became of the piece ``key``, of which all is ``whole``; ``otherwise`` if nobody offered it."""
        for piece in self.context.pieces:
            if piece.key == key:
                return ("told" if self.wording.told_by(piece.text, whole) else "cut_out"), piece
        for piece in self.context.skipped:
            if piece.key == key:
                return "no_room", piece
        return otherwise, None

    def is_said(self, text: str) -> bool:
        """Whether a line of the context, one that found no room, or the pages say ``text``: what stands behind it
        there, and punctuation, do not matter. So does a line that says what is asked about word for word, if ``text``
        does: long texts are shortened where they are told again."""
        if self._told is None:
            lines = [piece.text for piece in (*self.context.pieces, *self.context.skipped)]
            self._told = "".join(f" {plainly(line)} \n" for line in (*lines, *self.context.pages.splitlines()))
        if f" {plainly(text)} " in self._told:
            return True
        return self.wording.stands_in(text) and any(map(self.wording.stands_in, self._told.splitlines()))


async def placed(live: LiveSession, turn: str, brought: BroughtByTurns) -> Placed:
    """What the turns of the session brought, by where it stands, seen from ``turn``."""
    tree = live.tree
    before: list[Brought] = []
    aside: list[Brought] = []
    above = tree.get(turn).parent
    path = frozenset(node.id for node in tree.path(above)) if above is not None else frozenset[str]()
    gone = await brought.taken_back(live, path)
    for each in await brought.of(live):
        if each.turn in path:
            if each.kind != "note" or (each.depth, each.key) not in gone:
                before.append(each)
        else:
            aside.append(each)
    return Placed(tuple(before), tuple(aside), {each.text: Heard(each.text) for each in (*before, *aside)})


def where(live: LiveSession, turn: str, other: str) -> Reason:
    """Where a turn that is none of the path above ``turn`` stands, seen from it."""
    if other == turn or live.tree.is_ancestor(turn, other):
        return "later"
    return "swiped" if _was_swiped(live.tree, live.head, turn, other) else "elsewhere"


def _was_swiped(tree: Tree, head: str, turn: str, other: str) -> bool:
    """Whether ``other`` is, or stands below, another reply to the same words of the player on the path of ``turn``."""
    path = head if tree.is_ancestor(turn, head) else turn
    node = tree.get(other)
    while node.parent is not None and not tree.is_ancestor(node.parent, path):
        node = tree.get(node.parent)
    if tree.get(path).depth < node.depth:
        return False
    return tree.ancestor_at(path, node.depth).user_key == node.user_key


def nearest(rows: Sequence[dict[str, Any]], most: int) -> list[dict[str, Any]]:
    """The rows that say most, each thing once."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for row in sorted(rows, key=lambda row: (not row["verbatim"], -row["share"], ORDER[row["reason"]])):
        found.setdefault((row["kind"], row["key"]), row)
    return list(found.values())[:most]
