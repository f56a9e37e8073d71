"""Turns, what each of them changed, and the tree that they form."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from functools import cached_property
from typing import Any

from attrs import define, evolve, field, frozen

from saga_core.errors import NotFound, StoreCorrupt
from saga_core.model.deltas import Event, TextEdited
from saga_core.values import Proposal

# -- what a turn changed ---------------------------------------------------------------------------------------


class Source(StrEnum):
    """Who reported a change."""

    BLOCK = "block"
    """The narrator's own state block."""
    EXTRACTION = "extraction"
    """A small model that read the reply."""
    EDIT = "edit"
    """A person."""
    CURATION = "curation"
    NONE = "none"
    """Nobody: nothing is known to have changed."""


class ReportStatus(StrEnum):
    """How completely the change could be read."""

    OK = "ok"
    PARTIAL = "partial"
    CUT = "cut"
    """The block was cut off: an extractor should be asked for the rest."""
    FALLBACK = "fallback"
    """No usable block: an extractor should be asked."""
    NONE = "none"
    """Not asked for: a side request, or a turn that was adopted without one."""


_REPORTED = (ReportStatus.OK, ReportStatus.PARTIAL)


@frozen
class Delta:
    """What one turn changed. The empty delta is valid: nothing changed."""

    events: tuple[Event, ...] = ()
    source: Source = Source.NONE
    status: ReportStatus = ReportStatus.NONE
    problems: tuple[str, ...] = ()
    """What could not be read, in words."""
    id: str = ""
    """Of a later delta: the name under which it can be undone."""
    undoes: str = ""
    """The ``id`` of a later delta of the same turn that counts no more, from this one on."""
    cut: str = ""
    """With the status ``cut``: the body of the block as far as it came."""

    def then(self, other: Delta) -> Delta:
        """This delta followed by ``other``, as one (a continued reply is one turn)."""
        if not other.events and other.source is Source.NONE and other.status is not ReportStatus.FALLBACK:
            return self
        source = other.source if other.source is not Source.NONE else self.source
        problems = self.problems + other.problems
        return Delta(self.events + other.events, source, other.status, problems, cut=other.cut)

    def amended(self, later: Sequence[Delta]) -> Delta:
        """This delta with the ``later`` ones of its turn, in their order, but for those that were undone.

        The latest extraction takes the place of what this one and earlier extractions report, for it read the same
        text; edits and curation are added. They report nothing of the turn itself: how well it is known stays.
        """
        found = self
        counting = [delta for delta in _counting(later) if not delta.is_of_the_text]
        for delta in counting:
            if delta.source is Source.EXTRACTION:
                found = delta
        for delta in counting:
            if delta.source is not Source.EXTRACTION and delta.status is ReportStatus.NONE:
                source = delta.source if found.source is Source.NONE else found.source
                found = evolve(
                    found, events=found.events + delta.events, source=source, problems=found.problems + delta.problems
                )
            elif delta.source is not Source.EXTRACTION:
                found = found.then(delta)
        return found

    @property
    def is_of_the_text(self) -> bool:
        """Whether it only edits the turn's text."""
        return bool(self.events) and all(isinstance(event, TextEdited) for event in self.events)


def undoings(later: Sequence[Delta]) -> dict[str, str]:
    """The ids of later deltas that count no more, and of what undid each. What undoes may itself be undone."""
    gone: dict[str, str] = {}
    for delta in reversed(later):
        if delta.undoes and delta.id not in gone:
            gone.setdefault(delta.undoes, delta.id)
    return gone


def edits(later: Sequence[Delta]) -> tuple[Event, ...]:
    """The events of the later deltas of a turn that a user made and did not undo."""
    return tuple(event for delta in _counting(later) if delta.source is Source.EDIT for event in delta.events)


def _counting(later: Sequence[Delta]) -> list[Delta]:
    gone = undoings(later)
    return [delta for delta in later if not delta.undoes and (not delta.id or delta.id not in gone)]


# -- turns and sessions ----------------------------------------------------------------------------------------


@frozen
class Review:
    """One review."""

    curator: str
    turn: str
    at: float
    since: int
    """The depth after which the reviewed turns begin."""
    depth: int
    accepted: tuple[Proposal, ...] = ()
    changes: tuple[str, ...] = ()
    """The ``id`` of the later delta of each proposal in ``accepted``."""
    refused: tuple[tuple[str, str], ...] = ()
    """(summary, reason) of each refused proposal."""
    notice: str = ""
    """A message if something deviated from the configuration."""


ACCEPT, REFUSE = "accept", "refuse"
READING = "reading"
"""The kind of changes that an extraction model reads in a turn. The other kinds are those of ``Proposal``."""


@frozen(kw_only=True)
class StandingRule:
    """The decision for proposals of one kind by one proposer."""

    id: str
    by: str
    """The curator's name (including ``memory.<strategy>``), or ``extraction``."""
    kind: str
    """The kind of the proposals, or ``READING``."""
    verdict: str
    """``ACCEPT`` or ``REFUSE``."""
    at: float
    """When the rule was made, in seconds since the epoch."""


def held(rules: Iterable[StandingRule], by: str, kind: str, *, change: str, number: str) -> list[tuple[str, Delta]]:
    """Return the later delta, with its number, that undoes a proposal until the user accepts it.

    The list is empty if a rule accepts such proposals. If a rule refuses them, the delta counts as an edit.
    """
    verdict = next((each.verdict for each in rules if (each.by, each.kind) == (by, kind)), "")
    if verdict == ACCEPT:
        return []
    return [(number, Delta((), Source.EDIT if verdict == REFUSE else Source.CURATION, id=number, undoes=change))]


BLANK = "[…]"
"""Replaces a forgotten name."""


class TurnKind(StrEnum):
    """How a turn came about."""

    ROOT = "root"
    """The opening of a session: the greeting, before the player's first words. Depth 0."""
    NARRATION = "narration"
    """The player spoke and the narrator answered."""
    CONTINUATION = "continuation"
    """A reply that continues an earlier one. It is a sibling of that turn and has the text of both."""
    ADOPTED = "adopted"
    """A turn found in a history that SAGA had not recorded, or had recorded with another text."""
    IMPORTED = "imported"
    """A turn of an imported chat. No model is asked about it unless the user requests that (``saga backfill``)."""
    SIDE = "side"
    """The reply to a request that did not look like a turn: impersonate, summarise, a quiet prompt."""


@frozen
class Turn:
    """The player's message and the reply: a node in a session's tree."""

    id: str
    session: str
    parent: str | None
    """The previous turn. None only for the root."""
    depth: int
    """The number of turns on the path from the root, which has depth 0."""
    at: float
    """The time of recording, in seconds since the epoch."""
    user: str = ""
    """The player's message in NFC, without text that SAGA added."""
    reply: str = ""
    """The complete reply as the player saw it, in NFC, without state blocks."""
    delta: Delta = field(factory=Delta)
    kind: TurnKind = TurnKind.NARRATION
    model: str = ""
    finish: str = "stop"
    """OpenAI's finish reason, or ``aborted`` if the client disconnected during the reply."""
    jump: str | None = None
    """A distant ancestor. It makes ancestry queries logarithmic."""
    missing: int | None = None
    """The depth up to which turns were missing from the history of its request. None: unknown."""
    speaker: str = ""
    """Who says the reply, if the frontend named the speaker, as in a group."""

    def edited(self, later: Sequence[Delta]) -> Turn:
        """Return the turn with the text that its ``later`` deltas give it."""
        texts = [event for delta in _counting(later) for event in delta.events if isinstance(event, TextEdited)]
        if not texts:
            return self
        user, reply = texts[-1].user, texts[-1].reply
        return evolve(self, user=self.user if user is None else user, reply=self.reply if reply is None else reply)


@frozen
class Session:
    """One tree of turns."""

    id: str
    root: str
    owner: str = ""
    """The fingerprint of the API key that owns the session; empty for none."""
    label: str = ""
    """The explicit name that the client gave it, if any."""
    world: str = ""
    """The name of the session's world."""
    digest: str = ""
    """The digest of that world when the session began. The journal keeps its text."""
    created: float = 0.0
    head: str = ""
    """The turn recorded last: the active head."""
    standing: tuple[StandingRule, ...] = ()
    """The standing rules, one for each proposer and kind."""
    title: str = ""
    """What the story is called where nobody gave it a name (see ``story_title``)."""
    kind: str = "personal"
    """What the session keeps, and whether it shares its world: one of ``sessions.SESSION_KINDS``."""
    share: str = ""
    """The name of the shared world that the session takes part in; empty for none."""
    shared_at: float = 0.0
    """Since when it does, in seconds since the epoch."""


# -- the tree --------------------------------------------------------------------------------------------------


@frozen
class TurnNode:
    """A turn without its text."""

    id: str
    parent: str | None
    depth: int
    at: float
    kind: TurnKind
    user_key: str = ""
    reply_key: str = ""
    jump: str | None = None
    episode: str = ""
    """The text of the turn that recall indexes and shows."""
    status: ReportStatus = ReportStatus.NONE
    """How well the changes of the turn are known."""
    present: tuple[str, ...] | None = None
    """The ids of the characters who were with the player; None if that was not recorded."""
    told: tuple[str, ...] = ()
    """Names of the lore entries with their own schedule that this turn's context included."""

    @property
    def company(self) -> tuple[str, ...] | None:
        """The ids of the characters who were with the player; None if no report says who is there."""
        return self.present if self.parent is None or self.status in _REPORTED else None

    @cached_property
    def members(self) -> frozenset[str] | None:
        """``company`` as a set."""
        return None if self.company is None else frozenset(self.company)

    @property
    def unreported(self) -> bool:
        """Whether the turn is part of the story, and its changes were not reported, or not completely."""
        lacks = self.status in (ReportStatus.FALLBACK, ReportStatus.CUT)
        return lacks and self.kind not in (TurnKind.SIDE, TurnKind.ROOT)


_KINDS = {kind.value: kind for kind in TurnKind}
_STATUSES = {status.value: status for status in ReportStatus}


def read_nodes(records: Sequence[bytes]) -> list[TurnNode]:
    """Decode nodes that ``codec.encode`` wrote. Hand-written for speed: a session's first turn needs its whole tree.

    Raises ``StoreCorrupt``.
    """
    try:
        joined = b"[%b]" % b",".join(records)
        plains = json.loads(joined)
        if b"\\u" in joined:  # Only an escape can produce a lone surrogate, which could not be encoded again.
            json.dumps(plains, ensure_ascii=False).encode()
        if len(plains) == len(records):
            return [_node(plain) for plain in plains]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError) as error:
        raise StoreCorrupt(f"a stored node cannot be read: {error!r}") from error
    raise StoreCorrupt(f"a stored node cannot be read: {len(records)} records hold {len(plains)}")


def _node(plain: dict[str, Any]) -> TurnNode:
    get = plain.get
    parent, jump, at = get("parent"), get("jump"), float(plain["at"])
    said, replied, episode = get("user_key", ""), get("reply_key", ""), get("episode", "")
    if not (
        math.isfinite(at)
        and type(said) is type(replied) is type(episode) is str
        and (parent is None or type(parent) is str)
        and (jump is None or type(jump) is str)
    ):
        raise ValueError(f"turn {str(plain['id'])[:80]!r} holds what is no text or no time")
    return TurnNode(
        str(plain["id"]),
        parent,
        int(plain["depth"]),
        at,
        _KINDS[plain["kind"]],
        said,
        replied,
        jump,
        episode,
        _STATUSES[get("status", ReportStatus.NONE.value)],
        tuple(present) if (present := get("present")) is not None else None,
        tuple(get("told", ())),
    )


@define
class Tree:
    """Nodes by id. Jump pointers answer ancestry queries in logarithmic time (Myers, 1983, skew-binary lists)."""

    session: str
    root: str = ""
    nodes: dict[str, TurnNode] = field(factory=dict)
    children: dict[str, list[str]] = field(factory=dict)
    misplaced: list[str] = field(factory=list, eq=False, repr=False)
    """Nodes whose recorded depth did not match their place."""
    edited: set[str] = field(factory=set, eq=False, repr=False)
    """Turns of which a history showed another text than was recorded."""
    _trunk: list[str] = field(factory=list, init=False, eq=False, repr=False)
    """The path that was last passed to ``followed``, by depth. Ancestry queries on it take one step."""

    def add(self, node: TurnNode) -> None:
        """Add a node under its parent, which must exist. Adding a known node changes nothing.

        The depth and the jump pointer follow from the node's place. Different recorded values are corrected, because a
        wrong jump pointer could lead into a cycle.
        """
        if node.id in self.nodes:
            return
        if node.parent is None:
            self.root = node.id
            if node.depth != 0:
                self.misplaced.append(node.id)
                node = evolve(node, depth=0)
        else:
            parent = self.get(node.parent)
            jump = self.jump_for(parent.id)
            if node.depth != parent.depth + 1:
                self.misplaced.append(node.id)
                node = evolve(node, depth=parent.depth + 1)
            if node.jump != jump:
                node = evolve(node, jump=jump)
            self.children.setdefault(parent.id, []).append(node.id)
        self.nodes[node.id] = node

    def replace(self, node: TurnNode) -> None:
        """Replace the node with the same id, after its turn was amended."""
        self.get(node.id)
        self.nodes[node.id] = node

    def get(self, turn: str) -> TurnNode:
        """Return the node. Raises ``NotFound`` for an unknown turn."""
        found = self.nodes.get(turn)
        if found is None:
            raise NotFound(f"session {self.session} has no turn {turn!r}")
        return found

    def __contains__(self, turn: str) -> bool:
        return turn in self.nodes

    def __len__(self) -> int:
        return len(self.nodes)

    def jump_for(self, parent: str) -> str:
        """Return the jump pointer for a new child of ``parent``."""
        one = self.get(parent)
        two = self.nodes.get(one.jump) if one.jump else None
        three = self.nodes.get(two.jump) if two and two.jump else None
        if two and three and one.depth - two.depth == two.depth - three.depth:
            return three.id
        return parent

    def ancestor_at(self, turn: str, depth: int) -> TurnNode:
        """Return the ancestor of ``turn`` (or the turn itself) at ``depth``. The root has depth 0."""
        node = self.get(turn)
        trunk = self._trunk
        while node.depth > depth:
            if depth >= 0 and node.depth < len(trunk) and trunk[node.depth] == node.id:
                return self.nodes[trunk[depth]]
            jump = self.nodes.get(node.jump) if node.jump else None
            if jump is not None and jump.depth >= depth:
                node = jump
            else:
                assert node.parent is not None
                node = self.nodes[node.parent]
        return node

    def followed(self, turn: str) -> list[str]:
        """Return the ids from the root to ``turn``, by depth. The caller must not change the list.

        This makes later queries about this path fast. The cost grows with the distance to the path followed before.
        """
        trunk, node = self._trunk, self.get(turn)
        fresh: list[str] = []
        while node.depth >= len(trunk) or trunk[node.depth] != node.id:
            fresh.append(node.id)
            if node.parent is None:
                break
            node = self.nodes[node.parent]
        if fresh or len(trunk) != self.nodes[turn].depth + 1:
            # Make a new list, because callers may still hold the old one.
            self._trunk = trunk[: self.nodes[turn].depth + 1 - len(fresh)] + fresh[::-1]
        return self._trunk

    def is_ancestor(self, above: str, below: str) -> bool:
        """Whether ``above`` is on the path from the root to ``below``, including both ends."""
        node = self.nodes.get(above)
        if node is None or below not in self.nodes or self.nodes[below].depth < node.depth:
            return False
        return self.ancestor_at(below, node.depth).id == above

    def common_ancestor(self, one: str, other: str) -> TurnNode:
        """The deepest turn on both paths."""
        low, high = 0, min(self.get(one).depth, self.get(other).depth)
        while low < high:
            middle = (low + high + 1) // 2
            if self.ancestor_at(one, middle).id == self.ancestor_at(other, middle).id:
                low = middle
            else:
                high = middle - 1
        return self.ancestor_at(one, low)

    def distance(self, one: str, other: str) -> int:
        """The number of turns between two turns: up to their common ancestor and down again."""
        meet = self.common_ancestor(one, other).depth
        return self.get(one).depth + self.get(other).depth - 2 * meet

    def upwards(self, turn: str) -> Iterator[TurnNode]:
        """``turn`` and its ancestors, deepest first."""
        node: TurnNode | None = self.get(turn)
        while node is not None:
            yield node
            node = self.nodes[node.parent] if node.parent else None

    def path(self, turn: str) -> list[TurnNode]:
        """The nodes from the root to ``turn``."""
        return list(self.upwards(turn))[::-1]

    def leaves(self) -> list[TurnNode]:
        """The turns without children, newest first."""
        return sorted(
            (node for node in self.nodes.values() if not self.children.get(node.id)),
            key=lambda node: node.id,
            reverse=True,
        )


def node_of(
    turn: Turn,
    *,
    user_key: str,
    reply_key: str,
    episode: str,
    present: tuple[str, ...] | None = None,
    told: tuple[str, ...] = (),
) -> TurnNode:
    """Return the slim form of a turn."""
    return TurnNode(
        turn.id,
        turn.parent,
        turn.depth,
        turn.at,
        turn.kind,
        user_key,
        reply_key,
        turn.jump,
        episode,
        turn.delta.status,
        present,
        told,
    )


@frozen
class Timeline:
    """A named path of a session."""

    name: str
    fork: str
    """The turn where it was forked. Its head always stays on a path through this turn."""
    head: str
    """The turn at its current end."""
    created: float = 0.0
    """Seconds since the epoch."""


def follow(tree: Tree, timelines: Iterable[Timeline], node: TurnNode, named: str = "") -> list[Timeline]:
    """Return the timelines that the new turn ``node`` moves, with their new heads.

    If the request names a timeline, the turn moves only that timeline, wherever it is below the fork. Any other turn
    moves the timelines whose head it continues, or whose head is another reply to the same message.
    """
    moved = []
    for timeline in timelines:
        if named:
            goes = timeline.name == named and tree.is_ancestor(timeline.fork, node.parent or "")
        else:
            goes = _follows(tree, timeline, node)
        if goes:
            moved.append(evolve(timeline, head=node.id))
    return moved


def _follows(tree: Tree, timeline: Timeline, node: TurnNode) -> bool:
    """Whether ``node`` follows the head, including side turns that it proves to have been part of the story."""
    steps = [node]
    while steps[-1].parent is not None and tree.get(steps[-1].parent).kind is TurnKind.SIDE:
        steps.append(tree.get(steps[-1].parent))
    head = tree.get(timeline.head)
    for step in reversed(steps):
        if step.parent == head.id or (head.id != timeline.fork and is_swipe(step, head)):
            head = step
    return head.id == node.id


def is_swipe(one: TurnNode, other: TurnNode) -> bool:
    """Whether two turns are replies to the same message at the same place."""
    return one.parent == other.parent and one.user_key == other.user_key
