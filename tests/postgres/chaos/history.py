"""Whether the history of a journal is one that servers may make: one writer an epoch, numbers without gaps, and each
session's turns in the order in which players were told of them.

The database writes the history down (``record``). Times are of one machine's clock, so that what a player saw can be
held against it: a turn became true between its request and the end of its reply, and whoever reads afterwards sees it.
"""

from __future__ import annotations

from collections.abc import Iterable

from attrs import define, field, frozen

from saga_core import codec
from saga_core.journal import TOLD, session_of
from saga_core.stores import Key
from saga_server.hosting import layout
from saga_server.hosting.leases import NOBODY, Lease, read_lease, read_order
from tests.postgres.chaos.record import Commit


@frozen
class Appended:
    """A reply that came to its end, and whose notice said nothing: the turn of it is recorded."""

    session: str
    turn: str
    asked: float
    """When its request began, and ..."""
    ended: float
    """... when its reply had ended. Seconds since 1970."""


@frozen
class Read:
    """The turns of a session as a server told them."""

    session: str
    server: str
    asked: float
    ended: float
    turns: frozenset[str]


@define
class _Session:
    """What is known of a session after the commits so far."""

    lease: Lease = NOBODY
    order: int = 0
    turns: dict[str, float] = field(factory=dict)
    """When each became true."""
    place: dict[str, int] = field(factory=dict)
    """The number of the commit with each turn."""


@define
class History:
    """``follow`` all commits in their order. What must not be is put in ``wrong``, in words."""

    wrong: list[str] = field(factory=list)
    sessions: dict[str, _Session] = field(factory=dict)
    commits: int = 0
    takings: int = 0

    def follow(self, commits: Iterable[Commit]) -> None:
        """Go on with commits that came behind all others."""
        for commit in commits:
            self.commits += 1
            touched: dict[str, dict[Key, bytes | None]] = {}
            for key, value in commit.rows.items():
                session = key[2] if key[0] == "lease" else session_of(key)
                if session is not None:
                    touched.setdefault(session, {})[key] = value
            for session, rows in touched.items():
                self._one(commit, session, self.sessions.setdefault(session, _Session()), rows)

    def _one(self, commit: Commit, name: str, known: _Session, rows: dict[Key, bytes | None]) -> None:
        where = f"commit {commit.number} of {commit.who}, session {name}"
        lease_key, order_key = layout.lease(name), layout.order(name)
        others = {key: value for key, value in rows.items() if key not in (lease_key, order_key)}
        if lease_key in rows and rows[lease_key] is not None:
            self._lease(where, commit.who, known, read_lease(rows[lease_key]))
        if others and _server(known.lease.owner) != commit.who:
            self.wrong.append(f"{where}: writes {sorted(others)[:3]} while {known.lease} holds")
        if others and any(key[0] in TOLD for key in others) and order_key not in rows:
            self.wrong.append(f"{where}: writes {sorted(others)[:3]} without a number")
        if order_key in rows and rows[order_key] is not None:
            found = read_order(rows[order_key])
            if found != known.order + 1:
                self.wrong.append(f"{where}: has the number {found} behind {known.order}")
            known.order = found
        for key, value in others.items():
            if key[0] == "turn":
                self._turn(where, commit, known, key[2], value)
        if lease_key in rows and rows[lease_key] is None:
            known.lease = NOBODY  # the session is gone

    def _lease(self, where: str, who: str, known: _Session, lease: Lease) -> None:
        before, known.lease = known.lease, lease
        if not lease.owner:
            if lease.epoch != before.epoch or _server(before.owner) != who:
                self.wrong.append(f"{where}: gives back {lease}, which was {before}")
            return
        self.takings += 1
        if lease.epoch != before.epoch + 1 or _server(lease.owner) != who:
            self.wrong.append(f"{where}: takes {lease} behind {before}")

    def _turn(self, where: str, commit: Commit, known: _Session, turn: str, value: bytes | None) -> None:
        if value is None:
            self.wrong.append(f"{where}: turn {turn} goes")
            return
        if turn in known.turns:
            self.wrong.append(f"{where}: turn {turn} is written again")
        parent = codec.loads(value).get("parent")
        together = {key[2] for key in commit.rows if key[0] == "turn"}
        if parent is not None and parent not in known.turns and parent not in together:
            self.wrong.append(f"{where}: turn {turn} stands below {parent}, which is not there")
        known.turns[turn], known.place[turn] = commit.at, commit.number

    def compare(self, appended: Iterable[Appended], reads: Iterable[Read]) -> None:
        """Hold the history against what one player was told, in her order."""
        last: dict[str, tuple[str, int]] = {}
        told: dict[str, list[Appended]] = {}
        for each in appended:
            known = self.sessions.get(each.session, _Session())
            told.setdefault(each.session, []).append(each)
            at, place = known.turns.get(each.turn), known.place.get(each.turn, 0)
            if at is None:
                self.wrong.append(f"{each}: was told to be recorded, and is not there")
                continue
            if not each.asked <= at <= each.ended:
                self.wrong.append(f"{each}: became true at {at:.3f}, outside of its request")
            before = last.get(each.session)
            if before is not None and before[1] >= place:
                self.wrong.append(f"{each}: stands before {before[0]}, which was told earlier")
            last[each.session] = each.turn, place
        for read in reads:
            known = self.sessions.get(read.session, _Session())
            behind = {each.turn for each in told.get(read.session, ()) if each.ended < read.asked} - read.turns
            early = {turn for turn in read.turns if known.turns.get(turn, read.ended + 1) > read.ended}
            if behind:
                self.wrong.append(
                    f"{read.server} was asked for {read.session} at {read.asked:.3f} and does not show "
                    f"{sorted(behind)}, which ended before"
                )
            if early:
                self.wrong.append(f"{read.server} shows {sorted(early)} of {read.session} before they are recorded")


def _server(owner: str) -> str:
    """The ``application_name`` of the server that an owner's name is of."""
    return "saga-" + owner.partition("#")[0] if owner else ""
