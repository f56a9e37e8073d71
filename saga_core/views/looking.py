"""A search for a text in a story, and the answer row for each item that has it."""

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
"""Maximum characters of a text that are shown around the words."""

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
"""Why an item was in the prompt or not. The reasons in order: the context had it; the player said it in the request;
the world's text at the start of every prompt has it; the pages in front of the history had it; the sent history had it;
its turn or entry was in the context, but the excerpt left it out; it was found but did not fit; nothing in the scene
led to it, and it is not recorded whether the history had it; nothing in the scene led to it; its lore entry was last
mentioned too long ago; its lore entry waits for a first mention; its event is not due yet, by time, place or person;
its event expired, happened or was cancelled; it is in the opening, which only the sent history can show; it came with
that turn or later; it is in or below a swiped reply; it is on another branch."""

ORDER: Mapping[str, int] = {reason: place for place, reason in enumerate(get_args(Reason))}


@frozen
class Placed:
    """The items from a session's turns, relative to the given turn."""

    before: tuple[Brought, ...] = ()
    """Items on the turn's path before it."""
    aside: tuple[Brought, ...] = ()
    """Items from the turn itself, from later turns or from other branches (see ``where``)."""
    heard: Mapping[str, Heard] = field(factory=dict)
    """The items' texts, prepared for comparison."""


@frozen
class Knowledge:
    """Data for the search besides turns and states."""

    brought: BroughtByTurns
    lorebook: LorebookConfig
    world_text: str
    """The author's text of the world, as in every prompt."""


@define
class Looking:
    """A search: the text, and the turn and context to search."""

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
        """Return the answer row of an item. ``share`` is the share of the words that the text has, and ``words`` are
        these words as typed. ``verbatim`` tells whether the text has the asked text word for word. ``near`` is the part
        of the text around the words. ``line`` is the line that the context had or skipped."""
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
        """Return whether ``text`` has the asked text word for word, and its share of the words. Faster than ``row``."""
        heard = self.placed.heard.get(text)
        return self.wording.closeness(Heard(text) if heard is None else heard)

    def near_enough(self, text: str, least: float) -> bool:
        """Whether ``text`` has at least the share ``least`` of the words, or the asked text word for word."""
        verbatim, share = self.closeness(text)
        return verbatim or share >= least

    def became(self, key: str, whole: str, otherwise: Reason) -> tuple[Reason, Piece | None]:
        """Return the reason and the piece for ``key``, whose full text is ``whole``; ``otherwise`` without a piece."""
        for piece in self.context.pieces:
            if piece.key == key:
                return ("told" if self.wording.told_by(piece.text, whole) else "cut_out"), piece
        for piece in self.context.skipped:
            if piece.key == key:
                return "no_room", piece
        return otherwise, None

    def is_said(self, text: str) -> bool:
        """Whether a line of the context, a skipped line or the pages have ``text``, ignoring punctuation. Long texts
        are shortened there, so it is enough if both ``text`` and a line have the asked text word for word."""
        if self._told is None:
            lines = [piece.text for piece in (*self.context.pieces, *self.context.skipped)]
            self._told = "".join(f" {plainly(line)} \n" for line in (*lines, *self.context.pages.splitlines()))
        if f" {plainly(text)} " in self._told:
            return True
        return self.wording.stands_in(text) and any(map(self.wording.stands_in, self._told.splitlines()))


async def placed(live: LiveSession, turn: str, brought: BroughtByTurns) -> Placed:
    """Return the items from the session's turns, relative to ``turn``."""
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
    """Return where a turn that is not on the path above ``turn`` is, relative to ``turn``."""
    if other == turn or live.tree.is_ancestor(turn, other):
        return "later"
    return "swiped" if _was_swiped(live.tree, live.head, turn, other) else "elsewhere"


def _was_swiped(tree: Tree, head: str, turn: str, other: str) -> bool:
    """Whether ``other`` is in or below another reply to the same words of the player as on the path of ``turn``."""
    path = head if tree.is_ancestor(turn, head) else turn
    node = tree.get(other)
    while node.parent is not None and not tree.is_ancestor(node.parent, path):
        node = tree.get(node.parent)
    if tree.get(path).depth < node.depth:
        return False
    return tree.ancestor_at(path, node.depth).user_key == node.user_key


def nearest(rows: Sequence[dict[str, Any]], most: int) -> list[dict[str, Any]]:
    """Return the ``most`` best rows, one for each item."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for row in sorted(rows, key=lambda row: (not row["verbatim"], -row["share"], ORDER[row["reason"]])):
        found.setdefault((row["kind"], row["key"]), row)
    return list(found.values())[:most]
